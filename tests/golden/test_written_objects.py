"""What the Go operator writes for 39 sets of different shape, field by field, against what the rule set `field` writes.

Each folder of ``written_objects`` has a set in ``set.yaml``, perhaps with what a cluster has besides, and in
``written.jsonl`` every object that v0.1.0-alpha.12-rc1 of the Go operator wrote for it: the bodies of its requests,
without uids and statuses, one object a line. Where its main branch writes something else, ``written_by_main.jsonl`` has
that. Kinds of differences are in ``REASONS``; ``pytest --bless`` writes to ``differences.txt`` where they occur.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from grove_core.areas.topology.verdicts import PlacingTopology
from grove_core.areas.workload.field.releases import FROM_ALPHA_12, MAIN_BRANCH
from grove_core.kernel.frozen import FrozenDict
from grove_core.resources.quantities import parse_quantity
from grove_core.rule_sets.go_operator import NEWEST, OF_MAIN_BRANCH
from grove_shell.cli.main import run_command_line
from tests.property.workload_field.expansion import Expansion, root_of

Json = dict[str, Any]
HERE: Final = Path(__file__).parent / "written_objects"
CASES: Final = sorted(path.parent.name for path in HERE.glob("*/set.yaml"))
DIFFERENCES: Final = HERE / "differences.txt"
HASH: Final = ".metadata.labels.grove.io/pod-template-hash"
REASONS: Final[Mapping[str, str]] = {
    "hash of a template": "both are opaque; that operator hashes the layout of its structures in memory",
    "name of a pod": "the API server makes it up from generateName; a plan needs one",
    "image of the init container": "which image that operator uses is set where it is installed",
    "another form of one amount": "a Go client writes 1Gi for 1024Mi; a plan shows what the user wrote",
    "empty value": "a Go client leaves out false, 0 and empty texts and lists; a plan shows what the user wrote",
    "empty object": "a Go client writes it for a structure without fields; it means the same as none",
}


FILES: Final = {NEWEST.name: "written.jsonl", OF_MAIN_BRANCH.name: "written_by_main.jsonl"}
WORKLOAD: Final = {NEWEST.name: FROM_ALPHA_12, OF_MAIN_BRANCH.name: MAIN_BRANCH}


def recorded(case: str, rules: str = NEWEST.name) -> dict[str, Json]:
    path = HERE / case / FILES[rules]
    lines = (path if path.exists() else HERE / case / FILES[NEWEST.name]).read_text(encoding="utf-8").splitlines()
    return {name_of(item): item for item in map(json.loads, lines)}


def expanded(case: str, rules: str = NEWEST.name) -> dict[str, Json]:
    """The objects by a rule set, from the manifest and what the cluster has besides."""
    documents = list(yaml.load_all((HERE / case / "set.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader))
    by_kind = {item["kind"]: item for item in documents}
    binding, template = by_kind.get("ClusterTopologyBinding"), by_kind.get("ResourceClaimTemplate")
    scheduler = by_kind.get("OperatorConfiguration", {}).get("scheduler", {})
    keys = {level["domain"]: level["key"] for level in binding["spec"]["levels"]} if binding else {}
    found = Expansion(
        root_of(by_kind["PodCliqueSet"]),
        claim_templates=[template] if template else [],
        topology=PlacingTopology("cluster", FrozenDict(keys)) if binding else None,
        scheduler=scheduler.get("defaultProfileName", ""),
        release=WORKLOAD[rules],
    )
    return {name_of(item): without_uids(item) for item in found.manifests}


def name_of(item: Json) -> str:
    """Kind and name; of a pod the host name, because its name is random."""
    return f"{item['kind']}/{item['spec']['hostname'] if item['kind'] == 'Pod' else item['metadata']['name']}"


def without_uids(item: Json) -> Json:
    owners = [{key: text for key, text in one.items() if key != "uid"} for one in item["metadata"]["ownerReferences"]]
    return {**item, "metadata": {**item["metadata"], "ownerReferences": owners}}


def differences(ours: Any, theirs: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Path of each field that differs, and the kind of difference; an unknown difference is its own kind."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key in sorted(ours.keys() | theirs.keys()):
            if key not in theirs:
                yield f"{path}.{key}", known_where_left_out(f"{path}.{key}", ours[key])
            elif key not in ours:
                yield f"{path}.{key}", "empty object" if theirs[key] == {} else f"{path}.{key}: only theirs"
            else:
                yield from differences(ours[key], theirs[key], f"{path}.{key}")
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for one, other in zip(ours, theirs, strict=True):
            yield from differences(one, other, f"{path}[]")
    elif ours != theirs:
        yield path, known_where_changed(path, ours, theirs)


def known_where_left_out(path: str, ours: Any) -> str:
    if path == ".metadata.name":
        return "name of a pod"
    return f"{path}: only ours, {ours!r}" if ours else "empty value"


def known_where_changed(path: str, ours: Any, theirs: Any) -> str:
    if path == HASH:
        return "hash of a template"
    if path == ".spec.initContainers[].image" and theirs.startswith("grove-initc:"):
        return "image of the init container"
    amount = parse_quantity(ours)
    if amount is not None and amount == parse_quantity(theirs):
        return "another form of one amount"
    return f"{path}: {ours!r}, theirs is {theirs!r}"


@pytest.mark.parametrize("rules", FILES)
@pytest.mark.parametrize("case", CASES)
def test_wf100_every_field_is_what_the_operator_writes(case: str, rules: str) -> None:
    ours, theirs = expanded(case, rules), recorded(case, rules)
    assert ours.keys() == theirs.keys()
    unknown = {
        f"{name} {what}"
        for name, item in ours.items()
        for _, what in differences(item, theirs[name])
        if what not in REASONS
    }
    assert unknown == set()


NOT_ADMITTED: Final = frozenset(
    {"a_topology_that_lacks_a_domain", "a_topology_that_lacks_all", "a_topology_without_its_switch"}
)
"""Sets that are refused, unless they were stored before the cluster's topology changed."""


@pytest.mark.parametrize("rules", FILES)
@pytest.mark.parametrize("case", [case for case in CASES if case not in NOT_ADMITTED])
def test_wf100_the_plan_of_the_bare_manifest_creates_them(
    case: str, rules: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    documents = list(yaml.load_all((HERE / case / "set.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader))
    configuration: Json = {
        "apiVersion": "operator.config.grove.io/v1alpha1",
        "kind": "OperatorConfiguration",
        "network": {"autoMNNVLEnabled": True},
        "scheduler": {"profiles": [{"name": "kai-scheduler"}, {"name": "volcano"}]},
    }
    for document in documents:
        if document["kind"] == "OperatorConfiguration":
            configuration |= document
        elif document["kind"] == "ClusterTopologyBinding":
            configuration |= {"topologyAwareScheduling": {"enabled": True}}
    given = [document for document in documents if document["kind"] != "OperatorConfiguration"]
    for name, content in (("set.yaml", given), ("config.yaml", [configuration])):
        (tmp_path / name).write_text(yaml.safe_dump_all(content), encoding="utf-8")
    words = ["plan", "-f", str(tmp_path / "set.yaml"), "--config", str(tmp_path / "config.yaml")]
    assert run_command_line([*words, "--rules", rules, "--now", "2026-11-20T09:00:00Z", "-o", "json"], "grove") == 0
    (plan,) = json.loads(capsys.readouterr().out)["plans"]
    steps = (step for round_ in plan["rounds"] for step in round_["steps"] if step["action"] == "create")
    objects = (step["object"] for step in steps if step["target"]["kind"] != "ComputeDomain")  # see NF-005
    created = {name_of(item): without_uids(item) for item in objects}
    theirs = recorded(case, rules)
    assert created.keys() == theirs.keys()
    found = {what for name, item in created.items() for _, what in differences(item, theirs[name])}
    assert found <= REASONS.keys()


def test_wf199_every_difference_is_listed_with_its_reason(*, bless: bool) -> None:
    places = defaultdict[str, set[str]](set)
    for case in CASES:
        theirs = recorded(case)
        for name, item in expanded(case).items():
            for path, what in differences(item, theirs[name]):
                places[what].add(f"  {item['kind']}{path}\n")
    assert places.keys() == REASONS.keys()
    found = "\n".join(f"{what}: {reason}\n{''.join(sorted(places[what]))}" for what, reason in REASONS.items())
    if bless:
        DIFFERENCES.write_text(found, encoding="utf-8")
    assert DIFFERENCES.read_text(encoding="utf-8") == found
