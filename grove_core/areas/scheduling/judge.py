"""Judges which back end places the gangs of a set (SC-001 to SC-005)."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from grove_core.areas.scheduling.rules import SchedulingPreflightReason, SchedulingReason
from grove_core.areas.scheduling.set_shape import reasons_against_one_workload
from grove_core.areas.scheduling.verdicts import PODGANGS_ONLY, GangBackends
from grove_core.kernel.frozen import FrozenDict
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.resources.api_names import COMPOSITES
from grove_core.resources.configuration import (
    DEFAULT_SCHEDULER,
    Configuration,
    GangBackend,
    MnnvlMode,
    ServedApis,
    WorkloadApiLevel,
)
from grove_core.resources.domain_sharing import effective_mnnvl_annotations, sharing_scope_in_annotations
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.snapshot.snapshot import Snapshot


class _Choice(NamedTuple):
    backend: GangBackend
    because: tuple[Reason, ...] = ()


def judge_gang_backends(snapshot: Snapshot) -> GangBackends:
    """Return the back ends of the gangs of a set. Linear in its pods."""
    if snapshot.served.workload_api in {WorkloadApiLevel.NONE, WorkloadApiLevel.FLAT}:
        return PODGANGS_ONLY
    choice = _choice_for(snapshot)
    of_pods: dict[str, GangBackend] = {}
    for clique, pod in snapshot.pods():
        if pod.deleting or not pod.gang:
            continue
        if pod.pod_group == clique.ref.name:
            of_pods[pod.gang] = GangBackend.KUBERNETES
        else:
            of_pods.setdefault(pod.gang, GangBackend.PODGANG)
    return GangBackends(choice.backend, FrozenDict(of_pods), choice.because)


def _choice_for(snapshot: Snapshot) -> _Choice:
    root, configured = snapshot.root, snapshot.configuration.gang_backend
    if configured is GangBackend.PODGANG:
        return _Choice(GangBackend.PODGANG)
    if configured is None and snapshot.served.workload_api is not WorkloadApiLevel.HIERARCHICAL:
        return _Choice(GangBackend.PODGANG)
    against = tuple(_reasons_against_groups(root, snapshot.configuration))
    if against:
        return _Choice(GangBackend.PODGANG, against)
    setting = "auto" if configured is None else configured.value
    why = SchedulingReason.PLACED_BY_KUBERNETES.because(root.ref, backend=setting)
    return _Choice(GangBackend.KUBERNETES, (why,))


def _reasons_against_groups(root: PodCliqueSet, configuration: Configuration) -> Iterator[Reason]:
    """Yield why a set keeps PodGangs although the Workload API could be used. Linear in the template."""
    named = (clique.spec.pod_spec.get("schedulerName") for clique in root.spec.template.cliques)
    others = sorted({name for name in named if isinstance(name, str)} - {"", DEFAULT_SCHEDULER})
    if others:
        yield SchedulingReason.OTHER_SCHEDULER.because(root.ref, scheduler=", ".join(others))
    if configuration.mnnvl.is_enabled_in_mode(MnnvlMode.ANNOTATIONS) and _shares_domains(root):
        yield SchedulingReason.SHARES_DOMAINS.because(root.ref)
    yield from reasons_against_one_workload(root)


def _shares_domains(root: PodCliqueSet) -> bool:
    groups = root.spec.template.groups_by_clique
    return any(
        sharing_scope_in_annotations(effective_mnnvl_annotations(root.annotations, clique, groups.get(clique.name)))
        is not None
        for clique in root.spec.template.cliques
    )


_SERVER: Final = Ref("apiregistration.k8s.io/v1", "APIService", "", COMPOSITES.replace("/", "."))


def scheduling_preflight_objection(configuration: Configuration, served: ServedApis) -> Reason | None:
    """Return why the operator must not start; None if it may, or if the server's kinds are unknown."""
    is_asked_for = configuration.gang_backend is GangBackend.KUBERNETES
    if is_asked_for and served.workload_api in {WorkloadApiLevel.NONE, WorkloadApiLevel.FLAT}:
        return SchedulingPreflightReason.API_NOT_SERVED.because(_SERVER)
    return None
