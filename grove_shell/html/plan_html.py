"""The HTML page of a plan: verdict, clock, timeline, and each set with its tree, its reasons and its steps (HP-001)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from grove_core.document.plan_document import PlanDocument
from grove_core.document.termination_totals import termination_totals
from grove_core.explain import explanation_of_forecast
from grove_core.forecast_explanation import EntryUrgency, ForecastExplanation
from grove_core.kernel.time_formats import format_time, truncated_to_seconds
from grove_core.plan.forecast import Forecast
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.html.anchors import HtmlAnchorIds
from grove_shell.html.cited_reasons import CitedRules
from grove_shell.html.object_diffs import ObjectValuesByRound
from grove_shell.html.plan_entries import EntryView, plan_entry_views
from grove_shell.html.rendering import fill_html_template
from grove_shell.html.report_trees import assign_object_ids, state_counts
from grove_shell.html.round_steps import DifferencesWithIds, RoundView, round_views
from grove_shell.html.text_lines import HtmlLine, HtmlSpan, html_lines, style_classes
from grove_shell.html.timeline import plan_timeline
from grove_shell.html.tree_places import TreeNodeIdsAndReasons
from grove_shell.styled_text_page import StyledTextPage
from grove_shell.views.formatting import clock_time, relative_time
from grove_shell.views.plan.plan_headline import plan_headline, time_source_note
from grove_shell.views.plan.plan_notes import PlanPageContext, plan_notes_page
from grove_shell.views.plan.plan_page import add_set_notices
from grove_shell.views.plan.plan_round_lines import add_later_termination_lines, add_plan_rounds
from grove_shell.views.tree.object_states import ObjectState
from grove_shell.views.tree.object_tree import set_tree
from grove_shell.views.tree.tree_nodes import TreeNode

_FEW_SETS: Final = 3
"""As many sets are open at first, whatever their state."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SetView:
    """One set of the page.

    Attributes:
        anchor: the id of its section.
        kind: of the root; a topology has no tree.
        warnings, later: lines of the text page: findings and the edit; terminations and writes of later rounds.
        left_out: the number of repeated rounds that are not shown.
        complete: whether no limit has cut the rounds short.
        decisions: every verdict, as (subject, question, verdict, reasons); empty unless they are asked for.
    """

    anchor: str
    namespace: str
    name: str
    kind: str
    is_open: bool
    tree: TreeNode | None
    state: ObjectState
    warnings: tuple[HtmlLine, ...]
    entries: tuple[EntryView, ...]
    later: tuple[HtmlLine, ...]
    rounds: tuple[RoundView, ...]
    left_out: int
    complete: bool
    decisions: tuple[tuple[str, str, str, tuple[object, ...]], ...]


@dataclass(frozen=True, slots=True)
class Tile:
    """A number above the page, with its words and the class of its colour."""

    number: str
    words: str
    css_class: str


def plan_html(
    document: PlanDocument, context: PlanPageContext, snapshots: Sequence[Snapshot], until: datetime | None
) -> str:
    """Return the page of a plan as the text of one HTML file.

    Args:
        snapshots: of the sets that were planned, for the states of their pods.
        until: the end of the forecast time; None without one.
    """
    anchors = HtmlAnchorIds()
    cited = CitedRules(anchors)
    stories = [explanation_of_forecast(forecast) for forecast in document.forecasts]
    by_root = {snapshot.root_ref: snapshot for snapshot in snapshots}
    assign_object_ids(document.forecasts, by_root, anchors)
    builder = _SetViews(document, context, anchors, cited)
    by_urgency = sorted(zip(document.forecasts, stories, strict=True), key=lambda both: both[1].urgency_rank)
    sets = [builder.view(forecast, story, by_root.get(forecast.root)) for forecast, story in by_urgency]
    verdicts = plan_headline(document, stories, context.nothing_judged, is_incomplete=context.loaded.lacks_objects)
    values = {
        "command": "plan",
        "verdicts": [HtmlSpan(text, style_classes(style)) for text, style in verdicts],
        "clock": _clock(document),
        "tiles": tuple(_tiles(document, stories)),
        "notes": html_lines(plan_notes_page(document, context)),
        "timeline": plan_timeline(document, stories, until, anchors),
        "until": None if until is None else format_time(truncated_to_seconds(until)),
        "sets": sets,
        "states": state_counts(one.tree for one in sets if one.tree is not None),
        "rules": cited.rules(),
        "places": builder.places,
    }
    return fill_html_template("plan.html", values)


class _SetViews:
    """Makes the views of the sets of one plan."""

    def __init__(
        self, document: PlanDocument, context: PlanPageContext, anchors: HtmlAnchorIds, cited: CitedRules
    ) -> None:
        self._document, self._context, self._anchors, self._cited = document, context, anchors, cited
        self.places = TreeNodeIdsAndReasons(anchors, cited, document.as_of)
        self._shown = DifferencesWithIds()
        self._has_few = len(document.forecasts) <= _FEW_SETS

    def view(self, forecast: Forecast, story: ForecastExplanation, snapshot: Snapshot | None) -> SetView:
        """Return the view of one set.

        Args:
            snapshot: None for a root that is no set.
        """
        now, cited = self._document.as_of, self._cited
        tree = None if snapshot is None else set_tree(snapshot, forecast, story)
        if tree is not None:
            self.places.add_tree(tree)
        entries = plan_entry_views(story, self._anchors, cited, now)
        warnings, later = StyledTextPage(), StyledTextPage()
        add_set_notices(warnings, forecast, story, full=self._context.verbose)
        add_later_termination_lines(later, forecast, now)
        add_plan_rounds(later, forecast, full=self._context.verbose)
        rounds, left_out = round_views(forecast, ObjectValuesByRound(snapshot), cited, self._shown, now)
        needs_attention = not story.needs_no_attention or forecast.edit is not None
        return SetView(
            anchor=self._anchors.id_of(forecast.root),
            namespace=forecast.root.namespace,
            name=forecast.root.name,
            kind=forecast.root.kind,
            is_open=self._has_few or needs_attention,
            tree=tree,
            state=ObjectState.READY if tree is None else tree.state,
            warnings=html_lines(warnings),
            entries=entries,
            later=html_lines(later),
            rounds=rounds,
            left_out=left_out,
            complete=forecast.complete,
            decisions=self._decisions(forecast) if self._context.decisions else (),
        )

    def _decisions(self, forecast: Forecast) -> tuple[tuple[str, str, str, tuple[object, ...]], ...]:
        return tuple(
            (one.subject.short, one.question, one.verdict, self._cited.html_reasons(one.because, one.subject))
            for one in forecast.findings
        )


def _clock(document: PlanDocument) -> Mapping[str, str]:
    """Return the time of the plan with its source, and the rule set with the evidence for it."""
    now, source = document.as_of, document.rules_from
    return {
        "at": format_time(now),
        "date": now.date().isoformat(),
        "time": clock_time(now, now),
        "source": time_source_note(document.as_of_from).strip(" ()"),
        "rules": document.rules,
        "because": source.because if source is not None else "",
    }


def _tiles(document: PlanDocument, stories: Sequence[ForecastExplanation]) -> Iterator[Tile]:
    """Yield the numbers above the page: terminations, what they take along, and the first deadline."""
    totals, now = termination_totals(document.forecasts), document.as_of
    waits = [entry for story in stories for entry in story.entries_of_urgency(EntryUrgency.WAITS)]
    first = min((entry.until for entry in waits if entry.until is not None), default=None)
    if first is not None:
        yield Tile(clock_time(first, now), f"first termination, {relative_time(first, now)}", "waits")
    if waits:
        words = "replica waits" if len(waits) == 1 else "replicas wait"
        yield Tile(f"{len(waits):,}", f"{words} for the end", "waits")
    if totals.replicas:
        yield Tile(f"{totals.replicas:,}", "terminated in this forecast", "ends")
        if totals.impact is not None:
            yield Tile(f"{totals.impact.pods:,}", f"pods go, {totals.impact.ready:,} of them ready", "ends")
            yield Tile(f"{totals.impact.gpus:,}", "GPUs are held by these pods", "ends")
    if not totals.replicas and not waits:
        yield Tile("0", "terminations", "ready")
