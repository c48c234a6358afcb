"""The page of metrics, from the registries of the operator and the webhooks."""

from collections.abc import Iterator

from prometheus_client import CollectorRegistry

from docs.generator.markdown import code, prose, table
from grove_shell.operator.metrics import OperatorMetrics as OfOperator
from grove_shell.operator.prediction_check import PredictionOutcome
from grove_shell.webhooks.admission_server import WebhookMetrics as OfWebhooks


def metrics_page() -> str:
    """Return the page of all metrics."""
    scores = ", ".join(code(score.value) for score in PredictionOutcome)
    return "\n".join(
        (
            "# Metrics\n",
            "Served at `/metrics` on `serving.port`, 8080 unless [configured](configuration.md) otherwise. Where",
            "controller-runtime has a metric for the same thing, its name is used, so that dashboards work.\n",
            "## grove operator\n",
            table(("metric", "type", "labels", "meaning"), metrics_of(OfOperator().registry)),
            f"`outcome` of `grove_predictions_total` is one of {scores}; see",
            "[run in shadow mode](../how-to/run-in-shadow-mode.md).\n",
            "## grove webhooks\n",
            table(("metric", "type", "labels", "meaning"), metrics_of(OfWebhooks(lambda: 0.0).registry)),
        )
    )


def metrics_of(registry: CollectorRegistry) -> Iterator[tuple[str, str, str, str]]:
    """A row for each metric, with the name under which it is read."""
    for collector in tuple(registry._collector_to_names):  # noqa: SLF001 - a metric without samples shows no labels
        labels = ", ".join(code(label) for label in collector._labelnames)  # type: ignore[attr-defined]  # noqa: SLF001 - as above
        for metric in collector.describe():  # type: ignore[attr-defined]  # collectors have it; the type that the registry promises has not
            name = f"{metric.name}_total" if metric.type == "counter" else metric.name
            yield code(name), metric.type, labels or "-", prose(metric.documentation)
