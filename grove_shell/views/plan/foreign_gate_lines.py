"""Sentences on the scheduling gates of other products, which the operator does not remove (CL-082)."""

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from grove_core.resources.pod import Pod
from grove_core.resources.podclique import PodClique

_KUEUE_QUEUE: Final = "kueue.x-k8s.io/queue-name"
_GATES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "kueue.x-k8s.io/admission": "Kueue removes it when it admits the pod",
        "kueue.x-k8s.io/topology": "Kueue removes it when it has chosen a topology domain for the pod",
    }
)


def foreign_gate_sentence(gate: str, namespace: str, queue: str = "") -> str:
    """Return which product removes a scheduling gate that is not Grove's, and where to look.

    Args:
        namespace: of the pod.
        queue: of Kueue, where a label names one.
    """
    known = _GATES.get(gate)
    if known is None:
        return f"{gate}: the product that has set it removes it; ask that product why it has not"
    named = f"; its queue is {queue}" if queue else ""
    return f"{gate}: {known}{named}: kubectl describe workloads.kueue.x-k8s.io -n {namespace}"


def foreign_gate_sentences_of_clique(clique: PodClique, pods: Iterable[Pod]) -> Iterator[str]:
    """Yield for each foreign gate on the pods of a PodClique which product removes it."""
    queue = str(clique.labels.get(_KUEUE_QUEUE, ""))
    for gate in sorted({gate for pod in pods for gate in pod.foreign_gates}):
        yield foreign_gate_sentence(gate, clique.ref.namespace, queue)
