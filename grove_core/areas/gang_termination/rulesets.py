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
from grove_core.areas.gang_termination.replica import judge_replica, shape_of
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
    pods_of, shape = snapshot.pods_of, shape_of(root)
    cliques: list[CliqueJudgement] = []
    members: defaultdict[str, list[CliqueJudgement]] = defaultdict(list)
    for clique in snapshot.cliques:
        meta = clique.meta
        if not meta.deleting:
            judged = judge_clique(clique, pods_of.get(meta.uid, ()), now)
            cliques.append(judged)
            members[meta.owner_uid].append(judged)
    groups = tuple(
        judge_group(group, members[group.meta.uid], shape.delay_of(group), now, set_deleting=shape.deleting)
        for group in snapshot.groups
        if not group.meta.deleting
    )
    indices = {judged.clique.replica_index for judged in cliques} | {judged.group.replica_index for judged in groups}
    by_name = {judged.clique.meta.ref.name: judged for judged in members[root.meta.uid]}
    groups_by_name = {judged.group.meta.ref.name: judged for judged in groups}
    wanted = root.spec.replicas
    return Judgement(
        "design",
        cliques=tuple(cliques),
        leaving=tuple(clique for clique in snapshot.cliques if clique.meta.deleting),
        groups=groups,
        replicas=tuple(
            judge_replica(shape, index, by_name, groups_by_name, now)
            for index in sorted(indices)
            if 0 <= index < wanted
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
