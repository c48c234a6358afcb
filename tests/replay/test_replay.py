"""What an operator saw and decided can be decided again from its log alone; a log that is not whole says where."""

import io
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core.areas.gang_termination.field.rulesets import NEWEST
from grove_core.compare import Change, Comparison, Difference
from grove_core.kernel.refs import Ref
from grove_core.reconcile import reconcile
from grove_core.snapshot.narrow import narrowed
from grove_shell.cli.main import run
from grove_shell.replay.facts import as_json, from_json
from grove_shell.replay.format import DecisionLog, NoLog, digest, dumped, line_of, log_at, plan_as_json
from grove_shell.replay.reading import Broken, looks_in
from grove_shell.replay.recorder import Recorder
from grove_shell.views.replay_page import Parted, Replayed, replay_page
from tests.property.gang_termination_field.worlds import field_worlds
from tests.property.strategies.worlds import World
from tests.replay.logs import SCENARIOS, look_at, played

AT: Final = datetime(2026, 11, 20, 9, tzinfo=UTC)
LOG: Final = SCENARIOS[0]


def lines_of(scenario: str) -> list[bytes]:
    return played(scenario).out.getvalue().encode().splitlines(keepends=True)


def words_of(scenario: str) -> list[dict[str, Any]]:
    """What the lines say, without their chain."""
    return [{key: value for key, value in json.loads(line).items() if key != "chain"} for line in lines_of(scenario)]


def written(path: Path, lines: list[bytes]) -> str:
    path.write_bytes(b"".join(lines))
    return str(path)


def chained(*words: Any) -> list[bytes]:
    """Lines as they would have been written, whatever they say."""
    lines, chain = [], ""
    for one in words:
        line, chain = line_of(one, chain)
        lines.append(line.encode())
    return lines


def forged_line(words: list[dict[str, Any]], number: int, text: str) -> list[bytes]:
    """A log in which one line says something else, in these letters, and every chain holds."""
    lines, chain = [], ""
    for at, one in enumerate(words):
        line, after = line_of(one, chain)
        if at == number:
            after = digest(chain + text[:-1])
            line = f'{text[:-1]},"chain":"{after}"}}\n'
        lines.append(line.encode())
        chain = after
    return lines


def spoken(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    assert run(list(words), "grove") == code
    shown = capsys.readouterr()
    return shown.err if code in {1, 64} else shown.out


class TestFacts:
    """Objects as JSON and back."""

    @given(field_worlds())
    def test_rp002_objects_survive(self, world: World) -> None:
        for item in (world.root, *world.groups, *world.cliques, *world.pods):
            assert from_json(type(item), json.loads(dumped(as_json(item)))) == item

    @pytest.mark.parametrize("scenario", SCENARIOS)
    def test_rp002_everything_an_operator_sees_survives(self, scenario: str) -> None:
        for snapshot in played(scenario).snapshots[::17]:
            every = (*snapshot.targets().values(), *(pod for _, pod in snapshot.pods()))
            for item in every:
                assert from_json(type(item), json.loads(dumped(as_json(item)))) == item

    @pytest.mark.parametrize(
        ("declared", "raw"),
        [(int, "1"), (bool, 1), (str, None), (dict[str, int], [["a", "b"]]), (tuple[int, str], [1])],
    )
    def test_rp002_what_is_none_is_refused(self, declared: object, raw: object) -> None:
        with pytest.raises((TypeError, ValueError)):
            from_json(declared, raw)

    def test_rp002_what_is_no_fact_cannot_be_written(self) -> None:
        with pytest.raises(TypeError):
            as_json(object())
        with pytest.raises(TypeError):
            from_json(Any, 1)


class TestReplay:
    """A log is enough."""

    @pytest.mark.parametrize("scenario", SCENARIOS)
    @pytest.mark.req("RP-003")
    def test_rp001_every_look_is_decided_again(self, scenario: str) -> None:
        seen = played(scenario)
        looks = list(looks_in(lines_of(scenario)))
        assert len(looks) == len(seen.snapshots) > 2
        for look, snapshot in zip(looks, seen.snapshots, strict=True):
            told = narrowed(snapshot)
            for name in ("root", "groups", "cliques", "gangs", "others", "domains", "now", "attempts", "configuration"):
                assert getattr(look.snapshot, name) == getattr(told, name), name
            assert look.snapshot.pods_of == {uid: tuple(pods) for uid, pods in told.pods_of.items() if pods}
            again = plan_as_json(reconcile(look.snapshot), snapshot.now)
            assert dumped(again) == dumped(look.plan) == dumped(plan_as_json(reconcile(snapshot), snapshot.now))

    @given(field_worlds())
    def test_rp001_by_the_fields_rules_too(self, world: World) -> None:
        snapshot, out = world.snapshot, io.StringIO()
        plan = reconcile(snapshot, NEWEST)
        Recorder(DecisionLog(out), NEWEST.name, "").planned(look_at(snapshot, plan))
        (look,) = looks_in(out.getvalue().encode().splitlines(keepends=True))
        assert look.rules == NEWEST.name
        assert reconcile(look.snapshot, NEWEST) == plan

    @given(field_worlds(), field_worlds())
    def test_rp003_what_is_of_others_changes_nothing(self, world: World, other: World) -> None:
        snapshot = world.snapshot
        strangers = {f"other-{uid}": pods for uid, pods in other.snapshot.pods_of.items()}
        crowded = replace(snapshot, pods_of={**snapshot.pods_of, **strangers})
        assert reconcile(narrowed(crowded)) == reconcile(snapshot)
        assert not strangers.keys() & narrowed(crowded).pods_of.keys()

    def test_rp006_an_object_is_written_once(self) -> None:
        lines = [json.loads(line) for line in lines_of(LOG)]
        facts = [line["fact"] for line in lines if "fact" in line]
        assert len(facts) == len(set(facts))
        references = [line["seen"]["root"] for line in lines if "look" in line]
        assert len(set(references)) < len(references) / 2

    def test_rp001_the_command_says_so(self, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
        path = written(tmp_path / "log", lines_of(LOG))
        count = len(played(LOG).snapshots)
        first, second, *rest = spoken(capsys, "replay", path).splitlines()
        assert first == f"{count} looks decided again, each byte for byte as written"
        assert second.endswith("by the rules 'design'")
        assert not rest
        told = json.loads(spoken(capsys, "replay", path, "-o", "json"))
        assert (told["looks"], told["asRecorded"], told["otherwise"]) == (count, count, [])

    def test_rp001_what_comes_out_otherwise_is_told(self, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
        """As after a change of the program: the log is whole, and says something else than we would."""
        said = words_of(LOG)
        changed = next(number for number, words in enumerate(said) if "look" in words and words["plan"]["steps"])
        said[changed]["plan"]["steps"].pop()
        path = written(tmp_path / "log", chained(*said))
        shown = spoken(capsys, "replay", path, code=3)
        assert shown.startswith("1 of ")
        assert f"line {changed + 1}  plan " in shown
        assert "now there is: " in shown

    def test_rp005_by_other_rules(self, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
        path = written(tmp_path / "log", lines_of(LOG))
        shown = spoken(capsys, "replay", path, "--rules", "field")
        assert "something else would have ended at" in shown
        assert "design: ends now" in shown
        assert "field@v0.1.0-alpha.12-rc1: spared" in shown
        spoken(capsys, "replay", path, "--rules", "field", "--detailed-exitcode", code=2)
        spoken(capsys, "replay", path, "--rules", "design", "--detailed-exitcode")
        told = json.loads(spoken(capsys, "replay", path, "--rules", "field", "-o", "json"))
        assert told["parted"]
        assert told["parted"][0]["differences"][0]["change"] == "spared"


def parted(number: int, line: int) -> Parted:
    """A look at one of many sets, of which a clique ends by other rules."""
    root = Ref("grove.io/v1alpha1", "PodCliqueSet", "ml", f"s{number}")
    gone = Difference(change=Change.ENDS, cliques=(root,), before=None, after=None, spared_because=())
    comparison = Comparison(root=root, differences=(gone,), breaches=(), unknown=())
    return Parted(line, "plan", "field", AT, comparison)


def page_of(*looks: Parted) -> str:
    told = Replayed(
        looks=len(looks), sets=1, first=AT, last=AT, versions=(), rules=("field",), other_rules="design",
        others=(), parted=looks,
    )  # fmt: skip
    return replay_page(told, full=False).text


class TestPage:
    """What a person reads of a log."""

    def test_rp005_each_difference_is_told_once_at_its_first_look(self) -> None:
        shown = page_of(parted(1, 1), parted(2, 2), parted(1, 3))
        assert [words in shown for words in ("line 1", "line 2", "line 3")] == [True, True, False]

    def test_rp005_a_long_log_takes_as_long_as_it_is(self) -> None:
        """Comparing each with each would take ten minutes."""
        begin = time.process_time()
        assert "and 39,980 more" in page_of(*(parted(number, number) for number in range(40_000)))
        assert time.process_time() - begin < 30


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
        with pytest.raises(Broken) as caught:
            list(looks_in(broken))
        assert caught.value.flaw.line == number + 1

    @given(st.data())
    def test_rp004_a_lost_and_a_moved_line_show(self, data: st.DataObject) -> None:
        lines = lines_of(LOG)
        number = data.draw(st.integers(1, len(lines) - 2))
        with pytest.raises(Broken) as caught:
            list(looks_in([*lines[:number], *lines[number + 1 :]]))
        assert caught.value.flaw.line == number + 1
        with pytest.raises(Broken) as caught:
            list(looks_in([*lines[:number], lines[number + 1], lines[number], *lines[number + 2 :]]))
        assert caught.value.flaw.line == number + 1

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
        ],
        ids=["cut short", "another format", "no head", "empty", "something else"],
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
        assert "Nothing was decided again." in shown

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
        """As an operator of another version may write it, or somebody who knows how lines are chained."""
        words = words_of(LOG)
        number = next(number for number, one in enumerate(words) if "look" in one and "cliques" in one["seen"])
        look = words[number]
        for key, value in change.items():
            part, _, field = key.partition(".")
            told = look["seen"][value] if part == "seen" and isinstance(value, str) and value in look["seen"] else value
            look = {**look, part: {**look[part], field: told} if field else told}
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

    def test_rp004_what_nobody_can_decide_on(self, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
        """Facts that contradict each other, are incomplete, or cannot be told, as only a forged log has them."""
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
        assert "each byte for byte as written" in ran.stdout, ran.stderr

    def test_rp007_a_process_goes_on_in_the_same_log(self, tmp_path: Path) -> None:
        path = tmp_path / "log"
        written(path, [*lines_of(LOG), b'{"look":"it was killed he'])
        seen = played(SCENARIOS[1])
        with log_at(path) as log:
            recorder = Recorder(log, "design", "")
            for snapshot in seen.snapshots:
                recorder.planned(look_at(snapshot, reconcile(snapshot)))
        lines = path.read_bytes().splitlines(keepends=True)
        looks = list(looks_in(lines))
        assert len(looks) == len(played(LOG).snapshots) + len(seen.snapshots)
        assert len({look.head.line for look in looks}) == 2
        middle = len(lines_of(LOG)) // 2
        with pytest.raises(Broken) as caught:
            list(looks_in([*lines[:middle], *lines[len(lines_of(LOG)) + 1 :]]))
        assert caught.value.flaw.line == middle + 1, "a section is gone before the second head"

    @given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 120)), max_size=6))
    def test_rp007_whoever_is_killed_wherever_the_log_stays_whole(self, lives: list[tuple[int, int]]) -> None:
        """Each life writes some whole lines and a part of the next one, or dies before its head; the last one ends."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "log"
            for lines, part in [*lives, (3, 0)]:
                with log_at(path) as log:
                    chain = log.chain
                written = []
                for words in ({"decisionLog": "1.0"}, *({"answers": f"é{number}"} for number in range(3))):
                    line, chain = line_of(words, chain)
                    written.append(line.encode())
                with path.open("ab") as out:
                    out.write(b"".join(written[:lines]) + written[lines][: min(part, len(written[lines]) - 1)])
            assert list(looks_in(path.read_bytes().splitlines(keepends=True))) == []

    @pytest.mark.parametrize("text", ["hello", "\n", '{"deceive\n'])
    def test_rp007_what_is_no_log_stays_as_it_is(self, tmp_path: Path, text: str) -> None:
        path = tmp_path / "log"
        path.write_text(text, encoding="utf-8")
        with pytest.raises(NoLog), log_at(path):
            pass

    @pytest.mark.parametrize("text", ["", "hello", '{"decisionLog":'])
    def test_rp007_what_is_there_before(self, tmp_path: Path, text: str) -> None:
        path = tmp_path / "log"
        path.write_text(text, encoding="utf-8")
        if text == "hello":
            with pytest.raises(NoLog), log_at(path):
                pass
            assert path.read_text(encoding="utf-8") == text
            return
        with log_at(path) as log:
            assert log.chain == ""
        assert path.read_text(encoding="utf-8") == (f"{text}\n" if text else "")

    def test_rp007_nothing_is_written_behind_what_is_no_log(
        self, capsys: pytest.CaptureFixture[str], tmp_path: Path
    ) -> None:
        (tmp_path / "notes").write_text("hello\n", encoding="utf-8")
        shown = spoken(capsys, "operator", "--decision-log", str(tmp_path / "notes"), code=1)
        assert "it is there, and is no decision log" in shown

    def test_op064_a_full_disk_is_told_once_and_keeps_nobody_from_acting(self) -> None:
        class Full(io.StringIO):
            """Takes three lines."""

            def write(self, text: str, /) -> int:
                if self.getvalue().count("\n") == 3:
                    raise OSError(28, "No space left on device")
                return super().write(text)

        said: list[tuple[object, ...]] = []
        out = Full()
        recorder = Recorder(DecisionLog(out), "design", "", lambda *words, **_fields: said.append(words))
        for snapshot in played(LOG).snapshots[:5]:
            recorder.planned(look_at(snapshot, reconcile(snapshot)))
        assert said == [("error", "the decision log ends here")]
        assert len(list(looks_in(out.getvalue().encode().splitlines(keepends=True)))) == 1

    @pytest.mark.req("RP-003")
    def test_rp006_a_list_that_does_not_change_is_written_once_however_much_is_seen_beside_it(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Only facts that were longest of no use are forgotten, and a list is of use at every look."""
        monkeypatch.setattr("grove_shell.replay.recorder._REMEMBERED", 60)
        out = io.StringIO()
        recorder = Recorder(DecisionLog(out), "design", "")
        first = played(LOG).snapshots[-1]
        for number in range(40):
            pods = {
                uid: [replace(pod, name=f"{pod.name}-{number}") for pod in pods] for uid, pods in first.pods_of.items()
            }
            recorder.planned(look_at(replace(first, pods_of=pods), reconcile(first)))
        lists = [tuple(json.loads(line)["is"]) for line in out.getvalue().splitlines() if '"kind":"list"' in line]
        assert first.cliques
        assert len(lists) == len(set(lists))

    def test_rp004_reading_a_log_loads_no_operator(self) -> None:
        code = "import sys, grove_shell.actions.replay\nprint('grove_shell.operator' in sys.modules)"
        done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
        assert done.stdout.strip() == "False"

    def test_rp006_what_is_gone_is_forgotten(self) -> None:
        recorder = Recorder(DecisionLog(io.StringIO()), "design", "")
        look = look_at(played(LOG).snapshots[0], reconcile(played(LOG).snapshots[0]))
        recorder.planned(look)
        recorder.gone(look.home)
        assert recorder.remembers == 0
