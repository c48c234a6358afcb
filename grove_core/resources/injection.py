"""A claim put into a pod spec: into the pod, and into the containers that are to use it."""

from collections.abc import Iterable

from grove_core.kernel.frozen import FrozenMap, Json
from grove_core.resources.gpus import gpus_asked

_LISTS = ("initContainers", "containers")


def with_gpu_claim(pod_spec: FrozenMap, entry: FrozenMap) -> FrozenMap:
    """The pod spec with a claim that its containers with GPUs use (MN-030, MN-031). Idempotent.

    Args:
        pod_spec: of a pod, or of a PodClique.
        entry: of ``resourceClaims``: ``name``, and where the claim comes from. One of that name is replaced.
    """
    name = str(entry["name"])
    changed: dict[str, Json] = {**pod_spec, "resourceClaims": (*_others(pod_spec.get("resourceClaims"), name), entry)}
    for key in _LISTS:
        found = pod_spec.get(key)
        if isinstance(found, tuple):
            changed[key] = tuple(_using(one, name) if isinstance(one, FrozenMap) else one for one in found)
    return FrozenMap(changed)


def _using(container: FrozenMap, name: str) -> FrozenMap:
    if gpus_asked(container) == 0:
        return container
    resources = container["resources"]
    assert isinstance(resources, FrozenMap)  # noqa: S101 - GPUs are asked for in it
    claims = (*_others(resources.get("claims"), name), FrozenMap({"name": name}))
    return FrozenMap({**container, "resources": FrozenMap({**resources, "claims": claims})})


def _others(entries: Json, name: str) -> Iterable[Json]:
    """A list of named entries without those of a name."""
    found = entries if isinstance(entries, tuple) else ()
    return (one for one in found if not (isinstance(one, FrozenMap) and one.get("name") == name))
