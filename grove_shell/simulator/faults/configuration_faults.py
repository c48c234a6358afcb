"""Faults of the configuration and of ComputeDomains: other hashes, taken names, a quota (F7, F10, F13)."""

from itertools import count
from typing import Final, assert_never

from grove_core.in_memory.garbage_collection import StoredObject
from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.refs import Ref
from grove_core.kernel.structs import replace
from grove_core.resources.api_names import DOMAIN_KIND, TEMPLATE_HASH
from grove_core.resources.cluster_topology import ClusterTopology
from grove_core.resources.compute_domain import ComputeDomain
from grove_core.resources.domain_and_claim_formats import compute_domain_format_to_write
from grove_core.resources.owned_object import OwnedObject
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.podgang import PodGang
from grove_core.resources.scaling_group import ScalingGroup
from grove_shell.simulator.cluster.simulated_cluster import SimulatedCluster
from grove_shell.simulator.operator.simulated_operator import SimulatedOperator
from grove_shell.simulator.recording.simulation_history import ScenarioEventWithoutEffect, SimulationHistory
from grove_shell.simulator.scenario.fault_events import (
    ChangeHashesFault,
    CrashOperatorFault,
    ForeignDomainFault,
    LimitDomainsFault,
    ReconfigureFault,
)
from grove_shell.simulator.virtual_time import go_duration_text

_OLD_HASH: Final = "-old"


class ConfigurationFaultInjector:
    """Injects the faults of ComputeDomains, and changes the configuration or the release."""

    def __init__(self, cluster: SimulatedCluster, operator: SimulatedOperator, history: SimulationHistory) -> None:
        self.cluster = cluster
        self.operator = operator
        self.history = history
        self._serial = count(1)
        self._limited_until = 0

    def stop_faults(self) -> None:
        """Remove the quota; foreign objects stay."""
        self.cluster.domain_quota = None

    def change_configuration(self, fault: ReconfigureFault) -> None:
        """Change the configuration and restart the operator (F13)."""
        configuration = self.cluster.server.configuration
        changes: list[str] = []
        if fault.mnnvl is not None:
            configuration = replace(configuration, mnnvl=fault.mnnvl.as_configuration)
            changes.append(f"MNNVL {_on(configuration.mnnvl.enabled)}")
        if fault.topology_aware_scheduling is not None:
            configuration = replace(configuration, topology=fault.topology_aware_scheduling.as_configuration)
            changes.append(f"topologies {_on(configuration.topology.enabled)}")
        self.history.record_fault(f"the operator restarts, configured with {' and '.join(changes)}")
        self.cluster.server.configuration = configuration
        self.operator.crash_later(CrashOperatorFault(down=fault.down))

    def change_stored_hashes(self, fault: ChangeHashesFault) -> None:
        """Replace all stored template hashes as if by another release, and restart the operator (F13)."""
        self.history.record_fault("a new release of the operator starts, with another hash function")
        for item in tuple(self.cluster.server.items.values()):
            other = with_hashes_of_fake_release(item)
            if other is not item:
                self.cluster.put_object(other)
        for pod in tuple(self.cluster.all_pods()):
            if pod.template_hash:
                self.cluster.put_pod(replace(pod, template_hash=hash_as_of_other_release(pod.template_hash)))
        self.operator.crash_later(CrashOperatorFault(down=fault.down))

    def create_foreign_domain(self, fault: ForeignDomainFault) -> None:
        """Create a ComputeDomain as another client (F10). Raises ScenarioEventWithoutEffect if it exists already."""
        namespace, _, name = fault.name.rpartition("/")
        if not namespace:
            wanting = [root.ref for root in self.cluster.all_sets() if name.startswith(f"{root.ref.name}-")]
            namespace = max(wanting, key=lambda ref: len(ref.name)).namespace if wanting else "default"
        server = self.cluster.server
        ref = Ref(
            compute_domain_format_to_write(server.configuration, server.served).api_version,
            DOMAIN_KIND,
            namespace,
            name,
        )
        if ref in self.cluster.server.items:
            raise ScenarioEventWithoutEffect(f"ComputeDomain {name} exists already")
        kind, _, owner = (fault.owner or "").partition("/")
        self.history.record_fault(
            f"another client creates ComputeDomain {name}{f', owned by {kind} {owner}' if owner else ''}"
        )
        uid = f"(uid of a foreign {ref.short} no. {next(self._serial)})"
        self.cluster.add_object(
            ComputeDomain(
                ref=ref,
                uid=uid,
                resource_version="1",
                owner_uid=f"(uid of a foreign {kind} {owner})" if owner else "",
                owner_kind=kind,
                owner_name=owner,
                finalizers=(),
                deleting=False,
                spec=FrozenMap({"numNodes": 0}),
            )
        )
        if fault.span is not None:
            self.cluster.queue.schedule_after(fault.span, lambda: self._remove(ref, uid))

    def limit_number_of_domains(self, fault: LimitDomainsFault) -> None:
        """Set a quota of ComputeDomains for a while (F7)."""
        self.history.record_fault(f"a quota of {fault.most} ComputeDomains for {go_duration_text(fault.span)}")
        self.cluster.domain_quota = fault.most
        self._limited_until = self._now + fault.span

        def stop() -> None:
            if self._now >= self._limited_until and self.cluster.domain_quota is not None:
                self.history.record_fault("the quota of ComputeDomains is removed")
                self.cluster.domain_quota = None

        self.cluster.queue.schedule_after(fault.span, stop)

    @property
    def _now(self) -> int:
        return self.cluster.queue.now

    def _remove(self, ref: Ref, uid: str) -> None:
        found = self.cluster.server.items.get(ref)
        if found is not None and found.uid == uid and not found.deleting:
            self.history.record_fault(f"another client deletes the foreign ComputeDomain {ref.name}")
            self.cluster.delete_object(ref)


def _on(enabled: bool) -> str:  # noqa: FBT001 - a word for a switch
    return "on" if enabled else "off"


def hash_as_of_other_release(text: str) -> str:
    """Return another hash: equal for equal hashes, and never equal to one that Grove computes."""
    return f"{text}{_OLD_HASH}" if text else ""


def with_hashes_of_fake_release(item: StoredObject) -> StoredObject:
    """Return an object with all of its stored hashes changed; the same object where it stores none."""
    match item:
        case PodClique():
            hashes = (item.status.update_hash, item.status.current_hash, item.status.set_hash)
            update, current, whole = map(hash_as_of_other_release, hashes)
            labels = item.labels
            if TEMPLATE_HASH in labels:
                labels = FrozenMap({**labels, TEMPLATE_HASH: hash_as_of_other_release(item.template_hash)})
            status = replace(item.status, update_hash=update, current_hash=current, set_hash=whole)
            template_hash = hash_as_of_other_release(item.template_hash)
            return replace(item, status=status, labels=labels, template_hash=template_hash)
        case ScalingGroup(status=of_group) if of_group.set_hash:
            return replace(item, status=replace(of_group, set_hash=hash_as_of_other_release(of_group.set_hash)))
        case PodCliqueSet(status=of_set) if of_set.current_hash:
            return replace(item, status=replace(of_set, current_hash=hash_as_of_other_release(of_set.current_hash)))
        case ScalingGroup() | PodCliqueSet() | PodGang() | OwnedObject() | ComputeDomain() | ClusterTopology():
            return item
        case _:
            assert_never(item)
