"""What is behind a termination: lost nodes, the scheduler's words, no room; and hints in fixed sets."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core.admit import admit
from grove_core.areas.gang_termination.verdicts import Keep, MinAvailableBreach
from grove_core.document.plan_document import Json
from grove_core.document.termination_hint_format import hints_as_json, termination_hints_from_json
from grove_core.kernel.admission import Admit
from grove_core.kernel.errors import MalformedObject
from grove_core.kernel.frozen import FrozenDict
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Delete
from grove_core.kernel.structs import replace
from grove_core.plan.termination_hints import (
    LongerDelay,
    LostNodeOfPods,
    ReadyPodsToEndBreach,
    RoomForReplacement,
    SchedulerMessage,
    TerminationHints,
)
from grove_core.reconcile import reconcile
from grove_core.resources.free_capacity import UNKNOWN_CAPACITY, FreeCapacity, free_capacity
from grove_core.resources.node import Node, node_with_known_amounts
from grove_core.resources.node_loss import NOT_READY, UNREACHABLE, NodeLossSigns, NodeReadiness
from grove_core.resources.pod import Pod, pod_from_json
from grove_core.resources.pod_demand import read_pod_using_node_capacity
from grove_core.resources.pod_requests import PodRequests
from grove_core.rule_sets.rule_set_by_name import rule_set
from grove_core.snapshot.snapshot import Snapshot
from grove_core.termination_hint_search.facts_about_pods import (
    lost_nodes_of_pods,
    room_for_replica,
    scheduler_messages_about_pods,
)
from grove_core.termination_hint_search.hints import termination_hints
from grove_core.termination_hint_search.longer_delay import longer_delay
from tests.property.breached_sets import broken_set
from tests.property.plan.ready_sets import ready_set
from tests.property.topology.sets_with_constraints import constrained_set, with_topologies
from tests.property.workload.sets import applied, clique_raw, set_raw
from tests.simulation.edit_agreement import update_of_edit

SINCE: Final = datetime.fromisoformat("2026-11-20T08:00:00Z")
GPU: Final = "nvidia.com/gpu"
REF: Final = Ref("grove.io/v1alpha1", "PodClique", "ml", "llm-0-a")


def hints_of(snapshot: Snapshot, name: str = "design") -> tuple[TerminationHints, ...]:
    return termination_hints(snapshot, reconcile(snapshot, rule_set(name)).findings, rule_set(name), {})


def pod(name: str = "p", **fields: Any) -> Pod:
    raw = {"metadata": {"name": name, "uid": name}, "spec": {}, "status": {}}
    return replace(pod_from_json(raw, {}), **fields)


class TestFixedSets:
    def test_pl040_a_set_at_rest_has_no_hints(self) -> None:
        assert hints_of(broken_set((), ())) == ()

    def test_pl040_pods_that_do_not_help_until_the_end_of_the_delay_are_not_named(self) -> None:
        seen, design = broken_set(("0-a",), ()), rule_set("design")
        later = replace(design, replica_fates=lambda one: design.replica_fates(one if one.now == seen.now else seen))
        (hints,) = termination_hints(seen, reconcile(seen, design).findings, later, {})
        assert hints.ready_pods == ()
        assert hints_of(seen)[0].ready_pods

    def test_pl041_one_of_two_group_replicas_is_enough(self) -> None:
        (hints,) = hints_of(broken_set(("0-pool-0-c", "0-pool-1-c"), ()))
        (needed,) = hints.ready_pods
        assert (needed.clique.name, needed.pods) == ("llm-0-pool-0-c", 1)
        assert [ref.name for ref in hints.spares_not] == ["llm-0-pool"]

    @pytest.mark.req("PL-043")
    def test_pl040_two_breaches_are_named_together(self) -> None:
        (hints,) = hints_of(broken_set(("0-a", "0-b"), ()))
        assert [(one.clique.name, one.pods) for one in hints.ready_pods] == [("llm-0-a", 2), ("llm-0-b", 1)]

    def test_pl041_a_clique_that_was_scaled_in_has_to_be_scaled_back(self) -> None:
        seen = broken_set(("0-b",), (), name="field")
        uid = next(clique.uid for clique in seen.cliques if clique.ref.name == "llm-0-b")
        cliques = tuple(replace(one, replicas=0) if one.uid == uid else one for one in seen.cliques)
        empty = replace(seen, cliques=cliques, pods_of=FrozenDict({**seen.pods_of, uid: ()}))
        (hints,) = hints_of(empty, "field")
        (needed,) = hints.ready_pods
        assert (needed.pods, needed.replicas) == (1, 1)

    def test_pl041_pods_that_are_starting_count_already(self) -> None:
        seen = broken_set(("0-a",), (), name="field")
        uid = next(clique.uid for clique in seen.cliques if clique.ref.name == "llm-0-a")
        first, second = sorted(seen.pods_of[uid], key=lambda one: one.name)
        starting = replace(first, ready=False, crashed=False, unready=False)
        mixed = replace(seen, pods_of=FrozenDict({**seen.pods_of, uid: (starting, second)}))
        (hints,) = hints_of(mixed, "field")
        assert [(one.pods, one.starting_pods_count_already) for one in hints.ready_pods] == [(1, True)]

    @pytest.mark.parametrize("name", ["design", "field"])
    def test_pl057_a_replica_with_gated_pods_is_named_last(self, name: str) -> None:
        seen = broken_set(("0-pool-0-c", "0-pool-1-c"), (), name=name)
        cliques = {clique.uid: clique.ref.name for clique in seen.cliques}

        def named(*gated: str) -> list[tuple[str, bool]]:
            pods = {
                uid: tuple(replace(one, has_grove_gate=cliques[uid] in gated) for one in found)
                for uid, found in seen.pods_of.items()
            }
            hints = next(
                one
                for one in hints_of(replace(seen, pods_of=FrozenDict(pods)), name)
                if one.replica.kind == "PodCliqueSet"
            )
            return [(one.clique.name, one.gated) for one in hints.ready_pods]

        first, second = "llm-0-pool-0-c", "llm-0-pool-1-c"
        assert named() == named(second) == [(first, False)]
        assert named(first) == [(second, False)]
        assert named(first, second) == [(first, True)]

    @pytest.mark.parametrize("name", ["design", "field"])
    def test_pl042_the_edit_is_admitted_and_restarts_nothing(self, name: str) -> None:
        before = set_raw(clique_raw("a", 2), terminationDelay="1h")
        after = set_raw(clique_raw("a", 2), terminationDelay="2h")
        start = ready_set(before, rule_set(name))
        whole = {"apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet"}
        assert isinstance(admit({**whole, **after}, {**whole, **before}, rules=rule_set(name)).verdict, Admit)
        assert update_of_edit(start, before, after, rule_set(name)).restarted.pods == 0
        assert not any(isinstance(step.action, Delete) for step in reconcile(start, rule_set(name)).steps)


DELAY: Final = "spec.template.terminationDelay"
POOL_DELAY: Final = "spec.template.podCliqueScalingGroups[0].terminationDelay"


def breached_group(lost: tuple[str, ...], *, own_delay: str, minimum: int = 1) -> tuple[TerminationHints, ...]:
    """The hints for a set whose group of three replicas has a delay of its own, a minute after pods were lost."""
    pool = {"name": "pool", "cliqueNames": ["c"], "replicas": 3, "minAvailable": minimum}
    cliques = (clique_raw("a", 1), clique_raw("c", 1))
    raw = set_raw(*cliques, groups=({**pool, "terminationDelay": own_delay},), terminationDelay="1h")
    seen = ready_set(raw, rule_set("design"))
    uids = {one.uid for one in seen.cliques if one.ref.name in {f"llm-0-{short}" for short in lost}}
    pods = {
        uid: tuple(replace(one, ready=False) for one in found) if uid in uids else found
        for uid, found in seen.pods_of.items()
    }
    return hints_of(replace(seen, pods_of=FrozenDict(pods)))


class TestDelaysOfGroups:
    def test_pl042_a_group_that_acts_itself_has_its_own_delay(self) -> None:
        first, second = breached_group(("pool-1-c", "pool-2-c"), own_delay="30m")
        assert first.longer_delay == second.longer_delay == LongerDelay((POOL_DELAY,), timedelta(minutes=30))

    def test_pl042_both_delays_where_both_end_at_once(self) -> None:
        (hints,) = breached_group(("a", "pool-0-c"), own_delay="1h", minimum=3)
        assert hints.longer_delay == LongerDelay((DELAY, POOL_DELAY), timedelta(hours=1))

    def test_pl042_the_delay_of_the_set_alone(self) -> None:
        (hints,) = breached_group(("a", "pool-0-c"), own_delay="2h", minimum=3)
        assert hints.longer_delay == LongerDelay((DELAY,), timedelta(hours=1))

    def test_pl042_no_delay_is_named_where_none_leads_to_a_later_time(self) -> None:
        seen = broken_set(("0-a",), ())
        breach = MinAvailableBreach(REF, seen.now, timedelta(hours=1))
        assert longer_delay(seen, seen.root.ref.at_replica(0), [breach], lambda *_: ((DELAY,), Keep())) is None


class TestLostNodes:
    @staticmethod
    def on(node: str, *, is_written: bool = False) -> Pod:
        return pod(f"on-{node}", node=node, node_signs=NodeLossSigns(SINCE, is_written, ()))

    def test_pl044_all_pods_are_on_one_node(self) -> None:
        pods = [self.on("n1"), self.on("n1"), pod("pending")]
        nodes = {"n1": NodeReadiness(NOT_READY, SINCE)}
        assert lost_nodes_of_pods(pods, nodes) == (LostNodeOfPods("n1", NOT_READY, SINCE, 2),)

    def test_pl044_a_pod_shows_the_loss_without_a_node(self) -> None:
        found = lost_nodes_of_pods([self.on("n1", is_written=True)], {})
        assert found == (LostNodeOfPods("n1", UNREACHABLE, SINCE, 1),)

    @pytest.mark.parametrize(
        "nodes",
        [
            {"n1": NodeReadiness(UNREACHABLE), "n2": NodeReadiness("")},
            {"n1": NodeReadiness(UNREACHABLE)},
        ],
        ids=["a node that answers", "an unknown node"],
    )
    def test_pl044_one_pod_elsewhere_is_another_cause(self, nodes: dict[str, NodeReadiness]) -> None:
        assert lost_nodes_of_pods([self.on("n1"), self.on("n2")], nodes) == ()

    def test_pl044_four_nodes_are_no_common_cause(self) -> None:
        nodes = {f"n{index}": NodeReadiness(UNREACHABLE) for index in range(4)}
        assert len(lost_nodes_of_pods([self.on(name) for name in list(nodes)[:3]], nodes)) == 3
        assert lost_nodes_of_pods([self.on(name) for name in nodes], nodes) == ()


class TestSchedulerMessages:
    def test_pl046_the_most_frequent_message_comes_first(self) -> None:
        pods = [pod(str(index), unplaced_because=text) for index, text in enumerate(("a", "b", "b", ""))]
        assert scheduler_messages_about_pods(pods) == (SchedulerMessage("b", 2), SchedulerMessage("a", 1))

    @pytest.mark.parametrize(("reason", "expected"), [("Unschedulable", "no GPUs"), ("SchedulingGated", "")])
    def test_pl046_the_message_of_a_pod_that_waits_for_the_scheduler(self, reason: str, expected: str) -> None:
        condition = {"type": "PodScheduled", "status": "False", "reason": reason, "message": "no GPUs"}
        raw = {"metadata": {"name": "p", "uid": "p"}, "spec": {}, "status": {"conditions": [condition]}}
        assert pod_from_json(raw, {}).unplaced_because == expected


def node(name: str, gpus: int) -> Node:
    return Node(name, FrozenDict(), (), FrozenDict({GPU: gpus * 1000, "pods": 100_000}))


class TestRoom:
    """A set of two pods with eight GPUs each, of which one is enough to start, and a group of one such pod."""

    SET: Final = set_raw(
        clique_raw("a", 2, minAvailable=1, pod_spec={"containers": [{"resources": {"limits": {GPU: 8}}}]}),
        clique_raw("c", 1, pod_spec={"containers": [{"resources": {"limits": {GPU: 8}}}]}),
        groups=({"name": "pool", "cliqueNames": ["c"], "replicas": 2, "minAvailable": 1},),
        terminationDelay="1h",
    )

    def room(
        self, nodes: Sequence[Node], subject: Ref | None = None, pods: Iterable[Pod] = (), others: Iterable[Pod] = ()
    ) -> RoomForReplacement:
        """The room for the first replica, on nodes that have its pods, other ones, and one of a daemon each."""
        seen, held = ready_set(self.SET, rule_set("design")), tuple(pods)
        daemons = [pod(node=one.name, phase="Running", requests={}) for one in nodes]
        capacity = free_capacity(nodes, [*held, *others, *daemons])
        return room_for_replica(seen, subject or seen.root.ref.at_replica(0), held, capacity)

    def test_pl045_no_room_where_not_even_the_minimum_fits(self) -> None:
        assert self.room([node("n1", 8)]) is RoomForReplacement.CANNOT
        assert self.room([node("n1", 32)]) is RoomForReplacement.FITS

    def test_pl045_nothing_is_said_where_only_the_minimum_fits(self) -> None:
        assert self.room([node("n1", 24)]) is RoomForReplacement.UNDECIDED

    def test_pl045_its_own_pods_give_their_gpus_back(self) -> None:
        held = [pod(node="n1", phase="Running", requests={GPU: 24_000}), pod(node="n2", phase="Succeeded")]
        assert self.room([node("n1", 32)], pods=held) is RoomForReplacement.FITS
        assert self.room([node("n1", 32)], others=held) is RoomForReplacement.CANNOT

    def test_pl045_a_node_without_its_device_plugin_gives_nothing_back(self) -> None:
        held = [pod(node="n1", phase="Running", requests={GPU: 32_000})]
        assert self.room([node("n1", 0)], pods=held) is RoomForReplacement.CANNOT

    @pytest.mark.parametrize("resource", ["cpu", "memory", "pods"])
    def test_pl045_other_pods_take_more_than_gpus(self, resource: str) -> None:
        free = Node("n1", FrozenDict(), (), FrozenDict({GPU: 32_000, "cpu": 64_000, "memory": 64_000, "pods": 64_000}))
        requests = {"containers": [{"resources": {"limits": {GPU: 8}, "requests": {"cpu": 8, "memory": 8}}}]}
        raw = set_raw(clique_raw("a", 2, minAvailable=1, pod_spec=requests), terminationDelay="1h")
        seen = ready_set(raw, rule_set("design"))
        daemons = [pod(node="n1", phase="Running", requests={resource: taken}) for taken in (0, 57_000, 64_000)]

        def room(one: Pod) -> RoomForReplacement:
            return room_for_replica(seen, seen.root.ref.at_replica(0), (), free_capacity([free], [one]))

        assert room(daemons[0]) is RoomForReplacement.FITS
        assert room(daemons[1]) is (RoomForReplacement.FITS if resource == "pods" else RoomForReplacement.CANNOT)
        assert room(daemons[2]) is RoomForReplacement.CANNOT

    def test_pl050_room_is_not_known_where_a_node_has_pods_of_gangs_alone(self) -> None:
        seen = ready_set(self.SET, rule_set("design"))
        nodes = [node("n1", 32), node("n2", 32)]
        others = [pod(node="n1", phase="Running", requests={}), pod(node="n2", phase="Running", requests={})]
        of_gang = replace(others[1], gang="llm-1")

        def room(*pods: Pod) -> RoomForReplacement:
            return room_for_replica(seen, seen.root.ref.at_replica(0), (), free_capacity(nodes, pods))

        assert room(*others) is RoomForReplacement.FITS
        assert room(others[0], of_gang) is room() is RoomForReplacement.PODS_MISSING
        large = FrozenDict({GPU: 32_000})
        assert room(replace(of_gang, requests=large), replace(others[0], requests=large)) is RoomForReplacement.CANNOT

    def test_pl045_nothing_is_said_where_requests_are_not_known(self) -> None:
        unknown = pod(node="n1", phase="Running")
        assert free_capacity([node("n1", 8)], [unknown]) == UNKNOWN_CAPACITY
        assert FreeCapacity((node("n1", 8),)).without_pods([unknown]) is None

    def test_pl045_nothing_is_said_without_every_node_of_its_pods(self) -> None:
        assert (
            self.room([node("n1", 0)], pods=[pod(node="n2", phase="Running", requests={})])
            is RoomForReplacement.NODES_MISSING
        )
        assert self.room([]) is RoomForReplacement.NODES_MISSING

    def test_pl045_a_replica_of_a_group_has_its_own_gang_beyond_the_minimum(self) -> None:
        pool = Ref("grove.io/v1alpha1", "PodCliqueScalingGroup", "ml", "llm-0-pool")
        assert self.room([node("n1", 0)], pool.at_replica(1)) is RoomForReplacement.CANNOT
        assert self.room([node("n1", 0)], pool.at_replica(0)) is RoomForReplacement.PART_OF_GANG

    def test_pl045_nothing_is_said_by_a_topology_that_is_missing(self) -> None:
        seen = with_topologies(applied(constrained_set(clusterTopologyName="gone")))
        assert (
            room_for_replica(seen, seen.root.ref.at_replica(0), (), FreeCapacity((node("n1", 8),)))
            is RoomForReplacement.UNDECIDED
        )

    @pytest.mark.parametrize(
        ("status", "is_known"),
        [({"allocatable": {GPU: "8"}}, True), ({}, False), ({"allocatable": {GPU: []}}, False)],
    )
    def test_pl045_nodes_without_amounts_are_unknown(self, status: Json, *, is_known: bool) -> None:
        assert (node_with_known_amounts({"metadata": {"name": "n1"}, "status": status}) is not None) == is_known


AMOUNTS: Final = st.dictionaries(
    st.sampled_from([GPU, "cpu", "memory"]), st.sampled_from(["1", "250m", "2Gi", 3, "x", None])
)
RESOURCES: Final = st.none() | st.fixed_dictionaries({}, optional={"limits": AMOUNTS, "requests": AMOUNTS})
CONTAINERS: Final = st.lists(
    st.fixed_dictionaries({"resources": RESOURCES}, optional={"restartPolicy": st.just("Always")}), max_size=3
)
SPECS: Final = st.fixed_dictionaries(
    {"containers": CONTAINERS},
    optional={"initContainers": CONTAINERS, "resources": RESOURCES, "overhead": AMOUNTS, "nodeName": st.just("n1")},
)


class TestRequestsOfPods:
    @given(st.lists(SPECS, min_size=1, max_size=6))
    def test_pl045_a_pod_requests_what_the_topology_check_counts(self, specs: list[Json]) -> None:
        memo: dict[bytes, PodRequests] = {}
        for spec in [*specs, *specs]:
            raw = {"metadata": {"name": "p", "uid": "p"}, "spec": spec, "status": {}}
            read = pod_from_json(raw, {}, memo)
            assert read == pod_from_json(raw, {})
            try:
                found = read_pod_using_node_capacity({**raw, "spec": {**spec, "nodeName": "n1"}})
            except MalformedObject:
                assert read.requests is None
            else:
                assert found is not None
                assert read.requests == found.amounts

    @pytest.mark.parametrize("resources", [7, {"limits": 7}, {"limits": {"cpu": {}}}, {"requests": {"cpu": "a lot"}}])
    def test_pl045_unreadable_requests_are_not_known(self, resources: object) -> None:
        spec = {"containers": [{"resources": resources}]}
        raw = {"metadata": {"name": "p", "uid": "p"}, "spec": spec, "status": {}}
        assert pod_from_json(raw, {}, {}).requests is None

    @pytest.mark.parametrize(
        ("containers", "path"),
        [([7], "spec.containers[0]"), ({"a": 1}, "spec.containers"), ([{"resources": 10**5000}], "")],
        ids=["7", "object", "digits"],
    )
    @pytest.mark.req("IN-030")
    def test_pl045_a_pod_without_readable_containers_is_malformed(self, containers: object, path: str) -> None:
        with pytest.raises(MalformedObject) as caught:
            pod_from_json({"metadata": {"name": "p", "uid": "p"}, "spec": {"containers": containers}}, {}, {})
        assert [problem.path for problem in caught.value.problems] == [path]

    def test_pl045_equal_requests_are_computed_once(self) -> None:
        memo: dict[bytes, PodRequests] = {}
        raw = {"metadata": {"name": "p"}, "spec": {"containers": [{"resources": {"limits": {GPU: "8"}}}]}}
        first, second = pod_from_json(raw, {}, memo), pod_from_json(raw, {}, memo)
        assert first.requests is second.requests
        assert list(memo.values()) == [PodRequests(8, FrozenDict({GPU: 8000, "pods": 1000}))]


REFS: Final = st.builds(Ref, st.just("v1"), st.just("PodClique"), st.just("ml"), st.sampled_from("ab"))
TIMES: Final = st.none() | st.just(SINCE)
HINTS: Final = st.builds(
    TerminationHints,
    replica=st.just(REF.at_replica(0)),
    ready_pods=st.lists(
        st.builds(
            ReadyPodsToEndBreach,
            REFS,
            st.integers(1, 9),
            TIMES,
            st.none() | st.integers(1, 9),
            st.booleans(),
            gated=st.booleans(),
        )
    ).map(tuple),
    spares_not=st.lists(REFS.map(lambda ref: ref.at_replica(1))).map(tuple),
    longer_delay=st.none() | st.just(LongerDelay(("spec.template.terminationDelay",), timedelta(seconds=31))),
    unready=st.integers(0, 9),
    nodes=st.lists(st.builds(LostNodeOfPods, st.just("n"), st.just(UNREACHABLE), TIMES, st.integers(1, 9))).map(tuple),
    messages=st.lists(st.builds(SchedulerMessage, st.text(), st.integers(1, 9))).map(tuple),
    room=st.sampled_from(RoomForReplacement),
)


@given(HINTS)
def test_cl072_hints_read_back_to_an_equal_value(hints: TerminationHints) -> None:
    assert termination_hints_from_json(hints_as_json(hints)) == hints


def test_cl072_a_delay_that_is_no_duration_is_refused() -> None:
    raw = hints_as_json(TerminationHints(replica=REF, longer_delay=LongerDelay(("x",), timedelta(seconds=1))))
    raw["avertedBy"]["longerDelay"]["above"] = "soon"
    with pytest.raises(ValueError, match="instead of a duration"):
        termination_hints_from_json(raw)
