"""The pictures of ``grove converge``: times by number of nodes, costs, and the spread of views.

Every run is shown: one that did not converge as a triangle at its limit, one that the store would refuse as a cross.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from math import isinf
from pathlib import Path
from typing import Final

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from grove_core.areas.domain_cliques.daemon.registration_protocols import NODES_PER_RACK, RegistrationProtocol
from grove_shell.converge.model.server_costs import expected_watch_bytes
from grove_shell.converge.run_parameters_and_results import (
    ConvergenceRun,
    ConvergenceRunGroup,
    ConvergenceRunOutcome,
    ConvergenceRunParameters,
    group_convergence_runs,
)
from grove_shell.views.convergence.convergence_plot_axes import (
    GREY,
    MARKS,
    PALE,
    PROTOCOLS,
    STYLE,
    add_axes_and_legend,
    add_convergence_legend,
    convergence_line_style,
    plot_figure_with_caption,
    set_few_ticks,
    short_number,
)

_FORMATS: Final = ("png", "svg")
_SPREAD: Final = 144
_NONE: Final = 0.5
"""The place of 0 on a logarithmic axis."""


def draw_convergence_plots(runs: Sequence[ConvergenceRun], folder: Path) -> Iterator[str]:
    """Draw every picture that these runs allow, as PNG and SVG; yield the file names."""
    with mpl.rc_context(STYLE):
        for name, figure in _figures(runs):
            for form in _FORMATS:
                metadata = {"Date": None, "Creator": "grove"} if form == "svg" else {"Software": "grove"}
                figure.savefig(folder / f"{name}.{form}", dpi=144, metadata=metadata, facecolor="white")
                yield f"{name}.{form}"


def _figures(runs: Sequence[ConvergenceRun]) -> Iterator[tuple[str, Figure]]:
    sizes = {run.point.clique_size for run in runs}
    main = NODES_PER_RACK if NODES_PER_RACK in sizes else min(sizes)  # of most pictures: that of a rack
    shown = [run for run in runs if run.point.clique_size == main]
    yield "convergence", _times("Convergence of a ComputeDomain", shown)
    for protocol, style in PROTOCOLS.items():
        own = [run for run in shown if run.point.protocol is protocol]
        if own:
            yield f"convergence-{protocol.short_name}", _times(f"Convergence, {style.name}", own)
    stored = [run for run in shown if run.outcome is not ConvergenceRunOutcome.NOT_STORABLE]
    if not stored:
        return
    conflicts = "Conflicts (409) that clients retry"
    yield "conflicts", _counts(conflicts, "responses 409 in a run", stored, lambda run: run.conflicts)
    lost = "Compare-and-swap conflicts retried inside the server"
    yield "comparisons", _counts(lost, "conflicts in a run", stored, lambda run: run.cas_failures)
    yield "watch-bytes", _bytes(stored)
    yield "processor", _processor(stored)
    yield "views", _views(stored)
    if len(sizes) > 1:
        yield "clique-sizes", _clique_sizes(runs)


def _times(title: str, runs: Sequence[ConvergenceRun]) -> Figure:
    """Seconds to convergence by number of nodes: a mark for each run, a line through the medians."""
    there = [protocol for protocol in PROTOCOLS if any(run.point.protocol is protocol for run in runs)]
    shift = {protocol: 1 + 0.025 * (place - (len(there) - 1) / 2) for place, protocol in enumerate(there)}
    return _convergence(title, runs, "nodes", lambda point: point.nodes, shift)


def _clique_sizes(runs: Sequence[ConvergenceRun]) -> Figure:
    """Seconds to convergence by clique size, for the number of nodes with the most sizes."""
    sizes = {run.point.nodes: set[int]() for run in runs}
    for run in runs:
        sizes[run.point.nodes].add(run.point.clique_size)
    nodes = max(sizes, key=lambda count: (len(sizes[count]), count))
    own = [run for run in runs if run.point.nodes == nodes]
    title = f"Convergence over clique size, {nodes:,} nodes"
    return _convergence(title, own, "daemons of a clique", lambda point: point.clique_size, dict.fromkeys(PROTOCOLS, 1))


def _convergence(
    title: str,
    runs: Sequence[ConvergenceRun],
    label: str,
    along: Callable[[ConvergenceRunParameters], int],
    shift: dict[RegistrationProtocol, float],
) -> Figure:
    """Seconds to convergence; marks of protocols are shifted by a factor, so that all of them show."""
    figure, axes = plot_figure_with_caption(title, runs)
    for run in runs:
        place, colour = along(run.point) * shift[run.point.protocol], PROTOCOLS[run.point.protocol].colour
        if run.outcome is ConvergenceRunOutcome.CONVERGED:
            seconds, mark = run.seconds_to_convergence, MARKS[run.world]
            axes.plot(place, seconds, mark, color=colour, markersize=4, alpha=0.55, mew=0, zorder=3)
        elif run.outcome is ConvergenceRunOutcome.CENSORED:
            axes.plot(place, run.point.run_limit_s, "^", mfc="none", mec=colour, markersize=7, zorder=4)
        else:
            axes.plot(place, run.point.run_limit_s, "x", color=colour, markersize=7, zorder=4)
    _medians(axes, runs, lambda group: group.seconds_to_convergence, along)
    add_axes_and_legend(axes, runs, "seconds until all are Ready", _outcome_handles(runs), label, along)
    return figure


def _outcome_handles(runs: Sequence[ConvergenceRun]) -> Iterator[Line2D]:
    outcomes = {run.outcome for run in runs}
    yield Line2D([], [], color=GREY, marker=MARKS[runs[0].world], linewidth=0, markersize=4, label="a run")
    if ConvergenceRunOutcome.CENSORED in outcomes:
        yield Line2D([], [], mec=GREY, mfc="none", marker="^", linewidth=0, label="not converged at its limit")
    if ConvergenceRunOutcome.NOT_STORABLE in outcomes:
        yield Line2D([], [], color=GREY, marker="x", linewidth=0, label="not storable: object above 1.5 MiB")


def _counts(title: str, words: str, runs: Sequence[ConvergenceRun], count: Callable[[ConvergenceRun], float]) -> Figure:
    """A count by number of nodes: a mark for each run, a line through the medians, and 0 at the bottom."""
    figure, axes = plot_figure_with_caption(title, runs)
    _marks(axes, runs, lambda run: max(count(run), _NONE), alpha=0.55)
    _medians(axes, runs, lambda group: max(group.median_of_runs(count) or 0.0, _NONE))
    add_axes_and_legend(axes, runs, words)
    axes.set_ylim(bottom=0.4)
    ticks = [tick for tick in axes.get_yticks() if 1 <= tick <= axes.get_ylim()[1]]
    axes.set_yticks([_NONE, *ticks], ["0", *map(short_number, ticks)])
    return figure


def _bytes(runs: Sequence[ConvergenceRun]) -> Figure:
    """Megabytes of all watches, with the expected values in closed form."""
    figure, axes = plot_figure_with_caption("Bytes over the watches of all daemons", runs)
    _marks(axes, runs, lambda run: run.watch_bytes / 1e6)
    nodes, size = sorted({run.point.nodes for run in runs}), runs[0].point.clique_size
    for protocol in dict.fromkeys(run.point.protocol for run in runs):
        line = [expected_watch_bytes(protocol, count, size) / 1e6 for count in nodes]
        axes.plot(nodes, line, color=PROTOCOLS[protocol].colour, linestyle=":", linewidth=1.5)
    mark = Line2D([], [], color=GREY, marker="o", linewidth=0, markersize=4, label="a run")
    closed = Line2D([], [], color=GREY, linestyle=":", label="closed form: all watch before the first write")
    add_axes_and_legend(axes, runs, "MB in a run", (mark, closed))
    return figure


def _processor(runs: Sequence[ConvergenceRun]) -> Figure:
    figure, axes = plot_figure_with_caption("Processor time of API server and store", runs)
    _marks(axes, runs, lambda run: run.cpu_server_s + run.cpu_store_s)
    _medians(axes, runs, lambda group: group.median_of_runs(lambda run: run.cpu_server_s + run.cpu_store_s))
    add_axes_and_legend(axes, runs, "processor seconds in a run")
    return figure


def _views(runs: Sequence[ConvergenceRun]) -> Figure:
    """The share of daemons that have observed their whole clique over time, for one number of nodes."""
    counts = {run.point.nodes for run in runs}
    nodes = _SPREAD if _SPREAD in counts else min(counts, key=lambda count: abs(count - _SPREAD))
    own = [run for run in runs if run.point.nodes == nodes]
    title = f"When do daemons know their whole clique? {nodes:,} nodes, a line for each run"
    figure, axes = plot_figure_with_caption(title, own)
    for run in own:
        shares = [100 * (number + 1) / nodes for number in range(len(run.t_views_s))]
        colour, line = PROTOCOLS[run.point.protocol].colour, convergence_line_style(run.world, own)
        axes.step(run.t_views_s, shares, where="post", color=colour, linestyle=line, alpha=0.8, linewidth=1.3)
    axes.set_xscale("log")
    set_few_ticks(axes.xaxis)
    axes.set_xlabel("seconds since the domain was created")
    axes.set_ylabel("% of daemons")
    axes.set_ylim(0, 138)  # the legend stands above the lines
    axes.set_yticks(range(0, 101, 20))
    axes.grid(axis="y", color=PALE, linewidth=0.7)
    add_convergence_legend(axes, own)
    return figure


def _marks(
    axes: Axes, runs: Iterable[ConvergenceRun], height: Callable[[ConvergenceRun], float], alpha: float | None = None
) -> None:
    for run in runs:
        colour, mark = PROTOCOLS[run.point.protocol].colour, MARKS[run.world]
        axes.plot(run.point.nodes, height(run), mark, color=colour, markersize=4, alpha=alpha, mew=0)


def _medians(
    axes: Axes,
    runs: Sequence[ConvergenceRun],
    value: Callable[[ConvergenceRunGroup], float | None],
    along: Callable[[ConvergenceRunParameters], int] = lambda point: point.nodes,
) -> None:
    """Draw a line for each protocol of each world, which ends where there is no median."""
    curves: dict[tuple[str, RegistrationProtocol], list[tuple[int, float]]] = {}
    for group in group_convergence_runs(runs):
        found = value(group)
        if found is not None and not isinf(found):
            curves.setdefault((group.world, group.point.protocol), []).append((along(group.point), found))
    for (world, protocol), places in curves.items():
        style, line = PROTOCOLS[protocol], convergence_line_style(world, runs)
        axes.plot(*zip(*places, strict=True), color=style.colour, linestyle=line, linewidth=style.width, zorder=2)
