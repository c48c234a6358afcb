"""All 28 controllers with one known mistake each about gang termination; ``check_all`` must find every one of them.

Five are in ``mutants``, eight are operators of simulations, fifteen are here. This module, those two and the packages
around them import nothing but ``grove_core`` and ``grove_shell``, so they also run beside an installed wheel.
"""

from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import partial
from types import MappingProxyType
from typing import Final

from grove_core.areas.gang_termination.design.judge import judge_gang_termination_by_design
from grove_core.areas.gang_termination.design.wants import gang_termination_by_design
from grove_core.kernel.conditions import ConditionStatus
from grove_core.kernel.frozen import FrozenDict
from grove_core.kernel.steps import AttemptOutcome, Delete, Step, StepStage, is_gang_termination_deletion
from grove_core.kernel.structs import replace
from grove_core.plan.plan import Plan
from grove_core.reconcile import reconcile
from grove_core.resources.pod import Pod
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset_spec import ScalingGroupTemplate
from grove_core.rule_sets.rule_set import RuleSet
from grove_core.snapshot.snapshot import Snapshot
from grove_core.testing import Controller
from tests.property.gang_termination.mutants import MUTANTS, with_cliques, with_groups
from tests.simulation.mutants import MUTANTS as SIMULATED

OF_SIMULATIONS: Final = (
    "terminates at once",
    "never wakes",
    "deletes a healthy pod",
    "moves transition times",
    "thinks it was available",
    "forgets availability",
    "terminates incompletely",
    "counts from the wrong moment",
)
"""Those mistakes of operators in simulations that are about gang termination."""


def judging(change: Callable[[Snapshot], Snapshot]) -> RuleSet:
    """Return the design, which judges a changed snapshot."""

    def judge(snapshot: Snapshot) -> object:
        return judge_gang_termination_by_design(change(snapshot))

    return RuleSet("design", partial(gang_termination_by_design, judge=judge))  # type: ignore[arg-type]  # it is one


def planning(change: Callable[[Plan, Snapshot], Plan]) -> Controller:
    """Return the design with a changed plan."""
    return lambda snapshot: change(reconcile(snapshot), snapshot)


def group_terminates_what_it_cannot_spare() -> Controller:
    return judging(lambda seen: with_groups(seen, lambda group: replace(group, min_available=0)))


def group_terminates_while_it_is_updated() -> Controller:
    return judging(
        lambda seen: with_groups(seen, lambda group: replace(group, status=replace(group.status, updating=False)))
    )


def delay_of_a_group_is_ignored() -> Controller:
    def without(group: ScalingGroupTemplate) -> ScalingGroupTemplate:
        return group.model_copy(update={"termination_delay": None})

    def changed(seen: Snapshot) -> Snapshot:
        template = seen.root.spec.template
        groups = tuple(map(without, template.pod_clique_scaling_groups))
        return with_template(seen, pod_clique_scaling_groups=groups)

    return judging(changed)


def with_template(seen: Snapshot, **fields: object) -> Snapshot:
    template = seen.root.spec.template.model_copy(update=fields)
    return replace(seen, root=replace(seen.root, spec=seen.root.spec.model_copy(update={"template": template})))


def no_delay_is_a_minute() -> Controller:
    def changed(seen: Snapshot) -> Snapshot:
        delay = seen.root.spec.template.termination_delay
        return seen if delay else with_template(seen, termination_delay=timedelta(minutes=1))

    return judging(changed)


def deleted_set_terminates() -> Controller:
    return judging(lambda seen: replace(seen, root=replace(seen.root, deleting=False)))


def scaled_in_replica_is_terminated() -> Controller:
    def changed(seen: Snapshot) -> Snapshot:
        spec = seen.root.spec.model_copy(update={"replicas": seen.root.spec.replicas + 1})
        return replace(seen, root=replace(seen.root, spec=spec))

    return judging(changed)


def no_record_is_evidence() -> Controller:
    def changed(clique: PodClique) -> PodClique:
        status = clique.status
        return replace(clique, status=replace(status, was_available=status.was_available is not False))

    return judging(lambda seen: with_cliques(seen, changed))


def new_clique_was_available() -> Controller:
    def changed(clique: PodClique) -> PodClique:
        status = clique.status
        return clique if status.recorded else replace(clique, status=replace(status, recorded=True, was_available=True))

    return judging(lambda seen: with_cliques(seen, changed))


def with_pods(seen: Snapshot, change: Callable[[Pod], Pod]) -> Snapshot:
    return replace(seen, pods_of=FrozenDict((uid, tuple(map(change, pods))) for uid, pods in seen.pods_of.items()))


def pods_being_deleted_are_lost() -> Controller:
    return judging(lambda seen: with_pods(seen, lambda pod: replace(pod, ready=pod.ready and not pod.deleting)))


def what_was_not_collected_is_zero() -> Controller:
    return lambda snapshot: reconcile(replace(snapshot, not_collected=frozenset()))


def cause_goes_first() -> Controller:
    swapped = {StepStage.CAUSE: StepStage.CLEANUP, StepStage.CLEANUP: StepStage.CAUSE}

    def changed(step: Step) -> Step:
        return replace(step, stage=swapped[step.stage]) if is_gang_termination_deletion(step) else step

    return planning(
        lambda plan, _: replace(plan, steps=tuple(sorted(map(changed, plan.steps), key=lambda step: step.sort_key)))
    )


def due_only_after_its_end() -> Controller:
    def is_at_its_end(step: Step, snapshot: Snapshot) -> bool:
        ends = step.action.terminates if isinstance(step.action, Delete) else ()
        return any(end.deadline == snapshot.now for end in ends)

    return planning(
        lambda plan, seen: replace(plan, steps=tuple(step for step in plan.steps if not is_at_its_end(step, seen)))
    )


def refused_deletion_is_repeated() -> Controller:
    return lambda snapshot: reconcile(replace(snapshot, attempts=()))


def breach_counts_from_the_recovery() -> Controller:
    """A breach counts from when the one before it ended."""

    def changed(clique: PodClique) -> PodClique:
        conditions = tuple(
            replace(one, status=ConditionStatus.TRUE) if one.type == "MinAvailableBreached" else one
            for one in clique.status.conditions
        )
        return replace(clique, status=replace(clique.status, conditions=conditions))

    return judging(lambda seen: with_cliques(seen, changed))


def terminates_without_fresh_read() -> Controller:
    def changed(seen: Snapshot) -> Snapshot:
        known = tuple(one for one in seen.attempts if one.outcome is not AttemptOutcome.NOT_CONFIRMED)
        return replace(seen, attempts=known)

    return lambda snapshot: reconcile(changed(snapshot))


NEW: Final = (
    group_terminates_what_it_cannot_spare,
    group_terminates_while_it_is_updated,
    delay_of_a_group_is_ignored,
    no_delay_is_a_minute,
    deleted_set_terminates,
    scaled_in_replica_is_terminated,
    no_record_is_evidence,
    new_clique_was_available,
    pods_being_deleted_are_lost,
    what_was_not_collected_is_zero,
    cause_goes_first,
    due_only_after_its_end,
    refused_deletion_is_repeated,
    breach_counts_from_the_recovery,
    terminates_without_fresh_read,
)

HAND_MUTANTS: Final[Mapping[str, Callable[[], Controller]]] = MappingProxyType(
    {
        **MUTANTS,
        **{name.replace(" ", "_"): SIMULATED[name][0] for name in OF_SIMULATIONS},
        **{make.__name__: make for make in NEW},
    }
)
"""Name -> how it is made."""
