"""The part of a status that may be written before a termination is complete (PL-028)."""

from dataclasses import replace

from grove_core.kernel.frozen import FrozenMap, list_at
from grove_core.kernel.steps import SetStatus, Step
from grove_core.resources.api_names import TERMINATION_IN_PROGRESS


def without_termination(step: Step) -> Step | None:
    """Return a status step without its report of a termination; None where nothing else is left to write.

    The condition TerminationInProgress and the reasons for it are left out.

    Args:
        step: a status step with ``end_of``.
    """
    if not isinstance(step.action, SetStatus):
        return None
    fields = dict(step.action.fields)
    conditions = [one for one in list_at(step.action.fields, "conditions") if isinstance(one, FrozenMap)]
    kept = tuple(one for one in conditions if one.get("type") != TERMINATION_IN_PROGRESS)
    fields |= {"conditions": kept}
    if not kept:
        del fields["conditions"]
    if not fields:
        return None
    dropped = {one.get("reason") for one in conditions if one not in kept}
    because = tuple(reason for reason in step.because if reason.rule.code not in dropped)
    return replace(step, action=replace(step.action, fields=FrozenMap(fields), end_of=()), because=because)
