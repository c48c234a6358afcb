"""Rule sets with one known mistake each; the simulator must detect it.

The first three are mistakes of the fault study about gangs; each of the others breaks one invariant.
"""

from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import partial
from types import MappingProxyType
from typing import Final

from grove_core.areas.gang_termination.design.judge import judge_gang_termination_by_design
from grove_core.areas.gang_termination.design.verdicts import SetTerminationJudgement
from grove_core.areas.gang_termination.design.wants import gang_termination_by_design
from grove_core.kernel.structs import replace
from grove_core.resources.podclique import PodClique
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.rule_sets.rule_set import RuleSet
from grove_core.snapshot.snapshot import Snapshot


def was_available_only_in_memory() -> RuleSet:
    """WasAvailable is kept by the operator process, so a restart forgets it."""
    remembered: dict[str, bool] = {}
    last: list[tuple[object, ...]] = [()]

    def judge(snapshot: Snapshot) -> SetTerminationJudgement:
        if not snapshot.attempts and last[0]:  # no responses to the last writes: the process was restarted
            remembered.clear()
        judgement = judge_gang_termination_by_design(
            with_cliques(snapshot, lambda clique: forgetful(clique, remembered))
        )
        remembered.update({judged.clique.uid: bool(judged.was_available) for judged in judgement.cliques})
        last[0] = (snapshot.now,)
        return judgement

    return RuleSet("design", partial(gang_termination_by_design, judge=judge))


def forgetful(clique: PodClique, remembered: Mapping[str, bool]) -> PodClique:
    known = remembered.get(clique.uid, False)
    return replace(clique, status=replace(clique.status, was_available=known))


def transition_time_rewritten() -> RuleSet:
    """LastTransitionTime is set to now in every round."""

    def judge(snapshot: Snapshot) -> SetTerminationJudgement:
        bare = with_cliques(snapshot, lambda clique: replace(clique, status=replace(clique.status, conditions=())))
        return judge_gang_termination_by_design(
            with_groups(bare, lambda group: replace(group, status=replace(group.status, conditions=())))
        )

    return RuleSet("design", partial(gang_termination_by_design, judge=judge))


def unknown_counts_as_breach() -> RuleSet:
    """An update does not suspend the judgement."""

    def judge(snapshot: Snapshot) -> SetTerminationJudgement:
        return judge_gang_termination_by_design(
            with_cliques(snapshot, lambda clique: replace(clique, status=replace(clique.status, updating=False)))
        )

    return RuleSet("design", partial(gang_termination_by_design, judge=judge))


def delay_ignored() -> RuleSet:
    """A breach is acted on at once."""

    def judge(snapshot: Snapshot) -> SetTerminationJudgement:
        root = snapshot.root
        template = root.spec.template.model_copy(update={"termination_delay": timedelta(microseconds=1)})
        hasty = replace(root, spec=root.spec.model_copy(update={"template": template}))
        return judge_gang_termination_by_design(replace(snapshot, root=hasty))

    return RuleSet("design", partial(gang_termination_by_design, judge=judge))


def group_breach_not_passed_on() -> RuleSet:
    """A breached group does not count as a breached constituent of its replica of the set."""

    def judge(snapshot: Snapshot) -> SetTerminationJudgement:
        judgement = judge_gang_termination_by_design(snapshot)
        alone = judge_gang_termination_by_design(replace(snapshot, groups=()))
        return judgement._replace(replicas=alone.replicas)

    return RuleSet("design", partial(gang_termination_by_design, judge=judge))


def with_cliques(snapshot: Snapshot, change: Callable[[PodClique], PodClique]) -> Snapshot:
    return replace(snapshot, cliques=tuple(map(change, snapshot.cliques)))


def with_groups(snapshot: Snapshot, change: Callable[[ScalingGroup], ScalingGroup]) -> Snapshot:
    return replace(snapshot, groups=tuple(map(change, snapshot.groups)))


MUTANTS: Final[Mapping[str, Callable[[], RuleSet]]] = MappingProxyType(
    {
        maker.__name__: maker
        for maker in (
            was_available_only_in_memory,
            transition_time_rewritten,
            unknown_counts_as_breach,
            delay_ignored,
            group_breach_not_passed_on,
        )
    }
)
