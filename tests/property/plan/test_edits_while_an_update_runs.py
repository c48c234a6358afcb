"""Laws of edits of sets of which an update runs already (ED-014)."""

import copy
import json

import pytest

from grove_core.document.edit_format import edit_as_json, edit_forecast_from_json
from grove_core.in_memory.forecasts import forecast_until_settled
from grove_core.in_memory.in_memory_cluster import InMemoryCluster
from grove_core.kernel.structs import replace
from grove_core.plan.update_forecast import NO_PODS, PodsAndGpus, UpdateForecast
from grove_core.rule_sets.rule_set import RuleSet
from grove_core.rule_sets.rule_set_by_name import rule_set
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.reading.manifest_admission import set_with_manifest_applied
from tests.property.plan.ready_sets import ready_set, with_image
from tests.property.plan.test_explained_forecasts import edited
from tests.property.workload.sets import Json
from tests.simulation.edit_agreement import RULE_SETS
from tests.simulation.sample_sets import clique_raw, set_raw

RULES = pytest.mark.parametrize("rules", RULE_SETS)
MANIFEST = set_raw(clique_raw("a", 4, 1), clique_raw("b", 2, 1))
SECOND = with_image(MANIFEST)


def while_it_runs(rules: RuleSet) -> Snapshot:
    """Return the set after the first stage of its update from MANIFEST to SECOND."""
    start = ready_set(MANIFEST, rules)
    root = set_with_manifest_applied(start.root, {**SECOND, "metadata": {**SECOND["metadata"], "uid": start.root.uid}})
    seen = replace(start, root=root)
    cluster = InMemoryCluster((seen,))
    forecast_until_settled(cluster, seen, rules, limit=None, until=None)
    found = cluster.snapshot_of_set(root.ref, start.now)
    assert found is not None
    assert found.root.status.updating
    return found


def update_of(start: Snapshot, after: Json, rules: RuleSet) -> UpdateForecast:
    _, forecast = edited(start, SECOND, after, rules)
    assert forecast.edit is not None
    assert forecast.edit.update is not None
    assert edit_forecast_from_json(json.loads(json.dumps(edit_as_json(forecast.edit)))).update == forecast.edit.update
    return forecast.edit.update


@RULES
def test_ed014_an_edit_of_a_label_restarts_nothing_of_its_own(rules: str) -> None:
    chosen = rule_set(rules)
    labelled = copy.deepcopy(SECOND)
    labelled["metadata"]["labels"] = {"team": "a"}
    update = update_of(while_it_runs(chosen), labelled, chosen)
    assert update.anyway == update.restarted != NO_PODS


@RULES
def test_ed014_pods_that_have_the_second_template_restart_because_of_the_edit(rules: str) -> None:
    chosen = rule_set(rules)
    start = while_it_runs(chosen)
    old = {pod.template_hash for _, pod in ready_set(MANIFEST, chosen).pods()}
    of_old = [pod for _, pod in start.pods() if pod.template_hash in old and not pod.deleting]
    update = update_of(start, with_image(SECOND, "example.com/engine:3"), chosen)
    assert update.anyway == PodsAndGpus(len(of_old), 0)
    assert 0 < update.anyway.pods < update.restarted.pods


@RULES
def test_ed014_nothing_restarts_anyway_where_no_update_runs(rules: str) -> None:
    chosen = rule_set(rules)
    assert update_of(ready_set(SECOND, chosen), with_image(SECOND, "example.com/engine:3"), chosen).anyway == NO_PODS
