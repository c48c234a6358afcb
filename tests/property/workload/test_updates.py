"""Updates: which pods are replaced, when, and what is reported while others wait."""

from datetime import timedelta
from typing import Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from grove_core.areas.workload.design.clique_update import clique_rollout_step
from grove_core.areas.workload.rules import WorkloadReason
from grove_core.kernel.frozen import FrozenMap, frozen_dict_of_tuples
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Delete, SetStatus
from grove_core.kernel.structs import replace
from grove_core.kernel.time_formats import format_time
from grove_core.plan.plan import Plan
from grove_core.reconcile import reconcile
from grove_core.resources.api_names import TEMPLATE_HASH
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.podcliqueset_spec import UpdateStrategy
from tests.property.workload.life import Life
from tests.property.workload.sets import Json, clique_raw, set_raw
from tests.property.workload.settled_sets import GROUP, held, rested, seen_in, whys, written

GROUPED: Final = set_raw(clique_raw("a", 1), groups=(GROUP,), replicas=2)

ONE: Final = set_raw(clique_raw("a", 1))
SPARE: Final = set_raw(clique_raw("a", 3, minAvailable=2))


def all_whys(plans: list[Plan]) -> set[WorkloadReason]:
    return set().union(*map(whys, plans))


def test_wl216_a_clique_of_one_is_never_at_zero() -> None:
    """(B10) There is a pod more until the new one is ready, and the index is 0 again in the end."""
    life = rested(ONE)
    old = life.pods("llm-0-a")[0].name
    life.new_image("v2")
    plans = []
    for _ in range(40):
        plans.append(life.round())
        assert sum(pod.ready for pod in life.all_pods()) >= 1
        life.kubelet()
    assert [(pod.index, life.image_of(pod)) for pod in life.pods("llm-0-a")] == [(0, "v2")]
    assert old not in {pod.name for pod in life.all_pods()}
    assert {WorkloadReason.SURGE_POD, WorkloadReason.OUTDATED_POD, WorkloadReason.EXCESS_POD} <= set().union(
        *map(whys, plans)
    )


def test_wl215_a_clique_with_a_spare_pod_gives_one_at_a_time() -> None:
    life = rested(SPARE)
    life.new_image("v2")
    lowest = 3
    for _ in range(40):
        life.round()
        lowest = min(lowest, sum(pod.ready for pod in life.all_pods()))
        assert len(life.all_pods()) <= 3
        life.kubelet()
    assert lowest == 2
    assert {life.image_of(pod) for pod in life.all_pods()} == {"v2"}


@pytest.mark.req("WL-226")
def test_wl217_a_version_that_does_not_come_up_stops_at_its_first_pod() -> None:
    life = rested(SPARE)
    life.new_image("v2")
    life.settle(image="v2")
    assert sorted(life.image_of(pod) for pod in life.all_pods()) == ["", "", "v2"]
    plan = life.round()
    assert {WorkloadReason.UPDATE_WAITS, WorkloadReason.POD_NOT_READY} <= held(plan)
    assert life.clique("llm-0-a").status.updating
    life.new_image("v3")
    life.settle()
    assert {life.image_of(pod) for pod in life.all_pods()} == {"v3"}


def test_wl214_old_pods_that_are_not_ready_go_at_once() -> None:
    life = rested(set_raw(clique_raw("a", 3)))
    for pod in life.all_pods():
        life.world.put_pod(replace(pod, ready=False, trouble="CrashLoopBackOff"))
    life.round()
    life.new_image("v2")
    plans = [life.round() for _ in range(5)]
    (gone,) = [plan for plan in plans if WorkloadReason.OUTDATED_NOT_READY in whys(plan)]
    assert gone is not None
    assert len([step for step in gone.steps if step.target.kind == "Pod"]) == 3


def test_wl212_replicas_are_updated_one_after_another() -> None:
    """The one without placed pods first, then by index; the next only when the one before is available."""
    life = rested(set_raw(clique_raw("a", 1), replicas=3))
    for pod in life.pods("llm-2-a"):
        life.world.put_pod(replace(pod, scheduled=False, ready=False, node="", phase="Pending"))
    life.new_image("v2")
    order: list[str] = []
    for _ in range(80):
        life.round()
        for pod in life.all_pods():
            if life.image_of(pod) == "v2" and pod.name.rpartition("-")[0] not in order:
                order.append(pod.name.rpartition("-")[0])
        life.kubelet()
    assert order == ["llm-2-a", "llm-0-a", "llm-1-a"]


def test_wl223_the_next_replica_waits_and_the_awaited_one_is_named() -> None:
    """Replica 0 of the set is updated, and its pod breaks right then."""
    life = rested(set_raw(clique_raw("a", 2, minAvailable=1), replicas=2))
    life.new_image("v2")
    while life.pods("llm-0-a") and {life.image_of(pod) for pod in life.pods("llm-0-a")} != {"v2"}:
        life.round()
        life.kubelet()
    for pod in life.pods("llm-0-a"):
        life.world.put_pod(replace(pod, scheduled=True, has_grove_gate=False, ready=False, trouble="CrashLoopBackOff"))
    plan = [life.round() for _ in range(8)][-1]
    assert {WorkloadReason.ROLLOUT_WAITS, WorkloadReason.UPDATE_WAITS} & held(plan)
    assert {life.image_of(pod) for pod in life.pods("llm-1-a")} == {""}
    assert life.root.status.updating


def test_wl224_nothing_goes_before_the_statuses_say_so() -> None:
    life = rested(set_raw(clique_raw("a", 1), clique_raw("b", 1), groups=({**GROUP, "cliqueNames": ["b"]},)))
    life.new_image("v2")
    first = life.round()
    assert first is not None
    assert {type(step.action) for step in first.steps} == {SetStatus}
    for _ in range(10):
        seen = life.look()
        assert seen is not None
        for step in reconcile(seen).steps:
            if (
                set(whys(reconcile(seen))) & {WorkloadReason.SURGE_POD, WorkloadReason.OUTDATED_POD}
                and step.target.kind == "Pod"
            ):
                assert life.clique("llm-0-a").status.updating
            if step.because[0].rule is WorkloadReason.OUTDATED_REPLICA:
                assert life.group("llm-0-pool").status.updating
        life.round()
        life.kubelet()


def test_wl222_on_delete_replaces_nothing_by_itself() -> None:
    life = rested(
        set_raw(clique_raw("a", 2), clique_raw("b", 1), groups=({**GROUP, "cliqueNames": ["b"]},), replicas=2)
    )
    life.on_delete()
    life.new_image("v2")
    plans = life.settle()
    assert not [step for plan in plans for step in plan.steps if step.target.kind == "Pod"]
    assert WorkloadReason.ON_DELETE in all_whys(plans)
    progress = life.clique("llm-1-a").status.progress
    assert progress["updateStartedAt"] == progress["updateEndedAt"]
    assert not life.root.status.updating
    (first, *_) = life.pods("llm-1-a")
    life.world.delete_object(first.ref)
    life.settle()
    assert sorted(life.image_of(pod) for pod in life.pods("llm-1-a")) == ["", "v2"]
    life.scale("llm-1-a", 1)
    life.settle()
    assert [life.image_of(pod) for pod in life.pods("llm-1-a")] == [""] or life.pods("llm-1-a")


def test_wl241_a_burst_of_edits_ends_with_the_last_one() -> None:
    life = rested(
        set_raw(clique_raw("a", 2), clique_raw("b", 1), groups=({**GROUP, "cliqueNames": ["b"]},), replicas=2)
    )
    for version in range(2, 9):
        life.new_image(f"v{version}")
        life.round()
        life.kubelet()
    life.settle()
    assert {life.image_of(pod) for pod in life.all_pods()} == {"v8"}
    status = life.root.status
    assert not status.updating
    assert "updateEndedAt" in status.progress
    assert (status.progress["updatedPodCliquesCount"], status.progress["totalPodCliquesCount"]) == (2, 2)
    assert (status.updated, status.available) == (2, 2)


def test_wl211_a_hash_that_was_taken_away_comes_back_and_rolls_nothing() -> None:
    life = rested(SPARE)
    clique = life.clique("llm-0-a")
    before = {pod.uid for pod in life.all_pods()}
    life.world.put_object(replace(clique, template_hash="", labels=FrozenMap({})))
    life.settle()
    assert life.clique("llm-0-a").template_hash == clique.template_hash
    assert {pod.uid for pod in life.all_pods()} == before


@pytest.mark.req("WL-043")
def test_wl211_pods_that_were_made_while_their_clique_had_no_labels_are_updated_too() -> None:
    """Nothing else would say of which template they are once their clique is of another one."""
    life = Life(set_raw(clique_raw("a", 1), replicas=2))
    while not any(item.ref.kind == "PodClique" for item in life.world.items.values()):
        life.round()
    life.new_image("v2")
    for name in ("llm-0-a", "llm-1-a"):
        life.world.put_object(replace(life.clique(name), template_hash="", labels=FrozenMap({})))
    life.settle()
    assert {life.image_of(pod) for pod in life.all_pods()} == {"v2"}


FOREIGN: Final = "15eefd868744776264e"
PAIR: Final[Json] = {"name": "pool", "cliqueNames": ["a"], "replicas": 2}


def without_hash(life: Life, name: str) -> None:
    """A user removes the template hash from a clique."""
    clique = life.clique(name)
    labels = FrozenMap({key: text for key, text in clique.labels.items() if key != TEMPLATE_HASH})
    life.world.put_object(replace(clique, template_hash="", labels=labels))


def taken_over(raw: Json) -> Life:
    """A set that another operator has brought up."""
    life = rested(raw)
    clique = life.clique("llm-0-a")
    labels = FrozenMap({**clique.labels, TEMPLATE_HASH: FOREIGN})
    status = replace(clique.status, current_hash=FOREIGN)
    life.world.put_object(replace(clique, template_hash=FOREIGN, labels=labels, status=status))
    for pod in life.all_pods():
        life.world.put_pod(replace(pod, template_hash=FOREIGN))
    life.settle()
    return life


@pytest.mark.req("WL-043")
@pytest.mark.parametrize("rounds", range(16))
def test_wl211_a_clique_that_loses_the_hash_in_the_first_update_after_another_operator_is_updated(rounds: int) -> None:
    """The hash of before stands in its status for as long as pods of before are there."""
    life = taken_over(SPARE)
    before = {pod.uid for pod in life.all_pods()}
    without_hash(life, "llm-0-a")
    life.settle()
    assert {pod.uid for pod in life.all_pods()} == before, "its hash is the other operator's still"
    life.new_image("v2")
    for _ in range(rounds):
        life.round()
        life.kubelet()
    without_hash(life, "llm-0-a")
    life.settle()
    assert {life.image_of(pod) for pod in life.all_pods()} == {"v2"}


@pytest.mark.req("WL-086")
def test_wl211_a_pod_of_another_template_than_those_of_before_says_so() -> None:
    """With OnDelete the clique holds the new image while its pods have the old one; then it loses its hash."""
    spec = {"containers": [{"name": "main", "image": "v1"}]}
    life = rested(set_raw(clique_raw("a", 2, minAvailable=1, pod_spec=spec), replicas=2))
    life.on_delete()
    life.new_image("v2")
    life.settle()
    life.edit(update_strategy=UpdateStrategy(type="RollingRecreate"))
    life.new_image("v3")
    without_hash(life, "llm-1-a")
    life.world.end_pod_containers(life.pods("llm-1-a")[0].ref)
    for _ in range(3):
        life.round()
    life.new_image("v1")
    life.settle()
    assert {life.image_of(pod) for pod in life.all_pods()} == {"v1"}


@pytest.mark.parametrize(
    "groups", [(), ({"name": "pool", "cliqueNames": ["a"], "replicas": 2},)], ids=["alone", "group"]
)
@pytest.mark.parametrize("more", [{}, {"priorityClassName": "high"}], ids=["", "priority"])
def test_wl211_the_hash_that_follows_from_what_a_clique_holds_is_that_of_its_template(
    groups: tuple[Json, ...], more: Json
) -> None:
    """A replica whose turn has not come makes its first pods; and the template becomes what it was."""
    life = Life(set_raw(clique_raw("a", 1), replicas=2, groups=groups, **more))
    names = ["llm-1-pool-0-a", "llm-1-pool-1-a"] if groups else ["llm-1-a"]
    while not all(Ref("grove.io/v1alpha1", "PodClique", "ml", name) in life.world.items for name in names):
        life.round()
    template = life.root.spec.template
    for name in names:
        without_hash(life, name)
    life.new_image("v2")
    for _ in range(4):
        life.round()
    made = {pod.uid for name in names for pod in life.pods(name)}
    life.edit(template=template)
    life.settle()
    assert made
    assert made <= {pod.uid for name in names for pod in life.pods(name)}


@pytest.mark.req("WL-211")
def test_wl212_a_clique_that_has_lost_the_hash_is_not_done() -> None:
    life = rested(set_raw(clique_raw("a", 3, minAvailable=1), replicas=2))
    before = life.clique("llm-0-a").template_hash
    life.new_image("v2")
    while life.clique("llm-0-a").template_hash == before:
        life.round()
    without_hash(life, "llm-0-a")
    while life.clique("llm-1-a").template_hash == before:
        life.round()
        life.kubelet()
    assert {life.image_of(pod) for pod in life.pods("llm-0-a")} == {"v2"}


def test_wl086_a_replica_whose_turn_has_not_come_replaces_its_pods_by_equal_ones() -> None:
    life = rested(set_raw(clique_raw("a", 1), replicas=2))
    life.new_image("v2")
    life.round()
    life.world.delete_object(life.pods("llm-1-a")[0].ref)
    life.round()
    life.round()
    assert {life.image_of(pod) for pod in life.pods("llm-1-a")} == {""}
    assert isinstance(life.root, PodCliqueSet)


def test_wl216_a_surge_replica_stays_when_the_strategy_changes() -> None:
    """The one more serves alone, and the user wants OnDelete from now on."""
    life = rested(ONE)
    life.new_image("v2")
    while not any(pod.index == 1 and pod.ready for pod in life.pods("llm-0-a")):
        life.round()
        life.kubelet()
    for pod in life.pods("llm-0-a"):
        if pod.index == 0:
            life.world.delete_object(pod.ref)
    life.on_delete()
    for _ in range(20):
        life.round()
        assert any(pod.ready for pod in life.all_pods())
        life.kubelet()
    assert [(pod.index, pod.ready) for pod in life.pods("llm-0-a")] == [(0, True)]
    assert not life.clique("llm-0-a").status.updating


def test_wl214_an_old_pod_that_is_not_listed_yet_is_waited_for() -> None:
    """It was made for the template of a moment ago, and has no uid yet that a deletion could name."""
    life = rested(SPARE)
    seen = life.look()
    assert seen is not None
    clique = replace(life.clique("llm-0-a"), template_hash="bcdfghjklm")
    made = replace(life.pods("llm-0-a")[0], uid="", name="new", index=9, ready=False, template_hash="of-before")
    status = replace(clique.status, updating=True, update_hash="bcdfghjklm")
    roll = clique_rollout_step(replace(clique, status=status), [made])
    assert roll.absents == ()
    assert roll.runs


def test_wl216_a_clique_that_is_scaled_in_in_the_middle_ends_with_the_wanted_indices() -> None:
    """Two new pods, of index 2 and 3, are all that is left where one is wanted; index 0 has to come."""
    life = rested(set_raw(clique_raw("a", 4, minAvailable=1)))
    life.new_image("v2")
    while sum(life.image_of(pod) == "v2" and pod.ready for pod in life.pods("llm-0-a")) < 2:
        life.round()
        life.kubelet()
    life.scale("llm-0-a", 1)
    life.settle()
    assert [(pod.index, life.image_of(pod)) for pod in life.pods("llm-0-a")] == [(0, "v2")]
    assert not life.clique("llm-0-a").status.updating


def test_wl215_the_second_pod_waits_until_the_first_successor_is_ready() -> None:
    """A version that crashes takes one pod, also where three could be spared."""
    life = rested(set_raw(clique_raw("a", 4, minAvailable=1)))
    life.new_image("v2")
    life.settle(image="v2")
    assert sum(pod.ready for pod in life.all_pods()) == 3
    assert WorkloadReason.UPDATE_WAITS in held(life.round())


CREW: Final = st.lists(
    st.tuples(st.integers(0, 4), st.booleans(), st.booleans(), st.sampled_from(("old", "new"))), max_size=7
)


@given(st.integers(1, 4), st.integers(1, 4), CREW, st.booleans())
@example(3, 2, [(0, True, True, "old"), (1, True, True, "old"), (1, True, True, "old")], True)
def test_wl215_no_round_takes_more_ready_pods_than_can_be_spared(
    replicas: int, needed: int, crew: list[tuple[int, bool, bool, str]], opened: bool
) -> None:
    """Whatever pods there are, two of one index and too many among them, and for whatever they go (B10)."""
    life = rested(set_raw(clique_raw("a", replicas, minAvailable=min(needed, replicas))))
    old = life.clique("llm-0-a").template_hash
    life.new_image("v2")
    while opened and not life.clique("llm-0-a").status.updating:
        life.round()
    seen = life.look()
    assert seen is not None
    (clique,) = seen.cliques
    hashes = {"old": old, "new": clique.template_hash}
    pods = tuple(
        replace(
            seen.pods_of[clique.uid][0],
            name=f"p{number}",
            uid=f"p{number}",
            index=index,
            scheduled=placed,
            ready=ready and placed,
            template_hash=hashes[made_of],
        )
        for number, (index, placed, ready, made_of) in enumerate(crew)
    )
    plan = reconcile(replace(seen, pods_of=frozen_dict_of_tuples({clique.uid: pods})))
    doomed = {step.target.name for step in plan.steps if isinstance(step.action, Delete)}
    left = sum(pod.ready and pod.name not in doomed for pod in pods)
    assert left >= min(sum(pod.ready for pod in pods), clique.needed_ready_pods)


OLD: Final = (True, "", "of-before")
UNREADY: Final = (False, "CrashLoopBackOff", "")
UNSCHEDULABLE: Final = (False, "Unschedulable", "")


@pytest.mark.parametrize(
    ("needed", "pods", "gone"),
    [
        (1, [(0, *OLD), (1, *OLD), (2, *OLD)], ["p2"]),
        (2, [(0, *OLD), (1, *OLD), (2, *UNSCHEDULABLE)], []),
        (1, [(0, *OLD), (1, *OLD)], []),
        (1, [(0, *OLD), (1, *OLD), (2, *UNREADY)], []),
        (1, [(0, *OLD), (1, *OLD), (2, *UNSCHEDULABLE)], ["p1"]),
        (1, [(0, *OLD), (1, *OLD), (1, *OLD)], []),
    ],
    ids=["the highest index", "no more than needed", "one is missing", "not ready", "unschedulable", "one index twice"],
)
def test_wl215_a_clique_spares_a_ready_pod_as_the_table_of_cases_says(
    needed: int, pods: list[tuple[int, bool, str, str]], gone: list[str]
) -> None:
    life = rested(set_raw(clique_raw("a", 3, minAvailable=needed)))
    clique, pod = life.clique("llm-0-a"), life.pods("llm-0-a")[0]
    status = replace(clique.status, updating=True, update_hash=clique.template_hash)
    made = [
        replace(
            pod,
            name=f"p{place}",
            uid=f"p{place}",
            index=index,
            ready=ready,
            trouble=trouble,
            template_hash=hash_ or clique.template_hash,
        )
        for place, (index, ready, trouble, hash_) in enumerate(pods)
    ]
    step = clique_rollout_step(replace(clique, status=status), made)
    assert [absent.target.name for absent in step.absents] == gone
    assert {absent.because[0].rule for absent in step.absents} <= {WorkloadReason.OUTDATED_POD}


def test_wl215_a_pod_without_a_node_is_not_waited_for() -> None:
    life = rested(set_raw(clique_raw("a", 3, minAvailable=1)))
    pod = life.pods("llm-0-a")[2]
    nowhere = replace(pod, scheduled=False, ready=False, node="", phase="Pending", trouble="Unschedulable")
    life.world.put_pod(nowhere)
    life.new_image("v2")
    for _ in range(60):
        life.round()
        for other in life.all_pods():
            if other.index == 2 and not other.has_grove_gate:
                life.world.put_pod(replace(other, trouble="Unschedulable"))
            elif not other.has_grove_gate and not other.ready:
                life.world.put_pod(replace(other, scheduled=True, node="n", phase="Running", ready=True))
    assert {life.image_of(pod) for pod in life.all_pods()} == {"v2"}
    assert not life.clique("llm-0-a").status.updating


def test_wl043_a_pod_without_a_hash_is_of_the_template_that_all_pods_had_before() -> None:
    life = rested(SPARE)
    for pod in life.all_pods():
        life.world.put_pod(replace(pod, template_hash=""))
    before = {pod.uid for pod in life.all_pods()}
    life.settle()
    assert {pod.uid for pod in life.all_pods()} == before
    life.new_image("v2")
    life.settle()
    assert {life.image_of(pod) for pod in life.all_pods()} == {"v2"}


def test_wl217_an_update_whose_last_pods_do_not_come_up_says_so() -> None:
    life = rested(set_raw(clique_raw("a", 2)))
    for pod in life.all_pods():
        life.world.put_pod(replace(pod, ready=False, trouble="CrashLoopBackOff"))
    life.new_image("v2")
    life.settle(image="v2")
    assert {WorkloadReason.UPDATE_WAITS, WorkloadReason.POD_NOT_READY} <= held(life.round())


def test_wl212_an_update_whose_beginning_is_written_nowhere_goes_on() -> None:
    """The status lacks the start time, of the set and of its clique: it counts as begun now."""
    life = rested(ONE)
    life.new_image("v2")
    while not life.clique("llm-0-a").status.updating:
        life.round()
    for item in (life.root, life.clique("llm-0-a")):
        progress = FrozenMap({key: value for key, value in item.status.progress.items() if key != "updateStartedAt"})
        status = replace(item.status, progress=progress)
        life.world.put_object(replace(item, status=status))  # type: ignore[arg-type]  # of its own kind
    began = format_time(life.now)
    life.settle()
    assert not life.root.status.updating
    assert {item.status.progress["updateStartedAt"] for item in (life.root, life.clique("llm-0-a"))} == {began}


def test_wl212_each_update_has_a_beginning_of_its_own() -> None:
    life = rested(ONE)
    began = []
    for image in ("v2", "v3"):
        life.now += timedelta(hours=1)
        life.new_image(image)
        life.settle()
        began.append(str(life.root.status.progress["updateStartedAt"]))
    assert began[0] < began[1]


def test_wl224_no_update_of_a_clique_ends_while_it_has_old_pods() -> None:
    """Of a replica whose turn has not come, with pods enough to serve."""
    life = rested(set_raw(clique_raw("a", 1), replicas=2))
    life.new_image("v2")
    while not life.clique("llm-0-a").status.updating:
        life.round()
    ours, theirs = life.clique("llm-0-a"), life.clique("llm-1-a")
    labels = FrozenMap({**theirs.labels, "grove.io/pod-template-hash": ours.template_hash})
    status = replace(theirs.status, updating=True, progress=ours.status.progress)
    taken = replace(theirs, template_hash=ours.template_hash, pod_spec=ours.pod_spec, labels=labels, status=status)
    life.world.put_object(taken)
    assert not [fields for fields in written(seen_in(life), "llm-1-a") if "updateProgress" in fields]


def test_wl212_the_next_replica_waits_while_a_group_of_this_one_is_missing() -> None:
    life = rested(GROUPED)
    life.new_image("v2")
    while not life.root.status.updating:
        life.round()
    seen = seen_in(life)
    members = [clique for clique in seen.cliques if clique.is_in_scaling_group and clique.replica_index == 0]
    without = replace(
        seen,
        groups=tuple(group for group in seen.groups if group.ref.name != "llm-0-pool"),
        cliques=tuple(clique for clique in seen.cliques if clique not in members),
        pods_of=frozen_dict_of_tuples(
            {uid: pods for uid, pods in seen.pods_of.items() if uid not in {one.uid for one in members}}
        ),
    )
    reported = [fields.get("updateProgress", {}) for fields in written(without, "llm")]
    assert not [one for one in reported if one.get("currentlyUpdating", [{"replicaIndex": 0}])[0]["replicaIndex"] != 0]
