"""Objects in dumps of a real cluster, against what the Go operator would write now (WF-102)."""

import io
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from grove_core.areas.workload.field.objects.podcliques_and_groups import (
    podclique_changes_by_go_operator,
    scaling_group_changes_by_go_operator,
)
from grove_core.areas.workload.field.objects.podgangs import podgang_changes_by_go_operator
from grove_core.areas.workload.field.releases import FROM_ALPHA_12
from grove_core.areas.workload.workload_context import WorkloadContext
from grove_core.kernel.frozen import EMPTY, FrozenMap, freeze, thaw_json
from grove_core.kernel.steps import Apply
from grove_core.kernel.structs import replace
from grove_core.reconcile import reconcile
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset import PlannedSetChange, PodCliqueSet
from grove_core.resources.podgang import NO_PLACEMENT, GangPackConstraint, PodGangConstraints
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.rule_sets.go_operator import NEWEST
from grove_core.snapshot.expected_replicas import ExpectedClique, expected_set_of
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.reading.cluster_reading import load_input_files

DUMPS: Final = Path(__file__).parents[2] / "snapshots"
NOW: Final = datetime.fromisoformat("2026-11-21T09:40:00+00:00")
NAMES: Final = [
    "s1b-created-pending.yaml",
    "s2-healthy.yaml",
    "s4a-breach-in-one-pcsg-replica.yaml",
    "s6b-pcsg-scaled-out.yaml",
    "s9a-termination-without-capacity.yaml",
]


def snapshots_in(name: str) -> Iterator[Snapshot]:
    cluster = load_input_files([str(DUMPS / name)], io.BytesIO()).cluster
    return (cluster.snapshot_of(root, NOW) for root in cluster.sets)


class StoredClique(NamedTuple):
    """A PodClique of a dump, as the template has it, with its owner."""

    context: WorkloadContext
    owner: PodCliqueSet | ScalingGroup
    part: ExpectedClique
    clique: PodClique

    @property
    def changes(self) -> FrozenMap:
        of = self.clique
        return podclique_changes_by_go_operator(
            self.context, of, self.owner, self.part, of.template_hash, FROM_ALPHA_12
        )


def cliques_in(snapshot: Snapshot) -> Iterator[StoredClique]:
    context = WorkloadContext(snapshot)
    for replica in expected_set_of(snapshot).replicas:
        for part in replica.all_cliques:
            clique = context.existing_clique(part)
            if clique is not None:
                owner = context.groups[part.group.name] if part.group is not None else snapshot.root
                yield StoredClique(context, owner, part, clique)


@pytest.mark.parametrize("name", NAMES)
def test_wf102_no_stored_podclique_is_changed(name: str) -> None:
    found = [clique for snapshot in snapshots_in(name) for clique in cliques_in(snapshot)]
    assert len(found) > 10
    assert {one.part.name: one.changes for one in found if one.changes} == {}


@pytest.mark.parametrize("name", NAMES)
def test_wf102_no_stored_scaling_group_is_changed(name: str) -> None:
    for snapshot in snapshots_in(name):
        groups = {group.ref.name: group for group in snapshot.groups}
        for replica in expected_set_of(snapshot).replicas:
            for part in replica.groups:
                assert scaling_group_changes_by_go_operator(snapshot.root, groups[part.name], part) == EMPTY


@pytest.mark.parametrize("name", NAMES)
def test_wf102_no_stored_podgang_is_changed(name: str) -> None:
    for snapshot in snapshots_in(name):
        gangs = {gang.ref.name: gang for gang in snapshot.gangs}
        for replica in expected_set_of(snapshot).replicas:
            for part in replica.gangs:
                gang = gangs[part.name]
                pods = {group.name: group.pods for group in gang.groups}
                change = podgang_changes_by_go_operator(WorkloadContext(snapshot), gang, part, pods, NO_PLACEMENT)
                assert change is None, change


def changed(of: StoredClique, **template: Any) -> FrozenMap:
    """What changes in a PodClique when its template does."""
    spec = of.part.template.spec.model_copy(update=template)
    part = replace(of.part, template=of.part.template.model_copy(update={"spec": spec}))
    root = of.context.root.spec
    cliques = tuple(part.template if one.name == part.template.name else one for one in root.template.cliques)
    edited = root.model_copy(update={"template": root.template.model_copy(update={"cliques": cliques})})
    context = WorkloadContext(replace(of.context.snapshot, root=replace(of.context.root, spec=edited)))
    return of._replace(context=context, part=part).changes


def clique_of(name: str) -> StoredClique:
    return next(
        one for snapshot in snapshots_in("s2-healthy.yaml") for one in cliques_in(snapshot) if one.part.name == name
    )


def test_wf102_a_changed_spec_is_written_but_for_replicas() -> None:
    worker = clique_of("qwen-0-worker")
    image = freeze([{"name": "main", "image": "other:2"}])
    assert thaw_json(changed(worker, pod_spec=FrozenMap({**worker.clique.pod_spec, "containers": image})))[
        "spec"
    ].keys() == {"podSpec"}
    assert changed(worker, replicas=9) == EMPTY
    assert thaw_json(changed(worker, min_available=1)) == {"spec": {"minAvailable": 1}}
    assert thaw_json(changed(worker, auto_scaling_config=None)) == {"spec": {"autoScalingConfig": None}}
    bounds = worker.part.template.spec.auto_scaling_config
    assert bounds is not None
    more = bounds.model_copy(update={"max_replicas": 9})
    assert thaw_json(changed(worker, auto_scaling_config=more)) == {"spec": {"autoScalingConfig": {"maxReplicas": 9}}}


def test_wf102_parents_that_a_clique_no_longer_has_are_removed() -> None:
    member = clique_of("deepseek-0-prefill-0-pw")
    assert thaw_json(changed(member, starts_after=())) == {"spec": {"startsAfter": None}}


def test_wf102_texts_that_others_wrote_are_removed_from_a_podclique() -> None:
    worker = clique_of("qwen-0-worker")
    labels = FrozenMap({**worker.clique.labels, "added": "x", "grove.io/pcs-name": "qwen"})
    written = replace(worker.clique, labels=labels, annotations=FrozenMap({"note": "x"}))
    assert thaw_json(worker._replace(clique=written).changes) == {
        "metadata": {"labels": {"added": None, "grove.io/pcs-name": None}, "annotations": {"note": None}}
    }


def test_wf102_a_scaling_group_keeps_its_replicas_alone() -> None:
    snapshot = next(iter(snapshots_in("s2-healthy.yaml")))
    part = next(one for one in expected_set_of(snapshot).replica(0).groups if one.name == "deepseek-0-prefill")
    group = next(one for one in snapshot.groups if one.ref.name == part.name)
    other = replace(
        group, replicas=7, min_available=2, clique_names=("pl",), annotations=FrozenMap({"note": "x"}), labels=EMPTY
    )
    found = thaw_json(scaling_group_changes_by_go_operator(snapshot.root, other, part))
    assert found["spec"] == {"minAvailable": 1, "cliqueNames": ["pl", "pw"]}
    assert found["metadata"]["annotations"] == {"note": None}
    assert found["metadata"]["labels"]["app.kubernetes.io/part-of"] == "deepseek"


@pytest.mark.req("WF-102")
def test_wf132_a_podgang_follows_its_pods_its_set_and_the_topology() -> None:
    snapshot = next(iter(snapshots_in("s2-healthy.yaml")))
    part = next(expected_set_of(snapshot).replica(0).gangs)
    gang = next(one for one in snapshot.gangs if one.ref.name == part.name)
    pods = {group.name: group.pods for group in gang.groups}

    def change_of(**fields: Any) -> tuple[Any, list[str]]:
        stored = replace(gang, **fields)
        change = podgang_changes_by_go_operator(WorkloadContext(snapshot), stored, part, pods, NO_PLACEMENT)
        assert change is not None
        return thaw_json(change.fields), [reason.rule.requirement for reason in change.because]

    fields, rules = change_of(groups=gang.groups[1:])
    assert (fields.keys(), rules) == ({"spec"}, ["WL-023"])
    assert len(fields["spec"]["podgroups"]) == len(gang.groups)

    fields, rules = change_of(priority="high")
    assert (fields, rules) == ({"spec": {"priorityClassName": None}}, ["WL-026"])

    labels = FrozenMap({**gang.labels, "added": "x", "grove.io/added": "x"})
    fields, rules = change_of(labels=labels, annotations=FrozenMap({"note": "x", "grove.io/note": "x"}))
    assert (fields, rules) == ({"metadata": {"labels": {"added": None}, "annotations": {"note": None}}}, ["WL-026"])

    placed = PodGangConstraints("t", GangPackConstraint("zone"))
    annotations = FrozenMap({**gang.annotations, "grove.io/topology-name": "t"})
    fields, rules = change_of(placement=placed, annotations=annotations)
    assert fields["metadata"] == {"annotations": {"grove.io/topology-name": None}}
    assert fields["spec"]["topologyConstraint"] is None
    assert rules == ["WL-025", "WL-026"]


def with_priority(snapshot: Snapshot, priority: str) -> Snapshot:
    """The moment after a manifest with another priority class was applied."""
    root = snapshot.root
    template = root.spec.template.model_copy(update={"priority_class_name": priority})
    spec = root.spec.model_copy(update={"template": template})
    edited = replace(root, spec=spec, edit=PlannedSetChange.OF_MORE)
    return replace(snapshot, root=edited)


def test_wf116_an_edit_of_the_priority_class_begins_an_update() -> None:
    for snapshot in snapshots_in("s2-healthy.yaml"):
        standalone = {clique.ref.name for clique in snapshot.cliques if not clique.is_in_scaling_group}
        plan = reconcile(with_priority(snapshot, "high"), NEWEST)
        applied = {
            step.target.name: thaw_json(step.action.fields)
            for step in plan.steps
            if step.target.kind == "PodClique" and isinstance(step.action, Apply)
        }
        assert applied.keys() == standalone
        for fields in applied.values():
            assert fields.keys() == {"metadata"}
            assert fields["metadata"]["labels"].keys() == {"grove.io/pod-template-hash"}
        gangs = [step for step in plan.steps if step.target.kind == "PodGang" and isinstance(step.action, Apply)]
        assert len(gangs) == len(snapshot.gangs)
        assert not [step for step in reconcile(snapshot, NEWEST).steps if isinstance(step.action, Apply)]
