"""PodGang: pods that the scheduler places together."""

from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar

from grove_core.kernel.conditions import Condition
from grove_core.kernel.errors import MalformedObject, Problem
from grove_core.kernel.frozen import EMPTY, FrozenMap
from grove_core.resources.api_names import SCHEDULER, TOPOLOGY_NAME
from grove_core.resources.fields import Fields
from grove_core.resources.meta import Resource, read_conditions, read_identity, read_labels, view_of
from grove_core.resources.placement import NO_PLACEMENT, Placement, placement_in


@dataclass(frozen=True, slots=True)
class PodGroup:
    """One clique in a gang: its name, the number of pods that the gang needs, and the names of the listed pods."""

    name: str
    min_replicas: int
    pods: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GangStatus:
    """A PodGang's stored status; empty where a field is absent."""

    FIELDS: ClassVar[Mapping[str, str]] = MappingProxyType({"phase": "phase"})

    phase: str = ""
    conditions: tuple[Condition, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PodGang(Resource):
    """The fields of a PodGang that decisions use.

    Attributes:
        labels, annotations: as stored, including copies of the set's.
        priority: ``priorityClassName``; empty where absent.
        groups: one for each clique.
        placement: its topology constraints.
    """

    labels: FrozenMap = EMPTY
    annotations: FrozenMap = EMPTY
    priority: str = ""
    groups: tuple[PodGroup, ...]
    placement: Placement = NO_PLACEMENT
    status: GangStatus = GangStatus()


def podgang_of(raw: Mapping[str, Any], shared: MutableMapping[str, str] | None = None) -> PodGang:
    """Return the PodGang that an object of the API describes.

    Args:
        raw: the object; unknown fields are ignored, missing ones have defaults.
        shared: strings read before, so that equal strings share one copy.

    Raises:
        MalformedObject: with every problem (IN-030).
    """
    problems: list[Problem] = []
    top = Fields(raw, "", problems)
    identity = read_identity(top, SCHEDULER, "PodGang", shared)
    spec, status = top.part("spec"), top.part("status")
    annotations = top.part("metadata").part("annotations")
    gang = PodGang(
        **identity,
        labels=view_of(read_labels(top)),
        annotations=view_of(annotations),
        priority=spec.text("priorityClassName"),
        groups=groups_in(spec),
        placement=placement_in(spec, annotations.text(TOPOLOGY_NAME)),
        status=GangStatus(phase=status.text("phase"), conditions=read_conditions(status)),
    )
    if problems:
        raise MalformedObject(tuple(problems))
    return gang


def groups_in(spec: Fields) -> tuple[PodGroup, ...]:
    """The ``podgroups`` of a gang's spec, as they stand there."""
    return tuple(
        PodGroup(
            group.text("name", required=True),
            group.integer("minReplicas") or 0,
            tuple(pod.text("name") for pod in group.parts("podReferences")),
        )
        for group in spec.parts("podgroups")
    )
