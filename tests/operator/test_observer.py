"""``--observe``: differences from another operator are logged (OP-035)."""

from collections import Counter
from datetime import timedelta
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core.kernel.frozen import frozen_dict_of_tuples
from grove_core.kernel.steps import Delete, SetStatus, Step
from grove_core.kernel.structs import replace
from grove_core.reconcile import reconcile
from grove_core.resources.podclique import PodClique
from grove_core.resources.status_comparison import object_after_status_write
from grove_core.rule_sets.rule_set import DESIGN
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.apply.planned_round import PlannedReconcileRound
from grove_shell.operator.prediction_check import DeletionPredictionChecker, PredictionOutcome
from tests.property.few_examples import RARELY
from tests.property.workload.life import Life
from tests.property.workload.sets import clique_raw, set_raw

Line = tuple[str, dict[str, Any]]


def look(seen: Snapshot) -> PlannedReconcileRound:
    return PlannedReconcileRound(
        root_key=("ml", "llm"), plan_name="a plan", observation=seen, plan=reconcile(seen), planning_seconds=0.0
    )


def watched(*seen: Snapshot) -> list[Line]:
    """What is said of some snapshots, one after the other."""
    said: list[Line] = []
    shadow = DeletionPredictionChecker(lambda _level, message, **fields: said.append((message, fields)), DESIGN)
    for each in seen:
        shadow.on_round_planned(look(each))
    return said


def at_rest() -> Snapshot:
    life = Life(set_raw(clique_raw("a", 2), clique_raw("b", 1), terminationDelay="1m"))
    life.settle()
    seen = life.look()
    assert seen is not None
    return seen


def test_op035_a_clique_that_the_plan_keeps_and_the_cluster_ends() -> None:
    seen = at_rest()
    gone = replace(seen, cliques=tuple(clique for clique in seen.cliques if clique.ref.name != "llm-0-b"))
    ((message, fields),) = watched(seen, gone, gone)
    assert message == "the cluster deleted what the plan keeps"
    assert (fields["target"], fields["plan"]) == ("PodClique/llm-0-b", "a plan")
    assert [reason["rule"] for reason in fields["because"]] == ["SufficientReadyPods"]
    deleting = replace(seen, root=replace(seen.root, deleting=True))
    assert watched(deleting, gone) == []


def test_op035_a_clique_that_the_plan_ends_and_the_cluster_keeps() -> None:
    seen = at_rest()
    fewer = replace(seen, root=replace(seen.root, spec=seen.root.spec.model_copy(update={"replicas": 0})))
    assert watched(fewer, replace(fewer, now=fewer.now + timedelta(seconds=59))) == []
    after = later(fewer, 60)
    said = watched(fewer, after, after)
    assert [(message, fields["target"]) for message, fields in said] == [
        ("the cluster keeps what the plan deletes", "PodClique/llm-0-a"),
        ("the cluster keeps what the plan deletes", "PodClique/llm-0-b"),
    ]
    gone = replace(fewer, cliques=())
    assert watched(fewer, gone) == []


def scored(*seen: Snapshot) -> dict[str, int]:
    """What became of predictions over some snapshots, and what a report says of it."""
    said: list[Line] = []
    counted: list[PredictionOutcome] = []
    shadow = DeletionPredictionChecker(
        lambda _level, message, **fields: said.append((message, fields)), DESIGN, counted.append
    )
    for each in seen:
        shadow.on_round_planned(look(each))
    shadow.log_outcome_totals()
    assert said[-1] == ("score", {score.value: shadow.totals[score] for score in PredictionOutcome})
    assert Counter(counted) == shadow.totals
    return {score.value: count for score, count in shadow.totals.items() if count}


def unready(seen: Snapshot, name: str) -> Snapshot:
    """The same with a clique whose pods are not ready any more, which no status reports yet."""
    uid = next(clique.uid for clique in seen.cliques if clique.ref.name == name)
    lost = [replace(pod, ready=False) for pod in seen.pods_of[uid]]
    return replace(seen, pods_of=frozen_dict_of_tuples({**seen.pods_of, uid: lost}))


def losing(seen: Snapshot, name: str) -> Snapshot:
    """The same with a clique whose pods are not ready any more, since now."""
    broken = unready(seen, name)
    statuses = {step.target: step.action.fields for step in reconcile(broken).steps if type(step.action) is SetStatus}
    cliques = tuple(
        object_after_status_write(clique, statuses[clique.ref]) if clique.ref in statuses else clique
        for clique in broken.cliques
    )
    return replace(broken, cliques=cliques)


def later(seen: Snapshot, seconds: float, *gone: str) -> Snapshot:
    """The same some time after, without some cliques."""
    left = tuple(clique for clique in seen.cliques if clique.ref.name not in gone)
    return replace(seen, now=seen.now + timedelta(seconds=seconds), cliques=left)


EVERYTHING: Final = ("llm-0-a", "llm-0-b")


class TestScore:
    """OP-035: how often a prediction came true."""

    def test_op035_as_predicted(self) -> None:
        broken = losing(at_rest(), "llm-0-b")
        assert scored(broken, later(broken, 30), later(broken, 60.4, *EVERYTHING)) == {"predicted": 2, "asPredicted": 2}

    def test_op035_predicted_in_the_first_round_with_a_breach(self) -> None:
        seen = at_rest()
        gone = later(losing(seen, "llm-0-b"), 61, *EVERYTHING)
        assert scored(unready(seen, "llm-0-b")) == {"predicted": 2}
        assert scored(unready(seen, "llm-0-b"), gone) == {"predicted": 2, "asPredicted": 2}

    def test_op035_as_predicted_between_two_rounds(self) -> None:
        seen = at_rest()
        broken = losing(seen, "llm-0-b")
        assert scored(broken, later(broken, 90, *EVERYTHING)) == {"predicted": 2, "asPredicted": 2}

    def test_op035_taken_back(self) -> None:
        seen = at_rest()
        broken = losing(seen, "llm-0-b")
        assert scored(broken, later(seen, 30), later(seen, 90)) == {"predicted": 2, "takenBack": 2}

    def test_op035_taken_back_as_it_went_with_its_set(self) -> None:
        """Every prediction comes to an end: nothing is due for ever of what is there no more."""
        broken = losing(at_rest(), "llm-0-b")
        going = replace(later(broken, 30), root=replace(broken.root, deleting=True))
        assert scored(broken, going, replace(going, cliques=())) == {"predicted": 2, "takenBack": 2}
        fewer = replace(broken, root=replace(broken.root, spec=broken.root.spec.model_copy(update={"replicas": 0})))
        assert scored(broken, later(fewer, 5, *EVERYTHING)) == {"predicted": 2, "takenBack": 2}

    @pytest.mark.parametrize(("after", "left"), [(30, {"takenBack": 2}), (130, {"otherwise": 2})])
    def test_op035_of_a_set_that_is_gone_nothing_is_due(self, after: float, left: dict[str, int]) -> None:
        broken = losing(at_rest(), "llm-0-b")
        shadow = DeletionPredictionChecker(lambda _level, _message, **_fields: None, DESIGN)
        for seconds in (0, 61, 61 + after):
            shadow.on_round_planned(look(later(broken, seconds)))
        shadow.on_root_deleted(look(broken).root_key)
        assert {score.value: count for score, count in shadow.totals.items() if count} == {"predicted": 2, **left}

    def test_op035_otherwise(self) -> None:
        broken = losing(at_rest(), "llm-0-b")
        due, long_after = later(broken, 61), later(broken, 122)
        assert scored(broken, due, long_after, later(broken, 200)) == {"predicted": 2, "otherwise": 2}

    def test_op035_not_predicted(self) -> None:
        seen = at_rest()
        assert scored(seen, later(seen, 5, "llm-0-b")) == {"notPredicted": 1}
        broken = losing(seen, "llm-0-b")
        assert scored(broken, later(broken, 20, *EVERYTHING)) == {"predicted": 2, "takenBack": 2, "notPredicted": 2}

    @pytest.mark.parametrize(("seconds", "reported"), [(0.4, {"asPredicted": 2}), (5.0, {"notPredicted": 2})])
    def test_op035_a_clique_that_recovers_in_the_last_moment(self, seconds: float, reported: dict[str, int]) -> None:
        """The other one has not seen it yet; some seconds later it has, and ends what the plan keeps."""
        seen = at_rest()
        broken = losing(seen, "llm-0-b")
        looks = (broken, later(broken, 61), later(seen, 61.1), later(seen, 61 + seconds, *EVERYTHING))
        predicted = 2 + reported.get("asPredicted", 0)
        assert scored(*looks) == {"predicted": predicted, "takenBack": 2, **reported}

    @pytest.mark.parametrize("looks", [2, 8, 9, 40])
    def test_op035_a_clique_that_recovers_in_the_last_moment_however_often_it_is_looked_at(self, looks: int) -> None:
        seen = at_rest()
        broken = losing(seen, "llm-0-b")
        often = (later(seen, 61.02 + 0.5 * number / looks) for number in range(looks))
        reported = scored(broken, later(broken, 61), *often, later(seen, 61.6, *EVERYTHING))
        assert reported == {"predicted": 4, "takenBack": 2, "asPredicted": 2}

    def test_op035_an_update_that_hangs_keeps_no_prediction_open(self) -> None:
        """Of a clique that was to be replaced, and is still there a minute later, an end was predicted as well."""
        pool = {"name": "pool", "cliqueNames": ["b"], "replicas": 2, "minAvailable": 1}
        life = Life(set_raw(clique_raw("a", 1), clique_raw("b", 1), terminationDelay="10m", groups=(pool,)))
        life.settle()
        life.new_image("v2", "b")
        while (seen := life.look()) and not any(isinstance(one.action, Delete) for one in reconcile(seen).steps):
            life.round()
        assert seen is not None
        broken = losing(replace(seen, attempts=()), "llm-0-a")
        clique_names = [one.ref.name for one in seen.cliques]
        looks = (broken, *(later(broken, seconds) for seconds in (30, 70, 300)), later(broken, 601, *clique_names))
        assert scored(*looks) == {"predicted": 3, "asPredicted": 3}

    def test_op035_scaled_in_is_no_end(self) -> None:
        seen = at_rest()
        fewer = replace(seen, root=replace(seen.root, spec=seen.root.spec.model_copy(update={"replicas": 0})))
        assert scored(seen, later(fewer, 5, *EVERYTHING)) == {}


@RARELY
@given(st.lists(st.sampled_from(["round", "kubelet", "both"]), max_size=40), st.integers(2, 3), st.booleans())
def test_op035_an_update_is_no_end(course: list[str], replicas: int, in_group: bool) -> None:
    """An observer often sees pods come up together with the other operator's reaction."""
    pool = {"name": "pool", "cliqueNames": ["a", "b"], "replicas": replicas, "minAvailable": 1}
    groups = (pool,) if in_group else ()
    life = Life(set_raw(clique_raw("a", 2), clique_raw("b", 1), groups=groups, replicas=2, terminationDelay="1m"))
    life.settle()
    shadow = DeletionPredictionChecker(lambda _level, _message, **_fields: None, DESIGN)
    life.new_image("another")
    deleted = life.deleted.total()
    quiet = 0
    for what in [*course, *(["both"] * 40)]:
        started = life.kubelet() if what != "round" else 0
        plan = life.round() if what != "kubelet" else None
        seen = life.look()
        assert seen is not None
        shadow.on_round_planned(look(replace(seen, attempts=())))
        quiet = quiet + 1 if what == "both" and not started and plan is not None and not plan.steps else 0
        if quiet == 3:
            break
    assert life.deleted.total() > deleted
    assert shadow.totals[PredictionOutcome.NOT_PREDICTED] == 0


def test_op035_an_update_that_ended_before_the_next_one_began_is_no_end() -> None:
    """Between two rounds its last replica is replaced, and a user edits the set once more."""
    pool = {"name": "pool", "cliqueNames": ["a"], "replicas": 2, "minAvailable": 1}
    life = Life(set_raw(clique_raw("a", 1), groups=(pool,), terminationDelay="1m"))
    life.settle()
    last = life.clique("llm-0-pool-1-a").uid
    shadow = DeletionPredictionChecker(lambda _level, _message, **_fields: None, DESIGN)

    def sees() -> None:
        seen = life.look()
        assert seen is not None
        shadow.on_round_planned(look(replace(seen, attempts=())))

    life.new_image("another")
    for _ in range(20):
        if life.deleted["PodClique"] < 2:  # from the last one's end on it does not read
            sees()
        life.round()
        life.kubelet()
        there = {item.uid for item in life.world.items.values() if isinstance(item, PodClique)}
        if last not in there and len(there) == 2:
            break
    assert last not in there
    life.new_image("a third")
    sees()
    assert shadow.totals == {}


def test_op035_what_the_last_plan_deleted_was_not_kept() -> None:
    """A long time without a round, at the end of which the update is over that replaced it."""
    pool = {"name": "pool", "cliqueNames": ["a"], "replicas": 2, "minAvailable": 1}
    life = Life(set_raw(clique_raw("a", 1), groups=(pool,), terminationDelay="1m"))
    life.settle()
    last = life.clique("llm-0-pool-1-a")
    life.new_image("another")
    while (seen := life.look()) and not any(step.target == last.ref for step in _deletions(seen)):
        life.round()
        life.kubelet()
    assert seen is not None
    replaced = replace(seen, attempts=())
    life.settle()
    seen = life.look()
    assert seen is not None
    assert scored(replaced, replace(seen, attempts=(), now=replaced.now + timedelta(seconds=5))) == {}


def _deletions(seen: Snapshot) -> list[Step]:
    return [step for step in reconcile(seen).steps if isinstance(step.action, Delete)]
