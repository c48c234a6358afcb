"""The JSON document of runs, with quantiles instead of the times of every daemon."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, Final

from pydantic.alias_generators import to_camel

from grove_core.version import VERSION
from grove_shell.converge.points import Point
from grove_shell.converge.runs import Run
from grove_shell.converge.schedule import CurveName

FORMAT_VERSION: Final = "1.0"
_SHARES: Final = (0.5, 0.99, 1.0)
_SHOWN_SEPARATELY: Final = frozenset({"protocol", "outcome", "point", "t_views_s"})


def runs_as_json(runs: Sequence[Run], stopped: Mapping[CurveName, int]) -> dict[str, Any]:
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


def _as_json(run: Run) -> dict[str, Any]:
    return {
        "world": run.world,
        "outcome": run.outcome.value,
        "point": {"protocol": run.point.protocol.short_name, **_fields_of(run.point, Point)},
        **{key: value for key, value in _fields_of(run, Run).items() if key != "world"},
        **{f"tViewP{share * 100:g}S": run.t_view_s(share) for share in _SHARES},
    }


def _fields_of(value: Point | Run, kind: type[Point | Run]) -> dict[str, Any]:
    names = [field.name for field in fields(kind) if field.name not in _SHOWN_SEPARATELY]
    return {to_camel(name): getattr(value, name) for name in names}
