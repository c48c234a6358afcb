"""What mutants of the kernel lived through until these tests were written (specs/mutants.md)."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, Final

import pytest

from grove_core.areas.gang_termination.rules import TerminationReason
from grove_core.kernel.conditions import REMOVED
from grove_core.kernel.decisions import Decision
from grove_core.kernel.errors import BrokenInvariant
from grove_core.kernel.frozen import FrozenMap, canonical_json, freeze, frozen, object_under_key
from grove_core.kernel.reasons import RuleSentence
from grove_core.kernel.refs import Guard, Ref
from grove_core.kernel.steps import (
    Action,
    Create,
    DeletionImpact,
    Ensure,
    SetStatus,
    Step,
    StepStage,
    must_follow_status_write,
    must_precede_creations,
)
from grove_core.kernel.time_formats import format_time
from grove_core.kernel.wants import DesiredChanges, FieldsToApply, ObjectToCreate, StatusToWrite

GUARD: Final = Guard("uid", "7")
CLIQUE: Final = Ref("grove.io/v1alpha1", "PodClique", "ml", "llm-0-a")
GROUP: Final = Ref("grove.io/v1alpha1", "PodCliqueScalingGroup", "ml", "llm-0-g")
POD: Final = Ref("v1", "Pod", "ml", "llm-0-a-x")
BECAUSE: Final = (TerminationReason.SET_BEING_DELETED.because(CLIQUE),)
OTHERWISE: Final = (TerminationReason.NOTHING_BREACHED.because(CLIQUE),)
EMPTY: Final = FrozenMap({})


def test_pl003_a_verdict_without_a_reason_is_named() -> None:
    with pytest.raises(BrokenInvariant, match=r"^PL-003: verdict 'yes' without a reason$"):
        Decision("yes", ())


def test_pl003_facts_that_do_not_fit_are_named() -> None:
    with pytest.raises(BrokenInvariant, match=r"^PL-003: SET_BEING_DELETED needs \[\], got \['name'\]$"):
        TerminationReason.SET_BEING_DELETED.because(CLIQUE, name="llm")


def test_pl003_a_clause_knows_the_facts_of_its_sentence() -> None:
    clause = RuleSentence("GT-000", "{ready} of {needed} ready {{sic}}")
    assert (clause.requirement, clause.sentence, clause.code) == ("GT-000", "{ready} of {needed} ready {{sic}}", "")
    assert clause.facts == {"ready", "needed"}
    assert RuleSentence("GT-000", "no facts", code="Other").code == "Other"


class TestFrozen:
    """A view over what a reader made is as frozen as a copy of it, and its faults name the culprit."""

    RAW: Final = MappingProxyType({"map": {"list": [{"deep": [1]}, "text"]}, "list": [{"deep": 2}, [3]], "text": "t"})

    def test_what_is_seen_through_a_view_is_frozen_all_the_way(self) -> None:
        view = FrozenMap.view_of(self.RAW)
        assert view["map"] == FrozenMap({"list": (FrozenMap({"deep": (1,)}), "text")})
        assert isinstance(view["map"], FrozenMap)
        assert view["list"] == (FrozenMap({"deep": 2}), (3,))
        assert view["text"] == "t"
        assert view.raw is self.RAW

    def test_one_text_whatever_kind_of_mapping_is_looked_at(self) -> None:
        assert canonical_json(FrozenMap.view_of(self.RAW)) == canonical_json(frozen(self.RAW))
        assert FrozenMap.view_of(self.RAW) == frozen(self.RAW)

    def test_different_json_rarely_has_one_hash(self) -> None:
        assert len({hash(FrozenMap({"replicas": number})) for number in range(100)}) > 90

    def test_faults_name_the_culprit(self) -> None:
        with pytest.raises(TypeError, match=r"^set$"):
            freeze({1})
        with pytest.raises(TypeError, match=r"^set$"):
            canonical_json({1})
        for name in ("raw", "_items"):
            with pytest.raises(AttributeError, match=f"^{name}$"):
                delattr(EMPTY, name)

    def test_a_part_is_an_object_or_empty(self) -> None:
        whole = frozen({"spec": {"replicas": 1}, "kind": "Pod"})
        assert object_under_key(whole, "spec") == FrozenMap({"replicas": 1})
        assert object_under_key(whole, "kind") == object_under_key(whole, "status") == EMPTY


@pytest.fixture
def far_from_greenwich(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "XYZ-5")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("far_from_greenwich")
def test_a_moment_is_written_in_utc_wherever_the_program_runs() -> None:
    assert format_time(datetime(2026, 11, 20, 9, 0, tzinfo=UTC)) == "2026-11-20T09:00:00Z"


@pytest.mark.req("PL-013")
class TestWantsOfOneObject:
    @staticmethod
    def status(fields: dict[str, Any], *, first: bool = False, other: bool = False) -> StatusToWrite:
        return StatusToWrite(CLIQUE, GUARD, FrozenMap(fields), OTHERWISE if other else BECAUSE, is_foundation=first)

    @pytest.mark.req("PL-021")
    @pytest.mark.parametrize("early", [(False, False), (True, False), (False, True), (True, True)])
    def test_a_joined_status_keeps_all_but_its_fields(self, early: tuple[bool, bool]) -> None:
        one = self.status({"replicas": 1}, first=early[0])
        two = self.status({"updated": 1}, first=early[1], other=True)
        joined = DesiredChanges.union_of_areas([DesiredChanges((one,)), DesiredChanges((two,))]).wants
        fields = FrozenMap({"replicas": 1, "updated": 1})
        assert joined == (StatusToWrite(CLIQUE, GUARD, fields, (*BECAUSE, *OTHERWISE), is_foundation=any(early)),)

    def test_conditions_to_take_away_are_added_up(self) -> None:
        one = self.status({"a": 1, REMOVED: ("Ready",)})
        two = self.status({"b": 1, REMOVED: ("Placed",)}, other=True)
        (joined,) = DesiredChanges.union_of_areas([DesiredChanges((one,)), DesiredChanges((two,))]).wants
        assert isinstance(joined, StatusToWrite)
        assert joined.fields == FrozenMap({"a": 1, "b": 1, REMOVED: ("Ready", "Placed")})

    @pytest.mark.parametrize("key", ["conditions", REMOVED])
    def test_what_is_no_list_is_no_list_of_conditions(self, key: str) -> None:
        odd: dict[str, Any] = {key: 5}
        (joined,) = DesiredChanges.union_of_areas(
            [DesiredChanges((self.status(odd),)), DesiredChanges((self.status({"b": 1}),))]
        ).wants
        assert isinstance(joined, StatusToWrite)
        assert joined.fields == FrozenMap({**odd, "b": 1})

    def test_the_fault_names_the_object_and_both_wants(self) -> None:
        one, other = ObjectToCreate(CLIQUE, EMPTY, BECAUSE), FieldsToApply(CLIQUE, GUARD, EMPTY, BECAUSE)
        with pytest.raises(
            BrokenInvariant, match=r"^PL-013: two wants for Ref\(.*: ObjectToCreate\(.* and FieldsToApply\("
        ):
            DesiredChanges.union_of_areas([DesiredChanges((one,)), DesiredChanges((other,))])


def test_pl019_tolls_add_up() -> None:
    assert DeletionImpact(1, 2, 4) + DeletionImpact(8, 16, 32) == DeletionImpact(9, 18, 36)


def step(action: Action, stage: StepStage, target: Ref = CLIQUE) -> Step:
    return Step(stage, target, action, BECAUSE)


def test_pl021_only_a_status_on_which_others_rest_is_reported_first() -> None:
    written = SetStatus(EMPTY, GUARD)
    assert must_precede_creations(step(written, StepStage.FOUNDATION))
    assert not must_precede_creations(step(written, StepStage.STATUS))
    assert not must_precede_creations(step(Ensure(EMPTY), StepStage.FOUNDATION))


def test_pl021_cliques_and_groups_that_are_made_wait_for_what_is_reported() -> None:
    made = Create(EMPTY)
    assert all(must_follow_status_write(step(made, StepStage.WORKLOAD, target)) for target in (CLIQUE, GROUP))
    assert not must_follow_status_write(step(made, StepStage.WORKLOAD, POD))
    assert not must_follow_status_write(step(SetStatus(EMPTY, GUARD), StepStage.STATUS))
