"""Warnings about autoscalers of users that may scale a part below its ``minAvailable`` (WL-250, WL-251)."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from grove_core.areas.workload.rules import WorkloadWarning
from grove_core.kernel.admission import AdmissionWarning
from grove_core.kernel.refs import Ref
from grove_core.resources.api_names import CLIQUE_KIND, GROUP_KIND, GROVE
from grove_core.resources.json_field_reader import JsonFieldReader
from grove_core.resources.naming_rules import (
    member_clique_name,
    replica_index_in_name,
    scaling_group_name,
    standalone_clique_name,
)
from grove_core.resources.podcliqueset_spec import SetSpec

_GROUPS: Final[Mapping[str, str]] = MappingProxyType(
    {"HorizontalPodAutoscaler": "autoscaling", "ScaledObject": "keda.sh"}
)
_WARNINGS: Final[Mapping[str, WorkloadWarning]] = MappingProxyType(
    {
        CLIQUE_KIND: WorkloadWarning.AUTOSCALER_BELOW_MIN_AVAILABLE,
        GROUP_KIND: WorkloadWarning.GROUP_AUTOSCALER_BELOW_MIN_AVAILABLE,
    }
)


class AutoscalerMinimum(NamedTuple):
    """The lowest number of replicas that an autoscaler sets.

    Attributes:
        target: the PodClique or PodCliqueScalingGroup that it scales.
        path: the field that has the number, or would have it.
        is_default: whether the field is left out.
    """

    target: Ref
    path: str
    least: int
    is_default: bool


def is_autoscaler_kind(kind: str, api_version: str) -> bool:
    """Return whether a kind is that of an autoscaler whose minimum is known here."""
    return kind in _GROUPS and api_version.partition("/")[0] == _GROUPS[kind]


def autoscaler_minimum(raw: Mapping[str, object]) -> AutoscalerMinimum | None:
    """Return what an autoscaler scales, and to what at least.

    None where it scales no PodClique and no scaling group, or a field of it is malformed, which its own API refuses.
    """
    top = JsonFieldReader(raw, "", [])
    spec = top.inner_object("spec")
    target = spec.inner_object("scaleTargetRef")
    kind, name, version = target.text("kind"), target.text("name"), target.text("apiVersion")
    if kind not in _WARNINGS or version.partition("/")[0] != GROVE.partition("/")[0] or not name:
        return None
    namespace = top.inner_object("metadata").text("namespace") or "default"
    path, least, is_default = _least(spec, is_keda=raw.get("kind") == "ScaledObject")
    if top.problems:
        return None
    return AutoscalerMinimum(Ref(GROVE, kind, namespace, name), path, least, is_default)


def _least(spec: JsonFieldReader, *, is_keda: bool) -> tuple[str, int, bool]:
    """Return the field with the lowest number, the number, and whether the field is left out."""
    if not is_keda:
        least = spec.integer("minReplicas")
        return "spec.minReplicas", 1 if least is None else least, least is None
    idle, least = spec.integer("idleReplicaCount"), spec.integer("minReplicaCount")
    if idle is not None:
        return "spec.idleReplicaCount", idle, False
    return "spec.minReplicaCount", least or 0, least is None


def autoscaler_warnings(subject: Ref, minimum: AutoscalerMinimum, needed: int) -> Iterator[AdmissionWarning]:
    """Yield the warning about an autoscaler whose target needs more replicas than it may leave.

    Args:
        subject: the autoscaler.
        needed: the ``minAvailable`` of its target.
    """
    if minimum.least >= needed:
        return
    got = f"{minimum.least}, which is its default" if minimum.is_default else str(minimum.least)
    why = _WARNINGS[minimum.target.kind].because(subject, target=minimum.target.name, needed=needed)
    yield AdmissionWarning(minimum.path, got, why)


def min_available_of_part(set_name: str, spec: SetSpec, target: Ref) -> int | None:
    """Return the ``minAvailable`` of a part of a set by its template; None where the set has no part of that name.

    Args:
        spec: with defaults.
    """
    index = replica_index_in_name(set_name, target.name)
    if index is None:
        return None
    groups = spec.template.pod_clique_scaling_groups
    if target.kind == GROUP_KIND:
        found = (one.min_available for one in groups if scaling_group_name(set_name, index, one.name) == target.name)
        return next(found, None)
    for clique in spec.template.cliques:
        group = next((one.name for one in groups if clique.name in one.clique_names), "")
        if _clique_name(set_name, index, group, clique.name, target.name) == target.name:
            return clique.min_available
    return None


def _clique_name(set_name: str, index: int, group: str, clique: str, target: str) -> str:
    """Return the name of a PodClique; of a member of a group that of the replica which ``target`` is of."""
    if not group:
        return standalone_clique_name(set_name, index, clique)
    group_name = scaling_group_name(set_name, index, group)
    member = replica_index_in_name(group_name, target)
    return "" if member is None else member_clique_name(group_name, member, clique)
