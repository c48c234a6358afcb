"""GPU requests in pod specs (MN-003), and edits of pod specs."""

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from grove_core.kernel.frozen import FrozenMap, Json, list_at, object_under_key
from grove_core.resources.quantities import parse_quantity

GPU: Final = "nvidia.com/gpu"
CONTAINER_LISTS: Final = ("containers", "initContainers")
_AMOUNTS: Final = ("limits", "requests")


def requests_gpus(pod_spec: FrozenMap) -> bool:
    """Return whether a container or init container requests a GPU."""
    return any(gpus_requested_by_container(one) > 0 for key in CONTAINER_LISTS for one in containers_in(pod_spec, key))


def gpu_count_of_pod_spec(pod_spec: FrozenMap) -> int:
    """Return the number of GPUs that one pod holds while it runs; an invalid amount counts as 0."""
    requested = [[gpus_requested_by_container(one) for one in containers_in(pod_spec, key)] for key in CONTAINER_LISTS]
    return max(sum(requested[0]), *requested[1], 0)


def gpus_requested_by_container(container: FrozenMap) -> int:
    """Return the number of GPUs in the limits or requests of one container."""
    resources = object_under_key(container, "resources")
    return max(_amount(object_under_key(resources, key)) for key in _AMOUNTS)


def containers_in(pod_spec: FrozenMap, key: str) -> Iterator[FrozenMap]:
    """Return the containers in one list of a pod spec; items that are no objects are skipped."""
    return (one for one in list_at(pod_spec, key) if isinstance(one, FrozenMap))


def _amount(amounts: FrozenMap) -> int:
    """Return a whole number of GPUs; the API server refuses fractions, which count as 0 here."""
    found = parse_quantity(amounts.get(GPU)) if GPU in amounts else None
    return int(found) if found is not None and found.denominator == 1 and found > 0 else 0


def pod_spec_with_changed_containers(pod_spec: FrozenMap, change: Callable[[FrozenMap], Json]) -> FrozenMap:
    """Return the pod spec with every container and init container changed; other values stay."""
    changed = dict(pod_spec)
    for key in CONTAINER_LISTS:
        containers = pod_spec.get(key)
        if isinstance(containers, tuple):
            changed[key] = tuple(change(item) if isinstance(item, FrozenMap) else item for item in containers)
    return FrozenMap(changed)


def pod_spec_with_gpu_claim(pod_spec: FrozenMap, entry: FrozenMap) -> FrozenMap:
    """Return the pod spec with a claim that its containers with GPUs use (MN-030). Idempotent.

    The entry of ``resourceClaims`` has ``name`` and source; an existing entry with that name is replaced.
    """
    name = str(entry["name"])
    claims = (*_others(pod_spec, "resourceClaims", name), entry)
    return pod_spec_with_changed_containers(
        FrozenMap({**pod_spec, "resourceClaims": claims}), lambda container: _using(container, name)
    )


def claim_names_in(pod_spec: FrozenMap) -> Iterator[str]:
    """Return the names of the claims of a pod."""
    claims = (one for one in list_at(pod_spec, "resourceClaims") if isinstance(one, FrozenMap))
    return (str(one.get("name", "")) for one in claims)


def _using(container: FrozenMap, name: str) -> FrozenMap:
    if gpus_requested_by_container(container) == 0:
        return container
    resources = object_under_key(container, "resources")
    claims = (*_others(resources, "claims", name), FrozenMap({"name": name}))
    return FrozenMap({**container, "resources": FrozenMap({**resources, "claims": claims})})


def _others(whole: FrozenMap, key: str, name: str) -> Iterable[Json]:
    """A list of named entries without those of a name."""
    return (one for one in list_at(whole, key) if not (isinstance(one, FrozenMap) and one.get("name") == name))
