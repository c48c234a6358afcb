"""Entries of a plan's page: a replica that is terminated, waits or cannot be judged, with causes and what averts it."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from grove_core.forecast_explanation import EntryUrgency, ExplainedCause, ExplainedReplica, ForecastExplanation
from grove_core.kernel.refs import Ref
from grove_shell.html.anchors import HtmlAnchorIds
from grove_shell.html.cited_reasons import CitedRules, HtmlReason
from grove_shell.views.formatting import (
    clock_time,
    count_with_noun,
    deletion_impact_text,
    object_display_name,
    relative_time,
    termination_countdown_text,
)
from grove_shell.views.plan.termination_hint_lines import termination_hint_lines
from grove_shell.views.tree.object_states import STATE_OF_URGENCY, ObjectState


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryView:
    """One entry.

    Attributes:
        anchor: the id of the entry.
        link: to its subject in the tree; empty where that is not on the page.
        when: such as ``until 09:40:29Z (in 29s), then it is terminated``.
        until: when its first delay ends; None where none runs.
        reasons: with their levels, the causes first.
        hints: what stops it or puts off its end, as lines.
        deletes: PodCliques that are deleted with it, each with its link.
    """

    anchor: str
    label: str
    state: ObjectState
    subject: str
    link: str
    when: str
    until: datetime | None
    reasons: tuple[HtmlReason, ...]
    hints: tuple[str, ...]
    deletes: tuple[tuple[str, str], ...]


def plan_entry_views(
    story: ForecastExplanation, anchors: HtmlAnchorIds, cited: CitedRules, now: datetime
) -> tuple[EntryView, ...]:
    """Return the entries of a set, the most urgent first; a replica that is kept has one where it is not well.

    Args:
        story: the explanation of the set's forecast.
        anchors: gives ids to the entries.
        cited: keeps the rules that the reasons cite.
        now: the time of the plan.
    """
    seen = Counter[Ref]()
    views = []
    for entry in filter(_is_shown, story.entries):
        seen[entry.subject] += 1
        anchor = anchors.id_of(_entry_ref(entry.subject, seen[entry.subject]))
        views.append(_entry_view(entry, anchor, cited, now))
    return tuple(views)


def replica_link(anchors: HtmlAnchorIds, replica: Ref, root: Ref) -> str:
    """Return the link to the entry of a replica, else to the replica in the tree, else to its set."""
    places = (_entry_ref(replica), replica, root)
    return next((link for place in places if (link := anchors.link_to(place))), "")


def _entry_ref(subject: Ref, number: int = 1) -> Ref:
    """Return the address under which the id of an entry is kept, beside that of its subject in the tree.

    Args:
        number: of the entry, among those of one subject.
    """
    kind = f"{subject.kind} entry {number}"
    return Ref("", kind, subject.namespace, f"why:{subject.name}", subject.replica)


def _is_shown(entry: ExplainedReplica) -> bool:
    if entry.urgency is not EntryUrgency.KEEPS:
        return True
    return bool(entry.degraded) or entry.unwell or entry.averted is not None


def _entry_view(
    entry: ExplainedReplica,
    anchor: str,
    cited: CitedRules,
    now: datetime,
) -> EntryView:
    is_due = entry.urgency is EntryUrgency.TERMINATES
    hints = () if entry.hints is None else termination_hint_lines(entry.hints, now, is_due=is_due, most=None)
    causes = (*entry.causes, *entry.degraded)
    return EntryView(
        anchor=anchor,
        label=entry.urgency.value,
        state=STATE_OF_URGENCY[entry.urgency],
        subject=object_display_name(entry.subject),
        link=cited.link_to(entry.subject),
        when=_when(entry, now),
        until=entry.until if entry.urgency is EntryUrgency.WAITS else None,
        reasons=tuple(_reasons(causes, cited, entry.subject)),
        hints=tuple(hints),
        deletes=tuple((ref.name, cited.link_to(ref)) for ref in entry.deletes),
    )


def _when(entry: ExplainedReplica, now: datetime) -> str:
    until, averted = entry.until, entry.averted
    if entry.urgency is EntryUrgency.TERMINATES:
        if not entry.deletes:
            return "now: its PodCliques are being deleted"
        goes = (count_with_noun(len(entry.deletes), "PodClique"), deletion_impact_text(entry.impact))
        return f"now, with {', '.join(filter(None, goes))}"
    if entry.urgency is EntryUrgency.WAITS and until is not None:
        return termination_countdown_text(until, averted, now)
    if averted is not None:
        when = f"{clock_time(averted, now)} ({relative_time(averted, now)})"
        return f"would be terminated at {when}; the steps below prevent that"
    return ""


def _reasons(
    causes: Iterable[ExplainedCause],
    cited: CitedRules,
    place: Ref,
    level: int = 0,
) -> Iterator[HtmlReason]:
    """Yield the sentences of causes; the first of a cause names its subject, the others are below it."""
    for cause in causes:
        for number, why in enumerate(cause.because):
            cited.cite(why)
            is_first = number == 0 and cause.subject != place
            name = f"{cause.subject.kind} {cause.subject.name}" if is_first else ""
            link = cited.link_to(cause.subject) if is_first else ""
            yield HtmlReason(why.sentence, name, link, why.rule.code, why.rule.requirement, level + (number > 0))
        yield from _reasons(cause.below, cited, place, level + 1)
