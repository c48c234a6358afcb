"""The manifests for monitoring: a PrometheusRule, a ConfigMap with the dashboard, and a PodMonitor (AL-013, AL-014)."""

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from grove_shell.manifests.installation import OPERATOR, WEBHOOKS
from grove_shell.monitoring.alert_rules import prometheus_rules
from grove_shell.monitoring.alert_settings import AlertOptions
from grove_shell.monitoring.dashboard import grafana_dashboard
from grove_shell.settings.webhook_settings import PREVIEW_PROGRAM

Json = dict[str, Any]
_API: Final = "monitoring.coreos.com/v1"
LABELS: Final[Mapping[str, str]] = {"app.kubernetes.io/name": "grove-monitoring"}
SIDECAR_LABEL: Final = "grafana_dashboard"
"""The label of ConfigMaps that the dashboard sidecar of Grafana's Helm chart loads by default."""
DASHBOARD_FILE: Final = "grove.json"


def dashboard_text() -> str:
    """Return the dashboard as a file for Grafana."""
    return json.dumps(grafana_dashboard(), indent=2) + "\n"


def dashboard_manifest(home: str) -> Json:
    """Return a ConfigMap with the dashboard, in a namespace."""
    metadata = _metadata("grove-dashboard", home)
    metadata["labels"][SIDECAR_LABEL] = "1"
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {DASHBOARD_FILE: dashboard_text()}}


def alert_manifest(home: str, options: AlertOptions) -> Json:
    """Return a PrometheusRule with all alerts, in a namespace."""
    spec = prometheus_rules(options)
    return {"apiVersion": _API, "kind": "PrometheusRule", "metadata": _metadata("grove-alerts", home), "spec": spec}


def pod_monitor_manifest(home: str) -> Json:
    """Return a PodMonitor of the programs in a namespace; their label ``namespace`` is that of a set (AL-014)."""
    programs = [OPERATOR, WEBHOOKS, PREVIEW_PROGRAM]
    spec = {
        "selector": {
            "matchExpressions": [{"key": "app.kubernetes.io/name", "operator": "In", "values": programs}],
        },
        "podMetricsEndpoints": [{"port": "http", "path": "/metrics", "interval": "30s", "honorLabels": True}],
    }
    return {"apiVersion": _API, "kind": "PodMonitor", "metadata": _metadata("grove", home), "spec": spec}


MONITORING_PARTS: Final[Mapping[str, Callable[[str, AlertOptions], Json]]] = {
    "alerts": alert_manifest,
    "dashboard": lambda home, _: dashboard_manifest(home),
    "pod-monitor": lambda home, _: pod_monitor_manifest(home),
}
"""What makes the manifest of each part, from the namespace of the programs and the options of the alerts."""


def _metadata(name: str, home: str) -> Json:
    return {"name": name, "namespace": home, "labels": dict(LABELS)}
