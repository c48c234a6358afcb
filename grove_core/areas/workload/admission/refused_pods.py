"""Warnings about pod templates that ``kubectl apply`` admits and of which the API server refuses every pod (WL-252)."""

from collections.abc import Iterator
from typing import Final

from grove_core.areas.workload.rules import WorkloadWarning
from grove_core.kernel.frozen import FrozenMap, object_at
from grove_core.resources.pod_spec_gpus import CONTAINER_LISTS, containers_in
from grove_core.resources.podcliqueset_manifest import CLIQUES, BadField, PodCliqueSetManifest
from grove_core.resources.quantities import parse_quantity

_NATIVE: Final = "kubernetes.io/"
_HUGEPAGES: Final = "hugepages-"


def refused_pod_warnings(manifest: PodCliqueSetManifest) -> Iterator[BadField]:
    """Yield what the API server will refuse in the pods of each clique (WL-252 to WL-254)."""
    for index, clique in enumerate(manifest.spec.template.cliques):
        for key in CONTAINER_LISTS:
            for place, container in enumerate(containers_in(clique.spec.pod_spec, key)):
                yield from _of_container(container, f"{CLIQUES}[{index}].spec.podSpec.{key}[{place}]")


def _of_container(container: FrozenMap, path: str) -> Iterator[BadField]:
    if not container.get("image"):
        yield BadField(f"{path}.image", None, WorkloadWarning.IMAGE_MISSING, {})
    resources = object_at(container, "resources")
    limits, requests = object_at(resources, "limits"), object_at(resources, "requests")
    for name, asked in requests.items():
        amount, limit = parse_quantity(asked), parse_quantity(limits.get(name))
        place, facts = f"{path}.resources.requests[{name}]", {"limit": str(limits.get(name, "no limit"))}
        if amount is None or (limit is None and name in limits):
            continue  # not a quantity, which the schema refuses
        if not _is_overcommitable(name):
            if amount != limit:
                yield BadField(place, asked, WorkloadWarning.LIMIT_NOT_AS_REQUEST, facts)
        elif limit is not None and amount > limit:
            yield BadField(place, asked, WorkloadWarning.REQUEST_ABOVE_LIMIT, facts)


def _is_overcommitable(resource: str) -> bool:
    """Return whether a pod may request less of a resource than its limit: not of devices and huge pages."""
    return not resource.startswith(_HUGEPAGES) and ("/" not in resource or resource.startswith(_NATIVE))
