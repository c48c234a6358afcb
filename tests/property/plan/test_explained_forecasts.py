"""An explanation of an object says what the plan says: averted terminations, later rounds, deleted pods (CL-125)."""

from collections.abc import Iterator
from random import Random

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from grove_core.admit import manifest_with_defaults_of
from grove_core.explain import explanation_of_forecast
from grove_core.forecast_explanation import URGENCY_BY_VERDICT, EntryUrgency
from grove_core.in_memory.forecasts import forecasts_of_snapshots
from grove_core.in_memory.update_forecasts import forecast_with_edit
from grove_core.kernel.questions import BREACH, TERMINATION
from grove_core.kernel.steps import Delete
from grove_core.kernel.structs import replace
from grove_core.object_explanation import ObjectExplanation
from grove_core.plan.forecast import Forecast
from grove_core.reconcile import reconcile
from grove_core.resources.edited_manifest_fields import manifest_changes
from grove_core.rule_sets.rule_set import RuleSet
from grove_core.rule_sets.rule_set_by_name import rule_set
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.reading.manifest_admission import set_with_manifest_applied
from tests.property.breached_sets import broken_set
from tests.property.few_examples import RARELY
from tests.property.plan.ready_sets import ready_set
from tests.property.test_averted import CLIQUES, RULES, some
from tests.simulation.edit_agreement import Json, drawn_edit, drawn_set
from tests.simulation.sample_sets import clique_raw, set_raw


def explanations(seen: Snapshot, forecast: Forecast, rules: RuleSet) -> Iterator[ObjectExplanation]:
    """Yield the explanation of every object of a set that consists of pods."""
    plan = reconcile(seen, rules)
    refs = [seen.root.ref, *(one.ref for one in (*seen.groups, *seen.cliques, *seen.gangs))]
    refs += [pod.ref for _, pod in seen.pods()]
    for ref in refs:
        yield ObjectExplanation(seen, plan, ref.kind, ref.name, forecast)


@RARELY
@given(some, some, st.sampled_from([rules.name for rules in RULES]))
def test_cl125_the_verdict_on_a_termination_is_that_of_the_plan(lost: set[str], changed: set[str], name: str) -> None:
    seen, rules = broken_set(lost, changed, name=name), rule_set(name)
    (forecast,) = forecasts_of_snapshots((seen,), rules, limit=None, until=None)
    entries = {one.subject: one for one in explanation_of_forecast(forecast).entries}
    for found in explanations(seen, forecast, rules):
        for one in found.findings():
            if one.question != TERMINATION or one.subject.replica is None:
                continue
            entry = entries.get(one.subject)
            event(f"{one.verdict}, averted {found.is_after_steps(one)}, of the plan {entry is not None}")
            planned = EntryUrgency.KEEPS if entry is None else entry.urgency
            assert planned in {URGENCY_BY_VERDICT[one.verdict], EntryUrgency.HELD}
            assert entry is None or found.averted_until(one) == entry.averted
        guards = list(found.findings_against_termination())
        assert all(one in list(found.findings()) for one in guards)


def test_cl125_of_an_averted_termination_the_verdicts_after_the_steps() -> None:
    seen, rules = broken_set(["0-a"], ["0-a"]), rule_set("design")
    (forecast,) = forecasts_of_snapshots((seen,), rules, limit=None, until=None)
    plan = reconcile(seen, rules)
    pod = next(pod for clique, pod in seen.pods() if clique.ref.name == "llm-0-a")
    for kind, name in (("Pod", pod.name), ("PodClique", "llm-0-a"), ("PodGang", "llm-0"), ("PodCliqueSet", "llm")):
        found = ObjectExplanation(seen, plan, kind, name, forecast)
        after = [(one.question, one.verdict) for one in found.findings() if found.is_after_steps(one)]
        assert sorted(after) == [(BREACH, "Unknown"), (TERMINATION, "Keep")]
        assert found.is_averted_time(plan.wake_at)
        assert not found.is_averted_time(seen.now)
        alone = ObjectExplanation(seen, plan, kind, name)
        assert not any(alone.is_after_steps(one) for one in alone.findings())
        assert not [*alone.later_rounds(), *alone.update_stages()]


@pytest.mark.parametrize("lost", CLIQUES)
@pytest.mark.parametrize("rules", RULES, ids=lambda one: one.name)
def test_cl127_its_own_replica_comes_before_the_group(lost: str, rules: RuleSet) -> None:
    seen = broken_set([lost], [], name=rules.name)
    (forecast,) = forecasts_of_snapshots((seen,), rules, limit=None, until=None)
    for found in explanations(seen, forecast, rules):
        terminations = [one for one in found.findings() if one.question == TERMINATION]
        for place, group in enumerate(terminations):
            if group.subject.kind != "PodCliqueScalingGroup" or found.kind in {group.subject.kind, "PodCliqueSet"}:
                continue
            if group.subject.replica is None and group.verdict == "Wait":
                own = [one for one in terminations if one.subject.without_replica == group.subject][:-1]
                assert own
                assert own == terminations[place - len(own) : place]
                assert found.is_of_other_replica(group) == all(one.verdict == "Keep" for one in own)


def edited(start: Snapshot, before: Json, after: Json, rules: RuleSet) -> tuple[Snapshot, Forecast]:
    """Return the snapshot of an edited set, and the forecast of its plan."""
    old, new = manifest_with_defaults_of(before, rules), manifest_with_defaults_of(after, rules)
    root = set_with_manifest_applied(start.root, {**new, "metadata": {**new["metadata"], "uid": start.root.uid}})
    seen = replace(start, root=root)
    (forecast,) = forecasts_of_snapshots((seen,), rules, limit=None, until=None)
    name = f"{root.ref.namespace}/{root.ref.name}"
    return seen, forecast_with_edit(forecast, seen, rules, {name: manifest_changes(old, new)}, {name: start.root})


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("rules", RULES, ids=lambda one: one.name)
def test_cl126_every_pod_that_an_update_deletes_is_explained_as_deleted(seed: int, rules: RuleSet) -> None:
    dice = Random(seed)
    before = drawn_set(dice)
    seen, forecast = edited(ready_set(before, rules), before, drawn_edit(dice, before), rules)
    assert forecast.edit is not None
    assert forecast.edit.update is not None
    stages = forecast.edit.update.stages
    removed = {step.target for one in forecast.rounds for step in one.steps if isinstance(step.action, Delete)}
    for found in explanations(seen, forecast, rules):
        pods = {pod.ref for clique in found.cliques for pod in found.pods_of_clique(clique)}
        pods = {found.ref} if found.kind == "Pod" else pods
        expected = [(number, pod) for number, one in enumerate(stages, 1) for pod in one.deleted if pod.pod in pods]
        assert [(number, pod) for number, one in found.update_stages() for pod in one.deleted] == expected
        steps = [*found.planned_steps(), *(step for one in found.later_rounds() for step in one.steps)]
        assert (found.ref in removed) == any(
            step.target == found.ref and isinstance(step.action, Delete) for step in steps
        )


def test_cl126_a_pod_of_a_removed_scaling_group_is_said_to_go_with_it() -> None:
    rules = rule_set("field")
    group = {"name": "g", "cliqueNames": ["b"], "replicas": 2, "minAvailable": 1}
    before = set_raw(clique_raw("a", 1, 1), clique_raw("b", 1, 1), groups=(group,), replicas=2)
    after = {**before, "spec": {**before["spec"], "replicas": 1}}
    seen, forecast = edited(ready_set(before, rules), before, after, rules)
    for found in explanations(seen, forecast, rules):
        if found.kind == "Pod" and found.name.startswith("llm-1-g-"):
            steps = [*found.planned_steps(), *(step for one in found.later_rounds() for step in one.steps)]
            assert any(isinstance(step.action, Delete) for step in steps)
            assert [number for number, _ in found.update_stages()] == [1]
