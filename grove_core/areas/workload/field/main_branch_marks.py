"""Marks of the main branch of the Go operator in the pods of a set (WF-155)."""

from grove_core.areas.workload.field.releases import FROM_ALPHA_12, MAIN_BRANCH, WorkloadOfRelease
from grove_core.areas.workload.objects.lazy_manifests import POD_VARIABLE_NAMES
from grove_core.areas.workload.workload_context import WorkloadContext
from grove_core.kernel.frozen import FrozenMap, list_at, object_at


def release_shown_by_pods(context: WorkloadContext, release: WorkloadOfRelease) -> WorkloadOfRelease:
    """Return the main branch where pods of the set show it, and the release otherwise. Linear in the pods."""
    if release is not FROM_ALPHA_12:
        return release
    manifests = (
        pod.manifest
        for clique in context.snapshot.cliques
        for pod in context.pods_of_clique(clique)
        if pod.manifest is not None
    )
    return MAIN_BRANCH if any(map(_has_variables_first, manifests)) else release


def _has_variables_first(manifest: FrozenMap) -> bool:
    """Return whether Grove's variables stand before others in some container."""
    containers = list_at(object_at(manifest, "spec"), "containers")
    return any(_starts_with_groves(container) for container in containers if isinstance(container, FrozenMap))


def _starts_with_groves(container: FrozenMap) -> bool:
    names = tuple(one.get("name") for one in list_at(container, "env") if isinstance(one, FrozenMap))
    count = len(POD_VARIABLE_NAMES)
    return names[:count] == POD_VARIABLE_NAMES and len(names) > count
