"""The runs of ``grove converge`` as a table with a line for each protocol and number of nodes, and as JSON (CV-021)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from math import isinf
from typing import Any, Final

from pydantic.alias_generators import to_camel

from grove_core.version import VERSION
from grove_shell.converge.run_parameters_and_results import (
    ConvergenceRun,
    ConvergenceRunGroup,
    ConvergenceRunParameters,
    group_convergence_runs,
    run_parameter_caption_lines,
)
from grove_shell.converge.run_schedule import TOO_SLOW_S, ConvergenceCurveParameters
from grove_shell.styled_text_page import StyledTextPage

_MEGA: Final = 1_000_000
_KILO: Final = 1_000


def _time(seconds: float, group: ConvergenceRunGroup) -> str:
    if not group.fits_object_store:
        return "not storable"
    return f"> {group.point.run_limit_s:g} s" if isinf(seconds) else _seconds(seconds)


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f} s"


def _median(group: ConvergenceRunGroup, value: Callable[[ConvergenceRun], float], form: str = "{:,.0f}") -> str:
    found = group.median_of_runs(value) if group.fits_object_store else None
    return "-" if found is None else form.format(found)


_COLUMNS: Final[tuple[tuple[str, Callable[[ConvergenceRunGroup], str]], ...]] = (
    ("world", lambda group: group.world),
    ("protocol", lambda group: group.point.protocol.short_name),
    ("clique", lambda group: str(group.point.clique_size)),
    ("nodes", lambda group: str(group.point.nodes)),
    ("runs", lambda group: str(len(group.runs))),
    ("T_all", lambda group: _time(group.seconds_to_convergence, group)),
    ("shortest", lambda group: _time(group.shortest_and_longest_seconds[0], group)),
    ("longest", lambda group: _time(group.shortest_and_longest_seconds[1], group)),
    ("view p50", lambda group: _seconds(group.median_of_runs(lambda run: run.seconds_until_share_observed(0.5)))),
    ("view p99", lambda group: _seconds(group.median_of_runs(lambda run: run.seconds_until_share_observed(0.99)))),
    ("T_global", lambda group: _seconds(group.median_of_runs(lambda run: run.t_global_s))),
    ("writes", lambda group: _median(group, lambda run: run.writes)),
    ("409", lambda group: _median(group, lambda run: run.conflicts)),
    ("CAS", lambda group: _median(group, lambda run: run.cas_failures)),
    ("429+504", lambda group: _median(group, lambda run: run.throttled + run.timeouts)),
    ("re-picks", lambda group: _median(group, lambda run: run.repicks)),
    ("events", lambda group: _median(group, lambda run: run.watch_events)),
    ("watched", lambda group: _median(group, lambda run: run.watch_bytes / _MEGA, "{:,.1f} MB")),
    ("CPU", lambda group: _seconds(group.median_of_runs(lambda run: run.cpu_server_s + run.cpu_store_s))),
    ("object", lambda group: _median(group, lambda run: run.object_bytes / _KILO, "{:,.0f} kB")),
)
_LEFT: Final = frozenset({"world", "protocol"})
_OPTIONAL: Final = frozenset({"world", "clique"})


def convergence_table_page(
    runs: Sequence[ConvergenceRun], stopped: dict[ConvergenceCurveParameters, int]
) -> StyledTextPage:
    """Return the table, the curves that ended early, and a caption."""
    page = StyledTextPage()
    groups = group_convergence_runs(runs)
    columns = [(name, [cell(group) for group in groups]) for name, cell in _COLUMNS]
    shown = [(name, cells) for name, cells in columns if name not in _OPTIONAL or len(set(cells)) > 1]
    widths = [max(len(name), *map(len, cells)) for name, cells in shown]
    page.add_line(
        ("  ".join(_aligned(name, width, name) for (name, _), width in zip(shown, widths, strict=True)), "bold")
    )
    for number, group in enumerate(groups):
        line = "  ".join(
            _aligned(name, width, cells[number]) for (name, cells), width in zip(shown, widths, strict=True)
        )
        page.add_line((line, "" if group.fits_object_store and not isinf(group.seconds_to_convergence) else "yellow"))
    page.add_line("")
    for text in (*_ended_curves(stopped), *run_parameter_caption_lines(runs)):
        page.add_line((text, "dim"))
    return page


def _ended_curves(stopped: dict[ConvergenceCurveParameters, int]) -> Iterator[str]:
    for name, nodes in stopped.items():
        yield f"{name.protocol.short_name} ends at {nodes} nodes: its median is above {TOO_SLOW_S:g} s"


def _aligned(name: str, width: int, text: str) -> str:
    return text.ljust(width) if name in _LEFT else text.rjust(width)


FORMAT_VERSION: Final = "1.0"
_SHARES: Final = (0.5, 0.99, 1.0)
_SHOWN_SEPARATELY: Final = frozenset({"protocol", "outcome", "point", "t_views_s"})


def convergence_runs_as_json(
    runs: Sequence[ConvergenceRun], stopped: Mapping[ConvergenceCurveParameters, int]
) -> dict[str, Any]:
    """Return all runs, and the curves that ended early because they were too slow."""
    return {
        "formatVersion": FORMAT_VERSION,
        "coreVersion": VERSION,
        "runs": [_as_json(run) for run in runs],
        "stopped": [
            {"protocol": name.protocol.short_name, "cliqueSize": name.clique_size, "nodes": nodes}
            for name, nodes in stopped.items()
        ],
    }


def _as_json(run: ConvergenceRun) -> dict[str, Any]:
    return {
        "world": run.world,
        "outcome": run.outcome.value,
        "point": {"protocol": run.point.protocol.short_name, **_fields_of(run.point, ConvergenceRunParameters)},
        **{key: value for key, value in _fields_of(run, ConvergenceRun).items() if key != "world"},
        **{f"tViewP{share * 100:g}S": run.seconds_until_share_observed(share) for share in _SHARES},
    }


def _fields_of(
    value: ConvergenceRunParameters | ConvergenceRun, kind: type[ConvergenceRunParameters | ConvergenceRun]
) -> dict[str, Any]:
    names = [field.name for field in fields(kind) if field.name not in _SHOWN_SEPARATELY]
    return {to_camel(name): getattr(value, name) for name in names}
