"""Deletion: pods first, the set last, and nothing is left."""

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from grove_core.areas.workload.rules import WorkloadReason
from grove_core.in_memory.forecasts import forecasts_of_snapshots
from grove_core.in_memory.in_memory_cluster import InMemoryCluster
from grove_core.kernel.frozen import FrozenDict, FrozenMap, frozen_dict_of_tuples
from grove_core.kernel.steps import Attempt, AttemptOutcome, Create, Delete, Step, StepStage
from grove_core.kernel.structs import replace
from grove_core.plan.step_batches import execute_steps_sequentially
from grove_core.reconcile import finalizer_steps_for_orphans, reconcile
from grove_core.resources.api_names import GROVE, POD_GANG, SET_FINALIZER
from grove_core.resources.domain_sharing import CliquePositionInSet, ComputeDomainUser, clique_indices_from_labels
from grove_core.resources.domain_sharing_labels import domain_user_in_labels
from grove_core.resources.labels import SET, SET_REPLICA
from grove_core.resources.pod import pod_from_json
from grove_core.resources.topology_usage import set_name_of_clique
from grove_core.rule_sets.rule_set import DESIGN
from grove_core.snapshot.cluster_index import index_cluster
from tests.property.workload.life import Life
from tests.property.workload.sets import Json, applied, at_rest, clique_raw, raw_sets, set_raw

RAW = set_raw(
    clique_raw("a", 2), clique_raw("b", 1), groups=({"name": "pool", "cliqueNames": ["b"], "replicas": 2},), replicas=2
)


@pytest.mark.req("WL-230")
def test_wl231_a_set_is_not_gone_while_a_pod_of_it_is_there() -> None:
    """(B9, RS12) However slowly the pods stop."""
    life = Life(RAW, lingering=True)
    life.settle()
    life.world.delete_object(life.ref)
    for _ in range(6):
        plan = life.round()
        assert plan is not None
        assert life.all_pods()
        assert life.ref in life.world.items
        for step in plan.steps:
            assert step.target.kind != "Pod"
            assert not isinstance(step.action, Delete) or step.action.foreground
    assert all(pod.deleting for pod in life.all_pods())
    assert {why.rule for held in (plan.withheld if plan else ()) for why in held.because} == {
        WorkloadReason.PARTS_REMAIN
    }
    life.settle()
    assert not life.world.items
    assert not life.all_pods()


@given(raw_sets(), st.integers(min_value=0))
@settings(max_examples=30)
@pytest.mark.req("PL-018")
def test_wl231_pods_that_outlived_their_clique_hold_the_set(raw: Json, which: int) -> None:
    """Whatever is remembered of other pods, and in whatever is forecast."""
    rested = at_rest(applied(raw))
    with_pods = [clique for clique in rested.cliques if rested.pods_of[clique.uid]]
    assume(with_pods)
    gone = with_pods[which % len(with_pods)]
    there = tuple(clique for clique in rested.cliques if clique is not gone)
    leaving = replace(rested, root=replace(rested.root, deleting=True), cliques=there)
    ended = tuple(
        Attempt(Step(StepStage.CLEANUP, pod.ref, Delete(pod.guard), ()), AttemptOutcome.DONE)
        for _, pod in leaving.pods()
    )
    for attempts in ((), ended):
        (forecast,) = forecasts_of_snapshots((replace(leaving, attempts=attempts),), DESIGN, limit=None, until=None)
        for round_ in forecast.rounds:
            assert not [step for step in round_.steps if step.target == leaving.root_ref]
            assert WorkloadReason.PARTS_REMAIN in {why.rule for held in round_.withheld for why in held.because}


@given(st.dictionaries(st.sampled_from(SET.keys), st.sampled_from(("", "llm"))))
def test_wl001_every_reader_of_labels_names_the_same_set(labels: dict[str, str]) -> None:
    """The first label that is set counts for every use: deletion, leftovers, topology counts."""
    name = "llm" if "llm" in labels.values() else ""
    life = Life(RAW)
    life.settle()
    old = life.clique("llm-0-pool-0-b")
    stray = replace(
        old, uid="old", owner_uid="gone", labels=FrozenMap({**labels, SET_REPLICA.primary: "0"}), deleting=True
    )
    assert set_name_of_clique(stray) == name
    assert (clique_indices_from_labels(stray) or CliquePositionInSet("", 0, "", "")).set_name == name
    assert (domain_user_in_labels(stray.labels) or ComputeDomainUser("", "", "", "", "")).set_name == name
    assert pod_from_json({"metadata": {"name": "x", "labels": labels}}, {}).set_name == name
    cluster = index_cluster(sets=(life.root,), cliques=(stray,))
    assert (stray in cluster.snapshot_of(life.root, life.now).cliques) is (name == "llm")
    life.world.add_object(replace(stray, ref=replace(stray.ref, name="stray")))
    assert len(life.leftovers()) == (name == "")


@pytest.mark.parametrize("key", SET.keys)
def test_wl231_a_pod_that_names_its_set_by_any_family_of_labels_holds_it(key: str) -> None:
    rested = at_rest(applied(RAW))
    labels = {POD_GANG: "llm-0", key: "llm"}
    owner = {"apiVersion": GROVE, "kind": "PodClique", "name": "llm-0-a", "uid": "gone", "controller": True}
    pod = pod_from_json(
        {"metadata": {"name": "x", "namespace": "ml", "labels": labels, "ownerReferences": [owner]}}, {}
    )
    leaving = replace(rested.root, deleting=True)
    plan = reconcile(
        replace(rested, root=leaving, groups=(), cliques=(), gangs=(), pods_of=frozen_dict_of_tuples({"gone": (pod,)}))
    )
    assert {held.because[0].rule for held in plan.withheld} == {WorkloadReason.PARTS_REMAIN}


@given(raw_sets())
@settings(max_examples=30)
def test_wl230_nothing_is_left_of_any_set(raw: Json) -> None:
    """No object, no pod, no finalizer (O10)."""
    life = Life(raw, lingering=True)
    life.settle()
    life.world.delete_object(life.ref)
    life.settle()
    assert not life.world.items
    assert not life.world.pods


def test_wl230_a_set_that_is_deleted_in_the_middle_of_an_update_goes_all_the_same() -> None:
    life = Life(RAW, lingering=True)
    life.settle()
    life.new_image("v2")
    for _ in range(6):
        life.round()
        life.kubelet()
    life.world.delete_object(life.ref)
    life.settle()
    assert not life.world.items


def test_wl001_cliques_whose_group_is_gone_are_let_go() -> None:
    life = Life(RAW)
    life.settle()
    life.world.delete_object(life.group("llm-0-pool").ref)
    life.settle()
    assert life.clique("llm-0-pool-0-b").owner_uid == life.group("llm-0-pool").uid
    assert all(clique.status.was_available for clique in [life.clique("llm-0-pool-0-b"), life.clique("llm-0-a")])


def test_wl232_without_reading_the_cliques_the_set_is_held() -> None:
    life = Life(RAW)
    life.settle()
    seen = life.look()
    assert seen is not None
    going = replace(
        seen,
        root=replace(seen.root, deleting=True),
        cliques=(),
        groups=(),
        pods_of=FrozenDict(),
        not_collected=frozenset({"PodClique"}),
    )
    plan = reconcile(going)
    assert plan.steps == ()
    assert WorkloadReason.PARTS_NOT_COLLECTED in {why.rule for held in plan.withheld for why in held.because}
    assert SET_FINALIZER in seen.root.finalizers


def test_wl231_a_clique_whose_group_is_seen_gone_holds_the_set() -> None:
    """What is seen of PodCliques may be older than what is seen of scaling groups."""
    life = Life(RAW)
    life.settle()
    seen = life.look()
    assert seen is not None
    root = replace(seen.root, deleting=True)
    stray = next(clique for clique in seen.cliques if clique.is_in_scaling_group)
    left = index_cluster(sets=(root,), cliques=(stray,)).snapshot_of(root, seen.now)
    assert (left.cliques, left.orphans) == ((), (stray,))
    plan = reconcile(replace(left, complete=seen.complete))
    assert plan.steps == ()
    assert WorkloadReason.PARTS_REMAIN in {why.rule for held in plan.withheld for why in held.because}
    assert reconcile(replace(left, orphans=(), complete=seen.complete)).steps
    made = Step(StepStage.FOUNDATION, stray.ref, Create(FrozenMap({})), ())
    just_made = replace(left, complete=seen.complete, attempts=(Attempt(made, AttemptOutcome.DONE),))
    for look in (just_made, replace(just_made, pods_of=frozen_dict_of_tuples({stray.uid: seen.pods_of[stray.uid]}))):
        (held,) = reconcile(look).withheld
        assert dict(held.because[0].facts)["remaining"] == 1

    other = InMemoryCluster((replace(left, complete=seen.complete),)).snapshot_of_set(root.ref, seen.now)
    assert other is not None
    assert other.orphans == (stray,), "and so it is in each further round of a forecast"


def test_wl231_a_clique_that_is_of_another_controller_holds_nothing() -> None:
    """It carries the same label, and its controller lives; or it has none."""
    seen = at_rest(applied(RAW))
    clique = seen.cliques[0]
    for kind, uid in (("DynamoComponent", "x"), ("", "")):
        other = replace(clique, owner_uid=uid, owner_kind=kind, owner_name="dyn")
        assert index_cluster(sets=(seen.root,), cliques=(other,)).snapshot_of(seen.root, seen.now).orphans == ()


def test_wl231_a_clique_that_is_of_a_scaling_group_of_an_earlier_set_holds_this_one() -> None:
    seen = at_rest(applied(RAW))
    groups = tuple(replace(group, owner_uid="earlier") for group in seen.groups)
    found = index_cluster(sets=(seen.root,), groups=groups, cliques=seen.cliques).snapshot_of(seen.root, seen.now)
    assert {clique.ref.name for clique in found.orphans} == {c.ref.name for c in seen.cliques if "pool" in c.ref.name}
    leaving = tuple(replace(clique, deleting=True) for clique in seen.cliques)
    found = index_cluster(sets=(seen.root,), groups=groups, cliques=leaving).snapshot_of(seen.root, seen.now)
    assert (found.orphans, {clique.ref for clique in found.cliques}) == ((), {clique.ref for clique in leaving})


def test_wl001_what_is_left_of_a_set_that_is_gone_is_let_go() -> None:
    """An operator that lost its lease makes a group and a clique in the very moment in which the set goes."""
    life = Life(RAW)
    life.settle()
    group, clique = life.group("llm-0-pool"), life.clique("llm-0-a")
    life.world.delete_object(life.ref)
    life.settle()
    assert not life.world.items
    for part in (group, clique):
        life.world.add_object(replace(part, deleting=True))
    assert life.leftovers() == [life.clique(clique.ref.name), life.group(group.ref.name)]
    for attempt in execute_steps_sequentially(life.world.attempt_step, finalizer_steps_for_orphans(life.leftovers())):
        assert attempt.outcome is AttemptOutcome.DONE
    assert not life.world.items


def test_wl001_a_group_of_an_earlier_set_of_that_name_is_let_go_by_the_new_one() -> None:
    life = Life(RAW)
    life.settle()
    group = life.group("llm-0-pool")
    life.world.put_object(replace(group, uid="earlier", owner_uid="nobody", deleting=True))
    seen = life.look()
    assert seen is not None
    assert [part.uid for part in seen.groups if part.deleting] == ["earlier"]
    assert group.ref in {step.target for step in reconcile(seen).steps}
