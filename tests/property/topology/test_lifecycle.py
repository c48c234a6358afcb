"""The finalizer of topologies, and the levels of the default one (TP-040 to TP-054), in every state."""

from itertools import product
from typing import Any, Final

import pytest

from grove_core.areas.topology.cluster_topology_snapshot import topology_snapshots
from grove_core.areas.topology.rules import TopologyReason
from grove_core.document.document_reading import plan_document_from_json
from grove_core.document.document_writing import plan_document_as_json
from grove_core.document.plan_document import PlanDocument
from grove_core.kernel.frozen import FrozenDict, FrozenMap, frozen_dict_of_tuples, thaw_json
from grove_core.kernel.refs import Guard, placeholder_uid
from grove_core.kernel.steps import Apply, Create, Step
from grove_core.kernel.structs import replace
from grove_core.plan.plan import Plan
from grove_core.plan.plan_laws import broken_laws_in_plan
from grove_core.reconcile_topology import forecast_topology, reconcile_topology
from grove_core.resources.api_names import BINDING_KIND, MANAGED_BY, OPERATOR, TOPOLOGY_FINALIZER, TOPOLOGY_KIND
from grove_core.resources.cluster_topology import DEFAULT_TOPOLOGY, ClusterTopology, cluster_topology_from_json
from grove_core.resources.podclique import podclique_from_json
from grove_core.resources.podcliqueset_spec import SetTemplate
from grove_core.resources.topology_usage import TopologyUser, bound_pod_counts_by_set, sets_by_topology
from grove_core.snapshot.cluster import EVERYWHERE, Gap
from grove_core.snapshot.cluster_index import index_cluster
from tests.property.topology.sets_with_constraints import LEVELS, ON, topology, unplaced_set, with_bound_pod
from tests.property.topology.snapshots_of_topologies import OTHERS, USERS, a_topology, topology_snapshot
from tests.property.workload.sets import NOW, applied, clique_raw, set_raw


def after(plan: Plan, found: ClusterTopology) -> ClusterTopology:
    """The topology after the steps of a plan."""
    raw: dict[str, Any] = {
        "kind": found.ref.kind,
        "metadata": {
            "name": found.ref.name,
            "uid": found.uid,
            "resourceVersion": found.resource_version,
            "finalizers": list(found.finalizers),
            "labels": thaw_json(found.labels),
            **({"deletionTimestamp": "2026-11-20T09:00:00Z"} if found.deleting else {}),
        },
        "spec": {"levels": [level._asdict() for level in found.levels]},
    }
    for step in plan.steps:
        assert isinstance(step.action, Apply)
        assert step.action.guard == found.guard
        fields = thaw_json(step.action.fields)
        raw["metadata"] |= fields.get("metadata", {})
        raw["spec"] |= fields.get("spec", {})
    return cluster_topology_from_json(raw)


STATES: Final = [*product(("t", DEFAULT_TOPOLOGY), *[(False, True)] * 4, USERS)]


@pytest.mark.parametrize(("name", "held", "fits", "leaving", "on", "users"), STATES)
@pytest.mark.req("TP-041")
@pytest.mark.req("TP-051")
@pytest.mark.req("TP-052")
@pytest.mark.req("TP-053")
def test_tp040_every_state_converges_in_two_rounds(
    name: str, held: bool, fits: bool, leaving: bool, on: bool, users: str
) -> None:
    """Finalizer and label first, levels in a write of their own: a refusal of the levels does not affect the others."""
    found = a_topology(name, held=held, fits=fits, leaving=leaving)
    plan = reconcile_topology(topology_snapshot(found, users, name=name, on=on))
    for step in plan.steps:
        assert isinstance(step.action, Apply)
        assert len(step.action.fields) == 1
    rest = after(plan, found)
    rest = after(reconcile_topology(topology_snapshot(rest, users, name=name, on=on)), rest)

    is_default = name == DEFAULT_TOPOLOGY
    should_hold = users != "none" and not (is_default and not on)
    is_held = should_hold and (held or not leaving)  # no finalizer is added to an object that is being deleted
    assert (TOPOLOGY_FINALIZER in rest.finalizers) is is_held
    assert tuple(one for one in rest.finalizers if one != TOPOLOGY_FINALIZER) == OTHERS

    restores = is_default and on and not leaving and users != "placed"
    assert rest.levels == (LEVELS if restores else found.levels)
    reported = {reason.rule for withheld in plan.withheld for reason in withheld.because}
    assert (TopologyReason.DEFAULT_IN_USE in reported) is (
        is_default and on and not leaving and not fits and users == "placed"
    )
    assert (TopologyReason.USERS_STAY in reported) is (leaving and held and should_hold)
    assert not reconcile_topology(topology_snapshot(rest, users, name=name, on=on)).steps


def test_tp050_the_default_is_created_as_configured() -> None:
    (step,) = reconcile_topology(topology_snapshot(None)).steps
    assert isinstance(step.action, Create)
    made = cluster_topology_from_json(thaw_json(step.action.manifest))
    assert (made.ref.name, made.ref.namespace, made.levels) == (DEFAULT_TOPOLOGY, "", LEVELS)
    assert made.labels[MANAGED_BY] == OPERATOR
    assert not reconcile_topology(topology_snapshot(None, on=False)).steps
    assert not reconcile_topology(topology_snapshot(None, name="t")).steps


def test_tp051_the_label_is_restored_under_placed_pods() -> None:
    bare = topology(DEFAULT_TOPOLOGY, finalizers=[TOPOLOGY_FINALIZER])
    (step,) = reconcile_topology(topology_snapshot(bare, "placed")).steps
    assert isinstance(step.action, Apply)
    assert thaw_json(step.action.fields) == {"metadata": {"labels": {MANAGED_BY: OPERATOR}}}


@pytest.mark.parametrize("held", [False, True])
def test_tp042_the_finalizer_of_a_topology_that_may_be_used_stays(held: bool) -> None:
    plan = reconcile_topology(topology_snapshot(a_topology("t", held=held), name="t", not_collected=("PodCliqueSet",)))
    assert not plan.steps
    assert plan.findings[0].because[0].rule is TopologyReason.SETS_NOT_COLLECTED
    stale = a_topology(DEFAULT_TOPOLOGY, held=True, fits=False)
    assert not reconcile_topology(topology_snapshot(stale, "waiting", not_collected=("PodClique",))).steps


@pytest.mark.req("TP-040")
def test_tp042_one_known_user_is_enough() -> None:
    """An unparsable set does not remove the finalizer of a used topology."""
    plan = reconcile_topology(
        topology_snapshot(a_topology("t", held=False), "waiting", name="t", not_collected=("PodCliqueSet",))
    )
    (step,) = plan.steps
    assert isinstance(step.action, Apply)
    assert thaw_json(step.action.fields) == {"metadata": {"finalizers": [*OTHERS, TOPOLOGY_FINALIZER]}}
    assert {reason.rule for reason in plan.findings[0].because} == {TopologyReason.TOPOLOGY_USED}


@pytest.mark.parametrize("unknown", [(), ("PodClique",)])
def test_tp051_the_label_is_restored_where_the_levels_are_withheld(unknown: tuple[str, ...]) -> None:
    bare = replace(a_topology(DEFAULT_TOPOLOGY, held=True, fits=False), labels=FrozenMap({}))
    plan = reconcile_topology(topology_snapshot(bare, "placed", not_collected=unknown))
    assert [thaw_json(step.action.fields) for step in plan.steps if isinstance(step.action, Apply)] == [
        {"metadata": {"labels": {MANAGED_BY: OPERATOR}}}
    ]
    assert plan.withheld


def test_tp042_every_incomplete_kind_is_named() -> None:
    kinds = ("PodCliqueSet", "PodClique")
    (why,) = (
        reconcile_topology(topology_snapshot(a_topology("t", held=True), name="t", not_collected=kinds))
        .findings[0]
        .because
    )
    assert dict(why.facts)["kinds"] == "PodCliqueSet, PodClique"
    stale = a_topology(DEFAULT_TOPOLOGY, held=True, fits=False)
    (held,) = reconcile_topology(topology_snapshot(stale, "placed", not_collected=kinds)).withheld
    assert dict(held.because[0].facts)["kinds"] == "PodCliqueSet, PodClique"


@pytest.mark.req("TP-040")
def test_tp051_one_write_has_all_its_reasons() -> None:
    """The finalizer is added and the label is restored."""
    bare = replace(a_topology(DEFAULT_TOPOLOGY, held=False), labels=FrozenMap({}))
    (step,) = reconcile_topology(topology_snapshot(bare, "placed")).steps
    assert [why.rule for why in step.because] == [TopologyReason.TOPOLOGY_USED, TopologyReason.DEFAULT_RESTORED]


def test_tp043_the_users_that_a_deletion_waits_for_are_named() -> None:
    leaving = a_topology("t", held=True, leaving=True)
    (held,) = reconcile_topology(topology_snapshot(leaving, "placed", name="t")).withheld
    assert held.because[0].sentence.endswith("ml/llm, ml/waits")
    unheld = a_topology("t", held=False, leaving=True)
    assert not reconcile_topology(topology_snapshot(unheld, "placed", name="t")).withheld, (
        "it goes when others let go of it"
    )


def test_tp054_a_binding_of_the_name_is_left_alone() -> None:
    plan = reconcile_topology(
        topology_snapshot(a_topology(DEFAULT_TOPOLOGY, held=False, fits=False, kind=BINDING_KIND))
    )
    assert not plan.steps
    assert {reason.rule for held in plan.withheld for reason in held.because} == {TopologyReason.NAME_IS_A_BINDING}


def test_tp002_a_set_without_a_name_uses_the_default() -> None:
    def template(**more: Any) -> SetTemplate:
        return SetTemplate.model_validate({"cliques": [{"name": "a", "spec": {}}], **more})

    constraint = {"topologyConstraint": {"packDomain": "rack"}}
    sets = (
        ("ml", "named", template(clusterTopologyName="t", **constraint)),
        ("ml", "implicit", template(**constraint)),
        ("ml", "without", template(clusterTopologyName="t")),
    )
    assert sets_by_topology(sets, {("ml", "implicit"): 3}) == {
        "t": (TopologyUser("ml", "named"),),
        DEFAULT_TOPOLOGY: (TopologyUser("ml", "implicit", 3),),
    }


@pytest.mark.req("TP-050")
def test_tp042_a_cluster_has_a_snapshot_for_each_topology() -> None:
    cluster = index_cluster(sets=(), complete=frozenset({(TOPOLOGY_KIND, EVERYWHERE)}))
    assert topology_snapshots(cluster, NOW) == ()
    running = with_bound_pod(unplaced_set(topology(DEFAULT_TOPOLOGY)))
    bound = [replace(clique, status=replace(clique.status, scheduled=1)) for clique in running.cliques]
    known = replace(
        index_cluster(sets=(running.root,), cliques=bound, gaps=frozenset({("PodClique", "other")})),
        complete=cluster.complete,
        configuration=ON,
        topologies=FrozenDict({"t": topology("t")}),
    )
    assert [(one.name, one.not_collected, one.users) for one in topology_snapshots(known, NOW)] == [
        (DEFAULT_TOPOLOGY, ("PodClique",), (TopologyUser("ml", "llm", len(bound)),)),
        ("t", ("PodClique",), ()),
    ]
    unseen = replace(known, sets=(), complete=frozenset())
    assert {one.not_collected for one in topology_snapshots(unseen, NOW)} == {("PodClique", "PodCliqueSet")}


def test_tp002_bound_pods_count_before_statuses_show_them() -> None:
    running = with_bound_pod(unplaced_set(topology(DEFAULT_TOPOLOGY)))
    seen = replace(
        index_cluster(sets=(running.root,), cliques=running.cliques),
        pods_of=frozen_dict_of_tuples({uid: list(pods) for uid, pods in running.pods_of.items()}),
        configuration=ON,
        topologies=FrozenDict({DEFAULT_TOPOLOGY: topology(DEFAULT_TOPOLOGY)}),
    )
    assert not any(clique.status.scheduled for clique in running.cliques)
    (one,) = topology_snapshots(seen, NOW)
    assert one.users == (TopologyUser("ml", "llm", 1),)


@pytest.mark.parametrize(
    ("complete", "is_part", "unknown"),
    [
        (frozenset(), False, ("PodCliqueSet",)),
        (frozenset({("PodCliqueSet", "ml")}), False, ("PodCliqueSet",)),
        (frozenset({("PodCliqueSet", EVERYWHERE)}), False, ()),
        (frozenset({("PodCliqueSet", EVERYWHERE)}), True, ("PodClique", "PodCliqueSet")),
    ],
)
def test_tp042_no_set_means_no_user_only_in_a_complete_input(
    complete: frozenset[Gap], is_part: bool, unknown: tuple[str, ...]
) -> None:
    found = a_topology("t", held=True)
    cluster = replace(index_cluster(sets=(), complete=complete), is_part=is_part, topologies=FrozenDict({"t": found}))
    (one,) = topology_snapshots(cluster, NOW)
    assert one.not_collected == unknown
    assert bool(reconcile_topology(one).steps) is (not unknown)


@pytest.mark.parametrize(("uid", "unknown"), [("", ("PodCliqueSet",)), ("u", ())])
def test_tp042_an_unapplied_set_does_not_make_the_input_complete(uid: str, unknown: tuple[str, ...]) -> None:
    root = replace(applied(set_raw(clique_raw("a"))).root, uid=uid)
    cluster = replace(index_cluster(sets=(root,)), topologies=FrozenDict({"t": a_topology("t", held=True)}))
    (one,) = topology_snapshots(cluster, NOW)
    assert one.not_collected == unknown


@pytest.mark.parametrize("on", [False, True])
@pytest.mark.parametrize("users", USERS)
def test_tp047_a_forecast_starts_with_the_plan_and_converges(users: str, *, on: bool) -> None:
    """In every state of the default topology and of another one."""
    states = [
        a_topology(name, held=held, fits=fits, leaving=leaving, kind=kind)
        for name, held, fits, leaving, kind in product(
            (DEFAULT_TOPOLOGY, "aws"), (False, True), (False, True), (False, True), (TOPOLOGY_KIND, BINDING_KIND)
        )
    ]
    for found in (None, *states):
        given = topology_snapshot(found, users, name=found.ref.name if found is not None else DEFAULT_TOPOLOGY, on=on)
        reported, plan = forecast_topology(given), reconcile_topology(given)
        assert (reported.rounds[0].steps, reported.rounds[0].withheld, reported.findings) == (
            plan.steps,
            plan.withheld,
            plan.findings,
        )
        assert reported.complete
        assert len(reported.rounds) <= 2
        assert not broken_laws_in_plan(plan, given)
        last = found
        for step in (step for round_ in reported.rounds for step in round_.steps):
            last = written_by(step, last)
        assert last is None or not reconcile_topology(replace(given, topology=last)).steps


def test_tp047_a_deleted_topology_is_gone_once_the_finalizer_is_removed() -> None:
    alone = replace(a_topology("aws", held=True, leaving=True), finalizers=(TOPOLOGY_FINALIZER,))
    reported = forecast_topology(topology_snapshot(alone, name="aws"))
    assert [len(round_.steps) for round_ in reported.rounds] == [1]


def written_by(step: Step, found: ClusterTopology | None) -> ClusterTopology:
    """The topology after a step, parsed again."""
    match step.action:
        case Create(manifest):
            made = thaw_json(manifest)
            return cluster_topology_from_json({**made, "metadata": {**made["metadata"], "uid": "u"}})
        case Apply(fields):
            assert found is not None
            body = thaw_json(fields)
            metadata: dict[str, Any] = {"name": found.ref.name, "uid": found.uid, "resourceVersion": "1"}
            metadata |= {"labels": dict(found.labels), "finalizers": list(found.finalizers)}
            metadata |= {"deletionTimestamp": "2026-11-20T09:00:00Z"} if found.deleting else {}
            spec = {"levels": [level._asdict() for level in found.levels]}
            given = {"kind": found.ref.kind, "metadata": metadata | body.get("metadata", {})}
            return cluster_topology_from_json({**given, "spec": body.get("spec", spec)})
        case _:
            raise AssertionError(step)


@pytest.mark.parametrize("held", [False, True])
def test_tp049_a_shadowed_binding_loses_the_finalizer(*, held: bool) -> None:
    """Also while the topology is used; other finalizers stay."""
    binding = a_topology("aws", held=held, leaving=True, kind=BINDING_KIND)
    seen = replace(topology_snapshot(a_topology("aws", held=True), "placed", name="aws"), shadowed=binding)
    plan = reconcile_topology(seen)
    assert not broken_laws_in_plan(plan, seen)
    assert [(step.target.kind, step.because[0].rule) for step in plan.steps] == (
        [(BINDING_KIND, TopologyReason.SHADOWED)] if held else []
    )
    for step in plan.steps:
        assert written_by(step, binding).finalizers == OTHERS
    assert [len(round_.steps) for round_ in forecast_topology(seen).rounds] == [int(held)]


@pytest.mark.req("TP-043")
def test_tp042_a_deletion_that_waits_for_unknown_users_says_so() -> None:
    seen = topology_snapshot(a_topology("aws", held=True, leaving=True), name="aws", not_collected=("PodCliqueSet",))
    (held,) = reconcile_topology(seen).withheld
    assert held.because[0].rule is TopologyReason.SETS_NOT_COLLECTED


@pytest.mark.parametrize(("labels", "owner", "bound"), [(True, "", 2), (False, "PodCliqueSet", 2), (False, "x", 0)])
@pytest.mark.req("TP-084")
def test_tp062_a_clique_that_lost_its_labels_belongs_to_its_controller(owner: str, bound: int, *, labels: bool) -> None:
    raw: dict[str, Any] = {
        "metadata": {
            "name": "llm-0-a",
            "namespace": "ml",
            "uid": "c",
            "resourceVersion": "1",
            "labels": {"app.kubernetes.io/part-of": "llm", "grove.io/podcliqueset-replica-index": "0"}
            if labels
            else {},
            "ownerReferences": [{"kind": owner, "name": "llm", "uid": "s", "controller": True}] if owner else [],
        },
        "spec": {"replicas": 2, "minAvailable": 2, "podSpec": {}},
        "status": {"scheduledReplicas": 2},
    }
    assert bound_pod_counts_by_set([podclique_from_json(raw)]).get(("ml", "llm"), 0) == bound


def test_tp121_users_are_unknown() -> None:
    """It is neither held nor free, and the finding says so."""
    plan = reconcile_topology(topology_snapshot(a_topology("t", held=True), name="t", not_collected=("PodCliqueSet",)))
    assert [finding.verdict for finding in plan.findings] == ["Unknown"]


@pytest.mark.parametrize("unknown", [(), ("PodCliqueSet",)], ids=["known", "not known"])
def test_tp053_a_topology_without_finalizer_is_not_reported_as_held(unknown: tuple[str, ...]) -> None:
    leaving = replace(a_topology(DEFAULT_TOPOLOGY, held=True), deleting=True)
    plan = reconcile_topology(
        topology_snapshot(leaving, "none" if unknown else "placed", on=False, not_collected=unknown)
    )
    assert len(plan.steps) == 1
    assert not plan.withheld


def test_cl011_a_plan_of_a_topology_reads_back_under_any_rule_set() -> None:
    """Rule sets of gang termination do not affect it."""
    forecast = forecast_topology(topology_snapshot(None, "placed"))
    document = PlanDocument(rules="field@v0.1.0-alpha.11", as_of=NOW, not_collected=(), forecasts=(forecast,))
    assert plan_document_from_json(plan_document_as_json(document, decisions=True)) == document


def test_tp050_a_created_topology_has_a_uid_of_its_own_in_a_forecast() -> None:
    start = topology_snapshot(None, "placed")
    made, held = [step for round_ in forecast_topology(start).rounds for step in round_.steps]
    assert isinstance(made.action, Create)
    assert isinstance(held.action, Apply)
    assert held.action.guard == Guard(placeholder_uid(made.target), "1")
