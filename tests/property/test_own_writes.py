"""Accepted writes that a lagging listing does not show yet count as seen, and are remembered until it does."""

from hypothesis import given
from hypothesis import strategies as st

from grove_core.in_memory.in_memory_cluster import InMemoryCluster
from grove_core.kernel.frozen import FrozenMap, frozen_dict_of_tuples
from grove_core.kernel.refs import Guard, Ref
from grove_core.kernel.steps import (
    Action,
    Apply,
    Attempt,
    AttemptOutcome,
    Create,
    Delete,
    DropFinalizer,
    Make,
    Step,
    StepStage,
)
from grove_core.kernel.structs import replace
from grove_core.plan.step_batches import execute_steps_sequentially
from grove_core.reconcile import reconcile
from grove_core.resources.api_names import CLIQUE_FINALIZER
from grove_core.resources.metadata_readers import Resource
from grove_core.resources.pod import Pod
from grove_core.resources.podcliqueset import podcliqueset_from_json
from grove_core.snapshot.own_writes import standing_refusals_after_round, with_own_writes
from grove_core.snapshot.snapshot import Snapshot
from grove_core.testing.tape import ByteChoices
from tests.property.few_examples import RARELY
from tests.property.workload.life import Life, Violated
from tests.property.workload.sets import NOW, Json, applied, at_rest, clique_raw, raw_sets, set_raw


def accepted_writes_not_listed(attempts: tuple[Attempt, ...], snapshot: Snapshot) -> tuple[Attempt, ...]:
    """The accepted writes that a snapshot does not show yet, for a controller whose cache does not take them in."""
    done = [attempt for attempt in attempts if attempt.outcome is AttemptOutcome.DONE]
    if not done:
        return ()
    listed: dict[Ref, Resource | Pod] = dict(snapshot.objects_without_pods_by_ref())
    if any(attempt.step.target.kind == "Pod" for attempt in done):
        listed |= {pod.ref: pod for _, pod in snapshot.pods()}
    return tuple(attempt for attempt in done if not _shown(attempt.step.action, listed.get(attempt.step.target)))


def _shown(action: Action, found: Resource | Pod | None) -> bool:
    if isinstance(action, Make):
        return found is not None
    if found is None or found.uid != action.guard.uid:
        return True
    return found.deleting if isinstance(action, Delete) else found.guard != action.guard


RAW = set_raw(
    clique_raw("a", 2),
    clique_raw("b", 2, minAvailable=1),
    groups=({"name": "pool", "cliqueNames": ["b"], "replicas": 2, "minAvailable": 1},),
)


@RARELY
@given(st.binary(max_size=40))
def test_pl018_kinds_that_lag_for_many_rounds_make_two_of_nothing(data: bytes) -> None:
    """Each kind shows what it showed some rounds ago; the operator acts on that, and on what it knows it did."""
    tape, life = ByteChoices(data), Life(RAW)
    start = life.look()
    assert start is not None
    shown, remembered = start, tuple[Attempt, ...]()
    while not tape.spent:
        fresh = life.look()
        assert fresh is not None
        kinds = tape.byte()
        shown = replace(
            shown,
            root=fresh.root if kinds & 1 else shown.root,
            groups=fresh.groups if kinds & 2 else shown.groups,
            cliques=fresh.cliques if kinds & 4 else shown.cliques,
            gangs=fresh.gangs if kinds & 8 else shown.gangs,
            others=fresh.others if kinds & 16 else shown.others,
            pods_of=frozen_dict_of_tuples(
                {uid: tuple(pods) for uid, pods in fresh.pods_of.items()} if kinds & 32 else shown.pods_of
            ),
        )
        if kinds & 64:
            life.kubelet()
        remembered = accepted_writes_not_listed(remembered, shown)
        attempts = execute_steps_sequentially(
            life.world.attempt_step, reconcile(replace(shown, attempts=remembered)).steps
        )
        for attempt in attempts:
            if isinstance(attempt.step.action, Create) and attempt.outcome is not AttemptOutcome.DONE:
                raise Violated(f"made twice: {attempt.step.target.short}, {attempt.detail}")
        remembered += attempts
        for uid, pods in life.world.pods.items():
            assert len(pods) == len({pod.index for pod in pods}), uid
    life.settle()


def rested() -> Snapshot:
    return at_rest(applied(RAW))


def done(step: Step) -> Attempt:
    return Attempt(step, AttemptOutcome.DONE)


def test_pl018_a_created_pod_is_there_and_has_its_index() -> None:
    seen = rested()
    clique = next(clique for clique in seen.cliques if clique.ref.name == "llm-0-a")
    without = replace(seen, pods_of=frozen_dict_of_tuples({**seen.pods_of, clique.uid: ()}))
    attempts = execute_steps_sequentially(InMemoryCluster((without,)).attempt_step, reconcile(without).steps)
    lagging = replace(without, attempts=attempts)
    assert not [step for step in reconcile(lagging).steps if step.target.kind == "Pod"]
    assert sorted(pod.index for pod in with_own_writes(lagging).pods_of[clique.uid]) == [0, 1]
    assert {attempt.step.target.kind for attempt in accepted_writes_not_listed(attempts, without)} >= {"Pod"}


def test_pl018_a_change_is_there_until_the_version_moves() -> None:
    seen = rested()
    gang = seen.gangs[0]
    fields = FrozenMap({"metadata": FrozenMap({"labels": FrozenMap({"queue": "a"})})})
    change = done(Step(StepStage.WORKLOAD, gang.ref, Apply(fields, gang.guard), ()))
    found = with_own_writes(replace(seen, attempts=(change,)))
    assert found.gangs[0].labels["queue"] == "a"
    assert accepted_writes_not_listed((change,), seen) == (change,)
    moved = replace(seen, gangs=(replace(gang, resource_version="99"), *seen.gangs[1:]))
    assert accepted_writes_not_listed((change,), moved) == ()
    assert with_own_writes(replace(moved, attempts=(change,))).gangs == moved.gangs


def test_pl018_a_deletion_is_there_until_the_object_is_gone_or_going() -> None:
    seen = rested()
    clique, pod = next(seen.pods())
    delete = done(Step(StepStage.CLEANUP, pod.ref, Delete(pod.guard), ()))
    assert all(
        other.deleting is (other.uid == pod.uid)
        for other in with_own_writes(replace(seen, attempts=(delete,))).pods_of[clique.uid]
    )
    assert accepted_writes_not_listed((delete,), seen) == (delete,)
    going = [replace(other, deleting=True) for other in seen.pods_of[clique.uid]]
    for pods in (going, []):
        assert (
            accepted_writes_not_listed(
                (delete,), replace(seen, pods_of=frozen_dict_of_tuples({**seen.pods_of, clique.uid: pods}))
            )
            == ()
        )
    foreign = done(Step(StepStage.CLEANUP, pod.ref, Delete(Guard("another", "1")), ()))
    assert accepted_writes_not_listed((foreign,), seen) == ()


def test_what_was_not_accepted_is_not_remembered() -> None:
    seen = rested()
    _, pod = next(seen.pods())
    step = Step(StepStage.CLEANUP, pod.ref, Delete(pod.guard), ())
    for outcome in (AttemptOutcome.CONFLICT, AttemptOutcome.REFUSED, AttemptOutcome.UNREACHABLE):
        assert accepted_writes_not_listed((Attempt(step, outcome),), seen) == ()
    assert seen.now == NOW


def test_pl012_a_refusal_stands_until_the_same_write_is_answered_otherwise() -> None:
    seen = rested()
    _, pod = next(seen.pods())
    step = Step(StepStage.CLEANUP, pod.ref, Delete(pod.guard), ())
    no, yes = Attempt(step, AttemptOutcome.REFUSED, "no"), Attempt(step, AttemptOutcome.DONE)
    assert standing_refusals_after_round((), (no,)) == standing_refusals_after_round((no,), ()) == (no,)
    assert standing_refusals_after_round((no,), (yes,)) == ()
    assert standing_refusals_after_round((no,), (Attempt(step, AttemptOutcome.REFUSED, "never"),))[0].detail == "never"


def test_pl018_a_pod_made_for_a_clique_that_is_gone_outlives_it() -> None:
    """It holds what it claims until it is collected (MN-051)."""
    seen = rested()
    clique = next(clique for clique in seen.cliques if clique.ref.name == "llm-0-a")
    without = replace(seen, pods_of=frozen_dict_of_tuples({**seen.pods_of, clique.uid: ()}))
    attempts = execute_steps_sequentially(InMemoryCluster((without,)).attempt_step, reconcile(without).steps)
    gone = replace(without, cliques=(), attempts=attempts)
    made = [attempt.step.target for attempt in attempts if attempt.step.target.kind == "Pod"]
    assert made
    assert {pod.ref for pod in with_own_writes(gone).pods_of[clique.uid]} == {*made}


@RARELY
@given(raw_sets(), st.integers(0, 9), st.sampled_from(["edited", "deleted", "neither"]))
def test_pl018_no_write_is_made_twice_while_the_listing_lags(raw: Json, rounds: int, what: str) -> None:
    """From any moment on: what was accepted is not tried again on the state that is listed, whatever kind of write."""
    life = Life(raw, lingering=True)
    for _ in range(rounds):
        life.round()
        life.kubelet()
    if what == "edited":
        life.new_image("engine:2")
    elif what == "deleted":
        life.world.delete_object(life.ref)
    for _ in range(4):
        listed = life.look()
        if listed is None:
            return
        steps = reconcile(listed).steps
        accepted = tuple(map(done, steps))
        again = reconcile(replace(listed, attempts=(*listed.attempts, *accepted)))
        assert not {(step.target, step.action) for step in steps} & {(step.target, step.action) for step in again.steps}
        life.round()


def test_pl018_a_finalizer_that_was_dropped_is_dropped() -> None:
    seen = rested()
    clique = replace(seen.cliques[0], deleting=True, finalizers=(CLIQUE_FINALIZER,))
    lagging = replace(seen, cliques=(clique, *seen.cliques[1:]))
    (drop,) = (step for step in reconcile(lagging).steps if isinstance(step.action, DropFinalizer))
    after = replace(lagging, attempts=(done(drop),))
    assert with_own_writes(after).cliques[0].finalizers == ()
    assert drop.write_key not in {step.write_key for step in reconcile(after).steps}
    assert accepted_writes_not_listed((done(drop),), lagging) == (done(drop),)


def test_pl018_an_autoscaler_that_was_changed_is_changed() -> None:
    scaled = set_raw(clique_raw("a", 1, autoScalingConfig={"minReplicas": 1, "maxReplicas": 3}))
    seen = at_rest(applied(scaled))
    wider = set_raw(clique_raw("a", 1, autoScalingConfig={"minReplicas": 1, "maxReplicas": 5}))
    edited = replace(seen, root=replace(seen.root, spec=podcliqueset_from_json(wider).spec))
    attempts = tuple(map(done, reconcile(edited).steps))
    assert [one for one in attempts if one.step.target.kind == "HorizontalPodAutoscaler"]
    lagging = replace(edited, attempts=attempts)
    (scaler,) = (one for one in with_own_writes(lagging).others if one.ref.kind == "HorizontalPodAutoscaler")
    assert scaler.spec["maxReplicas"] == 5
    assert not {step.target.kind for step in reconcile(lagging).steps} & {"HorizontalPodAutoscaler"}


def test_pl018_a_change_and_a_deletion_of_one_object_both_count() -> None:
    seen = rested()
    gang = seen.gangs[0]
    fields = FrozenMap({"metadata": FrozenMap({"labels": FrozenMap({"queue": "a"})})})
    change, delete = (
        done(Step(StepStage.WORKLOAD, gang.ref, action, ()))
        for action in (Apply(fields, gang.guard), Delete(gang.guard))
    )
    found = with_own_writes(replace(seen, attempts=(change, delete))).gangs[0]
    assert (found.labels["queue"], found.deleting) == ("a", True)
