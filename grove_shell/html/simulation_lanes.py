"""The PodCliques of a simulation over time: a lane for each, with the states of its pods as bars."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from grove_shell.simulator.recording.pod_clique_states import STATES, PodCliqueTimeline, pod_clique_timelines
from grove_shell.simulator.simulation_run import SimulationResult
from grove_shell.simulator.virtual_time import MINUTE, SECOND, go_duration_text

MOST_LANES: Final = 200
_HEIGHT: Final = 26
_MOST_TICKS: Final = 8
_LEFT: Final = 1.0
_RIGHT: Final = 98.0
_STEPS: Final = (
    *(SECOND * step for step in (1, 2, 5, 10, 15, 30)),
    *(MINUTE * step for step in (1, 2, 5, 10, 15, 30, 60, 120, 240, 480, 720, 1440)),
)


class LaneBar(NamedTuple):
    """The pods in one state for a while: place and width in percent, top and height in pixels, and words for it."""

    x: str
    width: str
    y: str
    height: str
    state: str
    words: str


class LaneBreach(NamedTuple):
    """A while in which the PodClique is breached."""

    x: str
    width: str


@dataclass(frozen=True, slots=True)
class PodCliqueTimelineRow:
    """One PodClique; ``summary`` is its last state in words."""

    name: str
    summary: str
    bars: tuple[LaneBar, ...]
    breaches: tuple[LaneBreach, ...]


@dataclass(frozen=True, slots=True)
class SimulationLanes:
    """All lanes; ``left_out`` is the number of those beyond the limit."""

    lanes: tuple[PodCliqueTimelineRow, ...]
    ticks: tuple[tuple[str, str], ...]
    left_out: int


def simulation_lanes(run: SimulationResult) -> SimulationLanes | None:
    """Return the lanes of a run; None where it had no PodClique."""
    timelines = pod_clique_timelines(run.changes)
    end = run.end
    if not timelines or not end:
        return None
    lanes = tuple(_lane(timeline, end) for timeline in timelines[:MOST_LANES])
    return SimulationLanes(lanes, tuple(_ticks(end)), max(len(timelines) - MOST_LANES, 0))


def _percent(at: int, end: int) -> float:
    return _LEFT + at / end * (_RIGHT - _LEFT)


def _ticks(end: int) -> Iterator[tuple[str, str]]:
    step = next((one for one in _STEPS if end // one <= _MOST_TICKS), end // _MOST_TICKS or 1)
    for at in range(0, end + 1, step):
        yield f"{_percent(at, end):.2f}%", go_duration_text(at) if at else "start"


def _lane(timeline: PodCliqueTimeline, end: int) -> PodCliqueTimelineRow:
    bars: list[LaneBar] = []
    samples = timeline.samples
    for number, sample in enumerate(samples):
        until = samples[number + 1].at if number + 1 < len(samples) else end
        if until > sample.at:
            bars += _bars(sample.counts, max(sample.replicas, sum(sample.counts)), sample.at, until, end)
    last = samples[-1]
    words = ", ".join(f"{count:,} {state}" for count, state in zip(last.counts, STATES, strict=True) if count)
    return PodCliqueTimelineRow(
        name=timeline.name,
        summary=f"{words or 'no pods'} at the end",
        bars=tuple(bars),
        breaches=tuple(
            LaneBreach(f"{_percent(since, end):.2f}%", f"{_share((until or end) - since, end):.2f}%")
            for since, until in timeline.breached
        ),
    )


def _share(span: int, end: int) -> float:
    return span / end * (_RIGHT - _LEFT)


def _bars(counts: tuple[int, ...], whole: int, since: int, until: int, end: int) -> Iterator[LaneBar]:
    """Yield a bar for each state with pods, ready ones at the bottom."""
    bottom = float(_HEIGHT)
    for count, state in zip(counts, STATES, strict=True):
        if count:
            height = count / whole * _HEIGHT
            bottom -= height
            place, width = f"{_percent(since, end):.2f}%", f"{_share(until - since, end):.2f}%"
            yield LaneBar(place, width, f"{bottom:.1f}", f"{height:.1f}", state, f"{count:,} {state}")
