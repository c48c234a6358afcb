"""Golden cases: folders that a user could have sent us, what the documents say of them, and what the program says.

A case holds `given.yaml` (what kubectl printed), `case.yaml` (the clock, further arguments, and what was expected
before anybody read the code), `plan.yaml` (the plan with its decisions) and `story.txt` (the page for people). The
last two are written by `pytest --bless` and reviewed like code.
"""

from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from grove_shell.cli.main import run

Json = dict[str, Any]
HERE: Final = Path(__file__).parent
CASES: Final = sorted(path.parent for path in HERE.glob("*/*/case.yaml"))
ENDED: Final = "Terminate"


def read(path: Path) -> Json:
    """Our own files, in which times are quoted."""
    loaded: Json = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    return loaded


def arguments(case: Json) -> list[str]:
    return ["plan", "-f", "given.yaml", "--now", case["now"], *case.get("args", ())]


def spoken(capsys: pytest.CaptureFixture[str], words: list[str]) -> str:
    """Run the command line and return what it printed; it must find nothing to complain of."""
    assert run(words, "grove") == 0, capsys.readouterr().err
    return capsys.readouterr().out


@pytest.fixture(params=CASES, ids=lambda path: f"{path.parent.name}/{path.name}")
def folder(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Path:
    path: Path = request.param
    monkeypatch.chdir(path)
    return path


def test_pl001_the_plan_is_as_blessed(folder: Path, capsys: pytest.CaptureFixture[str], *, bless: bool) -> None:
    case = read(folder / "case.yaml")
    said = spoken(capsys, [*arguments(case), "-o", "yaml", "--decisions"])
    compare(folder / "plan.yaml", said, case["why"], bless=bless)


def test_cl010_the_story_is_as_blessed(folder: Path, capsys: pytest.CaptureFixture[str], *, bless: bool) -> None:
    case = read(folder / "case.yaml")
    compare(folder / "story.txt", spoken(capsys, arguments(case)), case["why"], bless=bless)


def compare(path: Path, said: str, why: str, *, bless: bool) -> None:
    if bless:
        path.write_text(said, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == said, why


def test_gt010_the_documents_agree(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The first round of the plan is what was derived by hand from the documents."""
    case = read(folder / "case.yaml")
    expect, why = case["expect"], case["why"]
    document = yaml.load(spoken(capsys, [*arguments(case), "-o", "yaml", "--decisions"]), Loader=yaml.CSafeLoader)
    steps = [step for plan in document["plans"] for step in plan["rounds"][0]["steps"]]
    assert sorted(step["target"]["name"] for step in steps if step["action"] == "delete") == expect["deletes"], why

    groups: dict[str, list[int]] = {}
    sets = []
    for plan in document["plans"]:
        for decision in plan["decisions"]:
            subject = decision["subject"]
            if decision["verdict"] == ENDED and subject["kind"] == "PodCliqueSet":
                sets.append(subject["replica"])
            elif decision["verdict"] == ENDED and "replica" in subject:
                groups.setdefault(subject["name"], []).append(subject["replica"])
    assert groups == expect["terminate"]["podCliqueScalingGroups"], why
    assert sets == expect["terminate"]["podCliqueSetReplicas"], why
    assert [plan["wakeAt"] for plan in document["plans"]] == [expect["wakeAt"]], why

    stored = {f"{item['kind']}/{item['metadata']['name']}": item.get("status", {}) for item in given(folder)}
    written = {f"{step['target']['kind']}/{step['target']['name']}": step["object"] for step in steps}
    for name, status in expect["status"].items():
        shown = after(stored[name], written.get(name) or {})
        for field, value in status.items():
            if isinstance(value, dict):
                assert {key: shown[field][key] for key in value} == value, (name, field, why)
            else:
                assert (name, field, shown.get(field)) == (name, field, value), why


def test_wl010_what_is_created_in_all_rounds(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every object by name, pods by their number in a clique, is what was derived by hand from the documents."""
    case = read(folder / "case.yaml")
    document = yaml.load(spoken(capsys, [*arguments(case), "-o", "yaml"]), Loader=yaml.CSafeLoader)
    created: dict[str, Any] = {}
    for step in (step for plan in document["plans"] for round_ in plan["rounds"] for step in round_["steps"]):
        if step["action"] != "create":
            continue
        target, (owner,) = step["target"], step["object"]["metadata"]["ownerReferences"]
        if target["kind"] == "Pod":
            pods = created.setdefault("Pod", {})
            pods[owner["name"]] = pods.get(owner["name"], 0) + 1
        else:
            created.setdefault(target["kind"], []).append(target["name"])
    for names in created.values():
        if isinstance(names, list):
            names.sort()
    assert created == case["expect"].get("creates", {}), case["why"]


def given(folder: Path) -> list[Json]:
    class Kubectl(yaml.CSafeLoader):
        """Times stay text."""

    Kubectl.yaml_implicit_resolvers = {
        first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith("timestamp")]
        for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
    }
    loaded = yaml.load((folder / "given.yaml").read_text(encoding="utf-8"), Loader=Kubectl)  # noqa: S506 - a safe one
    items: list[Json] = loaded["items"]
    return items


def after(stored: Json, written: Json) -> Json:
    """A status after a write, its conditions by type."""
    shown = {**stored, **written}
    conditions = {condition["type"]: condition for condition in stored.get("conditions", ())}
    conditions |= {condition["type"]: condition for condition in written.get("conditions", ())}
    return {**shown, **conditions}
