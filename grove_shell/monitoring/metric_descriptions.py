"""The metrics of the operator and the webhooks as data: names, types, labels and meanings (AL-001)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from prometheus_client import CollectorRegistry

from grove_shell.operator.metrics import OperatorMetrics
from grove_shell.webhooks.admission_server import WebhookMetrics

_SAMPLES: Final[Mapping[str, tuple[str, ...]]] = {"histogram": ("_bucket", "_sum", "_count")}


@dataclass(frozen=True, slots=True)
class MetricDescription:
    """One metric.

    Attributes:
        name: the name under which it is read; of a histogram without the suffix of its samples.
        kind: ``counter``, ``gauge`` or ``histogram``.
        labels: the names of its labels, without ``le``.
        meaning: one sentence.
    """

    name: str
    kind: str
    labels: tuple[str, ...]
    meaning: str

    @property
    def sample_labels(self) -> Mapping[str, frozenset[str]]:
        """The labels of each of its time series, by the name of the series."""
        names = frozenset(self.labels)
        suffixes = _SAMPLES.get(self.kind, ("",))
        return {f"{self.name}{end}": names | {"le"} if end == "_bucket" else names for end in suffixes}


def descriptions_of_metrics(registry: CollectorRegistry) -> Iterator[MetricDescription]:
    """Yield the metrics of a registry in the order in which they were added."""
    for collector in tuple(registry._collector_to_names):  # noqa: SLF001 - a metric without samples shows no labels
        labels = tuple(collector._labelnames)  # type: ignore[attr-defined]  # noqa: SLF001 - as above
        for metric in collector.describe():  # type: ignore[attr-defined]  # collectors have it; the type that the registry promises has not
            name = f"{metric.name}_total" if metric.type == "counter" else metric.name
            yield MetricDescription(name, metric.type, labels, metric.documentation)


def operator_metric_descriptions() -> tuple[MetricDescription, ...]:
    """Return the metrics of ``grove operator``."""
    return tuple(descriptions_of_metrics(OperatorMetrics().registry))


def webhook_metric_descriptions() -> tuple[MetricDescription, ...]:
    """Return the metrics of ``grove webhooks``."""
    return tuple(descriptions_of_metrics(WebhookMetrics(lambda: 0.0).registry))
