"""What a later termination in a forecast rests on: a forecast places no pod and makes none ready (PL-032)."""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime
from enum import Enum, unique

from grove_core.areas.gang_termination.questions import TERMINATION
from grove_core.areas.gang_termination.verdicts import WAITS
from grove_core.kernel.decisions import Finding
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Delete, Step, Termination, terminated_by


@unique
class Assumption(Enum):
    """A condition of a termination, as a code and as the words behind its time.

    Attributes:
        code: as a JSON plan has it.
        words: the same for a person.
    """

    NOT_RECOVERED = ("NotRecovered", "unless it recovers before")
    NOT_PLACED = ("NotPlaced", "if none of its pods is placed until then")

    def __init__(self, code: str, words: str) -> None:
        self.code = code
        self.words = words


def assumptions_of(
    findings: Iterable[Finding], rounds: Sequence[tuple[datetime, Sequence[Step]]]
) -> tuple[Mapping[Ref, Assumption], ...]:
    """For each round: PodClique that it ends -> what that rests on. Linear in steps.

    A delay that already runs when the forecast begins rests on no recovery. Every other one begins within the forecast,
    because pods that the plan itself creates or ungates are placed by no round of it.

    Args:
        findings: of the first round.
        rounds: each with its moment; what happens at the first moment rests on nothing.
    """
    waiting = {one.subject for one in findings if one.question == TERMINATION and one.verdict == WAITS}
    ended: set[Ref] = set()
    found: list[Mapping[Ref, Assumption]] = []
    for at, steps in rounds:
        later: dict[Ref, Assumption] = {}
        if at > rounds[0][0]:
            for step in steps:
                for one in terminated_by(step):
                    assumed = _assumed(one, step.target, is_waiting=one.replica in waiting, ended=ended)
                    later[step.target] = min(later.get(step.target, assumed), assumed, key=_weakest)
        ended |= {step.target for step in steps if isinstance(step.action, Delete)}
        found.append(later)
    return tuple(found)


def _assumed(one: Termination, target: Ref, *, is_waiting: bool, ended: AbstractSet[Ref]) -> Assumption:
    """What ends because of a clique rests on that clique; what ends because of a scaling group on its own cliques."""
    is_recreated = (one.trigger if one.trigger.kind == "PodClique" else target) in ended
    return Assumption.NOT_RECOVERED if is_waiting and not is_recreated else Assumption.NOT_PLACED


def _weakest(assumption: Assumption) -> int:
    """What ends by two replicas at once ends by the one that needs less to stay as it is."""
    return list(Assumption).index(assumption)
