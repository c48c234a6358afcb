"""Terminations of gangs as values: those of a forecast, and those that wait for a delay (LB-005)."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import NamedTuple

from grove_core.areas.gang_termination.termination_deletions import termination_deletions_by_replica
from grove_core.explain import ForecastExplanation, ReplicaUrgency
from grove_core.kernel.steps import gangs_terminated_by, total_deletion_impact
from grove_core.plan.forecast import Forecast
from grove_core.plan.termination_hints import Room
from grove_shell.library.objects import qualified_name, replica_name, sentences_of


class Termination(NamedTuple):
    """One termination of a gang: the PodCliques of a replica are deleted together.

    Attributes:
        at: when, if nothing changes before.
        set: ``namespace/name`` of the PodCliqueSet.
        replica: of the set or of a scaling group, as ``llama-0-decode replica 1``.
        because: which delay ended, a sentence.
        cliques: the PodCliques that are deleted.
        pods, ready, gpus: of these PodCliques, each time; None where their pods are not known.
        times: how often it happens within the forecast; ``at`` is the first time.
        rule: id of the rule.
        finds_room: whether its gangs fit on the nodes again; None where it comes later, or that is not known, as
            without the Nodes of the cluster in the input.
    """

    at: datetime
    set: str
    replica: str
    because: str
    cliques: tuple[str, ...]
    pods: int | None
    ready: int | None
    gpus: int | None
    times: int
    rule: str
    finds_room: bool | None


class Waiting(NamedTuple):
    """A replica that will be terminated unless it recovers.

    Attributes:
        until: when its delay ends; None where it never does.
        set, replica, because: as of a termination.
        pods_needed: PodClique -> ready pods it needs more, if that alone averts the termination; empty otherwise.
        finds_room: whether its gangs fit on the nodes again; None where that is not known.
    """

    until: datetime | None
    set: str
    replica: str
    because: str
    pods_needed: Mapping[str, int]
    finds_room: bool | None


def terminations_in(forecast: Forecast) -> Iterator[Termination]:
    """Yield the terminations of a forecast, round by round."""
    rooms = {one.replica: one.room for one in forecast.hints}
    for round_ in forecast.rounds:
        for replica, steps in termination_deletions_by_replica(round_.steps).items():
            gang = next(one for one in gangs_terminated_by(steps[0]) if one.replica == replica)
            reason = gang.delay or steps[0].because[0]
            impact = total_deletion_impact(steps)
            yield Termination(
                at=round_.at,
                set=qualified_name(forecast.root),
                replica=replica_name(replica),
                because=f"{gang.trigger.name}: {reason.sentence}",
                cliques=tuple(step.target.name for step in steps if step.target.kind == "PodClique"),
                pods=None if impact is None else impact.pods,
                ready=None if impact is None else impact.ready,
                gpus=None if impact is None else impact.gpus,
                times=forecast.round_occurrence_count(round_),
                rule=reason.rule.requirement,
                finds_room=_finds_room(rooms.get(replica)) if round_.number == 1 else None,
            )


def waiting_in(story: ForecastExplanation) -> Iterator[Waiting]:
    """Yield the replicas of one set whose delay runs now."""
    name = qualified_name(story.root)
    for entry in story.entries:
        if entry.urgency is ReplicaUrgency.WAITS:
            needed = {one.clique.name: one.pods for one in entry.hints.ready_pods} if entry.hints is not None else {}
            because = "; ".join(sentences_of(entry))
            room = _finds_room(entry.hints.room if entry.hints is not None else None)
            yield Waiting(entry.until, name, replica_name(entry.subject), because, needed, room)


def _finds_room(room: Room | None) -> bool | None:
    return None if room in {None, Room.UNKNOWN} else room is Room.FITS
