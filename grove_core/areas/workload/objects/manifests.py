"""Lazily built manifests, and the labels of PodCliques and pods (WL-030)."""

from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from grove_core.areas.workload.template.expected_replicas import ExpectedClique
from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.reasons import Reason
from grove_core.kernel.wants import Present
from grove_core.resources.api_names import BASE_GANG, POD_GANG, TEMPLATE_HASH
from grove_core.resources.labels import GROUP, GROUP_REPLICA, labels_of, labels_of_replica
from grove_core.resources.new_object import Body, NewObject

_OF_PLACE: Final = frozenset((*GROUP.keys, *GROUP_REPLICA.keys, BASE_GANG))  # scaling groups and gates go by them


class LazyManifest(NamedTuple):
    """An expected object by kind and name; its manifest is built only where the object does not exist.

    Attributes:
        make: builds the manifest.
        spec: builds the ``spec`` alone, where that is cheaper and the spec is compared.
    """

    kind: str
    name: str
    make: Callable[[], Present]
    spec: Callable[[], FrozenMap] | None = None


def wanted_object(blank: NewObject, body: Body, because: Iterable[Reason], *, is_foundation: bool = False) -> Present:
    """Return the want that creates an object."""
    return Present(blank.ref, blank.filled(body), tuple(because), is_foundation=is_foundation)


def labels_of_clique(set_name: str, part: ExpectedClique, template_hash: str) -> dict[str, str]:
    """Return the labels of a PodClique: the template's, overridden by Grove's (WL-030)."""
    return with_grove_labels(part.template.labels, set_name, part, template_hash)


def with_grove_labels(labels: FrozenMap, set_name: str, part: ExpectedClique, template_hash: str) -> dict[str, str]:
    """Return labels overridden by Grove's; labels of groups and base gangs that do not apply are removed (WL-030)."""
    own = {str(key): str(text) for key, text in labels.items() if key not in _OF_PLACE}
    return own | _groves_labels(set_name, part, template_hash)


def _groves_labels(set_name: str, part: ExpectedClique, template_hash: str) -> dict[str, str]:
    labels = labels_of(set_name, part.name, "pcsg-podclique" if part.group else "pcs-podclique")
    labels |= labels_of_replica(part.replica)
    labels |= {POD_GANG: part.gang, TEMPLATE_HASH: template_hash}
    if part.group:
        labels |= GROUP.written(part.group)
        labels |= GROUP_REPLICA.written(str(part.group_replica))
    if part.base_gang:
        labels[BASE_GANG] = part.base_gang
    return labels
