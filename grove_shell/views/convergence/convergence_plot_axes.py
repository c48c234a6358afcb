"""Common elements of the pictures: styles of protocols, marks of worlds, axes and legends."""

from collections.abc import Callable, Iterable, Sequence
from textwrap import wrap
from typing import Any, Final, Literal, NamedTuple

from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from grove_core.areas.domain_cliques.daemon.registration_protocols import RegistrationProtocol
from grove_shell.converge.run_parameters_and_results import (
    ConvergenceRun,
    ConvergenceRunParameters,
    run_parameter_caption_lines,
)


class ProtocolPlotStyle(NamedTuple):
    """Colour, width of lines, which differs so that a line below another still shows, and name in legends."""

    colour: str
    width: float
    name: str


PROTOCOLS: Final = {
    RegistrationProtocol.RMW: ProtocolPlotStyle("#b35900", 2.6, "rmw: one object, read-modify-write"),
    RegistrationProtocol.SSA: ProtocolPlotStyle("#c2255c", 2.2, "ssa: one object, server-side apply"),
    RegistrationProtocol.SHARDED: ProtocolPlotStyle("#0b7285", 2.4, "sharded: object per clique, server-side apply"),
    RegistrationProtocol.SHARDED_RMW: ProtocolPlotStyle(
        "#5f3dc4", 1.3, "sharded-rmw: object per clique, read-modify-write"
    ),
}
MARKS: Final = {"model": "o", "cluster": "D"}
STYLE: Final[dict[Any, Any]] = {
    "svg.hashsalt": "grove",
    "svg.fonttype": "none",
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 12,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
}
GREY: Final = "#656d76"
PALE: Final = "#e6e9ed"
_WIDTH: Final = 8.6
_HEIGHT: Final = 4.9
_LINE: Final = 0.155
_CHARACTERS: Final = 166
_KILO: Final = 1_000


def plot_figure_with_caption(title: str, runs: Sequence[ConvergenceRun]) -> tuple[Figure, Axes]:
    """A figure with its title above and a caption of the runs below (CV-021)."""
    lines = [part for line in run_parameter_caption_lines(runs) for part in wrap(line, _CHARACTERS)]
    foot = _LINE * (len(lines) + 1)
    inches = _HEIGHT + foot
    figure = Figure(figsize=(_WIDTH, inches), layout=None)
    axes = figure.add_axes((0.085, (foot + 0.55) / inches, 0.895, (_HEIGHT - 1.0) / inches))
    axes.set_title(title, pad=12)
    for number, line in enumerate(lines):
        figure.text(0.012, (foot - _LINE * (number + 1)) / inches, line, fontsize=7.5, color=GREY)
    return figure, axes


def add_axes_and_legend(
    axes: Axes,
    runs: Sequence[ConvergenceRun],
    unit: str,
    more: Iterable[Line2D] = (),
    label: str = "nodes",
    along: Callable[[ConvergenceRunParameters], int] = lambda point: point.nodes,
) -> None:
    """Make both axes logarithmic, x with a tick for each number that there is, y with plain numbers; add the legend.

    Args:
        unit: label of the y axis.
        more: further lines of the legend.
        label: of the x axis.
        along: returns the x value of a run.
    """
    places = sorted({along(run.point) for run in runs})
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(NullLocator())
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticks(places, [f"{one:,}" for one in places])
    axes.set_xlim(places[0] / 1.25, places[-1] * 1.25)
    axes.set_xlabel(label)
    axes.set_yscale("log")
    set_few_ticks(axes.yaxis)
    axes.set_ylabel(unit)
    axes.grid(axis="y", color=PALE, linewidth=0.7)
    axes.set_axisbelow(True)
    add_convergence_legend(axes, runs, more)


def set_few_ticks(axis: Axis) -> None:
    """Set ticks at 1, 2 and 5 of each power of ten, with short numbers."""
    axis.set_major_locator(LogLocator(10, subs=(1.0, 2.0, 5.0), numticks=12))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: short_number(value)))


def short_number(value: float) -> str:
    """A number with a suffix for thousands, millions and so on."""
    for letter in ("", "k", "M", "G", "T"):
        if abs(value) < _KILO:
            return f"{value:g}{letter}"
        value /= _KILO
    return f"{value:g}P"


def convergence_line_style(world: str, runs: Iterable[ConvergenceRun]) -> Literal["-", "--"]:
    """A solid line; a dashed one for the model if there are measured runs too."""
    return "--" if world == "model" and any(run.world != world for run in runs) else "-"


def add_convergence_legend(axes: Axes, runs: Sequence[ConvergenceRun], more: Iterable[Line2D] = ()) -> None:
    """Add a legend with each protocol, and with each world if there are two."""
    there = [style for one, style in PROTOCOLS.items() if any(run.point.protocol is one for run in runs)]
    worlds = list(dict.fromkeys(run.world for run in runs))
    handles = [Line2D([], [], color=style.colour, linewidth=2, label=style.name) for style in there]
    for one in worlds if len(worlds) > 1 else ():
        line, label = convergence_line_style(one, runs), f"{one}: median"
        handles.append(Line2D([], [], color=GREY, linestyle=line, marker=MARKS[one], markersize=5, label=label))
    shown = [*handles, *more]
    axes.legend(handles=shown, loc="best", framealpha=0.9, edgecolor="white", fontsize=8.5, handlelength=1.8)
