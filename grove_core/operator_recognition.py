"""Recognises the operator of a cluster by its objects, and its rule set (GF-111, CL-055)."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import chain
from typing import Final, NamedTuple

from grove_core.areas.workload.template_hash import has_own_template_hash_form
from grove_core.kernel.conditions import ConditionStatus
from grove_core.kernel.decisions import Finding
from grove_core.kernel.questions import PREDICTION
from grove_core.kernel.refs import Ref
from grove_core.kernel.structs import Struct, replace
from grove_core.resources.api_names import MANAGED_BY, OPERATOR
from grove_core.resources.labels import SET
from grove_core.resources.naming_rules import name_list_text
from grove_core.resources.newer_release_fields import CONDITIONS, NEWEST_KNOWN
from grove_core.resources.podclique import PodClique
from grove_core.rule_sets.rule_set import DESIGN
from grove_core.snapshot.cluster import IndexedCluster
from grove_core.snapshot.snapshot import foreign_gang_names_in

_ANY_MOMENT: Final = datetime(2000, 1, 1, tzinfo=UTC)  # names do not depend on it
_OUR_LABEL: Final = SET.design  # on every object that this operator makes, and on none of the Go operator's


class RecognisedGoOperator(NamedTuple):
    """The Go operator as recognised by objects.

    Attributes:
        fitting: the releases that can have written the objects, oldest first; empty where an older one than the oldest
            known here has written them (GF-136).
        newer: evidence that its release is newer than the newest one known here; empty without it (GF-134).
    """

    fitting: tuple[str, ...]
    newer: tuple[str, ...] = ()

    @property
    def has_known_release(self) -> bool:
        """Whether its release is one of those whose rules are known here."""
        return bool(self.fitting) and not self.newer


class RecognisedOperator(Struct, frozen=True):
    """The rule set that predicts the operator of a cluster, and the evidence for it.

    Attributes:
        rules: name of the rule set.
        because: the evidence in the objects, as a clause of a sentence.
        is_shown: whether there is any evidence; without it the rule set is the default one.
        go_operator: the Go operator, where it runs the cluster.
        doubtful: the sets whose PodCliques show the Go operator beside others that show this one (GF-135).
    """

    rules: str
    because: str
    is_shown: bool = True
    go_operator: RecognisedGoOperator | None = None
    doubtful: frozenset[Ref] = frozenset()


def recognise_operator(cluster: IndexedCluster, newer: Iterable[str] = ()) -> RecognisedOperator:
    """Recognise the operator by the first mark that only one of the operators leaves. Linear in the cluster.

    The status of a PodClique is the strongest mark, since the operator writes it again and again. Labels of PodCliques
    come next; they are written once. The generation hash of a set comes last; it is written before there are
    PodCliques.

    Args:
        newer: marks of a newer release in objects and fields that a cluster does not contain, as words.
    """
    marks = (*newer, *_newer_conditions(cluster), *_foreign_gangs(cluster))
    found = _recognised(cluster)
    if found.is_shown and found.go_operator is None:
        left = f", beside what a newer release of the Go operator left ({name_list_text(marks)})" if marks else ""
        return replace(found, because=f"{found.because}{left}", doubtful=frozenset(_doubtful(cluster)))
    if not marks:
        return found
    from grove_core.rule_sets.go_operator import BY_RELEASE  # noqa: PLC0415 - of such clusters alone

    release = f"of a release newer than {NEWEST_KNOWN}, the newest known here"
    return RecognisedOperator(
        BY_RELEASE[NEWEST_KNOWN].name,
        f"the Go operator runs there, {release} ({name_list_text(marks)})",
        go_operator=RecognisedGoOperator((NEWEST_KNOWN,), tuple(sorted(marks))),
    )


def set_not_predicted_finding(recognition: RecognisedOperator, root: Ref) -> Finding | None:
    """Return the finding that a set is not predicted (GF-134 to GF-136); None where it is predicted."""
    go = recognition.go_operator
    if (go is None or go.has_known_release) and root not in recognition.doubtful:
        return None
    from grove_core.areas.gang_termination.field.go_operator_rule_generations import RELEASES  # noqa: PLC0415 - of such clusters alone
    from grove_core.areas.gang_termination.field.rules import GoOperatorReason  # noqa: PLC0415 - of such clusters alone

    if go is None:
        because = GoOperatorReason.TWO_OPERATORS.because(root)
    elif go.newer:
        because = GoOperatorReason.NEWER_RELEASE.because(root, newest=NEWEST_KNOWN, marks=name_list_text(go.newer))
    else:
        because = GoOperatorReason.OLDER_RELEASE.because(root, oldest=next(iter(RELEASES)))
    return Finding(root, PREDICTION, ConditionStatus.UNKNOWN.value, (because,))


def _doubtful(cluster: IndexedCluster) -> Iterator[Ref]:
    """The sets whose PodCliques all have a status without wasAvailable, and no label of this operator."""
    for root in cluster.sets:
        cliques = list(cluster.owned_cliques(root))
        if cliques and all(map(_is_of_go, cliques)):
            yield root.ref


def _is_of_go(clique: PodClique) -> bool:
    return clique.status.recorded and clique.status.was_available is None and _OUR_LABEL not in clique.labels


def _newer_conditions(cluster: IndexedCluster) -> Iterator[str]:
    found = [
        *(root.status.conditions for root in cluster.sets),
        *(group.status.conditions for group in chain(*cluster.groups_of.values())),
        *(clique.status.conditions for clique in _cliques(cluster)),
    ]
    types = {one.type for conditions in found for one in conditions}
    yield from (f"condition {name}" for name in sorted(types & CONDITIONS))


def _foreign_gangs(cluster: IndexedCluster) -> Iterator[str]:
    """PodGangs whose names follow no known scheme."""
    for root in cluster.sets if cluster.gangs_of else ():
        yield from (f"PodGang {name}" for name in sorted(foreign_gang_names_in(cluster.snapshot_of(root, _ANY_MOMENT))))


def _recognised(cluster: IndexedCluster) -> RecognisedOperator:
    recorded = sum(clique.status.recorded for clique in _cliques(cluster))
    if any(clique.status.was_available is not None for clique in _cliques(cluster)):
        return RecognisedOperator(DESIGN.name, "PodClique statuses record wasAvailable")
    if recorded:
        return _go_operator(cluster, f"no wasAvailable in the status of {_counted(recorded, 'PodClique')}")
    if any(_OUR_LABEL in clique.labels for clique in _cliques(cluster)):
        return RecognisedOperator(DESIGN.name, f"PodCliques have the label {_OUR_LABEL}")
    unlabelled = sum(clique.labels.get(MANAGED_BY) == OPERATOR for clique in _cliques(cluster))
    if unlabelled:
        return _go_operator(cluster, f"no label {_OUR_LABEL} on {_counted(unlabelled, 'PodClique')}")
    hashes = [root.status.current_hash for root in cluster.sets if root.status.current_hash]
    if any(map(has_own_template_hash_form, hashes)):
        return RecognisedOperator(DESIGN.name, "PodCliqueSets have a currentGenerationHash of this operator's form")
    if hashes:
        which = _counted(len(hashes), "PodCliqueSet")
        return _go_operator(cluster, f"the currentGenerationHash of {which} has not this operator's form")
    return RecognisedOperator(DESIGN.name, "no object shows which operator runs there", is_shown=False)


def _go_operator(cluster: IndexedCluster, mark: str) -> RecognisedOperator:
    """The newest release that can have written the statuses; the oldest one where all are too new (GF-136)."""
    from grove_core.areas.gang_termination.field.go_operator_rule_generations import (  # noqa: PLC0415 - of such clusters alone
        RELEASES,
        releases_matching_statuses,
    )
    from grove_core.rule_sets.go_operator import BY_RELEASE  # noqa: PLC0415 - as above

    known = tuple(RELEASES)
    fitting = releases_matching_statuses(_cliques(cluster), chain(*cluster.groups_of.values()))
    if not fitting:
        which = f"of a release older than {known[0]}, the oldest known here"
    elif fitting == known:
        which = f"its release is not shown, so {known[-1]} is assumed"
    elif fitting[-1] == known[-1]:
        which = f"release {fitting[0]} or newer"
    else:
        which = f"a release from {fitting[0]} to {fitting[-1]}"
    rules = BY_RELEASE[fitting[-1] if fitting else known[0]].name
    because = f"the Go operator runs there, {which} ({mark})"
    return RecognisedOperator(rules, because, go_operator=RecognisedGoOperator(fitting))


def _cliques(cluster: IndexedCluster) -> Iterator[PodClique]:
    return chain.from_iterable(cluster.cliques_of.values())


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
