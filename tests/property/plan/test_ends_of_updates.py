"""Where the forecast of an update ends early, and what is not known then (ED-006, ED-013)."""

import copy
import io
from pathlib import Path
from typing import Final

import pytest

from grove_core.in_memory.forecasts import forecasts_of_snapshots
from grove_core.in_memory.in_memory_cluster import InMemoryCluster
from grove_core.in_memory.update_forecasts import forecast_update_of_edit, forecast_with_edit
from grove_core.in_memory.update_stages import pod_uids, pods_left_to_restart, pods_restarted_by_stopped_update
from grove_core.kernel.structs import replace
from grove_core.plan.update_forecast import DeletedPodFate, UpdateStage
from grove_core.resources.edited_manifest_fields import manifest_changes
from grove_core.resources.pod import Pod
from grove_core.resources.podcliqueset import PlannedSetChange
from grove_core.rule_sets.rule_set_by_name import rule_set
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.reading.cluster_reading import load_input_files
from tests.property.plan.ready_sets import ready_set, with_image, with_pods
from tests.property.workload.sets import NOW
from tests.simulation.edit_agreement import update_of_edit
from tests.simulation.sample_sets import clique_raw, set_raw

MANIFEST: Final = set_raw(clique_raw("a", 3, 2))
UNCOLLECTED_GROUPS: Final = Path(__file__).parents[2] / "golden/scheduling/sc027_pod_groups_not_collected/given.yaml"
DESIGN: Final = rule_set("design")


def test_ed005_a_pod_with_a_gate_of_another_product_is_waited_for_to_the_end() -> None:
    edited = with_image(MANIFEST)
    (new_hash,) = {clique.template_hash for clique in ready_set(edited, DESIGN).cliques}

    def gated(pod: Pod) -> Pod:
        if pod.index:
            return pod
        return replace(pod, ready=False, template_hash=new_hash, foreign_gates=("example.com/quota",))

    update = update_of_edit(with_pods(ready_set(MANIFEST, DESIGN), gated), MANIFEST, edited, DESIGN)
    assert [held.target.name for held in update.waits] == ["llm-0-a"]
    assert update.deleted(DeletedPodFate.RESTARTED) == ()
    assert update.unreached.pods == 3


def test_ed006_a_stopped_update_without_work_left_restarts_all_pods_that_are_left() -> None:
    start = ready_set(MANIFEST, DESIGN)
    changed, there = frozenset({"a"}), pod_uids(start)
    found = pods_restarted_by_stopped_update(InMemoryCluster((start,)), start, DESIGN, there, changed, work=1)
    assert found == pods_left_to_restart(start, there, changed)
    assert len(found) == 3


def test_ed006_the_update_of_a_set_that_is_being_deleted_has_no_stage() -> None:
    start = ready_set(MANIFEST, DESIGN)
    followed = forecast_update_of_edit(replace(start, root=replace(start.root, deleting=True)), DESIGN)
    assert followed is not None
    assert not followed.forecast.stages
    assert not followed.forecast.waits


def test_ed018_nothing_is_known_where_groups_of_the_scheduler_were_not_collected() -> None:
    cluster = load_input_files([str(UNCOLLECTED_GROUPS)], io.BytesIO()).cluster
    (root,) = cluster.sets
    assert forecast_update_of_edit(cluster.snapshot_of(root, NOW), DESIGN) is None


def test_ed002_every_stage_is_reported_while_the_forecast_is_made() -> None:
    start, reported = ready_set(MANIFEST, DESIGN), list[UpdateStage]()
    followed = forecast_update_of_edit(start, DESIGN, progress=reported.append)
    assert followed is not None
    assert len(reported) == len(followed.forecast.stages) == 1


@pytest.mark.req("GF-001")
@pytest.mark.parametrize(("before", "count"), [("4h", 0), ("2h", 1)])
def test_ed001_an_absent_delay_changes_nothing_where_the_default_was_written_out(before: str, count: int) -> None:
    field = rule_set("field")
    written = set_raw(clique_raw("a", 3, 2), terminationDelay=before)
    start = ready_set(written, field)
    seen: Snapshot = replace(start, root=replace(start.root, edit=PlannedSetChange.OF_MORE))
    (forecast,) = forecasts_of_snapshots((seen,), field, limit=None, until=None)
    absent = copy.deepcopy(written)
    del absent["spec"]["template"]["terminationDelay"]
    changes = manifest_changes(written, absent)
    edit = forecast_with_edit(forecast, seen, field, {"ml/llm": changes}, {"ml/llm": start.root}).edit
    assert edit is not None
    assert len([change for change in edit.changes if change.path == "spec.template.terminationDelay"]) == count
