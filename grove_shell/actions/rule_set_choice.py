"""By which rules a command judges: those that were named, else those of the operator that runs the cluster (CL-055)."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

from grove_core.areas.gang_termination.rulesets import rule_set
from grove_core.areas.gang_termination.ruling import RuleSet
from grove_core.document.document import RulesSource
from grove_core.kernel.errors import MalformedObject
from grove_core.recognition import Recognition, recognised
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset import podcliqueset_of
from grove_core.snapshot.cluster import Cluster
from grove_core.snapshot.indexing import cluster_of

AUTO: Final = "auto"


def choose_rule_set(
    asked: str | None, configured: str | None, cluster: Cluster | None, newer: Iterable[str] = ()
) -> tuple[RuleSet, RulesSource, Recognition | None]:
    """The rule set, what chose it, and what the cluster shows.

    Args:
        asked: the value of ``--rules``; None or ``auto`` where none is named.
        configured: the rule set that the file of ``--config`` names; None where it names none.
        newer: marks of a newer release that the cluster does not hold.
        cluster: None where there is none to recognise an operator in.
    """
    shown = recognised(cluster, newer) if cluster is not None else None
    named = configured if asked is None else asked
    if named not in {None, AUTO}:
        shown = replace(shown, doubtful=frozenset()) if shown is not None else None  # the caller knows
        return rule_set(str(named)), RulesSource("configuration" if asked is None else "option"), shown
    if shown is None:
        return rule_set("design"), RulesSource("default"), shown
    return rule_set(shown.rules), RulesSource("cluster" if shown.is_shown else "default", shown.because), shown


def cluster_to_recognise(sets: Iterable[Mapping[str, Any]], cliques: Iterable[PodClique]) -> Cluster:
    """The objects that show which operator runs there; a PodCliqueSet that cannot be read shows nothing."""
    found = []
    for raw in sets:
        with suppress(MalformedObject):
            found.append(podcliqueset_of(raw))
    return cluster_of(sets=found, cliques=cliques)
