"""Asking about one object (CL-015): every kind, on arbitrary clusters."""

from datetime import timedelta

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from grove_core.areas.gang_termination.rules import TerminationReason as Design
from grove_core.areas.mnnvl_scopes.judge import shared_domain_ref
from grove_core.kernel.questions import BREACH, COMPUTE_DOMAIN, TERMINATION
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Create, Delete, SetStatus
from grove_core.kernel.structs import replace
from grove_core.kernel.wants import Withheld
from grove_core.object_explanation import ObjectExplanation
from grove_core.object_lookup import KINDS_WITHOUT_PODS, podcliques_of_object, snapshot_has_object
from grove_core.reconcile import reconcile
from grove_core.resources.api_names import MNNVL_ENABLED
from grove_core.resources.compute_domain import compute_domain_from_json
from grove_core.resources.configuration import Configuration, MnnvlConfiguration, MnnvlMode
from grove_core.resources.podgang import PodGang, PodGroup
from grove_core.snapshot.snapshot import Snapshot
from grove_core.testing import RandomCluster, cluster_of, clusters
from tests.property.mnnvl_scopes.sharing_sets import GPUS
from tests.property.strategies.worlds import is_termination
from tests.property.workload.life import Life
from tests.property.workload.sets import applied, clique_raw, set_raw


def with_gang(snapshot: Snapshot) -> Snapshot:
    """The same with a gang of all standalone cliques of replica 0."""
    groups = tuple(PodGroup(clique.ref.name, 1, ()) for clique in snapshot.cliques if not clique.is_in_scaling_group)
    gang = PodGang(
        ref=Ref("scheduler.grove.io/v1alpha1", "PodGang", "ml", "llm-0"),
        uid="uid-of-the-gang",
        resource_version="1",
        owner_uid=snapshot.root.uid,
        owner_kind="PodCliqueSet",
        owner_name=snapshot.root.ref.name,
        finalizers=(),
        deleting=False,
        groups=groups,
    )
    return replace(snapshot, gangs=(gang,))


def inquiries(snapshot: Snapshot) -> list[ObjectExplanation]:
    plan = reconcile(snapshot)
    names = [("PodCliqueSet", snapshot.root.ref.name), ("PodGang", "llm-0")]
    names += [("PodCliqueScalingGroup", group.ref.name) for group in snapshot.groups]
    names += [("PodClique", clique.ref.name) for clique in snapshot.cliques]
    names += [("Pod", pod.name) for _, pod in snapshot.pods()]
    return [ObjectExplanation(snapshot, plan, kind, name) for kind, name in names]


@given(clusters())
def test_cl015_every_object_has_a_guard_or_is_ended(generated: RandomCluster) -> None:
    snapshot = with_gang(generated.snapshot)
    for inquiry in inquiries(snapshot):
        assert snapshot_has_object(snapshot, inquiry.kind, inquiry.name)
        guards = list(inquiry.findings_against_termination())
        assert all(guard.because for guard in guards)
        assert set(guards) <= set(inquiry.plan.findings)
        if inquiry.kind in {"PodClique", "Pod"}:
            assert len(guards) == 1
            event(f"{guards[0].question} {guards[0].verdict}")


@given(clusters())
def test_cl015_a_clique_is_reported_as_terminated_exactly_if_it_is_deleted(generated: RandomCluster) -> None:
    snapshot = generated.snapshot
    plan = reconcile(snapshot)
    gone = {step.target.name for step in plan.steps if is_termination(step)}
    for clique in snapshot.cliques:
        if not clique.deleting:
            (guard,) = ObjectExplanation(snapshot, plan, "PodClique", clique.ref.name).findings_against_termination()
            assert (guard.verdict == "Terminate") == (clique.ref.name in gone)


@given(clusters())
def test_cl015_findings_are_about_the_object_its_parts_and_those_above(generated: RandomCluster) -> None:
    for inquiry in inquiries(with_gang(generated.snapshot)):
        found = list(inquiry.findings())
        for one in set(found) - set(inquiry.plan.findings):  # own replicas of which the plan says nothing
            assert (one.question, one.verdict, one.subject.kind) == (
                TERMINATION,
                "Keep",
                "PodCliqueScalingGroup",
            )
            assert any(group.subject == one.subject.without_replica for group in found if group.verdict != "Keep")
        cliques = {clique.ref for clique in inquiry.cliques}
        assert cliques <= {finding.subject for finding in found}


@given(clusters(), st.sampled_from(["Pod", "PodClique", "PodCliqueScalingGroup"]))
def test_gt024_where_nothing_is_known_the_guard_says_so(generated: RandomCluster, kind: str) -> None:
    snapshot = replace(generated.snapshot, not_collected=frozenset({kind}))
    plan = reconcile(snapshot)
    if not snapshot.cliques or {finding.verdict for finding in plan.findings} != {"Unknown"}:
        return
    for kind_of_object, name in (("PodClique", snapshot.cliques[0].ref.name), ("PodCliqueSet", "llm")):
        guards = list(ObjectExplanation(snapshot, plan, kind_of_object, name).findings_against_termination())
        assert [guard.verdict for guard in guards] == ["Unknown"]


@pytest.mark.parametrize("kind", ["Pod", "PodClique", "PodCliqueScalingGroup", "PodGang", "PodCliqueSet"])
def test_cl009_an_unknown_object_has_no_explanation(kind: str) -> None:
    snapshot = cluster_of(b"").snapshot
    assert podcliques_of_object(snapshot, kind, "missing") == ()
    assert not snapshot_has_object(snapshot, kind, "missing")


@given(clusters())
def test_cl015_every_step_of_a_set_is_reported_for_some_object(generated: RandomCluster) -> None:
    """What is done about a set is exactly what is done about its parts and what they are made of, but for statuses."""
    snapshot = with_gang(generated.snapshot)
    *parts, whole = reversed(inquiries(snapshot))
    done = {step.target for step in whole.plan.steps if not isinstance(step.action, SetStatus)}
    assert {step.target for step in whole.planned_steps()} == done
    assert list(whole.withheld_steps()) == list(whole.plan.withheld)
    for part in parts:
        assert {step.target for step in part.planned_steps()} <= done
        assert set(part.withheld_steps()) <= set(whole.plan.withheld)
        if part.ref in done:
            assert part.ref in {step.target for step in part.planned_steps()}


def test_cl015_a_clique_reports_the_pods_it_gets() -> None:
    life = Life(set_raw(clique_raw("a", 2), clique_raw("b", 1)))
    seen, plan = None, life.round()
    while plan is not None and "Pod" not in {step.target.kind for step in plan.steps}:
        seen, plan = life.look(), life.round()
    assert seen is not None
    assert plan is not None
    reported = ObjectExplanation(seen, plan, "PodClique", "llm-0-a").planned_steps()
    assert [(type(step.action), step.target.kind) for step in reported] == [(Create, "Pod")] * 2


def test_cl015_the_address_of_an_object_is_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sharers of a ComputeDomain take one walk over all places of a set; not one for each verdict."""
    annotations = {MNNVL_ENABLED: "true"}
    snapshot = applied(set_raw(clique_raw("a", annotations=annotations), replicas=5))
    snapshot = replace(
        snapshot, configuration=Configuration(MnnvlConfiguration(enabled=True, mode=MnnvlMode.ANNOTATIONS))
    )
    plan = reconcile(snapshot)
    walks: list[str] = []

    def counted(snapshot: Snapshot, name: str) -> Ref | None:
        walks.append(name)
        return shared_domain_ref(snapshot, name)

    monkeypatch.setattr("grove_core.object_lookup.shared_domain_ref", counted)
    assert list(ObjectExplanation(snapshot, plan, "ComputeDomain", "llm-4-cd").findings())
    assert len(walks) <= 2


def test_cl015_a_set_that_is_well_has_a_verdict_on_each_replica() -> None:
    life = Life(set_raw(clique_raw("a"), replicas=2))
    life.settle()
    seen = life.look()
    assert seen is not None
    plan = reconcile(seen)
    assert [
        one.subject.replica
        for one in ObjectExplanation(seen, plan, "PodCliqueSet", "llm").findings_against_termination()
    ] == [0, 1]


def test_cl015_a_pod_reports_itself_and_its_clique_all_its_pods() -> None:
    life = Life(set_raw(clique_raw("a", 3)))
    life.settle()
    life.scale("llm-0-a", 1)
    seen = life.look()
    assert seen is not None
    plan = reconcile(seen)
    gone = [step.target.name for step in plan.steps if isinstance(step.action, Delete)]
    assert len(gone) == 2
    reported = {
        name: [
            step.target.name
            for step in ObjectExplanation(seen, plan, kind, name).planned_steps()
            if isinstance(step.action, Delete)
        ]
        for kind, name in [*(("Pod", name) for name in gone), ("PodClique", "llm-0-a")]
    }
    assert reported == {**{name: [name] for name in gone}, "llm-0-a": gone}
    clique, pod = next((clique, pod) for clique, pod in seen.pods() if pod.name == gone[0])
    assert pod in ObjectExplanation(seen, plan, "Pod", gone[0]).pods_of_clique(clique)


@pytest.mark.parametrize(("name", "there"), [("llm-cd-0", True), ("llm-cd-7", True), ("llm-cd-8", False)])
def test_cl015_a_domain_of_a_replica_that_is_wanted_no_more_is_known(name: str, *, there: bool) -> None:
    domain = compute_domain_from_json({"metadata": {"name": "llm-cd-7", "namespace": "ml"}, "spec": {"numNodes": 0}})
    snapshot = replace(applied(set_raw(clique_raw("a"))), domains=(domain,))
    assert snapshot_has_object(snapshot, "ComputeDomain", name) is there


def test_cl015_a_domain_of_a_replica_reports_the_verdicts_on_it_and_on_its_set() -> None:
    snapshot = applied(set_raw(clique_raw("a", pod_spec=GPUS), replicas=2))
    snapshot = replace(snapshot, configuration=Configuration(MnnvlConfiguration(enabled=True)))
    reported = list(ObjectExplanation(snapshot, reconcile(snapshot), "ComputeDomain", "llm-cd-1").findings())
    assert {one.subject.replica for one in reported} == {None, 1}
    assert {one.question for one in reported} == {COMPUTE_DOMAIN}


def test_cl073_every_object_of_a_set_has_its_address_and_its_steps() -> None:
    """Objects without pods, while the plan creates them and when they exist."""
    life = Life(set_raw(clique_raw("a", 2), clique_raw("b", 1)))
    seen, planned = life.look(), life.round()
    assert seen is not None
    assert planned is not None
    created = [step.target for step in planned.steps if step.target.kind in KINDS_WITHOUT_PODS]
    assert {ref.kind for ref in created} == {"Role", "RoleBinding", "Secret", "Service", "ServiceAccount"}
    for ref in created:
        inquiry = ObjectExplanation(seen, planned, ref.kind, ref.name)
        assert not snapshot_has_object(seen, ref.kind, ref.name)
        assert (inquiry.ref, inquiry.cliques) == (ref, ())
        assert [step.target for step in inquiry.planned_steps()] == [ref]
    life.settle()
    after = life.look()
    assert after is not None
    plan = reconcile(after)
    assert set(created) <= {one.ref for one in after.others}
    for ref in created:
        inquiry = ObjectExplanation(after, plan, ref.kind, ref.name)
        assert snapshot_has_object(after, ref.kind, ref.name)
        assert (inquiry.ref, [*inquiry.planned_steps()]) == (ref, [])
        assert {one.subject for one in inquiry.findings()} <= {after.root.ref}
        absent = ObjectExplanation(after, plan, ref.kind, "absent").ref
        assert (absent.api_version, absent.name) == (ref.api_version, "absent")


def test_gt060_the_guard_is_the_terminating_clique_or_else_the_keeping_one() -> None:
    """A clique that is breached, while its set still waits, and when its time has come."""
    life = Life(set_raw(clique_raw("a"), clique_raw("b"), terminationDelay="1h"))
    life.settle()
    life.world.put_pod(replace(life.pods("llm-0-a")[0], ready=False))
    life.round()
    guards = []
    for minutes in (5, 120):
        life.now += timedelta(minutes=minutes)
        seen = life.look()
        assert seen is not None
        guards += [
            [
                (guard.question, guard.verdict)
                for guard in ObjectExplanation(seen, reconcile(seen), "PodClique", name).findings_against_termination()
            ]
            for name in ("llm-0-a", "llm-0-b")
        ]
    waits, ends = (TERMINATION, "Wait"), (TERMINATION, "Terminate")
    assert [one for (one,) in guards] == [waits, (BREACH, "False"), ends, ends]


def test_cl015_steps_withheld_for_a_set_are_reported_for_its_parts() -> None:
    life = Life(set_raw(clique_raw("a"), clique_raw("b")))
    life.settle()
    seen = life.look()
    assert seen is not None
    because = (Design.NOTHING_BREACHED.because(seen.root.ref),)
    withheld = tuple(Withheld(ref, because) for ref in (seen.root.ref, seen.cliques[1].ref))
    plan = replace(reconcile(seen), withheld=withheld)
    reported = [
        tuple(ObjectExplanation(seen, plan, "PodClique", name).withheld_steps()) for name in ("llm-0-a", "llm-0-b")
    ]
    assert reported == [withheld[:1], withheld]
    assert tuple(ObjectExplanation(seen, plan, "PodCliqueSet", "llm").withheld_steps()) == withheld


def test_cl015_a_member_of_a_scaling_group_reports_the_verdicts_on_its_group() -> None:
    pool = {"name": "pool", "cliqueNames": ["a"], "replicas": 2, "minAvailable": 1}
    life = Life(set_raw(clique_raw("a"), groups=(pool,)))
    life.settle()
    seen = life.look()
    assert seen is not None
    plan = reconcile(seen)
    found = {one.subject for one in ObjectExplanation(seen, plan, "PodClique", "llm-0-pool-1-a").findings()}
    (group,) = seen.groups
    assert {group.ref, seen.root.ref.at_replica(0)} <= found
