"""Metrics of the webhooks, under the names of controller-runtime where it has one for the same thing."""

from collections.abc import Callable
from typing import Final

from grove_shell.operator.metrics import REQUESTS, ProcessMetrics

_BUCKETS: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)


class WebhookMetrics(ProcessMetrics):
    """The metrics of one process; it counts reviews and requests."""

    def __init__(self, expires: Callable[[], float]) -> None:
        """Begin at zero; ``expires`` returns when the certificate expires, in seconds since 1970."""
        super().__init__()
        self._responses = self._count("controller_runtime_webhook_requests_total", "Answers.", "webhook", "code")
        latency = "controller_runtime_webhook_latency_seconds"
        self._latency = self._time(latency, "Time to answer.", "webhook", _BUCKETS)
        self._verdicts = self._count("grove_admission_reviews_total", "Reviews.", "webhook", "operation", "verdict")
        self._requests = self._count(*REQUESTS)
        name = "grove_webhook_certificate_expiry_timestamp_seconds"
        self._gauge(name, "When the certificate ends; 0 for none.").set_function(expires)

    def count_response(self, webhook: str, code: int, seconds: float) -> None:
        """Count a response, with its HTTP status and its time in seconds."""
        self._responses.labels(webhook, str(code)).inc()
        self._latency.labels(webhook).observe(seconds)

    def count_review(self, webhook: str, operation: str, verdict: str) -> None:
        """Count a review by verdict: ``allowed``, ``patched`` or ``refused``."""
        self._verdicts.labels(webhook, operation, verdict).inc()
