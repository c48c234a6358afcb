"""What an input shows of a set besides what its operator would do: misplaced pods, and a release that is too new."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from grove_core.areas.topology.misplaced_pods import NodeLabels, findings_of_misplacement, has_unknown_node
from grove_core.kernel.decisions import Finding
from grove_core.recognition import Recognition, unpredicted_of
from grove_core.snapshot.snapshot import Snapshot


def with_input_findings(
    findings: Sequence[Finding], snapshot: Snapshot, nodes: NodeLabels, shown: Recognition | None
) -> tuple[Finding, ...]:
    """The findings of a plan, with those on misplaced pods (TP-131) and on a newer release (GF-134).

    Args:
        nodes: as far as they are in the input.
        shown: which operator the input shows; None where there is no input to show one.
    """
    more = [*findings_of_misplacement(snapshot, nodes)] if nodes else []
    newer = unpredicted_of(shown, snapshot.root.ref) if shown is not None else None
    if newer is None:
        return (*findings, *more)
    alike = [one for one in findings if (one.subject, one.question) == (newer.subject, newer.question)]
    because = (*newer.because, *(why for one in alike for why in one.because))
    return (*(one for one in findings if one not in alike), replace(newer, because=because), *more)


def sets_with_unknown_nodes(snapshots: Iterable[Snapshot], nodes: NodeLabels) -> tuple[str, ...]:
    """``namespace/name`` of the sets with required topology constraints, some of whose nodes are not known (TP-132)."""
    roots = (snapshot.root.ref for snapshot in snapshots if has_unknown_node(snapshot, nodes))
    return tuple(f"{root.namespace}/{root.name}" for root in roots)
