"""When a scheduling gate is removed, what it waits for, and what is reported."""

from collections.abc import Callable
from typing import Final

import pytest

from grove_core.areas.workload.rules import WorkloadReason
from grove_core.forecast_explanation import is_withheld_as_undecided
from grove_core.kernel.frozen import frozen_dict_of_tuples, thaw_json
from grove_core.kernel.questions import OWN_GATE
from grove_core.kernel.steps import Apply, SetStatus, StepStage
from grove_core.kernel.structs import replace
from grove_core.reconcile import reconcile
from grove_core.resources.api_names import GATE
from grove_core.resources.pod import Pod
from grove_core.snapshot.snapshot import Snapshot
from tests.property.workload.sets import applied, at_rest, clique_raw, set_raw

RAW: Final = set_raw(
    clique_raw("a", 2, minAvailable=1),
    clique_raw("b"),
    groups=({"name": "pool", "cliqueNames": ["b"], "replicas": 2, "minAvailable": 1},),
)
BASE: Final = {"llm-0-a", "llm-0-pool-0-b"}


def with_pods(seen: Snapshot, change: Callable[[str, Pod], Pod]) -> Snapshot:
    pods = {c.uid: [change(c.ref.name, pod) for pod in seen.pods_of[c.uid]] for c in seen.cliques}
    return replace(seen, pods_of=frozen_dict_of_tuples(pods))


def opened(seen: Snapshot) -> set[str]:
    """Cliques of the pods whose gates a plan opens."""
    steps = [step for step in reconcile(seen).steps if isinstance(step.action, Apply) and step.target.kind == "Pod"]
    for step in steps:
        assert isinstance(step.action, Apply)
        assert thaw_json(step.action.fields) == {"spec": {"schedulingGates": [{"$patch": "delete", "name": GATE}]}}
    return {step.target.name.rpartition("-")[0] for step in steps}


def verdicts(seen: Snapshot) -> dict[str, tuple[str, WorkloadReason]]:
    """Clique -> what is said of its gated pods."""
    found = {}
    for finding in reconcile(seen).findings:
        if finding.question == OWN_GATE:
            rule = finding.because[0].rule
            assert isinstance(rule, WorkloadReason)
            found[finding.subject.name.rpartition("-")[0]] = (finding.verdict, rule)
    return found


def gated() -> Snapshot:
    """Every pod exists, every gang refers to its pods, and every gate is closed."""
    return with_pods(at_rest(applied(RAW)), lambda _, pod: replace(pod, has_grove_gate=True, gated=True))


def test_wl090_gates_of_a_complete_base_gang_open() -> None:
    assert opened(gated()) == BASE
    assert verdicts(gated())["llm-0-a"] == ("Open", WorkloadReason.GANG_COMPLETE)


@pytest.mark.req("WL-095", "WL-096")
def test_wl094_a_scaled_gang_follows_when_enough_of_its_base_is_placed() -> None:
    assert verdicts(gated())["llm-0-pool-1-b"] == ("Hold", WorkloadReason.BASE_GANG_NOT_PLACED)
    placed: set[str] = set()

    def place(name: str, pod: Pod) -> Pod:
        enough = name in BASE and name not in placed
        placed.update({name} if enough else ())
        return replace(pod, scheduled=enough, gated=not enough, has_grove_gate=not enough)

    seen = with_pods(gated(), place)
    assert verdicts(seen)["llm-0-pool-1-b"] == ("Open", WorkloadReason.BASE_GANG_PLACED)


@pytest.mark.req("WL-243")
def test_wl094_an_ended_pod_of_the_base_gang_is_placed_no_more() -> None:
    """One that was evicted says for ever that it is scheduled."""
    seen = at_rest(applied(RAW))

    def placed(clique: str, pod: Pod) -> Pod:
        if clique in BASE:
            return replace(pod, scheduled=True, ready=True, phase="Running")
        return replace(pod, has_grove_gate=True, gated=True, scheduled=False, ready=False, node="", phase="Pending")

    def evicted(clique: str, pod: Pod) -> Pod:
        return replace(pod, ready=False, phase="Failed") if clique == "llm-0-a" else pod

    def phase_in(seen: Snapshot) -> str:
        of_gang = (step.action for step in reconcile(seen).steps if step.target.short == "PodGang/llm-0")
        (reported,) = (action.fields for action in of_gang if isinstance(action, SetStatus))
        return str(reported["phase"])

    seen = with_pods(seen, placed)
    assert opened(seen) == {"llm-0-pool-1-b"}
    assert phase_in(seen) == "Running"
    seen = with_pods(seen, evicted)
    assert opened(seen) == set()
    reported = {step.target.short for step in reconcile(seen).steps if step.stage is StepStage.STATUS}
    assert "PodGang/llm-0" not in reported, "it is Pending, as it was stored"


def test_wl096_the_cliques_that_are_not_placed_are_named() -> None:
    seen = with_pods(gated(), lambda name, pod: replace(pod, scheduled=name == "llm-0-a", gated=False))
    (held,) = [one for one in reconcile(seen).withheld if one.target.name == "llm-0-pool-1-b"]
    assert [(why.rule, why.subject.name) for why in held.because] == [
        (WorkloadReason.BASE_GANG_NOT_PLACED, held.because[0].subject.name),
        (WorkloadReason.TOO_FEW_PLACED, "llm-0-pool-0-b"),
    ]


def test_wl095_a_missing_base_gang_is_waited_for() -> None:
    seen = gated()
    without = replace(seen, gangs=tuple(gang for gang in seen.gangs if gang.ref.name != "llm-0"))
    assert verdicts(without)["llm-0-pool-1-b"] == ("Hold", WorkloadReason.BASE_GANG_NOT_PLACED)
    assert verdicts(without)["llm-0-a"] == ("Hold", WorkloadReason.NOT_IN_GANG_YET)


@pytest.mark.req("WL-235")
def test_wl091_no_gang_is_there_though_all_were_looked_for() -> None:
    """A snapshot of which PodGangs are complete knows it; of every other one that is not known."""
    bare = replace(gated(), gangs=())
    assert {why for _, why in verdicts(bare).values()} == {WorkloadReason.NOT_IN_GANG_YET}
    lacking = verdicts(replace(bare, complete=bare.complete - {"PodGang"}))
    assert {why for _, why in lacking.values()} == {WorkloadReason.GANGS_NOT_COLLECTED}


def test_wl091_a_pod_that_its_gang_does_not_name_waits() -> None:
    seen = gated()
    foreign = with_pods(seen, lambda name, pod: replace(pod, name=f"{pod.name}x") if name == "llm-0-a" else pod)
    assert verdicts(foreign)["llm-0-a"] == ("Hold", WorkloadReason.NOT_IN_GANG_YET)


@pytest.mark.req("WL-093")
def test_wl092_a_gang_short_of_pods_waits_as_a_whole() -> None:
    seen = gated()
    gangs = tuple(
        replace(gang, groups=tuple(replace(one, pods=() if one.name == "llm-0-a" else one.pods) for one in gang.groups))
        for gang in seen.gangs
    )
    held = [one for one in reconcile(replace(seen, gangs=gangs)).withheld if one.target.name == "llm-0-pool-0-b"]
    assert [[why.rule for why in one.because] for one in held] == [
        [WorkloadReason.GANG_INCOMPLETE, WorkloadReason.TOO_FEW_PODS]
    ]


def test_wl090_no_gate_opens_before_the_whole_gang_can() -> None:
    """Pods of two cliques get their gates off in the same round, and none of them while one has too few."""
    seen = gated()
    assert opened(seen) == BASE
    lost = next(clique.uid for clique in seen.cliques if clique.ref.name == "llm-0-pool-0-b")
    assert (
        opened(
            replace(
                seen, pods_of=frozen_dict_of_tuples({uid: pods for uid, pods in seen.pods_of.items() if uid != lost})
            )
        )
        == set()
    )


@pytest.mark.parametrize("gaps", [frozenset({"PodGang"}), frozenset()])
def test_wl235_where_gangs_were_not_collected_no_gate_opens_and_it_is_said(gaps: frozenset[str]) -> None:
    missing = replace(gated(), gangs=(), complete=frozenset(), not_collected=gaps)
    assert set(verdicts(missing).values()) == {("Hold", WorkloadReason.GANGS_NOT_COLLECTED)}
    assert verdicts(missing).keys() == verdicts(gated()).keys()
    assert opened(missing) == set()
    held = {one.target for one in reconcile(missing).withheld if is_withheld_as_undecided(one)}
    assert held == {clique.ref for clique in gated().cliques}
    assert not any(map(is_withheld_as_undecided, reconcile(gated()).withheld))


def test_wl088_pods_on_their_way_out_and_without_our_gate_are_left_alone() -> None:
    assert opened(with_pods(gated(), lambda _, pod: replace(pod, deleting=True))) == set()
    assert opened(with_pods(gated(), lambda _, pod: replace(pod, has_grove_gate=False))) == set()


def test_wl095_pods_that_are_going_hold_no_place_for_their_gang() -> None:
    """All of the base gang is placed and on its way out: the scaled gang does not take its place."""

    def leave(name: str, pod: Pod) -> Pod:
        base = name in BASE
        return replace(pod, scheduled=base, gated=not base, has_grove_gate=not base, deleting=base)

    assert verdicts(with_pods(gated(), leave))["llm-0-pool-1-b"] == ("Hold", WorkloadReason.BASE_GANG_NOT_PLACED)


@pytest.mark.req("WL-095")
@pytest.mark.parametrize("is_placed", [False, True])
def test_wl094_a_label_that_was_taken_away_opens_no_gate(*, is_placed: bool) -> None:
    """The gang of a waiting pod follows from its place; only where that is not known, from the label."""
    seen = at_rest(applied(RAW))
    held = with_pods(
        seen, lambda name, pod: replace(pod, scheduled=is_placed and name in BASE, gated=True, has_grove_gate=True)
    )
    bare = replace(held, cliques=tuple(replace(clique, base_gang="") for clique in held.cliques))
    assert opened(bare) == opened(held) == (BASE | {"llm-0-pool-1-b"} if is_placed else BASE)
    lost = replace(held, cliques=tuple(replace(clique, replica_index=-1) for clique in held.cliques))
    assert opened(lost) >= BASE
