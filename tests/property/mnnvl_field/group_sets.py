"""Sets with MNNVL groups, and their ComputeDomains as the Go operator writes them."""

from collections.abc import Sequence
from typing import Any, Final

from grove_core.in_memory.forecasts import forecast_until_settled
from grove_core.in_memory.in_memory_cluster import InMemoryCluster
from grove_core.kernel.frozen import FrozenDict, thaw_json
from grove_core.kernel.steps import Attempt, AttemptOutcome, Create, Delete, DropFinalizer
from grove_core.kernel.structs import replace
from grove_core.plan.plan import Plan
from grove_core.reconcile import reconcile
from grove_core.resources.compute_domain import ComputeDomain, compute_domain_from_json
from grove_core.resources.configuration import DEFAULT_CONFIGURATION, Configuration, MnnvlConfiguration
from grove_core.rule_sets.rule_set_by_name import rule_set
from grove_core.snapshot.snapshot import EVERY_KIND, Snapshot
from tests.property.mnnvl.gpus import GPUS
from tests.property.workload.sets import NOW, applied, clique_raw, set_raw

Json = dict[str, Any]
GROUP: Final = "grove.io/mnnvl-group"
FINALIZER: Final = "grove.io/computedomain-finalizer"
FIELD: Final = rule_set("field")
ON: Final = Configuration(MnnvlConfiguration(enabled=True))
OFF: Final = Configuration(MnnvlConfiguration(is_given=True))
NOT_GIVEN: Final = DEFAULT_CONFIGURATION


def clique(name: str, group: str | None = None, *, gpus: bool = True) -> Json:
    resources = {"resources": GPUS} if gpus else {}
    raw = clique_raw(name, 1, pod_spec={"containers": [{"name": "main", "image": "x", **resources}]})
    return raw if group is None else {**raw, "annotations": {GROUP: group}}


def set_of(
    *cliques: Json, group: str | None = None, replicas: int = 1, scaling_groups: Sequence[Json] = (), on: bool = True
) -> Snapshot:
    """A new set of which every kind is known."""
    raw = set_raw(*cliques, replicas=replicas)
    raw["metadata"] = {**raw["metadata"], "annotations": {} if group is None else {GROUP: group}}
    raw["spec"]["template"]["podCliqueScalingGroups"] = list(scaling_groups)
    return replace(applied(raw), configuration=ON if on else OFF, complete=EVERY_KIND - {"Secret"})


def domain(root: Snapshot, name: str, **metadata: Any) -> ComputeDomain:
    """The domain of the set with that name; fields of the metadata may differ."""
    owner = {
        "apiVersion": "grove.io/v1alpha1",
        "kind": "PodCliqueSet",
        "name": root.root.ref.name,
        "uid": root.root.uid,
        "controller": True,
    }
    labels = {
        "app.kubernetes.io/managed-by": "grove-operator",
        "app.kubernetes.io/part-of": root.root.ref.name,
        "app.kubernetes.io/component": "pcs-computedomain",
    }
    meta = {
        "name": name,
        "namespace": root.root.ref.namespace,
        "uid": f"uid of {name}",
        "resourceVersion": "7",
        "labels": labels,
        "ownerReferences": [owner],
        "finalizers": [FINALIZER],
        **metadata,
    }
    found = compute_domain_from_json({"apiVersion": "resource.nvidia.com/v1beta1", "metadata": meta})
    return replace(found, deleted_at=NOW if found.deleting else None)


def with_domains(snapshot: Snapshot, *domains: ComputeDomain) -> Snapshot:
    named = {(one.ref.namespace, one.ref.name): one for one in domains}
    own = tuple(one for one in domains if one.owner_uid == snapshot.root.uid)
    return replace(snapshot, domains=own, named_domains=FrozenDict(named))


def planned(snapshot: Snapshot) -> Plan:
    return reconcile(snapshot, FIELD)


def names(plan: Plan, action: type[Create | Delete | DropFinalizer], kind: str = "ComputeDomain") -> set[str]:
    """The objects of a kind that steps of that action are for."""
    return {one.target.name for one in plan.steps if isinstance(one.action, action) and one.target.kind == kind}


def verdicts(plan: Plan) -> dict[str, str]:
    """Object -> verdict on ComputeDomains."""
    return {one.subject.name: one.verdict for one in plan.findings if one.question == "computeDomain"}


def refused(snapshot: Snapshot, name: str) -> Snapshot:
    """The set after the creation of a domain was refused."""
    (step,) = (one for one in planned(snapshot).steps if one.target.name == name)
    return replace(snapshot, attempts=(Attempt(step, AttemptOutcome.REFUSED, "exceeded quota"),))


def manifests_until_rest(start: Snapshot) -> list[Json]:
    """Every manifest that is created until nothing is left to do."""
    found = forecast_until_settled(InMemoryCluster((start,)), start, FIELD, limit=None, until=None)
    steps = (step for one in found.rounds for step in one.steps)
    return [thaw_json(step.action.manifest) for step in steps if isinstance(step.action, Create)]
