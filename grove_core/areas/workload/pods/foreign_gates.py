"""Pods that the scheduling gate of another product holds (WL-246)."""

from collections import defaultdict
from collections.abc import Iterator

from grove_core.areas.workload.rules import WorkloadReason
from grove_core.areas.workload.verdicts import FOREIGN_GATE
from grove_core.kernel.decisions import Finding
from grove_core.resources.naming_rules import name_list_text
from grove_core.snapshot.snapshot import Snapshot


def foreign_gate_findings(snapshot: Snapshot) -> Iterator[Finding]:
    """Yield a finding on each PodClique with pods that a scheduling gate of another product holds. Linear."""
    for clique in snapshot.cliques:
        held: defaultdict[str, list[str]] = defaultdict(list)
        for pod in snapshot.pods_of.get(clique.uid, ()):
            for gate in pod.foreign_gates:
                held[gate].append(pod.name)
        if held:
            because = tuple(
                WorkloadReason.FOREIGN_GATE.because(clique.ref, gate=gate, names=name_list_text(names))
                for gate, names in sorted(held.items())
            )
            yield Finding(
                clique.ref, FOREIGN_GATE, "Held", because, within=clique.enclosing_replicas(snapshot.root.ref)
            )
