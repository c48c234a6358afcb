"""``grove why`` on the recording: the page, the document, exit codes, and what it says of holes."""

import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from grove_shell.cli.main import run_command_line
from grove_shell.exit_codes import DONE, ERROR, FAIL_ON, USAGE
from tests.reconstruction.recordings import Json, changed, dump_at, lines, text_of, without_content, written

PAGES: Final = Path(__file__).parent / "pages"
SETS: Final = ("-n", "three-replicas-0c70")
Why = Callable[..., tuple[int, str, str]]


@pytest.fixture
def why(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Why:
    """Runs the command in a folder with the recorded files; exit code, output and errors."""
    monkeypatch.chdir(tmp_path)
    for name in ("audit.log", "before.json", "after.json", "events.json"):
        written(tmp_path, name)
    written(tmp_path, "metadata.log", changed(without_content))
    (tmp_path / "empty.log").touch()

    def run(*words: str) -> tuple[int, str, str]:
        code = run_command_line(["why", *words], "grove")
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


STORIES: Final = {
    "terminated": (
        "pclq/llama-2-router",
        *SETS,
        "--audit",
        "audit.log",
        "-f",
        "before.json",
        "--events",
        "events.json",
    ),
    "group": ("pcsg/llama-1-pool", "-n", "two-replicas-groups-0124", "--audit", "audit.log"),
    "a-pod": ("pod/llama-2-router-zskcp", *SETS, "--audit", "audit.log"),
    "metadata": ("pcs/llama", *SETS, "--audit", "metadata.log"),
    "two-dumps": ("pcs/llama", *SETS, "-f", "before.json", "-f", "after.json"),
    "events-alone": ("pcs/llama", *SETS, "--events", "events.json"),
    "from-the-middle": ("pcs/llama", *SETS, "--audit", "half.log"),
    "nothing-went": ("pclq/llama-0-router", *SETS, "--audit", "audit.log", "--until", "2026-11-29T03:24:40Z"),
    "all": ("--audit", "audit.log", "-f", "before.json"),
}


@pytest.mark.req("AF-005")
@pytest.mark.parametrize("name", STORIES)
def test_cl066_the_page_is_as_blessed(name: str, why: Why, *, bless: bool) -> None:
    half = b"".join(line for line in lines() if json.loads(line)["stageTimestamp"] > "2026-11-29T03:24:33")
    Path("half.log").write_bytes(half)
    code, page, errors = why(*STORIES[name])
    assert (code, errors) == (DONE, "")
    path = PAGES / f"{name}.txt"
    if bless:
        path.write_text(page, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == page


class TestOutput:
    """What `grove why` shows."""

    @pytest.mark.req("CL-011")
    def test_cl066_the_document_has_what_the_page_has(self, why: Why) -> None:
        _, out, _ = why(*STORIES["terminated"], "-o", "json")
        found: Json = json.loads(out)
        assert [one["cause"] for one in found["causes"]] == ["rules", "termination"]
        (router,) = found["causes"][1]["deletions"]
        assert router["terminates"][0]["trigger"]["name"] == "llama-2-router"
        assert router["because"][1]["requirement"] == "GT-033"
        assert {one["reason"] for one in found["events"]} >= {"GangTerminated", "TerminationScheduled"}
        assert len(found["holes"]) == 1, "the dump is redacted"

    def test_cl066_what_is_not_known_comes_first(self, why: Why) -> None:
        _, page, _ = why(*STORIES["metadata"])
        assert page.startswith("UNKNOWN: the cause of ")

    @pytest.mark.parametrize("story", ["all", "metadata"])
    def test_af015_several_deletions_show_their_times_and_podcliques(self, story: str, why: Why) -> None:
        """One paragraph has pods of three PodCliques, which went within nine seconds."""
        _, page, _ = why(*STORIES[story])
        paragraphs = {part.partition("\n")[0]: part for part in page.split("\n\n")}
        several = 0
        for cause in json.loads(why(*STORIES[story], "-o", "json")[1])["causes"]:
            times = sorted({f"{one['at'][11:19]}Z" for one in cause["deletions"]})
            head = f"from {times[0]} to {times[-1]}"
            if len(times) == 1:
                continue
            several += 1
            (paragraph,) = (part for first, part in paragraphs.items() if first.endswith(head))
            assert f", the last at {times[-1]}\n" in paragraphs["what happened"]
            pods = [one["object"]["name"] for one in cause["deletions"]]
            assert all(pod in paragraph for pod in pods)
            if cause["cause"] == "rules":
                assert all(f"PodClique/{pod.rpartition('-')[0]}" in paragraph for pod in pods)
        assert several

    def test_cl066_yaml_is_the_same_document(self, why: Why) -> None:
        import yaml  # noqa: PLC0415 - of this test alone

        _, out, _ = why(*STORIES["group"], "-o", "json")
        _, written_as_yaml, _ = why(*STORIES["group"], "-o", "yaml")
        assert yaml.safe_load(written_as_yaml) == json.loads(out)

    def test_cl066_times_leave_out_the_rest(self, why: Why) -> None:
        _, out, _ = why("pcs/llama", *SETS, "--audit", "audit.log", "--since", "2026-11-29T03:25:10Z", "-o", "json")
        assert [one["cause"] for one in json.loads(out)["causes"]] == ["termination"]


class TestTargets:
    """Targets that the record does not show are refused, with a similar name."""

    @pytest.mark.parametrize(
        ("words", "code", "said"),
        [
            (("pclq/llama-2-route", *SETS, "--audit", "audit.log"), USAGE, "did you mean llama-2-router?"),
            (("pcs/qwen", "--audit", "audit.log"), USAGE, "not in the record: pcs/qwen; without a target all sets"),
            (("pcs/llama", "-n", "nowhere", "--audit", "audit.log"), USAGE, "pcs/llama in namespace nowhere"),
            (("pcs/three-replicas-0c70/llama", "--audit", "audit.log"), USAGE, "the namespace is given with -n"),
            (("--audit", "empty.log"), USAGE, "not in the record: a PodCliqueSet; the audit log has no request"),
            (("llama", "--audit", "audit.log"), USAGE, "is not KIND/NAME"),
            (("node/gpu-1", "--audit", "audit.log"), USAGE, "is not KIND/NAME"),
            (("pcs/llama",), USAGE, "nothing to read"),
            (("pcs/llama", "-A", "--audit", "audit.log"), USAGE, "add --live"),
            (("pcs/llama", "--audit", "nowhere.log"), ERROR, "nowhere.log: no such file"),
            (("pcs/llama", "--audit", "before.json"), ERROR, "audit event"),
            (("pcs/llama", "--events", "before.json"), ERROR, "expected a Kubernetes Event"),
            (("pcs/llama", "-f", "events.json"), DONE, ""),
        ],
        ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
    )
    def test_cl067_wrong_use_and_bad_input(self, words: tuple[str, ...], code: int, said: str, why: Why) -> None:
        if words[-1] == "events.json" and "-f" in words:
            assert why(*words)[0] == USAGE, "it has no PodCliqueSet"
            return
        found, _, errors = why(*words)
        assert found == code
        assert said in errors

    @pytest.mark.parametrize(
        ("words", "said"),
        [
            (
                ("--since", "2026-11-29T03:26:00Z"),
                "times from 2026-11-29T03:26:00Z; it is from 2026-11-29T03:24:15Z to",
            ),
            (("--until", "2026-11-29T03:24:00Z"), "times until 2026-11-29T03:24:00Z; it is from 2026-11-29T03:24:15Z"),
            (("--since", "2026-11-29T03:25:00Z", "--until", "2026-11-29T03:24:50Z"), "--since is later than --until"),
        ],
        ids=["after it", "before it", "the wrong way round"],
    )
    def test_cl067_times_that_the_record_does_not_have(self, words: tuple[str, ...], said: str, why: Why) -> None:
        code, page, errors = why("--audit", "audit.log", *words)
        assert (code, page) == (USAGE, "")
        assert said in errors

    def test_cl067_problems_are_left_aside_on_request(self, why: Why) -> None:
        Path("bad.log").write_bytes(b"no JSON\n" + text_of("audit.log"))
        code, page, errors = why(*STORIES["group"][:3], "--audit", "bad.log", "--keep-going")
        assert code == ERROR
        assert "bad.log:1:1" in errors
        assert "TERMINATED" in page


class TestFailOn:
    """`--fail-on`."""

    @pytest.mark.parametrize(
        ("story", "classes", "code"),
        [
            ("terminated", ("unknown",), DONE),
            ("terminated", ("terminate",), FAIL_ON),
            ("metadata", ("unknown",), FAIL_ON),
            ("metadata", ("terminate",), DONE),
            ("two-dumps", ("terminate", "unknown"), FAIL_ON),
            ("nothing-went", ("terminate", "unknown"), DONE),
        ],
    )
    def test_cl068_classes(self, story: str, classes: tuple[str, ...], code: int, why: Why) -> None:
        asked = [word for one in classes for word in ("--fail-on", one)]
        assert why(*STORIES[story], *asked)[0] == code


class TestHoles:
    """Every hole is reported with what it leaves open."""

    def holes(self, why: Why, *words: str) -> list[str]:
        _, out, _ = why(*words, "-o", "json")
        found = json.loads(out)["holes"]
        assert all(one["leavesOpen"] for one in found)
        return [one["what"] for one in found]

    def test_af005_a_whole_record_has_none(self, why: Why) -> None:
        assert self.holes(why, "pcs/llama", *SETS, "--audit", "audit.log") == []

    def test_af005_holes(self, why: Why, tmp_path: Path) -> None:
        (none,) = self.holes(why, *STORIES["events-alone"])
        assert "no audit log" in none
        metadata = self.holes(why, *STORIES["metadata"])
        assert any("no content of" in what and "Pods" in what for what in metadata)
        Path("cut.log").write_bytes(text_of("audit.log")[:-50])
        assert any("cut short" in what for what in self.holes(why, "pcs/llama", *SETS, "--audit", "cut.log"))
        Path("late.log").write_bytes(b"".join(lines()[-60:]))
        early = dump_at(tmp_path, "2026-11-29T03:24:31Z")
        gaps = self.holes(why, "pcs/llama", *SETS, "--audit", "late.log", "-f", early)
        assert any("the dump" in what and "the first line" in what for what in gaps)
        plain = self.holes(why, "pcs/llama", *SETS, "--audit", "late.log")
        assert any("no dump from before" in what for what in plain)

    @pytest.mark.req("CL-068")
    @pytest.mark.parametrize("gone", ["Pod", "everything"])
    def test_af005_kinds_that_a_later_dump_lacks(self, gone: str, why: Why) -> None:
        """A list of kubectl does not show that it has no object of a kind because there is none."""
        for name in ("before", "after"):
            items = json.loads(Path(f"{name}.json").read_text(encoding="utf-8"))["items"][1:]
            if name == "after":
                items = [
                    one
                    for one in items
                    if one["metadata"]["namespace"] != SETS[1] or (gone == "Pod" and one["kind"] != "Pod")
                ]
            Path(f"{name}-plain.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
        words = ("pcs/llama", *SETS, "-f", "before-plain.json", "-f", "after-plain.json")
        lacks = "Pod" if gone == "Pod" else "Pod or PodClique or PodCliqueSet"
        assert any(
            f"after-plain.json has no {lacks} of namespace {SETS[1]}" in what for what in self.holes(why, *words)
        )
        code, page, _ = why(*words, "--fail-on", "unknown")
        what = "not all that went is on record" if gone == "Pod" else "what went is not on record"
        assert page.startswith(f"UNKNOWN: PodCliqueSet {SETS[1]}/llama: {what}")
        assert code == FAIL_ON

    @pytest.mark.req("CL-068")
    def test_af005_an_audit_log_without_requests(self, why: Why) -> None:
        words = ("pcs/llama", *SETS, "-f", "before.json", "--audit", "empty.log")
        assert "the audit log has no request" in self.holes(why, *words)
        code, page, _ = why(*words, "--fail-on", "unknown")
        assert page.startswith(f"UNKNOWN: PodCliqueSet {SETS[1]}/llama: what went is not on record")
        assert code == FAIL_ON

    @pytest.mark.req("AF-016", "AF-017")
    def test_af005_a_log_of_one_of_several_api_servers(self, why: Why) -> None:
        """Kubelets ended the pods of a gang that the operator terminated by another API server."""
        for name, user in (("kubelets.log", "operator"), ("no-users.log", "admin")):
            kept = [line for line in lines() if json.loads(line)["user"]["username"] != user]
            Path(name).write_bytes(b"".join(kept))
        code, page, _ = why("pcs/llama", *SETS, "--audit", "kubelets.log", "--fail-on", "unknown")
        assert (code, page.partition("\n")[0]) == (
            FAIL_ON,
            f"UNKNOWN: the cause of 8 deletions of PodCliqueSet {SETS[1]}/llama",
        )
        assert "the log lacks 8 requests that deleted or edited objects" in page
        _, page, _ = why("pcs/llama", *SETS, "--audit", "no-users.log")
        assert "spec.replicas 2 -> 1; that request is not on record" in page
        assert "spec.replicas 2 -> 1 by" not in page
        assert "the log lacks 2 requests that deleted or edited objects" in page

    @pytest.mark.req("AF-008", "AF-017")
    def test_af005_a_rotated_log_that_is_not_given(self, why: Why) -> None:
        """What the rules do not explain may be explained by the missing requests: it is not known."""
        third = len(lines()) // 3
        Path("first-and-last.log").write_bytes(b"".join([*lines()[:third], *lines()[2 * third :]]))
        code, page, _ = why("pcs/llama", *SETS, "--audit", "first-and-last.log", "--fail-on", "unknown")
        assert code == FAIL_ON
        assert "NOT EXPLAINED" not in page
        assert "not known: requests that edited or deleted objects of the set, which the log lacks" in page

    def test_af005_times_outside_the_record(self, why: Why) -> None:
        """A log that was rotated away since does not show that nothing was deleted."""
        words = ("pcs/llama", *SETS, "--audit", "audit.log")
        asked = ("--since", "2026-11-29T02:00:00Z", "--until", "2026-11-29T03:24:20Z")
        code, page, _ = why(*words, *asked)
        assert (code, "what happened" in page) == (DONE, False)  # a title without lines says nothing
        begins = "the record begins at 2026-11-29T03:24:15Z, after 2026-11-29T02:00:00Z"
        assert self.holes(why, *words, *asked) == [begins]
        assert begins in page
        ends = "the record ends at 2026-11-29T03:25:22Z, before 2026-11-29T09:00:00Z"
        assert self.holes(why, *words, "--since", "2026-11-29T03:24:15Z", "--until", "2026-11-29T09:00:00Z") == [ends]

    def test_af005_a_dump_without_a_time_of_its_own(self, why: Why) -> None:
        items = json.loads(Path("before.json").read_text(encoding="utf-8"))["items"][1:]
        Path("plain.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}), "utf-8")
        assert any("no time of its own" in what for what in self.holes(why, "pcs/llama", *SETS, "-f", "plain.json"))


@pytest.mark.req("IN-026")
def test_a_log_on_standard_input(why: Why, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = why("pcs/llama", *SETS, "--audit", "audit.log")
    for log in (text_of("audit.log"), gzip.compress(text_of("audit.log"))):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(log)))
        assert why("pcs/llama", *SETS, "--audit", "-") == expected
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"{}\n")))
    code, _, errors = why("pcs/llama", *SETS, "--audit", "-")
    assert (code, "stdin:1:1: " in errors) == (ERROR, True)


@pytest.mark.req("IN-026")
def test_a_folder_of_dumps_may_hold_other_files(why: Why) -> None:
    """As for other commands: other suffixes are skipped, and a copy of a manifest is a fault."""
    expected = why("pcs/llama", *SETS, "-f", "before.json", "-f", "after.json")
    folder = Path("dumps")
    folder.mkdir()
    for name in ("before.json", "after.json"):
        (folder / name).write_bytes(Path(name).read_bytes())
    (folder / "README.md").write_text("not: a: dump\n", encoding="utf-8")
    assert why("pcs/llama", *SETS, "-f", "dumps") == expected
    for name in ("before.json", "after.json"):
        (folder / name).rename(folder / f"{name}.bak")
    code, _, errors = why("pcs/llama", *SETS, "-f", "dumps")
    assert (code, errors.count("expected a name that ends in")) == (ERROR, 2)


class TestEvents:
    """Events are quoted, and are never a cause."""

    @pytest.mark.parametrize(
        "form",
        [
            {"firstTimestamp": "2026-11-29T03:25:00Z", "lastTimestamp": "2026-11-29T03:25:20Z", "count": 7},
            {"eventTime": "2026-11-29T03:25:00Z", "series": {"count": 7, "lastObservedTime": "2026-11-29T03:25:20Z"}},
            {"deprecatedFirstTimestamp": "2026-11-29T03:25:00Z", "deprecatedLastTimestamp": "2026-11-29T03:25:20Z"}
            | {"deprecatedCount": 7},
        ],
        ids=["v1", "events.k8s.io", "deprecated"],
    )
    def test_af012_all_forms(self, form: Json, why: Why) -> None:
        about = {"kind": "Pod", "namespace": "three-replicas-0c70", "name": "llama-2-router-v7gjz"}
        event: dict[str, Any] = {"kind": "Event", "apiVersion": "v1", "involvedObject": about, "reason": "BackOff"}
        event |= {"message": "back-off", "source": {"component": "kubelet"}, "type": "Warning", **form}
        Path("own.json").write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": [event]}), "utf-8")
        _, out, _ = why("pcs/llama", *SETS, "--audit", "audit.log", "--events", "own.json", "-o", "json")
        (shown,) = json.loads(out)["events"]
        assert shown["first"] == "2026-11-29T03:25:00Z"
        assert shown["last"] == "2026-11-29T03:25:20Z"
        assert (shown["count"], shown["component"], shown["type"]) == (7, "kubelet", "Warning")

    @pytest.mark.parametrize("count", [3, 50])
    def test_af018_many_alike_events_are_one_line(self, count: int, why: Why) -> None:
        """Pods of a gang that finds no room again must not push its termination out of the timeline."""

        def event(number: int) -> dict[str, Any]:
            about = {"kind": "Pod", "namespace": "three-replicas-0c70", "name": f"llama-2-worker-{number}"}
            times = {"firstTimestamp": "2026-11-29T03:25:21Z", "lastTimestamp": "2026-11-29T03:25:22Z", "count": 2}
            words = {"reason": "FailedScheduling", "message": f"{number} nodes", "type": "Warning"}
            named = {"kind": "Event", "apiVersion": "v1", "involvedObject": about, "source": {"component": "scheduler"}}
            return {**named, **words, **times}

        items = [event(number) for number in range(count)]
        Path("own.json").write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": items}), "utf-8")
        words = ("pcs/llama", *SETS, "--audit", "audit.log", "--events", "own.json")
        _, page, _ = why(*words)
        shown = [line for line in page.splitlines() if "Event FailedScheduling" in line]
        assert "TERMINATED replica 2" in page.partition("what happened")[2]
        if count > 3:
            what = "on 50 Pods from scheduler, 100 times since 03:25:21Z, the last on llama-2-worker-"
            assert [what in line for line in shown] == [True]
        else:
            assert len(shown) == count
            assert "on Pod llama-2-worker-0 from scheduler, 2 times since 03:25:21Z: 0 nodes" in shown[0]
        _, full, _ = why(*words, "-v")
        assert full.count("Event FailedScheduling") == count

    def test_af012_they_are_no_cause(self, why: Why) -> None:
        _, out, _ = why(*STORIES["events-alone"], "-o", "json")
        found = json.loads(out)
        assert found["events"]
        assert found["causes"] == []
