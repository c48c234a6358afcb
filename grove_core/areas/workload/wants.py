"""All wants and findings of a set that is not being deleted: surplus, missing and changed objects, update, statuses.

The update is judged first, because it may need a surge pod or replica. An object is created once its owner exists,
since its manifest has the owner's uid (WL-010).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final, NamedTuple, TypeAlias

from grove_core.areas.gang_termination.verdicts import TerminatingReplicas
from grove_core.areas.mnnvl.verdicts import CliqueDomains
from grove_core.areas.topology.verdicts import GangTopology
from grove_core.areas.workload.objects.lazy_manifests import LazyManifest
from grove_core.areas.workload.objects.podcliques_and_groups import removed_metrics
from grove_core.areas.workload.rolling_update.clique_update import outdated_pods
from grove_core.areas.workload.rolling_update.judge import SetRolloutStep, judge_rollout
from grove_core.areas.workload.rules import WorkloadReason
from grove_core.areas.workload.set_objects import SetObjects, SetObjectsInputs
from grove_core.areas.workload.surplus_objects import surplus_replica_deletions, unexpected_objects
from grove_core.areas.workload.verdicts import WorkloadResult
from grove_core.areas.workload.workload_context import WorkloadContext
from grove_core.areas.workload.workload_statuses import statuses_to_write
from grove_core.kernel.decisions import AreaResult, Finding
from grove_core.kernel.frozen import FrozenMap, object_at
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.kernel.wants import DesiredChanges, FieldsToApply, ObjectToCreate, StepObstacle, Want, Withheld
from grove_core.resources.api_names import GROVE
from grove_core.resources.compute_domain import DOMAIN_KIND
from grove_core.resources.merge_patch import changed_fields
from grove_core.resources.owned_object import OwnedObject
from grove_core.resources.podclique import GROUP_KIND
from grove_core.snapshot.expected_replicas import ExpectedReplica, expected_set_of, is_set_too_large
from grove_core.snapshot.snapshot import Snapshot

UPDATE: Final = "update"
_FOLLOW_TEMPLATE: Final = frozenset(
    {"Service", "HorizontalPodAutoscaler"}
)  # kinds whose spec changes with the template
_Key: TypeAlias = tuple[str, str]  # kind and name


def findings_of_update(context: WorkloadContext, rollout: SetRolloutStep) -> Iterator[Finding]:
    """Return a finding for each clique that is of an old template, or has pods of one. Linear in those replicas."""
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
            clique = context.clique_of(part)
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


class MissingSetObjects(NamedTuple):
    """What a set should consist of and does not.

    Attributes:
        desired: objects to create, change and delete, and those that are withheld.
        misplaced: names of the PodGangs that keep constraints which their topology no longer has (TP-026).
    """

    desired: DesiredChanges
    misplaced: tuple[str, ...]


def wants_for_missing_objects(
    context: WorkloadContext, replicas: Sequence[ExpectedReplica], inputs: SetObjectsInputs
) -> MissingSetObjects:
    """Return the wants for everything that a set should consist of and does not (WL-010 to WL-026). Linear.

    Kinds that the context does not know completely are left alone.
    """
    terminating = _terminating_cliques(replicas, inputs.ending)
    objects = SetObjects(context, inputs.written | terminating, inputs)
    existing = _Existing(context, terminating, _waiting_for_domains(replicas, inputs.clique_domains))
    wants: list[Want | Withheld] = []
    manifests: dict[_Key, LazyManifest] = {}
    for item in objects.everything(replicas):
        if not isinstance(item, LazyManifest):
            wants.append(item)
            continue
        key = (item.kind, item.name)
        if key in manifests:
            wants.append(_second_of_name(manifests[key], item))
        else:
            manifests[key] = item
            wants += existing.wants_for(item)
    withheld = (want.target for want in wants if isinstance(want, Withheld))
    expected = {*manifests, *((target.kind, target.name) for target in withheld)}
    return MissingSetObjects(
        DesiredChanges.of([*wants, *unexpected_objects(context, expected)]), tuple(objects.misplaced)
    )


class _Existing:
    """The existing objects of a set, against which the expected ones are compared."""

    def __init__(
        self,
        context: WorkloadContext,
        terminating: AbstractSet[str],
        waiting: Mapping[_Key, tuple[Reason, ...]],
    ) -> None:
        """Index a snapshot.

        Terminating cliques are not created again meanwhile (WL-076), nor are the cliques and groups that are waiting
        for these reasons (MN-010).
        """
        self._context = context
        self._terminating = terminating
        self._waiting = waiting
        self._found = {(ref.kind, ref.name): found for ref, found in context.snapshot.targets().items()}

    def wants_for(self, item: LazyManifest) -> Iterator[Want | Withheld]:
        """Return what has to be done about one expected object."""
        key = (item.kind, item.name)
        found = self._found.get(key)
        if not self._context.knows(item.kind):
            return
        if found is None and key in self._waiting:
            ref = Ref(GROVE, item.kind, self._context.root.ref.namespace, item.name)
            is_known = self._context.knows(DOMAIN_KIND)
            obstacle = StepObstacle.RULE if is_known else StepObstacle.DOMAINS_NOT_COLLECTED
            yield Withheld(ref, self._waiting[key], obstacle=obstacle)
        elif found is None and not (item.kind == "PodClique" and item.name in self._terminating):
            yield self._creation_of(item)
        elif item.kind in _FOLLOW_TEMPLATE and isinstance(found, OwnedObject) and not _has_spec(found, item):
            yield from _spec_changes(found, item.make())

    def _creation_of(self, item: LazyManifest) -> ObjectToCreate | Withheld:
        """Return the creation of an object; it is withheld where a foreign object has its name (WL-027)."""
        want = item.make()
        holder = self._context.snapshot.foreign_owners.get((item.kind, want.target.namespace, item.name))
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


def _terminating_cliques(replicas: Iterable[ExpectedReplica], ending: TerminatingReplicas) -> AbstractSet[str]:
    """Return the names of the cliques that are being terminated."""
    if not ending.replicas and not ending.parts:
        return frozenset()
    parts = (part for replica in replicas for part in replica.all_cliques)
    return {part.name for part in parts if ending.holds(part.replica, part.group, part.group_replica)}


def _waiting_for_domains(
    replicas: Iterable[ExpectedReplica], clique_domains: CliqueDomains
) -> Mapping[tuple[str, str], tuple[Reason, ...]]:
    """Return the cliques and groups of replicas that wait for a ComputeDomain, and why (MN-010)."""
    return {
        (kind, part.name): clique_domains.waiting[replica.index]
        for replica in (replicas if clique_domains.waiting else ())
        if replica.index in clique_domains.waiting
        for kind, parts in (("PodClique", replica.all_cliques), (GROUP_KIND, replica.groups))
        for part in parts
    }


def _spec_changes(found: OwnedObject, wanted: ObjectToCreate) -> Iterator[FieldsToApply]:
    """Return the change of an object whose spec differs; fields that a server filled in do not count (WL-025)."""
    spec = object_at(wanted.manifest, "spec")
    fields = FrozenMap({**changed_fields(spec, found.spec), **removed_metrics(spec, found.spec)})
    if fields and found.managed and not found.deleting:
        because = (WorkloadReason.FOLLOWS_TEMPLATE.because(found.ref), *wanted.because)
        yield FieldsToApply(found.ref, found.guard, FrozenMap({"spec": fields}), because)


def wants_of_set(
    snapshot: Snapshot, terminating: TerminatingReplicas, clique_domains: CliqueDomains, gang_topology: GangTopology
) -> WorkloadResult:
    """Return all wants and findings for a set that is not being deleted, all cliques of which are known.

    Linear in what the set consists of (WL-024).
    """
    if is_set_too_large(snapshot):
        return WorkloadResult()
    context = WorkloadContext(snapshot)
    expected = expected_set_of(snapshot)
    replicas = expected.replicas
    if not context.knows("Pod"):
        may_surge = context.groups.keys()  # without pods it is not known which groups an update adds a replica to
        surplus = DesiredChanges(tuple(surplus_replica_deletions(context, may_surge)))
        inputs = SetObjectsInputs(terminating, clique_domains, gang_topology)
        expansion = wants_for_missing_objects(context, replicas, inputs)
        return WorkloadResult(AreaResult(DesiredChanges.union((surplus, expansion.desired))))
    rollout = judge_rollout(context, replicas, terminating)
    if rollout.surge:
        replicas = expected.with_surge(replicas, rollout.surge)
    expansion = wants_for_missing_objects(
        context, replicas, SetObjectsInputs(terminating, clique_domains, gang_topology, rollout.written)
    )
    wants = (
        DesiredChanges(tuple(surplus_replica_deletions(context, rollout.surge))),
        expansion.desired,
        rollout.desired,
        DesiredChanges(tuple(statuses_to_write(context, rollout))),
    )
    misplaced = expansion.misplaced if context.knows("PodGang") else None
    findings = tuple(findings_of_update(context, rollout))
    return WorkloadResult(AreaResult(DesiredChanges.union(wants), findings), bool(findings), misplaced)
