"""Terminations of gangs as values: those of a forecast, and those that wait for a delay (LB-005)."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import NamedTuple, assert_never

from grove_core.areas.gang_termination.termination_deletions import (
    termination_deletions_by_replica,
    trigger_and_delay,
)
from grove_core.forecast_explanation import EntryUrgency, ForecastExplanation
from grove_core.kernel.steps import total_deletion_impact
from grove_core.plan.forecast import Forecast
from grove_core.plan.termination_hints import RoomForReplacement
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.library.objects import cause_sentences_of_entry, qualified_name, subject_display_name


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
        finds_room: whether its gangs fit on the nodes again; None where that is not known.
        room_unknown: why ``finds_room`` is None; empty where it is known.
        pod_names: of the pods that are there now and are deleted with it.
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
    room_unknown: str
    pod_names: tuple[str, ...]


class Waiting(NamedTuple):
    """A replica that will be terminated unless it recovers.

    Attributes:
        until: when its delay ends; None where it never does.
        set, replica, because: as of a termination.
        pods_needed: PodClique -> ready pods it needs more, if that alone averts the termination; empty otherwise.
        finds_room, room_unknown: as of a termination.
    """

    until: datetime | None
    set: str
    replica: str
    because: str
    pods_needed: Mapping[str, int]
    finds_room: bool | None
    room_unknown: str


def terminations_in(forecast: Forecast, snapshot: Snapshot | None) -> Iterator[Termination]:
    """Yield the terminations of a forecast, round by round.

    Args:
        snapshot: of the set; None for a root that is no set.
    """
    rooms = {one.replica: one.room for one in forecast.hints}
    pods = {one.ref: snapshot.pods_of.get(one.uid, ()) for one in snapshot.cliques} if snapshot is not None else {}
    for round_ in forecast.rounds:
        for replica, steps in termination_deletions_by_replica(round_.steps).items():
            trigger, reason = trigger_and_delay(replica, steps)
            impact = total_deletion_impact(steps)
            yield Termination(
                at=round_.at,
                set=qualified_name(forecast.root),
                replica=subject_display_name(replica),
                because=f"{trigger.name}: {reason.sentence}",
                cliques=tuple(step.target.name for step in steps if step.target.kind == "PodClique"),
                pods=None if impact is None else impact.pods,
                ready=None if impact is None else impact.ready,
                gpus=None if impact is None else impact.gpus,
                times=forecast.round_occurrence_count(round_),
                rule=reason.rule.requirement,
                finds_room=_finds_room(room := rooms.pop(replica, None)),
                room_unknown=_room_unknown(room),
                pod_names=tuple(sorted(pod.name for step in steps for pod in pods.pop(step.target, ()))),
            )


def replicas_with_running_delay(story: ForecastExplanation) -> Iterator[Waiting]:
    """Yield the replicas of one set whose delay runs now."""
    name = qualified_name(story.root)
    for entry in story.entries:
        if entry.urgency is EntryUrgency.WAITS:
            needed = {one.clique.name: one.pods for one in entry.hints.ready_pods} if entry.hints is not None else {}
            because = "; ".join(cause_sentences_of_entry(entry))
            room = entry.hints.room if entry.hints is not None else None
            reason, subject = _room_unknown(room), subject_display_name(entry.subject)
            yield Waiting(entry.until, name, subject, because, needed, _finds_room(room), reason)


def _finds_room(room: RoomForReplacement | None) -> bool | None:
    return True if room is RoomForReplacement.FITS else False if room is RoomForReplacement.CANNOT else None


def _room_unknown(room: RoomForReplacement | None) -> str:
    """Return why it is not known whether the gangs of a replica fit again; an empty text where it is known."""
    match room:
        case RoomForReplacement.FITS | RoomForReplacement.CANNOT:
            return ""
        case RoomForReplacement.NODES_MISSING:
            return "the input lacks Nodes, or requests of a pod on them cannot be read"
        case RoomForReplacement.PODS_MISSING:
            return "the input lacks pods: a node of it has none outside of gangs"
        case RoomForReplacement.PART_OF_GANG:
            return "its pods are a part of a gang whose other pods stay; places for a part are not searched"
        case RoomForReplacement.UNDECIDED:
            return "no placement of every pod was found, and no proof that the gangs cannot start"
        case None:
            return "it is known only for the first termination of what is due now or waits now"
        case _:
            assert_never(room)
