"""PodGang: what the scheduler places as one."""

from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, replace
from typing import Any

from grove_core.kernel.errors import MalformedObject, Problem
from grove_core.kernel.frozen import FrozenMap, thaw
from grove_core.resources.fields import Fields
from grove_core.resources.keys import SCHEDULER
from grove_core.resources.meta import Resource, read_identity


@dataclass(frozen=True, slots=True)
class PodGroup:
    """One clique in a gang: its name, how many of its pods the gang needs, and the names of those it refers to."""

    name: str
    min_replicas: int
    pods: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PodGang(Resource):
    """A PodGang as far as decisions look at it."""

    groups: tuple[PodGroup, ...]


def with_groups(gang: PodGang, fields: FrozenMap) -> PodGang:
    """The gang after its ``spec.podgroups`` were applied."""
    return replace(gang, groups=_groups_in(Fields(thaw(fields), "", []).part("spec")))


def podgang_of(raw: Mapping[str, Any], shared: MutableMapping[str, str] | None = None) -> PodGang:
    """Project a PodGang as the API writes it.

    Args:
        raw: the object; unknown fields are ignored, missing ones have defaults.
        shared: strings seen before, so that equal ones are one.

    Raises:
        MalformedObject: with every problem (IN-030).
    """
    problems: list[Problem] = []
    top = Fields(raw, "", problems)
    identity = read_identity(top, SCHEDULER, "PodGang", shared)
    groups = _groups_in(top.part("spec"))
    if problems:
        raise MalformedObject(tuple(problems))
    return PodGang(**identity, groups=groups)


def _groups_in(spec: Fields) -> tuple[PodGroup, ...]:
    return tuple(
        PodGroup(
            group.text("name", required=True),
            group.integer("minReplicas") or 0,
            tuple(pod.text("name") for pod in group.parts("podReferences")),
        )
        for group in spec.parts("podgroups")
    )
