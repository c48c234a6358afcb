"""Terminations of a plan or of two rule sets as a chart: a row for each replica, its delay as a bar, marks for ends."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from textwrap import wrap
from typing import Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from grove_core.kernel.refs import Ref
from grove_core.kernel.time_formats import short_duration_text
from grove_shell.styled_text_page import escape_unprintable
from grove_shell.views.chart_files import save_chart
from grove_shell.views.formatting import clock_time, count_with_noun, object_display_name
from grove_shell.views.plan.planned_terminations import ReplicaPendingTermination, TerminationAt
from grove_shell.views.time_axis import axis_tick_times

MOST_ROWS: Final = 60
_INK: Final = "#30363d"
_QUIET: Final = "#656d76"
_END: Final = "#d1242f"
_DELAY: Final = "#f4c95d"
_GRID: Final = "#e6e9ed"
_WIDTH: Final = 12.0  # inches, as the heights below
_LABELS: Final = 3.0
_ROW: Final = 0.36
_ROW_OF_MANY: Final = 0.2
_MANY: Final = 20
_HEAD: Final = 0.95  # without the lines of the title
_LINE: Final = 0.22
_FOOT: Final = 0.75
_GAP: Final = 0.35  # between two panels
_PAST: Final = 0.12  # share of the width for delays that began before
_LONGEST_NAME: Final = 44
_TITLE: Final = 112  # characters of a line
_TITLE_LINES: Final = 4
_LONGEST_LINE: Final = 180


@dataclass(frozen=True, slots=True)
class TerminationChartPanel:
    """The replicas that one rule set terminates or that wait; an empty name where there is one panel."""

    name: str
    rows: tuple[ReplicaPendingTermination, ...]


@dataclass(frozen=True, slots=True)
class TerminationChart:
    """What a picture shows.

    Attributes:
        title, subtitle: above the panels.
        panels: one, or two side by side with the same replicas.
        until: the end of the forecast time; None without one.
    """

    title: str
    subtitle: str
    panels: tuple[TerminationChartPanel, ...]
    now: datetime
    until: datetime | None


def draw_termination_chart(chart: TerminationChart, path: str) -> None:
    """Draw a chart into a file, ``.svg`` or ``.png``; the same chart gives the same file (CL-094).

    Raises:
        OSError: the file cannot be written.
    """
    save_chart(lambda: _figure(chart), path)


def _figure(chart: TerminationChart) -> Figure:
    every = _replicas(chart.panels)
    shown = every[:MOST_ROWS]
    row = _ROW if len(shown) <= _MANY else _ROW_OF_MANY
    title = wrap(escape_unprintable(chart.title), _TITLE, max_lines=_TITLE_LINES, placeholder=" …")
    head = _HEAD + _LINE * len(title)
    inches = head + row * max(len(shown), 2) + _FOOT
    figure = Figure(figsize=(_WIDTH, inches), layout=None)
    room = _WIDTH - _LABELS - 0.2 - _GAP * (len(chart.panels) - 1)
    for number, panel in enumerate(chart.panels):
        width = room / len(chart.panels)
        left = (_LABELS + number * (width + _GAP)) / _WIDTH
        axes = figure.add_axes((left, _FOOT / inches, width / _WIDTH, 1 - (head + _FOOT) / inches))
        _Panel(axes, panel, chart, shown).draw(has_labels=number == 0)
    for number, line in enumerate(title):
        place = 1 - (0.3 + _LINE * number) / inches
        figure.text(0.012, place, line, fontsize=11.5, fontweight="bold", color=_INK)
    figure.text(0.012, 1 - (head - 0.65) / inches, _cut(chart.subtitle), fontsize=8.5, color=_QUIET)
    if len(every) > len(shown):
        rest = f"and {count_with_noun(len(every) - len(shown), 'more replica')}, which end later or as late"
        figure.text(0.012, 0.45 / inches, rest, fontsize=9, fontweight="bold", color=_INK)
    _draw_legend(figure, inches)
    return figure


def _replicas(panels: Sequence[TerminationChartPanel]) -> list[tuple[Ref, Ref]]:
    """Return the set and the replica of every row of some panels, the first termination first."""
    firsts: dict[tuple[Ref, Ref], datetime] = {}
    for one in (row for panel in panels for row in panel.rows):
        key = (one.root, one.replica)
        firsts[key] = min(one.first, firsts.get(key, one.first))
    return sorted(firsts, key=lambda key: (firsts[key], key[0].sort_key, key[1].sort_key))


class _Panel:
    """Draws one panel: places are seconds after the time of the plan, and the numbers of the rows."""

    def __init__(
        self, axes: Axes, panel: TerminationChartPanel, chart: TerminationChart, shown: Sequence[tuple[Ref, Ref]]
    ) -> None:
        self._axes, self._name, self._now, self._shown = axes, panel.name, chart.now, shown
        self._rows = {(row.root, row.replica): row for row in panel.rows}
        every = [row for one in chart.panels for row in one.rows]
        times = [at for row in every for at in row.times]
        self._end = max(chart.until or chart.now, *times, chart.now + timedelta(seconds=1))
        self._length = (self._end - chart.now).total_seconds()
        has_past = any(row.since is not None and row.since < chart.now for row in every)
        self._start = -self._length * (_PAST if has_past else 0.02)
        self._size = 8.0 if len(shown) <= _MANY else 6.5

    def draw(self, *, has_labels: bool) -> None:
        """Draw the axes and all rows."""
        axes = self._axes
        axes.set_xlim(self._start, self._length * 1.03)
        axes.set_ylim(max(len(self._shown), 2) - 0.4, -0.6)
        ticks = list(axis_tick_times(self._now, self._end, most=7 if not self._name else 4))
        axes.set_xticks([self._place(at) for at, _ in ticks], [text for _, text in ticks], fontsize=8)
        axes.set_yticks(
            range(len(self._shown)), [_label(*key) if has_labels else "" for key in self._shown], fontsize=self._size
        )
        axes.tick_params(axis="y", length=0, pad=6)
        axes.grid(axis="x", color=_GRID, linewidth=0.6, zorder=0)
        axes.set_axisbelow(True)
        axes.axvline(0, color=_INK, linewidth=1.1, linestyle=(0, (2, 2)), zorder=3)
        axes.annotate(
            f"now, {clock_time(self._now, self._now)}",
            (0, 1),
            xycoords=("data", "axes fraction"),
            xytext=(0, 4),
            textcoords="offset points",
            fontsize=8,
            color=_QUIET,
        )
        if self._name:
            axes.set_title(_cut(self._name, 60), loc="right", fontsize=10, fontweight="bold", color=_INK, pad=15)
        for place, key in enumerate(self._shown):
            row = self._rows.get(key)
            if row is None:
                axes.text(self._length * 0.01, place, "not terminated", va="center", fontsize=self._size, color=_QUIET)
            else:
                self._draw_row(row, place)
        if not self._shown:
            axes.text(self._length * 0.01, 0.5, "no termination to show", va="center", fontsize=10, color=_QUIET)

    def _draw_row(self, row: ReplicaPendingTermination, place: int) -> None:
        if row.until is not None or row.since is not None:
            since = max(self._place(row.since or self._now), self._start)
            until = self._place(row.until or row.first)
            self._axes.broken_barh(
                [(since, max(until - since, self._length * 0.003))], (place - 0.26, 0.52), facecolors=_DELAY, zorder=2
            )
            if row.since is not None and self._place(row.since) < self._start:
                self._axes.plot(self._start, place, "<", color=_INK, markersize=self._size * 0.6, zorder=3)
        ends = row.ends.first or (TerminationAt(row.first, None),)
        for end in ends:
            self._axes.plot(
                self._place(end.at), place, "X", color=_END, markersize=self._size, mec="white", mew=0.6, zorder=5
            )
        self._draw_words(row, ends, place)

    def _draw_words(self, row: ReplicaPendingTermination, ends: Sequence[TerminationAt], place: int) -> None:
        """Draw the time and what goes beside the first mark, on the side where there is room."""
        at = self._place(ends[0].at)
        is_late = at > 0.55 * self._length
        others = [self._place(end.at) for end in ends[1:]]
        beside = at if is_late or not others else max(others)
        self._axes.annotate(
            _words(row, ends[0], self._now),
            (beside, place),
            xytext=(-6 if is_late else 6, 0),
            textcoords="offset points",
            ha="right" if is_late else "left",
            va="center",
            fontsize=self._size,
            color=_INK,
            bbox={"boxstyle": "square,pad=0.1", "fc": "white", "ec": "none", "alpha": 0.8},
            zorder=4,
        )

    def _place(self, at: datetime) -> float:
        return (at - self._now).total_seconds()


def _words(row: ReplicaPendingTermination, end: TerminationAt, now: datetime) -> str:
    """Return the time of the first termination, what it takes, and how many follow."""
    words = ["now" if end.at <= now else clock_time(end.at, now)]
    if end.impact is not None and end.impact.pods:
        words.append(count_with_noun(end.impact.pods, "pod"))
        if end.impact.gpus:
            words.append(count_with_noun(end.impact.gpus, "GPU"))
    if row.ends.all > 1:
        words.append(f"then {row.ends.all - 1:,} more")
    return ", ".join(words)


def _label(root: Ref, replica: Ref) -> str:
    name = escape_unprintable(f"{root.namespace}/{root.name} {object_display_name(replica)}")
    if replica.kind != "PodCliqueSet":
        name = escape_unprintable(f"{root.namespace}/{object_display_name(replica)}")
    half = _LONGEST_NAME // 2
    return name if len(name) <= _LONGEST_NAME else f"{name[: half - 1]}…{name[-half:]}"


def _cut(text: str, most: int = _LONGEST_LINE) -> str:
    shown = escape_unprintable(text)
    return shown if len(shown) <= most else f"{shown[: most - 1]}…"


def _draw_legend(figure: Figure, inches: float) -> None:
    handles = [
        Patch(facecolor=_DELAY, label="delay runs"),
        Line2D([], [], marker="<", color=_INK, linewidth=0, markersize=5, label="it began before"),
        Line2D([], [], marker="X", color=_END, linewidth=0, markersize=8, label="terminated, if nothing changes"),
    ]
    figure.legend(
        handles=handles,
        loc="lower right",
        bbox_to_anchor=(0.99, 0.02 / inches),
        ncols=3,
        frameon=False,
        fontsize=8.5,
        handlelength=1.3,
    )


def forecast_span_text(now: datetime, until: datetime | None) -> str:
    """Return how far a forecast looks, such as ``, until 15:00:00Z (6h)``; empty without an end."""
    return "" if until is None else f", until {clock_time(until, now)} ({short_duration_text(until - now)})"
