"""Makes wants and findings of a judgement: surplus, missing and changed objects, update, statuses, gates, teardown.

An object is created once its owner exists, since its manifest has the owner's uid (WL-010).
"""

from collections.abc import Callable, Iterable, Iterator
from collections.abc import Set as AbstractSet
from typing import Final, TypeAlias

from grove_core.areas.workload.deletions import (
    deleted_set_teardown,
    surplus_replica_deletions,
    unexpected_object_deletions,
)
from grove_core.areas.workload.judge import JudgedSetParts, WorkloadJudgement, judge_workload, set_too_large_reason
from grove_core.areas.workload.objects.lazy_manifests import LazyManifest
from grove_core.areas.workload.objects.podcliques_and_groups import removed_autoscaler_metrics
from grove_core.areas.workload.pods.scheduling_gates import scheduling_gate_findings, scheduling_gate_removals
from grove_core.areas.workload.rolling_update.clique_update import outdated_pods
from grove_core.areas.workload.rules import WorkloadReason
from grove_core.areas.workload.set_objects import ExpectedSetObjects, SetObject
from grove_core.areas.workload.startup_order import startup_wait_findings
from grove_core.areas.workload.verdicts import WorkloadInputs, WorkloadResult
from grove_core.areas.workload.workload_context import WorkloadContext
from grove_core.areas.workload.workload_statuses import statuses_to_write
from grove_core.kernel.decisions import AreaResult, Finding
from grove_core.kernel.frozen import FrozenMap, object_at
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.kernel.wants import (
    DesiredChanges,
    FieldsToApply,
    FinalizerToDrop,
    ObjectToCreate,
    StatusToWrite,
    StepObstacle,
    Want,
    Withheld,
)
from grove_core.resources.api_names import DOMAIN_KIND, GROVE
from grove_core.resources.merge_patch import changed_fields
from grove_core.resources.metadata_readers import Resource
from grove_core.resources.owned_object import OwnedObject
from grove_core.snapshot.snapshot import Snapshot

UPDATE: Final = "update"
_FOLLOW_TEMPLATE: Final = frozenset(
    {"Service", "HorizontalPodAutoscaler"}
)  # kinds whose spec changes with the template
_Key: TypeAlias = tuple[str, str]  # kind and name


def workload_result_by_design(snapshot: Snapshot, inputs: WorkloadInputs) -> WorkloadResult:
    """Return all wants and findings for a set by the design documents."""
    return result_of_workload(snapshot, judge_workload(snapshot, inputs))


def result_of_workload(snapshot: Snapshot, judgement: WorkloadJudgement) -> WorkloadResult:
    """Return all wants and findings for a judged set. Linear in what it consists of (WL-024)."""
    gates, parts = judgement.gates, judgement.parts
    update = tuple(outdated_clique_findings(parts)) if parts is not None else ()
    result = AreaResult(
        DesiredChanges.union_of_areas(
            (
                deleted_set_teardown(snapshot),
                *(_desired_changes_of_parts(parts) if parts is not None else ()),
                scheduling_gate_removals(gates),
            )
        ),
        (*update, *scheduling_gate_findings(gates), *startup_wait_findings(snapshot)),
    )
    if parts is None:
        return WorkloadResult(result)
    knows_parts = parts.rollout is not None  # otherwise the additional parts of an update are not known
    return WorkloadResult(result, parts.gangs_with_outdated_constraints, parts.replicas if knows_parts else None)


def _desired_changes_of_parts(parts: JudgedSetParts) -> Iterator[DesiredChanges]:
    """Yield the wants for a set all cliques of which are known: of its update and its statuses if pods are, too."""
    context, rollout = parts.context, parts.rollout
    # Without pods it is not known which groups an update adds a replica to.
    surge = context.groups.keys() if rollout is None else rollout.surge
    yield DesiredChanges(tuple(surplus_replica_deletions(context, surge)))
    yield wants_for_missing_objects(parts)
    if rollout is not None:
        yield rollout.desired
        yield DesiredChanges(tuple(statuses_to_write(context, rollout)))


def withhold_if_set_too_large(snapshot: Snapshot, result: AreaResult) -> AreaResult:
    """Return the result for a set; of one that is too large, all but statuses and finalizer removals are withheld.

    Nothing would be created again, so nothing is deleted. Statuses are written, because a breach that was over for a
    while would otherwise count from its beginning once the replicas are corrected.
    """
    because = set_too_large_reason(snapshot)
    if because is None or snapshot.root.deleting:
        return result
    goes_on: list[Want] = []
    held = [Withheld(snapshot.root.ref, (because,))]
    for want in result.wants.wants:
        if isinstance(want, StatusToWrite | FinalizerToDrop):
            goes_on.append(want)
        else:
            held.append(Withheld(want.target, (because, *want.because)))
    return result._replace(wants=DesiredChanges(tuple(goes_on), (*held, *result.wants.withheld)))


def outdated_clique_findings(parts: JudgedSetParts) -> Iterator[Finding]:
    """Yield a finding for each clique that is of an old template, or has pods of one. Linear in those replicas."""
    context, rollout = parts.context, parts.rollout
    if rollout is None:
        return
    root = context.root.ref
    lagging = [state for state in rollout.states if state.outdated]
    left = sum(state.part.index != rollout.current for state in lagging)
    waits = (
        (WorkloadReason.ROLLOUT_WAITS.because(root.at_replica(rollout.current), left=left),)
        if rollout.current >= 0
        else ()
    )
    for state in lagging:
        turn: tuple[Reason, ...] = () if state.part.index == rollout.current else waits
        for part in state.part.all_cliques:
            clique = context.existing_clique(part)
            if clique is None:
                continue
            if part.name not in rollout.updated:
                yield Finding(clique.ref, UPDATE, "Outdated", (WorkloadReason.OLD_TEMPLATE.because(clique.ref), *turn))
                continue
            pods = context.snapshot.pods_of.get(clique.uid, ())
            outdated = len(outdated_pods(clique, pods))
            if outdated:
                because = WorkloadReason.OLD_PODS.because(clique.ref, outdated=outdated, pods=len(pods))
                yield Finding(clique.ref, UPDATE, "PodsOutdated", (because, *turn))


def wants_for_missing_objects(parts: JudgedSetParts) -> DesiredChanges:
    """Return the wants for everything that a set should consist of and does not (WL-010 to WL-026). Linear."""
    items = ExpectedSetObjects(parts).in_creation_order()
    return wants_for_objects(parts.context, items, parts.terminating, unexpected_object_deletions)


def wants_for_objects(
    context: WorkloadContext,
    items: Iterable[SetObject],
    terminating: AbstractSet[str],
    unexpected: Callable[[WorkloadContext, AbstractSet[_Key]], Iterable[Want | Withheld]],
) -> DesiredChanges:
    """Return the wants for the objects that a set should have. Linear.

    Kinds that the context does not know completely are left alone.

    Args:
        context: the indexed snapshot.
        items: the objects that should exist, and what has been decided already.
        terminating: names of the cliques that are terminated: none of them is created meanwhile (WL-076).
        unexpected: returns the deletions of existing objects, given kind and name of all expected ones.
    """
    existing = {(ref.kind, ref.name): found for ref, found in context.snapshot.objects_without_pods_by_ref().items()}
    wants: list[Want | Withheld] = []
    manifests: dict[_Key, LazyManifest] = {}
    for item in items:
        if not isinstance(item, LazyManifest):
            wants.append(item)
            continue
        key = (item.kind, item.name)
        if key in manifests:
            wants.append(_second_of_name(manifests[key], item))
        else:
            manifests[key] = item
            wants += _wants_for(context, item, existing.get(key), terminating)
    withheld = (want.target for want in wants if isinstance(want, Withheld))
    expected = {*manifests, *((target.kind, target.name) for target in withheld)}
    return DesiredChanges.from_wants_and_withheld([*wants, *unexpected(context, expected)])


def _wants_for(
    context: WorkloadContext, item: LazyManifest, found: Resource | None, terminating: AbstractSet[str]
) -> Iterator[Want | Withheld]:
    """Yield what has to be done about one expected object; nothing where it is as it should be."""
    if not context.has_all_objects_of_kinds(item.kind):
        return
    if found is None and item.waiting:
        ref = Ref(GROVE, item.kind, context.root.ref.namespace, item.name)
        obstacle = (
            StepObstacle.RULE if context.has_all_objects_of_kinds(DOMAIN_KIND) else StepObstacle.DOMAINS_NOT_COLLECTED
        )
        yield Withheld(ref, item.waiting, obstacle=obstacle)
    elif found is None and not (item.kind == "PodClique" and item.name in terminating):
        yield _creation_of(context, item)
    elif item.kind in _FOLLOW_TEMPLATE and isinstance(found, OwnedObject) and not _has_spec(found, item):
        yield from _spec_changes(found, item)


def _creation_of(context: WorkloadContext, item: LazyManifest) -> ObjectToCreate | Withheld:
    """Return the creation of an object; it is withheld where a foreign object has its name (WL-027)."""
    want = item.make()
    holder = context.snapshot.foreign_owners.get((item.kind, want.target.namespace, item.name))
    if holder is None:
        return want
    because = WorkloadReason.NAME_IS_ANOTHERS.because(want.target, holder=holder)
    return Withheld(want.target, (because, *want.because))


def _second_of_name(first: LazyManifest, second: LazyManifest) -> Withheld:
    """Return the second of two objects of one kind and name: it is withheld (WL-022)."""
    other, want = first.make(), second.make()
    because = WorkloadReason.NAME_WANTED_TWICE.because(want.target, other=other.because[0].sentence)
    return Withheld(want.target, (because, *want.because))


def _has_spec(found: OwnedObject, item: LazyManifest) -> bool:
    """Return whether an object has the expected spec already; this saves the whole manifest for most objects."""
    return item.spec is not None and not changed_fields(item.spec(), found.spec)


def _spec_changes(found: OwnedObject, item: LazyManifest) -> Iterator[FieldsToApply]:
    """Yield the change of an object if its spec differs; fields that a server filled in do not count (WL-025)."""
    wanted = item.make()
    spec = object_at(wanted.manifest, "spec") if item.spec is None else item.spec()
    fields = FrozenMap({**changed_fields(spec, found.spec), **removed_autoscaler_metrics(spec, found.spec)})
    if fields and found.managed and not found.deleting:
        because = (WorkloadReason.FOLLOWS_TEMPLATE.because(found.ref), *wanted.because)
        yield FieldsToApply(found.ref, found.guard, FrozenMap({"spec": fields}), because)
