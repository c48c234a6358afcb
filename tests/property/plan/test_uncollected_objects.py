"""What an edit does to objects of kinds that were not collected: the same as where they were (ED-012)."""

import copy
import json
from collections import Counter
from random import Random

import pytest

from grove_core.admit import manifest_with_defaults_of
from grove_core.document.document_reading import plan_document_from_json
from grove_core.document.document_writing import plan_document_as_json
from grove_core.document.edit_format import edit_as_json, edit_forecast_from_json
from grove_core.document.plan_document import PlanDocument
from grove_core.in_memory.edit_of_uncollected_kinds import edit_effects_on_uncollected_objects
from grove_core.in_memory.forecasts import forecast_until_settled, forecasts_of_snapshots
from grove_core.in_memory.in_memory_cluster import InMemoryCluster
from grove_core.in_memory.update_forecasts import forecast_with_edit
from grove_core.kernel.frozen import FrozenDict, FrozenMap
from grove_core.kernel.steps import Apply, Create, Delete
from grove_core.kernel.structs import replace
from grove_core.plan.forecast import RemovedManifest, SetsOfSameName
from grove_core.plan.update_forecast import EditForecast, PodsAndGpus, UncollectedObjectCounts
from grove_core.resources.api_names import GROUP_KIND
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.rule_sets.rule_set import RuleSet
from grove_core.rule_sets.rule_set_by_name import rule_set
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.reading.manifest_admission import set_with_manifest_applied
from tests.property.plan.ready_sets import ready_set, with_image
from tests.property.workload.sets import Json
from tests.simulation.edit_agreement import RULE_SETS, drawn_edit, drawn_set
from tests.simulation.sample_sets import clique_raw, set_raw

HIDDEN = frozenset({"HorizontalPodAutoscaler", "ResourceClaim", "Service"})
SCALED = {"minReplicas": 4, "maxReplicas": 8}
SHARED = {"name": "gpu", "scope": "AllReplicas"}
RULES = pytest.mark.parametrize("rules", RULE_SETS)
CLIQUES = (clique_raw("a", 2, 1), clique_raw("b", 1, 1))
GROUPS = ({"name": "g", "cliqueNames": ["b"]},)


def with_objects(manifest: Json, dice: Random) -> Json:
    """Return the manifest with an autoscaler, another Service and shared claims, each in half of the cases."""
    found = copy.deepcopy(manifest)
    template = found["spec"]["template"]
    if dice.random() < 0.5:
        template["cliques"][0]["spec"]["autoScalingConfig"] = {**SCALED, "maxReplicas": dice.randint(8, 9)}
    if dice.random() < 0.5:
        template["headlessServiceConfig"] = {"publishNotReadyAddresses": dice.random() < 0.5}
    template["resourceClaimTemplates"] = [{"name": "gpu", "templateSpec": {"spec": {"devices": {}}}}]
    for part in (template, template["cliques"][0], *template["podCliqueScalingGroups"]):
        if dice.random() < 0.5:
            part["resourceSharing"] = [SHARED]
    return found


def applied(start: Snapshot, manifest: Json, rules: RuleSet) -> Snapshot:
    """Return the snapshot with a manifest that was just applied."""
    new = manifest_with_defaults_of(manifest, rules)
    metadata = {**new["metadata"], "uid": start.root.uid}
    return replace(start, root=set_with_manifest_applied(start.root, {**new, "metadata": metadata}))


def without_kinds(snapshot: Snapshot) -> Snapshot:
    """Return the snapshot of an input that has no object of the hidden kinds."""
    others = tuple(one for one in snapshot.others if one.ref.kind not in HIDDEN)
    return replace(snapshot, others=others, complete=snapshot.complete - HIDDEN)


def steps_for_hidden_kinds(edited: Snapshot, rules: RuleSet) -> tuple[UncollectedObjectCounts, ...]:
    """Return what the plan does to the hidden kinds where they were collected."""
    forecast = forecast_until_settled(InMemoryCluster((edited,)), edited, rules, limit=None, until=None)
    steps = [step for round_ in forecast.rounds for step in round_.steps if step.target.kind in HIDDEN]
    found = {kind: Counter(type(step.action) for step in steps if step.target.kind == kind) for kind in sorted(HIDDEN)}
    return tuple(
        UncollectedObjectCounts(kind, counts[Create], counts[Apply], counts[Delete])
        for kind, counts in found.items()
        if counts
    )


@pytest.mark.parametrize("seed", range(8))
@RULES
@pytest.mark.req("ED-012", "CL-011")
def test_ed012_as_if_the_kinds_were_collected(seed: int, rules: str) -> None:
    dice, chosen = Random(seed), rule_set(rules)
    manifest = drawn_set(dice)
    before = with_objects(manifest, dice)
    after = with_objects(drawn_edit(dice, manifest), dice)
    start = replace(ready_set(before, chosen), named_claims=FrozenDict())  # which keep their earlier uids
    edited = applied(start, after, chosen)
    found = edit_effects_on_uncollected_objects(without_kinds(edited), start.root, chosen)
    assert found == steps_for_hidden_kinds(edited, chosen)
    assert edit_effects_on_uncollected_objects(edited, start.root, chosen) == ()
    edit = EditForecast((), None, found)
    assert edit_forecast_from_json(json.loads(json.dumps(edit_as_json(edit)))) == edit


@RULES
def test_ed012_podgangs_that_an_edit_adds_and_removes(rules: str) -> None:
    chosen, groups = rule_set(rules), ({"name": "g", "cliqueNames": ["b"], "replicas": 3, "minAvailable": 1},)
    small, large = (set_raw(*CLIQUES, groups=groups, replicas=replicas) for replicas in (1, 2))
    for before, after, numbers in ((small, large, (3, 0, 0)), (large, small, (0, 0, 3)), (small, small, None)):
        start = ready_set(before, chosen)
        edited = applied(start, with_image(after), chosen)
        lacking = replace(edited, gangs=(), complete=edited.complete - {"PodGang"})
        found = edit_effects_on_uncollected_objects(lacking, start.root, chosen)
        assert found == (() if numbers is None else (UncollectedObjectCounts("PodGang", *numbers),))


@RULES
def test_ed012_an_edit_of_pods_alone_needs_no_other_kind(rules: str) -> None:
    chosen = rule_set(rules)
    manifest = set_raw(clique_raw("a", 2, 2, autoScalingConfig=SCALED))
    start = ready_set(manifest, chosen)
    edited = applied(start, with_image(manifest), chosen)
    assert edit_effects_on_uncollected_objects(without_kinds(edited), start.root, chosen) == ()


def edit_of(seen: Snapshot, stored: PodCliqueSet, rules: RuleSet) -> EditForecast | None:
    """Return what the edit of a set does."""
    (forecast,) = forecasts_of_snapshots((seen,), rules, limit=None, until=None)
    return forecast_with_edit(forecast, seen, rules, {}, {"ml/llm": stored}).edit


@RULES
@pytest.mark.parametrize(
    ("had", "has", "gap"),
    [(True, False, GROUP_KIND), (False, True, GROUP_KIND), (False, False, "Pod"), (False, False, "PodClique")],
)
def test_ed018_the_kinds_without_which_an_update_is_not_known(*, had: bool, has: bool, gap: str, rules: str) -> None:
    chosen = rule_set(rules)
    before, after = (set_raw(*CLIQUES, groups=GROUPS if some else ()) for some in (had, has))
    start = ready_set(before, chosen)
    edited = applied(replace(start, not_collected=frozenset({gap})), with_image(after), chosen)
    edit = EditForecast((), None, lacks=(gap,))
    assert edit_of(edited, start.root, chosen) == edit
    assert edit_forecast_from_json(json.loads(json.dumps(edit_as_json(edit)))) == edit


@RULES
def test_ed018_a_set_without_scaling_groups_is_decided_without_them(rules: str) -> None:
    chosen, manifest = rule_set(rules), set_raw(*CLIQUES)
    start = ready_set(manifest, chosen)
    seen = applied(start, with_image(manifest), chosen)
    lacking = replace(seen, not_collected=frozenset({GROUP_KIND}), complete=seen.complete - {GROUP_KIND})
    known = edit_of(seen, start.root, chosen)
    assert known is not None
    assert known.update is not None
    assert edit_of(lacking, start.root, chosen) == known


@pytest.mark.req("CL-011", "ED-011", "IN-086")
def test_what_a_manifest_leaves_open_reads_back() -> None:
    rules = rule_set("design")
    start = ready_set(set_raw(clique_raw("a", 1, 1)), rules)
    (settled,) = forecasts_of_snapshots((start,), rules, limit=None, until=None)
    for is_given in (False, True):
        forecast = replace(
            settled,
            same_name=SetsOfSameName(("a/llm", "b/llm"), is_given),
            removed=RemovedManifest(2, PodsAndGpus(3, 4)),
        )
        document = PlanDocument(rules=rules.name, as_of=start.now, not_collected=(), forecasts=(forecast,))
        written = json.loads(json.dumps(plan_document_as_json(document, decisions=True)))
        assert plan_document_from_json(written) == document


@RULES
def test_ed012_an_object_that_differs_before_the_edit_is_left_alone(rules: str) -> None:
    """Only what the set lacks is created before the edit; the edit then writes what differs."""
    chosen = rule_set(rules)
    manifest = set_raw(clique_raw("a", 2, 2, autoScalingConfig=SCALED))
    start = ready_set(manifest, chosen)
    (scaler,) = (one for one in start.others if one.ref.kind == "HorizontalPodAutoscaler")
    other = replace(scaler, spec=FrozenMap({**scaler.spec, "maxReplicas": 99}))
    others = tuple(other if one is scaler else one for one in start.others)
    edited = applied(replace(start, others=others, complete=start.complete - HIDDEN), with_image(manifest), chosen)
    found = edit_effects_on_uncollected_objects(edited, start.root, chosen)
    assert found == (UncollectedObjectCounts("HorizontalPodAutoscaler", 0, 1, 0),)
