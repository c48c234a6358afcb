"""What an upgrade of the Go operator to a release with other template hashes restarts (WF-090 to WF-092)."""

from pathlib import Path

import pytest

from grove_core.areas.gang_termination.field.go_operator_rule_generations import RELEASES
from grove_core.areas.workload.field.upgrade_restart import (
    HASH_FORMS,
    UpgradeRestart,
    pods_restarted_by_upgrade,
    snapshot_after_upgrade,
)
from grove_core.areas.workload.template_hash import has_own_template_hash_form
from grove_core.compare import compare_forecasts
from grove_core.in_memory.forecasts import forecasts_of_snapshots
from grove_core.kernel.frozen import FrozenMap, frozen_dict_of_tuples
from grove_core.kernel.steps import Delete, DeletionImpact
from grove_core.kernel.structs import replace
from grove_core.plan.plan import Plan
from grove_core.reconcile import reconcile
from grove_core.resources.api_names import UPDATE_POD_HASH, UPDATE_SET_HASH
from grove_core.resources.podcliqueset import PlannedSetChange
from grove_core.rule_sets.go_operator import BY_RELEASE, NEWEST
from grove_core.rule_sets.rule_set import DESIGN
from grove_core.snapshot.snapshot import Snapshot
from tests.property.workload_field.healthy_sets import edited, healthy, played, raw_set, with_pods
from tests.property.workload_field.test_templates import by_go

OLD, NEW = BY_RELEASE["v0.1.0-alpha.9"].hash_form, NEWEST.hash_form
SPEC = Path(__file__).parents[3] / "specs" / "workload_field.md"


def ended_update(progress: FrozenMap, generation: str, template_hash: str) -> FrozenMap:
    """Return the progress of an ended update with the hashes of the Go operator; empty where there was none."""
    hashes = {UPDATE_SET_HASH: generation, UPDATE_POD_HASH: template_hash}
    return FrozenMap({key: hashes.get(key, value) for key, value in progress.items()})


def at_rest(*, replicas: int = 1, strategy: str = "RollingRecreate") -> Snapshot:
    """A set at rest with the hashes of the Go operator, also on its pods and in all statuses."""
    seen = by_go(healthy(raw_set(replicas=replicas, strategy=strategy)))
    generation = seen.root.status.current_hash
    cliques = tuple(
        replace(
            one,
            status=replace(
                one.status,
                current_hash=one.template_hash,
                set_hash=generation,
                progress=ended_update(one.status.progress, generation, one.template_hash),
            ),
        )
        for one in seen.cliques
    )
    pods = {
        one.uid: tuple(
            replace(pod, uid=f"old {pod.name}", name=f"{pod.name}-old", template_hash=one.template_hash)
            for pod in seen.pods_of.get(one.uid, ())
        )
        for one in seen.cliques
    }
    groups = tuple(
        replace(
            one,
            status=replace(one.status, set_hash=generation, progress=ended_update(one.status.progress, generation, "")),
        )
        for one in seen.groups
    )
    return replace(seen, cliques=cliques, groups=groups, pods_of=frozen_dict_of_tuples(pods))


def restart_of(seen: Snapshot) -> UpgradeRestart | None:
    return pods_restarted_by_upgrade(seen, OLD, NEW)


def deleted_by(plan: Plan) -> list[str]:
    return [step.target.name for step in plan.steps if isinstance(step.action, Delete)]


def test_wf090_every_release_has_the_form_of_the_table() -> None:
    rows = [line.strip("| ").split(" | ") for line in SPEC.read_text("utf-8").splitlines() if "| WF-090 |" in line]
    assert {release: form for _, release, form in rows} == dict(HASH_FORMS)
    assert list(HASH_FORMS) == list(RELEASES)
    assert {release: rules.hash_form for release, rules in BY_RELEASE.items()} == dict(HASH_FORMS)


@pytest.mark.parametrize(
    ("before", "after", "restarts"),
    [
        ("v0.1.0-alpha.9", "v0.1.0-alpha.10", True),
        ("v0.1.0-alpha.12-rc1", "v0.1.0-alpha.9", True),
        ("v0.1.0-alpha.10", "v0.1.0-alpha.11", False),
        ("v0.1.0-alpha.10", "v0.1.0-alpha.12-rc1", False),
        ("v0.1.0-alpha.9", "v0.1.0-alpha.9", False),
    ],
)
def test_wf090_only_another_form_restarts(before: str, after: str, *, restarts: bool) -> None:
    found = pods_restarted_by_upgrade(at_rest(), BY_RELEASE[before].hash_form, BY_RELEASE[after].hash_form)
    assert (found is not None) is restarts


def test_wf091_all_pods_are_restarted() -> None:
    seen = at_rest(replicas=2)
    found = restart_of(seen)
    assert found == UpgradeRestart(
        on_delete=False, takes=DeletionImpact(14, 14, 0), at_once=0, replicas=2, groups=("llm-0-pool", "llm-1-pool")
    )
    assert found.may_restart_pods


def test_wf091_pods_that_do_not_serve_are_counted() -> None:
    seen = with_pods(at_rest(), lambda pod: replace(pod, ready=False, unready=True, gpus=1))
    found = restart_of(seen)
    assert found is not None
    assert (found.at_once, found.takes) == (3, DeletionImpact(7, 0, 7))
    going = with_pods(at_rest(), lambda pod: replace(pod, deleting=True))
    none_left = restart_of(going)
    assert none_left is not None
    assert not none_left.may_restart_pods


def test_wf091_pods_that_were_not_collected_are_unknown() -> None:
    found = restart_of(replace(at_rest(), not_collected=frozenset({"Pod"})))
    assert found is not None
    assert found.takes is None
    assert found.may_restart_pods


def test_wf091_a_set_without_a_stored_hash_of_that_operator_is_not_updated() -> None:
    seen = at_rest()
    assert restart_of(healthy()) is None
    assert restart_of(replace(seen, root=replace(seen.root, deleting=True))) is None
    assert restart_of(replace(seen, root=replace(seen.root, status=replace(seen.root.status, current_hash="")))) is None


def test_wf091_the_update_replaces_every_pod_and_then_rests() -> None:
    seen = at_rest(replicas=2)
    before = {pod.uid for _, pod in seen.pods()}
    assert not deleted_by(reconcile(seen, NEWEST))
    after = played(snapshot_after_upgrade(seen))
    assert not before & {pod.uid for _, pod in after.pods()}
    assert len(list(after.pods())) == len(before)
    assert all(has_own_template_hash_form(pod.template_hash) for _, pod in after.pods())
    assert all(one.status.set_hash == after.root.status.current_hash for one in after.cliques)


def test_wf091_an_upgrade_in_the_middle_of_an_edit_replaces_all_pods_as_well() -> None:
    seen = snapshot_after_upgrade(edited(at_rest(), raw_set(image="a:2")))
    before = {pod.uid for _, pod in seen.pods()}
    assert not before & {pod.uid for _, pod in played(seen).pods()}


def test_wf092_under_on_delete_no_pod_is_restarted() -> None:
    seen = at_rest(strategy="OnDelete")
    found = restart_of(seen)
    assert found is not None
    assert (found.on_delete, found.may_restart_pods) == (True, False)
    before = {pod.uid for _, pod in seen.pods()}
    after = played(snapshot_after_upgrade(seen))
    assert {pod.uid for _, pod in after.pods()} == before
    assert all(has_own_template_hash_form(one.template_hash) for one in after.cliques)


@pytest.mark.req("WL-043")
def test_wf091_a_takeover_by_the_design_restarts_nothing() -> None:
    seen = at_rest(replicas=2)
    assert pods_restarted_by_upgrade(seen, OLD, DESIGN.hash_form) is None
    names = {pod.uid for _, pod in seen.pods()}
    assert {pod.uid for _, pod in played(seen, DESIGN).pods()} == names


@pytest.mark.req("CL-060")
def test_wf091_the_restart_is_a_part_of_the_comparison() -> None:
    seen, restart = at_rest(), restart_of(at_rest())
    (before,) = forecasts_of_snapshots((seen,), NEWEST, limit=None, until=None)
    (after,) = forecasts_of_snapshots((snapshot_after_upgrade(seen),), NEWEST, limit=None, until=None)
    found = compare_forecasts(before, after, restart)
    assert found.restart == restart
    assert found.has_same_terminations


def test_wf091_the_edit_of_a_snapshot_names_the_upgrade() -> None:
    assert snapshot_after_upgrade(at_rest()).root.edit is PlannedSetChange.OF_HASHES
