"""Metrics of the webhooks, under the names of controller-runtime where it has one for the same thing."""

from collections.abc import Callable
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics, generate_latest

_BUCKETS: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)


class Telemetry:
    """The metrics of one process; hears of reviews and of requests."""

    def __init__(self, expires: Callable[[], float]) -> None:
        """All at zero; ``expires`` says when the certificate ends, in seconds since 1970."""
        disable_created_metrics()  # type: ignore[no-untyped-call]  # the library has no types for it
        self.registry = CollectorRegistry()
        self._answers = self._count("controller_runtime_webhook_requests_total", "Answers.", "webhook", "code")
        self._latency = Histogram(
            "controller_runtime_webhook_latency_seconds",
            "Time to answer.",
            ["webhook"],
            buckets=_BUCKETS,
            registry=self.registry,
        )
        self._verdicts = self._count("grove_admission_reviews_total", "Reviews.", "webhook", "operation", "verdict")
        self._requests = self._count("rest_client_requests_total", "Requests by answer.", "code", "method")
        name = "grove_webhook_certificate_expiry_timestamp_seconds"
        Gauge(name, "When the certificate ends; 0 for none.", registry=self.registry).set_function(expires)

    def _count(self, name: str, words: str, *labels: str) -> Counter:
        return Counter(name, words, labels, registry=self.registry)

    def requested(self, method: str, status: int) -> None:
        """A request to the API server was answered; 0 for no answer."""
        self._requests.labels(str(status) if status else "<error>", method).inc()

    def answered(self, webhook: str, code: int, seconds: float) -> None:
        """The API server was answered."""
        self._answers.labels(webhook, str(code)).inc()
        self._latency.labels(webhook).observe(seconds)

    def judged(self, webhook: str, operation: str, verdict: str) -> None:
        """A review has a verdict: ``allowed``, ``patched`` or ``refused``."""
        self._verdicts.labels(webhook, operation, verdict).inc()

    def page(self) -> bytes:
        """The metrics as Prometheus reads them."""
        return generate_latest(self.registry)
