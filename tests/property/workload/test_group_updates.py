"""Updates of scaling groups: the order of replicas, and surge replicas."""

from datetime import timedelta
from typing import Final

import pytest

from grove_core.areas.gang_termination.verdicts import ReplicasToTerminate
from grove_core.areas.workload.design.scaling_group_update import wanted_group_replicas
from grove_core.areas.workload.design.set_update import judge_rollout
from grove_core.areas.workload.rules import WorkloadReason
from grove_core.areas.workload.workload_context import WorkloadContext
from grove_core.kernel.conditions import Condition, ConditionStatus
from grove_core.kernel.frozen import FrozenMap, frozen_dict_of_tuples
from grove_core.kernel.refs import Guard
from grove_core.kernel.steps import FAILURES, Attempt, AttemptOutcome, Delete, Step
from grove_core.kernel.structs import replace
from grove_core.kernel.time_formats import parse_time
from grove_core.plan.planner import steps_for_objects_without_root
from grove_core.plan.remembered_failed_writes import failed_writes_still_wanted
from grove_core.reconcile import reconcile
from grove_core.resources.api_names import MIN_AVAILABLE_BREACHED
from grove_core.resources.pod import UNSCHEDULABLE
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset_spec import UpdateStrategy
from grove_core.snapshot.expected_replicas import expected_set_of
from grove_core.snapshot.own_writes import with_own_writes
from grove_core.snapshot.snapshot import Snapshot
from tests.property.workload.life import Life
from tests.property.workload.sets import clique_raw, set_raw
from tests.property.workload.settled_sets import GROUP, held, rested, whys


@pytest.mark.req("WL-221", "WL-227")
def test_wl219_a_group_with_a_spare_replica_rolls_the_lowest_index_first() -> None:
    life = rested(set_raw(clique_raw("a", 2), groups=(GROUP,)))
    before = [life.clique(f"llm-0-pool-{index}-a").uid for index in (0, 1)]
    life.new_image("v2")
    plans = life.settle()
    ended = [
        step.target.name
        for plan in plans
        for step in plan.steps
        if step.because[0].rule is WorkloadReason.OUTDATED_REPLICA
    ]
    assert ended == ["llm-0-pool-0-a", "llm-0-pool-1-a"]
    assert all(life.clique(f"llm-0-pool-{index}-a").uid not in before for index in (0, 1))
    assert {WorkloadReason.GROUP_UPDATE_WAITS, WorkloadReason.REPLICA_NOT_AVAILABLE} <= set().union(*map(held, plans))
    assert life.group("llm-0-pool").status.updated == 2


def test_wl220_a_group_that_can_spare_none_has_one_more_for_the_time_being() -> None:
    life = rested(set_raw(clique_raw("a", 1), groups=({**GROUP, "replicas": 1},)))
    life.new_image("v2")
    most, plans = 0, []
    for _ in range(60):
        plans.append(life.round())
        assert sum(pod.ready for pod in life.all_pods()) >= 1
        most = max(most, sum(ref.kind == "PodClique" for ref in life.world.items))
        life.kubelet()
    assert most == 2
    assert [ref.name for ref in life.world.items if ref.kind == "PodClique"] == ["llm-0-pool-0-a"]
    assert {life.image_of(pod) for pod in life.all_pods()} == {"v2"}
    assert {WorkloadReason.SURGE_REPLICA, WorkloadReason.SURPLUS_GROUP_REPLICA} <= set().union(*map(whys, plans))
    assert not [ref.name for ref in life.world.items if ref.kind == "PodGang" and ref.name != "llm-0"]


def test_wl218_a_replica_that_is_not_available_anyway_goes_at_once() -> None:
    life = rested(set_raw(clique_raw("a", 1), groups=(GROUP,)))
    for pod in life.pods("llm-0-pool-1-a"):
        life.world.put_pod(replace(pod, ready=False))
    life.new_image("v2")
    plans = [life.round() for _ in range(4)]
    ended = [
        step.target.name
        for plan in plans
        if plan
        for step in plan.steps
        if step.because[0].rule is WorkloadReason.OUTDATED_NOT_AVAILABLE
    ]
    assert ended == ["llm-0-pool-1-a"]


def test_wl220_an_unneeded_surge_replica_goes_when_the_strategy_changes() -> None:
    life = rested(set_raw(clique_raw("a", 1), groups=({**GROUP, "replicas": 1},)))
    life.new_image("v2")
    while not any(ref.name == "llm-0-pool-1-a" for ref in life.world.items):
        life.round()
    life.on_delete()
    life.settle()
    assert [ref.name for ref in life.world.items if ref.kind == "PodClique"] == ["llm-0-pool-0-a"]


def test_wl212_a_group_that_is_missing_is_made_and_not_updated() -> None:
    life = rested(set_raw(clique_raw("a", 1), groups=(GROUP,)))
    life.new_image("v2")
    life.round()
    life.world.delete_object(life.group("llm-0-pool").ref)
    life.round()
    life.settle()
    assert {life.image_of(pod) for pod in life.all_pods()} == {"v2"}


def test_wl219_members_that_kept_their_pods_under_on_delete_roll_when_the_strategy_changes_back() -> None:
    life = rested(set_raw(clique_raw("a", 1), groups=(GROUP,)))
    life.on_delete()
    life.new_image("v2")
    life.settle()
    assert {life.image_of(pod) for pod in life.all_pods()} == {""}
    life.edit(update_strategy=UpdateStrategy())
    life.settle()
    assert {life.image_of(pod) for pod in life.all_pods()} == {"v2"}


def test_wl218_members_scaled_below_their_minimum_are_available_with_all_they_have() -> None:
    life = rested(set_raw(clique_raw("a", 2), groups=(GROUP,)))
    for index in (0, 1):
        life.scale(f"llm-0-pool-{index}-a", 1)
    life.settle()
    life.new_image("v2")
    plans = [life.round() for _ in range(6)]
    assert not any(WorkloadReason.OUTDATED_NOT_AVAILABLE in whys(plan) for plan in plans)


def test_wl223_the_next_replica_waits_for_a_member_that_is_not_there_yet() -> None:
    """Two replicas of the set never restart at once, though the group of the first could spare one."""
    life = rested(set_raw(clique_raw("a", 1), groups=(GROUP,), replicas=2))
    life.new_image("v2")
    for _ in range(80):
        life.round()
        missing = {
            replica
            for replica in (0, 1)
            for index in (0, 1)
            if not any(ref.name == f"llm-{replica}-pool-{index}-a" for ref in life.world.items)
        }
        assert len(missing) < 2
        life.kubelet()


def looked(life: Life) -> Snapshot:
    seen = life.look()
    assert seen is not None
    return seen


def ended_in(seen: Snapshot) -> list[Step]:
    return [step for step in reconcile(seen).steps if isinstance(step.action, Delete)]


def in_an_update(*images: str, is_well: bool = True) -> tuple[Snapshot, list[Step]]:
    """A group of two members, when both are to go for the images of some of them; and their deletions."""
    both = {**GROUP, "cliqueNames": ["a", "b"]}
    life = rested(set_raw(clique_raw("a", 1), clique_raw("b", 1), groups=(both,)))
    for pod in life.pods("llm-0-pool-0-a") if not is_well else ():
        life.world.put_pod(replace(pod, ready=False))
    life.new_image("v2", *images)
    while not ended_in(looked(life)):
        life.round()
    seen = looked(life)
    ended = ended_in(seen)
    assert [step.target.name for step in ended] == ["llm-0-pool-0-a", "llm-0-pool-0-b"]
    return seen, ended


def after(seen: Snapshot, *more: Attempt) -> Snapshot:
    return replace(seen, attempts=(*seen.attempts, *more))


@pytest.mark.parametrize("outcome", sorted(FAILURES, key=str))
@pytest.mark.parametrize("is_well", [True, False], ids=["while it is well", "while it is not"])
def test_wl236_while_an_old_member_cannot_be_deleted_those_of_the_present_template_stay(
    *, is_well: bool, outcome: AttemptOutcome
) -> None:
    seen, (stuck, other) = in_an_update("a", is_well=is_well)
    plan = reconcile(after(seen, Attempt(stuck, outcome, "change freeze")))
    gone = [step for step in plan.steps if isinstance(step.action, Delete)]
    assert gone == ([] if outcome is AttemptOutcome.REFUSED else [stuck])
    (held,) = (one for one in plan.withheld if one.target == other.target)
    assert held.because[0].rule is WorkloadReason.MEMBER_REMAINS
    assert held.because[1:] == other.because


def test_wl236_a_current_clique_delays_nothing_and_an_old_one_is_not_delayed() -> None:
    seen, (old, other) = in_an_update("a")
    assert ended_in(after(seen, Attempt(other, AttemptOutcome.REFUSED, "change freeze"))) == [old]
    seen, (stuck, other) = in_an_update()
    assert ended_in(after(seen, Attempt(stuck, AttemptOutcome.REFUSED, "change freeze"))) == [other]


@pytest.mark.parametrize("kept", [True, False], ids=["of another version", "of another uid"])
def test_wl236_a_clique_that_could_not_be_deleted_is_the_same_in_each_version(*, kept: bool) -> None:
    seen, ended = in_an_update("a")
    guard = ended[0].action.guard
    assert guard is not None
    before = Delete(Guard(guard.uid, "before") if kept else Guard("another", guard.resource_version))
    attempt = Attempt(replace(ended[0], action=before), AttemptOutcome.REFUSED, "change freeze")
    assert ended_in(after(seen, attempt)) == (ended[:1] if kept else ended)


@pytest.mark.parametrize("reports", [True, False], ids=["while the others are not available", "before it is reported"])
def test_wl238_a_clique_that_could_not_be_deleted_is_reported_while_the_update_does_not_get_to_it(
    *, reports: bool
) -> None:
    """No other clique is: an untried one is only waited for."""
    seen, (stuck, _) = in_an_update("a")
    attempt = Attempt(stuck, AttemptOutcome.CONFLICT, "change freeze")
    (group,) = seen.groups
    if reports:
        seen = replace(seen, groups=(replace(group, min_available=2),))
    else:
        progress = FrozenMap({**group.status.progress, "podCliqueSetGenerationHash": "another"})
        seen = replace(seen, groups=(replace(group, status=replace(group.status, progress=progress)),))
    assert not ended_in(seen)
    plan = reconcile(after(seen, attempt))
    remaining = [one.target for one in plan.withheld if one.because[0].rule is WorkloadReason.OUTDATED_CLIQUE_REMAINS]
    assert remaining == [stuck.target]
    assert failed_writes_still_wanted([attempt], plan, seen) == (attempt,)
    assert not any(one.because[0].rule is WorkloadReason.OUTDATED_CLIQUE_REMAINS for one in reconcile(seen).withheld)


HOUR: Final = timedelta(hours=1)


SECOND: Final = timedelta(seconds=1)


def found_by_an_update(
    since: timedelta = HOUR,
    younger: timedelta | None = HOUR,
    truth: ConditionStatus = ConditionStatus.TRUE,
    *,
    delay: str | None = "1h",
    ahead: timedelta = HOUR,
) -> Snapshot:
    """A group whose update got to its second replica; of the first, which is done, a member is breached.

    Args:
        since: how long before the update began.
        younger: how much later the other member was made; None where the creation time of the first is unknown.
        ahead: how much the server's clock is.
    """
    both = {**GROUP, "cliqueNames": ["a", "b"]}
    life = rested(set_raw(clique_raw("a", 1), clique_raw("b", 1), groups=(both,), terminationDelay=delay))
    life.new_image("v2", "a")
    while "llm-0-pool-1-a" not in {step.target.name for step in ended_in(looked(life))}:
        life.round()
        life.kubelet()
    for pod in life.pods("llm-0-pool-0-b"):
        life.world.put_pod(replace(pod, ready=False))
    seen = looked(life)
    (group,) = seen.groups
    began = parse_time(str(group.status.progress["updateStartedAt"]))
    assert began is not None
    breach = Condition(MIN_AVAILABLE_BREACHED, truth, "Drawn", "", began - since)
    made = began + ahead

    def as_it_is(one: PodClique) -> PodClique:
        if one.ref.name != "llm-0-pool-0-b":
            return replace(one, created_at=made + HOUR if younger is None else made + younger)
        return replace(one, status=replace(one.status, conditions=(breach,)), created_at=made if younger else None)

    return replace(seen, cliques=tuple(map(as_it_is, seen.cliques)))


@pytest.mark.parametrize(
    ("seen", "goes"),
    [
        (found_by_an_update(), True),
        (found_by_an_update(2 * HOUR, 3 * HOUR), True),
        (found_by_an_update(ahead=-5 * HOUR), True),
        (found_by_an_update(HOUR - SECOND), False),
        (found_by_an_update(-HOUR), False),
        (found_by_an_update(younger=HOUR - SECOND), False),
        (found_by_an_update(younger=-HOUR), False),
        (found_by_an_update(younger=None), False),
        (found_by_an_update(truth=ConditionStatus.UNKNOWN), False),
        (found_by_an_update(delay=None), False),
    ],
    ids=[
        "from that very moment",
        "for long",
        "the server is behind",
        "not yet due",
        "breached since",
        "made with the others",
        "the youngest",
        "at an unknown time",
        "not breached",
        "no delay",
    ],
)
def test_wl239_a_clique_that_was_to_end_when_an_update_began_is_not_waited_for(seen: Snapshot, *, goes: bool) -> None:
    """Nothing goes with it: an undeletable clique would go again and again with deletable ones."""
    ended = ended_in(seen)
    assert [step.target.name for step in ended] == (["llm-0-pool-0-b"] if goes else [])
    assert {reason.rule for step in ended for reason in step.because} == (
        {WorkloadReason.TERMINATION_DUE_BEFORE_UPDATE} if goes else set()
    )
    assert WorkloadReason.GROUP_UPDATE_WAITS in held(reconcile(seen))


def with_pods(seen: Snapshot, *names: str, **changes: object) -> Snapshot:
    """The pods of some cliques are otherwise."""
    uids = {clique.uid for clique in seen.cliques if clique.ref.name in names}
    pods = {
        uid: tuple(replace(pod, **changes) for pod in of) if uid in uids else of  # type: ignore[arg-type]  # any field
        for uid, of in seen.pods_of.items()
    }
    return replace(seen, pods_of=frozen_dict_of_tuples(pods))


def test_wl239_a_recovered_clique_stays_without_a_written_recovery_though_another_is_missing() -> None:
    seen = with_pods(found_by_an_update(), "llm-0-pool-0-b", ready=True)
    assert not ended_in(with_pods(seen, "llm-0-pool-0-a", ready=False))


def test_wl239_a_clique_without_a_node_does_not_delay_the_others() -> None:
    """As without it: also where it cannot be deleted."""
    seen = with_pods(found_by_an_update(), "llm-0-pool-0-b", trouble=UNSCHEDULABLE)
    assert [step.target.name for step in ended_in(seen)] == ["llm-0-pool-0-b"]
    spare = replace(seen, groups=tuple(replace(group, min_available=0) for group in seen.groups))
    assert {step.target.name for step in ended_in(spare)} == {"llm-0-pool-0-b", "llm-0-pool-1-a", "llm-0-pool-1-b"}


def test_wl239_a_serving_clique_is_left_alone_and_so_is_one_that_no_update_delays() -> None:
    seen = found_by_an_update()
    pods = {uid: tuple(replace(pod, ready=True) for pod in of) for uid, of in seen.pods_of.items()}
    assert [step.target.name for step in ended_in(replace(seen, pods_of=frozen_dict_of_tuples(pods)))] == [
        "llm-0-pool-1-a",
        "llm-0-pool-1-b",
    ]
    ((part,),) = (replica.groups for replica in expected_set_of(seen).replicas)
    (group,) = seen.groups
    after_it = replace(group, status=replace(group.status, updating=False))
    assert [bool(one.due) for one in wanted_group_replicas(part, group, WorkloadContext(seen))] == [True, False]
    assert [bool(one.due) for one in wanted_group_replicas(part, after_it, WorkloadContext(seen))] == [False, False]


def test_wl076_of_a_replica_that_ends_an_update_deletes_nothing() -> None:
    seen, ended = in_an_update("a")
    both = [step.target for step in ended]
    scene, replicas = WorkloadContext(with_own_writes(seen)), expected_set_of(seen).replicas
    for ending, gone in (
        (ReplicasToTerminate(), both),
        (ReplicasToTerminate(frozenset({1})), both),
        (ReplicasToTerminate(parts=frozenset({("llm-0-pool", 0)})), both),
        (ReplicasToTerminate(frozenset({0})), []),
    ):
        rollout = judge_rollout(scene, replicas, ending)
        deleted = [
            step for step in steps_for_objects_without_root(rollout.desired.wants) if isinstance(step.action, Delete)
        ]
        assert [step.target for step in deleted] == gone
        assert rollout.runs


THREE: Final = {**GROUP, "replicas": 3}


def unready(life: Life, *cliques: str) -> None:
    for name in cliques:
        for pod in life.pods(name):
            life.world.put_pod(replace(pod, ready=False))


def test_wl218_all_replicas_without_serving_pods_go_at_once() -> None:
    life = rested(set_raw(clique_raw("a", 1), groups=(THREE,)))
    unready(life, "llm-0-pool-1-a", "llm-0-pool-2-a")
    life.new_image("v2")
    while not ended_in(looked(life)):
        life.round()
    assert [step.target.name for step in ended_in(looked(life))] == ["llm-0-pool-1-a", "llm-0-pool-2-a"]


def test_wl227_of_those_that_are_waited_for_the_first_is_named() -> None:
    life = rested(set_raw(clique_raw("a", 1), groups=(THREE,)))
    life.new_image("v2")
    while [step.target.name for step in ended_in(looked(life))] != ["llm-0-pool-2-a"]:
        life.round()
        life.kubelet()
    unready(life, "llm-0-pool-0-a", "llm-0-pool-1-a")
    plan = reconcile(looked(life))
    (held,) = (one for one in plan.withheld if one.because[0].rule is WorkloadReason.GROUP_UPDATE_WAITS)
    assert [dict(why.facts)["replica"] for why in held.because if why.rule is WorkloadReason.REPLICA_NOT_AVAILABLE] == [
        0
    ]


@pytest.mark.parametrize(("phase", "is_old"), [("Running", True), ("Failed", False)])
def test_wl043_a_replica_is_as_old_as_the_pods_of_it_that_live(*, phase: str, is_old: bool) -> None:
    seen = looked(rested(set_raw(clique_raw("a", 1), groups=(GROUP,))))
    clique = next(one for one in seen.cliques if one.ref.name == "llm-0-pool-0-a")
    pods = (replace(seen.pods_of[clique.uid][0], phase=phase, template_hash="before"),)
    found = replace(seen, pods_of=frozen_dict_of_tuples({**seen.pods_of, clique.uid: pods}))
    ((part,),) = (replica.groups for replica in expected_set_of(found).replicas)
    assert [
        one.has_outdated_clique for one in wanted_group_replicas(part, found.groups[0], WorkloadContext(found))
    ] == [is_old, False]


def test_wl224_a_group_counts_its_members_when_its_update_ends() -> None:
    life = rested(set_raw(clique_raw("a", 1), groups=(GROUP,)))
    life.new_image("v2")
    life.settle()
    progress = life.group("llm-0-pool").status.progress
    assert (progress["updatedPodCliquesCount"], progress["totalPodCliquesCount"]) == (2, 2)


def test_wl219_a_replica_of_a_group_that_has_no_room_is_not_waited_for() -> None:
    life = rested(set_raw(clique_raw("a", 1), groups=({**GROUP, "replicas": 3},)))
    (last,) = life.pods("llm-0-pool-2-a")
    life.world.put_pod(replace(last, scheduled=False, ready=False, node="", phase="Pending", trouble="Unschedulable"))
    life.new_image("v2")
    for _ in range(60):
        life.round()
        for pod in life.all_pods():
            if pod.gang == "llm-0-pool-1" and not pod.has_grove_gate:
                life.world.put_pod(replace(pod, trouble="Unschedulable"))
            elif not pod.has_grove_gate and not pod.ready:
                life.world.put_pod(replace(pod, scheduled=True, node="n", phase="Running", ready=True))
    assert {life.image_of(pod) for pod in life.all_pods()} == {"v2"}
