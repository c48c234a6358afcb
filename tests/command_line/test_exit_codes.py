"""One list of exit codes for all commands (CL-001), and what each command answers with."""

import contextlib
import json
from pathlib import Path
from typing import Final

import pytest
import yaml

from grove_core.document.document_reading import plan_document_from_json
from grove_core.document.document_writing import plan_document_as_json
from grove_shell.cli.main import run_command_line
from tests.kubectl_yaml import items_in

ROOT: Final = Path(__file__).parent.parent.parent
DEGRADED: Final = str(ROOT / "examples/degraded.yaml")
REAL: Final = str(ROOT / "examples/real-cluster.yaml")
GOOD: Final = str(ROOT / "examples/manifests/disaggregated.yaml")
REFUSED: Final = str(ROOT / "examples/manifests/refused.yaml")
NOW: Final = ["--now", "2026-11-20T09:00:00Z"]
EDITS: Final = ROOT / "tests/golden/workload_field"
ONE_BY_ONE: Final = EDITS / "wf023_replicas_of_a_group_one_by_one/given.yaml"
PLAN: Final = ["plan", "-f", DEGRADED, *NOW]
OF_REAL: Final = ["plan", "-f", REAL, "--now", "2026-11-21T09:40:15Z"]


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (PLAN, 0),
        ([*OF_REAL, "-o", "json"], 0),
        ([*PLAN, "--detailed-exitcode"], 2),
        ([*PLAN, "--fail-on", "terminate"], 3),
        ([*PLAN, "--fail-on", "wait", "--detailed-exitcode"], 3),
        ([*PLAN, "--fail-on", "unknown"], 0),
        ([*OF_REAL, "--fail-on", "unknown"], 0),
        ([*PLAN, "--fail-on", "withheld"], 3),  # pods of a gang that waits for its base gang
        ([*PLAN, "qwen", "--fail-on", "withheld"], 0),
        ([*PLAN, "--fail-on", "defect"], 0),
        (["plan", "-f", str(EDITS / "wf170_defects_of_an_update/given.yaml"), *NOW, "--fail-on", "defect"], 3),
        (["plan", "-f", str(EDITS / "wf012_an_edit/given.yaml"), *NOW, "--fail-on", "defect"], 3),
        (["plan", "-f", str(ONE_BY_ONE), *NOW, "--fail-on", "defect"], 0),
        ([*PLAN, "inference/gemma", "--fail-on", "terminate", "--fail-on", "wait"], 0),
        ([*PLAN, "gemma", "--fail-on", "change"], 3),
        ([*PLAN, "-n", "nowhere"], 64),
        ([*PLAN, "nobody"], 64),
        ([*PLAN, "qwen", "nobody"], 64),
        ([*PLAN, "-n", "inference"], 0),
        ([*PLAN, "--until", "1d"], 64),
        ([*PLAN, "--until", "0s"], 64),
        ([*PLAN, "--rounds", "0"], 64),
        ([*PLAN, "--rules", "feild"], 64),
        ([*PLAN, "--now", "yesterday"], 64),
        ([*PLAN, "--bogus"], 64),
        (["plan"], 64),
        (["plan", "-f", "no/such/file.yaml"], 1),
        (["bogus"], 64),
        (["explain", "-f", DEGRADED, *NOW, "pclq/qwen-0-decode"], 0),
        (["explain", "-f", DEGRADED, *NOW, "PodClique/qwen-0-decode", "-o", "json"], 0),
        (["explain", "-f", DEGRADED, *NOW, "pclq/nobody"], 64),
        (["explain", "-f", DEGRADED, *NOW, "qwen"], 64),
        (["explain", "-f", DEGRADED, *NOW, "node/gpu-1"], 64),
        (["explain", "-f", "no/such/file.yaml", "pcs/qwen"], 1),
        (["validate", "-f", GOOD], 0),
        (["validate", "-f", GOOD, "--old", GOOD], 0),
        (["validate", "-f", REFUSED], 1),
        (["validate", "-f", REFUSED, "-o", "yaml"], 1),
        (["validate", "-f", "no/such/file.yaml"], 1),
        (["converge", "--nodes", "0"], 64),
        (["converge", "--protocol", "sharde"], 64),
        (["converge", "--resume"], 64),
        (["converge", "--nodes", "0", "--costs", "no/such/file.yaml"], 1),
        (["completion", "bash"], 0),
        (["completion", "tcsh"], 64),
        (["--version"], 0),
        (["--help"], 0),
    ],
    ids=lambda value: " ".join(Path(word).name for word in value) if isinstance(value, list) else str(value),
)
def test_cl001_exit_codes(words: list[str], code: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(words, "grove") == code
    said = capsys.readouterr()
    assert "Traceback" not in said.err
    assert bool(said.err) == (code in {1, 3, 64} and "refused" not in " ".join(words))


@pytest.mark.parametrize(
    "words",
    [
        ["plan", "-f", "nowhere"],
        ["explain", "-f", "nowhere", "pcs/x"],
        ["compare", "-f", "nowhere"],
        ["topology", "list", "-f", "nowhere"],
        ["validate", "-f", "nowhere", "-f", DEGRADED],
        ["validate", "--preflight", "-f", "nowhere", "--config", "nowhere"],
        ["manifests", "--config", "nowhere"],
        ["webhooks", "--config", "nowhere"],
        ["operator", "--config", "nowhere"],
        ["simulate", "nowhere"],
        ["converge", "--costs", "nowhere"],
    ],
)
def test_cl005_what_is_advised_is_what_the_command_has(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """No option is spoken of that would be wrong usage, and nothing is said to be marked that is not."""
    (tmp_path / "nowhere").touch()
    monkeypatch.chdir(tmp_path)
    assert run_command_line(words, "grove") == 1
    said = capsys.readouterr().err
    assert "problem" in said
    commands = words[:2] if words[0] == "topology" else words[:1]
    run_command_line([*commands, "--help"], "grove")
    assert ("--keep-going" in said) == ("--keep-going" in capsys.readouterr().out and "--preflight" not in words)
    assert "UNKNOWN" not in said


@pytest.mark.req("IN-026")
@pytest.mark.parametrize("command", [["plan"], ["compare"], ["topology", "list"], ["explain", "pcs/x"]])
def test_cl005_a_file_that_is_not_there_is_nothing_to_go_past(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command_line([*command, "-f", "nosuch.yaml"], "grove") == 1
    assert capsys.readouterr().err == "1 problem in the input\n  nosuch.yaml: no such file\nNothing was decided.\n"


def test_cl002_fail_on_covers_every_round(capsys: pytest.CaptureFixture[str]) -> None:
    words = [*PLAN, "qwen", "--fail-on", "delete"]
    assert run_command_line(words, "grove") == 0
    assert run_command_line([*words, "--until", "6h"], "grove") == 3
    assert "THEN" in capsys.readouterr().out


def dump_without(kind: str, folder: Path) -> Path:
    path = folder / "dump.json"
    items = [item for item in items_in(Path(DEGRADED)) if item["kind"] != kind]
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}), encoding="utf-8")
    return path


@pytest.mark.req("WL-235")
def test_cl002_pods_that_are_created_without_known_gangs_are_unknown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gangless = dump_without("PodGang", tmp_path)
    assert run_command_line(["plan", "-f", str(gangless), *NOW, "--fail-on", "unknown"], "grove") == 3
    assert "not collected: PodGang in inference" in capsys.readouterr().out


@pytest.mark.parametrize("asked", ["terminate", "wait", "delete", "withheld", "unknown", "change"])
@pytest.mark.parametrize("rules", ["design", "field"])
def test_cl002_a_set_that_could_not_be_decided_fails_any_check(
    asked: str, rules: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As it does in a comparison (CL-002)."""
    podless = dump_without("Pod", tmp_path)
    assert run_command_line(["plan", "-f", str(podless), *NOW, "--rules", rules], "grove") == 0
    assert capsys.readouterr().err == ""
    assert run_command_line(["plan", "-f", str(podless), *NOW, "--rules", rules, "--fail-on", asked], "grove") == 3
    assert "unknown" in capsys.readouterr().err


def test_cl002_a_failed_check_says_what_it_met(capsys: pytest.CaptureFixture[str]) -> None:
    words = [*PLAN, "qwen", "--fail-on", "delete", "--fail-on", "change", "--fail-on", "unknown"]
    assert run_command_line([*words, "--until", "6h"], "grove") == 3
    assert capsys.readouterr().err == "failed by --fail-on: change, delete\n"
    assert run_command_line([*PLAN, "gemma", "--fail-on", "terminate"], "grove") == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["plan", "--until", "1d"], "; a day is 24h"),
        (["simulate", "x.yaml", "--until", "2days"], "; a day is 24h"),
        (
            ["plan", "--fail-on", "terminate,wait"],
            "repeat --fail-on for each value: --fail-on terminate --fail-on wait",
        ),
        (["compare", "--fail-on", "ends, sooner"], "repeat --fail-on for each value: --fail-on ends --fail-on sooner"),
        (["plan", "--fail-on", "terminate,weight"], "'terminate,weight' is not one of"),
    ],
)
def test_cl009_a_usage_error_shows_how_it_is_written(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command_line(words, "grove") == 64
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "written"),
    [
        ("validate pcs.yaml more.yaml", "grove validate -f pcs.yaml -f more.yaml"),
        ("plan cluster.json --until 6h ml/llama", "grove plan -f cluster.json --until 6h ml/llama"),
        ("explain pcs/llama cluster.yaml", "grove explain pcs/llama -f cluster.yaml"),
        ("compare manifests/", "grove compare -f manifests/"),
        ("topology list cluster.yml --config on.yaml", "grove topology list -f cluster.yml --config on.yaml"),
        ("topology check set.yaml nodes.json -v", "grove topology check -f set.yaml -f nodes.json -v"),
        ("topology check -f set.yaml nodes.json", "grove topology check -f set.yaml -f nodes.json"),
        ("plan -f set.yaml nodes.json", "grove plan -f set.yaml -f nodes.json"),
        ("topology check nodes/ ml/llama", "grove topology check -f nodes/ ml/llama"),
        ("topology check ml/llama", ""),
        ("plan llama", ""),
        ("plan ml/llama --config on.yaml", ""),
        ("snapshot pcs.yaml more.yaml", ""),
        ("simulate pcs.yaml more.yaml", ""),
    ],
)
def test_cl009_where_files_belong(words: str, written: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(words.split(), "grove") == 64
    said = capsys.readouterr().err
    assert (f"files are given with -f; write: {written}\n" in said) if written else "; write: " not in said


def test_cl009_a_file_after_a_flag_is_no_set(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["topology", "check", "-f", "nodes.json", "-v", "set.yaml"], "grove") == 64
    assert "give -f FILE for a file; set.yaml is not the name of a PodCliqueSet" in capsys.readouterr().err


@pytest.mark.parametrize("output", ["human", "json", "yaml"])
def test_pl001_the_order_of_files_does_not_matter(output: str, capsys: pytest.CaptureFixture[str]) -> None:
    said = []
    for files in ((DEGRADED, REAL), (REAL, DEGRADED)):
        run_command_line(["plan", "-f", files[0], "-f", files[1], *NOW, "-o", output], "grove")
        said.append(capsys.readouterr().out)
    assert said[0] == said[1]


def test_cl008_rounds_are_limited(capsys: pytest.CaptureFixture[str]) -> None:
    lengths = []
    for limit in ("1", "6", "7", "9"):
        run_command_line([*PLAN, "llama-70b", "--rounds", limit, "-o", "json"], "grove")
        (plan,) = json.loads(capsys.readouterr().out)["plans"]
        lengths.append((len(plan["rounds"]), plan["complete"]))
    assert lengths == [(1, False), (6, False), (7, True), (7, True)]


def test_cl009_a_set_that_is_not_there_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line([*PLAN, "inference/nobody"], "grove") == 64
    assert "inference/nobody" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["plan", "inference/quen"], "PodCliqueSet inference/quen; did you mean inference/qwen?"),
        (["plan", "gema"], "PodCliqueSet gema; did you mean inference/gemma?"),
        (["plan", "ml/gemma"], "PodCliqueSet ml/gemma; did you mean inference/gemma?"),
        (["plan", "nobody"], "PodCliqueSet nobody"),
        (["plan", "quen", "nobody"], "PodCliqueSet nobody, PodCliqueSet quen; did you mean inference/qwen?"),
        (["plan", "-n", "inferense"], "a PodCliqueSet in namespace inferense; did you mean inference?"),
        (["compare", "inference/quen"], "PodCliqueSet inference/quen; did you mean inference/qwen?"),
        (["explain", "pclq/qwen-0-decod"], "PodClique qwen-0-decod; did you mean qwen-0-decode?"),
        (["explain", "pcs/quen"], "PodCliqueSet quen; did you mean qwen?"),
        (["explain", "pod/qwen-0-decode-l4gc"], "Pod qwen-0-decode-l4gc; did you mean qwen-0-decode-l4gcg?"),
        (["explain", "pclq/inference/qwen-0-decode"], "inference/qwen-0-decode; the namespace goes in -n"),
        (["explain", "pcs/somebody"], "PodCliqueSet somebody"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_cl009_a_similar_name_is_suggested(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line([*words, "-f", DEGRADED, *NOW], "grove") == 64
    assert message in capsys.readouterr().err


def test_cl010_the_verdict_comes_first(capsys: pytest.CaptureFixture[str]) -> None:
    run_command_line(PLAN, "grove")
    first = capsys.readouterr().out.splitlines()[0]
    assert "2 replicas to terminate now" in first
    assert "10:15:00Z" in first


def test_cl010_a_clock_before_the_input_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["plan", "-f", DEGRADED, "inference/qwen", "--now"]
    run_command_line([*words, "2026-11-20T05:00:00Z"], "grove")
    message = "note: --now is 3h41m before the newest time in the input (2026-11-20T08:41:00Z)"
    assert message in capsys.readouterr().out.splitlines()
    run_command_line([*words, "2026-11-20T08:41:00Z"], "grove")
    assert "newest time in the input" not in capsys.readouterr().out
    run_command_line([*words, "clock", "inference/llama-70b"], "grove")
    said = capsys.readouterr().out
    assert "otherwise delays that were still running look expired" in said
    assert "before the newest" not in said


@pytest.mark.req("CL-011")
@pytest.mark.parametrize("words", [PLAN, [*PLAN, "--until", "12h"], ["plan", "-f", REAL, *NOW]])
def test_cl011_the_document_reads_back(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    run_command_line([*words, "-o", "json", "--decisions"], "grove")
    raw = json.loads(capsys.readouterr().out)
    assert list(raw) == [
        "formatVersion",
        "coreVersion",
        "rules",
        "rulesFrom",
        "asOf",
        "notCollected",
        "summary",
        "plans",
    ]
    assert plan_document_as_json(plan_document_from_json(raw), decisions=True) == raw


def test_cl015_what_ends_is_said_to_end_now(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["explain", "-f", DEGRADED, *NOW, "pcs/llama-70b", "--why-not", "terminate"]
    assert run_command_line(words, "grove") == 0
    assert "PodCliqueSet/llama-70b[0]: it is terminated now\n" in capsys.readouterr().out


@pytest.mark.req("IN-030")
def test_cl005_what_is_allowed_is_said_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["plan", "-f", REFUSED, *NOW], "grove") == 1
    message = "terminationDelay: may be set only if spec.template.terminationDelay is set, got 2h\n"
    assert message in capsys.readouterr().err


def test_cl015_the_guard_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["explain", "-f", DEGRADED, *NOW, "--why-not", "terminate", "-o", "json"]
    guards = {}
    for target in ("pclq/phi-0-pool-1-pf", "pclq/mixtral-0-decode", "pclq/qwen-0-decode", "pclq/llama-70b-0-router"):
        assert run_command_line([*words, target], "grove") == 0
        (answer,) = json.loads(capsys.readouterr().out)["answers"]
        guards[target] = [(guard["verdict"], guard["because"][0]["rule"]) for guard in answer["guards"]]
    assert guards == {
        "pclq/phi-0-pool-1-pf": [("Suspend", "SuspendedByUpdate")],
        "pclq/mixtral-0-decode": [("False", "NeverAvailable")],
        "pclq/qwen-0-decode": [("Wait", "DelayRunning")],
        "pclq/llama-70b-0-router": [("Terminate", "DelayExpired")],
    }


@pytest.mark.req("CL-056")
@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["qwen", "nobody"], 64),
        (["-n", "nowhere"], 64),
        (["-n", "nowhere", "--fail-on", "terminate"], 3),
        (["-n", "nowhere", "--fail-on", "change"], 3),
    ],
)
def test_cl009_part_of_what_was_asked_for_is_not_enough(
    words: list[str], code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command_line([*PLAN, *words], "grove") == code
    said = capsys.readouterr()
    assert said.out == ""
    assert "not in the input" in said.err


def test_cl010_a_set_of_which_nothing_is_left_is_not_well(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where others have theirs; alone in its namespace the rest is unknown (IN-040)."""
    manifest = yaml.load(Path(GOOD).read_text(encoding="utf-8"), yaml.CSafeLoader)
    manifest["metadata"] |= {"uid": "gone", "namespace": "inference"}
    path = tmp_path / "gone.json"
    path.write_text(json.dumps(manifest), encoding="utf-8")
    name = f"inference/{manifest['metadata']['name']}"
    assert run_command_line(["plan", name, "-f", str(path), "-f", DEGRADED, *NOW], "grove") == 0
    said = capsys.readouterr().out
    assert "0 of 2 replicas available" in said
    assert "all well" not in said
    assert run_command_line(["plan", name, "-f", str(path), *NOW, "--fail-on", "unknown"], "grove") == 3
    assert "not collected: PodClique in inference" in capsys.readouterr().out


def test_cl010_what_was_refused_is_not_collected_by_another_dump(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command_line(["plan", "-f", str(Path(GOOD).parent), *NOW, "--keep-going"], "grove") == 1
    said = capsys.readouterr().out
    assert "not collected: PodCliqueSet in inference" in said
    assert "kubectl get" not in said
    items = [item for item in items_in(Path(DEGRADED)) if item["kind"] != "Pod"]
    podless = tmp_path / "podless.json"
    podless.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}), encoding="utf-8")
    run_command_line(["plan", "-f", str(podless), "-f", str(Path(GOOD).parent), *NOW, "--keep-going"], "grove")
    assert "  all that is needed: kubectl get" in capsys.readouterr().out


@pytest.mark.req("GT-101")
def test_cl009_an_update_is_compared_with_what_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    manifest = yaml.load(Path(GOOD).read_text(encoding="utf-8"), yaml.CSafeLoader)
    del manifest["metadata"]["namespace"]
    manifest["spec"]["template"]["cliques"][0]["name"] = "front"
    path = tmp_path / "new.json"
    path.write_text(json.dumps(manifest), encoding="utf-8")
    assert run_command_line(["validate", "-f", str(path), "--old", GOOD], "grove") == 1
    assert "GT-101" in capsys.readouterr().out
    manifest["metadata"]["name"] = "unheard-of"
    path.write_text(json.dumps(manifest), encoding="utf-8")
    run_command_line(["validate", "-f", str(path), "--old", GOOD], "grove")
    assert "no earlier version" in capsys.readouterr().err


STRANGE: Final = ["x", 5, None, [], {}, [["a"]], {"uid": []}]


@pytest.fixture(scope="module")
def first_step(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """The first step of a plan, as ``-o json`` prints it."""
    path = tmp_path_factory.mktemp("plan") / "plan.json"
    with path.open("w", encoding="utf-8") as file, contextlib.redirect_stdout(file):
        run_command_line([*PLAN, "-o", "json"], "grove")
    document = json.loads(path.read_text(encoding="utf-8"))
    step: dict[str, object] = document["plans"][0]["rounds"][0]["steps"][0]
    return step


@pytest.mark.parametrize("part", ["target", "guard", "restsOn", "object", "action", "detail", "because"])
@pytest.mark.parametrize("value", STRANGE, ids=str)
def test_cl005_strange_attempts_are_one_report(
    first_step: dict[str, object], part: str, value: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "attempts.json"
    path.write_text(json.dumps({"attempts": [{**first_step, "outcome": "refused", part: value}]}), encoding="utf-8")
    assert run_command_line([*PLAN, "--attempts", str(path)], "grove") in {0, 1}
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.req("PL-012")
def test_cl049_what_a_server_says_cannot_paint_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_command_line([*PLAN, "-o", "json"], "grove")
    document = json.loads(capsys.readouterr().out)
    steps = [step for plan in document["plans"] for step in plan["rounds"][0]["steps"] if step["action"] == "delete"]
    path = tmp_path / "attempts.json"
    refused = [{**step, "outcome": "refused", "detail": "no\n\x1b[31mno"} for step in steps]
    path.write_text(json.dumps({"attempts": refused}), encoding="utf-8")
    assert run_command_line([*PLAN, "--attempts", str(path), "--rounds", "1"], "grove") == 0
    said = capsys.readouterr().out
    assert "\x1b" not in said
    assert "to terminate now" not in said
    assert "withheld" in said.splitlines()[0]
