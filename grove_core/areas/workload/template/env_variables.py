"""Environment variables that Grove adds to containers; they replace the user's (WL-061)."""

from collections.abc import Iterable
from typing import Any

from grove_core.areas.workload.template.expected_replicas import ExpectedClique
from grove_core.kernel.frozen import FrozenMap, Json, frozen, list_at
from grove_core.resources.api_names import POD_INDEX
from grove_core.resources.labels import GROUP, GROUP_REPLICA
from grove_core.resources.names import replica_name
from grove_core.resources.pod_spec_edits import in_containers

Variable = dict[str, Any]


def with_group_variables(pod_spec: FrozenMap, pods: int) -> FrozenMap:
    """Return the pod spec of a scaling group's PodClique with the variables of the group.

    Args:
        pod_spec: of the template.
        pods: in one replica of the group, by the template.
    """
    return _with_variables(
        pod_spec,
        (
            _from_label("GROVE_PCSG_NAME", GROUP.primary),
            {"name": "GROVE_PCSG_TEMPLATE_NUM_PODS", "value": str(pods)},
            _from_label("GROVE_PCSG_INDEX", GROUP_REPLICA.primary),
        ),
    )


def with_pod_variables(pod_spec: FrozenMap, set_name: str, namespace: str, part: ExpectedClique) -> FrozenMap:
    """Return the pod spec of a pod with its names and the domain of its replica's Service."""
    domain = f"{replica_name(set_name, part.replica)}.{namespace}.svc.cluster.local"
    return _with_variables(
        pod_spec,
        (
            {"name": "GROVE_PCS_NAME", "value": set_name},
            {"name": "GROVE_PCS_INDEX", "value": str(part.replica)},
            {"name": "GROVE_PCLQ_NAME", "value": part.name},
            {"name": "GROVE_HEADLESS_SERVICE", "value": domain},
            _from_label("GROVE_PCLQ_POD_INDEX", POD_INDEX),
        ),
    )


def _from_label(name: str, label: str) -> Variable:
    return {"name": name, "valueFrom": {"fieldRef": {"fieldPath": f"metadata.labels['{label}']"}}}


def _with_variables(pod_spec: FrozenMap, variables: Iterable[Variable]) -> FrozenMap:
    given = tuple(variables)
    names = {variable["name"] for variable in given}

    def filled(container: FrozenMap) -> Json:
        kept = [
            variable
            for variable in list_at(container, "env")
            if not (isinstance(variable, FrozenMap) and variable.get("name") in names)
        ]
        return FrozenMap({**container, "env": (*map(frozen, given), *kept)})

    return in_containers(pod_spec, filled)
