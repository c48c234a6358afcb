"""Logs that are damaged, forged or not logs at all."""

import gzip
import io
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core.kernel.frozen import frozen_dict_of_tuples
from grove_core.kernel.structs import replace
from grove_core.reconcile import reconcile
from grove_shell.replay.decision_log_format import (
    DecisionLog,
    NotADecisionLog,
    line_with_chain_digest,
    open_decision_log_for_append,
    short_text_digest,
)
from grove_shell.replay.decision_log_reader import DamagedDecisionLog, recorded_decisions
from grove_shell.replay.decision_log_recorder import DecisionLogRecorder
from tests.replay.log_lines import LOG, chained, lines_of, spoken, words_of, written
from tests.replay.recorded_logs import SCENARIOS, planned_round, played


def forged_line(words: list[dict[str, Any]], number: int, text: str) -> list[bytes]:
    """A log in which one line says something else, in these letters, and every chain holds."""
    lines, chain = [], ""
    for at, one in enumerate(words):
        line, after = line_with_chain_digest(one, chain)
        if at == number:
            after = short_text_digest(chain + text[:-1])
            line = f'{text[:-1]},"chain":"{after}"}}\n'
        lines.append(line.encode())
        chain = after
    return lines


class TestBadInput:
    """RP-004: the place, and nothing decided."""

    @given(st.data())
    def test_rp004_a_changed_line_shows_at_its_place(self, data: st.DataObject) -> None:
        lines = lines_of(LOG)
        number = data.draw(st.integers(0, len(lines) - 1))
        line = lines[number]
        at = data.draw(st.integers(0, len(line) - 2))
        letter = data.draw(st.sampled_from([one for one in b'0aZ"}\x00\xff' if one != line[at]]))
        broken = [*lines[:number], line[:at] + bytes([letter]) + line[at + 1 :], *lines[number + 1 :]]
        with pytest.raises(DamagedDecisionLog) as caught:
            list(recorded_decisions(broken))
        assert caught.value.line == number + 1

    @given(st.data())
    def test_rp004_a_lost_and_a_moved_line_show(self, data: st.DataObject) -> None:
        lines = lines_of(LOG)
        number = data.draw(st.integers(1, len(lines) - 2))
        with pytest.raises(DamagedDecisionLog) as caught:
            list(recorded_decisions([*lines[:number], *lines[number + 1 :]]))
        assert caught.value.line == number + 1
        with pytest.raises(DamagedDecisionLog) as caught:
            list(recorded_decisions([*lines[:number], lines[number + 1], lines[number], *lines[number + 2 :]]))
        assert caught.value.line == number + 1

    @pytest.mark.parametrize(
        ("change", "place", "said"),
        [
            (lambda lines: [*lines[:-1], lines[-1][:50]], -1, "the log is cut short here"),
            (
                lambda lines: [lines[0].replace(b'"1.0"', b'"2.0"'), *lines[1:]],
                1,
                "was changed",
            ),
            (lambda lines: lines[1:], 1, "its head comes first"),
            (lambda _: [], 0, "its head comes first"),
            (lambda _: [b"hello\n"], 1, "its head comes first"),
            (lambda _: [b"{\n", b'  "kind": "List"\n', b"}\n"], 1, "its head comes first, got {"),
            (lambda _: [b"{\n", b'  "kind": "List"}'], 1, "its head comes first, got {"),
        ],
        ids=[
            "cut short",
            "another format",
            "no head",
            "empty",
            "something else",
            "JSON",
            "JSON without a last newline",
        ],
    )
    def test_rp004_the_command_names_the_line(
        self,
        capsys: pytest.CaptureFixture[str],
        tmp_path: Path,
        change: Any,
        place: int,
        said: str,
    ) -> None:
        lines = change(lines_of(LOG))
        path = written(tmp_path / "log", lines)
        shown = spoken(capsys, "replay", path, code=1)
        assert said in shown
        at = len(lines) if place < 0 else place
        assert (f"{path}:{at}:1: " if at else f"{path}: ") in shown
        assert "Nothing was replayed." in shown

    @pytest.mark.parametrize(
        ("change", "said"),
        [
            ({"rules": "field@v0.9.0"}, "rules that this version knows"),
            ({"rules": None}, "rules that this version knows"),
            ({"plan": {}}, "what is no plan"),
            ({"plan": []}, "what is no plan"),
            ({"plan": {"steps": [{}], "withheld": []}}, "what is no plan"),
            ({"seen": {}}, "'root' is missing or not known"),
            ({"seen": []}, "a line of another shape"),
            ({"attempts": 5}, "a list of attempts"),
            ({"seen.now": "2026-11-20T09:00:00"}, "without a zone"),
            ({"seen.now": "0001-01-01T00:00:00+23:59"}, "out of range"),
            ({"seen.mood": "new"}, "the unknown field mood"),
            ({"seen.root": "cliques"}, "which is no PodCliqueSet"),
            ({"seen.cliques": "root"}, "which is no tuple"),
            ({"seen.pods": {"uid": "nowhere"}}, "nowhere"),
        ],
        ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
    )
    def test_rp004_a_chained_line_that_says_something_else(
        self, capsys: pytest.CaptureFixture[str], tmp_path: Path, change: dict[str, Any], said: str
    ) -> None:
        """As an operator of another version may write it, or a forger that knows how lines are chained."""
        words = words_of(LOG)
        number = next(number for number, one in enumerate(words) if "look" in one and "cliques" in one["seen"])
        look = words[number]
        for key, value in change.items():
            part, _, field = key.partition(".")
            reported = (
                look["seen"][value] if part == "seen" and isinstance(value, str) and value in look["seen"] else value
            )
            look = {**look, part: {**look[part], field: reported} if field else reported}
        path = written(tmp_path / "log", chained(*words[:number], look))
        shown = spoken(capsys, "replay", path, code=1)
        assert said in shown
        assert f"{path}:{number + 1}:1: " in shown

    @pytest.mark.parametrize(
        ("second", "said"),
        [
            ({"mood": 5}, "a line of another kind"),
            ({"fact": "a", "kind": "PodClique", "is": 5}, "5 instead of an object"),
            ({"fact": "a", "kind": "Secret", "is": {}}, "'Secret' is missing or not known"),
            ({"decisionLog": "2.0"}, "expected a decision log of format 1.0, got 2.0"),
        ],
    )
    def test_rp004_a_line_of_another_version(
        self, capsys: pytest.CaptureFixture[str], tmp_path: Path, second: dict[str, Any], said: str
    ) -> None:
        path = written(tmp_path / "log", chained(words_of(LOG)[0], second))
        assert said in spoken(capsys, "replay", path, code=1)

    def test_rp004_undecidable_snapshots(self, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
        """Facts that contradict each other, are incomplete, or cannot be printed, as only a forged log has them."""
        words = words_of(LOG)
        number, root = next((at, one) for at, one in enumerate(words) if one.get("kind") == "PodCliqueSet")
        cliques = root["is"]["spec"]["template"]["cliques"]
        bare = {key: value for key, value in cliques[0].items() if key != "spec"}
        for changed, said in (
            ([bare], "CliqueTemplate without spec"),
            ([{**cliques[0], "name": "\ud800"}], "surrogates not allowed"),
        ):
            template = {**root["is"]["spec"]["template"], "cliques": changed}
            forged = {**root, "is": {**root["is"], "spec": {**root["is"]["spec"], "template": template}}}
            text = json.dumps(forged)
            assert said in spoken(capsys, "replay", written(tmp_path / "log", forged_line(words, number, text)), code=1)
        late = json.dumps({**root, "is": {**root["is"], "spec": {"template": {"termination_delay": 10**30}}}})
        assert "too large" in spoken(
            capsys, "replay", written(tmp_path / "log", forged_line(words, number, late)), code=1
        )

    def test_rp004_an_object_twice_in_a_list(self, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
        words = words_of(LOG)
        number = next(at for at, one in enumerate(words) if one.get("kind") == "list" and one["is"])
        text = json.dumps({**words[number], "is": words[number]["is"] * 2})
        path = written(tmp_path / "log", forged_line(words, number, text))
        assert "a list with an object twice" in spoken(capsys, "replay", path, code=1)

    def test_rp004_no_file_and_no_text(self, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
        assert "No such file" in spoken(capsys, "replay", str(tmp_path / "nothing"), code=1)
        (tmp_path / "binary").write_bytes(b"\xff\xfe\x00\n")
        assert "UTF-8" in spoken(capsys, "replay", str(tmp_path / "binary"), code=1)

    def test_rp001_a_pipe_is_read_once(self, tmp_path: Path) -> None:
        path = written(tmp_path / "log", lines_of(LOG))
        words = [sys.executable, "-m", "grove_shell", "replay", "/dev/stdin"]
        with Path(path).open("rb") as log:
            ran = subprocess.run(words, input=log.read().decode(), check=False, capture_output=True, text=True)
        assert "each plan byte for byte the same" in ran.stdout, ran.stderr

    @pytest.mark.req("IN-026")
    def test_standard_input(self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        log = b"".join(lines_of(LOG))
        for given_bytes in (log, gzip.compress(log)):
            monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(given_bytes)))
            assert "each plan byte for byte the same" in spoken(capsys, "replay", "-")
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(log[:-5])))
        assert f"stdin:{len(lines_of(LOG))}:1: " in spoken(capsys, "replay", "-", code=1)

    @pytest.mark.req("CL-001")
    def test_a_log_without_a_decision_decides_nothing(self, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
        path = written(tmp_path / "log", lines_of(LOG)[:1])
        assert spoken(capsys, "replay", path, code=3) == "nothing was decided: the log has no decision\n"

    def test_rp007_a_process_goes_on_in_the_same_log(self, tmp_path: Path) -> None:
        path = tmp_path / "log"
        written(path, [*lines_of(LOG), b'{"look":"it was killed he'])
        seen = played(SCENARIOS[1])
        with open_decision_log_for_append(path) as log:
            recorder = DecisionLogRecorder(log, "design", "")
            for snapshot in seen.snapshots:
                recorder.on_round_planned(planned_round(snapshot, reconcile(snapshot)))
        lines = path.read_bytes().splitlines(keepends=True)
        looks = list(recorded_decisions(lines))
        assert len(looks) == len(played(LOG).snapshots) + len(seen.snapshots)
        assert len({look.head.line for look in looks}) == 2
        middle = len(lines_of(LOG)) // 2
        with pytest.raises(DamagedDecisionLog) as caught:
            list(recorded_decisions([*lines[:middle], *lines[len(lines_of(LOG)) + 1 :]]))
        assert caught.value.line == middle + 1, "a section is gone before the second head"

    @given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 120)), max_size=6))
    def test_rp007_a_killed_process_leaves_the_log_whole(self, processes: list[tuple[int, int]]) -> None:
        """Each life writes some whole lines and a part of the next one, or dies before its head; the last one ends."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "log"
            for lines, part in [*processes, (3, 0)]:
                with open_decision_log_for_append(path) as log:
                    chain = log.chain
                written = []
                for words in ({"decisionLog": "1.0"}, *({"answers": f"é{number}"} for number in range(3))):
                    line, chain = line_with_chain_digest(words, chain)
                    written.append(line.encode())
                with path.open("ab") as out:
                    out.write(b"".join(written[:lines]) + written[lines][: min(part, len(written[lines]) - 1)])
            assert list(recorded_decisions(path.read_bytes().splitlines(keepends=True))) == []

    @pytest.mark.parametrize("text", ["hello", "\n", '{"deceive\n'])
    def test_rp007_what_is_no_log_stays_as_it_is(self, tmp_path: Path, text: str) -> None:
        path = tmp_path / "log"
        path.write_text(text, encoding="utf-8")
        with pytest.raises(NotADecisionLog), open_decision_log_for_append(path):
            pass

    @pytest.mark.parametrize("text", ["", "hello", '{"decisionLog":'])
    def test_rp007_what_is_there_before(self, tmp_path: Path, text: str) -> None:
        path = tmp_path / "log"
        path.write_text(text, encoding="utf-8")
        if text == "hello":
            with pytest.raises(NotADecisionLog), open_decision_log_for_append(path):
                pass
            assert path.read_text(encoding="utf-8") == text
            return
        with open_decision_log_for_append(path) as log:
            assert log.chain == ""
        assert path.read_text(encoding="utf-8") == (f"{text}\n" if text else "")

    def test_rp007_nothing_is_written_behind_what_is_no_log(
        self, capsys: pytest.CaptureFixture[str], tmp_path: Path
    ) -> None:
        (tmp_path / "notes").write_text("hello\n", encoding="utf-8")
        shown = spoken(capsys, "operator", "--decision-log", str(tmp_path / "notes"), code=1)
        assert "it is there, and is no decision log" in shown

    def test_op064_a_full_disk_is_reported_once_and_stops_no_write(self) -> None:
        class Full(io.StringIO):
            """Takes three lines."""

            def write(self, text: str, /) -> int:
                if self.getvalue().count("\n") == 3:
                    raise OSError(28, "No space left on device")
                return super().write(text)

        said: list[tuple[object, ...]] = []
        out = Full()
        recorder = DecisionLogRecorder(DecisionLog(out), "design", "", lambda *words, **_fields: said.append(words))
        for snapshot in played(LOG).snapshots[:5]:
            recorder.on_round_planned(planned_round(snapshot, reconcile(snapshot)))
        assert said == [("error", "the decision log ends here")]
        assert len(list(recorded_decisions(out.getvalue().encode().splitlines(keepends=True)))) == 1

    @pytest.mark.req("RP-001")
    def test_rp007_a_list_that_does_not_change_is_written_once_however_much_is_seen_beside_it(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Only facts that were longest of no use are forgotten, and a list is of use in every round."""
        monkeypatch.setattr("grove_shell.replay.decision_log_recorder._REMEMBERED", 60)
        out = io.StringIO()
        recorder = DecisionLogRecorder(DecisionLog(out), "design", "")
        first = played(LOG).snapshots[-1]
        for number in range(40):
            pods = {
                uid: [replace(pod, name=f"{pod.name}-{number}") for pod in pods] for uid, pods in first.pods_of.items()
            }
            recorder.on_round_planned(
                planned_round(replace(first, pods_of=frozen_dict_of_tuples(pods)), reconcile(first))
            )
        lists = [tuple(json.loads(line)["is"]) for line in out.getvalue().splitlines() if '"kind":"list"' in line]
        assert first.cliques
        assert len(lists) == len(set(lists))

    def test_rp004_reading_a_log_loads_no_operator(self) -> None:
        code = "import sys, grove_shell.actions.replay\nprint('grove_shell.operator' in sys.modules)"
        done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
        assert done.stdout.strip() == "False"

    def test_rp007_what_is_gone_is_forgotten(self) -> None:
        recorder = DecisionLogRecorder(DecisionLog(io.StringIO()), "design", "")
        look = planned_round(played(LOG).snapshots[0], reconcile(played(LOG).snapshots[0]))
        recorder.on_round_planned(look)
        recorder.on_root_deleted(look.root_key)
        assert recorder.remembered_set_count == 0
