"""Chooses the rule set of a command: the named one, else that of the operator that runs the cluster (CL-055)."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

from grove_core.document.plan_document import RulesSource
from grove_core.kernel.errors import MalformedObject
from grove_core.operator_recognition import RecognisedOperator, recognised
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset import podcliqueset_from_json
from grove_core.rule_sets.named import rule_set
from grove_core.rule_sets.rule_set import RuleSet
from grove_core.snapshot.cluster import Cluster
from grove_core.snapshot.cluster_index import index_cluster

AUTO: Final = "auto"


def choose_rule_set(
    option: str | None, configured: str | None, cluster: Cluster | None, newer: Iterable[str] = ()
) -> tuple[RuleSet, RulesSource, RecognisedOperator | None]:
    """Return the rule set, what chose it, and the operator that the cluster shows.

    Args:
        option: the value of ``--rules``; None or ``auto`` where none is named.
        configured: the rule set that the file of ``--config`` names; None where it names none.
        newer: marks of a newer release that are in the input and not in the cluster.
    """
    shown = recognised(cluster, newer) if cluster is not None else None
    named = configured if option is None else option
    if named not in {None, AUTO}:
        shown = replace(shown, doubtful=frozenset()) if shown is not None else None  # the user named it
        return rule_set(str(named)), RulesSource("configuration" if option is None else "option"), shown
    if shown is None:
        return rule_set("design"), RulesSource("default"), shown
    return rule_set(shown.rules), RulesSource("cluster" if shown.is_shown else "default", shown.because), shown


def cluster_for_operator_recognition(sets: Iterable[Mapping[str, Any]], cliques: Iterable[PodClique]) -> Cluster:
    """Return a cluster of the objects that an operator is recognised by; malformed PodCliqueSets are left out."""
    found = []
    for raw in sets:
        with suppress(MalformedObject):
            found.append(podcliqueset_from_json(raw))
    return index_cluster(sets=found, cliques=cliques)
