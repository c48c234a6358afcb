"""Laws of the forecasts of updates, over drawn sets and edits (ED-002 to ED-006)."""

import json
from collections import Counter
from datetime import timedelta
from random import Random

import pytest

from grove_core.admit import manifest_with_defaults_of
from grove_core.document.edit_format import edit_as_json, edit_forecast_from_json
from grove_core.in_memory.forecasts import forecasts_of_snapshots
from grove_core.in_memory.update_forecasts import MOST_WORK, forecast_update_of_edit, snapshot_of_rolled_out_set
from grove_core.kernel.conditions import Condition, ConditionStatus
from grove_core.kernel.structs import replace
from grove_core.plan.serving_parts import available_set_replicas, serving_parts
from grove_core.plan.update_forecast import (
    NO_PODS,
    DeletedPodFate,
    EditForecast,
    PodsAndGpus,
    cliques_with_changed_pods,
    pod_and_gpu_counts_of_new_set,
)
from grove_core.resources.edited_manifest_fields import manifest_changes
from grove_core.resources.pod import Pod
from grove_core.resources.podcliqueset import podcliqueset_from_json
from grove_core.rule_sets.rule_set_by_name import rule_set
from grove_core.snapshot.snapshot import EVERY_KIND, Snapshot
from tests.property.plan.ready_sets import drawn_update, ready_set, with_image, with_pods
from tests.property.workload.sets import NOW
from tests.simulation.edit_agreement import RULE_SETS, drawn_set, update_of_edit
from tests.simulation.sample_sets import clique_raw, set_raw

SEEDS = pytest.mark.parametrize("seed", range(12))
RULES = pytest.mark.parametrize("rules", RULE_SETS)
PLAIN = set_raw(clique_raw("a", 3, 2))


@SEEDS
@RULES
def test_ed002_every_pod_of_a_changed_template_goes_once(seed: int, rules: str) -> None:
    start, before, after, update = drawn_update(seed, rule_set(rules))
    changed = cliques_with_changed_pods(manifest_changes(before, after))
    rolls = after["spec"].get("updateStrategy", {}).get("type") != "OnDelete"
    kept = min(after["spec"]["replicas"], start.root.spec.replicas)
    of_changed = {
        pod.name
        for clique, pod in start.pods()
        if rolls and clique.template_name in changed and clique.replica_index < kept
    }
    gone = [pod.pod.name for stage in update.stages for pod in stage.deleted]
    assert not [name for name, count in Counter(gone).items() if count > 1]
    assert of_changed <= set(gone)
    assert update.waits == ()


@SEEDS
@RULES
def test_ed003_the_numbers_of_the_begin_and_the_end_are_those_of_the_cluster(seed: int, rules: str) -> None:
    start, _, after, update = drawn_update(seed, rule_set(rules))
    assert update.before == serving_parts(start)
    assert available_set_replicas(start, update.before) == start.root.spec.replicas
    assert update.available == min(start.root.spec.replicas, after["spec"]["replicas"])
    for part in update.parts:
        assert part.lowest <= part.after == part.wanted
        assert part.before in {0, *(one.serving for one in update.before if one.part == part.part)}


@SEEDS
def test_ed003_by_the_design_no_part_that_stays_falls_below_what_it_needs(seed: int) -> None:
    _, _, _, update = drawn_update(seed, rule_set("design"))
    assert [one for one in update.parts if one.before >= one.needed > one.lowest] == []


def test_ed003_below_the_minimum_with_the_go_operator() -> None:
    rules = rule_set("field")
    manifest = set_raw(clique_raw("a", 1, 1))
    update = update_of_edit(ready_set(manifest, rules), manifest, with_image(manifest), rules)
    (part,) = update.parts
    assert (part.needed, part.before, part.lowest, part.after) == (1, 1, 0, 1)
    assert (update.available, update.lowest_available) == (1, 0)


@SEEDS
@RULES
def test_ed004_a_restarted_pod_has_a_successor(seed: int, rules: str) -> None:
    start, _, after, update = drawn_update(seed, rule_set(rules))
    removed = update.deleted(DeletedPodFate.REMOVED)
    is_scaled_in = after["spec"]["replicas"] < start.root.spec.replicas
    assert bool(removed) == is_scaled_in
    assert update.deleted(DeletedPodFate.TERMINATED) == ()
    created = sum(stage.created.pods for stage in update.stages)
    assert update.added.pods <= created - update.restarted.pods
    assert update.most_at_once == max(
        sum(pod.fate is DeletedPodFate.RESTARTED for pod in stage.deleted) for stage in update.stages
    )


def test_ed004_a_surge_pod_adds_nothing() -> None:
    rules = rule_set("design")
    manifest = set_raw(clique_raw("a", 1, 1))
    edited = with_image(manifest)
    update = update_of_edit(ready_set(manifest, rules), manifest, edited, rules)
    assert sum(stage.created.pods for stage in update.stages) == 2, "one in addition, and the successor"
    assert update.added == NO_PODS
    edited["spec"]["replicas"] += 1
    assert update_of_edit(ready_set(manifest, rules), manifest, edited, rules).added == PodsAndGpus(1, 0)


@pytest.mark.parametrize("phase", ["Failed", "Succeeded"])
def test_ed004_a_finished_pod_that_is_replaced_adds_nothing(phase: str) -> None:
    """The Go operator replaces an evicted pod with the next update, and not before (WF-030)."""
    rules = rule_set("field")

    def first_is_finished(pod: Pod) -> Pod:
        return replace(pod, phase=phase, ready=False) if pod.index == 0 else pod

    start = with_pods(ready_set(PLAIN, rules), first_is_finished)
    update = update_of_edit(start, PLAIN, with_image(PLAIN), rules)
    assert update.restarted.pods == 3
    assert update.added == NO_PODS


def test_ed004_a_pod_that_is_terminated_with_its_gang_is_no_restart() -> None:
    rules = rule_set("field")
    manifest = set_raw(clique_raw("a", 3, 3), clique_raw("b", 1, 1))

    def lost(pod: Pod) -> Pod:
        return pod if pod.name.startswith("llm-0-b") else replace(pod, ready=False, unready=True)

    start = with_pods(ready_set(manifest, rules), lost)
    followed = forecast_update_of_edit(breached_for_hours(replace(start, now=start.now + timedelta(hours=5))), rules)
    assert followed is not None
    update = followed.forecast
    terminated = update.deleted(DeletedPodFate.TERMINATED)
    assert {pod.clique.name for pod in terminated} == {"llm-0-a", "llm-0-b"}
    assert update.restarted == update.removed == NO_PODS


def breached_for_hours(seen: Snapshot) -> Snapshot:
    """Return the snapshot with a breach of its clique a that began five hours ago."""
    breach = Condition("MinAvailableBreached", ConditionStatus.TRUE, "InsufficientReadyPods", "", NOW)
    cliques = {clique.ref.name: clique for clique in seen.cliques}
    clique = cliques["llm-0-a"]
    cliques["llm-0-a"] = replace(clique, status=replace(clique.status, conditions=(breach,)))
    return replace(seen, cliques=tuple(cliques.values()))


def test_ed005_an_update_waits_for_a_pod_that_stays_not_ready() -> None:
    rules = rule_set("design")
    start, edited = ready_set(PLAIN, rules), with_image(PLAIN)
    (new_hash,) = {clique.template_hash for clique in ready_set(edited, rules).cliques}

    def of_new_template(pod: Pod) -> Pod:
        return replace(pod, ready=False, template_hash=new_hash) if pod.index == 0 else pod

    update = update_of_edit(with_pods(start, of_new_template), PLAIN, edited, rules)
    assert [held.target.name for held in update.waits] == ["llm-0-a"]
    assert update.deleted(DeletedPodFate.RESTARTED) == ()


@SEEDS
@RULES
def test_ed013_what_a_stopped_update_restarts_later_is_counted(seed: int, rules: str) -> None:
    """Pods that the edit leaves alone are not ready: the same pods restart as without, some of them later."""
    start, before, after, whole = drawn_update(seed, rule_set(rules))
    gone = {pod.pod.name for stage in whole.stages for pod in stage.deleted}

    def lacking(pod: Pod) -> Pod:
        return pod if pod.name in gone else replace(pod, ready=False, unready=True)

    update = update_of_edit(with_pods(start, lacking), before, after, rule_set(rules))
    assert update.restarted.pods == whole.restarted.pods
    assert update.waits or update.unreached == NO_PODS


def test_ed013_an_update_that_waits_for_something_else_counts_all_pods_that_are_left() -> None:
    """Its first stage is all that the work allows, also of what follows once the pod is ready."""
    rules = rule_set("field")
    manifest = set_raw(clique_raw("a", 2, 1), clique_raw("b", 1, 1), replicas=2)
    edited = with_image(manifest)
    edited["spec"]["template"]["cliques"][1] = manifest["spec"]["template"]["cliques"][1]

    def lacking(pod: Pod) -> Pod:
        return replace(pod, ready=False, unready=True) if pod.name.startswith("llm-0-b") else pod

    start = with_pods(ready_set(manifest, rules), lacking)
    whole, cut = (update_of_edit(start, manifest, edited, rules, work) for work in (MOST_WORK, 1))
    assert [held.target.name for held in whole.waits]
    assert whole.restarted == cut.restarted == PodsAndGpus(4, 0)


def test_ed006_a_long_update_ends_at_the_limit_of_its_work() -> None:
    rules = rule_set("field")
    manifest = set_raw(clique_raw("a", 4, 1))
    start = ready_set(manifest, rules)
    whole = update_of_edit(start, manifest, with_image(manifest), rules)
    cut = update_of_edit(start, manifest, with_image(manifest), rules, work=1)
    assert len(cut.stages) == 1
    assert cut.unreached.pods == 3
    assert cut.restarted == whole.restarted
    assert cut.waits == whole.waits == ()
    assert whole.unreached == NO_PODS


@RULES
def test_ed006_the_other_pods_of_a_changed_scaling_group_are_counted(rules: str) -> None:
    """Its replicas are replaced one after the other, each as a whole."""
    group = {"name": "pool", "cliqueNames": ["leader", "worker"], "replicas": 2, "minAvailable": 1}
    manifest = set_raw(clique_raw("leader", 1, 1), clique_raw("worker", 2, 2), groups=(group,))
    edited = with_image(manifest)
    edited["spec"]["template"]["cliques"][0] = manifest["spec"]["template"]["cliques"][0]
    start = ready_set(manifest, rule_set(rules))
    whole, cut = (update_of_edit(start, manifest, edited, rule_set(rules), work) for work in (MOST_WORK, 1))
    assert cut.unreached.pods == 3
    assert cut.restarted == whole.restarted == PodsAndGpus(6, 0)


@RULES
def test_ed006_nothing_restarts_under_on_delete(rules: str) -> None:
    manifest = set_raw(clique_raw("a", 4, 1))
    manifest["spec"]["updateStrategy"] = {"type": "OnDelete"}
    edited = with_image(manifest)
    edited["spec"]["replicas"] += 1
    start = ready_set(manifest, rule_set(rules))
    cut = update_of_edit(start, manifest, edited, rule_set(rules), work=1)
    assert cut.is_cut
    assert cut.restarted == NO_PODS


@SEEDS
@RULES
def test_ed006_what_restarts_after_the_limit_is_counted(seed: int, rules: str) -> None:
    """Also the other pods of a scaling group with a changed clique, and none under OnDelete."""
    start, before, after, whole = drawn_update(seed, rule_set(rules))
    cut = update_of_edit(start, before, after, rule_set(rules), work=1)
    assert cut.restarted == whole.restarted
    assert cut.is_cut == (len(cut.stages) < len(whole.stages))


def test_nothing_is_known_where_pods_or_groups_were_not_collected() -> None:
    rules = rule_set("design")
    assert forecast_update_of_edit(replace(ready_set(PLAIN, rules), not_collected=frozenset({"Pod"})), rules) is None


@SEEDS
@RULES
@pytest.mark.req("CL-011")
def test_an_edit_reads_back_to_an_equal_value(seed: int, rules: str) -> None:
    _, before, after, update = drawn_update(seed, rule_set(rules))
    edit = EditForecast(manifest_changes(before, after), update)
    assert edit_forecast_from_json(json.loads(json.dumps(edit_as_json(edit)))) == edit
    unknown = EditForecast(edit.changes, None, hidden=edit.changes)
    assert edit_forecast_from_json(json.loads(json.dumps(edit_as_json(unknown)))) == unknown


@SEEDS
@RULES
def test_ed007_a_new_set_gets_the_pods_that_are_announced(seed: int, rules: str) -> None:
    manifest = drawn_set(Random(seed))
    seen = ready_set(manifest, rule_set(rules))
    pods = [pod for _, pod in seen.pods()]
    assert pod_and_gpu_counts_of_new_set(seen.root.spec) == PodsAndGpus(len(pods), sum(pod.gpus for pod in pods))


@SEEDS
@RULES
def test_ed008_a_rolled_out_set_is_settled_with_all_its_pods_ready(seed: int, rules: str) -> None:
    chosen = rule_set(rules)
    manifest = drawn_set(Random(seed))
    root = podcliqueset_from_json(manifest_with_defaults_of(manifest, chosen))
    seen = snapshot_of_rolled_out_set(Snapshot(root=root, now=NOW, complete=EVERY_KIND), chosen)
    pods = [pod for _, pod in seen.pods()]
    assert len(pods) == pod_and_gpu_counts_of_new_set(root.spec).pods
    assert all(pod.ready for pod in pods)
    assert serving_parts(seen) == serving_parts(ready_set(manifest, chosen))
    (settled,) = forecasts_of_snapshots((seen,), chosen, limit=None, until=None)
    assert not [step for round_ in settled.rounds for step in round_.steps]
