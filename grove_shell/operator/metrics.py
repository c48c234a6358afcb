"""The base of every process's metrics: a registry, and the requests to the API server."""

from collections.abc import Sequence
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics, generate_latest

REQUESTS: Final = ("rest_client_requests_total", "Requests by status of the response.", "code", "method")


class ProcessMetrics:
    """The metrics of one process."""

    _requests: Counter

    def __init__(self) -> None:
        """Start without a metric."""
        disable_created_metrics()  # type: ignore[no-untyped-call]  # the library has no types for it
        self.registry = CollectorRegistry()

    def _count(self, name: str, words: str, *labels: str) -> Counter:
        return Counter(name, words, labels, registry=self.registry)

    def _gauge(self, name: str, words: str, *labels: str) -> Gauge:
        return Gauge(name, words, labels, registry=self.registry)

    def _time(self, name: str, words: str, label: str, buckets: Sequence[float]) -> Histogram:
        return Histogram(name, words, [label], buckets=buckets, registry=self.registry)

    def count_request(self, method: str, status: int) -> None:
        """Count a request to the API server; ``status`` is that of the response, 0 without one."""
        self._requests.labels(str(status) if status else "<error>", method).inc()

    def render(self) -> bytes:
        """Return the metrics in the text format of Prometheus."""
        return generate_latest(self.registry)
