"""Golden decisions of daemons and controllers of ComputeDomains.

A folder has `given.yaml` (output of kubectl), `cases.yaml` (the daemon or the controller, what it remembers, and the
expected decision) and `plan.yaml`, the whole decision. `pytest --bless` writes `plan.yaml`; it is reviewed like code.
"""

import dataclasses
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest
import yaml

from grove_core.areas.domain_cliques.daemon.daemon_input import (
    DaemonIdentity,
    DaemonInput,
    FabricDaemonState,
    ObservedDaemonRegistry,
    RegistrationState,
)
from grove_core.areas.domain_cliques.daemon.judge import next_daemon_action
from grove_core.areas.domain_cliques.daemon.registration_protocols import (
    DaemonRegistrationSettings,
    registration_protocol_by_name,
)
from grove_core.areas.domain_cliques.daemon.verdicts import PeerMap
from grove_core.areas.domain_cliques.domain_snapshot import compute_domain_snapshot_of
from grove_core.kernel.errors import MalformedObject
from grove_core.kernel.frozen import FrozenMap, thaw_json
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.kernel.time_formats import format_time, parse_time
from grove_core.reconcile_domain import reconcile_compute_domain
from grove_core.resources.api_names import DOMAIN
from grove_core.resources.compute_domain import (
    ComputeDomain,
    ComputeDomainClique,
    DaemonPod,
    compute_domain_from_json,
    daemon_pod_from_json,
    domain_clique_from_json,
)
from grove_core.resources.daemon_entry_lists import DaemonRegistry, registry_version_number
from grove_core.resources.metadata_readers import ref_in_manifest
from tests.golden.reason_notation import write_reasons_in_notation

Json = dict[str, Any]
HERE: Final = Path(__file__).parent / "domain_cliques"
FOLDERS: Final = sorted(path.parent for path in HERE.glob("*/cases.yaml"))
TIMES: Final = frozenset({"contested_since", "other_read_at", "pods_listed_at", "not_before", "throttled_until"})


class Given:
    """The objects of a case."""

    def __init__(self, folder: Path) -> None:
        self.registries: dict[Ref, DaemonRegistry] = {}
        self.pods: list[DaemonPod] = []
        self.unreadable: dict[Ref, str] = {}
        for item in read(folder / "given.yaml")["items"]:
            try:
                self._take(item)
            except MalformedObject:
                self.unreadable[ref_in_manifest(item, item["apiVersion"], item["kind"])] = item["metadata"]["labels"][
                    DOMAIN
                ]

    def _take(self, item: Json) -> None:
        match item["kind"]:
            case "ComputeDomain":
                domain = compute_domain_from_json(item)
                self.registries[domain.ref] = domain
            case "ComputeDomainClique":
                clique = domain_clique_from_json(item)
                self.registries[clique.ref] = clique
            case _:
                self.pods.append(daemon_pod_from_json(item))


def read(path: Path) -> Json:
    """Read a YAML file in which times are quoted."""
    loaded: Json = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    return loaded


def time_of(text: str) -> datetime:
    found = parse_time(text)
    assert found is not None
    return found


def daemon_context(case: Json, given: Given) -> DaemonInput:
    protocol = registration_protocol_by_name(case["protocol"])
    assert protocol is not None
    settings = DaemonRegistrationSettings(protocol=protocol, **case.get("settings", {}))
    identity = DaemonIdentity(**case["daemon"])
    registry = given.registries.get(identity.registry_ref(sharded=protocol.sharded))
    remembered: Json = {
        name: time_of(value) if name in TIMES else value for name, value in case.get("state", {}).items()
    }
    if remembered.pop("other_registry", False):
        remembered["other_registry"] = given.registries.get(identity.registry_ref(sharded=not protocol.sharded))
    if "pods_listed_for" in remembered:
        remembered["pods"] = tuple(given.pods)
    seen = (
        None
        if case.get("blind")
        else ObservedDaemonRegistry(registry_version_number(registry) if registry is not None else 0, registry)
    )
    fabric = case.get("fabric")
    return DaemonInput(
        identity=identity,
        settings=settings,
        state=RegistrationState(observed=seen, **remembered),
        pod=next((pod for pod in given.pods if pod.uid == identity.pod_uid), None),
        fabric=FabricDaemonState(fabric["index"], peers_of(fabric["peers"]), ready=fabric["ready"]) if fabric else None,
        stop_deadline=time_of(case["stop_deadline"]) if "stop_deadline" in case else None,
        now=time_of(case["now"]),
    )


def peers_of(addresses: Json) -> PeerMap:
    return PeerMap(tuple(sorted((int(index), address) for index, address in addresses.items())))


def as_yaml(value: Any) -> Any:
    """Return a verdict or an action as plain YAML data."""
    if isinstance(value, PeerMap):
        return {name: address for address, name in value.hosts_file_lines}
    if isinstance(value, Ref):
        return value.short
    if isinstance(value, FrozenMap):
        return thaw_json(value)
    if isinstance(value, datetime):
        return format_time(value)
    if isinstance(value, msgspec.Struct) or dataclasses.is_dataclass(value):
        return {
            "verdict": type(value).__name__.removesuffix("Request").removesuffix("Action"),
            **{name: as_yaml(getattr(value, name)) for name in compared_fields(value)},
        }
    return value.name if isinstance(value, Enum) else value


def compared_fields(value: Any) -> tuple[str, ...]:
    """Return the names of the fields by which two values of this type are compared."""
    if isinstance(value, msgspec.Struct):
        return value.__struct_fields__
    return tuple(part.name for part in dataclasses.fields(value) if part.compare)


def reasons(because: tuple[Reason, ...]) -> list[Json]:
    return [{"requirement": why.rule.requirement, "code": why.rule.code, "facts": dict(why.facts)} for why in because]


def decision_of(case: Json, given: Given) -> Json:
    """Return the decision of one case as plain YAML data."""
    if "podsVersion" not in case:
        decision = next_daemon_action(daemon_context(case, given))
        return {"case": case["case"], **as_yaml(decision.verdict), "because": reasons(decision.because)}
    domains = [one for one in given.registries.values() if isinstance(one, ComputeDomain)]
    cliques = [one for one in given.registries.values() if isinstance(one, ComputeDomainClique)]
    seen = compute_domain_snapshot_of(
        domains[0],
        cliques,
        given.pods,
        pods_version=case["podsVersion"],
        unreadable=given.unreadable,
        now=time_of(case["now"]),
    )
    plan = reconcile_compute_domain(seen)
    return {
        "case": case["case"],
        "steps": [
            {"target": step.target.short, **as_yaml(step.action), "because": reasons(step.because)}
            for step in plan.steps
        ],
        "withheld": [{"target": held.target.short, "because": reasons(held.because)} for held in plan.withheld],
        "findings": [
            {"subject": found.subject.short, "question": found.question, "verdict": found.verdict}
            | {"because": reasons(found.because)}
            for found in plan.findings
        ],
    }


def within(wanted: Any, found: Any) -> bool:
    """Whether a decision contains what is wanted; lists have the same length."""
    if isinstance(wanted, dict):
        return isinstance(found, dict) and all(key in found and within(wanted[key], found[key]) for key in wanted)
    if isinstance(wanted, list):
        return isinstance(found, list) and len(wanted) == len(found) and all(map(within, wanted, found))
    return bool(wanted == found)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: str(path.name))
def test_dc001_decisions_are_as_expected(folder: Path, monkeypatch: pytest.MonkeyPatch, *, bless: bool) -> None:
    write_reasons_in_notation(monkeypatch)
    given, golden = Given(folder), read(folder / "cases.yaml")
    made = []
    for case in golden["cases"]:
        whole = {**golden.get("all", {}), **case}
        found = decision_of(whole, given)
        assert within(case["expect"], found), (golden["why"], found)
        made.append(found)
    text = yaml.dump(made, Dumper=yaml.CSafeDumper, sort_keys=False, allow_unicode=True, width=120)
    path = folder / "plan.yaml"
    if bless:
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text, golden["why"]


def test_dc030_every_field_of_an_entry_is_parsed() -> None:
    (sharded,) = [folder for folder in FOLDERS if folder.name.startswith("dc036")]
    given = Given(sharded)
    (clique,) = [one for one in given.registries.values() if isinstance(one, ComputeDomainClique)]
    assert msgspec.structs.asdict(clique.daemons[0]) == {
        "node": "node-a",
        "ip": "10.0.0.1",
        "clique": "clique-1",
        "index": 0,
        "status": "Ready",
    }
