"""Who asks for GPUs (MN-007), and for how many."""

from collections.abc import Iterator
from typing import Final

from grove_core.kernel.frozen import FrozenMap, list_of, part_of
from grove_core.resources.merge_patch import quantity_of

GPU: Final = "nvidia.com/gpu"
CONTAINER_LISTS: Final = ("containers", "initContainers")
_AMOUNTS: Final = ("limits", "requests")


def asks_for_gpus(pod_spec: FrozenMap) -> bool:
    """Whether a container or init container asks for a GPU."""
    return any(gpus_asked(one) > 0 for key in CONTAINER_LISTS for one in containers_in(pod_spec, key))


def gpus_of(pod_spec: FrozenMap) -> int:
    """How many GPUs one pod holds while it runs; what does not read as a number holds none."""
    asked = [[gpus_asked(one) for one in containers_in(pod_spec, key)] for key in CONTAINER_LISTS]
    return max(sum(asked[0]), *asked[1], 0)


def gpus_asked(container: FrozenMap) -> int:
    """By one container, in limits or requests."""
    resources = part_of(container, "resources")
    return max(_amount(part_of(resources, key)) for key in _AMOUNTS)


def containers_in(pod_spec: FrozenMap, key: str) -> Iterator[FrozenMap]:
    """The containers of one list of a pod spec; what is none is left out."""
    return (one for one in list_of(pod_spec, key) if isinstance(one, FrozenMap))


def _amount(amounts: FrozenMap) -> int:
    """GPUs are whole; a server refuses a part of one, and so does this."""
    found = quantity_of(amounts.get(GPU)) if GPU in amounts else None
    return int(found) if found is not None and found.denominator == 1 and found > 0 else 0
