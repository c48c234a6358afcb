"""Manifests of HorizontalPodAutoscalers, which scale a PodClique or scaling group by its scale subresource."""

from typing import Any, Final

from grove_core.areas.workload.objects.manifests import wanted_object
from grove_core.areas.workload.rules import Why
from grove_core.kernel.frozen import FrozenMap, freeze
from grove_core.kernel.wants import Present
from grove_core.resources.api_names import AUTOSCALING, GROVE
from grove_core.resources.labels import labels_of
from grove_core.resources.new_object import NewObject
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.template import AutoScaling

_METRICS_OF_SERVER: Final = freeze(
    [{"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}}]
)


def autoscaler_for(root: PodCliqueSet, kind: str, name: str, scaling: AutoScaling, replicas: int) -> Present:
    """Return the autoscaler of a clique or scaling group; it has the name of its target (WL-018).

    Args:
        root: the set, which owns it.
        kind, name: of the target.
        scaling: the configuration in the template.
        replicas: of the template, for a missing lower bound.
    """
    bounds = autoscaling_bounds(scaling, replicas)
    spec = {"scaleTargetRef": {"apiVersion": GROVE, "kind": kind, "name": name}, **bounds}
    blank = NewObject(
        api_version=AUTOSCALING,
        kind="HorizontalPodAutoscaler",
        name=name,
        owner=root,
        labels=labels_of(root.ref.name, name, "pcs-hpa"),
    )
    because = Why.AUTOSCALED.because(
        root.ref, name=f"{kind}/{name}", least=bounds["minReplicas"], most=scaling.max_replicas
    )
    return wanted_object(blank, {"spec": spec}, (because,))


def removed_metrics(wanted_object: FrozenMap, stored: FrozenMap) -> FrozenMap:
    """Return the metrics that the template no longer has, as null; metrics that the API server filled in stay."""
    metrics = stored.get("metrics")
    is_left = bool(metrics) and "metrics" not in wanted_object and metrics != _METRICS_OF_SERVER
    return FrozenMap({"metrics": None} if is_left else {})


def autoscaling_bounds(scaling: AutoScaling, replicas: int) -> dict[str, Any]:
    """Return the bounds and metrics as PodCliques and autoscalers have them; ``replicas`` is the template's."""
    bounds: dict[str, Any] = {
        "minReplicas": replicas if scaling.min_replicas is None else scaling.min_replicas,
        "maxReplicas": scaling.max_replicas,
    }
    if scaling.metrics:
        bounds["metrics"] = list(scaling.metrics)
    return bounds
