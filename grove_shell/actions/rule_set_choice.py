"""The rule set of a command: that of ``--rules``, of the configuration, or of the operator in the input (CL-055)."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, Final, TypeAlias

from grove_core.document.plan_document import RuleSetSource
from grove_core.kernel.errors import MalformedObject
from grove_core.kernel.structs import replace
from grove_core.operator_recognition import RecognisedOperator, recognise_operator
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset import podcliqueset_from_json
from grove_core.rule_sets.rule_set import RuleSet
from grove_core.rule_sets.rule_set_by_name import rule_set
from grove_core.snapshot.cluster import IndexedCluster
from grove_core.snapshot.cluster_index import index_cluster
from grove_shell.actions.configuration_files import FIELD

AUTO: Final = "auto"
GivenRules: TypeAlias = str | RuleSet
"""The name of a rule set, or a rule set of a program."""
_OF_FILE: Final = "the configuration file is the Go operator's"


def choose_rule_set(
    option: GivenRules | None, configured: str | None, cluster: IndexedCluster | None, newer: Iterable[str] = ()
) -> tuple[RuleSet, RuleSetSource, RecognisedOperator | None]:
    """Return the rule set, what chose it, and the operator that the cluster shows.

    Args:
        option: the value of ``--rules``, or a rule set of a program; None or ``auto`` where none is named.
        configured: the rule set that the file of ``--config`` names; None where it names none. A file of the Go
            operator stands for the release that the cluster shows, else for the newest (IN-073).
        newer: marks of a newer release that are in the input and not in the cluster.
    """
    shown = recognise_operator(cluster, newer) if cluster is not None else None
    named, source = (
        configured if option is None else option,
        RuleSetSource("configuration" if option is None else "option"),
    )
    if option is None and configured == FIELD:
        shows_release = shown is not None and shown.go_operator is not None
        named, source = AUTO if shows_release else FIELD, RuleSetSource("configuration", _OF_FILE)
    if named not in {None, AUTO}:
        shown = replace(shown, doubtful=frozenset()) if shown is not None else None  # the user named it
        return named if isinstance(named, RuleSet) else rule_set_by_name(str(named)), source, shown
    if shown is None:
        return rule_set("design"), RuleSetSource("default"), shown
    return rule_set(shown.rules), RuleSetSource("cluster" if shown.is_shown else "default", shown.because), shown


def rule_set_by_name(name: str) -> RuleSet:
    """Return the built-in rule set with a full name, else that of the entry point (LB-010).

    Raises:
        InstalledRuleSetFailed: the entry point does not load, or is no rule set.
        ValueError: there is no rule set of this name.
    """
    with suppress(ValueError):
        return rule_set(name)
    from grove_shell.actions.installed_rule_sets import rule_set_from_entry_point  # noqa: PLC0415 - few commands name one (P11)

    return rule_set_from_entry_point(name)


def cluster_for_operator_recognition(sets: Iterable[Mapping[str, Any]], cliques: Iterable[PodClique]) -> IndexedCluster:
    """Return a cluster of the objects that an operator is recognised by; malformed PodCliqueSets are left out."""
    found = []
    for raw in sets:
        with suppress(MalformedObject):
            found.append(podcliqueset_from_json(raw))
    return index_cluster(sets=found, cliques=cliques)


def operator_rule_set_note(recognition: RecognisedOperator | None, rules: str) -> str:
    """Return which operator runs the cluster and which rule set predicts it; empty where that one is used (GF-111)."""
    go = recognition.go_operator if recognition is not None else None
    if recognition is None or go is None:
        return ""
    from grove_core.areas.gang_termination.field.go_operator_rule_generations import (  # noqa: PLC0415 - of such clusters alone
        release_or_newest_for_main,
    )

    if release_or_newest_for_main(rules.partition("@")[2]) in go.fitting:
        return ""
    nearest = "predicts it" if go.has_known_release else "is the nearest"
    return f"{recognition.because}; --rules {recognition.rules} {nearest}"
