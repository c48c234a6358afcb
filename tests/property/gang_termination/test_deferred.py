"""Terminations are deferred while a fresh read fails (PL-029), by every rule set."""

from datetime import timedelta
from typing import Final

import pytest

from grove_core.areas.gang_termination.termination_result import TerminationResult, defer_unconfirmed_terminations
from grove_core.areas.gang_termination.verdicts import ReplicasToTerminate
from grove_core.kernel.conditions import Condition, ConditionStatus
from grove_core.kernel.frozen import frozen_dict_of_tuples
from grove_core.kernel.steps import Attempt, AttemptOutcome, Create, Delete
from grove_core.kernel.structs import replace
from grove_core.plan.planner import steps_for_objects_without_root
from grove_core.reconcile import reconcile
from grove_core.resources.api_names import CLIQUE_SCHEDULED, MIN_AVAILABLE_BREACHED
from grove_core.resources.podclique import PodClique
from grove_core.rule_sets.rule_set import DESIGN, RuleSet
from grove_core.rule_sets.rule_set_by_name import rule_set
from grove_core.snapshot.snapshot import Snapshot
from tests.property.workload.sets import clique_raw, set_raw
from tests.property.workload.settled_sets import rested

POOL: Final = {"name": "g", "cliqueNames": ["x", "y"], "replicas": 2, "minAvailable": 1}
RULES: Final = [rule_set(name) for name in ("design", "field", "field@v0.1.0-alpha.11")]
NAMED: Final = pytest.mark.parametrize("rules", RULES, ids=lambda rules: rules.name)
SICK: Final = ("llm-0-a", "llm-1-g-1-x")  # breached in replica 0 of the set, and in a replica of a group of replica 1


def due() -> Snapshot:
    """Return a snapshot in which both are due, and nothing else is."""
    parts = (clique_raw("a", 1), clique_raw("b", 1), clique_raw("x", 1), clique_raw("y", 1))
    seen = rested(set_raw(*parts, groups=(POOL,), replicas=2, terminationDelay="1h")).look()
    assert seen is not None
    at = seen.now - timedelta(hours=2)
    scheduled = Condition(CLIQUE_SCHEDULED, ConditionStatus.TRUE, "Drawn", "", at - timedelta(hours=1))
    breach = Condition(MIN_AVAILABLE_BREACHED, ConditionStatus.TRUE, "Drawn", "", at)
    sick = {clique.uid for clique in seen.cliques if clique.ref.name in SICK}

    def as_it_is(one: PodClique) -> PodClique:
        return replace(one, status=replace(one.status, conditions=(breach, scheduled))) if one.uid in sick else one

    pods = {
        uid: tuple(replace(pod, ready=uid not in sick, unready=uid in sick) for pod in of)
        for uid, of in seen.pods_of.items()
    }
    return replace(seen, cliques=tuple(map(as_it_is, seen.cliques)), pods_of=frozen_dict_of_tuples(pods))


SEEN: Final = due()


def deferred(result: TerminationResult) -> TerminationResult:
    """Return the result after a fresh read failed."""
    (first, *_) = steps_for_objects_without_root(result.deletions)
    return defer_unconfirmed_terminations(
        result, replace(SEEN, attempts=(Attempt(first, AttemptOutcome.NOT_CONFIRMED, "503"),))
    )


@NAMED
def test_pl029_nothing_is_terminated_without_a_fresh_read(rules: RuleSet) -> None:
    result = rules.gang_termination(SEEN)
    assert result.terminating == ReplicasToTerminate(frozenset({0}), frozenset({("llm-1-g", 1)}))
    assert defer_unconfirmed_terminations(result, SEEN) is result
    assert deferred(result) == result._replace(deletions=(), deferred=result.deletions)


@pytest.mark.req("WL-076")
def test_pl029_nothing_of_a_due_replica_is_created_again() -> None:
    """A missing clique may have been deleted by the termination, or may exist and not be in the cache."""
    (first, *_) = steps_for_objects_without_root(DESIGN.gang_termination(SEEN).deletions)
    left = tuple(one for one in SEEN.cliques if one.ref.name not in {"llm-0-b", "llm-1-b"})
    plan = reconcile(replace(SEEN, cliques=left, attempts=(Attempt(first, AttemptOutcome.NOT_CONFIRMED, "503"),)))
    made = {step.target.name for step in plan.steps if isinstance(step.action, Create)}
    assert made & {"llm-0-b", "llm-1-b"} == {"llm-1-b"}
    assert not any(isinstance(step.action, Delete) for step in plan.steps)
