"""ComputeDomain: GPUs of several nodes that reach each other's memory."""

from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from grove_core.kernel.errors import MalformedObject, Problem
from grove_core.kernel.frozen import FrozenMap
from grove_core.resources.fields import Fields
from grove_core.resources.meta import NO_TEXTS, Resource, read_identity, read_labels, view_of

DOMAIN_KIND: Final = "ComputeDomain"


@dataclass(frozen=True, slots=True, kw_only=True)
class ComputeDomain(Resource):
    """A ComputeDomain as far as the operator looks at it.

    Attributes:
        labels, spec: as stored.
        deleted_at: when its deletion was accepted; None where it was not.
    """

    labels: FrozenMap = NO_TEXTS
    spec: FrozenMap = NO_TEXTS
    deleted_at: datetime | None = None


def compute_domain_of(raw: Mapping[str, Any], shared: MutableMapping[str, str] | None = None) -> ComputeDomain:
    """Project a ComputeDomain of any version. Raises MalformedObject with every problem (IN-030)."""
    problems: list[Problem] = []
    top = Fields(raw, "", problems)
    identity = read_identity(top, raw["apiVersion"], DOMAIN_KIND, shared)
    meta = top.part("metadata")
    domain = ComputeDomain(
        **identity,
        labels=view_of(read_labels(top)),
        spec=view_of(top.part("spec")),
        deleted_at=meta.time("deletionTimestamp") if identity["deleting"] else None,
    )
    if problems:
        raise MalformedObject(tuple(problems))
    return domain
