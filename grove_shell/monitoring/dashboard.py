"""The Grafana dashboard: what counts now, then a panel for each metric of the operator and the webhooks (AL-011)."""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from grove_shell.monitoring.dashboard_panels import (
    DATASOURCE,
    WIDTH,
    metric_panel,
    promql_label_matchers,
    row_panel,
    stat_panel,
)
from grove_shell.monitoring.metric_descriptions import (
    MetricDescription,
    operator_metric_descriptions,
    webhook_metric_descriptions,
)

Json = dict[str, Any]
UID: Final = "grove-operator"
TITLE: Final = "Grove"
SCHEMA_VERSION: Final = 39
"""Of Grafana 10.4 and 11; later ones migrate it when they load it."""
_ROWS: Final = (
    ("Gangs", ("grove_breached", "grove_termination_", "grove_gang_")),
    ("Writes and predictions", ("grove_writes_", "grove_refused_", "grove_predictions_")),
    ("Rounds", ("controller_runtime_reconcile_", "workqueue_", "leader_election_")),
    ("API server", ("rest_client_",)),
)
"""The heading of each row, and how the names of its metrics begin."""
_OTHER: Final = "More of the operator"
_WEBHOOKS: Final = "Webhooks"
_JOBS: Final = (
    '{__name__=~"leader_election_master_status|grove_webhook_certificate_expiry_timestamp_seconds",'
    ' name=~"|grove-operator"}'
)
_GREEN_RED: Final = {"green": None, "red": 1.0}


def grafana_dashboard() -> Json:
    """Return the dashboard as Grafana imports it."""
    panels = list(_placed(_panels(operator_metric_descriptions(), webhook_metric_descriptions())))
    return {
        "uid": UID,
        "title": TITLE,
        "description": "Gangs, writes, rounds and requests of the Grove operator, and admission by its webhooks.",
        "tags": ["grove", "kubernetes"],
        "schemaVersion": SCHEMA_VERSION,
        "editable": True,
        "graphTooltip": 1,
        "refresh": "30s",
        "time": {"from": "now-6h", "to": "now"},
        "timezone": "utc",
        "annotations": {"list": []},
        "links": [],
        "templating": {"list": _variables()},
        "panels": [{"id": number, **panel} for number, panel in enumerate(panels, 1)],
    }


def _variables() -> list[Json]:
    """Return the variables: the data source, the jobs, namespaces and sets."""
    chosen = '{job=~"$job"}'
    in_namespace = '{job=~"$job", namespace=~"$namespace"}'
    datasource = {"name": "datasource", "label": "Data source", "type": "datasource", "query": "prometheus"}
    return [
        datasource,
        _query("job", "Job", f"label_values({_JOBS}, job)"),
        _query("namespace", "Namespace", f"label_values(grove_breached{chosen}, namespace)"),
        _query("set", "PodCliqueSet", f"label_values(grove_breached{in_namespace}, set)"),
    ]


def _query(name: str, label: str, query: str) -> Json:
    every = {} if name == "job" else {"allValue": ".*"}  # all jobs are those of Grove alone (AL-002)
    return {
        "name": name,
        "label": label,
        "type": "query",
        "datasource": DATASOURCE,
        "query": {"query": query, "refId": name},
        "refresh": 2,
        "sort": 1,
        "multi": True,
        "includeAll": True,
        "current": {"text": ["All"], "value": ["$__all"]},
        **every,
    }


def _panels(operator: Iterable[MetricDescription], webhooks: Iterable[MetricDescription]) -> Iterator[Json]:
    yield row_panel("Now")
    yield from _stats()
    left = list(operator)
    known = {metric.name for metric in left}
    for title, beginnings in _ROWS:
        inside = [metric for metric in left if metric.name.startswith(beginnings)]
        left = [metric for metric in left if metric not in inside]
        yield row_panel(title)
        yield from map(metric_panel, inside)
    more = ((_OTHER, left), (_WEBHOOKS, [metric for metric in webhooks if metric.name not in known]))
    for title, inside in more:
        if inside:
            yield row_panel(title)
            yield from map(metric_panel, inside)


def _stats() -> Iterator[Json]:
    of_set, of_job = promql_label_matchers(("namespace", "set")), promql_label_matchers(())
    yield stat_panel(
        "Next termination",
        "Time until the next gang is terminated; negative: it is overdue.",
        f"min(grove_termination_deadline_timestamp_seconds{{{of_set}}} > 0) - time()",
        "s",
        {"red": None, "orange": 600.0, "yellow": 3600.0},
    )
    yield stat_panel(
        "Breached PodCliques and groups",
        "Objects that are below their minimum.",
        f"sum(max by (namespace, set, kind) (grove_breached{{{of_set}}}))",
        "short",
        _GREEN_RED,
    )
    yield stat_panel(
        "Terminated gangs",
        "In the chosen time.",
        f"sum(increase(grove_gang_terminations_total{{{of_job}}}[$__range]))",
        "short",
        _GREEN_RED,
    )
    yield stat_panel(
        "Refused writes",
        "Writes that the API server refuses, and that the plans still have.",
        f"sum(max by (namespace, set) (grove_refused_writes{{{of_set}}}))",
        "short",
        _GREEN_RED,
    )
    yield stat_panel(
        "Work queue",
        "PodCliqueSets and topologies that wait for a round.",
        f'max(workqueue_depth{{name="podcliqueset", {of_job}}})',
        "short",
        {"green": None, "red": 50.0},
    )
    yield stat_panel(
        "Leaders",
        "Operators that lead: one, or none where there is no leader election.",
        f'sum(leader_election_master_status{{name="grove-operator", {of_job}}})',
        "short",
        {"blue": None},
    )


def _placed(panels: Iterable[Json]) -> Iterator[Json]:
    """Yield the panels with their positions: from left to right, and in the next line where one does not fit."""
    left = top = height = 0
    for panel in panels:
        size = panel["gridPos"]
        if left + size["w"] > WIDTH or panel["type"] == "row":
            left, top, height = 0, top + height, 0
        yield {**panel, "gridPos": {**size, "x": left, "y": top}}
        left, height = left + size["w"], max(height, size["h"])
