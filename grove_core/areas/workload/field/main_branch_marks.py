"""Marks of the main branch of the Go operator in the pods of a set (WF-155)."""

from collections.abc import Iterator
from typing import Final

from grove_core.areas.workload.field.releases import FROM_ALPHA_12, MAIN_BRANCH, WorkloadOfRelease
from grove_core.areas.workload.workload_context import WorkloadContext
from grove_core.kernel.frozen import FrozenMap, list_at, object_at

_OF_EVERY_POD: Final = (
    "GROVE_PCS_NAME",
    "GROVE_PCS_INDEX",
    "GROVE_PCLQ_NAME",
    "GROVE_HEADLESS_SERVICE",
    "GROVE_PCLQ_POD_INDEX",
)
"""The variables that every pod has of Grove, in their order."""


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
    count = len(_OF_EVERY_POD)
    return any(names[:count] == _OF_EVERY_POD and len(names) > count for names in _names_of_variables(manifest))


def _names_of_variables(manifest: FrozenMap) -> Iterator[tuple[str, ...]]:
    for container in list_at(object_at(manifest, "spec"), "containers"):
        if isinstance(container, FrozenMap):
            yield tuple(str(one.get("name")) for one in list_at(container, "env") if isinstance(one, FrozenMap))
