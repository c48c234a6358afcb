"""What the Go operator made of three sets, against what we would make of them from nothing.

Every object of a healthy dump, stripped to its sets, must come out of our plan: the same names, labels, owners, gangs,
variables, hostnames, gates and claims. What differs is listed in ``DIFFERENCES`` with its reason, and the list is
complete: a difference that is not there fails, and one that is there and does not occur fails as well.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from grove_shell.cli.main import run_command_line

HERE: Final = Path(__file__).parent
Json = dict[str, Any]

DIFFERENCES: Final = {
    "a label in another family of keys": "decision D3: what one label says is said in every family (WL-030)",
    "the hash of a pod template": "both are opaque, and that operator's depends on its build (WL-040)",
    "the program of the init container": "ours is our own, a command of the image of the operator (WL-084)",
    "the confinement of the init container": "namespaces may enforce the restricted standard (WL-084)",
    "the name of a pod": "a function of clique and index, theirs is random (WL-085)",
}
OTHER_FAMILIES: Final = (
    "grove.io/podcliqueset",
    "grove.io/pcs-name",
    "grove.io/replica-index",
    "grove.io/pcs-replica-index",
    "grove.io/pcsg-name",
    "grove.io/pcsg-replica-index",
    "grove.io/clique-name",
)
HASH: Final = "grove.io/pod-template-hash"


@pytest.fixture(scope="module")
def field() -> list[Json]:
    items: list[Json] = json.loads((HERE / "s2-healthy.json").read_text(encoding="utf-8"))["items"]
    return items


@pytest.fixture
def ours(field: list[Json], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> list[Json]:
    """Everything that our plans create, from the bare manifests of the sets; changes of gangs worked in."""
    sets = [item for item in field if item["kind"] == "PodCliqueSet"]
    bare = [
        {
            "apiVersion": item["apiVersion"],
            "kind": item["kind"],
            "metadata": {
                key: value
                for key, value in item["metadata"].items()
                if key in {"name", "namespace", "labels", "annotations"}
            },
            "spec": item["spec"],
        }
        for item in sets
    ]
    path = tmp_path / "sets.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": bare}), encoding="utf-8")
    assert run_command_line(["plan", "-f", str(path), "--now", "2026-11-21T09:37:00Z", "-o", "json"], "grove") == 0
    document = json.loads(capsys.readouterr().out)
    made: dict[tuple[str, str], Json] = {}
    for step in (step for plan in document["plans"] for round_ in plan["rounds"] for step in round_["steps"]):
        key = step["target"]["kind"], step["target"]["name"]
        if step["action"] == "create":
            made[key] = step["object"]
        elif step["action"] == "apply" and key[0] == "PodGang":
            made[key]["spec"]["podgroups"] = step["object"]["spec"]["podgroups"]
    return list(made.values())


def by_name(items: list[Json], kind: str) -> dict[str, Json]:
    """Objects by name; pods by hostname."""
    return {
        item["spec"]["hostname"] if kind == "Pod" else item["metadata"]["name"]: item
        for item in items
        if item["kind"] == kind
    }


def differences(ours: Any, theirs: Any, path: str = "") -> Iterator[str]:
    """Where ours says something that theirs does not; what a server adds to theirs is no difference."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key, value in ours.items():
            if key not in theirs:
                yield f"{path}.{key}: only ours"
            else:
                yield from differences(value, theirs[key], f"{path}.{key}")
    elif isinstance(ours, list) and isinstance(theirs, list):
        if len(ours) != len(theirs):
            yield f"{path}: {len(ours)} items, theirs has {len(theirs)}"
        for index, (one, other) in enumerate(zip(ours, theirs, strict=False)):
            yield from differences(one, other, f"{path}[{index}]")
    elif ours != theirs:
        yield f"{path}: {ours!r}, theirs is {theirs!r}"


def known(path: str) -> str:
    """The entry of the list that a difference falls under; the difference itself where it falls under none."""
    if any(path.startswith(f".metadata.labels.{key}: only ours") for key in OTHER_FAMILIES):
        return "a label in another family of keys"
    if path.startswith(f".metadata.labels.{HASH}:"):
        return "the hash of a pod template"
    if path.startswith((".spec.initContainers[0].image:", ".spec.initContainers[0].command:")):
        return "the program of the init container"
    if path == ".spec.initContainers[0].securityContext: only ours":
        return "the confinement of the init container"
    if path.startswith(".metadata.name:") or ".podReferences[" in path:
        return "the name of a pod"
    return path


def without_uids(item: Json) -> Json:
    owners = [
        {key: value for key, value in owner.items() if key != "uid"} for owner in item["metadata"]["ownerReferences"]
    ]
    return {**item, "metadata": {**item["metadata"], "ownerReferences": owners}}


@pytest.mark.parametrize("kind", ["PodClique", "PodCliqueScalingGroup", "PodGang", "Pod"])
@pytest.mark.req("WL-013", "WL-014", "WL-015", "WL-016", "WL-017", "WL-020", "WL-023")
def test_wl010_a_healthy_cluster_comes_out_of_its_sets(field: list[Json], ours: list[Json], kind: str) -> None:
    theirs, made = by_name(field, kind), by_name(ours, kind)
    assert made.keys() == theirs.keys()
    for name, item in made.items():
        bare = without_uids(item)
        if kind == "Pod":
            bare["spec"] = {key: value for key, value in bare["spec"].items() if key != "schedulingGates"}
        found = {known(path) for path in differences(bare, theirs[name])}
        assert found <= DIFFERENCES.keys(), name


def test_wl030_every_listed_difference_occurs(field: list[Json], ours: list[Json]) -> None:
    found = {
        known(path)
        for kind in ("PodClique", "PodCliqueScalingGroup", "PodGang", "Pod")
        for name, item in by_name(ours, kind).items()
        for path in differences(without_uids(item), by_name(field, kind)[name])
    }
    assert DIFFERENCES.keys() <= found


def test_wl061_variables_stand_in_the_same_order(field: list[Json], ours: list[Json]) -> None:
    theirs = by_name(field, "Pod")
    for name, item in by_name(ours, "Pod").items():
        for mine, other in zip(item["spec"]["containers"], theirs[name]["spec"]["containers"], strict=True):
            assert [one["name"] for one in mine["env"]] == [one["name"] for one in other["env"]], name


@pytest.mark.parametrize(("rules", "actions"), [("design", {"setStatus"}), ("field", set())])
def test_wl043_the_healthy_dump_at_rest(capsys: pytest.CaptureFixture[str], rules: str, actions: set[str]) -> None:
    """A takeover writes statuses alone; the operator that runs there writes nothing."""
    words = ["plan", "-f", str(HERE / "s2-healthy.json"), "--now", "2026-11-21T09:38:48Z", "--rules", rules]
    assert run_command_line([*words, "-o", "json"], "grove") == 0
    plans = json.loads(capsys.readouterr().out)["plans"]
    assert len(plans) == 3
    for plan in plans:
        assert plan["complete"]
        steps = [step for round_ in plan["rounds"] for step in round_["steps"]]
        assert {step["action"] for step in steps} == actions
        written = {key for step in steps for key in step["object"]}
        assert written <= {"wasAvailable", "conditions", "phase", "readyReplicas"}, written
        assert not [held for round_ in plan["rounds"] for held in round_["withheld"]]
