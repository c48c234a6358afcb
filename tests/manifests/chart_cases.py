"""Values for tests of the chart: another one for each value, configurations, and values that are refused."""

from typing import Any, Final

from tests.manifests.chart_rendering import nested, with_values

Json = dict[str, Any]
LEVELS: Final = [{"domain": "zone", "key": "topology.kubernetes.io/zone"}]
PROGRAM: Final[Json] = {
    "enabled": False,
    "replicas": 3,
    "resources": {"requests": {"cpu": "1", "memory": "300Mi"}},
    "nodeSelector": {"pool": "system"},
    "tolerations": [{"key": "system", "operator": "Exists"}],
    "affinity": {"nodeAffinity": {}},
    "priorityClassName": "system-cluster-critical",
    "podAnnotations": {"example.com/team": "ml"},
}
ALL_ON: Final[Json] = {
    **{name: {"enabled": True} for name in ("operator", "webhooks", "preview")},
    **{name: {"enabled": True} for name in ("alerts", "dashboards", "podMonitor", "serviceMonitor")},
    "podDisruptionBudget": {"enabled": True},
    "networkPolicy": {"enabled": True},
}
"""Everything that can be switched on; each value changes something then."""
_ALERT: Final[Json] = {"for": "3m", "severity": "page"}
_ALERTS: Final[dict[str, Json]] = {
    "gangTerminationPending": {"withinSeconds": 60},
    "gangTerminated": {"withinSeconds": 60},
    "writeRefused": {},
    "predictionFailed": {"window": "2h"},
    "queueDeep": {"above": 7},
    "apiServerSlow": {"aboveSeconds": 2.5, "window": "2h"},
}
ANOTHER: Final[Json] = {
    "image": "example.com/grove:9",
    "imagePullPolicy": "Always",
    "imagePullSecrets": [{"name": "registry"}],
    "config": {"rules": "field@alpha.11", "workers": 4},
    **{f"{name}.{key}": value for name in ("operator", "webhooks", "preview") for key, value in PROGRAM.items()},
    "preview.settings": {"mode": "off", "rules": "field", "denyAbove": {"pods": 3}},
    "podDisruptionBudget.enabled": False,
    "networkPolicy.enabled": False,
    "networkPolicy.apiServerPorts": [8443],
    "networkPolicy.apiServerCidrs": ["192.0.2.1/32"],
    "networkPolicy.metricsFrom": [{"namespaceSelector": {"matchLabels": {"name": "monitoring"}}}],
    **{f"{name}.enabled": False for name in ("alerts", "dashboards", "podMonitor", "serviceMonitor")},
    **{f"{name}.labels": {"release": "x"} for name in ("alerts", "dashboards", "podMonitor", "serviceMonitor")},
    "alerts.runbooks": "https://wiki.example.com/grove",
    **{f"alerts.{alert}.{key}": value for alert, more in _ALERTS.items() for key, value in {**_ALERT, **more}.items()},
}
"""Another value for each that can be set, by its dotted name."""

CONFIGURATIONS: Final[dict[str, Json]] = {
    "none": {},
    "settings": {"rules": "field@alpha.11", "workers": 4, "serving": {"port": 9090}},
    "podgangs": {"scheduling": {"backend": "podgang"}},
    "groups": {"scheduling": {"backend": "kubernetes"}},
    "topologies": {"topologyAwareScheduling": {"enabled": True, "levels": LEVELS}},
    "domains": {"mnnvl": {"enabled": True, "computeDomainShape": "nvidia"}},
    "go-domains": {"network": {"autoMNNVLEnabled": True}, "workers": 4},
    "shared-domains": {"mnnvl": {"enabled": True, "mode": "annotations"}},
    "everything": {
        "mnnvl": {"enabled": True, "mode": "annotations"},
        "topologyAwareScheduling": {"enabled": True, "levels": LEVELS},
        "scheduling": {"backend": "podgang"},
    },
}

REFUSED: Final[dict[str, str]] = {
    "operatr.enabled=true": "additional properties 'operatr' not allowed",
    "operator.replicas=three": "'/operator/replicas': got string, want integer",
    "webhooks.replicas=0": "'/webhooks/replicas': minimum: got 0, want 1",
    "image=": "'/image': minLength: got 0, want 1",
    "imagePullPolicy=Sometimes": "'/imagePullPolicy': value must be one of '', 'Always', 'IfNotPresent', 'Never'",
    "alerts.writeRefused.for=1 hour": "'/alerts/writeRefused/for': '1 hour' does not match pattern",
    "networkPolicy.apiServerPorts=443": "'/networkPolicy/apiServerPorts': got number, want array",
    "config.wrokers=3": "'/config': additional properties 'wrokers' not allowed",
    "config.workers=0": "'/config/workers': minimum: got 0, want 1",
    "config.rules=feild": "'/config/rules': 'feild' does not match pattern '^(design|field(@[a-z0-9.-]+)?)$'",
    "config.leaderElection.leaseDuration=15": "'/config/leaderElection/leaseDuration': got number, want string",
    "preview.settings.denyAbove.pods=-1": "'/preview/settings/denyAbove/pods': minimum: got -1, want 0",
}
"""Settings of the command line, and a part of the sentence by which Helm refuses each."""

HARMFUL: Final[dict[str, tuple[Json, str]]] = {
    "two leaders": (
        {"config": {"leaderElection": {"enabled": False}}},
        (
            "operator.replicas is 2 and config.leaderElection.enabled is false: all pods of the operator would act"
            " at once. Set operator.replicas=1, or leave leader election on."
        ),
    ),
    "another lease": (
        {"config": {"leaderElection": {"name": "mine"}}},
        (
            "config.leaderElection.name and config.leaderElection.namespace cannot be set: the role allows the Lease"
            " grove-operator-leader-election in the namespace of the release."
        ),
    ),
    "no levels": (
        {"config": {"topologyAwareScheduling": {"enabled": True}}},
        (
            "config.topologyAwareScheduling.enabled is true without levels: set config.topologyAwareScheduling.levels,"
            " such as [{domain: zone, key: topology.kubernetes.io/zone}]."
        ),
    ),
    "nothing": (
        {"operator": {"enabled": False}, "webhooks": {"enabled": False}},
        "nothing is enabled: set operator.enabled, webhooks.enabled or preview.enabled.",
    ),
}


def all_changed() -> Json:
    """Return everything on, with another value for each that can be set."""
    found = ALL_ON
    for name, value in ANOTHER.items():
        found = found if name.endswith(".enabled") else with_values(found, nested(name, value))
    return found
