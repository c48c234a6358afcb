"""The page of metrics, from the registries of the operator and the webhooks."""

from collections.abc import Iterable, Iterator

from docs.generator.markdown import code, prose, table
from grove_shell.monitoring.metric_descriptions import (
    MetricDescription,
    operator_metric_descriptions,
    webhook_metric_descriptions,
)
from grove_shell.operator.prediction_check import PredictionOutcome


def metrics_page() -> str:
    """Return the page of all metrics."""
    scores = ", ".join(code(score.value) for score in PredictionOutcome)
    return "\n".join(
        (
            "# Metrics\n",
            "Served at `/metrics` on `serving.port`, 8080 unless [configured](configuration.md) otherwise. Where",
            "controller-runtime has a metric for the same thing, its name is used, so that dashboards work.",
            "Alert rules and a dashboard are made from them:",
            "[Alerts and a dashboard](../how-to/watch-with-prometheus.md).\n",
            "## grove operator\n",
            table(("metric", "type", "labels", "meaning"), metrics_of(operator_metric_descriptions())),
            f"`outcome` of `grove_predictions_total` is one of {scores}; see",
            "[run in shadow mode](../how-to/run-in-shadow-mode.md).\n",
            "## grove webhooks\n",
            table(("metric", "type", "labels", "meaning"), metrics_of(webhook_metric_descriptions())),
        )
    )


def metrics_of(metrics: Iterable[MetricDescription]) -> Iterator[tuple[str, str, str, str]]:
    """A row for each metric, with the name under which it is read."""
    for metric in metrics:
        labels = ", ".join(map(code, metric.labels))
        yield code(metric.name), metric.kind, labels or "-", prose(metric.meaning)
