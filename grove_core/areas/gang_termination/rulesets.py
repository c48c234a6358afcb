"""Rule sets are values with names: the design's rules here, those of other operators beside them.

A plan names the rule set that judged it. Whatever judges hands on the same :class:`Judgement`, so what follows from a
judgement (statuses, deletions, the next look) does not depend on whose rules they were.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from grove_core.areas.gang_termination.group import judge_group
from grove_core.areas.gang_termination.judge import judge_clique
from grove_core.areas.gang_termination.replica import effective_delay, judge_replica
from grove_core.areas.gang_termination.rules import Why
from grove_core.areas.gang_termination.verdicts import CliqueJudgement, Judgement
from grove_core.kernel.reasons import Reason
from grove_core.snapshot.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class RuleSet:
    """A name, and the function that judges by these rules."""

    name: str
    judge: Callable[[Snapshot], Judgement]


def judge_by_design(snapshot: Snapshot) -> Judgement:
    """Judge a set by the Gang Termination Design Doc. Linear in its pods, cliques and groups."""
    root, now = snapshot.root, snapshot.now
    unknown = _what_is_not_collected(snapshot)
    if unknown:
        return Judgement("design", unknown=unknown)
    pods_of = snapshot.pods_of
    cliques = tuple(
        judge_clique(clique, pods_of.get(clique.meta.uid, ()), now)
        for clique in snapshot.cliques
        if not clique.meta.deleting
    )
    members: defaultdict[str, list[CliqueJudgement]] = defaultdict(list)
    for judged in cliques:
        members[judged.clique.meta.owner_uid].append(judged)
    groups = tuple(
        judge_group(
            group,
            members[group.meta.uid],
            effective_delay(root, group.replica_index, group.meta.ref.name),
            now,
            set_deleting=root.meta.deleting,
        )
        for group in snapshot.groups
        if not group.meta.deleting
    )
    indices = {judged.clique.replica_index for judged in cliques} | {judged.group.replica_index for judged in groups}
    by_name = {judged.clique.meta.ref.name: judged for judged in members[root.meta.uid]}
    groups_by_name = {judged.group.meta.ref.name: judged for judged in groups}
    return Judgement(
        "design",
        cliques=cliques,
        leaving=tuple(clique for clique in snapshot.cliques if clique.meta.deleting),
        groups=groups,
        replicas=tuple(
            judge_replica(root, index, by_name, groups_by_name, now)
            for index in sorted(indices)
            if 0 <= index < root.spec.replicas
        ),
    )


def _what_is_not_collected(snapshot: Snapshot) -> tuple[Reason, ...]:
    """The kinds that a judgement of this set needs and the source left out (GT-024)."""
    grouped = bool(snapshot.root.spec.template.pod_clique_scaling_groups)
    needed = ("PodClique", "PodCliqueScalingGroup", "Pod") if grouped else ("PodClique", "Pod")
    return tuple(
        Why.NOT_COLLECTED.because(snapshot.root.ref, kind=kind) for kind in needed if kind in snapshot.not_collected
    )


DESIGN: Final = RuleSet("design", judge_by_design)
BY_NAME: Final[Mapping[str, RuleSet]] = MappingProxyType({rules.name: rules for rules in (DESIGN,)})
