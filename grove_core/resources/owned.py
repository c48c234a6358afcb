"""Whatever else a set owns: services, roles, claims, autoscalers. Decisions compare it with what they want, no more."""

from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any, Final

from grove_core.kernel.errors import MalformedObject, Problem
from grove_core.kernel.frozen import FrozenMap
from grove_core.resources.fields import Fields
from grove_core.resources.keys import MANAGED_BY, OPERATOR
from grove_core.resources.meta import NO_TEXTS, Resource, read_identity, read_label, read_labels

NOT_BODY: Final = frozenset({"apiVersion", "kind", "metadata", "status"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Owned(Resource):
    """An object of a kind that only has to be there.

    Attributes:
        managed: its label says that Grove made it.
        body: what is its kind's own: ``spec``, ``rules``, ``data``, ...; as stored.
    """

    managed: bool = False
    body: FrozenMap = NO_TEXTS


def owned_of(raw: Mapping[str, Any], shared: MutableMapping[str, str] | None = None) -> Owned:
    """Project such an object as the API writes it. Raises MalformedObject with every problem (IN-030)."""
    problems: list[Problem] = []
    top = Fields(raw, "", problems)
    identity = read_identity(top, raw["apiVersion"], raw["kind"], shared)
    managed = read_label(read_labels(top), MANAGED_BY) == OPERATOR
    if problems:
        raise MalformedObject(tuple(problems))
    body = FrozenMap.over({key: value for key, value in raw.items() if key not in NOT_BODY})
    return Owned(**identity, managed=managed, body=body)
