"""What mutants of the planner lived through until these tests were written (specs/mutants.md)."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Any, Final

import pytest

from grove_core.areas.gang_termination.rules import TerminationReason
from grove_core.kernel.decisions import Finding
from grove_core.kernel.frozen import FrozenDict, FrozenMap, frozen
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Guard, Ref
from grove_core.kernel.steps import (
    Action,
    Apply,
    Attempt,
    Create,
    Delete,
    DeletionImpact,
    DropFinalizer,
    Ensure,
    SetStatus,
    Step,
    StepStage,
)
from grove_core.kernel.structs import replace
from grove_core.kernel.time_formats import format_time
from grove_core.kernel.wants import (
    FieldsToApply,
    FinalizerToDrop,
    ObjectToCreate,
    ObjectToDelete,
    ObjectToEnsure,
    StatusToWrite,
    Want,
    Withheld,
)
from grove_core.plan.deletion_impact import DeletionImpacts
from grove_core.plan.forecast import Forecast, ForecastRound, RepeatedRounds, one_round_forecast, round_fingerprint
from grove_core.plan.plan import Plan
from grove_core.plan.plan_laws import BrokenPlanLaw, broken_laws_in_plan
from grove_core.plan.plan_staleness import PlanChange, changes_since_reviewed_plan
from grove_core.plan.planner import steps_for_objects_without_root
from grove_core.resources.api_names import GROVE
from grove_core.resources.metadata_readers import Resource
from grove_core.resources.pod import Pod, pod_from_json
from grove_core.testing import cluster_of
from tests.property.terminating_sets import ENDING
from tests.property.termination_bases import basis_of, termination_deletion_for

GUARD: Final = Guard("u-1", "7")
SET: Final = Ref(GROVE, "PodCliqueSet", "ml", "llm")
CLIQUE: Final = Ref(GROVE, "PodClique", "ml", "llm-0-a")
NODE: Final = Ref("v1", "Node", "", "n1")
BECAUSE: Final = (TerminationReason.SET_BEING_DELETED.because(SET),)
EMPTY: Final = FrozenMap({})
NOW: Final = datetime(2026, 11, 20, 9, 0, tzinfo=UTC)
MINUTE: Final = timedelta(minutes=1)


def stored(ref: Ref, uid: str, **more: Any) -> Resource:
    fields = {"owner_uid": "", "owner_kind": "", "owner_name": "", "finalizers": (), "deleting": False, **more}
    return Resource(ref=ref, uid=uid, resource_version="7", **fields)


KNOWN: Final = MappingProxyType(
    {
        SET: stored(SET, "u-0"),
        CLIQUE: stored(CLIQUE, "u-1", owner_uid="u-0", finalizers=("hold",)),
    }
)


@dataclass(frozen=True)
class Seen:
    """As little of a view as the laws ask for."""

    objects: Mapping[Ref, Resource | Pod]
    root_ref: Ref = SET
    root_uid: str = "u-0"
    attempts: tuple[Attempt, ...] = ()

    def objects_by_ref(self) -> Mapping[Ref, Resource | Pod]:
        return self.objects


def manifest(name: str = "llm-0-a", *, owner: str = "u-0", namespace: str = "ml") -> FrozenMap:
    owners = [{"uid": owner, "kind": "PodCliqueSet", "name": "llm", "controller": True}] if owner else []
    return frozen({"metadata": {"name": name, "namespace": namespace, "ownerReferences": owners}, "spec": {"a": 1}})


def step(action: Action, stage: StepStage = StepStage.WORKLOAD, *, target: Ref = CLIQUE) -> Step:
    return Step(stage, target, action, BECAUSE)


def wrong(
    *steps: Step, known: Mapping[Ref, Resource | Pod] = KNOWN, withheld: tuple[Withheld, ...] = ()
) -> list[tuple[str, str, str]]:
    plan = Plan(root=SET, root_uid="u-0", rules="design", steps=steps, withheld=withheld)
    return [(one.where, f"{one.expected} ({one.law})", one.got) for one in broken_laws_in_plan(plan, Seen(known))]


def leaving(*finalizers: str) -> Mapping[Ref, Resource | Pod]:
    return {**KNOWN, CLIQUE: stored(CLIQUE, "u-1", finalizers=finalizers, deleting=True)}


class Counted(dict[Ref, Resource | Pod]):
    """Objects that know how often all of them were gone through."""

    times = 0

    def values(self) -> Any:
        self.times += 1
        return super().values()


class TestLaws:
    """Each breach is reported in full: where, what the law asks for, and what the plan has."""

    PATH: Final = "PodClique/llm-0-a"
    NEW: Final = replace(CLIQUE, name="llm-0-b")

    @pytest.mark.req("PL-001")
    def test_pl013_two_steps_for_one_object(self) -> None:
        two = (step(Delete(GUARD), StepStage.CLEANUP), step(Apply(EMPTY, GUARD)))
        assert wrong(*two) == [
            (self.PATH, "one step (PL-013)", "2 steps"),
            ("steps", "order by stage and target (PL-001)", "another order"),
        ]

    def test_pl003_no_reason(self) -> None:
        bare = replace(step(Delete(GUARD)), because=())
        expected = (self.PATH, "a reason (PL-003)", "none")
        assert wrong(bare, withheld=(Withheld(CLIQUE, ()),)) == [expected, expected]

    def test_pl004_a_foreign_object_and_an_old_version(self) -> None:
        foreign = step(Delete(GUARD), target=self.NEW)
        old = step(Delete(Guard("u-1", "6")))
        assert wrong(foreign) == [("PodClique/llm-0-b", "an object the root owns (PL-004)", "a foreign object")]
        assert wrong(old) == [(self.PATH, f"{GUARD} (PL-004)", str(Guard("u-1", "6")))]

    def test_pl011_an_empty_status(self) -> None:
        found = wrong(step(SetStatus(EMPTY, GUARD), StepStage.STATUS))
        assert found == [(self.PATH, "a field that differs (PL-011)", "an empty status")]

    def test_pl016_the_owners_of_a_thousand_creations_are_looked_up_and_not_searched_for(self) -> None:
        names = [f"llm-0-c{number}" for number in range(1000)]
        steps = [step(Create(manifest(name)), target=replace(CLIQUE, name=name)) for name in names]
        known = Counted(KNOWN)
        assert wrong(*sorted(steps, key=lambda one: one.sort_key), known=known) == []
        assert known.times == 1

    @pytest.mark.req("PL-018")
    @pytest.mark.req("WL-001")
    def test_pl004_what_may_go_and_what_may_be_released(self) -> None:
        release = step(DropFinalizer("hold", GUARD), StepStage.CLEANUP)
        held = (self.PATH, "a deleted object it holds (WL-001)", "hold")
        taken = (self.PATH, "an object that stays (PL-018)", "one being deleted")
        assert wrong(step(Delete(GUARD)), known=leaving()) == [taken]
        assert wrong(release) == [held]
        assert wrong(release, known=leaving("other")) == [held]
        assert wrong(release, known=leaving("hold")) == []

    def test_pl004_a_pod_holds_no_finalizer(self) -> None:
        raw = {"metadata": {"name": "p", "namespace": "ml", "uid": "u-1", "resourceVersion": "7"}}
        pod = pod_from_json(raw, {})
        released = step(DropFinalizer("hold", GUARD), target=pod.ref)
        assert wrong(released, known={pod.ref: pod}) == [("Pod/p", "a deleted object it holds (WL-001)", "hold")]

    def test_pl016_what_is_created(self) -> None:
        assert wrong(step(Create(manifest("llm-0-b")), target=self.NEW)) == []
        assert wrong(step(Create(manifest()))) == [(self.PATH, "a name that is free (PL-016)", "one that is taken")]
        other = wrong(step(Create(manifest("llm-0-c")), target=self.NEW))
        assert other == [("PodClique/llm-0-b", "a manifest of that name (PL-016)", "PodClique/llm-0-c")]
        homeless = wrong(step(Create(manifest("llm-0-b", owner="u-9")), target=self.NEW))
        assert homeless == [("PodClique/llm-0-b", "an owner in the snapshot (PL-016)", "llm")]
        alone = wrong(step(Create(manifest("llm-0-b", owner="")), target=self.NEW))
        assert alone == [("PodClique/llm-0-b", "an owner in the snapshot (PL-016)", "")]

    def test_pl016_the_namespace_is_part_of_the_name(self) -> None:
        found = wrong(step(Create(manifest("llm-0-b", namespace="dev")), target=self.NEW))
        assert found == [("PodClique/llm-0-b", "a manifest of that name (PL-016)", "PodClique/llm-0-b")]

    def test_pl016_what_has_no_namespace_needs_no_owner(self) -> None:
        bare = frozen({"metadata": {"name": "n1"}})
        assert wrong(step(Create(bare), target=NODE)) == []
        named = wrong(step(Create(frozen({"metadata": {"name": "n2"}})), target=NODE))
        assert named == [("Node/n1", "a manifest of that name (PL-016)", "Node/n2")]

    def test_pl016_a_manifest_without_a_name_is_a_problem_and_no_crash(self) -> None:
        found = wrong(step(Create(frozen({"metadata": {"namespace": "ml"}})), target=self.NEW))
        assert found[0] == ("PodClique/llm-0-b", "a manifest of that name (PL-016)", "PodClique/")

    def test_pl016_what_is_ensured_comes_first(self) -> None:
        assert wrong(step(Ensure(manifest("llm-0-b")), StepStage.FOUNDATION, target=self.NEW)) == []
        late = wrong(step(Ensure(manifest("llm-0-b")), target=self.NEW))
        assert late == [("PodClique/llm-0-b", "to come before what stands on it (PL-016)", "WORKLOAD")]

    def test_a_breach_is_a_problem_like_any_other(self) -> None:
        bare = Plan(root=SET, root_uid="u-0", rules="design", withheld=(Withheld(CLIQUE, ()),))
        (found,) = broken_laws_in_plan(bare, Seen(KNOWN))
        assert found == BrokenPlanLaw("PL-003", self.PATH, "a reason", "none")
        assert str(found) == f"{self.PATH}: expected a reason (PL-003), got none"


class TestStaleness:
    """PL-020: differences from the review are reported in words."""

    def test_pl020_a_change_is_reported_as_was_and_is(self) -> None:
        assert str(PlanChange(CLIQUE, "step", "a", "b")) == "PodClique/llm-0-a: step: was a, is b"
        assert str(PlanChange(CLIQUE, "step", "", "")) == "PodClique/llm-0-a: step: was nothing, is nothing"

    def test_pl020_a_step_is_reported_by_its_verb_and_its_reason(self) -> None:
        verb = "the set is being deleted; nothing of it is terminated"
        old, new = step(Delete(GUARD)), step(Apply(EMPTY, GUARD))
        assert changes_since_reviewed_plan([old], [new]) == (
            PlanChange(CLIQUE, "step", f"Delete ({verb})", f"Apply ({verb})"),
        )
        assert changes_since_reviewed_plan([old], []) == (PlanChange(CLIQUE, "step", f"Delete ({verb})", ""),)
        assert changes_since_reviewed_plan([], [new]) == (PlanChange(CLIQUE, "step", "", f"Apply ({verb})"),)

    def test_pl020_facts_that_come_or_go_are_reported_with_their_rule_and_subject(self) -> None:
        missing = TerminationReason.CONSTITUENT_MISSING.because(CLIQUE, name="llm-0-b")
        off = TerminationReason.TERMINATION_DISABLED.because(CLIQUE)
        old = replace(step(Delete(GUARD)), because=(missing,))
        new = replace(old, because=(off,))
        gone, come = "ConstituentMissing of PodClique/llm-0-a", "TerminationDisabled of PodClique/llm-0-a"
        assert changes_since_reviewed_plan([old], [new]) == (
            PlanChange(CLIQUE, gone, "a reason", ""),
            PlanChange(CLIQUE, f"{gone}: name", "llm-0-b", ""),
            PlanChange(CLIQUE, come, "", "a reason"),
        )
        assert changes_since_reviewed_plan([new], [old]) == (
            PlanChange(CLIQUE, gone, "", "a reason"),
            PlanChange(CLIQUE, f"{gone}: name", "", "llm-0-b"),
            PlanChange(CLIQUE, come, "a reason", ""),
        )

    def test_pl020_a_new_deletion_impact_is_reported(self) -> None:
        old, new = step(Delete(GUARD)), step(Delete(GUARD, takes=DeletionImpact(3, 2, 8)))
        assert changes_since_reviewed_plan([old], [new]) == (
            PlanChange(CLIQUE, "what is written", "[[],false,[]]", "[[],false,[3,2,8]]"),
        )

    @pytest.mark.parametrize("key", ["lastTransitionTime", "observedGeneration", "updateStartedAt", "updateEndedAt"])
    def test_pl020_moments_move_also_in_lists(self, key: str) -> None:
        def written(moment: str, status: str) -> Step:
            fields = {"conditions": [{"type": "Ready", "status": status, key: moment}]}
            return step(SetStatus(frozen(fields), GUARD), StepStage.STATUS)

        assert changes_since_reviewed_plan([written("a", "True")], [written("b", "True")]) == ()
        (change,) = changes_since_reviewed_plan([written("a", "True")], [written("b", "False")])
        assert change.before == '{"conditions":[{"status":"True","type":"Ready"}]}'

    @pytest.mark.parametrize(("letters", "shown"), [(72, 80), (73, 80), (200, 80), (10, 18)])
    def test_pl020_what_is_long_is_cut_at_eighty(self, letters: int, shown: int) -> None:
        old, new = (step(Apply(frozen({"a": letter * letters}), GUARD)) for letter in "xy")
        (change,) = changes_since_reviewed_plan([old], [new])
        text = f'{{"a":"{"x" * letters}"}}'
        assert len(change.before) == shown
        assert change.before == (text if len(text) <= 80 else f"{text[:77]}...")


class TestRecurrence:
    """PL-024: what distinguishes two rounds, and what does not."""

    @staticmethod
    def since(moment: datetime) -> Reason:
        return TerminationReason.DELAY_EXPIRED.because(CLIQUE, since=format_time(moment), delay="4h", until="then")

    def looked(self, action: Action, moment: datetime, held: datetime) -> Plan:
        one = Step(StepStage.CLEANUP, CLIQUE, action, (self.since(moment),))
        back = (Withheld(CLIQUE, (self.since(held),)),)
        return Plan(root=SET, root_uid="u-0", rules="design", steps=(one,), withheld=back)

    def test_pl024_another_verb_is_another_round(self) -> None:
        images = {
            round_fingerprint(self.looked(action, NOW, NOW), NOW, NOW) for action in (Delete(GUARD), Create(EMPTY))
        }
        assert len(images) == 2

    def test_pl024_moments_are_distances_in_what_is_held_back_too(self) -> None:
        later, begun = NOW + 5 * MINUTE, NOW - MINUTE
        early = round_fingerprint(self.looked(Delete(GUARD), NOW, NOW), NOW + MINUTE, begun)
        assert early == round_fingerprint(self.looked(Delete(GUARD), later, later), later + MINUTE, begun)
        assert early != round_fingerprint(self.looked(Delete(GUARD), later, NOW), later + MINUTE, begun)
        assert early != round_fingerprint(self.looked(Delete(GUARD), NOW, later), later + MINUTE, begun)

    def test_pl024_moments_before_the_forecast_count_as_they_are(self) -> None:
        past = NOW - MINUTE
        early = round_fingerprint(self.looked(Delete(GUARD), past, past), NOW + MINUTE, NOW)
        assert early == round_fingerprint(self.looked(Delete(GUARD), past, past), NOW + 9 * MINUTE, NOW)

    @pytest.mark.parametrize(("number", "times"), [(1, 1), (2, 6), (3, 6)])
    def test_pl024_the_first_round_of_a_lap_comes_again_too(self, number: int, times: int) -> None:
        again = RepeatedRounds(since=2, every=MINUTE, until=NOW + 5 * MINUTE)
        played = ForecastRound(number, NOW, (), (), None)
        forecast = Forecast(root=SET, root_uid="u-0", rounds=(played,), again=again)
        assert forecast.round_occurrence_count(played) == times

    def test_pl024_the_requeue_time_is_a_distance_too(self) -> None:
        bare = Plan(root=SET, root_uid="u-0", rules="design")
        looks = [replace(bare, wake_at=NOW + number * MINUTE) for number in (1, 2)]
        assert len({round_fingerprint(plan, NOW, NOW) for plan in (bare, *looks)}) == 3
        assert round_fingerprint(looks[0], NOW, NOW) == round_fingerprint(looks[1], NOW + MINUTE, NOW)


class TestNames:
    """PL-024: of the name of a pod only the letters that chance drew do not count."""

    POD: Final = Ref("v1", "Pod", "ml", "llm-0-a-abcde")

    @staticmethod
    def image(ref: Ref) -> object:
        plan = Plan(root=SET, root_uid="u-0", rules="design", steps=(step(Delete(GUARD), target=ref),))
        return round_fingerprint(plan, NOW, NOW)

    def test_pl024_drawn_letters_do_not_count(self) -> None:
        assert self.image(self.POD) == self.image(replace(self.POD, name="llm-0-a-vwxyz"))

    @pytest.mark.parametrize(
        "other", [{"api_version": "v2"}, {"namespace": "dev"}, {"name": "llm-0-b-abcde"}, {"replica": 0}], ids=str
    )
    def test_pl024_all_else_of_an_address_counts(self, other: dict[str, Any]) -> None:
        assert self.image(self.POD) != self.image(replace(self.POD, **other))

    def test_pl024_a_pod_is_no_clique_and_a_clique_is_named_in_full(self) -> None:
        clique = replace(self.POD, kind="PodClique")
        assert len({self.image(ref) for ref in (clique, replace(clique, name="llm-0-a-vwxyz"), self.POD)}) == 3

    def test_pl024_a_pod_keeps_its_kind(self) -> None:
        cut = Ref("v1", "Secret", "ml", "llm-0-a-")
        assert len({self.image(self.POD), self.image(cut)}) == 2


def test_a_plan_is_a_forecast_of_one_round() -> None:
    wake = NOW + MINUTE
    finding = Finding(SET, "termination", "keep", BECAUSE)
    held = (Withheld(CLIQUE, BECAUSE),)
    plan = Plan(root=SET, root_uid="u-0", rules="design", withheld=held, wake_at=wake, findings=(finding,))
    only = ForecastRound(1, NOW, (), held, wake)
    reported = Forecast(root=SET, root_uid="u-0", rounds=(only,), findings=(finding,), complete=True)
    assert one_round_forecast(plan, NOW) == reported
    busy = replace(plan, steps=(step(Delete(GUARD)),))
    assert one_round_forecast(busy, NOW) == replace(reported, rounds=(replace(only, steps=busy.steps),), complete=False)


MADE: Final = manifest()
BASIS: Final = basis_of((SET, GUARD))
AS_COMPANION: Final = termination_deletion_for((SET, GUARD))
AS_CAUSE: Final = termination_deletion_for((SET, GUARD), is_cause=True)
FIELDS: Final = FrozenMap({"replicas": 1})


@pytest.mark.req("PL-014")
@pytest.mark.req("PL-021")
@pytest.mark.req("PL-016")
@pytest.mark.parametrize(
    ("want", "stage", "action"),
    [
        (ObjectToCreate(CLIQUE, MADE, BECAUSE), StepStage.WORKLOAD, Create(MADE)),
        (ObjectToCreate(CLIQUE, MADE, BECAUSE, is_foundation=True), StepStage.FOUNDATION, Create(MADE)),
        (ObjectToEnsure(CLIQUE, MADE, BECAUSE), StepStage.FOUNDATION, Ensure(MADE)),
        (FieldsToApply(CLIQUE, GUARD, FIELDS, BECAUSE), StepStage.WORKLOAD, Apply(FIELDS, GUARD)),
        (StatusToWrite(CLIQUE, GUARD, FIELDS, BECAUSE), StepStage.STATUS, SetStatus(FIELDS, GUARD)),
        (
            StatusToWrite(CLIQUE, GUARD, FIELDS, BECAUSE, is_foundation=True),
            StepStage.FOUNDATION,
            SetStatus(FIELDS, GUARD),
        ),
        (
            ObjectToDelete(CLIQUE, GUARD, BECAUSE, termination=AS_COMPANION),
            StepStage.CLEANUP,
            Delete(GUARD, basis=BASIS),
        ),
        (
            ObjectToDelete(CLIQUE, GUARD, BECAUSE, foreground=True, termination=AS_CAUSE),
            StepStage.CAUSE,
            Delete(GUARD, foreground=True, basis=BASIS),
        ),
        (FinalizerToDrop(CLIQUE, GUARD, "hold", BECAUSE), StepStage.CLEANUP, DropFinalizer("hold", GUARD)),
    ],
    ids=["create", "found", "ensure", "apply", "status", "tell", "delete", "end", "release"],
)
def test_pl003_each_want_is_one_step_of_its_stage(want: Want, stage: StepStage, action: Action) -> None:
    assert steps_for_objects_without_root([want]) == (Step(stage, CLIQUE, action, BECAUSE),)


def test_pl001_steps_without_a_root_are_in_order_too() -> None:
    first, second = ObjectToEnsure(CLIQUE, MADE, BECAUSE), FinalizerToDrop(SET, GUARD, "hold", BECAUSE)
    assert [one.target for one in steps_for_objects_without_root([second, first])] == [CLIQUE, SET]


def test_pl019_a_clique_that_has_no_pods_takes_none_along() -> None:
    snapshot = replace(cluster_of(ENDING).snapshot, pods_of=FrozenDict())
    deleted = {clique.ref for clique in snapshot.cliques} | {group.ref for group in snapshot.groups}
    assert deleted
    assert {DeletionImpacts(snapshot, deleted).impact_of_deleting(ref) for ref in deleted} == {DeletionImpact()}
