"""PodGang: what the scheduler places as one."""

from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any

from grove_core.kernel.errors import MalformedObject, Problem
from grove_core.resources.fields import Fields
from grove_core.resources.keys import SCHEDULER
from grove_core.resources.meta import Resource, read_identity


@dataclass(frozen=True, slots=True)
class PodGroup:
    """One clique in a gang: its name, how many of its pods the gang needs, how many it refers to."""

    name: str
    min_replicas: int
    pods: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PodGang(Resource):
    """A PodGang as far as decisions look at it."""

    groups: tuple[PodGroup, ...]


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
    groups = tuple(
        PodGroup(
            group.text("name", required=True),
            group.integer("minReplicas") or 0,
            sum(1 for _ in group.parts("podReferences")),
        )
        for group in top.part("spec").parts("podgroups")
    )
    if problems:
        raise MalformedObject(tuple(problems))
    return PodGang(**identity, groups=groups)
