"""Lines about one termination: what stops it or puts it off, lost nodes, the scheduler's words, no room (CL-070)."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from grove_core.kernel.time_formats import short_duration_text
from grove_core.plan.termination_hints import LongerDelay, LostNodeOfPods, ReadyPodsNeeded, Room, TerminationHints
from grove_shell.views.formatting import clock_time, comma_separated_names, count_with_noun, object_display_name

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
        yield f"stops it{at_once}: {_ready_pods(hints.ready_pods, now, most)}"
        if hints.spares_not:
            names = [object_display_name(ref) for ref in hints.spares_not]
            yield f"  even then terminated: {comma_separated_names(names, most)}"
    if hints.longer_delay is not None:
        yield f"puts it off{at_once}: {_delay(hints.longer_delay)}"
    yield from (_lost_node(node, hints.unready, now) for node in hints.nodes)
    for one in hints.messages[:most]:
        yield f"scheduler: {scheduler_message_start(one.message)} ({count_with_noun(one.pods, 'pod')})"
    if hints.room is Room.CANNOT:
        yield "no room: its gangs do not fit on the nodes again"


def scheduler_message_start(message: str) -> str:
    """Return the first sentence of a message of the scheduler; the others are about claims and preemption."""
    return message.partition(". ")[0].removesuffix(".")


def _ready_pods(needed: Sequence[ReadyPodsNeeded], now: datetime, most: int | None) -> str:
    """Return the pods that have to become ready: ``1 more ready pod of a and 2 of b before 09:41:00Z``.

    The time comes last where it is the same for all PodCliques, else after each of them.
    """
    shown = needed[:most]
    rest = needed[len(shown) :]
    ends = {one.before for one in needed}
    own = len(ends) > 1
    noun = "pod" if needed[0].pods == 1 else "pods"
    parts = [f"{one.pods:,} of {_of_clique(one)}{_before(one.before, now) if own else ''}" for one in shown]
    parts[0] = parts[0].replace(" of ", f" more ready {noun} of ", 1)
    if rest:
        parts.append(f"{sum(one.pods for one in rest):,} of {count_with_noun(len(rest), 'more PodClique')}")
    text = parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
    return text if own else text + _before(ends.pop(), now)


def _before(end: datetime | None, now: datetime) -> str:
    return "" if end is None else f" before {clock_time(end, now)}"


def _of_clique(one: ReadyPodsNeeded) -> str:
    remarks = []
    if one.replicas is not None:
        remarks.append(f"scaled to {one.replicas}")
    if one.starting_pods_count_already:
        remarks.append("starting pods count already")
    return one.clique.name + (f" ({', '.join(remarks)})" if remarks else "")


def _delay(longer: LongerDelay) -> str:
    fields = [field.removeprefix(_TEMPLATE) for field in longer.fields]
    return f"{' and '.join(fields)} above {short_duration_text(longer.above)}"


def _lost_node(lost: LostNodeOfPods, unready: int, now: datetime) -> str:
    since = "" if lost.since is None else f" since {clock_time(lost.since, now)}"
    share = f"all {unready:,}" if lost.pods == unready else f"{lost.pods:,} of {unready:,}"
    pods = "the pod that is not ready is" if unready == 1 else f"{share} pods that are not ready are"
    return f"cause: node {lost.node} does not answer{since}; {pods} on it"
