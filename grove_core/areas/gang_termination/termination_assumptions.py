"""The assumptions behind the later terminations of a forecast (PL-032).

In a forecast no pod is scheduled and none becomes ready, so a later termination depends on that.
"""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime
from enum import Enum, unique

from grove_core.areas.gang_termination.termination_findings import TERMINATION
from grove_core.areas.gang_termination.verdicts import WAITS
from grove_core.kernel.decisions import Finding
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Delete, GangTermination, Step, gangs_terminated_by


@unique
class TerminationAssumption(Enum):
    """An assumption of a later termination.

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
