"""The alerts as rules of Prometheus: expression, duration, labels and annotations (AL-003 to AL-010)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from grove_shell.monitoring.alert_settings import AlertOptions, Value

Json = dict[str, Any]
GROUP: Final = "grove"
OF_GROVE: Final = 'and on (job, instance) leader_election_master_status{name="grove-operator"}'
"""Limits a metric that has a name of controller-runtime to the processes of Grove's operator (AL-002)."""
_SET: Final = "PodCliqueSet {{ $labels.namespace }}/{{ $labels.set }}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """One alert.

    Attributes:
        key: of its values (AL-012).
        name: of the alert and of its runbook page.
        expression: in PromQL; ``%field%`` stands for a value.
        summary, description: annotations, which may have the templates of Prometheus.
    """

    key: str
    name: str
    expression: str
    summary: str
    description: str

    def filled_expression(self, values: Mapping[str, Value]) -> str:
        """Return the expression with the values of this alert."""
        found = self.expression
        for field, value in values.items():
            found = found.replace(f"%{field}%", str(value))
        return found


ALERTS: Final = (
    Alert(
        key="gangTerminationPending",
        name="GroveGangTerminationPending",
        expression=(
            "max by (namespace, set) (grove_termination_deadline_timestamp_seconds > 0) - time() < %withinSeconds%"
        ),
        summary=f"A gang of {_SET} is about to be terminated",
        description=(
            f"A gang of {_SET} is below its minimum, and is due in {{{{ $value | humanizeDuration }}}}"
            " (overdue if negative). See which one: grove plan --live -n {{ $labels.namespace }}"
        ),
    ),
    Alert(
        key="gangTerminated",
        name="GroveGangTerminated",
        expression="time() - max by (namespace, set) (grove_gang_termination_timestamp_seconds > 0) < %withinSeconds%",
        summary=f"A gang of {_SET} was terminated",
        description=(
            f"A gang of {_SET} was terminated {{{{ $value | humanizeDuration }}}} ago, because it was below its"
            " minimum for as long as its delay. See why: kubectl get events -n {{ $labels.namespace }}"
            " --field-selector reason=GangTerminated"
        ),
    ),
    Alert(
        key="writeRefused",
        name="GroveWriteRefused",
        expression="max by (namespace, set) (grove_refused_writes) > 0",
        summary=f"The API server refuses writes for {_SET}",
        description=(
            f"The API server keeps refusing {{{{ $value }}}} writes for {_SET}, so it is not as planned. See the"
            " message: kubectl get events -n {{ $labels.namespace }} --field-selector reason=RefusedBefore"
        ),
    ),
    Alert(
        key="predictionFailed",
        name="GrovePredictionFailed",
        expression=(
            'sum by (outcome) (increase(grove_predictions_total{outcome=~"otherwise|notPredicted"}[%window%])) > 0'
        ),
        summary="A prediction of the observer was wrong ({{ $labels.outcome }})",
        description=(
            "The outcome of {{ $value | humanize }} PodCliques was {{ $labels.outcome }}: the operator that runs in the"
            " cluster and the plan of the observer disagree. The log of the observer has a warning for each."
        ),
    ),
    Alert(
        key="queueDeep",
        name="GroveQueueDeep",
        expression=f'max by (job, name) (workqueue_depth{{name="podcliqueset"}} {OF_GROVE}) > %above%',
        summary="The work queue of the operator is long",
        description="{{ $value }} PodCliqueSets and topologies wait for a round of the operator, so it acts late.",
    ),
    Alert(
        key="apiServerSlow",
        name="GroveApiServerSlow",
        expression=(
            "histogram_quantile(0.99, sum by (job, verb, le)"
            f" (rate(rest_client_request_duration_seconds_bucket[%window%]) {OF_GROVE})) > %aboveSeconds%"
        ),
        summary="The API server answers the operator slowly ({{ $labels.verb }})",
        description=(
            "One in a hundred {{ $labels.verb }} requests of the operator takes {{ $value | humanizeDuration }} or"
            " more, so it acts late."
        ),
    ),
)


def prometheus_alert_rule(alert: Alert, values: Mapping[str, Value], runbooks: str) -> Json:
    """Return one alert as Prometheus reads it."""
    return {
        "alert": alert.name,
        "expr": alert.filled_expression(values),
        "for": values["for"],
        "labels": {"severity": values["severity"]},
        "annotations": {
            "summary": alert.summary,
            "description": alert.description,
            "runbook_url": f"{runbooks}/{alert.name}.md",
        },
    }


def prometheus_rules(options: AlertOptions) -> Json:
    """Return the content of a rule file: one group with all alerts."""
    rules = [prometheus_alert_rule(alert, options.values[alert.key], options.runbooks) for alert in ALERTS]
    return {"groups": [{"name": GROUP, "rules": rules}]}
