"""Beside another operator: what it does otherwise is told (OP-037)."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from grove_core.reconcile import reconcile
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.operator.rounds import Look
from grove_shell.operator.shadow import Shadow
from tests.property.workload.life import Life
from tests.property.workload.sets import clique_raw, set_raw

Line = tuple[str, dict[str, Any]]


def look(seen: Snapshot) -> Look:
    return Look(home=("ml", "llm"), name="a plan", seen=seen, plan=reconcile(seen), seconds=0.0)


def watched(*seen: Snapshot) -> list[Line]:
    """What is said of some snapshots, one after the other."""
    said: list[Line] = []
    shadow = Shadow(lambda _level, message, **fields: said.append((message, fields)))
    for each in seen:
        shadow.planned(look(each))
    return said


def at_rest() -> Snapshot:
    life = Life(set_raw(clique_raw("a", 2), clique_raw("b", 1), terminationDelay="1m"))
    life.settle()
    seen = life.look()
    assert seen is not None
    return seen


def test_op037_a_clique_that_the_plan_keeps_and_the_cluster_ends() -> None:
    seen = at_rest()
    gone = replace(seen, cliques=tuple(clique for clique in seen.cliques if clique.ref.name != "llm-0-b"))
    ((message, fields),) = watched(seen, gone, gone)
    assert message == "the cluster ended what the plan keeps"
    assert (fields["target"], fields["plan"]) == ("PodClique/llm-0-b", "a plan")
    assert [reason["rule"] for reason in fields["because"]] == ["SufficientReadyPods"]
    deleting = replace(seen, root=replace(seen.root, deleting=True))
    assert watched(deleting, gone) == []


def test_op037_a_clique_that_the_plan_ends_and_the_cluster_keeps() -> None:
    seen = at_rest()
    fewer = replace(seen, root=replace(seen.root, spec=seen.root.spec.model_copy(update={"replicas": 0})))
    assert watched(fewer, replace(fewer, now=fewer.now + timedelta(seconds=59))) == []
    later = replace(fewer, now=fewer.now + timedelta(seconds=60))
    said = watched(fewer, later, later)
    assert [(message, fields["target"]) for message, fields in said] == [
        ("the cluster keeps what the plan ends", "PodClique/llm-0-a"),
        ("the cluster keeps what the plan ends", "PodClique/llm-0-b"),
    ]
    gone = replace(fewer, cliques=())
    assert watched(fewer, gone) == []
