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

from grove_core.areas.domain_cliques.registration_protocols import NODES_PER_RACK, RegistrationProtocol
from grove_shell.converge.model.server_costs import expected_watch_bytes
from grove_shell.converge.run_parameters_and_results import ConvergenceRun, RunGroup, RunOutcome, group_runs
from grove_shell.views.convergence_plot_axes import (
    COLOURS,
    MARKS,
    PROTOCOL_NAMES,
    STYLE,
    WIDTHS,
    add_convergence_legend,
    convergence_line_style,
    figure_with_caption,
    set_logarithmic_node_axis,
    set_logarithmic_time_axis,
    set_logarithmic_value_axis,
    short_number,
)

_FORMATS: Final = ("png", "svg")
_SPREAD: Final = 144
_NONE: Final = 0.5
"""The place of 0 on a logarithmic axis."""
_GREY: Final = "#656d76"


def draw_convergence_plots(runs: Sequence[ConvergenceRun], folder: Path) -> Iterator[str]:
    """Draw every picture that these runs allow, as PNG and SVG; yield the file names."""
    with mpl.rc_context(STYLE):
        for name, figure in _figures(runs):
            for form in _FORMATS:
                metadata = {"Date": None, "Creator": "grove"} if form == "svg" else {"Software": "grove"}
                figure.savefig(folder / f"{name}.{form}", dpi=144, metadata=metadata, facecolor="white")
                yield f"{name}.{form}"


def _figures(runs: Sequence[ConvergenceRun]) -> Iterator[tuple[str, Figure]]:
    main = _main_size(runs)
    shown = [run for run in runs if run.point.clique_size == main]
    yield "convergence", _times("Convergence of a ComputeDomain", shown)
    for protocol in RegistrationProtocol:
        own = [run for run in shown if run.point.protocol is protocol]
        if own:
            yield f"convergence-{protocol.short_name}", _times(f"Convergence, {PROTOCOL_NAMES[protocol]}", own)
    stored = [run for run in shown if run.outcome is not RunOutcome.NOT_STORABLE]
    if not stored:
        return
    conflicts = "Conflicts (409) that clients retry"
    yield "conflicts", _counts(conflicts, "responses 409 in a run", stored, lambda run: run.conflicts)
    lost = "Compare-and-swap conflicts retried inside the server"
    yield "comparisons", _counts(lost, "conflicts in a run", stored, lambda run: run.cas_failures)
    yield "watch-bytes", _bytes(stored)
    yield "processor", _processor(stored)
    yield "views", _views(stored)
    if len({run.point.clique_size for run in runs}) > 1:
        yield "clique-sizes", _clique_sizes(runs)


def _main_size(runs: Iterable[ConvergenceRun]) -> int:
    """The clique size of most pictures: that of a rack if there are such runs, else the smallest."""
    sizes = {run.point.clique_size for run in runs}
    return NODES_PER_RACK if NODES_PER_RACK in sizes else min(sizes)


def _times(title: str, runs: Sequence[ConvergenceRun]) -> Figure:
    """Seconds to convergence by number of nodes: a mark for each run, a line through the medians."""
    figure, axes = figure_with_caption(title, runs)
    there = [protocol for protocol in RegistrationProtocol if any(run.point.protocol is protocol for run in runs)]
    shift = {protocol: 1 + 0.025 * (place - (len(there) - 1) / 2) for place, protocol in enumerate(there)}
    _marks(axes, runs, lambda run: run.point.nodes * shift[run.point.protocol])
    _medians(axes, runs, lambda group: group.seconds_to_convergence)
    set_logarithmic_node_axis(axes, (run.point.nodes for run in runs))
    set_logarithmic_value_axis(axes, "seconds until all are Ready")
    add_convergence_legend(axes, runs, _outcome_handles(runs))
    return figure


def _marks(axes: Axes, runs: Sequence[ConvergenceRun], place: Callable[[ConvergenceRun], float]) -> None:
    for run in runs:
        colour, limit = COLOURS[run.point.protocol], run.point.run_limit_s
        if run.outcome is RunOutcome.CONVERGED:
            axes.plot(
                place(run),
                run.seconds_to_convergence,
                MARKS[run.world],
                color=colour,
                markersize=4,
                alpha=0.55,
                mew=0,
                zorder=3,
            )
        elif run.outcome is RunOutcome.CENSORED:
            axes.plot(place(run), limit, "^", mfc="none", mec=colour, markersize=7, zorder=4)
        else:
            axes.plot(place(run), limit, "x", color=colour, markersize=7, zorder=4)


def _outcome_handles(runs: Sequence[ConvergenceRun]) -> Iterator[Line2D]:
    outcomes = {run.outcome for run in runs}
    yield Line2D([], [], color=_GREY, marker=MARKS[runs[0].world], linewidth=0, markersize=4, label="a run")
    if RunOutcome.CENSORED in outcomes:
        yield Line2D([], [], mec=_GREY, mfc="none", marker="^", linewidth=0, label="not converged at its limit")
    if RunOutcome.NOT_STORABLE in outcomes:
        yield Line2D([], [], color=_GREY, marker="x", linewidth=0, label="not storable: object above 1.5 MiB")


def _nodes_of(group: RunGroup) -> int:
    return group.point.nodes


def _medians(
    axes: Axes,
    runs: Sequence[ConvergenceRun],
    value: Callable[[RunGroup], float | None],
    *,
    along: Callable[[RunGroup], int] = _nodes_of,
) -> None:
    """Draw a line for each protocol of each world, which ends where there is no median."""
    curves: dict[tuple[str, RegistrationProtocol], list[tuple[int, float]]] = {}
    for group in group_runs(runs):
        found = value(group)
        if found is not None and not isinf(found):
            curves.setdefault((group.world, group.point.protocol), []).append((along(group), found))
    for (world, protocol), places in curves.items():
        axes.plot(
            [place for place, _ in places],
            [found for _, found in places],
            color=COLOURS[protocol],
            linestyle=convergence_line_style(world, runs),
            linewidth=WIDTHS[protocol],
            zorder=2,
        )


def _counts(title: str, words: str, runs: Sequence[ConvergenceRun], count: Callable[[ConvergenceRun], float]) -> Figure:
    """A count by number of nodes: a mark for each run, a line through the medians, and 0 at the bottom."""
    figure, axes = figure_with_caption(title, runs)
    for run in runs:
        height, colour = max(count(run), _NONE), COLOURS[run.point.protocol]
        axes.plot(run.point.nodes, height, MARKS[run.world], color=colour, markersize=4, alpha=0.55, mew=0)
    _medians(axes, runs, lambda group: max(group.median_of(count) or 0.0, _NONE))
    set_logarithmic_node_axis(axes, (run.point.nodes for run in runs))
    set_logarithmic_value_axis(axes, words)
    axes.set_ylim(bottom=0.4)
    ticks = [tick for tick in axes.get_yticks() if 1 <= tick <= axes.get_ylim()[1]]
    axes.set_yticks([_NONE, *ticks], ["0", *map(short_number, ticks)])
    add_convergence_legend(axes, runs)
    return figure


def _bytes(runs: Sequence[ConvergenceRun]) -> Figure:
    """Megabytes of all watches, with the expected values in closed form."""
    figure, axes = figure_with_caption("Bytes over the watches of all daemons", runs)
    for run in runs:
        height = run.watch_bytes / 1e6
        axes.plot(run.point.nodes, height, MARKS[run.world], color=COLOURS[run.point.protocol], markersize=4, mew=0)
    nodes = sorted({run.point.nodes for run in runs})
    for protocol in {run.point.protocol for run in runs}:
        size = runs[0].point.clique_size
        line = [expected_watch_bytes(protocol, count, size) / 1e6 for count in nodes]
        axes.plot(nodes, line, color=COLOURS[protocol], linestyle=":", linewidth=1.5)
    set_logarithmic_node_axis(axes, nodes)
    set_logarithmic_value_axis(axes, "MB in a run")
    closed = Line2D([], [], color=_GREY, linestyle=":", label="closed form: all watch before the first write")
    add_convergence_legend(
        axes, runs, [Line2D([], [], color=_GREY, marker="o", linewidth=0, markersize=4, label="a run"), closed]
    )
    return figure


def _processor(runs: Sequence[ConvergenceRun]) -> Figure:
    figure, axes = figure_with_caption("Processor time of API server and store", runs)
    for run in runs:
        spent = run.cpu_server_s + run.cpu_store_s
        axes.plot(run.point.nodes, spent, MARKS[run.world], color=COLOURS[run.point.protocol], markersize=4, mew=0)
    _medians(axes, runs, lambda group: group.median_of(lambda run: run.cpu_server_s + run.cpu_store_s))
    set_logarithmic_node_axis(axes, (run.point.nodes for run in runs))
    set_logarithmic_value_axis(axes, "processor seconds in a run")
    add_convergence_legend(axes, runs)
    return figure


def _views(runs: Sequence[ConvergenceRun]) -> Figure:
    """The share of daemons that have observed their whole clique over time, for one number of nodes."""
    counts = {run.point.nodes for run in runs}
    nodes = _SPREAD if _SPREAD in counts else min(counts, key=lambda count: abs(count - _SPREAD))
    own = [run for run in runs if run.point.nodes == nodes]
    figure, axes = figure_with_caption(
        f"When do daemons know their whole clique? {nodes:,} nodes, a line for each run", own
    )
    for run in own:
        shares = [100 * (number + 1) / nodes for number in range(len(run.t_views_s))]
        colour = COLOURS[run.point.protocol]
        axes.step(
            run.t_views_s,
            shares,
            where="post",
            color=colour,
            linestyle=convergence_line_style(run.world, own),
            alpha=0.8,
            linewidth=1.3,
        )
    set_logarithmic_time_axis(axes, "seconds since the domain was created")
    axes.set_ylabel("% of daemons")
    axes.set_ylim(0, 138)  # the legend stands above the lines
    axes.set_yticks(range(0, 101, 20))
    axes.grid(axis="y", color="#e6e9ed", linewidth=0.7)
    add_convergence_legend(axes, own)
    return figure


def _clique_sizes(runs: Sequence[ConvergenceRun]) -> Figure:
    """Seconds to convergence by clique size, for the number of nodes with the most sizes."""
    sizes = {run.point.nodes: set[int]() for run in runs}
    for run in runs:
        sizes[run.point.nodes].add(run.point.clique_size)
    nodes = max(sizes, key=lambda count: (len(sizes[count]), count))
    own = [run for run in runs if run.point.nodes == nodes]
    figure, axes = figure_with_caption(f"Convergence over clique size, {nodes:,} nodes", own)
    _marks(axes, own, lambda run: run.point.clique_size)
    _medians(axes, own, lambda group: group.seconds_to_convergence, along=lambda group: group.point.clique_size)
    set_logarithmic_node_axis(axes, (run.point.clique_size for run in own), "daemons of a clique")
    set_logarithmic_value_axis(axes, "seconds until all are Ready")
    add_convergence_legend(axes, own, _outcome_handles(own))
    return figure
