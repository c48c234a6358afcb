"""Lazily built manifests; labels (WL-030) and environment variables (WL-061) of PodCliques and pods."""

from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple, TypeAlias

from grove_core.kernel.frozen import FrozenMap, Json, frozen, list_at
from grove_core.kernel.reasons import Reason
from grove_core.kernel.wants import ObjectToCreate
from grove_core.resources.api_names import BASE_GANG, POD_GANG, POD_INDEX, TEMPLATE_HASH
from grove_core.resources.labels import GROUP, GROUP_REPLICA, labels_of_set_object, labels_of_set_replica
from grove_core.resources.naming_rules import set_replica_name
from grove_core.resources.owned_object import Body, NewObjectMetadata
from grove_core.resources.pod_spec_gpus import pod_spec_with_changed_containers
from grove_core.snapshot.expected_replicas import ExpectedClique

_POSITION_LABELS: Final = frozenset(
    (*GROUP.keys, *GROUP_REPLICA.keys, BASE_GANG)
)  # scaling groups and gates go by them
Variable = dict[str, Any]
ObjectLabels: TypeAlias = Callable[[str, str, str], dict[str, str]]
"""Makes the labels of an object of a set: from the names of set and object and the component."""


class LazyManifest(NamedTuple):
    """An expected object by kind and name; its manifest is built only where the object does not exist.

    Attributes:
        make: builds the manifest.
        spec: builds the ``spec`` alone, where that is cheaper and the spec is compared.
        waiting: why it is not created yet: its replica waits for a ComputeDomain (MN-010).
    """

    kind: str
    name: str
    make: Callable[[], ObjectToCreate]
    spec: Callable[[], FrozenMap] | None = None
    waiting: tuple[Reason, ...] = ()


def object_to_create(
    blank: NewObjectMetadata, body: Body, because: Iterable[Reason], *, is_foundation: bool = False
) -> ObjectToCreate:
    """Return the want that creates an object.

    Args:
        blank: the metadata of the object.
        body: its fields beside metadata.
        is_foundation: whether other steps of the same round need it, so that it is created first.
    """
    return ObjectToCreate(blank.ref, blank.manifest_with_fields(body), tuple(because), is_foundation=is_foundation)


def labels_of_clique(set_name: str, part: ExpectedClique, template_hash: str) -> dict[str, str]:
    """Return the labels of a PodClique: the template's, overridden by Grove's (WL-030)."""
    return with_grove_labels(part.template.labels, set_name, part, template_hash)


def with_grove_labels(labels: FrozenMap, set_name: str, part: ExpectedClique, template_hash: str) -> dict[str, str]:
    """Return labels overridden by Grove's; labels of groups and base gangs that do not apply are removed (WL-030).

    Args:
        labels: of the template, or of the PodClique.
        part: the PodClique that the object is, or is a pod of.
        template_hash: of the template of its pods.
    """
    own = {str(key): str(text) for key, text in labels.items() if key not in _POSITION_LABELS}
    return own | _groves_labels(set_name, part, template_hash)


def _groves_labels(set_name: str, part: ExpectedClique, template_hash: str) -> dict[str, str]:
    labels = labels_of_set_object(set_name, part.name, "pcsg-podclique" if part.group else "pcs-podclique")
    labels |= labels_of_set_replica(part.replica)
    labels |= {POD_GANG: part.gang, TEMPLATE_HASH: template_hash}
    if part.group is not None:
        labels |= GROUP.under_every_key(part.group.name)
        labels |= GROUP_REPLICA.under_every_key(str(part.group.replica))
    if part.base_gang:
        labels[BASE_GANG] = part.base_gang
    return labels


def pod_spec_with_group_variables(pod_spec: FrozenMap, pods: int) -> FrozenMap:
    """Return the pod spec with the variables of a scaling group with so many pods in one replica of its template."""
    return pod_spec_with_variables_first(pod_spec, group_environment_variables(pods))


def group_environment_variables(pods: int) -> tuple[Variable, ...]:
    """Return the variables of a scaling group with so many pods in one replica of its template."""
    return (
        _from_label("GROVE_PCSG_NAME", GROUP.primary),
        {"name": "GROVE_PCSG_TEMPLATE_NUM_PODS", "value": str(pods)},
        _from_label("GROVE_PCSG_INDEX", GROUP_REPLICA.primary),
    )


def pod_spec_with_pod_variables(pod_spec: FrozenMap, set_name: str, namespace: str, part: ExpectedClique) -> FrozenMap:
    """Return the pod spec of a pod with its names and the domain of its replica's Service.

    Args:
        set_name, namespace: of the set.
        part: the PodClique of the pod.
    """
    return pod_spec_with_variables_first(pod_spec, pod_environment_variables(set_name, namespace, part))


POD_VARIABLE_NAMES: Final = (
    "GROVE_PCS_NAME",
    "GROVE_PCS_INDEX",
    "GROVE_PCLQ_NAME",
    "GROVE_HEADLESS_SERVICE",
    "GROVE_PCLQ_POD_INDEX",
)
"""The variables of Grove in every pod, in their order."""


def pod_environment_variables(set_name: str, namespace: str, part: ExpectedClique) -> tuple[Variable, ...]:
    """Return the variables of a pod: its names and the domain of its replica's Service."""
    domain = f"{set_replica_name(set_name, part.replica)}.{namespace}.svc.cluster.local"
    of_set, of_replica, of_clique, of_service, of_pod = POD_VARIABLE_NAMES
    return (
        {"name": of_set, "value": set_name},
        {"name": of_replica, "value": str(part.replica)},
        {"name": of_clique, "value": part.name},
        {"name": of_service, "value": domain},
        _from_label(of_pod, POD_INDEX),
    )


def _from_label(name: str, label: str) -> Variable:
    return {"name": name, "valueFrom": {"fieldRef": {"fieldPath": f"metadata.labels['{label}']"}}}


def pod_spec_with_variables_first(pod_spec: FrozenMap, variables: Iterable[Variable]) -> FrozenMap:
    """Return the pod spec with variables in every container, before its own ones and instead of those so named."""
    given = tuple(variables)
    names = {variable["name"] for variable in given}

    def filled(container: FrozenMap) -> Json:
        kept = [
            variable
            for variable in list_at(container, "env")
            if not (isinstance(variable, FrozenMap) and variable.get("name") in names)
        ]
        return FrozenMap({**container, "env": (*map(frozen, given), *kept)})

    return pod_spec_with_changed_containers(pod_spec, filled)
