"""Judges a set by the rules of the Go operator: each clique, each group, each replica (GF-070 to GF-077)."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import timedelta
from typing import Final

from grove_core.areas.gang_termination.breach_delays import replica_fate_of_breaches
from grove_core.areas.gang_termination.field.clique_judgement import (
    judge_clique_from_pods,
    judge_clique_from_stored_status,
)
from grove_core.areas.gang_termination.field.go_operator_rule_generations import GoOperatorRuleGeneration
from grove_core.areas.gang_termination.field.incomplete_terminations import failed_terminations_in
from grove_core.areas.gang_termination.field.scaling_group_judgement import judge_scaling_group_from_cliques
from grove_core.areas.gang_termination.field.verdicts import (
    GoOperatorCliqueJudgement,
    GoOperatorGroupJudgement,
    GoOperatorJudgement,
    GoOperatorReplicaJudgement,
)
from grove_core.areas.gang_termination.verdicts import (
    GroupReplicaFates,
    Keep,
    ReplicaJudgement,
    SetReplicaFates,
    Terminate,
)
from grove_core.resources.api_names import COMPONENT, MANAGED_BY, OPERATOR
from grove_core.resources.labels import GROUP, SET
from grove_core.resources.naming_rules import standalone_clique_name
from grove_core.resources.podclique import PodClique
from grove_core.snapshot.snapshot import Snapshot

_MEMBER: Final = "pcsg-podclique"
_KEEP: Final = Keep()


def judge_gang_termination_by_go_operator(
    snapshot: Snapshot, generation: GoOperatorRuleGeneration, *, looks: bool = True
) -> GoOperatorJudgement:
    """Return the judgement of a set by the rules of a generation. Linear in its pods, cliques and groups.

    Args:
        looks: whether statuses are computed as at a look of the operator; else the stored ones count, as when only its
            timer ends (GF-084).
    """
    root, now = snapshot.root, snapshot.now
    delay = root.shape.delay
    if delay is None:  # GF-002
        return GoOperatorJudgement()
    cliques = tuple(
        judge_clique_from_pods(clique, snapshot.pods_of.get(clique.uid, ()), now, generation)
        if looks
        else judge_clique_from_stored_status(clique, generation)
        for clique in snapshot.cliques
    )
    members: defaultdict[str, list[GoOperatorCliqueJudgement]] = defaultdict(list)
    for seen in cliques:
        if seen.clique.is_in_scaling_group and _is_labelled(seen.clique, root.ref.name):
            members[seen.clique.owner_uid].append(seen)
    failed = failed_terminations_in(snapshot)
    groups = tuple(
        judge_scaling_group_from_cliques(group, members[group.uid], delay, now, generation, looks=looks, failed=failed)
        for group in snapshot.groups
    )
    return GoOperatorJudgement(cliques, groups, _replicas(snapshot, cliques, groups, delay, failed.incomplete.keys()))


def _is_labelled(clique: PodClique, set_name: str) -> bool:
    """Return whether its labels say that it is a member of its scaling group (GF-031)."""
    labels = clique.labels
    return (labels.get(MANAGED_BY), labels.get(SET.primary), labels.get(COMPONENT), labels.get(GROUP.primary)) == (
        OPERATOR,
        set_name,
        _MEMBER,
        clique.owner_name,
    )


def _replicas(
    snapshot: Snapshot,
    cliques: Sequence[GoOperatorCliqueJudgement],
    groups: Sequence[GoOperatorGroupJudgement],
    delay: timedelta,
    begun: AbstractSet[int],
) -> tuple[GoOperatorReplicaJudgement, ...]:
    alone = {seen.clique.ref.name: seen for seen in cliques if not seen.clique.is_in_scaling_group}
    grouped: defaultdict[int, list[GoOperatorGroupJudgement]] = defaultdict(list)
    for found in groups:
        grouped[found.group.replica_index].append(found)
    there = {seen.clique.replica_index for seen in cliques} | grouped.keys()
    return tuple(
        _replica(snapshot, index, alone, tuple(grouped.get(index, ())), delay, begun=index in begun)
        for index in sorted(there)
        if 0 <= index < snapshot.root.spec.replicas
    )


def _replica(
    snapshot: Snapshot,
    index: int,
    alone: Mapping[str, GoOperatorCliqueJudgement],
    groups: tuple[GoOperatorGroupJudgement, ...],
    delay: timedelta,
    *,
    begun: bool,
) -> GoOperatorReplicaJudgement:
    """Return the judgement of one replica by its standalone cliques and its groups, never by members of groups.

    Args:
        begun: whether a termination of it is not complete, so that it is not skipped for a missing clique (GF-091).
    """
    root = snapshot.root
    names = [standalone_clique_name(root.ref.name, index, short) for short in root.shape.standalone]
    absent = tuple(name for name in names if name not in alone)
    cliques = tuple(alone[name] for name in names if name in alone)
    constituents: list[GoOperatorCliqueJudgement | GoOperatorGroupJudgement] = [*groups, *cliques]
    asks_all = begun or not absent
    found = tuple(
        breach for one in constituents if asks_all or one.is_being_deleted if (breach := one.actionable_breach(delay))
    )
    fate = replica_fate_of_breaches(found, snapshot.now) if found and not root.deleting else _KEEP
    ends = isinstance(fate, Terminate)
    if absent and not (begun and ends):
        return GoOperatorReplicaJudgement(index, _KEEP, (), absent, cliques, groups, lingers=ends)
    return GoOperatorReplicaJudgement(index, fate, found, absent, cliques, groups)


def replica_fates_by_go_operator(judgement: GoOperatorJudgement) -> SetReplicaFates:
    """Return the fates in a judgement."""
    replicas = tuple(ReplicaJudgement(one.number, one.fate, one.breaches) for one in judgement.replicas)
    groups = tuple(
        GroupReplicaFates(one.group, one.breached_cliques, one.acting, one.fates) for one in judgement.groups
    )
    return SetReplicaFates(replicas, groups)
