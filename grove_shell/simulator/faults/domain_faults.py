"""Faults around ComputeDomains: another configuration, names that are taken, a quota (F7, F10, F13)."""

from dataclasses import replace
from itertools import count

from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.refs import Ref
from grove_core.resources.api_formats import domain_format_of
from grove_core.resources.compute_domain import DOMAIN_KIND, ComputeDomain
from grove_shell.simulator.cluster.simulated_cluster import SimulatedCluster
from grove_shell.simulator.operator.simulated_operator import SimulatedOperator
from grove_shell.simulator.recording.history import Actor, EntryKind, History, NoEffect
from grove_shell.simulator.scenario.fault_events import CrashOperator, ForeignDomain, LimitDomains, Reconfigure
from grove_shell.simulator.virtual_time import span_text


class DomainFaults:
    """What goes wrong with ComputeDomains, and who changes the configuration."""

    def __init__(self, cluster: SimulatedCluster, operator: SimulatedOperator, history: History) -> None:
        self.cluster = cluster
        self.operator = operator
        self.history = history
        self._serial = count(1)
        self._limited_until = 0

    def stop_faults(self) -> None:
        """No quota any more; what somebody else made stays."""
        self.cluster.domain_quota = None

    def reconfigure(self, fault: Reconfigure) -> None:
        """F13."""
        told = self.cluster.server.configuration
        words: list[str] = []
        if fault.mnnvl is not None:
            told = replace(told, mnnvl=fault.mnnvl.as_told)
            words.append(f"MNNVL {_on(told.mnnvl.enabled)}")
        if fault.topology_aware_scheduling is not None:
            told = replace(told, topology=fault.topology_aware_scheduling.as_told)
            words.append(f"topologies {_on(told.topology.enabled)}")
        self._tell(f"the operator begins anew, configured with {' and '.join(words)}")
        self.cluster.server.configuration = told
        self.operator.crash_later(CrashOperator(down=fault.down))

    def foreign_domain(self, fault: ForeignDomain) -> None:
        """F10."""
        namespace, _, name = fault.name.rpartition("/")
        if not namespace:
            wanting = [root.ref for root in self.cluster.sets() if name.startswith(f"{root.ref.name}-")]
            namespace = max(wanting, key=lambda ref: len(ref.name)).namespace if wanting else "default"
        world = self.cluster.server
        ref = Ref(domain_format_of(world.configuration, world.served).api_version, DOMAIN_KIND, namespace, name)
        if ref in self.cluster.server.items:
            raise NoEffect(f"there is a ComputeDomain {name} already")
        kind, _, owner = (fault.owner or "").partition("/")
        self._tell(f"somebody else makes ComputeDomain {name}{f', of {kind} {owner}' if owner else ''}")
        uid = f"(uid of a foreign {ref.short} no. {next(self._serial)})"
        self.cluster.add(
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

    def limit_domains(self, fault: LimitDomains) -> None:
        """F7."""
        self._tell(f"a quota of {fault.most} ComputeDomains for {span_text(fault.span)}")
        self.cluster.domain_quota = fault.most
        self._limited_until = self._now + fault.span

        def stop() -> None:
            if self._now >= self._limited_until and self.cluster.domain_quota is not None:
                self._tell("the quota of ComputeDomains is gone")
                self.cluster.domain_quota = None

        self.cluster.queue.schedule_after(fault.span, stop)

    @property
    def _now(self) -> int:
        return self.cluster.queue.now

    def _remove(self, ref: Ref, uid: str) -> None:
        found = self.cluster.server.items.get(ref)
        if found is not None and found.uid == uid and not found.deleting:
            self._tell(f"somebody else deletes the ComputeDomain {ref.name} that was made")
            self.cluster.delete(ref)

    def _tell(self, what: str) -> None:
        self.history.record(self._now, Actor.FAULT, EntryKind.FAULT, detail=what)


def _on(enabled: bool) -> str:  # noqa: FBT001 - a word for a switch
    return "on" if enabled else "off"
