"""GPU requests of pods (MN-003)."""

from collections.abc import Iterator
from typing import Final

from grove_core.kernel.frozen import FrozenMap, list_at, object_at
from grove_core.resources.merge_patch import quantity_of

GPU: Final = "nvidia.com/gpu"
CONTAINER_LISTS: Final = ("containers", "initContainers")
_AMOUNTS: Final = ("limits", "requests")


def asks_for_gpus(pod_spec: FrozenMap) -> bool:
    """Return whether a container or init container requests a GPU."""
    return any(gpus_asked(one) > 0 for key in CONTAINER_LISTS for one in containers_in(pod_spec, key))


def gpus_of(pod_spec: FrozenMap) -> int:
    """Return the number of GPUs that one pod holds while it runs; an invalid amount counts as 0."""
    requested = [[gpus_asked(one) for one in containers_in(pod_spec, key)] for key in CONTAINER_LISTS]
    return max(sum(requested[0]), *requested[1], 0)


def gpus_asked(container: FrozenMap) -> int:
    """Return the number of GPUs in the limits or requests of one container."""
    resources = object_at(container, "resources")
    return max(_amount(object_at(resources, key)) for key in _AMOUNTS)


def containers_in(pod_spec: FrozenMap, key: str) -> Iterator[FrozenMap]:
    """Return the containers in one list of a pod spec; items that are no objects are skipped."""
    return (one for one in list_at(pod_spec, key) if isinstance(one, FrozenMap))


def _amount(amounts: FrozenMap) -> int:
    """Return a whole number of GPUs; the API server refuses fractions, which count as 0 here."""
    found = quantity_of(amounts.get(GPU)) if GPU in amounts else None
    return int(found) if found is not None and found.denominator == 1 and found > 0 else 0
