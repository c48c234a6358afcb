"""The verdicts of gang termination as findings, also where nothing is to be done (PL-003)."""

from collections.abc import Iterator, Mapping
from itertools import chain
from types import MappingProxyType
from typing import Final

from grove_core.areas.gang_termination.design import group as of_group
from grove_core.areas.gang_termination.design import replica as of_replica
from grove_core.areas.gang_termination.design.statuses import SetCounts, because_of_availability
from grove_core.areas.gang_termination.questions import AVAILABILITY, BREACH, SCHEDULED, termination_of
from grove_core.areas.gang_termination.rules import Why
from grove_core.areas.gang_termination.verdicts import Judgement
from grove_core.kernel.conditions import Truth
from grove_core.kernel.decisions import Finding, Health, Share
from grove_core.kernel.refs import Ref
from grove_core.snapshot.snapshot import Snapshot

_HEALTH_BY: Final[Mapping[Why, Health]] = MappingProxyType(
    {Why.SUFFICIENT_READY_PODS: Health.HEALTHY, Why.AVAILABILITY_NOT_RECORDED: Health.UNRECORDED}
)
"""The health of a judged PodClique by the row of the breach table that applies; by any other row it is lacking."""


def findings_of_termination(snapshot: Snapshot, judgement: Judgement, tally: SetCounts) -> Iterator[Finding]:
    """Yield the findings on a set.

    They are about the set (availability), each clique (breach, scheduled), each scaling group (breach, termination),
    and each replica of the set (termination).
    """
    root, now = snapshot.root.ref, snapshot.now
    found = tally.availability
    share = Share(found.available, found.replicas)
    yield Finding(root, AVAILABILITY, found.verdict, because_of_availability(snapshot.root, found), share=share)
    around: dict[tuple[str, int, int], tuple[Ref, ...]] = {}  # one value for the cliques of one replica
    for judged in judgement.cliques:
        clique = judged.clique
        place = (clique.owner_uid, clique.replica_index, clique.group_replica_index)
        within = around.get(place) or around.setdefault(place, clique.replicas_around(root))
        health = _HEALTH_BY.get(judged.why, Health.LACKING)
        yield Finding(clique.ref, BREACH, judged.breach.value, (judged.reason,), health=health, within=within)
        placement = tally.placements[clique.ref]
        health = Health.HEALTHY if placement.verdict is Truth.TRUE else Health.LACKING
        yield Finding(clique.ref, SCHEDULED, placement.verdict.value, placement.because, health=health, within=within)
    for leaving in judgement.leaving:
        yield Finding(leaving.ref, BREACH, "Skip", (Why.CLIQUE_BEING_DELETED.because(leaving.ref),))
    for group in judgement.groups:
        ref = group.group.ref
        breached = tuple(one.clique.ref for cliques in group.breached.values() for one in cliques)
        yield Finding(ref, BREACH, group.breach.value, of_group.because_of_breach(group), causes=breached)
        acting = [*chain.from_iterable(group.acting.values())]
        yield termination_of(ref, group.fate, of_group.because_of_fate(group, now), acting, now)
        for index, fate in group.replica_fates.items():
            because, acting = of_group.because_of_replica(group, index, now), [*group.acting.get(index, ())]
            yield termination_of(ref.at_replica(index), fate, because, acting, now)
    for replica in judgement.replicas:
        missing = tally.missing[replica.index]
        because = of_replica.because_of_fate(snapshot.root, replica, missing, now, judgement.guard)
        finding = termination_of(root.at_replica(replica.index), replica.fate, because, replica.breaches, now)
        yield finding._replace(health=Health.LACKING) if missing else finding
