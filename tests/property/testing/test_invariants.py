"""Each invariant is a rule of the specifications, and a controller with a mistake violates it (LT-002)."""

import runpy
import sys
from datetime import timedelta
from typing import Final

import pytest
from hypothesis import Phase, given, settings

import grove_core.testing
from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.steps import (
    Attempt,
    AttemptOutcome,
    Delete,
    SetStatus,
    Step,
    StepStage,
    is_gang_termination_deletion,
)
from grove_core.kernel.structs import replace
from grove_core.reconcile import reconcile
from grove_core.rule_sets.go_operator import NEWEST
from grove_core.rule_sets.rule_set_by_name import rule_sets
from grove_core.testing import (
    FIELD_INVARIANTS,
    INVARIANTS,
    Controller,
    Effort,
    Event,
    EventKind,
    Invariant,
    InvariantViolated,
    Plan,
    RandomCluster,
    Round,
    RuleSet,
    Sizes,
    Snapshot,
    breached_cliques,
    check_all,
    check_history,
    check_snapshot,
    cluster_of,
    invariants_for,
    storms,
)
from grove_core.testing.strategies import snapshot_without_kind
from grove_shell.catalogue.specification_rules import specification_rules_by_number
from tests.property.gang_termination.hand_mutants import HAND_MUTANTS

FEW: Final = Effort(snapshots=60, histories=25)
UNSHRUNK: Final = Effort(shrink=False)
FAILURES: Final = frozenset(
    {EventKind.UPDATE_BEGINS, EventKind.WRITE_REFUSED, EventKind.FRESH_READ_FAILS, EventKind.PODS_FAIL}
)
FAILING: Final = Effort(snapshots=0, histories=500, events=5, kinds=FAILURES, sizes=Sizes(2, 1, 1, 2), shrink=False)


def terminates_everything(snapshot: Snapshot) -> list[str]:
    return [clique.ref.name for clique in snapshot.cliques]


def terminates_single_cliques(snapshot: Snapshot) -> list[str]:
    return [clique.ref.name for clique in snapshot.cliques][:1]


def terminates_last_cliques(snapshot: Snapshot) -> list[str]:
    return [clique.ref.name for clique in snapshot.cliques][-1:]


def terminates_breached_cliques(snapshot: Snapshot) -> list[str]:
    return sorted(breached_cliques(snapshot))


def terminates_nothing(_: Snapshot) -> list[str]:
    return []


def writes_no_status(snapshot: Snapshot) -> Plan:
    plan = reconcile(snapshot)
    return replace(plan, steps=tuple(step for step in plan.steps if not isinstance(step.action, SetStatus)))


def names_no_cause(snapshot: Snapshot) -> Plan:
    def changed(step: Step) -> Step:
        if not isinstance(step.action, Delete) or step.action.basis is None:
            return step
        gangs = tuple(replace(one, trigger=snapshot.root.ref) for one in step.action.terminates)
        return replace(step, action=replace(step.action, basis=replace(step.action.basis, gangs=gangs)))

    plan = reconcile(snapshot)
    return replace(plan, steps=tuple(map(changed, plan.steps)))


def deletes_another_version(snapshot: Snapshot) -> Plan:
    def changed(step: Step) -> Step:
        if not isinstance(step.action, Delete):
            return step
        guard = replace(step.action.guard, resource_version="1")
        return replace(step, action=replace(step.action, guard=guard))

    plan = reconcile(snapshot)
    return replace(plan, steps=tuple(map(changed, plan.steps)))


def writes_a_status_while_deleting(snapshot: Snapshot) -> Plan:
    plan = reconcile(snapshot)
    status = next((step for step in plan.steps if isinstance(step.action, SetStatus)), None)
    leaving = [one for one in snapshot.cliques if one.deleting]
    if status is None or not isinstance(status.action, SetStatus):
        return plan
    more = [replace(status, target=one.ref, action=replace(status.action, guard=one.guard)) for one in leaving]
    return replace(plan, steps=(*plan.steps, *more))


def forgets_unwritten_recoveries(snapshot: Snapshot) -> Plan:
    return reconcile(replace(snapshot, attempts=()))


def never_rests(snapshot: Snapshot) -> Plan:
    plan = reconcile(snapshot)
    clique = next((one for one in snapshot.cliques if not one.deleting), None)
    if clique is None or any(step.target == clique.ref for step in plan.steps):
        return plan
    action = SetStatus(FrozenMap({"replicas": clique.status.replicas}), clique.guard)
    last = plan.findings[0].because
    return replace(plan, steps=(*plan.steps, Step(StepStage.STATUS, clique.ref, action, last)))


def go_operator_by_single_cliques(snapshot: Snapshot) -> Plan:
    plan = reconcile(snapshot, NEWEST)
    ends = [step for step in plan.steps if is_gang_termination_deletion(step)]
    return replace(plan, steps=tuple(step for step in plan.steps if step not in ends[1:]))


def go_operator_without_delay(snapshot: Snapshot) -> Plan:
    template = snapshot.root.spec.template
    if not template.termination_delay:
        return reconcile(snapshot, NEWEST)
    hasty = template.model_copy(update={"termination_delay": timedelta(microseconds=1)})
    spec = snapshot.root.spec.model_copy(update={"template": hasty})
    return reconcile(replace(snapshot, root=replace(snapshot.root, spec=spec)), NEWEST)


def of(name: str) -> Controller:
    return HAND_MUTANTS[name]()


BROKEN: Final[dict[str, Controller]] = {
    "GT-031": of("no_delay_is_a_minute"),
    "GT-033": terminates_nothing,
    "GT-034": of("terminates_at_once"),
    "GT-035": terminates_everything,
    "GT-037": of("deleted_set_terminates"),
    "GT-050": terminates_nothing,
    "GT-051": terminates_breached_cliques,
    "GT-052": of("group_terminates_what_it_cannot_spare"),
    "GT-053": terminates_last_cliques,
    "GT-055": terminates_last_cliques,
    "GT-065": of("scaled_in_replica_is_terminated"),
    "GT-063": of("cause_goes_first"),
    "PL-029": of("terminates_without_fresh_read"),
    "GT-024": of("what_was_not_collected_is_zero"),
    "GT-002": writes_no_status,
    **dict.fromkeys(("GT-011", "GT-012", "GT-013", "GT-014", "GT-015", "GT-041", "GT-042", "GT-043"), writes_no_status),
    "GT-016": of("forgets_availability"),
    "GT-019": of("transition_time_rewritten"),
    "GT-021": writes_no_status,
    "GT-022": writes_no_status,
    "GT-023": writes_a_status_while_deleting,
    "GT-036": names_no_cause,
    "GT-054": names_no_cause,
    "GT-060": of("never_wakes"),
    "PL-002": never_rests,
    "PL-004": deletes_another_version,
    "PL-012": of("refused_deletion_is_repeated"),
    "PL-027": of("refused_deletion_is_repeated"),
    "GF-002": terminates_single_cliques,
    "GF-009": terminates_single_cliques,
    "GF-077": of("deleted_set_terminates"),
    "GF-073": go_operator_by_single_cliques,
    "GF-050": go_operator_without_delay,
}
SCALED: Final = replace(
    FAILING,
    kinds=frozenset({EventKind.SET_SCALED, EventKind.PODS_FAIL, EventKind.DELAY_PASSES}),
    sizes=Sizes(2, 1, 3, 2),
)
EFFORTS: Final = {
    "GT-065": SCALED,
    **dict.fromkeys(("GT-053", "PL-012", "PL-027", "PL-029"), FAILING),
}
EVERY: Final = {one.id: one for one in (*INVARIANTS, *FIELD_INVARIANTS)}
assert EVERY.keys() == BROKEN.keys() | {"GT-032"}


@pytest.mark.req("LT-002")
def test_lt002_a_recovery_that_could_not_be_written_is_forgotten() -> None:
    events = [Event(EventKind.WRITES_FAIL, which=1), Event(EventKind.PODS_FAIL)]
    with pytest.raises(InvariantViolated, match="GT-032 is violated"):
        check_history(forgets_unwritten_recoveries, cluster_of(b""), events, invariants=["GT-032"])
    check_history(reconcile, cluster_of(b""), events)


@pytest.mark.req("LT-002")
@pytest.mark.parametrize("rule", BROKEN)
def test_lt002_a_mistake_violates_the_invariant(rule: str) -> None:
    with pytest.raises(InvariantViolated) as caught:
        check_all(BROKEN[rule], invariants=(EVERY[rule],), effort=EFFORTS.get(rule, UNSHRUNK))
    assert caught.value.invariant is EVERY[rule]


@pytest.mark.parametrize("invariant", EVERY.values(), ids=EVERY)
def test_lt002_number_and_sentence_are_those_of_the_rule(invariant: Invariant) -> None:
    assert invariant.sentence == specification_rules_by_number()[invariant.id].text


@pytest.mark.parametrize("name", ["design", "field"])
def test_lt002_our_rule_sets_keep_their_list(name: str) -> None:
    check_all(rule_sets()[name], effort=FEW)


def test_lt002_each_rule_set_has_its_list() -> None:
    assert invariants_for(NEWEST) is FIELD_INVARIANTS
    assert invariants_for(RuleSet("mine", NEWEST.gang_termination)) is FIELD_INVARIANTS
    assert invariants_for(terminates_nothing) is INVARIANTS


def test_lt001_the_package_has_its_public_names_and_no_others() -> None:
    assert dir(grove_core.testing) == sorted(grove_core.testing.__all__)
    assert all(hasattr(grove_core.testing, name) for name in grove_core.testing.__all__)


def test_lt002_an_invariant_is_a_function_of_snapshot_and_plan() -> None:
    seen = cluster_of(b"").snapshot
    assert EVERY["GT-014"].violations(seen, reconcile(seen)) == ()
    (found,) = EVERY["GT-060"].violations(seen, replace(reconcile(seen), wake_at=seen.now))
    assert str(found) == "wakeAt: expected None, got 2026-11-20 09:00:00+00:00"


def test_lt002_a_kind_that_was_not_collected_forbids_deletions() -> None:
    with pytest.raises(InvariantViolated, match="no deletion without Pod"):
        check_snapshot(
            terminates_everything,
            snapshot_without_kind(cluster_of(b"").snapshot, "Pod"),
            invariants=(EVERY["GT-024"],),
        )


def test_lt002_deletions_for_other_reasons_need_no_fresh_read() -> None:
    seen = cluster_of(b"").snapshot
    failed = Attempt(reconcile(seen).steps[0], AttemptOutcome.NOT_CONFIRMED, "")
    check_snapshot(terminates_everything, replace(seen, attempts=(failed,)), invariants=(EVERY["PL-029"],))


def test_lt002_a_scaling_group_of_a_deleted_set_terminates_by_its_own_rule() -> None:
    @settings(max_examples=300, database=None, phases=(Phase.generate,))
    @given(storms())
    def groups_terminate(start: RandomCluster) -> None:
        seen = replace(start.snapshot, root=replace(start.snapshot.root, deleting=True))
        plan = reconcile(replace(seen, root=replace(seen.root, deleting=False)), NEWEST)
        owners = {one.ref: one.owner_uid for one in seen.cliques}
        of_groups = tuple(step for step in plan.steps if owners.get(step.target, "") != seen.root.uid)
        check_snapshot(lambda _: replace(plan, steps=of_groups), seen, invariants=(EVERY["GF-077"],))

    groups_terminate()


def test_lt002_the_invariant_of_guards_is_about_no_other_law() -> None:
    seen = cluster_of(b"").snapshot
    plan = reconcile(seen)
    assert EVERY["PL-004"].violations(seen, replace(plan, steps=plan.steps * 2)) == ()


def test_lt002_availability_does_not_go_back_between_rounds() -> None:
    seen = cluster_of(b"").snapshot
    (clique,) = seen.cliques
    lost = replace(seen, cliques=(replace(clique, status=replace(clique.status, was_available=False)),))
    found = EVERY["GT-016"].check((Round(seen, reconcile(seen)), Round(lost, reconcile(lost))))
    assert [str(one) for one in found] == [
        "PodClique/llm-0-router: expected wasAvailable true for the same uid, got false"
    ]


def test_lt001_the_import_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "hypothesis", None)
    with pytest.raises(ImportError, match=r"pip install 'grove-plan\[testing\]'"):
        runpy.run_path(grove_core.testing.__file__)
