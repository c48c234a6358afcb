"""Updates by the Go operator, round by round, from a set at rest."""

from contextlib import suppress

import pytest

from grove_core.in_memory.in_memory_cluster import InMemoryCluster
from grove_core.kernel.frozen import thaw_json
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Apply, Delete, SetStatus
from grove_core.kernel.structs import replace
from grove_core.plan.plan import Plan
from grove_core.reconcile import reconcile
from grove_core.resources.pod import Pod
from grove_core.rule_sets.go_operator import BY_RELEASE, NEWEST
from grove_core.rule_sets.rule_set import RuleSet
from grove_core.snapshot.snapshot import Snapshot
from tests.property.workload_field.healthy_sets import edited, healthy, played, raw_set, with_pods


def deleted(plan: Plan) -> list[Ref]:
    return [step.target for step in plan.steps if isinstance(step.action, Delete)]


def written_templates(plan: Plan) -> list[str]:
    return sorted(
        step.target.name for step in plan.steps if isinstance(step.action, Apply) and step.target.kind == "PodClique"
    )


class Log:
    """What the rounds of a run delete, and how many pods of the router are ready before each."""

    def __init__(self) -> None:
        self.rounds: list[list[Ref]] = []
        self.ready: list[int] = []

    def __call__(self, seen: Snapshot, plan: Plan) -> None:
        self.rounds.append(deleted(plan))
        self.ready.append(sum(pod.ready for clique, pod in seen.pods() if clique.ref.name == "llm-0-router"))

    @property
    def pods(self) -> list[Ref]:
        return [ref for refs in self.rounds for ref in refs if ref.kind == "Pod"]

    @property
    def cliques(self) -> list[str]:
        return [ref.name for refs in self.rounds for ref in refs if ref.kind == "PodClique"]

    def most_pods_at_once(self) -> int:
        return max(sum(ref.kind == "Pod" for ref in refs) for refs in self.rounds)


def test_wf003_standalone_cliques_take_the_template_at_once_in_all_replicas() -> None:
    seen = edited(healthy(raw_set(replicas=2)), raw_set(replicas=2, image="a:2"))
    first = reconcile(seen, NEWEST)
    assert written_templates(first) == ["llm-0-router", "llm-1-router"]
    assert not deleted(first)


def test_wf012_ready_pods_go_one_at_a_time_and_replicas_one_after_the_other() -> None:
    seen = edited(healthy(), raw_set(image="a:2"))
    log = Log()
    after = played(seen, watch=log)
    assert len(log.pods) == 3, "every pod of the router once"
    assert log.most_pods_at_once() == 1
    assert min(log.ready) == 2, "no pod more than wanted is created first"
    assert log.cliques == ["llm-0-pool-0-worker", "llm-0-pool-1-worker"], "lowest index first"
    hashes = {pod.template_hash for clique, pod in after.pods() if clique.ref.name == "llm-0-router"}
    assert len(hashes) == 1
    assert after.root.status.progress["updateEndedAt"]
    assert reconcile(after, NEWEST).steps == ()


def test_wf012_the_oldest_ready_pod_goes_first() -> None:
    names = sorted(pod.name for clique, pod in healthy().pods() if clique.ref.name == "llm-0-router")
    ages = dict(zip(names, ("2026-11-20T08:00:00Z", "2026-11-18T08:00:00Z", "2026-11-19T08:00:00Z"), strict=True))
    seen = with_pods(healthy(), lambda pod: replace(pod, created=ages.get(pod.name, "2026-11-20T09:00:00Z")))
    log = Log()
    played(edited(seen, raw_set(image="a:2")), watch=log)
    assert [ref.name for ref in log.pods] == [names[1], names[2], names[0]]


@pytest.mark.parametrize(
    "state",
    [
        {"ready": False, "phase": "Pending"},
        {"ready": False, "crashed": True},
        {"crashed_earlier": True},
        {"ready": False, "unready": True},
        {"ready": False},
    ],
)
def test_wf011_old_pods_that_do_not_serve_go_at_once(state: dict[str, object]) -> None:
    names = sorted(pod.name for clique, pod in healthy().pods() if clique.ref.name == "llm-0-router")

    def troubled(pod: Pod) -> Pod:
        return replace(pod, **state) if pod.name in names[:2] else pod  # type: ignore[arg-type]  # fields of a pod

    log = Log()
    seen = edited(with_pods(healthy(), troubled), raw_set(image="a:2"))
    with suppress(AssertionError):  # a run in which nothing starts may not come to rest
        played(seen, start=lambda pod: pod, watch=log)
    first = next(refs for refs in log.rounds if any(ref.kind == "Pod" for ref in refs))
    assert set(names[:2]) <= {ref.name for ref in first}, "minAvailable is 2, and all the same both go at once"


def test_wf017_a_named_pod_that_was_not_deleted_is_deleted() -> None:
    """As after a conflict, or in a dump made between both writes."""
    before, plan = next(
        (seen, plan) for seen, plan in _watched(edited(healthy(), raw_set(image="a:2"))) if deleted(plan)
    )
    (chosen,) = (ref for ref in deleted(plan) if ref.kind == "Pod")
    (status,) = (
        step for step in plan.steps if step.target.name == "llm-0-router" and isinstance(step.action, SetStatus)
    )
    world = InMemoryCluster((before,))
    world.attempt_step(status)
    again = world.snapshot_of_set(before.root.ref, before.now)
    assert again is not None
    assert [ref for ref in deleted(reconcile(again, NEWEST)) if ref.kind == "Pod"] == [chosen]


def test_wf014_too_few_ready_pods_pause_the_update() -> None:
    seen = healthy()
    (router,) = (clique for clique in seen.cliques if clique.ref.name == "llm-0-router")
    others = tuple(clique for clique in seen.cliques if clique is not router)
    lacking = replace(router, status=replace(router.status, ready=1))
    log = Log()
    names = sorted(pod.name for clique, pod in seen.pods() if clique.ref.name == "llm-0-router")
    seen = with_pods(
        replace(seen, cliques=(lacking, *others)),
        lambda pod: replace(pod, ready=False, unready=True) if pod.name in names[:2] else pod,
    )
    played(edited(seen, raw_set(image="a:2")), start=lambda pod: pod, watch=log)
    assert {ref.name for ref in log.pods} == set(names[:2]), "the ready one stays: two are needed and one is ready"


def test_wf015_an_update_ends_although_no_new_pod_is_ready() -> None:
    seen = with_pods(healthy(), lambda pod: replace(pod, ready=False, unready=True))
    after = played(edited(seen, raw_set(image="a:2")), start=lambda pod: pod)
    (router,) = (clique for clique in after.cliques if clique.ref.name == "llm-0-router")
    assert router.status.progress["updateEndedAt"]
    assert not any(pod.ready for pod in after.pods_of[router.uid])
    assert after.root.status.updating, "the replica is not updated before its pods are ready (WF-005)"


def test_wf004_replicas_without_scheduled_pods_come_first_then_breached_ones() -> None:
    order: list[int] = []

    def watch(_seen: Snapshot, plan: Plan) -> None:
        for step in plan.steps:
            if isinstance(step.action, SetStatus) and step.target.kind == "PodCliqueSet":
                progress = thaw_json(step.action.fields).get("updateProgress", {})
                order.extend(one["replicaIndex"] for one in progress.get("currentlyUpdating", ()))

    seen = healthy(raw_set(replicas=3))
    unplaced = tuple(
        replace(item, status=replace(item.status, scheduled=0)) if item.replica_index == 2 else item
        for item in seen.cliques
    )
    groups = tuple(
        replace(item, status=replace(item.status, scheduled=0)) if item.replica_index == 2 else item
        for item in seen.groups
    )
    first = replace(seen, cliques=unplaced, groups=groups)
    played(edited(first, raw_set(replicas=3, image="a:2")), watch=watch)
    assert list(dict.fromkeys(order)) == [2, 0, 1]


def test_wf022_replicas_of_a_group_that_do_not_serve_go_together() -> None:
    def unready(pod: Pod) -> Pod:
        return replace(pod, ready=False, unready=True) if "worker" in pod.name else pod

    log = Log()
    with suppress(AssertionError):
        played(edited(with_pods(healthy(), unready), raw_set(image="a:2")), start=lambda pod: pod, watch=log)
    first = next(refs for refs in log.rounds if any(ref.kind == "PodClique" for ref in refs))
    assert {ref.name for ref in first if ref.kind == "PodClique"} == {"llm-0-pool-0-worker", "llm-0-pool-1-worker"}


@pytest.mark.parametrize("minimum", [1, 2])
def test_wf026_a_group_whose_minimum_is_all_its_replicas_is_updated_all_the_same(minimum: int) -> None:
    log = Log()
    played(edited(healthy(raw_set(minimum=minimum)), raw_set(minimum=minimum, image="a:2")), watch=log)
    assert log.cliques == ["llm-0-pool-0-worker", "llm-0-pool-1-worker"]


def test_wf023_members_beyond_the_replicas_of_a_group_are_no_part_of_its_update() -> None:
    seen = next(one for one, _ in _watched(edited(healthy(), raw_set(image="a:2"))) if one.groups[0].status.updating)
    scaled = replace(seen, groups=tuple(replace(group, replicas=1) for group in seen.groups))
    log = Log()
    after = played(scaled, watch=log)
    assert log.cliques == ["llm-0-pool-1-worker"], "replica 0 was deleted before"
    assert [clique.ref.name for clique in after.cliques if clique.is_in_scaling_group] == ["llm-0-pool-0-worker"]


def test_wf007_on_delete_writes_all_templates_and_deletes_no_pod() -> None:
    strategy = "OnDelete"
    seen = edited(healthy(raw_set(strategy=strategy)), raw_set(strategy=strategy, image="a:2"))
    first = reconcile(seen, NEWEST)
    assert written_templates(first) == ["llm-0-pool-0-worker", "llm-0-pool-1-worker", "llm-0-router"]
    log = Log()
    after = played(seen, watch=log)
    assert not log.pods
    assert not log.cliques
    assert not after.root.status.updating
    assert not any(clique.status.updating for clique in after.cliques)
    assert not any(group.status.updating for group in after.groups)


def test_wf002_a_second_edit_begins_anew() -> None:
    seen = edited(healthy(), raw_set(image="a:2"))
    halfway = next(
        snapshot
        for snapshot, plan in _watched(seen)
        if any(ref.kind == "Pod" for ref in deleted(plan)) and snapshot.root.status.updating
    )
    log = Log()
    after = played(edited(halfway, raw_set(image="a:3")), watch=log)
    images = {thaw_json(clique.pod_spec)["containers"][0]["image"] for clique in after.cliques}
    assert images == {"a:3"}
    assert reconcile(after, NEWEST).steps == ()


def _watched(seen: Snapshot) -> list[tuple[Snapshot, Plan]]:
    found: list[tuple[Snapshot, Plan]] = []
    played(seen, watch=lambda snapshot, plan: found.append((snapshot, plan)))
    return found


@pytest.mark.req("WF-010")
@pytest.mark.parametrize(("release", "has_progress"), [("v0.1.0-alpha.9", False), ("v0.1.0-alpha.12-rc1", True)])
def test_wf010_a_new_clique_has_progress_where_idle_sets_are_updated(release: str, *, has_progress: bool) -> None:
    found = healthy(rules=BY_RELEASE[release])
    (router,) = (clique for clique in found.cliques if clique.ref.name == "llm-0-router")
    assert bool(router.status.progress) is has_progress
    assert router.status.set_hash == found.root.status.current_hash


def test_wf020_a_group_is_updated_while_its_replica_is() -> None:
    seen = edited(healthy(raw_set(replicas=2)), raw_set(replicas=2, image="a:2"))
    log = Log()
    played(seen, watch=log)
    assert log.cliques == [
        "llm-0-pool-0-worker",
        "llm-0-pool-1-worker",
        "llm-1-pool-0-worker",
        "llm-1-pool-1-worker",
    ]


@pytest.mark.parametrize("release", BY_RELEASE)
def test_wf016_cliques_that_were_never_updated_are_updated_in_every_replica(release: str) -> None:
    """Releases of F2 write no progress for new cliques, so that the hash in their status has to wait for the pods."""
    rules = BY_RELEASE[release]
    after = played(edited(healthy(raw_set(replicas=2), rules), raw_set(replicas=2, image="a:2")), rules)
    assert "updateEndedAt" in after.root.status.progress
    assert len({pod.template_hash for _, pod in after.pods()}) == 1


def test_wf170_an_edit_names_what_the_update_does_wrong() -> None:
    """Two of three ready pods crashed once, and neither the clique nor the group has one to spare."""
    raw, new = raw_set(minimum=2), raw_set(minimum=2, image="a:2")
    for each in (raw, new):
        each["spec"]["template"]["cliques"][0]["spec"]["minAvailable"] = 3
    seen = healthy(raw)
    names = [pod.ref.name for pods in seen.pods_of.values() for pod in pods if "router" in pod.ref.name][:2]
    crashed = with_pods(seen, lambda pod: replace(pod, crashed_earlier=pod.ref.name in names))
    assert not defects(crashed), "nothing is wrong without an edit"
    found = defects(edited(crashed, new))
    assert found == {
        "llm-0-router": [("WF-170", {"pods": 2}), ("WF-171", {"left": 2, "more": 4, "needed": 3})],
        "llm-0-pool": [("WF-172", {"left": 1, "more": 3, "needed": 2})],
    }
    assert not defects(edited(crashed, {**new, "spec": {**new["spec"], "updateStrategy": {"type": "OnDelete"}}}))


def test_wf171_one_more_replica_is_enough() -> None:
    """What the hint says, done: the update stays at the minimum."""
    seen = healthy(raw_set())  # three pods, two needed; two replicas of the group, one needed
    assert not defects(edited(seen, raw_set(image="a:2")))


def test_wf173_what_is_not_ready_spares_nothing() -> None:
    """One of three pods is pending: an update deletes it and a ready one at once, and two are needed."""
    seen = healthy(raw_set())
    pending = next(pod.ref.name for pods in seen.pods_of.values() for pod in pods if "router" in pod.ref.name)
    lacking = with_pods(
        seen,
        lambda pod: replace(pod, ready=False, scheduled=False, phase="Pending") if pod.ref.name == pending else pod,
    )
    without = {"left": 1, "more": 3, "needed": 2}
    assert defects(edited(lacking, raw_set(image="a:2"))) == {"llm-0-router": [("WF-173", without)]}
    assert not defects(lacking), "nothing is wrong without an edit"


def test_wf171_an_edit_that_is_taken_back_restarts_no_pod_that_it_did_not_reach() -> None:
    """The PodClique of the second replica has the new template before its pods are replaced."""
    old, new = (raw_set(replicas=2, image=image) for image in ("a:1", "a:2"))
    for each in (old, new):
        each["spec"]["template"]["cliques"][0]["spec"]["minAvailable"] = 3
    seen = healthy(old)
    before = {pod.name: pod.template_hash for _, pod in seen.pods()}
    reached = {False: 0, True: 0}
    for begun, _ in _watched(edited(seen, new)):
        second = [pod for clique, pod in begun.pods() if clique.ref.name == "llm-1-router"]
        is_reached = any(pod.ready and before.get(pod.name) != pod.template_hash for pod in second)
        reached[is_reached] += 1
        assert ("llm-1-router" in defects(edited(begun, old))) == is_reached
    assert all(reached.values())


def test_wf174_a_replica_that_is_not_available_spares_nothing() -> None:
    """One of two replicas lacks a ready pod: an update deletes both at once, and one is needed."""
    seen = healthy(raw_set())
    cliques = tuple(
        replace(one, status=replace(one.status, ready=0)) if one.ref.name == "llm-0-pool-1-worker" else one
        for one in seen.cliques
    )
    found = defects(edited(replace(seen, cliques=cliques), raw_set(image="a:2")))
    assert found == {"llm-0-pool": [("WF-174", {"left": 0, "more": 2, "needed": 1})]}


def _waits_in(seen: Snapshot) -> dict[str, bool]:
    """Return for the clique and the group of each replica whether exactly what is needed serves, and nothing more."""
    ready = {clique.ref.name: sum(pod.ready for pod in seen.pods_of.get(clique.uid, ())) for clique in seen.cliques}
    found = {name: ready[name] == 2 for name in ready if name.endswith("router")}
    return {**found, **{group.ref.name: group.status.available == 1 for group in seen.groups}}


@pytest.mark.parametrize("release", ["v0.1.0-alpha.9", "v0.1.0-alpha.12-rc1"])
def test_wf175_an_update_that_waits_for_a_successor_has_it_to_spare(release: str) -> None:
    """Three pods, two needed; two replicas of the group, one needed: an update never leaves fewer than needed."""
    rules = BY_RELEASE[release]
    found: list[Snapshot] = []
    before = healthy(raw_set(), rules=rules)
    played(edited(before, raw_set(image="a:2")), rules=rules, watch=lambda snapshot, _plan: found.append(snapshot))
    waiting = [seen for seen in found if any(_waits_in(seen).values())]
    assert {name for seen in waiting for name, waits in _waits_in(seen).items() if waits} == {
        "llm-0-router",
        "llm-0-pool",
    }
    assert not [of for seen in found if (of := defects(seen, rules))]
    again = {name for seen in waiting for name in defects(edited(seen, raw_set(image="a:3")), rules)}
    assert again == {"llm-0-router", "llm-0-pool"}, "another edit does not wait for that successor"


def test_wf175_the_successor_of_an_update_before_the_last_edit_is_not_waited_for() -> None:
    """A second edit comes while the second replica updates; the first is next, and the second one begins anew then."""
    first, second, third = (raw_set(replicas=2, image=f"a:{number}") for number in (1, 2, 3))
    halfway = next(
        seen for seen, _ in _watched(edited(healthy(first), second)) if _waits_in(seen).get("llm-1-router") is True
    )
    begun = next(
        seen
        for seen, _ in _watched(edited(halfway, third))
        if seen.root.status.current_hash != halfway.root.status.current_hash
    )
    assert "llm-1-router" in defects(begun)


def defects(seen: Snapshot, rules: RuleSet = NEWEST) -> dict[str, list[tuple[str, dict[str, object]]]]:
    findings = (one for one in reconcile(seen, rules).findings if one.question == "defect")
    return {one.subject.name: [(why.rule.requirement, dict(why.facts)) for why in one.because] for one in findings}
