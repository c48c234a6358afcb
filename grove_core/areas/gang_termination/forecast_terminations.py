"""What a forecast says about later terminations: which ones the steps avert, and what the others assume."""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime
from enum import Enum, unique

from grove_core.areas.gang_termination.termination_findings import constituents_behind_termination
from grove_core.areas.gang_termination.verdicts import TERMINATES, WAITS
from grove_core.kernel.decisions import Finding, reasons_for_question
from grove_core.kernel.gang_terminations import GangTermination
from grove_core.kernel.questions import BREACH, PREDICTION, TERMINATION
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Delete, Step, gangs_terminated_by


def averted_termination_findings(first: Sequence[Finding], rest: Sequence[Finding]) -> tuple[Finding, ...]:
    """Return the findings about terminations that are waited for at first, and later until another time or not at all.

    Args:
        first: the findings of the first round.
        rest: those of the round after which there is nothing to do, before time passes.

    Returns:
        The findings of the later round about these terminations, and about the breaches behind them that have changed
        (PL-025). A replica that the first round terminates keeps its findings of that round.
    """
    waits = [one for one in first if one.question == TERMINATION and one.verdict == WAITS]
    if not waits:
        return ()
    there = {(one.subject, one.question): one for one in rest}
    breaches, later = ({one.subject: one for one in some if one.question == BREACH} for some in (first, rest))
    found: list[Finding] = []
    behind: dict[Ref, None] = {}
    for one in waits:
        now = _finding_after_steps(one, there)
        if now is not None:
            found.append(now)
            behind |= dict.fromkeys(
                (*constituents_behind_termination(one, breaches), *constituents_behind_termination(now, later))
            )
    ends = (one for one in first if one.question == TERMINATION and one.verdict == TERMINATES)
    causes = (
        {subject for one in ends for subject in constituents_behind_termination(one, breaches)} if found else set[Ref]()
    )
    changed = (later[ref] for ref in behind if ref in later and later[ref] != breaches.get(ref) and ref not in causes)
    return (*found, *changed)


def _finding_after_steps(one: Finding, there: Mapping[tuple[Ref, str], Finding]) -> Finding | None:
    """Return what is found after the steps about a termination that is waited for; None where that is the same.

    Where the replica is terminated by then, its deletion is a step of a later round.
    """
    own = there.get((one.subject, TERMINATION))
    if own is not None and own.verdict == WAITS:
        return own if own.deadline != one.deadline else None
    # A group has a finding on a replica only where that replica is breached; else the finding on the group counts.
    now = own or there.get((one.subject.without_replica, TERMINATION))
    return now._replace(subject=one.subject) if now is not None and now.verdict not in {WAITS, TERMINATES} else None


def findings_after_predicted_steps(first: Iterable[Finding], averted: Sequence[Finding]) -> Sequence[Finding]:
    """Return the findings after the steps of a plan; steps that are not predicted avert nothing (GF-133).

    Args:
        first: the findings of the first round.
        averted: as :func:`averted_termination_findings` returns them.
    """
    return () if reasons_for_question(PREDICTION, first) else averted


def findings_with_averted_replaced(first: Sequence[Finding], averted: Sequence[Finding]) -> tuple[Finding, ...]:
    """Return the findings of the first round, in their place those after the predicted steps of a plan (PL-025).

    Args:
        first, averted: as for :func:`findings_after_predicted_steps`.
    """
    after = findings_after_predicted_steps(first, averted)
    return tuple({(one.subject, one.question): one for one in (*first, *after)}.values())


@unique
class TerminationAssumption(Enum):
    """An assumption of a later termination: in a forecast no pod is scheduled and none becomes ready (PL-032).

    Attributes:
        code: in a JSON plan.
        words: on a page, after the time of the termination.
    """

    NOT_RECOVERED = ("NotRecovered", "unless it recovers before")
    NOT_PLACED = ("NotPlaced", "if none of its pods is placed until then")

    def __init__(self, code: str, words: str) -> None:
        self.code = code
        self.words = words


def termination_assumptions_by_round(
    findings: Iterable[Finding], rounds: Sequence[tuple[datetime, Sequence[Step]]]
) -> tuple[Mapping[Ref, TerminationAssumption], ...]:
    """Return for each round: PodClique that it terminates -> the assumption behind that. Linear in steps.

    A delay that already runs when the forecast begins assumes that nothing recovers. Every other delay begins within
    the forecast, and assumes that the pods that the plan creates or ungates are not scheduled.

    Args:
        rounds: each with its moment; the steps of the first moment assume nothing.
    """
    waiting = {one.subject for one in findings if one.question == TERMINATION and one.verdict == WAITS}
    terminated: set[Ref] = set()
    found: list[Mapping[Ref, TerminationAssumption]] = []
    for at, steps in rounds:
        later: dict[Ref, TerminationAssumption] = {}
        if at > rounds[0][0]:
            for step in steps:
                for one in gangs_terminated_by(step):
                    assumed = _assumed(one, step.target, is_waiting=one.replica in waiting, terminated=terminated)
                    later[step.target] = min(later.get(step.target, assumed), assumed, key=_weakest)
        terminated |= {step.target for step in steps if isinstance(step.action, Delete)}
        found.append(later)
    return tuple(found)


def _assumed(
    one: GangTermination, target: Ref, *, is_waiting: bool, terminated: AbstractSet[Ref]
) -> TerminationAssumption:
    """Return the assumption behind one termination of a clique.

    It is about the clique that is the trigger; where the trigger is a scaling group, about the clique itself.
    """
    is_recreated = (one.trigger if one.trigger.kind == "PodClique" else target) in terminated
    return TerminationAssumption.NOT_RECOVERED if is_waiting and not is_recreated else TerminationAssumption.NOT_PLACED


def _weakest(assumption: TerminationAssumption) -> int:
    """Return the rank of an assumption; where two replicas terminate a clique, the lower rank counts."""
    return list(TerminationAssumption).index(assumption)
