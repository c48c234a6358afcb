"""Recognises by the statuses of a cluster that the Go operator wrote them, and its generation (GF-111, GF-112)."""

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Final, NamedTuple

from grove_core.areas.gang_termination.field.generations import F1, F2, F3, Generation
from grove_core.areas.gang_termination.field.rules import Why
from grove_core.kernel.conditions import Condition, condition_of, is_true
from grove_core.resources.api_names import MIN_AVAILABLE_BREACHED, TERMINATION_IN_PROGRESS
from grove_core.resources.podclique import PodClique
from grove_core.resources.scaling_group import ScalingGroup

_WHOLE: Final = "PCSG replicas not in breach"
_SUPPRESSED: Final = "suppress"
_BELOW: Final = Why.SCHEDULED_REPLICAS_BELOW_MIN_AVAILABLE.code
_INSUFFICIENT: Final = Why.SCHEDULING_SUPPRESSED.code


class RecordedOperator(NamedTuple):
    """The Go operator, as recognised by statuses.

    Attributes:
        cliques: how many PodCliques have a status.
        generation: of its rules; None where the statuses do not show which one.
    """

    cliques: int
    generation: Generation | None


def recorded_operator_in(cliques: Iterable[PodClique], groups: Iterable[ScalingGroup]) -> RecordedOperator | None:
    """Return the Go operator if it wrote the statuses; None without a status, or with one that it never writes."""
    written = [clique for clique in cliques if clique.status.recorded]
    if not written or any(clique.status.was_available is not None for clique in written):
        return None
    return RecordedOperator(len(written), _generation_of(written, list(groups)))


def _generation_of(cliques: Sequence[PodClique], groups: Sequence[ScalingGroup]) -> Generation | None:
    """Return the newest generation of which a mark is found (GF-112)."""
    breaches = [(clique, _breach(clique.status.conditions)) for clique in cliques]
    of_groups = [_breach(group.status.conditions) for group in groups]
    flags = (condition_of(group.status.conditions, TERMINATION_IN_PROGRESS) for group in groups)
    if (
        any(flag is not None for flag in flags)
        or any(breach is not None and breach.message.startswith(_WHOLE) for breach in of_groups)
        or any(_is_below(breach) and not clique.status.scheduled for clique, breach in breaches)
    ):
        return F3
    if any(one.status.old_spelling for one in cliques) or any(one.status.old_spelling for one in groups):
        return F1
    spared = [breach for _, breach in breaches if breach is not None and breach.reason == _INSUFFICIENT]
    if not spared:
        return None
    below = any(_is_below(breach) for breach in chain((breach for _, breach in breaches), of_groups))
    return F2 if below or any(_SUPPRESSED in breach.message for breach in spared) else F1


def _breach(conditions: Iterable[Condition]) -> Condition | None:
    return condition_of(conditions, MIN_AVAILABLE_BREACHED)


def _is_below(breach: Condition | None) -> bool:
    return is_true(breach) and breach.reason == _BELOW
