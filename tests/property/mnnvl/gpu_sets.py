"""A set of one replica, with its ComputeDomain in every possible state."""

from datetime import datetime, timedelta
from functools import cache
from typing import Final

from grove_core.areas.mnnvl.design.judge import compute_domain_ref_of_replica
from grove_core.kernel.conditions import Condition, ConditionStatus
from grove_core.kernel.frozen import FrozenDict, FrozenMap
from grove_core.kernel.steps import Attempt, AttemptOutcome, Create, Step, StepStage
from grove_core.kernel.structs import replace
from grove_core.resources.api_names import DOMAIN_TEMPLATE, DOMAINS_READY, GROVE
from grove_core.resources.compute_domain import ComputeDomain, compute_domain_from_json
from grove_core.resources.configuration import DEFAULT_CONFIGURATION, Configuration, MnnvlConfiguration, MnnvlMode
from grove_core.resources.domains_ready_condition import DomainCreationFailure
from grove_core.snapshot.snapshot import EVERY_KIND, Snapshot
from tests.property.mnnvl.gpus import GPUS, ON, Json
from tests.property.workload.sets import NOW, applied, at_rest, clique_raw, set_raw

LATE: Final = timedelta(seconds=61)
SOON: Final = timedelta(seconds=59)


def gpu_clique(name: str, *more: Json) -> Json:
    return clique_raw(name, 1, pod_spec={"containers": [{"name": "main", "resources": GPUS}, *more]})


def with_configuration(snapshot: Snapshot, configuration: Configuration = ON) -> Snapshot:
    return replace(snapshot, configuration=configuration)


def domain(owner_uid: str, owner_name: str, *, deleted_at: datetime | None = None) -> ComputeDomain:
    owner = {"apiVersion": GROVE, "kind": "PodCliqueSet", "name": owner_name, "uid": owner_uid, "controller": True}
    meta: Json = {
        "name": "llm-cd-0",
        "namespace": "ml",
        "uid": f"of {owner_uid}",
        "resourceVersion": "3",
        "labels": {"grove.io/podcliqueset": owner_name, "grove.io/replica-index": "0"},
        "ownerReferences": [owner] if owner_uid else [],
    }
    made = compute_domain_from_json({"apiVersion": "resource.nvidia.com/v1beta1", "metadata": meta})
    return replace(made, deleting=deleted_at is not None, deleted_at=deleted_at)


UID: Final = applied(set_raw(gpu_clique("a"))).root.uid
FOUND: Final[dict[str, ComputeDomain | None]] = {
    "nothing": None,
    "ours": domain(UID, "llm"),
    "ours, going": domain(UID, "llm", deleted_at=NOW - SOON),
    "ours, stuck": domain(UID, "llm", deleted_at=NOW - LATE),
    "an earlier set's": domain("before", "llm"),
    "an earlier set's, going": domain("before", "llm", deleted_at=NOW - SOON),
    "a stranger's": domain("other", "other"),
    "nobody's": domain("", ""),
}


BY_ANNOTATIONS: Final = Configuration(MnnvlConfiguration(enabled=True, mode=MnnvlMode.ANNOTATIONS))


@cache
def running(*, asks: bool = True) -> Snapshot:
    """A set of one replica with all its parts, created without MNNVL."""
    return at_rest(applied(set_raw(gpu_clique("a") if asks else clique_raw("a"), clique_raw("b"))))


def set_in_state(
    siblings: str,
    found: str,
    *,
    refused: bool,
    before: bool,
    known: bool,
    on: bool,
    young: bool = True,
    asks: bool = True,
) -> Snapshot:
    """A set of one replica with its domain in that state."""
    seen = running(asks=asks)
    cliques = tuple(
        replace(clique, annotations=FrozenMap({DOMAIN_TEMPLATE: "llm-rct-0"} if siblings == "joined" else {}))
        for clique in (() if siblings == "none" else seen.cliques)
    )
    failed = Condition(
        DOMAINS_READY,
        ConditionStatus.FALSE,
        "CreationFailed",
        DomainCreationFailure((0,), "quota").condition_message,
        NOW - LATE,
    )
    status = replace(seen.root.status, conditions=(failed,) if before else ())
    held = FOUND[found]
    snapshot = with_configuration(replace(seen, cliques=cliques), ON if on else DEFAULT_CONFIGURATION)
    ref = compute_domain_ref_of_replica(snapshot, 0)
    attempt = Attempt(
        Step(StepStage.FOUNDATION, ref, Create(FrozenMap({})), ()), AttemptOutcome.REFUSED, "exceeded quota"
    )
    return replace(
        snapshot,
        root=replace(seen.root, status=status, created_at=NOW - (SOON if young else LATE)),
        named_domains=FrozenDict({} if held is None else {("ml", "llm-cd-0"): held}),
        domains=(held,) if held is not None and held.owner_uid == UID else (),
        attempts=(attempt,) if refused else (),
        complete=EVERY_KIND if known else EVERY_KIND - {"ComputeDomain"},
    )
