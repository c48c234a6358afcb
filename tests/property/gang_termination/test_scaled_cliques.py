"""PodCliques that were scaled at run time, by the design (GT-110 to GT-112)."""

from typing import Final

import pytest

from grove_core.kernel.decisions import Finding
from grove_core.kernel.questions import BREACH, SCALED
from grove_core.kernel.structs import replace
from grove_core.reconcile import reconcile
from grove_core.resources.podclique import PodClique
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.operator.event_recorder import kubernetes_events_of_plan
from tests.property.workload.sets import Json, applied, at_rest, clique_raw, set_raw

GROUP: Final[Json] = {"name": "pool", "cliqueNames": ["b"], "terminationDelay": "2h"}


def running(
    *, was_available: bool | None = True, delay: str | None = "4h", scaled_to: int = 1, keeps_pods: bool = False
) -> Snapshot:
    """A set whose cliques need two of three pods; all were scaled to ``scaled_to``; their pods are gone or ready."""
    more: Json = {"terminationDelay": delay} if delay else {}
    group = GROUP if delay else {key: GROUP[key] for key in ("name", "cliqueNames")}
    cliques = [clique_raw(name, 3, minAvailable=2) for name in ("a", "b")]
    start = at_rest(applied(set_raw(*cliques, groups=(group,), **more)))

    def changed(clique: PodClique) -> PodClique:
        status = replace(clique.status, recorded=True, was_available=was_available)
        return replace(clique, replicas=scaled_to, status=status)

    pods = {
        clique.uid: tuple(replace(pod, ready=True, scheduled=True, gated=False) for pod in start.pods_of[clique.uid])
        if keeps_pods
        else ()
        for clique in start.cliques
    }
    return replace(start, cliques=tuple(map(changed, start.cliques)), pods_of=type(start.pods_of)(pods))


def found(snapshot: Snapshot) -> dict[str, Finding]:
    return {one.subject.name: one for one in reconcile(snapshot).findings if one.question == SCALED}


def rules(finding: Finding) -> list[str]:
    return [why.rule.requirement for why in finding.because]


def test_gt110_scaling_below_the_minimum_has_a_verdict_of_its_own() -> None:
    seen = found(running())
    assert {name: one.verdict for name, one in seen.items()} == dict.fromkeys(
        ("llm-0-a", "llm-0-pool-0-b"), "ScaledBelowMinAvailable"
    )
    assert all(dict(one.because[0].facts) == {"replicas": 1, "needed": 2} for one in seen.values())
    snapshot = running()
    within = {clique.ref.name: clique.enclosing_replicas(snapshot.root.ref) for clique in snapshot.cliques}
    assert {name: one.within for name, one in seen.items()} == within
    breaches = {one.subject.name: one for one in reconcile(running()).findings if one.question == BREACH}
    assert rules(breaches["llm-0-a"]) == ["GT-014"], "the breach is judged as any other"
    assert {one.verdict for one in found(running(scaled_to=2)).values()} == {"ScaledBack"}


def test_gt110_it_is_an_event() -> None:
    events = [one for one in kubernetes_events_of_plan(reconcile(running())) if one.reason == "ScaledBelowMinAvailable"]
    assert [one.note.partition(";")[0] for one in events] == [
        "PodClique/llm-0-a: scaled to 1, below its minAvailable of 2",
        "PodClique/llm-0-pool-0-b: scaled to 1, below its minAvailable of 2",
    ]
    assert not [one for one in kubernetes_events_of_plan(reconcile(running(scaled_to=2))) if "Scaled" in one.reason]


def test_gt111_the_delay_is_that_of_the_clique_or_its_group() -> None:
    delays = {name: dict(one.because[1].facts)["delay"] for name, one in found(running()).items()}
    assert delays == {"llm-0-a": "4h", "llm-0-pool-0-b": "2h"}


def test_gt111_while_the_pods_are_still_there_the_delay_is_the_same() -> None:
    there = running(keeps_pods=True)
    assert {one.verdict for one in reconcile(there).findings if one.question == BREACH} == {"False"}
    delays = {name: dict(one.because[1].facts)["delay"] for name, one in found(there).items()}
    assert delays == {"llm-0-a": "4h", "llm-0-pool-0-b": "2h"}


@pytest.mark.parametrize(
    "snapshot",
    [running(was_available=False), running(was_available=None), running(delay=None)],
    ids=["never available", "no record", "termination is off"],
)
def test_gt111_where_nothing_is_terminated_nothing_is_announced(snapshot: Snapshot) -> None:
    assert {name: rules(one) for name, one in found(snapshot).items()} == {
        "llm-0-a": ["GT-110"],
        "llm-0-pool-0-b": ["GT-110"],
    }


def test_gt111_a_set_that_is_being_deleted_terminates_nothing() -> None:
    seen = running()
    assert rules(found(replace(seen, root=replace(seen.root, deleting=True)))["llm-0-a"]) == ["GT-110"]


def test_gt112_what_was_scaled_comes_back_with_the_number_of_the_template() -> None:
    seen = found(running(scaled_to=5))
    assert {name: (one.verdict, rules(one)) for name, one in seen.items()} == {
        "llm-0-a": ("ScaledBack", ["GT-112"]),
        "llm-0-pool-0-b": ("ScaledBack", ["GT-112"]),
    }
    assert dict(seen["llm-0-a"].because[0].facts) == {"replicas": 5, "template": 3}
    assert not found(running(scaled_to=3)), "breached, and as in the template"
    assert not found(running(scaled_to=5, was_available=False)), "it is not terminated"
