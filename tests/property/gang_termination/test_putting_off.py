"""What an end is while the server cannot be asked about it (PL-029), by whatever rules."""

from dataclasses import replace
from datetime import timedelta
from typing import Final

import pytest

from grove_core.areas.gang_termination.putting_off import unless_unasked
from grove_core.areas.gang_termination.rulesets import rule_set
from grove_core.areas.gang_termination.ruling import RuleSet, Ruling
from grove_core.areas.gang_termination.verdicts import Ending
from grove_core.kernel.conditions import Condition, Truth
from grove_core.kernel.refs import Guard
from grove_core.kernel.steps import FAILURES, Attempt, Create, Delete, Outcome, Step
from grove_core.plan.difference import steps_for
from grove_core.reconcile import reconcile
from grove_core.resources.keys import CLIQUE_SCHEDULED, MIN_AVAILABLE_BREACHED
from grove_core.resources.meta import Resource
from grove_core.resources.podclique import PodClique
from grove_core.snapshot.snapshot import Snapshot
from tests.property.workload.rested import rested
from tests.property.workload.sets import clique_raw, set_raw

POOL: Final = {"name": "g", "cliqueNames": ["x", "y"], "replicas": 2, "minAvailable": 1}
RULES: Final = [rule_set(name) for name in ("design", "field", "field@v0.1.0-alpha.11")]
NAMED: Final = pytest.mark.parametrize("rules", RULES, ids=lambda rules: rules.name)
SICK: Final = ("llm-0-a", "llm-1-g-1-x")  # a replica of the set ends, and one of a group of the other


def due() -> Snapshot:
    """Both are due, and nobody else is."""
    parts = (clique_raw("a", 1), clique_raw("b", 1), clique_raw("x", 1), clique_raw("y", 1))
    seen = rested(set_raw(*parts, groups=(POOL,), replicas=2, terminationDelay="1h")).look()
    assert seen is not None
    at = seen.now - timedelta(hours=2)
    scheduled = Condition(CLIQUE_SCHEDULED, Truth.TRUE, "Drawn", "", at - timedelta(hours=1))
    breach = Condition(MIN_AVAILABLE_BREACHED, Truth.TRUE, "Drawn", "", at)
    sick = {clique.uid for clique in seen.cliques if clique.ref.name in SICK}

    def as_it_is(one: PodClique) -> PodClique:
        return replace(one, status=replace(one.status, conditions=(breach, scheduled))) if one.uid in sick else one

    pods = {
        uid: tuple(replace(pod, ready=uid not in sick, unready=uid in sick) for pod in of)
        for uid, of in seen.pods_of.items()
    }
    return replace(seen, cliques=tuple(map(as_it_is, seen.cliques)), pods_of=pods)


SEEN: Final = due()


def put_off(ruling: Ruling, *more: Attempt) -> Ruling:
    """The ruling once the server could not be asked."""
    (first, *_) = steps_for(ruling.ends)
    return unless_unasked(ruling, replace(SEEN, attempts=(*more, Attempt(first, Outcome.UNASKED, "503"))))


def deletion_in(ruling: Ruling, name: str) -> Step:
    (found,) = (step for step in steps_for(ruling.ends) if step.target.name == name)
    return found


@NAMED
def test_pl029_nothing_ends_before_the_server_says_what_there_is(rules: RuleSet) -> None:
    ruling = rules.rule(SEEN)
    assert ruling.ending == Ending(frozenset({0}), frozenset({("llm-1-g", 1)}))
    assert unless_unasked(ruling, SEEN) is ruling
    assert put_off(ruling) == ruling._replace(ends=(), put_off=ruling.ends, ending=Ending())


@NAMED
@pytest.mark.parametrize("outcome", sorted(FAILURES, key=str))
@pytest.mark.parametrize(
    ("name", "begun"),
    [("llm-0-b", Ending(replicas=frozenset({0}))), ("llm-1-g-1-y", Ending(parts=frozenset({("llm-1-g", 1)})))],
    ids=["of the set", "of a group"],
)
def test_pl029_an_end_that_was_tried_has_begun(rules: RuleSet, name: str, begun: Ending, outcome: Outcome) -> None:
    ruling = rules.rule(SEEN)
    step = deletion_in(ruling, name)
    assert put_off(ruling, Attempt(step, outcome, "no")).ending == begun


@NAMED
def test_pl029_what_was_done_or_is_of_no_end_or_of_former_ones_tells_of_none_that_has_begun(rules: RuleSet) -> None:
    ruling = rules.rule(SEEN)
    step = deletion_in(ruling, "llm-0-b")
    assert isinstance(step.action, Delete)
    ((ref, _), *_) = step.action.rests_on
    former = Guard("another", "1")
    for attempt in (
        Attempt(step, Outcome.DONE, ""),
        Attempt(replace(step, action=Delete(former, ((ref, former),))), Outcome.REFUSED, "no"),
        Attempt(replace(step, action=Delete(step.action.guard)), Outcome.REFUSED, "no"),
    ):
        assert put_off(ruling, attempt).ending == Ending()


@NAMED
@pytest.mark.parametrize("stays", [True, False], ids=["the part stays", "its cause stays"])
def test_pl029_an_end_has_begun_for_whatever_it_was_tried(rules: RuleSet, *, stays: bool) -> None:
    """Of two that were due the first recovered since; or the part is gone by now, and who was due is there."""
    ruling = rules.rule(SEEN)
    step = deletion_in(ruling, "llm-0-b")
    assert isinstance(step.action, Delete)
    (other,) = (clique for clique in SEEN.cliques if clique.ref.name == "llm-0-g-0-x")
    former = Guard("another", "1")
    part, cause = (step.action.guard, former) if stays else (former, other.guard)
    tried = replace(step, action=Delete(part, ((other.ref, cause),)))
    assert put_off(ruling, Attempt(tried, Outcome.CONFLICT, "no")).ending == Ending(frozenset({0}))


@NAMED
def test_pl029_a_part_that_had_begun_has_so_when_the_whole_is_due(rules: RuleSet) -> None:
    ruling = rules.rule(SEEN)
    both = ruling._replace(ending=Ending(frozenset({0, 1}), frozenset({("llm-1-g", 1), ("llm-1-g", 0)})))
    tried = Attempt(deletion_in(ruling, "llm-1-g-1-y"), Outcome.REFUSED, "no")
    assert put_off(both, tried).ending == Ending(frozenset({1}), both.ending.parts)


@NAMED
def test_pl029_what_ends_and_has_nothing_left_to_delete_has_begun(rules: RuleSet) -> None:
    """Its cause is on its way out, held by somebody's finalizer."""
    ruling = rules.rule(SEEN)
    left = tuple(end for end in ruling.ends if not end.target.name.startswith("llm-0-"))
    ending = Ending(frozenset({0, 1}), ruling.ending.parts)
    assert put_off(ruling._replace(ends=left, ending=ending)).ending == Ending(frozenset({0, 1}))


@NAMED
def test_pl029_an_end_whose_cause_is_on_its_way_out_has_begun(rules: RuleSet) -> None:
    """It rests on whose replica it is."""
    ruling = rules.rule(SEEN)
    root, group = SEEN.root, next(one for one in SEEN.groups if one.ref.name == "llm-1-g")

    def without_their_cause(owner: Resource) -> Ruling:
        is_of_set = owner is root
        return ruling._replace(
            ends=tuple(
                replace(end, rests_on=((owner.ref, owner.guard),))
                if end.target.name.startswith("llm-0-") is is_of_set
                else end
                for end in ruling.ends
            )
        )

    assert put_off(without_their_cause(root)).ending == Ending(frozenset({0}))
    assert put_off(without_their_cause(group)).ending == Ending(parts=frozenset({("llm-1-g", 1)}))


@NAMED
@pytest.mark.req("WL-076")
@pytest.mark.parametrize("begun", [False, True], ids=["put off", "begun"])
def test_pl029_only_what_an_end_took_that_was_tried_is_not_made_again(rules: RuleSet, *, begun: bool) -> None:
    """A part of the due replica is gone: by hand, or with an end another part of which could not be deleted."""
    ruling = rules.rule(SEEN)
    tried = (Attempt(deletion_in(ruling, "llm-0-g-0-x"), Outcome.REFUSED, "change freeze"),) if begun else ()
    (first, *_) = steps_for(ruling.ends)
    left = tuple(one for one in SEEN.cliques if one.ref.name != "llm-0-b")
    plan = reconcile(replace(SEEN, cliques=left, attempts=(*tried, Attempt(first, Outcome.UNASKED, "503"))), rules)
    made = {step.target.name for step in plan.steps if isinstance(step.action, Create)}
    assert ("llm-0-b" in made) is not begun
    assert not any(isinstance(step.action, Delete) for step in plan.steps)
