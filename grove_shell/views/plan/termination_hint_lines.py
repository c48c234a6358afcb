"""Lines about one termination: what stops it or puts it off, lost nodes, the scheduler's words, no room (CL-070)."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from grove_core.kernel.time_formats import short_duration_text
from grove_core.plan.termination_hints import (
    LongerDelay,
    LostNodeOfPods,
    ReadyPodsToEndBreach,
    RoomForReplacement,
    TerminationHints,
)
from grove_shell.views.formatting import clock_time, count_with_noun, join_names_with_commas, object_display_name

FEW_HINTS: Final = 3
"""The most PodCliques, and messages, that a page names."""
_TEMPLATE: Final = "spec.template."


def termination_hint_lines(
    hints: TerminationHints, now: datetime, *, is_due: bool, most: int | None = FEW_HINTS
) -> Iterator[str]:
    """Yield the lines about one termination.

    Args:
        is_due: whether it is terminated now, so that only what happens before the next write of the operator helps.
        most: the most PodCliques and messages of the scheduler that are named; None for all.
    """
    at_once = ", if at once" if is_due else ""
    if hints.ready_pods:
        yield from _ready_pods(hints.ready_pods, now, at_once, most)
        if hints.spares_not:
            names = [object_display_name(ref) for ref in hints.spares_not]
            yield f"  even then terminated: {join_names_with_commas(names, most)}"
    if hints.longer_delay is not None:
        yield f"puts it off{at_once}: {_delay(hints.longer_delay)}"
    yield from (_lost_node(node, hints.unready, now) for node in hints.nodes)
    for one in hints.messages[:most]:
        yield f"scheduler: {first_sentence_of_scheduler_message(one.message)} ({count_with_noun(one.pods, 'pod')})"
    if hints.room is RoomForReplacement.CANNOT:
        yield "no room: its gangs do not fit on the nodes again"


def first_sentence_of_scheduler_message(message: str) -> str:
    """Return the first sentence of a message of the scheduler; the others are about claims and preemption."""
    return message.partition(". ")[0].removesuffix(".")


def _ready_pods(needed: Sequence[ReadyPodsToEndBreach], now: datetime, at_once: str, most: int | None) -> Iterator[str]:
    """Yield which pods have to become ready: on one line for one PodClique, else a line for each of them."""
    if len(needed) == 1:
        yield f"stops it{at_once}: {_of_clique(needed[0], now)}"
        return
    yield f"stops it{at_once}, all of these together:"
    for one in needed[:most]:
        yield f"  {_of_clique(one, now)}"
    if rest := needed[len(needed[:most]) :]:
        pods = count_with_noun(sum(one.pods for one in rest), "more ready pod")
        yield f"  and {pods} of {count_with_noun(len(rest), 'other PodClique')} (-v)"


def _of_clique(one: ReadyPodsToEndBreach, now: datetime) -> str:
    before = "" if one.before is None else f" before {clock_time(one.before, now)}"
    scaled = "" if one.replicas is None else f"; its replicas have to be {one.replicas:,}"
    skipped = "; those that are starting count already" if one.starting_pods_count_already else ""
    gated = "; the scheduling gates of its pods have to open first" if one.gated else ""
    return f"{count_with_noun(one.pods, 'more ready pod')} of {one.clique.name}{before}{scaled}{skipped}{gated}"


def _delay(longer: LongerDelay) -> str:
    fields = [field.removeprefix(_TEMPLATE) for field in longer.fields]
    return f"{' and '.join(fields)} above {short_duration_text(longer.above)}"


def _lost_node(lost: LostNodeOfPods, unready: int, now: datetime) -> str:
    since = "does not answer" if lost.since is None else f"has not answered since {clock_time(lost.since, now)}"
    share = f"all {unready:,}" if lost.pods == unready else f"{lost.pods:,} of {unready:,}"
    pods = "the pod that is not ready is" if unready == 1 else f"{share} pods that are not ready are"
    return f"cause: node {lost.node} {since}; {pods} on it"
