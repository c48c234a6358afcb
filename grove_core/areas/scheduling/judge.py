"""Judges which back end places the gangs of a set (SC-001 to SC-005)."""

from typing import Final, NamedTuple

from grove_core.areas.scheduling.rules import SchedulingPreflightReason, SchedulingReason
from grove_core.areas.scheduling.suitability import reasons_against_workload_api
from grove_core.areas.scheduling.verdicts import PODGANGS_ONLY, GangBackends
from grove_core.kernel.frozen import FrozenDict
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.resources.api_names import COMPOSITES
from grove_core.resources.configuration import (
    Configuration,
    GangBackend,
    ServedApis,
    WorkloadApiLevel,
)
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
    if backend_of_configuration(configured, snapshot.served.workload_api) is GangBackend.PODGANG:
        return _Choice(GangBackend.PODGANG)
    against = tuple(reasons_against_workload_api(root.ref, root.annotations, root.spec, snapshot.configuration))
    if against:
        return _Choice(GangBackend.PODGANG, against)
    setting = "auto" if configured is None else configured.value
    why = SchedulingReason.PLACED_BY_KUBERNETES.because(root.ref, backend=setting)
    return _Choice(GangBackend.KUBERNETES, (why,))


def backend_of_configuration(configured: GangBackend | None, level: WorkloadApiLevel | None) -> GangBackend:
    """Return the back end of new gangs that groups suit (SC-001, SC-006).

    Args:
        configured: None for ``auto``.
        level: of the Workload API of the server; None where it is not known.
    """
    served = (WorkloadApiLevel.HIERARCHICAL,) if configured is None else (WorkloadApiLevel.HIERARCHICAL, None)
    uses_groups = configured is not GangBackend.PODGANG and level in served
    return GangBackend.KUBERNETES if uses_groups else GangBackend.PODGANG


def auto_backend_notice(configuration: Configuration, served: ServedApis) -> Reason | None:
    """Return what follows from ``auto`` on a server; None for another setting, or an unknown server (SC-008)."""
    level = served.workload_api
    if configuration.gang_backend is not None or level is None:
        return None
    has_groups = level is WorkloadApiLevel.HIERARCHICAL
    found = "CompositePodGroups" if has_groups else "no CompositePodGroups"
    follows = "groups" if has_groups else "PodGangs, which need a scheduler such as KAI"
    return SchedulingPreflightReason.BACKEND_BY_DISCOVERY.because(_SERVER, served=found, gangs=follows)


_SERVER: Final = Ref("apiregistration.k8s.io/v1", "APIService", "", COMPOSITES.replace("/", "."))


def scheduling_preflight_objection(configuration: Configuration, served: ServedApis) -> Reason | None:
    """Return why the operator must not start; None if it may, or if the server's kinds are unknown."""
    is_asked_for = configuration.gang_backend is GangBackend.KUBERNETES
    if is_asked_for and served.workload_api in {WorkloadApiLevel.NONE, WorkloadApiLevel.FLAT}:
        return SchedulingPreflightReason.API_NOT_SERVED.because(_SERVER)
    return None
