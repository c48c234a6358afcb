"""Golden cases: folders with the state of a cluster, the outcome that the documents require, and the plan.

A case has `given.yaml` (output of kubectl), `case.yaml` (the clock, further arguments, and the outcome that was derived
from the documents before the code was read) and `plan.yaml` (the plan with its decisions: verdicts, steps, rules and
facts, in the notation of `reason_notation.py`). The cases of `PAGES` also have `page.txt`, the text that `grove plan`
prints. `pytest --bless` writes `plan.yaml` and `page.txt`; they are reviewed like code.

In the areas of `IN_SHORT`, `plan.yaml` has the first round whole, and of later rounds only the times, actions and
targets. A case that is about a later round says `wholeRounds: true` in `case.yaml`: its plan has all rounds whole.

Keys of `expect` in `case.yaml`:

- `deletes`, `terminate`, `wakeAt`, `status`: the first round.
- `withheld`: the domains, claims, cliques and scaling groups that are withheld in the first round.
- `creates`: every object that any round creates, or ensures where it does not exist, by name.
- `rounds`: all steps on domains, claims, cliques and scaling groups, for each round.
- `objects`: parts of manifests; each matches an object after a step has written it. Lists match in length and order,
  and null matches a missing field.
- `atRest`: as `status`, after the last round; null for a condition that was removed.
"""

import json
import re
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from grove_shell.cli.main import run_command_line
from grove_shell.views.renderers import format_yaml_document
from tests.golden.reason_notation import abridged, with_later_rounds_in_short, write_reasons_in_notation
from tests.kubectl_yaml import Json, items_in

HERE: Final = Path(__file__).parent
CASES: Final = sorted(path.parent for path in HERE.glob("*/*/case.yaml"))
IN_SHORT: Final = frozenset({"gang_termination", "gang_termination_field", "planning", "edits"})
"""The areas whose plans lack the manifests of created objects, and have later rounds in short.

Those of ``workload`` and ``written_objects`` have the manifests, and all rounds whole.
"""
TERMINATE: Final = "Terminate"
WRITES: Final = frozenset({"create", "ensure", "apply"})
KEYS: Final = frozenset({"why", "now", "args", "expect", "wholeRounds"})
EXPECTED: Final = frozenset(
    {"deletes", "terminate", "wakeAt", "status", "withheld", "creates", "rounds", "objects", "atRest"}
)
FOLLOWED: Final = frozenset({"ComputeDomain", "ResourceClaim", "PodClique", "PodCliqueScalingGroup"})
LABELS: Final = {
    "Terminate": frozenset({"TERMINATE", "HELD BACK"}),
    "Wait": frozenset({"WAIT"}),
    "Unknown": frozenset({"UNKNOWN"}),
    "Keep": frozenset({"KEEP"}),
}

PAGES: Final = {
    "gang_termination/gt001_foreign_pod_of_an_earlier_clique": "KEEP, and a clique with too few ready pods",
    "gang_termination/gt002_terminating_pod_still_serves": "a set in which nothing is wrong, on one line",
    "gang_termination/gt032_transition_in_the_future": "WAIT with its clock; the note on an input newer than the clock",
    "gang_termination/gt033_delay_expired_terminates_whole_replica": "TERMINATE with its cause, clock, pods and GPUs",
    "gang_termination_field/gf001_an_edit_takes_the_delay_out": "CREATE, UPDATE; the notes on an edit",
    "gang_termination_field/gf070_standalone_missing": "THEN: a termination in a later round of the same moment",
    "gang_termination_field/gf086_again_and_again": "THEN, AGAIN: a termination that repeats until pods are placed",
    "planning/pl025_an_update_averts_a_termination": "KEEP, because the steps avert a termination",
    "gang_termination_field/gf123_a_constraint_nobody_enforces": "--decisions: each verdict with its reasons",
    "workload_field/wf012_an_edit": "DELETE; HELD BACK: an update that waits for ready pods",
    "mnnvl/mn017_siblings_were_not_collected": "UNKNOWN; the note on what the cluster did not show",
    "mnnvl/mn050_scaled_to_nothing": "a set without replicas, and a deletion that takes no pods along",
    "planning/pl040_what_stops_a_termination": "what stops a termination; the scheduler's words; no room",
    "planning/pl044_pods_of_one_lost_node": "the node behind a breach",
    "planning/pl029_the_server_cannot_be_asked": "HELD BACK: a termination that the server did not confirm",
    "topology/tp010_a_missing_topology": "a ClusterTopology; the note on constraints that cannot be checked",
    "topology/tp020_three_levels": "GATED: gangs that wait for their base gang; a warning about a manifest",
    "topology/tp131_pods_in_two_racks": "MISPLACED: pods outside the domain of their constraint",
    "workload/wl092_a_gang_that_lacks_a_pod": "GATED, PLACE: a gang that lacks a pod; the note on an assumed release",
    "workload/wl235_gangs_were_not_collected": "gates of which nothing is known; the note on what the input lacks",
}
"""The cases whose subject is the page, and what each of them shows. Together they reach every line and branch of the
code of the page that the pages of all cases reach; an entry that adds none does not belong here."""


def read(path: Path) -> Json:
    """Read a YAML file in which times are quoted."""
    loaded: Json = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    return loaded


def name_of(case: Path) -> str:
    return f"{case.parent.name}/{case.name}"


def cases_expecting(*keys: str) -> pytest.MarkDecorator:
    """Parametrize a test with the cases whose `expect` has one of these keys."""
    cases = [case for case in CASES if any(key in read(case / "case.yaml")["expect"] for key in keys)]
    return pytest.mark.parametrize("folder", cases, indirect=True, ids=name_of)


def given(folder: Path) -> list[Json]:
    """The objects of `given.yaml`."""
    return items_in(folder / "given.yaml")


def arguments(case: Json) -> list[str]:
    args = case.get("args", ())
    rules = () if "--rules" in args else ("--rules", "design")
    return ["plan", "-f", "given.yaml", "--now", case["now"], *rules, *args]


def output_of(capsys: pytest.CaptureFixture[str], words: list[str]) -> str:
    """Run a command, require exit code 0, and return what it printed."""
    assert run_command_line(words, "grove") == 0, capsys.readouterr().err
    return capsys.readouterr().out


_PRINTED: dict[tuple[Path, tuple[str, ...]], str] = {}
"""What the command printed for a case: several tests look at one plan."""


def plan_of(folder: Path, case: Json, capsys: pytest.CaptureFixture[str], *more: str) -> Json:
    """Return the plan of the case in the current directory, with reasons in notation; it is computed once."""
    words = (*arguments(case), "-o", "json", *more)
    if (folder, words) not in _PRINTED:
        _PRINTED[folder, words] = output_of(capsys, [*words])
    plan: Json = json.loads(_PRINTED[folder, words])
    return plan


def unknown_keys(case: Json) -> set[str]:
    """Keys of a case that no test reads."""
    return {*case} - KEYS | {*case["expect"]} - EXPECTED


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_a_case_has_only_keys_that_a_test_reads(case: Path) -> None:
    assert unknown_keys(read(case / "case.yaml")) == set()


def test_a_misspelt_expectation_is_noticed() -> None:
    case = {"why": "", "now": "", "arg": [], "expect": {"deletes": [], "withhelt": []}}
    assert unknown_keys(case) == {"arg", "withhelt"}


@pytest.fixture(params=CASES, ids=name_of)
def folder(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a case, and the current directory; reasons are in notation."""
    path: Path = request.param
    monkeypatch.chdir(path)
    write_reasons_in_notation(monkeypatch)
    return path


def test_the_plan_is_as_blessed(folder: Path, capsys: pytest.CaptureFixture[str], *, bless: bool) -> None:
    case = read(folder / "case.yaml")
    document = plan_of(folder, case, capsys, "--decisions")
    in_short = folder.parent.name in IN_SHORT
    if in_short and not case.get("wholeRounds", False):
        document = with_later_rounds_in_short(document)
    printed = format_yaml_document(abridged(document, manifests=not in_short))
    compare(folder / "plan.yaml", printed, case["why"], bless=bless)


@pytest.mark.parametrize("case", [case for case in CASES if "wholeRounds" in read(case / "case.yaml")], ids=name_of)
def test_whole_rounds_are_asked_for_where_they_would_be_in_short(case: Path) -> None:
    assert read(case / "case.yaml")["wholeRounds"] is True
    assert case.parent.name in IN_SHORT
    assert any(len(plan["rounds"]) > 1 for plan in read(case / "plan.yaml")["plans"])


@pytest.mark.parametrize("name", PAGES)
def test_cl010_the_page_is_as_blessed(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *, bless: bool
) -> None:
    folder = HERE / name
    monkeypatch.chdir(folder)
    case = read(folder / "case.yaml")
    compare(folder / "page.txt", output_of(capsys, arguments(case)), case["why"], bless=bless)


def test_cl010_the_cases_of_the_page_alone_have_one() -> None:
    assert {name_of(case) for case in CASES if (case / "page.txt").exists()} == PAGES.keys()


@pytest.mark.no_cover  # the cases of PAGES reach every line of a page
def test_cl010_the_page_labels_every_verdict(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The page has a line for each replica with the label of its verdict, or of the verdict after averting steps."""
    case = read(folder / "case.yaml")
    page = output_of(capsys, [*arguments(case), "-v"])
    document = plan_of(folder, case, capsys, "--decisions")
    for plan in document["plans"]:
        verdicts = {
            decision["subject"].get("replica"): decision["verdict"]
            for decision in (*plan["decisions"], *plan.get("averted", ()))
            if decision["question"] == "termination" and decision["subject"]["kind"] == "PodCliqueSet"
        }
        for replica, verdict in verdicts.items():
            what = "PodCliqueSet" if replica is None else f"replica {replica}"
            line = rf"^  ({'|'.join(LABELS[verdict])}) +{what}\b"
            assert re.search(line, page, re.MULTILINE), (line, page)


def compare(path: Path, printed: str, why: str, *, bless: bool) -> None:
    if bless:
        path.write_text(printed, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == printed, why


def test_the_first_round_is_as_expected(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Deletions, terminations, wake-up time and statuses of the first round are those that the documents require."""
    case = read(folder / "case.yaml")
    expect, why = case["expect"], case["why"]
    document = plan_of(folder, case, capsys, "--decisions")
    steps = [step for plan in document["plans"] for step in plan["rounds"][0]["steps"]]
    assert sorted(step["target"]["name"] for step in steps if step["action"] == "delete") == expect["deletes"], why

    groups: dict[str, list[int]] = {}
    sets = []
    for plan in document["plans"]:
        for decision in plan["decisions"]:
            subject = decision["subject"]
            if decision["verdict"] == TERMINATE and subject["kind"] == "PodCliqueSet":
                sets.append(subject["replica"])
            elif decision["verdict"] == TERMINATE and "replica" in subject:
                groups.setdefault(subject["name"], []).append(subject["replica"])
    assert groups == expect["terminate"]["podCliqueScalingGroups"], why
    assert sets == expect["terminate"]["podCliqueSetReplicas"], why
    requeued = [plan["wakeAt"] for plan in document["plans"] if plan["root"]["kind"] == "PodCliqueSet"]
    assert requeued == [expect["wakeAt"]], why

    stored = {f"{item['kind']}/{item['metadata']['name']}": item.get("status", {}) for item in given(folder)}
    written = {f"{step['target']['kind']}/{step['target']['name']}": step["object"] for step in steps}
    for name, status in expect["status"].items():
        shown = status_after(stored[name], written.get(name) or {})
        for field, value in status.items():
            if isinstance(value, dict):
                assert {key: shown[field][key] for key in value} == value, (name, field, why)
            else:
                assert (name, field, shown.get(field)) == (name, field, value), why


def test_all_rounds_create_what_is_expected(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All rounds together create the expected objects: pods are counted by clique, all else is compared by name."""
    case = read(folder / "case.yaml")
    document = plan_of(folder, case, capsys)
    created: dict[str, Any] = {}
    there = {(item["kind"], item["metadata"]["name"]) for item in given(folder)}
    for step in (step for round_ in rounds_in(document) for step in round_["steps"]):
        if step["action"] not in {"create", "ensure"}:
            continue
        target, (owner,) = step["target"], step["object"]["metadata"]["ownerReferences"]
        if step["action"] == "ensure":
            if (target["kind"], target["name"]) not in there:
                there.add((target["kind"], target["name"]))
                created.setdefault(target["kind"], []).append(target["name"])
        elif target["kind"] == "Pod":
            pods = created.setdefault("Pod", {})
            pods[owner["name"]] = pods.get(owner["name"], 0) + 1
        else:
            created.setdefault(target["kind"], []).append(target["name"])
    for names in created.values():
        if isinstance(names, list):
            names.sort()
    assert created == case["expect"].get("creates", {}), case["why"]


@cases_expecting("withheld", "rounds", "atRest")
def test_each_round_does_what_is_expected(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Withheld steps, steps of each round and the last status are as expected; objects are ensured before use."""
    case = read(folder / "case.yaml")
    expect, why = case["expect"], case["why"]
    document = plan_of(folder, case, capsys)
    if "withheld" in expect:
        held = [target for plan in document["plans"] for target in followed(plan["rounds"][0]["withheld"])]
        assert sorted(held) == sorted(expect["withheld"]), why
    if "rounds" in expect:
        printed = [steps_in(round_) for round_ in rounds_in(document)]
        wanted = expect["rounds"] + [[]] * (len(printed) - len(expect["rounds"]))
        assert [sorted(words) for words in printed] == [sorted(words) for words in wanted], why
        for words in printed:
            kinds = [word.startswith("ensure") for word in words if not word.startswith("apply")]
            assert kinds == sorted(kinds, reverse=True), (words, why)
    for name, conditions in expect.get("atRest", {}).items():
        (stored,) = (item for item in given(folder) if f"{item['kind']}/{item['metadata']['name']}" == name)
        shown = status_after(stored.get("status", {}), {})
        for step in (step for round_ in rounds_in(document) for step in round_["steps"]):
            if step["action"] == "setStatus" and address(step["target"]) == name:
                shown = status_after(shown, step["object"])
        assert {key: shown.get(key) for key in conditions} == conditions, (name, why)


@cases_expecting("objects")
def test_objects_are_as_the_documents_print_them(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each expected manifest matches an object after a step has written it."""
    case = read(folder / "case.yaml")
    expected, why = case["expect"]["objects"], case["why"]
    document = plan_of(folder, case, capsys)
    now: dict[str, Json] = {f"{item['kind']}/{item['metadata']['name']}": item for item in given(folder)}
    left: list[Json] = []
    for step in (step for round_ in rounds_in(document) for step in round_["steps"]):
        name = address(step["target"])
        if step["action"] == "create" or (step["action"] == "ensure" and name not in now):
            now[name] = step["object"]
        elif step["action"] == "apply":
            now[name] = merged(now[name], step["object"])
        else:
            continue
        left.append(now[name])
    for wanted in expected:
        alike = [found for found in left if found.get("kind") == wanted["kind"]]
        assert any(contains(found, wanted) for found in alike), (wanted, alike, why)


def rounds_in(document: Json) -> list[Json]:
    return [round_ for plan in document["plans"] for round_ in plan["rounds"]]


def address(target: Json) -> str:
    return f"{target['kind']}/{target['name']}"


def steps_in(round_: Json) -> list[str]:
    """Writes and deletions of the followed kinds, each once."""
    return list(
        dict.fromkeys(f"{step['action']} {address(step['target'])}" for step in round_["steps"] if is_followed(step))
    )


def followed(items: list[Json]) -> list[str]:
    return [address(item["target"]) for item in items if item["target"]["kind"] in FOLLOWED]


def is_followed(step: Json) -> bool:
    return step["target"]["kind"] in FOLLOWED and step["action"] in WRITES | {"delete"}


def merged(stored: Any, fields: Any) -> Any:
    """Return an object after a merge patch: null removes a key, and lists are replaced."""
    if not isinstance(stored, dict) or not isinstance(fields, dict):
        return fields
    kept = {key: value for key, value in stored.items() if key not in fields}
    written = {key: merged(stored.get(key), value) for key, value in fields.items() if value is not None}
    return {**kept, **written}


def contains(found: Any, wanted: Any) -> bool:
    """Whether an object has every wanted field, with its value and type."""
    if isinstance(wanted, dict):
        if found is None and all(value is None for value in wanted.values()):
            return True  # a missing object has no field
        return isinstance(found, dict) and all(contains(found.get(key), value) for key, value in wanted.items())
    if isinstance(wanted, list):
        same = isinstance(found, list) and len(found) == len(wanted)
        return same and all(contains(one, other) for one, other in zip(found, wanted, strict=True))
    return type(found) is type(wanted) and bool(found == wanted)


def status_after(stored: Json, written: Json) -> Json:
    """Return a status after a write, with its conditions also by type."""
    shown = {**stored, **written}
    conditions = {condition["type"]: condition for condition in stored.get("conditions", ())}
    conditions |= {condition["type"]: condition for condition in written.get("conditions", ())}
    gone = frozenset(written.get("removedConditions", ()))
    left = [condition for name, condition in conditions.items() if name not in gone]
    kept = {key: value for key, value in shown.items() if key not in gone}
    return {**kept, "conditions": left, **{condition["type"]: condition for condition in left}}
