"""Broken laws of a plan, each reported in full: where, what the law asks for, and what the plan has."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Any, Final

import pytest

from grove_core.areas.gang_termination.rules import TerminationReason
from grove_core.kernel.frozen import FrozenMap, frozen
from grove_core.kernel.refs import Guard, Ref
from grove_core.kernel.steps import (
    Action,
    Apply,
    Attempt,
    Create,
    Delete,
    DropFinalizer,
    Ensure,
    SetStatus,
    Step,
    StepStage,
)
from grove_core.kernel.structs import replace
from grove_core.kernel.wants import (
    Withheld,
)
from grove_core.plan.plan import Plan
from grove_core.plan.plan_laws import BrokenPlanLaw, broken_laws_in_plan
from grove_core.resources.api_names import GROVE
from grove_core.resources.metadata_readers import Resource
from grove_core.resources.pod import Pod, pod_from_json

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
