"""Edits of pod specs: changes of all containers, and claims for containers with GPUs."""

from collections.abc import Callable, Iterable

from grove_core.kernel.frozen import FrozenMap, Json, list_at, object_at
from grove_core.resources.gpus import CONTAINER_LISTS, gpus_asked


def in_containers(pod_spec: FrozenMap, change: Callable[[FrozenMap], Json]) -> FrozenMap:
    """Return the pod spec with every container and init container changed; other values stay."""
    changed = dict(pod_spec)
    for key in CONTAINER_LISTS:
        containers = pod_spec.get(key)
        if isinstance(containers, tuple):
            changed[key] = tuple(change(item) if isinstance(item, FrozenMap) else item for item in containers)
    return FrozenMap(changed)


def with_gpu_claim(pod_spec: FrozenMap, entry: FrozenMap) -> FrozenMap:
    """Return the pod spec with a claim that its containers with GPUs use (MN-030). Idempotent.

    Args:
        pod_spec: of a pod, or of a PodClique.
        entry: of ``resourceClaims``: ``name`` and source. An existing entry with that name is replaced.
    """
    name = str(entry["name"])
    claims = (*_others(pod_spec, "resourceClaims", name), entry)
    return in_containers(FrozenMap({**pod_spec, "resourceClaims": claims}), lambda container: _using(container, name))


def _using(container: FrozenMap, name: str) -> FrozenMap:
    if gpus_asked(container) == 0:
        return container
    resources = object_at(container, "resources")
    claims = (*_others(resources, "claims", name), FrozenMap({"name": name}))
    return FrozenMap({**container, "resources": FrozenMap({**resources, "claims": claims})})


def _others(whole: FrozenMap, key: str, name: str) -> Iterable[Json]:
    """A list of named entries without those of a name."""
    return (one for one in list_at(whole, key) if not (isinstance(one, FrozenMap) and one.get("name") == name))
