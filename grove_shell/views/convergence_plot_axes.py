"""Common elements of the pictures: colours of protocols, marks of worlds, axes and legends."""

from collections.abc import Iterable, Sequence
from textwrap import wrap
from typing import Any, Final, Literal

from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from grove_core.areas.domain_cliques.registration_protocols import RegistrationProtocol
from grove_shell.converge.run_parameters_and_results import ConvergenceRun, run_parameter_caption_lines

COLOURS: Final = {
    RegistrationProtocol.RMW: "#b35900",
    RegistrationProtocol.SSA: "#c2255c",
    RegistrationProtocol.SHARDED: "#0b7285",
    RegistrationProtocol.SHARDED_RMW: "#5f3dc4",
}
WIDTHS: Final = {
    RegistrationProtocol.RMW: 2.6,
    RegistrationProtocol.SSA: 2.2,
    RegistrationProtocol.SHARDED: 2.4,
    RegistrationProtocol.SHARDED_RMW: 1.3,
}
"""Different widths, so that a line below another still shows."""
PROTOCOL_NAMES: Final = {
    RegistrationProtocol.RMW: "rmw: one object, read-modify-write",
    RegistrationProtocol.SSA: "ssa: one object, server-side apply",
    RegistrationProtocol.SHARDED: "sharded: object per clique, server-side apply",
    RegistrationProtocol.SHARDED_RMW: "sharded-rmw: object per clique, read-modify-write",
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
_INK: Final = "#656d76"
_WIDTH: Final = 8.6
_HEIGHT: Final = 4.9
_LINE: Final = 0.155
_CHARACTERS: Final = 166
_KILO: Final = 1_000


def figure_with_caption(title: str, runs: Sequence[ConvergenceRun]) -> tuple[Figure, Axes]:
    """Return a figure with its title above and a caption of the runs below (CV-050)."""
    lines = [part for line in run_parameter_caption_lines(runs) for part in wrap(line, _CHARACTERS)]
    foot = _LINE * (len(lines) + 1)
    inches = _HEIGHT + foot
    figure = Figure(figsize=(_WIDTH, inches), layout=None)
    axes = figure.add_axes((0.085, (foot + 0.55) / inches, 0.895, (_HEIGHT - 1.0) / inches))
    axes.set_title(title, pad=12)
    for number, line in enumerate(lines):
        figure.text(0.012, (foot - _LINE * (number + 1)) / inches, line, fontsize=7.5, color=_INK)
    return figure, axes


def set_logarithmic_node_axis(axes: Axes, nodes: Iterable[int], label: str = "nodes") -> None:
    """Make the x axis logarithmic, with a tick for each number of nodes."""
    found = sorted(set(nodes))
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(NullLocator())
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticks(found, [f"{one:,}" for one in found])
    axes.set_xlim(found[0] / 1.25, found[-1] * 1.25)
    axes.set_xlabel(label)


def set_logarithmic_value_axis(axes: Axes, label: str) -> None:
    """Make the y axis logarithmic, with plain numbers."""
    axes.set_yscale("log")
    _few_ticks(axes.yaxis)
    axes.set_ylabel(label)
    axes.grid(axis="y", color="#e6e9ed", linewidth=0.7)
    axes.set_axisbelow(True)


def set_logarithmic_time_axis(axes: Axes, label: str) -> None:
    """Make the x axis logarithmic, in seconds."""
    axes.set_xscale("log")
    _few_ticks(axes.xaxis)
    axes.set_xlabel(label)


def _few_ticks(axis: Axis) -> None:
    axis.set_major_locator(LogLocator(10, subs=(1.0, 2.0, 5.0), numticks=12))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: short_number(value)))


def short_number(value: float) -> str:
    """Return a number with a suffix for thousands, millions and so on."""
    for letter in ("", "k", "M", "G", "T"):
        if abs(value) < _KILO:
            return f"{value:g}{letter}"
        value /= _KILO
    return f"{value:g}P"


def convergence_line_style(world: str, runs: Iterable[ConvergenceRun]) -> Literal["-", "--"]:
    """Return a solid line; a dashed one for the model if there are measured runs too."""
    return "--" if world == "model" and any(run.world != world for run in runs) else "-"


def add_convergence_legend(
    axes: Axes,
    runs: Iterable[ConvergenceRun],
    more: Iterable[Line2D] = (),
) -> None:
    """Add a legend with each protocol, and with each world if there are two."""
    found = list(runs)
    protocols = [one for one in RegistrationProtocol if any(run.point.protocol is one for run in found)]
    worlds = list(dict.fromkeys(run.world for run in found))
    handles = [Line2D([], [], color=COLOURS[one], linewidth=2, label=PROTOCOL_NAMES[one]) for one in protocols]
    if len(worlds) > 1:
        handles += [
            Line2D(
                [],
                [],
                color=_INK,
                linestyle=convergence_line_style(one, found),
                marker=MARKS[one],
                markersize=5,
                label=f"{one}: median",
            )
            for one in worlds
        ]
    shown = [*handles, *more]
    axes.legend(handles=shown, loc="best", framealpha=0.9, edgecolor="white", fontsize=8.5, handlelength=1.8)
