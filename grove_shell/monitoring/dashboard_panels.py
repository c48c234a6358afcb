"""Panels of a Grafana dashboard: one for each metric by its type, and single numbers (AL-011)."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from grove_shell.monitoring.metric_descriptions import MetricDescription

Json = dict[str, Any]
DATASOURCE: Final[Json] = {"type": "prometheus", "uid": "${datasource}"}
WIDTH: Final = 24
"""Columns of a dashboard."""
_PANEL: Final = (8, 7)
"""Width and height of the panel of a metric; three are in a row."""
_STAT: Final = (4, 4)
_TIMESTAMP: Final = "_timestamp_seconds"
_OF_SETS: Final = ("namespace", "set")
_RARE: Final = ("grove_gang_", "grove_predictions_", "controller_runtime_reconcile_errors_")
"""How the names of counters begin that are shown as numbers of events, not as a rate."""
_QUANTILES: Final = (("0.5", "median"), ("0.99", "99 %"))


def promql_label_matchers(labels: Iterable[str]) -> str:
    """Return the label matchers of a metric: the chosen job, and for metrics of sets the chosen sets."""
    of_set = set(_OF_SETS) <= set(labels)
    names = ("job", *_OF_SETS) if of_set else ("job",)
    return ", ".join(f'{name}=~"${name}"' for name in names)


def metric_panel(metric: MetricDescription) -> Json:
    """Return the panel of a metric: the rate of a counter, the value of a gauge, quantiles of a histogram."""
    targets, unit = _targets_and_unit(metric)
    return {
        "type": "timeseries",
        "title": metric.name,
        "description": metric.meaning,
        "datasource": DATASOURCE,
        "gridPos": dict(zip("wh", _PANEL, strict=True)),
        "fieldConfig": {
            "defaults": {"unit": unit, "custom": {"fillOpacity": 10, "showPoints": "auto"}},
            "overrides": [],
        },
        "options": {
            "legend": {"displayMode": "list", "placement": "bottom", "showLegend": True},
            "tooltip": {"mode": "multi", "sort": "desc"},
        },
        "targets": [_target(number, expression, legend) for number, (expression, legend) in enumerate(targets)],
    }


def stat_panel(title: str, meaning: str, expression: str, unit: str, steps: Mapping[str, float | None]) -> Json:
    """Return a panel with one number.

    Args:
        title, meaning: of the panel.
        expression: one time series, or none.
        unit: as Grafana names it.
        steps: the lowest value of each colour; None for no limit.
    """
    thresholds = {
        "mode": "absolute",
        "steps": [{"color": color, "value": value} for color, value in steps.items()],
    }
    return {
        "type": "stat",
        "title": title,
        "description": meaning,
        "datasource": DATASOURCE,
        "gridPos": dict(zip("wh", _STAT, strict=True)),
        "fieldConfig": {"defaults": {"unit": unit, "noValue": "none", "thresholds": thresholds}, "overrides": []},
        "options": {
            "colorMode": "value",
            "graphMode": "none",
            "reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False},
        },
        "targets": [_target(0, expression, title)],
    }


def row_panel(title: str) -> Json:
    """Return the heading of a row."""
    return {"type": "row", "title": title, "collapsed": False, "gridPos": {"w": WIDTH, "h": 1}, "panels": []}


def _target(number: int, expression: str, legend: str) -> Json:
    return {
        "refId": chr(ord("A") + number),
        "datasource": DATASOURCE,
        "expr": expression,
        "legendFormat": legend,
        "range": True,
        "instant": False,
    }


def _targets_and_unit(metric: MetricDescription) -> tuple[list[tuple[str, str]], str]:
    """Return the expressions of a metric, each with its legend, and the unit."""
    by = f"by ({', '.join(metric.labels)}) " if metric.labels else ""
    legend = " ".join(f"{{{{{label}}}}}" for label in metric.labels) or metric.name
    chosen = f"{{{promql_label_matchers(metric.labels)}}}"
    match metric.kind:
        case "counter" if metric.name.startswith(_RARE):
            return [(f"sum {by}(increase({metric.name}{chosen}[$__rate_interval]))", legend)], "short"
        case "counter":
            return [(f"sum {by}(rate({metric.name}{chosen}[$__rate_interval]))", legend)], "ops"
        case "histogram":
            grouped = ", ".join((*metric.labels, "le"))
            rate = f"sum by ({grouped}) (rate({metric.name}_bucket{chosen}[$__rate_interval]))"
            return [(f"histogram_quantile({share}, {rate})", f"{legend} {word}") for share, word in _QUANTILES], "s"
        case _ if metric.name.endswith(_TIMESTAMP):
            return [(f"(max {by}({metric.name}{chosen}) > 0) - time()", f"{legend} from now")], "s"
        case _:
            return [(f"max {by}({metric.name}{chosen})", legend)], "short"
