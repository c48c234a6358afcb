"""Warnings about templates that are valid, and whose pods probably do not start as intended.

They are about settings of pods and of the start-up order (WL-180 to WL-182, WL-185), about pods that the API server
refuses (WL-252 to WL-254), and about scaling groups of which few pods are sure to start together (WL-186).
"""

from collections.abc import Iterator
from typing import Final

from grove_core.areas.workload.admission.template_validation import clique_pod_spec_path, first_named_scheduler
from grove_core.areas.workload.rules import WorkloadWarning
from grove_core.kernel.admission import AdmissionWarning
from grove_core.kernel.frozen import FrozenMap, object_under_key
from grove_core.kernel.reasons import Fact
from grove_core.kernel.refs import Ref
from grove_core.resources.pod_spec_gpus import CONTAINER_LISTS, containers_in
from grove_core.resources.podcliqueset_manifest import CLIQUES, BadField, PodCliqueSetManifest
from grove_core.resources.podcliqueset_spec import ANY_ORDER, IN_ORDER, SetSpec
from grove_core.resources.quantities import parse_quantity

_NATIVE: Final = "kubernetes.io/"
_HUGEPAGES: Final = "hugepages-"


def pod_spec_warnings(manifest: PodCliqueSetManifest) -> Iterator[BadField]:
    """Yield pod templates that are valid and probably not intended (WL-180, WL-181, WL-185)."""
    first = first_named_scheduler(manifest)
    for index, pod in enumerate(manifest.pods):
        if not any(container.path.startswith("containers[") for container in pod.containers):
            yield BadField(f"{clique_pod_spec_path(index)}.containers", None, WorkloadWarning.CONTAINERS_MISSING, {})
        if pod.restart_policy not in {"", "Always"}:
            yield BadField(
                f"{clique_pod_spec_path(index)}.restartPolicy",
                pod.restart_policy,
                WorkloadWarning.RESTART_POLICY_NOT_ALWAYS,
                {},
            )
        if first is not None and not pod.scheduler_name:
            facts = {"other": first[0], "clique": first[1]}
            yield BadField(
                f"{clique_pod_spec_path(index)}.schedulerName", None, WorkloadWarning.SCHEDULER_LEFT_OUT, facts
            )


def startup_order_warnings(spec: SetSpec) -> Iterator[BadField]:
    """Yield each ``startsAfter`` that has no effect (WL-182)."""
    for index, clique in enumerate(spec.template.cliques):
        if clique.spec.starts_after and spec.template.clique_startup_type in {ANY_ORDER, IN_ORDER}:
            path = f"{CLIQUES}[{index}].spec.startsAfter"
            yield BadField(path, clique.spec.starts_after, WorkloadWarning.STARTS_AFTER_UNUSED, {})


def refused_pod_warnings(manifest: PodCliqueSetManifest) -> Iterator[BadField]:
    """Yield what the API server will refuse in the pods of each clique (WL-252 to WL-254)."""
    for index, clique in enumerate(manifest.spec.template.cliques):
        for key in CONTAINER_LISTS:
            for place, container in enumerate(containers_in(clique.spec.pod_spec, key)):
                yield from _refused_in_container(container, f"{CLIQUES}[{index}].spec.podSpec.{key}[{place}]")


def _refused_in_container(container: FrozenMap, path: str) -> Iterator[BadField]:
    if not container.get("image"):
        yield BadField(f"{path}.image", None, WorkloadWarning.IMAGE_MISSING, {})
    resources = object_under_key(container, "resources")
    limits, requests = object_under_key(resources, "limits"), object_under_key(resources, "requests")
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


def partial_start_warnings(subject: Ref, spec: SetSpec) -> Iterator[AdmissionWarning]:
    """Yield the cliques with `minAvailable` 1 of groups of which at most half of the pods start together."""
    template = spec.template
    places = {clique.name: index for index, clique in enumerate(template.cliques)}
    for group in template.pod_clique_scaling_groups:
        members = [template.cliques[places[name]] for name in group.clique_names if name in places]
        started = sum(min(one.spec.min_available or one.spec.replicas, one.spec.replicas) for one in members)
        pods = sum(one.spec.replicas for one in members)
        for one in members if len(members) > 1 and 2 * started <= pods else ():
            if one.spec.min_available == 1 < one.spec.replicas and one.spec.auto_scaling_config is None:
                facts: dict[str, Fact] = {
                    "group": group.name,
                    "started": started,
                    "pods": pods,
                    "replicas": one.spec.replicas,
                }
                yield AdmissionWarning(
                    f"{CLIQUES}[{places[one.name]}].spec.minAvailable",
                    str(one.spec.min_available),
                    WorkloadWarning.FEWER_START_TOGETHER.because(subject, **facts),
                )
