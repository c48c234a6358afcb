"""Golden admissions of PodCliqueSets and topologies: each validation rule of the design.

A folder has `given.yaml` (topologies and sets of the cluster), `admission.yaml` (the write and its expected outcome)
and `remarks.txt`: objections and warnings, each with the value that it is about, and reasons in the notation of
`reason_notation.py`. `pytest --bless` writes `remarks.txt`.
"""

from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from grove_core.admit import admit
from grove_core.admit_cluster_topology import (
    admit_topology,
    admit_topology_deletion,
    topology_admission_view_of,
)
from grove_core.areas.topology.admit import KnownTopologiesForAdmission
from grove_core.kernel.admission import AdmissionVerdict, Deny
from grove_core.resources.api_names import TOPOLOGY_KIND
from grove_core.resources.configuration import Configuration
from grove_core.resources.topology_usage import TopologyUser
from grove_shell.settings.operator_settings import parse_operator_settings
from tests.golden.reason_notation import write_reasons_in_notation
from tests.property.admission_tables import same_words, words_of

Json = dict[str, Any]
HERE: Final = Path(__file__).parent / "topology"
FOLDERS: Final = sorted(path.parent for path in HERE.glob("*/admission.yaml"))


def configuration_of(case: Json) -> Configuration:
    settings, problems = parse_operator_settings({"topologyAwareScheduling": case["topologyAwareScheduling"]})
    assert not problems
    return settings.configuration


def topology_view(folder: Path, scheduled: dict[str, int]) -> KnownTopologiesForAdmission:
    """The topologies and sets of the cluster, and the numbers of bound pods that the case gives."""
    items = yaml.load((folder / "given.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader)["items"]
    sets = [item for item in items if item["kind"] == "PodCliqueSet"]
    found = topology_admission_view_of((item for item in items if item["kind"] == TOPOLOGY_KIND), sets, ())
    users: dict[str, list[TopologyUser]] = {}
    for one in sets:
        topology = one["spec"]["template"].get("clusterTopologyName", "grove-topology")
        namespace, name = one["metadata"]["namespace"], one["metadata"]["name"]
        users.setdefault(topology, []).append(TopologyUser(namespace, name, scheduled.get(f"{namespace}/{name}", 0)))
    bound = {(key.partition("/")[0], key.partition("/")[2]): count for key, count in scheduled.items()}
    return KnownTopologiesForAdmission(found.topologies or {}, bound, {name: tuple(of) for name, of in users.items()})


def verdict_on(case: Json, known: KnownTopologiesForAdmission) -> AdmissionVerdict:
    old, new = case["old"], case["new"]
    if new is None:
        return admit_topology_deletion(old, known).verdict
    if new["kind"] == TOPOLOGY_KIND:
        return admit_topology(new, old, known, configuration_of(case)).verdict
    return admit(new, old, configuration=configuration_of(case), around=known).verdict


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_tp060_writes_are_judged_as_expected(folder: Path, monkeypatch: pytest.MonkeyPatch, *, bless: bool) -> None:
    write_reasons_in_notation(monkeypatch)
    case: Json = yaml.load((folder / "admission.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader)
    verdict = verdict_on(case, topology_view(folder, case.get("scheduled", {})))
    objections = verdict.objections if isinstance(verdict, Deny) else ()
    found = {
        "refused": [[one.path, one.reason.rule.requirement] for one in objections],
        "warned": [[one.path, one.reason.rule.requirement] for one in verdict.warnings],
    }
    assert found == case["expect"], case["why"]
    same_words(folder / "remarks.txt", words_of(objections, verdict.warnings), bless=bless)
