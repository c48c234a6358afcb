"""Which operator runs a cluster: every mark by which that is recognised, the strongest first (GF-111, CL-055)."""

from typing import Any, Final

import pytest

from grove_core.kernel.conditions import Condition, ConditionStatus
from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.structs import replace
from grove_core.operator_recognition import RecognisedGoOperator, recognise_operator, set_not_predicted_finding
from grove_core.resources.api_names import MIN_AVAILABLE_BREACHED
from grove_core.resources.labels import SET
from grove_core.resources.podclique import CliqueStatus, PodClique
from grove_core.rule_sets.rule_set_by_name import rule_sets
from grove_core.snapshot.cluster_index import index_cluster
from grove_core.testing import cluster_of
from grove_core.testing.cluster_builder import START

WORLD: Final = cluster_of(b"\x01\x00\x00\x00\x00\x01")
GO_LABELS: Final = FrozenMap({"app.kubernetes.io/managed-by": "grove-operator", SET.primary: "llm"})
OUR_LABELS: Final = FrozenMap({**GO_LABELS, SET.design: "llm"})
GO_HASH: Final = "9c9fcf8dcc6598c457"
OUR_HASH: Final = "bcdfghjklm"
NEVER: Final = CliqueStatus()
WRITTEN: Final = CliqueStatus(recorded=True, scheduled=1)
OURS: Final = replace(WRITTEN, was_available=False)


def clique(status: CliqueStatus, labels: FrozenMap) -> PodClique:
    return replace(WORLD.cliques[0], status=status, labels=labels)


def cluster(cliques: list[PodClique], set_hash: str = "") -> Any:
    root = replace(WORLD.root, status=replace(WORLD.root.status, current_hash=set_hash))
    cliques = [replace(one, owner_uid=root.uid, uid=f"{one.uid}-{index}") for index, one in enumerate(cliques)]
    return index_cluster(sets=(root,), cliques=cliques)


@pytest.mark.parametrize(
    ("cliques", "set_hash", "rules", "mark"),
    [
        ([clique(OURS, GO_LABELS), clique(WRITTEN, GO_LABELS)], GO_HASH, "design", "record wasAvailable"),
        ([clique(WRITTEN, OUR_LABELS)], OUR_HASH, "field", "no wasAvailable in the status of 1 PodClique"),
        ([clique(NEVER, OUR_LABELS), clique(NEVER, GO_LABELS)], GO_HASH, "design", "the label grove.io/podcliqueset"),
        ([clique(NEVER, GO_LABELS)] * 2, OUR_HASH, "field", "no label grove.io/podcliqueset on 2 PodCliques"),
        ([clique(NEVER, FrozenMap({}))], GO_HASH, "field", "currentGenerationHash of 1 PodCliqueSet has not"),
        ([], OUR_HASH, "design", "of this operator's form"),
        ([], GO_HASH, "field", "currentGenerationHash of 1 PodCliqueSet has not"),
        ([], "", "design", "no object shows which operator runs there"),
    ],
)
def test_gf111_the_strongest_mark_reports(cliques: list[PodClique], set_hash: str, rules: str, mark: str) -> None:
    found = recognise_operator(cluster(cliques, set_hash))
    assert found.rules.partition("@")[0] == rules
    assert mark in found.because
    assert (found.go_operator is not None) is (rules == "field")
    assert found.is_shown is ("no object" not in found.because)
    assert found.rules in rule_sets()


@pytest.mark.parametrize(
    ("reason", "status", "release", "words"),
    [
        (
            "ScheduledReplicasBelowMinAvailable",
            ConditionStatus.TRUE,
            "v0.1.0-alpha.12-rc1",
            "release v0.1.0-alpha.12-rc1 or newer",
        ),
        (
            "SufficientReadyPods",
            ConditionStatus.FALSE,
            "v0.1.0-alpha.12-rc1",
            "its release is not shown, so v0.1.0-alpha.12-rc1",
        ),
    ],
)
def test_gf111_the_newest_release_of_the_generation_is_taken(
    reason: str, status: ConditionStatus, release: str, words: str
) -> None:
    condition = Condition(MIN_AVAILABLE_BREACHED, status, reason, "", START)
    found = recognise_operator(cluster([clique(replace(WRITTEN, scheduled=0, conditions=(condition,)), GO_LABELS)]))
    assert found.rules == f"field@{release}"
    assert words in found.because
    assert found.go_operator is not None
    assert release in found.go_operator.fitting


def test_gf111_an_older_generation_is_taken_by_its_own_message() -> None:
    condition = Condition(
        MIN_AVAILABLE_BREACHED, ConditionStatus.FALSE, "InsufficientScheduledPods", "breach suppressed", START
    )
    found = recognise_operator(cluster([clique(replace(WRITTEN, conditions=(condition,)), GO_LABELS)]))
    assert found.rules == "field@v0.1.0-alpha.11"
    assert "a release from v0.1.0-alpha.9 to v0.1.0-alpha.11" in found.because
    assert set_not_predicted_finding(found, WORLD.root.ref) is None


def test_gf136_an_older_release_is_not_predicted() -> None:
    condition = Condition(MIN_AVAILABLE_BREACHED, ConditionStatus.FALSE, "InsufficientScheduledPods", "", START)
    found = recognise_operator(cluster([clique(replace(WRITTEN, conditions=(condition,)), GO_LABELS)]))
    assert (found.rules, found.go_operator) == ("field@v0.1.0-alpha.9", RecognisedGoOperator(()))
    assert "of a release older than v0.1.0-alpha.9, the oldest known here" in found.because
    finding = set_not_predicted_finding(found, WORLD.root.ref)
    assert finding is not None
    assert [why.rule.requirement for why in finding.because] == ["GF-136"]


@pytest.mark.parametrize("left", ["PodGangMap", ""])
def test_gf134_our_own_record_outranks_what_a_newer_release_left(left: str) -> None:
    found = recognise_operator(cluster([clique(OURS, OUR_LABELS)]), [left] if left else [])
    assert (found.rules, found.go_operator) == ("design", None)
    assert (left in found.because) or not left


def test_gf135_a_set_that_shows_the_other_operator_is_doubtful() -> None:
    other = replace(WORLD.root, ref=replace(WORLD.root.ref, name="other"), uid="other")
    third = replace(WORLD.root, ref=replace(WORLD.root.ref, name="third"), uid="third")
    cliques = [
        replace(clique(OURS, GO_LABELS), owner_uid=WORLD.root.uid, uid="1"),
        replace(clique(WRITTEN, GO_LABELS), owner_uid=WORLD.root.uid, uid="2"),
        replace(clique(WRITTEN, GO_LABELS), owner_uid="other", uid="3"),
        replace(clique(NEVER, OUR_LABELS), owner_uid="third", uid="4"),
    ]
    found = recognise_operator(index_cluster(sets=(WORLD.root, other, third), cliques=cliques))
    assert found.rules == "design"
    assert found.doubtful == {other.ref}
    reported = {root.ref.name: set_not_predicted_finding(found, root.ref) for root in (WORLD.root, other, third)}
    assert [name for name, finding in reported.items() if finding is not None] == ["other"]
    assert reported["other"] is not None
    assert [why.rule.requirement for why in reported["other"].because] == ["GF-135"]
