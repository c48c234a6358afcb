"""Template changes that pods do not depend on, and the statuses that follow."""

import json
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core.in_memory.forecasts import forecast_until_settled
from grove_core.in_memory.in_memory_cluster import InMemoryCluster
from grove_core.kernel.errors import MalformedObject
from grove_core.kernel.frozen import FrozenDict, FrozenMap, Json, freeze, frozen, thaw_json
from grove_core.kernel.steps import Apply, Create, SetStatus
from grove_core.kernel.structs import replace
from grove_core.reconcile import reconcile
from grove_core.resources.merge_patch import (
    apply_merge_patch,
    labels_or_annotations_to_change,
    merge_patch_of_wanted_fields,
    replacement_patch,
)
from grove_core.resources.owned_object import OwnedObject, owned_object_from_json
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset_spec import AutoScalingConfiguration, HeadlessServiceConfig
from grove_core.resources.podgang import PodGang
from grove_core.resources.quantities import parse_quantity
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.rule_sets.rule_set import DESIGN
from tests.property.resources.manifests import any_json
from tests.property.workload.life import Life
from tests.property.workload.sets import applied, at_rest, clique_raw, rounds_of, set_raw

VERSIONS: Final = st.sampled_from(("1", "1.1", "1.10", "1000", "1k", "x"))
RAW: Final = set_raw(
    clique_raw("a", 2, autoScalingConfig={"minReplicas": 2, "maxReplicas": 4}),
    clique_raw("b", 1),
    groups=({"name": "pool", "cliqueNames": ["b"], "replicas": 2, "annotations": {"note": "x"}},),
    meta={"labels": {"queue": "one"}, "annotations": {"kai.scheduler/queue": "one"}},
)


def rested(raw: dict[str, object] = RAW) -> Life:
    life = Life(raw)
    life.settle()
    return life


def owned(life: Life, kind: str) -> list[OwnedObject]:
    return [item for item in life.world.items.values() if isinstance(item, OwnedObject) and item.ref.kind == kind]


def test_wl025_bounds_of_an_autoscaler_follow() -> None:
    life = rested()
    template = life.root.spec.template
    scaling = AutoScalingConfiguration(min_replicas=2, max_replicas=9)
    first, *rest = template.cliques
    wider = first.model_copy(update={"spec": first.spec.model_copy(update={"auto_scaling_config": scaling})})
    life.edit(template=template.model_copy(update={"cliques": (wider, *rest)}))
    plans = life.settle()
    assert [item.spec["maxReplicas"] for item in owned(life, "HorizontalPodAutoscaler")] == [9]
    assert life.clique("llm-0-a").auto_scaling["maxReplicas"] == 9
    applied = [step.action for plan in plans for step in plan.steps if isinstance(step.action, Apply)]
    assert {action.fields for action in applied} == {
        FrozenMap({"spec": FrozenMap({"maxReplicas": 9})}),
        FrozenMap({"spec": FrozenMap({"autoScalingConfig": FrozenMap({"maxReplicas": 9})})}),
    }


def test_wl025_a_service_and_a_scaling_group_follow() -> None:
    life = rested()
    template = life.root.spec.template
    (group,) = template.pod_clique_scaling_groups
    life.edit(
        template=template.model_copy(
            update={
                "headless_service_config": HeadlessServiceConfig(publish_not_ready_addresses=False),
                "pod_clique_scaling_groups": (group.model_copy(update={"annotations": FrozenMap({"note": "y"})}),),
            }
        )
    )
    life.settle()
    assert [item.spec["publishNotReadyAddresses"] for item in owned(life, "Service")] == [False]
    assert life.group("llm-0-pool").annotations["note"] == "y"


def test_wl025_what_a_server_filled_in_is_no_difference() -> None:
    life = rested()
    for item in owned(life, "Service"):
        filled = FrozenMap({**item.spec, "sessionAffinity": "None", "ipFamilies": ("IPv4",), "type": "ClusterIP"})
        life.world.put_object(replace(item, spec=filled))
    seen = life.look()
    assert seen is not None
    assert reconcile(replace(seen, attempts=())).settled


def test_wl025_false_that_a_server_left_out_is_no_difference() -> None:
    """As it does with ``publishNotReadyAddresses``; it would be written for ever."""
    off, on = FrozenMap({"published": False}), FrozenMap({"published": True})
    assert not merge_patch_of_wanted_fields(off, FrozenMap({}))
    assert merge_patch_of_wanted_fields(off, on) == off
    assert merge_patch_of_wanted_fields(on, FrozenMap({})) == on


def test_wl026_gangs_follow_the_labels_and_the_priority_of_their_set() -> None:
    life = rested()
    template = life.root.spec.template
    life.edit(template=template.model_copy(update={"priority_class_name": "high"}))
    life.world.put_object(replace(life.root, labels=FrozenMap({"queue": "two"}), annotations=FrozenMap({"a": "b"})))
    life.settle()
    for gang in (item for item in life.world.items.values() if isinstance(item, PodGang)):
        assert (gang.labels["queue"], gang.annotations["a"], gang.priority) == ("two", "b", "high")


COUNTS: Final = st.none() | st.integers(-3, 2)
BOUNDS: Final = st.none() | st.fixed_dictionaries({"minReplicas": COUNTS, "maxReplicas": st.integers(-3, 2)})


@given(st.lists(COUNTS, min_size=6, max_size=6), st.integers(-1, 2), BOUNDS, st.booleans())
def test_wl023_an_unjudged_set_comes_to_rest(
    counts: list[int | None], replicas: int, bounds: dict[str, int | None] | None, edited: bool
) -> None:
    """Whatever its counts say, as it comes and as it is changed: no gang is written that would read as another."""
    names = ("replicas", "minAvailable")
    first, second, third = (
        {name: count for name, count in zip(names, counts[at : at + 2], strict=True) if count is not None}
        for at in (0, 2, 4)
    )
    wrong = set_raw(
        {"name": "a", "spec": {"roleName": "a", "podSpec": {}, "autoScalingConfig": bounds, **first}},
        {"name": "b", "spec": {"roleName": "b", "podSpec": {}, **second}},
        groups=({"name": "pool", "cliqueNames": ["b"], "scaleConfig": bounds, **third},),
        replicas=replicas,
    )
    start = applied(wrong)
    if edited:
        life = rested()
        life.edit(template=start.root.spec.template)
        seen = life.look()
        assert seen is not None
        start = seen
    world = InMemoryCluster((start,))
    assert forecast_until_settled(world, start, DESIGN, limit=None, until=None).complete
    gangs = [item for item in world.items.values() if isinstance(item, PodGang)]
    assert all(group.min_replicas >= 0 for gang in gangs for group in gang.groups)


def test_wl243_the_phase_of_a_gang_follows_its_pods() -> None:
    """(B5) Pending while nothing is placed, Starting while it is, Running when all is ready."""
    life, phases = Life(RAW), list[str]()
    for _ in range(6):
        life.round()
    for changes in ({}, {"scheduled": True, "node": "n", "has_grove_gate": False, "gated": False}, {"ready": True}):
        for pod in life.all_pods():
            life.world.put_pod(replace(pod, **changes))
        for _ in range(3):
            life.round()
        gang = next(
            item for item in life.world.items.values() if isinstance(item, PodGang) and item.ref.name == "llm-0"
        )
        phases.append(gang.status.phase)
        types = {condition.type: condition.status.value for condition in gang.status.conditions}
        assert types["Initialized"] == "True"
        assert (types["Scheduled"], types["Ready"]) == (
            str(gang.status.phase != "Pending"),
            str(gang.status.phase == "Running"),
        )
    assert phases == ["Pending", "Starting", "Running"]


def test_wl241_selectors_and_generations_are_written() -> None:
    life = rested()
    of_set = "app.kubernetes.io/managed-by=grove-operator,app.kubernetes.io/part-of=llm"
    assert life.root.status.selector == of_set
    assert life.clique("llm-0-a").status.selector == f"{of_set},grove.io/podclique=llm-0-a"
    assert life.group("llm-0-pool").status.selector == f"{of_set},grove.io/podcliquescalinggroup=llm-0-pool"
    assert life.clique("llm-0-pool-0-b").status.selector == ""
    life.scale("llm-0-a", 3)
    life.settle()
    assert life.clique("llm-0-a").status.observed == life.clique("llm-0-a").generation == 2


@pytest.mark.req("WL-242")
@pytest.mark.req("WL-244")
def test_wl240_hashes_move_when_the_last_pod_did() -> None:
    life = rested()
    old = life.clique("llm-0-a").status.current_hash
    life.new_image("v2")
    for _ in range(60):
        life.round()
        clique = life.clique("llm-0-a")
        if {life.image_of(pod) for pod in life.pods("llm-0-a")} != {"v2"}:
            assert clique.status.current_hash == old
            assert life.root.status.updated in {0, 1}
        life.kubelet()
    assert life.clique("llm-0-a").status.current_hash == life.clique("llm-0-a").template_hash != old
    hashes = {item.status.set_hash for item in life.world.items.values() if isinstance(item, PodClique)}
    assert hashes == {life.root.status.current_hash} == {life.group("llm-0-pool").status.set_hash}


@given(any_json(), any_json())
def test_wl025_writing_what_differs_leaves_no_difference(wanted: object, stored: object) -> None:
    one, other = freeze({"of": wanted}), freeze({"of": stored})
    assert isinstance(one, FrozenMap)
    assert isinstance(other, FrozenMap)
    assert not merge_patch_of_wanted_fields(
        one, apply_merge_patch(other, merge_patch_of_wanted_fields(one, other))
    ) or _has_null(one)
    assert not merge_patch_of_wanted_fields(one, one)


@given(any_json(), any_json())
def test_wl213_replacing_makes_exactly_what_is_wanted(wanted: object, stored: object) -> None:
    one, other = freeze({"of": wanted}), freeze({"of": stored})
    assert isinstance(one, FrozenMap)
    assert isinstance(other, FrozenMap)
    assert _has_null(one) or apply_merge_patch(other, replacement_patch(one, other)) == one


def _has_null(value: Json) -> bool:
    """A patch cannot write a null, and nothing that Grove writes has one; an empty object is one that is absent."""
    if isinstance(value, FrozenMap):
        return not value or any(map(_has_null, value.values()))
    return value is None


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        ("1000m", 1, True),
        ("1Gi", "1024Mi", True),
        ("0.5", "500m", True),
        ("1G", "1Gi", False),
        ("80", 80, True),
        ("1e3", "1000", True),
        (True, 1, False),
        ("", "0", False),
        ("m", "0", False),
    ],
)
def test_wl025_a_quantity_is_compared_by_value(left: Json, right: Json, same: bool) -> None:
    assert (parse_quantity(left) is not None and parse_quantity(left) == parse_quantity(right)) is same
    for where in ({"limits": {"q": left}}, {"metrics": [{"target": {"averageValue": left}}]}, {"value": left}):
        there = json.loads(json.dumps(where).replace(json.dumps(left), json.dumps(right)))
        assert bool(merge_patch_of_wanted_fields(frozen(where), frozen(there))) is not same


@given(
    st.dictionaries(st.sampled_from(("limits", "version", "value")), VERSIONS),
    st.dictionaries(st.just("version"), VERSIONS),
)
@pytest.mark.req("WL-026")
def test_wl025_a_text_that_reads_as_a_quantity_is_a_text(wanted: dict[str, str], stored: dict[str, str]) -> None:
    """Version 1.10 is another one than 1.1, in labels and wherever no quantity stands."""
    texts, there = FrozenMap(wanted), FrozenMap(stored)
    assert apply_merge_patch(there, labels_or_annotations_to_change(texts, there)) == FrozenMap({**stored, **wanted})
    named = {key: text for key, text in wanted.items() if key == "version"}
    metric = frozen({"metrics": [{"selector": {"matchLabels": named}}], "tag": wanted.get("version", "")})
    before = frozen({"metrics": [{"selector": {"matchLabels": stored}}], "tag": stored.get("version", "")})
    same = all(stored.get(key) == text for key, text in named.items())
    assert ("metrics" not in merge_patch_of_wanted_fields(metric, before)) is same
    assert ("tag" not in merge_patch_of_wanted_fields(metric, before)) is (
        stored.get("version", "") == wanted.get("version", "")
    )


@pytest.mark.req("WL-025")
def test_wl026_a_version_is_mirrored_letter_by_letter() -> None:
    life = rested()
    for version in ("1.1", "1.10", "1.2"):
        life.world.put_object(replace(life.root, labels=FrozenMap({"version": version})))
        template = life.root.spec.template
        (pool,) = template.pod_clique_scaling_groups
        groups = (pool.model_copy(update={"annotations": {"version": version}}),)
        life.edit(template=template.model_copy(update={"pod_clique_scaling_groups": groups}))
        life.settle()
        assert life.group("llm-0-pool").annotations["version"] == version
        gangs = [item for item in life.world.items.values() if isinstance(item, PodGang)]
        assert {gang.labels["version"] for gang in gangs} == {version}


def test_an_owned_object_that_does_not_read_is_refused() -> None:
    raw = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a", "uid": 5}}
    with pytest.raises(MalformedObject):
        owned_object_from_json(raw)


def test_wl213_equal_parts_are_not_written() -> None:
    stored = FrozenMap({"a": FrozenMap({"b": 1}), "c": 1})
    assert replacement_patch(FrozenMap({"a": FrozenMap({"b": 1}), "c": 2}), stored) == FrozenMap({"c": 2})
    assert replacement_patch(FrozenMap({"a": FrozenMap({"b": 2})}), stored) == FrozenMap(
        {"a": FrozenMap({"b": 2}), "c": None}
    )


def test_wl241_a_generation_that_is_not_written_is_not_observed() -> None:
    life = rested()
    for item in list(life.world.items.values()):
        if isinstance(item, PodClique | ScalingGroup):
            life.world.put_object(replace(item, generation=None, status=replace(item.status, observed=None)))  # type: ignore[arg-type]  # each keeps its own kind of status
    life.world.put_object(replace(life.root, generation=None, status=replace(life.root.status, observed=None)))
    life.settle()
    assert life.group("llm-0-pool").status.observed is None


def test_wl010_without_reading_the_pods_nothing_that_depends_on_them_is_planned() -> None:
    life = rested()
    seen = life.look()
    assert seen is not None
    blind = replace(seen, complete=seen.complete - {"Pod"}, pods_of=FrozenDict(), attempts=())
    targets = {step.target.kind for step in reconcile(blind).steps}
    assert not targets & {"Pod", "PodGang"}


HELM: Final = {"app.kubernetes.io/managed-by": "Helm", "app.kubernetes.io/part-of": "shop", "team": "x"}


@pytest.mark.req("WL-030")
def test_wl026_what_grove_says_of_a_gang_stands_over_what_a_chart_says_of_its_set() -> None:
    """Every chart writes ``managed-by`` on what it installs; also a gang that was written over is put right."""
    raw = set_raw(clique_raw("a"), meta={"name": "llm", "namespace": "ml", "labels": HELM})
    written = [step for _, plan in rounds_of(applied(raw)) for step in plan.steps if step.target.kind == "PodGang"]
    assert [type(step.action) for step in written if not isinstance(step.action, SetStatus)] == [Create]
    seen = at_rest(applied(raw))
    (gang,) = seen.gangs
    assert [gang.labels[key] for key in HELM] == ["grove-operator", "llm", "x"]
    over = replace(seen, gangs=(replace(gang, labels=FrozenMap({**gang.labels, **HELM})),))
    (step,) = (step for step in reconcile(over).steps if isinstance(step.action, Apply))
    assert isinstance(step.action, Apply)
    own = {"app.kubernetes.io/managed-by": "grove-operator", "app.kubernetes.io/part-of": "llm"}
    assert thaw_json(step.action.fields) == {"metadata": {"labels": own}}


SERVERS: Final = [
    {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}}
]


def test_wl025_metrics_that_the_template_has_no_more_go() -> None:
    scaled = {"minReplicas": 1, "maxReplicas": 3, "metrics": [{"type": "External"}]}
    life = Life(set_raw(clique_raw("a", autoScalingConfig=scaled)))
    life.settle()
    (clique,) = life.root.spec.template.cliques
    spec = clique.spec.model_copy(
        update={"auto_scaling_config": AutoScalingConfiguration(min_replicas=1, max_replicas=3)}
    )
    life.edit(
        template=life.root.spec.template.model_copy(update={"cliques": (clique.model_copy(update={"spec": spec}),)})
    )
    life.settle()
    assert thaw_json(life.clique("llm-0-a").auto_scaling) == {"minReplicas": 1, "maxReplicas": 3}
    (autoscaler,) = owned(life, "HorizontalPodAutoscaler")
    assert not autoscaler.spec.get("metrics")
    life.world.put_object(replace(autoscaler, spec=FrozenMap({**autoscaler.spec, "metrics": freeze(SERVERS)})))
    seen = life.look()
    assert seen is not None
    assert not reconcile(replace(seen, attempts=())).steps


def test_wl213_an_annotation_of_the_template_is_taken_over() -> None:
    life = rested(set_raw(clique_raw("a", annotations={"note": "x"})))
    template = life.root.spec.template
    (clique,) = template.cliques
    changed = clique.model_copy(update={"annotations": FrozenMap({"note": "y"})})
    life.edit(template=template.model_copy(update={"cliques": (changed,)}))
    life.settle()
    assert life.clique("llm-0-a").annotations["note"] == "y"
