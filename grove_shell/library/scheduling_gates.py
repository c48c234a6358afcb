"""Pods with scheduling gates, and why they have them (LB-023)."""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from grove_core.kernel.decisions import Finding
from grove_core.kernel.questions import FOREIGN_GATE, OWN_GATE
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.library.objects import gates_of, qualified_name

_OPEN: Final = "Open"


class GatedPod(NamedTuple):
    """A pod that no scheduler places, because a scheduling gate is on it.

    Attributes:
        set: ``namespace/name`` of the PodCliqueSet.
        gang: name of its PodGang; empty where it names none.
        clique, pod: names.
        gates: names of the gates.
        opens: whether the plan removes Grove's gate now; False where only other gates are on it.
        because: why, sentences; of Grove's gate, then of those of other products.
    """

    set: str
    gang: str
    clique: str
    pod: str
    gates: tuple[str, ...]
    opens: bool
    because: str


def gated_pods_in(snapshot: Snapshot, findings: Sequence[Finding]) -> Iterator[GatedPod]:
    """Yield the gated pods of one set, in the order of its PodCliques. Linear in pods and findings."""
    of_pod = {one.subject: one for one in findings if one.question == OWN_GATE}
    of_clique = {one.subject: one for one in findings if one.question == FOREIGN_GATE}
    name = qualified_name(snapshot.root.ref)
    for clique, pod in snapshot.pods():
        gates = gates_of(pod)
        if gates:
            found = of_pod.get(pod.ref)
            others = of_clique.get(clique.ref) if pod.foreign_gates else None
            because = (*_sentences(found), *_sentences(others))
            opens = found is not None and found.verdict == _OPEN
            yield GatedPod(name, pod.gang, clique.ref.name, pod.name, gates, opens, "; ".join(because))


def _sentences(finding: Finding | None) -> tuple[str, ...]:
    return () if finding is None else tuple(dict.fromkeys(why.sentence for why in finding.because))
