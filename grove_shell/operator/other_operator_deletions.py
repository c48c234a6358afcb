"""Two rounds of a set compared, between which another operator acts (OP-035).

What it deleted, what it may have seen when it did, and what it would soon replace.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from grove_core.in_memory.forecasts import steps_of_coming_rounds
from grove_core.kernel.errors import BrokenInvariant
from grove_core.kernel.frozen import FrozenDict
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Delete, is_gang_termination_deletion
from grove_core.kernel.structs import replace
from grove_core.object_explanation import ObjectExplanation
from grove_core.resources.podclique import PodClique
from grove_core.rule_sets.rule_set import RuleSet
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.apply.planned_round import PlannedReconcileRound


@dataclass(frozen=True)
class PredictedRound:
    """A planned round of a set, its snapshot, and the predicted terminations: uid of a PodClique -> when it is due."""

    round: PlannedReconcileRound
    snapshot: Snapshot
    predicted: Mapping[str, datetime]
    rules: RuleSet

    @cached_property
    def replaced_soon(self) -> AbstractSet[Ref]:
        """What the coming rounds of this snapshot replace or scale in."""
        return replaced_soon(self.snapshot, self.rules)


def podcliques_deleted_between(before: PredictedRound, now: PredictedRound) -> Iterator[PodClique]:
    """Yield the PodCliques that are deleted or being deleted since, except those that go with their scaling group."""
    then, seen = before.snapshot, now.snapshot
    if then.root.deleting or seen.root.deleting or "PodClique" in seen.not_collected:
        return
    there = {one.uid for one in (*seen.cliques, *seen.groups) if not one.deleting}
    groups_gone = {group.ref.name for group in then.groups if group.uid not in there}
    for clique in then.cliques:
        goes_with_group = clique.is_in_scaling_group and clique.owner_name in groups_gone
        if not clique.deleting and clique.uid not in there and not goes_with_group:
            yield clique


def replaced_soon(seen: Snapshot, rules: RuleSet) -> AbstractSet[Ref]:
    """Return what the coming rounds replace or scale in; each of these rounds waits for the one before."""
    found = set[Ref]()
    with suppress(BrokenInvariant):  # a snapshot between two rounds may be one that never was
        for step in steps_of_coming_rounds(seen, rules):
            if isinstance(step.action, Delete) and not is_gang_termination_deletion(step):
                found.add(step.target)
    return found


def kept_because(compared: PredictedRound, clique: PodClique) -> tuple[Reason, ...]:
    """Return the guard that kept a PodClique, as ``grove explain --why-not terminate`` names it."""
    guards = ObjectExplanation(
        compared.snapshot, compared.round.plan, "PodClique", clique.ref.name
    ).findings_against_termination()
    return next((guard.because for guard in guards), ())


def snapshots_seen_by_other_operator(
    then: Snapshot, now: Snapshot, clique: PodClique, lately: Iterable[Snapshot] = ()
) -> Iterator[Snapshot]:
    """Yield what the other operator may have seen when it deleted a PodClique.

    Args:
        then: the snapshot of the earlier round.
        now: the snapshot of the later round.
        clique: as it was in the earlier round.
        lately: snapshots before the earlier round: a group may have selected a replica before it is deleted.
    """
    yield _with_replicas_of_now(then, now)
    there = _with_cliques_of_then(then, now, lambda one: one.ref == clique.ref)
    yield there
    yield replace(there, root=then.root)  # before the set was edited
    if clique.is_in_scaling_group:  # PodCliques of one replica of a group are deleted together
        replica = _replica_of(clique)
        for earlier in (then, *lately):
            whole = _with_cliques_of_then(earlier, now, lambda one: _replica_of(one) == replica)
            yield whole
            yield replace(whole, groups=earlier.groups)
            yield replace(whole, groups=earlier.groups, root=earlier.root)


def _replica_of(clique: PodClique) -> tuple[str, int]:
    return clique.owner_name, clique.group_replica_index


def _with_cliques_of_then(then: Snapshot, now: Snapshot, chosen: Callable[[PodClique], bool]) -> Snapshot:
    """Return the snapshot of now with these PodCliques as they were: an update may have reached them just before."""
    earlier = {clique.ref: clique for clique in then.cliques if chosen(clique)}
    others = (one for one in now.cliques if one.ref not in earlier)
    cliques = tuple(sorted((*others, *earlier.values()), key=lambda one: one.ref.sort_key))
    pods = {clique.uid: then.pods_of.get(clique.uid, ()) for clique in earlier.values()}
    return replace(now, cliques=cliques, pods_of=FrozenDict({**now.pods_of, **pods}))


def _with_replicas_of_now(then: Snapshot, now: Snapshot) -> Snapshot:
    """Return the snapshot of then with the replicas of now: scaling in is no termination."""
    groups = {group.uid: group.replicas for group in now.groups}
    cliques = {clique.uid: clique.replicas for clique in now.cliques}
    return replace(
        then,
        now=now.now,
        root=now.root,
        groups=tuple(replace(one, replicas=groups.get(one.uid, one.replicas)) for one in then.groups),
        cliques=tuple(replace(one, replicas=cliques.get(one.uid, one.replicas)) for one in then.cliques),
    )
