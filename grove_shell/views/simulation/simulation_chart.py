"""A run as a chart: a lane for each PodClique with the states of its pods, and the events above."""

from collections.abc import Iterable, Mapping
from typing import Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, MultipleLocator

from grove_shell.simulator.recording.pod_clique_states import STATES, PodCliqueTimeline, pod_clique_timelines
from grove_shell.simulator.recording.simulation_history import (
    EntryContent,
    EntryKind,
    NoteHistoryEntry,
    NoteKind,
    PodChangeKind,
    PodHistoryEntry,
    WriteEffect,
    WriteHistoryEntry,
)
from grove_shell.simulator.simulation_run import SimulationResult
from grove_shell.simulator.virtual_time import MINUTE, SECOND, go_duration_text
from grove_shell.views.chart_files import save_chart

_COLOURS: Final = ("#2e9e6b", "#8fc7e8", "#f4c95d", "#c9ced6")
_WORDS: Final = ("ready", "placed, not ready", "waits for a node", "gated")
_INK: Final = "#30363d"
_BREACH: Final = "#d1242f"
_UPDATE: Final = "#6f42c1"
_FAULT: Final = "#a2418e"
_HEIGHT: Final = 0.74
_WIDTH: Final = 12.0
_STRIP: Final = -1.0
_SHOWN: Final[Mapping[EntryKind, str]] = {
    NoteKind.NODE: "#0969da",
    NoteKind.FAULT: _FAULT,
    WriteEffect.APPLIED: _UPDATE,
    NoteKind.SCALED: "#1a7f64",
}
_CRASHES: Final[frozenset[EntryKind]] = frozenset({PodChangeKind.CRASHED, PodChangeKind.FAILED})
_MOST_SHOWN: Final = 12
_LONGEST: Final = 46
_MOST_TICKS: Final = 11
_MANY: Final = 16
_LINE: Final = 0.16  # inches between the words of two events
_STEPS: Final = (
    *(SECOND * step for step in (1, 2, 5, 10, 15, 30)),
    *(MINUTE * step for step in (1, 2, 5, 10, 15, 30, 60, 120, 240, 480, 720)),
    *(MINUTE * 60 * 24 * step for step in (1, 2, 7, 30, 365, 36_500)),
)


def draw_simulation_chart(run: SimulationResult, path: str) -> None:
    """Draw a run into a file, ``.svg`` or ``.png``; the same run gives the same file (SM-010).

    Raises:
        OSError: The file cannot be written.
    """
    save_chart(lambda: _figure(run), path)


def _figure(run: SimulationResult) -> Figure:
    lanes = pod_clique_timelines(run.changes)
    places = _places_of(lanes)
    events = _events_of(run)
    bottom = max(places, default=0.0) + 0.8
    height = max(0.34 - 0.0035 * max(len(lanes) - _MANY, 0), 0.17)  # inches of a lane: sixty fit on a page
    gap = _LINE / height
    inches = 1.7 + height * (bottom - _STRIP + gap * (len(events) + 1))
    figure = Figure(figsize=(_WIDTH, inches), layout=None)
    axes = figure.add_axes((0.2, 0.95 / inches, 0.765, 1 - 1.65 / inches))
    end = max(run.end, SECOND)
    for lane, place in zip(lanes, places, strict=True):
        _draw_lane(axes, lane, place, end)
    _draw_marks(axes, run, {(lane.namespace, lane.name): place for lane, place in zip(lanes, places, strict=True)})
    top = _draw_events(axes, events, end, gap)
    axes.set_ylim(bottom, top)
    axes.set_xlim(0, end * 1.01)
    axes.set_yticks(places, [lane.name for lane in lanes])
    axes.tick_params(axis="y", length=0, pad=9, labelsize=8.5 if len(lanes) <= _MANY else 7)
    axes.xaxis.set_major_locator(MultipleLocator(next(step for step in _STEPS if end / step <= _MOST_TICKS)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: go_duration_text(round(value))))
    axes.grid(axis="x", color="#e6e9ed", linewidth=0.6, zorder=0)
    axes.set_axisbelow(True)
    _draw_gangs(axes, lanes, places)
    figure.text(0.012, 1 - 0.32 / inches, run.scenario.metadata.name, fontsize=13, fontweight="bold", color=_INK)
    figure.text(0.012, 1 - 0.56 / inches, _subtitle(run), fontsize=9, color="#656d76")
    _draw_legend(figure, inches, run, lanes)
    return figure


def _places_of(lanes: list[PodCliqueTimeline]) -> list[float]:
    """Return the position of each lane, with a gap between gangs and a larger one between replicas."""
    places: list[float] = []
    place, before = 0.0, None
    for lane in lanes:
        if before is not None:
            other = (lane.namespace, lane.replica) != (before.namespace, before.replica)
            place += 1.0 + (0.7 if other else 0.25 if lane.gang != before.gang else 0.0)
        places.append(place)
        before = lane
    return places


def _draw_lane(axes: Axes, lane: PodCliqueTimeline, place: float, end: int) -> None:
    """Draw the pods by state, stacked to the height of the lane; missing replicas stay empty."""
    for number, sample in enumerate(lane.samples):
        until = lane.samples[number + 1].at if number + 1 < len(lane.samples) else end
        if not sample.replicas or until <= sample.at:
            continue
        whole = max(sample.replicas, sum(sample.counts))
        axes.broken_barh(
            [(sample.at, until - sample.at)],
            (place - _HEIGHT / 2, _HEIGHT),
            facecolors="#fbe9e7" if sample.counts[0] < sample.needed else "#f3f5f7",
            linewidth=0,
            zorder=1,
        )
        low = place + _HEIGHT / 2
        for count, colour in zip(sample.counts, _COLOURS, strict=True):
            if count:
                high = _HEIGHT * count / whole
                axes.broken_barh(
                    [(sample.at, until - sample.at)], (low - high, high), facecolors=colour, linewidth=0, zorder=2
                )
                low -= high
    for since, to in lane.updating:
        axes.plot((since, to if to is not None else end), (place - 0.43,) * 2, color=_UPDATE, linewidth=2.2, zorder=4)
    for since, to in lane.breached:
        stop = to if to is not None else end
        axes.plot((since, stop), (place + 0.43,) * 2, color=_BREACH, linewidth=2.2, zorder=4, solid_capstyle="butt")


def _draw_marks(axes: Axes, run: SimulationResult, places: dict[tuple[str, str], float]) -> None:
    for entry in run.history.entries:
        content = entry.content
        mark, colour, size, name = "X", _BREACH, 8.5, ""
        if isinstance(content, WriteHistoryEntry) and content.what is WriteEffect.TERMINATED:
            name = content.subject.name
        elif isinstance(content, PodHistoryEntry) and content.what in _CRASHES:
            mark, colour, size, name = "v", _INK, 6.0, content.clique
        place = places.get((content.subject.namespace, name)) if content.subject is not None else None
        if place is not None:
            axes.plot(entry.at, place, mark, color=colour, markersize=size, mec="white", zorder=6)


def _events_of(run: SimulationResult) -> list[tuple[int, str, str]]:
    """Return time, text and colour of the events of the whole cluster; only the first of many."""
    found = []
    for entry in run.history.entries:
        subject = entry.content.subject
        ends_set = entry.kind is WriteEffect.DELETED and subject is not None and subject.kind == "PodCliqueSet"
        if ends_set or entry.kind in _SHOWN:
            found.append((entry.at, _words(entry.content), _SHOWN.get(entry.kind, _BREACH)))
    return sorted(dict.fromkeys(found))[:_MOST_SHOWN]


def _words(content: EntryContent) -> str:
    words = content.text if isinstance(content, NoteHistoryEntry) else ""
    if content.subject is not None:
        verb = content.what.value if isinstance(content, NoteHistoryEntry | WriteHistoryEntry) else ""
        words = f"{verb} {content.subject.name}{f': {words}' if words else ''}"
    return words if len(words) <= _LONGEST else f"{words[: _LONGEST - 1]}…"


def _draw_events(axes: Axes, events: Iterable[tuple[int, str, str]], end: int, gap: float) -> float:
    """Draw a vertical line through the lanes for each event, and its text above; return the top of the axis."""
    top = _STRIP
    for number, (at, words, colour) in enumerate(reversed(list(events))):
        top = _STRIP - gap * number
        axes.axvline(at, color=colour, linewidth=0.9, linestyle=(0, (4, 3)), alpha=0.75, zorder=3)
        right = at > 0.6 * end
        axes.annotate(
            words,
            (at, top),
            xytext=(-5 if right else 5, 0),
            textcoords="offset points",
            ha="right" if right else "left",
            va="center",
            fontsize=8,
            color=colour,
            bbox={"boxstyle": "square,pad=0.1", "fc": "white", "ec": "none", "alpha": 0.85},
            zorder=7,
        )
        axes.plot(at, top, "o", color=colour, markersize=3.5, zorder=8)
    return top - gap


def _draw_gangs(axes: Axes, lanes: list[PodCliqueTimeline], places: list[float]) -> None:
    gangs: dict[tuple[str, str], list[float]] = {}
    for lane, place in zip(lanes, places, strict=True):
        gangs.setdefault((lane.namespace, lane.gang), []).append(place)
    for found in gangs.values():
        edge = (min(found) - 0.36, max(found) + 0.36)
        axes.plot(
            (-0.004, -0.004), edge, color="#8b949e", linewidth=2, transform=axes.get_yaxis_transform(), clip_on=False
        )


def _draw_legend(figure: Figure, inches: float, run: SimulationResult, lanes: list[PodCliqueTimeline]) -> None:
    handles: list[Patch | Line2D] = [
        Patch(facecolor=colour, label=word) for colour, word in zip(_COLOURS, _WORDS, strict=True)
    ]
    handles.append(Patch(facecolor="#fbe9e7", label="fewer ready than needed"))
    if any(lane.breached for lane in lanes):
        handles.append(Line2D([], [], color=_BREACH, linewidth=2.2, label="breached, delay runs"))
    if any(lane.updating for lane in lanes):
        handles.append(Line2D([], [], color=_UPDATE, linewidth=2.2, label="update runs"))
    kinds = {entry.kind for entry in run.history.entries}
    if WriteEffect.TERMINATED in kinds:
        handles.append(Line2D([], [], marker="X", color=_BREACH, linewidth=0, markersize=8, label="terminated"))
    if kinds & _CRASHES:
        handles.append(Line2D([], [], marker="v", color=_INK, linewidth=0, markersize=6, label="pod crashes"))
    figure.legend(
        handles=handles,
        loc="lower left",
        bbox_to_anchor=(0.012, 0.06 / inches),
        ncols=len(handles),
        frameon=False,
        fontsize=8.5,
        handlelength=1.3,
        columnspacing=1.4,
    )


def _subtitle(run: SimulationResult) -> str:
    words = [f"{go_duration_text(run.end)} of virtual time"]
    if run.history.terminations:
        words.append(f"{run.history.terminations} terminations" if run.history.terminations > 1 else "1 termination")
    if run.violation is not None:
        words.append(f"{run.violation.code} violated: {run.violation.message}")
    return " · ".join([run.scenario.metadata.description, *words] if run.scenario.metadata.description else words)


assert len(STATES) == len(_COLOURS)  # noqa: S101 - each state has a colour
