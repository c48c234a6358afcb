"""A valid manifest, changes of it, and the objections of admission to them."""

from typing import Final

from grove_core.admit import admit
from grove_core.areas.gang_termination.rules import GangTerminationDenial
from grove_core.kernel.admission import Admit
from tests.property.resources.manifests import (
    Json,
    clique_set,
    replaced,
)

Found = tuple[str, GangTerminationDenial]
SOUND: Final = clique_set()
DELAY: Final = "spec.template.terminationDelay"
CLIQUES: Final = "spec.template.cliques"
GROUPS: Final = "spec.template.podCliqueScalingGroups"


def objections(new: Json, old: Json | None = None) -> list[Found]:
    """Return path and rule of every objection of this area; also checks that verdict and reasons agree."""
    decision = admit(new, old)
    if isinstance(decision.verdict, Admit):
        assert [reason.rule for reason in decision.because] == [GangTerminationDenial.ADMITTED]
        return []
    assert decision.verdict.objections
    assert decision.because == tuple(objection.reason for objection in decision.verdict.objections)
    rules = [objection.reason.rule for objection in decision.verdict.objections]
    assert GangTerminationDenial.ADMITTED not in rules
    return [
        (objection.path, objection.reason.rule)
        for objection in decision.verdict.objections
        if isinstance(objection.reason.rule, GangTerminationDenial)
    ]


def changed(place: tuple[str | int, ...], value: object, raw: Json = SOUND) -> Json:
    whole: Json = replaced(raw, place, value)
    return whole
