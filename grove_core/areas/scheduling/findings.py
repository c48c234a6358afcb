"""Findings on PodCliques in groups whose pods are not placed: what the scheduler says, and what it waits for."""

from collections.abc import Iterator, Sequence

from grove_core.areas.scheduling.rules import SchedulingReason
from grove_core.areas.scheduling.verdicts import GangBackends
from grove_core.kernel.decisions import Finding
from grove_core.kernel.questions import PLACEMENT
from grove_core.kernel.reasons import Reason
from grove_core.resources.naming_rules import name_list_text
from grove_core.resources.pod import Pod, active_pods
from grove_core.resources.podclique import PodClique
from grove_core.snapshot.expected_replicas import ExpectedGang, ExpectedReplica
from grove_core.snapshot.snapshot import Snapshot


def unscheduled_group_findings(
    snapshot: Snapshot, backends: GangBackends, replicas: Sequence[ExpectedReplica]
) -> Iterator[Finding]:
    """Yield a finding on each PodClique in groups of which too few pods are scheduled (SC-030 to SC-032). Linear."""
    cliques = {clique.ref.name: clique for clique in snapshot.cliques if not clique.deleting}
    for replica in replicas:
        for gang in replica.gangs:
            if backends.has_groups(gang.name):
                yield from _findings_on_gang(snapshot, gang, cliques)


def _findings_on_gang(snapshot: Snapshot, gang: ExpectedGang, cliques: dict[str, PodClique]) -> Iterator[Finding]:
    pods = {part.name: _active_pods_of(snapshot, cliques.get(part.name)) for part in gang.cliques}
    lacking = [part.name for part in gang.cliques if len(pods[part.name]) < part.template.min_available]
    for part in gang.cliques:
        clique, waiting = cliques.get(part.name), [pod for pod in pods[part.name] if not pod.scheduled]
        if clique is None or not waiting or len(pods[part.name]) - len(waiting) >= part.template.min_available:
            continue
        because = tuple(_reasons_of(clique, gang.name, lacking, waiting))
        yield Finding(clique.ref, PLACEMENT, "Waiting", because, within=clique.enclosing_replicas(snapshot.root.ref))


def _reasons_of(clique: PodClique, gang: str, lacking: Sequence[str], waiting: Sequence[Pod]) -> Iterator[Reason]:
    if lacking:
        yield SchedulingReason.PARTS_WITHOUT_PODS.because(clique.ref, gang=gang, names=name_list_text(lacking))
    messages = sorted({pod.unplaced_because for pod in waiting if pod.unplaced_because})
    for message in messages[:1]:
        yield SchedulingReason.SCHEDULER_MESSAGE.because(clique.ref, message=message)
    if not lacking and not messages:
        yield SchedulingReason.NOT_LOOKED_AT.because(clique.ref)


def _active_pods_of(snapshot: Snapshot, clique: PodClique | None) -> list[Pod]:
    return active_pods(snapshot.pods_of.get(clique.uid, ())) if clique is not None else []
