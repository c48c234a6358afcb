"""Which operator runs a cluster, as its objects show, and the rule set that predicts it (GF-111, GF-112, CL-055)."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Final

from grove_core.areas.gang_termination.design.ruleset import DESIGN
from grove_core.areas.workload.template_hash import is_ours
from grove_core.resources.keys import MANAGED_BY, OPERATOR, SET
from grove_core.resources.podclique import PodClique
from grove_core.snapshot.cluster import Cluster

_OUR_LABEL: Final = SET[1]  # on every object that this operator makes, and on none of the Go operator's


@dataclass(frozen=True, slots=True)
class Recognition:
    """The rule set that predicts the operator of a cluster, and what shows that it does.

    Attributes:
        rules: name of the rule set.
        because: what in the objects shows it, as the rest of a sentence.
        is_shown: whether anything does; else the rule set is the default one.
        go_operator: whether the Go operator runs the cluster.
        fitting: the releases of the Go operator that can have written what is there, oldest first.
    """

    rules: str
    because: str
    is_shown: bool = True
    go_operator: bool = False
    fitting: tuple[str, ...] = ()


def recognised(cluster: Cluster) -> Recognition:
    """The first mark in a cluster that only one of the operators leaves. Linear in PodCliques.

    A status of a PodClique is the strongest mark, for its operator looked at it last; then labels of PodCliques, for
    they are as old as these; then the generation hash of a set, which is there before its PodCliques are.
    """
    recorded = sum(clique.status.recorded for clique in _cliques(cluster))
    if any(clique.status.was_available is not None for clique in _cliques(cluster)):
        return Recognition(DESIGN.name, "PodClique statuses record wasAvailable")
    if recorded:
        return _go_operator(cluster, f"no wasAvailable in the status of {_counted(recorded, 'PodClique')}")
    if any(_OUR_LABEL in clique.labels for clique in _cliques(cluster)):
        return Recognition(DESIGN.name, f"PodCliques have the label {_OUR_LABEL}")
    unlabelled = sum(clique.labels.get(MANAGED_BY) == OPERATOR for clique in _cliques(cluster))
    if unlabelled:
        return _go_operator(cluster, f"no label {_OUR_LABEL} on {_counted(unlabelled, 'PodClique')}")
    hashes = [root.status.current_hash for root in cluster.sets if root.status.current_hash]
    if any(map(is_ours, hashes)):
        return Recognition(DESIGN.name, "PodCliqueSets have a currentGenerationHash of this operator's form")
    if hashes:
        which = _counted(len(hashes), "PodCliqueSet")
        return _go_operator(cluster, f"the currentGenerationHash of {which} has not this operator's form")
    return Recognition(DESIGN.name, "no object shows which operator runs there", is_shown=False)


def _go_operator(cluster: Cluster, mark: str) -> Recognition:
    """The newest release that can have written the statuses; plain ``field`` where that is the newest of all."""
    from grove_core.areas.gang_termination.field.generations import RELEASES  # noqa: PLC0415 - of such clusters alone
    from grove_core.areas.gang_termination.field.hand import hand_in  # noqa: PLC0415 - as above
    from grove_core.areas.gang_termination.field.rulesets import BY_RELEASE  # noqa: PLC0415 - as above

    hand = hand_in(_cliques(cluster), chain(*cluster.groups_of.values()))
    generation = hand.generation if hand is not None else None
    fitting = tuple(release for release, found in RELEASES.items() if generation in {None, found})
    oldest, newest = fitting[0], fitting[-1]
    if generation is None:
        which = f"its release is not shown, so {newest} is assumed"
    elif newest == list(RELEASES)[-1]:
        which = f"release {oldest} or newer"
    else:
        which = f"a release from {oldest} to {newest}"
    because = f"the Go operator runs there, {which} ({mark})"
    return Recognition(BY_RELEASE[newest].name, because, go_operator=True, fitting=fitting)


def _cliques(cluster: Cluster) -> Iterator[PodClique]:
    return chain.from_iterable(cluster.cliques_of.values())


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
