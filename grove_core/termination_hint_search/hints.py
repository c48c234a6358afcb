"""Finds what averts each termination that is waited for or due, and verifies it by judging again (PL-040 to PL-043)."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Final, TypeAlias

from grove_core.areas.gang_termination.breach_delays import breach_delay_end
from grove_core.areas.gang_termination.verdicts import (
    TERMINATES,
    WAITS,
    GroupFate,
    Keep,
    MinAvailableBreach,
    SetReplicaFates,
    Terminate,
    Wait,
)
from grove_core.kernel.decisions import Finding
from grove_core.kernel.questions import TERMINATION
from grove_core.kernel.refs import Ref
from grove_core.kernel.structs import replace
from grove_core.plan.termination_hints import ReadyPodsToEndBreach, TerminationHints
from grove_core.resources.api_names import GROUP_KIND
from grove_core.resources.free_capacity import UNKNOWN_CAPACITY, FreeCapacity
from grove_core.resources.node_loss import NodesByName
from grove_core.resources.pod import Pod
from grove_core.resources.podclique import PodClique
from grove_core.rule_sets.rule_set import RuleSet
from grove_core.snapshot.own_writes import with_own_writes
from grove_core.snapshot.snapshot import Snapshot
from grove_core.snapshot.unwritten_breach_changes import with_unwritten_breach_changes
from grove_core.termination_hint_search.changed_snapshots import (
    DelayChange,
    snapshot_of_each_set_replica,
    with_longer_delay,
    with_ready_pods,
)
from grove_core.termination_hint_search.facts_about_pods import (
    lost_nodes_of_pods,
    room_for_replica,
    scheduler_messages_about_pods,
)
from grove_core.termination_hint_search.longer_delay import longer_delay
from grove_core.termination_hint_search.needed_pods import (
    Judge,
    breached_refs,
    cliques_whose_starting_pods_count,
    fewest_cliques_to_recover_group,
    readiness_requires_gated_pods,
    ready_pods_to_end_breaches,
    replicas_for_more_ready_pods,
)

FateAndBreaches: TypeAlias = tuple[GroupFate, tuple[MinAvailableBreach, ...]]
_KEPT: Final[FateAndBreaches] = (Keep(), ())


def termination_hints(
    snapshot: Snapshot,
    findings: Iterable[Finding],
    rules: RuleSet,
    nodes: NodesByName,
    capacity: FreeCapacity = UNKNOWN_CAPACITY,
) -> tuple[TerminationHints, ...]:
    """Return hints for each replica that waits for its termination or is terminated now, in the order of the findings.

    The cost is a few judgements of each such replica of the set, and nothing for a set without any.

    Args:
        findings: of the plan for the snapshot.
        nodes: those of the input.
        capacity: what is free on the nodes of the input.
    """
    pending = [
        one.subject
        for one in findings
        if one.question == TERMINATION and one.verdict in {WAITS, TERMINATES} and one.subject.replica is not None
    ]
    if not pending:
        return ()
    index_of_group = {group.ref: group.replica_index for group in snapshot.groups}
    by_replica: defaultdict[int, list[Ref]] = defaultdict(list)
    for subject in pending:
        by_replica[index_of_group.get(subject.without_replica, subject.replica or 0)].append(subject)
    seen = with_unwritten_breach_changes(with_own_writes(snapshot))
    found = {
        hints.replica: hints
        for index, part in snapshot_of_each_set_replica(seen, by_replica)
        for hints in _HintSearch(part, rules.replica_fates, seen).hints(by_replica[index], nodes, capacity)
    }
    return tuple(found[subject] for subject in pending if subject in found)


def fate_of_replica(fates: SetReplicaFates, subject: Ref) -> FateAndBreaches:
    """Return the fate of one replica of the set or of a scaling group, and its breaches that may be acted on."""
    index = subject.replica or 0
    if subject.kind == GROUP_KIND:
        of_group = (one for one in fates.groups if one.group.ref == subject.without_replica)
        return next(((one.fates.get(index, Keep()), one.acting.get(index, ())) for one in of_group), _KEPT)
    return next(((one.fate, one.breaches) for one in fates.replicas if one.number == index), _KEPT)


class _HintSearch:
    """The search in the snapshot of one replica of a set; what its subjects have in common is found once."""

    def __init__(self, snapshot: Snapshot, judge: Judge, whole: Snapshot) -> None:
        """Judge the replica.

        Args:
            snapshot: of the replica, without pods that are being deleted.
            judge: of the rule set.
            whole: the snapshot of the set.
        """
        self._snapshot = snapshot
        self._whole = whole
        self._judge = judge
        self._with_delays: dict[DelayChange, tuple[tuple[str, ...], SetReplicaFates]] = {}
        self._within: defaultdict[Ref, list[PodClique]] = defaultdict(list)
        for clique in snapshot.cliques:
            for ref in clique.enclosing_replicas(whole.root.ref):
                self._within[ref].append(clique)
        self._fates = judge(snapshot)
        self._groups = {one.group.ref: one for one in self._fates.groups}
        breached = breached_refs(self._fates)
        cliques = [clique for clique in snapshot.cliques if clique.ref in breached and not clique.deleting]
        self._cliques = {clique.ref: clique for clique in cliques}
        self._needed = ready_pods_to_end_breaches(snapshot, cliques, judge)
        self._starting = cliques_whose_starting_pods_count(snapshot, cliques, self._needed, judge)

    def hints(self, subjects: Iterable[Ref], nodes: NodesByName, capacity: FreeCapacity) -> Iterator[TerminationHints]:
        """Yield the hints for some replicas that the snapshot contains.

        Replicas whose PodCliques all are being deleted have none, and those for which pods decide that are being
        deleted: these are gone before a delay ends.
        """
        pending = [
            (subject, breaches)
            for subject in subjects
            for fate, breaches in (fate_of_replica(self._fates, subject),)
            if isinstance(fate, Wait | Terminate) and not all(one.deleting for one in self._within[subject])
        ]
        chosen = {subject: self._choose_pods(breaches) for subject, breaches in pending}
        of_groups = {subject: found for subject, found in chosen.items() if subject.kind == GROUP_KIND}
        keeping = self._judge_with(of_groups.values())  # no replica of a group depends on the pods of another one
        for subject, breaches in pending:
            fates = keeping if subject in of_groups else self._judge_with([chosen[subject]])
            averts = isinstance(fate_of_replica(fates, subject)[0], Keep)
            unready = [pod for clique in self._cliques_behind(breaches) for pod in self._unready_pods(clique)]
            pods = (pod for one in self._within[subject] for pod in self._whole.pods_of.get(one.uid, ()))
            yield TerminationHints(
                replica=subject,
                ready_pods=chosen[subject] if averts else (),
                spares_not=tuple(self._newly_ending(fates)) if averts and subject not in of_groups else (),
                longer_delay=longer_delay(self._snapshot, subject, breaches, self._fate_with_delay),
                unready=len(unready),
                nodes=lost_nodes_of_pods(unready, nodes),
                messages=scheduler_messages_about_pods(unready),
                room=room_for_replica(self._whole, subject, pods, capacity),
            )

    def _fate_with_delay(self, subject: Ref, longer: DelayChange) -> tuple[tuple[str, ...], GroupFate]:
        """Return the fields that a change of delays edits, and the fate with it; one judgement for equal changes."""
        if longer not in self._with_delays:
            changed, fields = with_longer_delay(self._snapshot, longer)
            self._with_delays[longer] = fields, self._judge(changed) if fields else self._fates
        fields, fates = self._with_delays[longer]
        return fields, fate_of_replica(fates, subject)[0]

    def _choose_pods(self, breaches: Sequence[MinAvailableBreach]) -> tuple[ReadyPodsToEndBreach, ...]:
        """Return the ready pods that end all breaches of a replica; empty where one of them has no such pods."""
        now, chosen = self._snapshot.now, dict[Ref, ReadyPodsToEndBreach]()
        for breach in sorted(breaches, key=lambda one: breach_delay_end(one.since, one.delay)):
            cliques = self._cliques_to_recover(breach.ref)
            if not cliques:
                return ()
            due = breach_delay_end(breach.since, breach.delay)
            for clique in cliques:
                chosen.setdefault(clique.ref, self._pods_of(clique, due if due > now else None))
        return tuple(chosen.values())

    def _judge_with(self, pods: Iterable[Iterable[ReadyPodsToEndBreach]]) -> SetReplicaFates:
        """Return the fates with more ready pods, when the last delay ends that these have to precede."""
        every = [one for found in pods for one in found]
        if not every:
            return self._fates
        counts = {self._cliques[one.clique].uid: one.pods for one in every}
        last = max((one.before for one in every if one.before is not None), default=self._snapshot.now)
        return self._judge(replace(with_ready_pods(self._snapshot, counts), now=last))

    def _newly_ending(self, fates: SetReplicaFates) -> Iterator[Ref]:
        """Yield the replicas of scaling groups that are terminated or waited for only in these fates."""
        before = set(_ending_group_replicas(self._fates))
        return (ref for ref in _ending_group_replicas(fates) if ref not in before)

    def _pods_of(self, clique: PodClique, before: datetime | None) -> ReadyPodsToEndBreach:
        count = self._needed[clique.uid]
        replicas = replicas_for_more_ready_pods(self._snapshot, clique, count)
        gated = readiness_requires_gated_pods(self._snapshot, clique, count)
        return ReadyPodsToEndBreach(clique.ref, count, before, replicas, clique.ref in self._starting, gated)

    def _cliques_to_recover(self, constituent: Ref) -> tuple[PodClique, ...]:
        """Return the PodCliques whose recovery ends the breach of a constituent; empty where none does."""
        clique, group = self._cliques.get(constituent), self._groups.get(constituent)
        if clique is not None and clique.uid in self._needed:
            return (clique,)
        return (
            fewest_cliques_to_recover_group(self._snapshot, group, self._needed, self._judge)
            if group is not None
            else ()
        )

    def _cliques_behind(self, breaches: Iterable[MinAvailableBreach]) -> Iterator[PodClique]:
        for breach in breaches:
            if breach.ref in self._cliques:
                yield self._cliques[breach.ref]
            elif breach.ref in self._groups:
                yield from self._groups[breach.ref].breached

    def _unready_pods(self, clique: PodClique) -> Iterator[Pod]:
        return (pod for pod in self._whole.pods_of.get(clique.uid, ()) if not pod.ready)


def _ending_group_replicas(fates: SetReplicaFates) -> Iterator[Ref]:
    for group in fates.groups:
        for index, fate in group.fates.items():
            if isinstance(fate, Wait | Terminate):
                yield group.group.ref.at_replica(index)
