"""A rule set that spares terminations takes them away from its base, and changes nothing else (LB-007 to LB-009)."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import partial

import pytest
from hypothesis import event, example, given
from hypothesis import strategies as st

from grove_core import RuleSet, Snapshot, SparedReplica, reconcile, rule_set, rule_set_that_spares
from grove_core.areas.gang_termination.verdicts import KEEPS, TERMINATES, WAITS
from grove_core.document.document_reading import plan_document_from_json
from grove_core.document.document_writing import plan_document_as_json
from grove_core.document.plan_document import PlanDocument
from grove_core.in_memory.forecasts import forecasts_of_snapshots
from grove_core.kernel.gang_terminations import GangTermination
from grove_core.kernel.questions import TERMINATION
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Delete, SetStatus, Step, StepStage, gangs_terminated_by
from grove_core.kernel.structs import replace
from grove_core.plan.forecast import one_round_forecast
from grove_core.plan.plan import Plan
from grove_core.plan.plan_laws import broken_laws_in_plan
from grove_core.rule_sets.rules import SparingReason
from grove_core.rule_sets.sparing_rule_sets import Spares
from grove_core.testing import RandomCluster, cluster_of, storms
from grove_core.testing.cluster_builder import START
from tests.property.few_examples import RARELY
from tests.property.gang_termination_field.worlds import field_storm, field_storms
from tests.property.terminating_sets import ENDING

NAME = "careful"
DRAWN = st.tuples(st.just("design"), storms()) | st.tuples(
    st.sampled_from(("field", "field@v0.1.0-alpha.11")), field_storms()
)
"""The name of a rule set, and a cluster of its operator."""
TWO_LEVELS = field_storm(
    b"\x03\x03\x01\x00\x03\xa3.\x02\x00\xa9\x01\x00\x02\x00\x86\x01\x03\x01\x02\x01",
    b"\x01\x00\x00\xff\x01\xb1\x00\x00\x02\x01\xa0\x89\x00\x02\x007\x01\xcf\xff\x00\x01\x00\x022\x00/\x02\x02\xfc/\x02\x00\x01\x89\x00\x02",
)
"""A cluster in which one PodClique is terminated with its replica of the set and with that of its scaling group."""
GROUP_WAITS = replace(
    TWO_LEVELS,
    cliques=tuple(
        replace(
            one, status=replace(one.status, conditions=tuple(replace(was, last_transition_time=START) for was in found))
        )
        if one.ref.name == "llm-1-pool-1-decode" and (found := one.status.conditions)
        else one
        for one in TWO_LEVELS.cliques
    ),
)
"""The same cluster; the delay of the replica of the scaling group has just begun."""
CHOICES = st.frozensets(st.integers(0, 7))
"""Numbers of the replicas that are spared, among all that a snapshot has."""


def replicas_in(snapshot: Snapshot) -> list[Ref]:
    """Every replica of the set and of its groups that has a PodClique, the set's first."""
    root = snapshot.root.ref
    found = {ref for clique in snapshot.cliques for ref in clique.enclosing_replicas(root)}
    return sorted(found, key=lambda ref: (ref.kind != root.kind, ref.sort_key))


def is_left(replica: Ref, snapshot: Snapshot) -> bool:
    """Whether a PodClique of a replica exists and is not being deleted."""
    root = snapshot.root.ref
    return any(replica in one.enclosing_replicas(root) for one in snapshot.cliques if not one.deleting)


def spares_of(chosen: frozenset[int], until: datetime | None = None) -> Spares:
    """Return a function that spares some replicas of each set; until a time, where one is given."""

    def spares(snapshot: Snapshot) -> Iterator[SparedReplica]:
        if until is None or snapshot.now < until:
            for number, ref in enumerate(replicas_in(snapshot)):
                if number in chosen:
                    yield SparedReplica(ref, f"no. {number} is in use", until)

    return spares


def spares_given(given_ones: tuple[SparedReplica, ...], _: Snapshot) -> tuple[SparedReplica, ...]:
    return given_ones


def gangs_by_target(plan: Plan) -> dict[Ref, tuple[GangTermination, ...]]:
    return {step.target: gangs for step in plan.steps if (gangs := gangs_terminated_by(step))}


def terminated(plan: Plan) -> set[Ref]:
    return {one.replica for gangs in gangs_by_target(plan).values() for one in gangs}


def other_steps(plan: Plan) -> tuple[Step, ...]:
    return tuple(step for step in plan.steps if not gangs_terminated_by(step))


class TestLB007:
    """A rule set made of another one and of a function of the snapshot MUST decide as the other one does, without the
    terminations of the spared replicas. It terminates no gang that the other one does not terminate.
    """

    @given(DRAWN)
    def test_without_spared_replicas_the_plan_is_that_of_the_base(self, case: tuple[str, RandomCluster]) -> None:
        base, snapshot = rule_set(case[0]), case[1].snapshot
        careful = rule_set_that_spares(base.name, base, lambda _: ())
        assert reconcile(snapshot, careful) == reconcile(snapshot, base)
        assert careful.replica_fates(snapshot) == base.replica_fates(snapshot)

    @given(DRAWN, CHOICES)
    @example(("field", TWO_LEVELS), frozenset({1}))
    @example(("field", TWO_LEVELS), frozenset({5}))
    @example(("design", cluster_of(ENDING)), frozenset({0}))
    def test_exactly_the_terminations_of_spared_replicas_are_missing(
        self, case: tuple[str, RandomCluster], chosen: frozenset[int]
    ) -> None:
        base, snapshot = rule_set(case[0]), case[1].snapshot
        careful = rule_set_that_spares(NAME, base, spares_of(chosen))
        spared = {
            ref for number, ref in enumerate(replicas_in(snapshot)) if number in chosen and is_left(ref, snapshot)
        }
        before, after = reconcile(snapshot, base), reconcile(snapshot, careful)
        wanted = {
            target: tuple(one for one in gangs if one.replica not in spared)
            for target, gangs in gangs_by_target(before).items()
        }
        assert gangs_by_target(after) == {target: gangs for target, gangs in wanted.items() if gangs}
        assert broken_laws_in_plan(after, snapshot) == ()
        assert after.rules == NAME
        event(f"{min(len(terminated(before)), 3)} gangs, {min(len(terminated(before) & spared), 3)} of them spared")
        if not terminated(before) & spared:
            assert other_steps(after) == other_steps(before)
            assert after.wake_at == before.wake_at

    @given(DRAWN, CHOICES)
    def test_the_fates_alone_agree_with_the_plan(self, case: tuple[str, RandomCluster], chosen: frozenset[int]) -> None:
        base, snapshot = rule_set(case[0]), case[1].snapshot
        careful = rule_set_that_spares(NAME, base, spares_of(chosen))
        spared = {
            ref for number, ref in enumerate(replicas_in(snapshot)) if number in chosen and is_left(ref, snapshot)
        }
        fates, result = careful.replica_fates(snapshot), careful.gang_termination(snapshot)
        ends = fates.replicas_to_terminate
        if result.terminating.replicas or result.terminating.parts:  # the set can be judged
            assert ends.replicas <= result.terminating.replicas
            assert ends.parts == result.terminating.parts
        assert not {snapshot.root.ref.at_replica(index) for index in ends.replicas} & spared
        assert not {(one.name, one.replica) for one in spared} & ends.parts

    @given(DRAWN, CHOICES)
    @example(("field", TWO_LEVELS), frozenset({0}))
    @example(("field", TWO_LEVELS), frozenset({1}))
    def test_no_status_reports_the_termination_of_a_spared_replica(
        self, case: tuple[str, RandomCluster], chosen: frozenset[int]
    ) -> None:
        base, snapshot = rule_set(case[0]), case[1].snapshot
        spared = {
            ref for number, ref in enumerate(replicas_in(snapshot)) if number in chosen and is_left(ref, snapshot)
        }
        replica_of = {group.ref: snapshot.root.ref.at_replica(group.replica_index) for group in snapshot.groups}
        for step in reconcile(snapshot, rule_set_that_spares(NAME, base, spares_of(chosen))).steps:
            if isinstance(step.action, SetStatus) and step.action.report is not None:
                event("a report of a replica that is not spared")
                assert replica_of[step.target] not in spared or replica_of[step.target] not in terminated(
                    reconcile(snapshot, base)
                )

    @RARELY
    @given(DRAWN, CHOICES, st.sampled_from((None, timedelta(minutes=7), timedelta(days=2))))
    def test_a_forecast_ends_and_terminates_nothing_while_it_is_spared(
        self, case: tuple[str, RandomCluster], chosen: frozenset[int], span: timedelta | None
    ) -> None:
        base, snapshot = rule_set(case[0]), case[1].snapshot
        until = None if span is None else snapshot.now + span
        careful = rule_set_that_spares(NAME, base, spares_of(chosen, until))
        (found,) = forecasts_of_snapshots((snapshot,), careful, limit=None, until=snapshot.now + timedelta(days=1))
        assert found.complete
        wanted = {ref for number, ref in enumerate(replicas_in(snapshot)) if number in chosen}
        first = {one.replica for step in found.rounds[0].steps for one in gangs_terminated_by(step)}
        assert not first & wanted

    @pytest.mark.parametrize("leaves", [False, True])
    def test_a_replica_of_a_group_is_terminated_on_its_own_where_that_of_the_set_is_spared(
        self, *, leaves: bool
    ) -> None:
        base, generated = rule_set("field"), TWO_LEVELS
        if leaves:  # the PodClique whose delay ended first is being deleted, and another one of its replica is not
            (cause,) = (one for one in generated.cliques if one.ref.name == "llm-1-pool-1-decode")
            other = replace(cause, ref=replace(cause.ref, name="llm-1-pool-1-prefill"), uid="uid-of-prefill")
            cliques = (*(replace(one, deleting=one is cause) for one in generated.cliques), other)
            generated = replace(generated, cliques=cliques)
        snapshot = generated.snapshot
        before = gangs_by_target(reconcile(snapshot, base))
        ((target, (of_set, of_group)),) = ((one, gangs) for one, gangs in before.items() if len(gangs) > 1)
        careful = rule_set_that_spares(NAME, base, lambda _: [SparedReplica(of_set.replica, "it is in use")])
        plan = reconcile(snapshot, careful)
        after = gangs_by_target(plan)
        assert after == {
            one: gangs if one != target else (of_group,)
            for one, gangs in before.items()
            if of_set.replica not in {gang.replica for gang in gangs} or one == target
        }
        (step,) = (one for one in plan.steps if one.target == target)
        assert isinstance(step.action, Delete)
        basis = of_group.replica.without_replica if leaves else of_group.trigger
        assert [ref for ref, _ in step.action.rests_on] == [basis]
        assert step.stage is (StepStage.CLEANUP if leaves else StepStage.CAUSE)
        assert [one.subject for one in step.because] == [target, of_group.trigger]
        assert broken_laws_in_plan(plan, snapshot) == ()

    @pytest.mark.parametrize(
        ("wrong", "words"),
        [
            ("ml/llm", "yields SparedReplica"),
            (SparedReplica(Ref("v1", "Pod", "ml", "llm-0"), "so"), r"enclosing_replicas.*got Pod/llm-0$"),
            (SparedReplica("llm-0", "so"), "got 'llm-0'"),  # type: ignore[arg-type]  # what a user may write
            (SparedReplica(Ref("", "PodCliqueSet", "ml", "llm", 0), "so\nand so"), "one line of text"),
            (SparedReplica(Ref("", "PodCliqueSet", "ml", "llm", 0), ""), "one line of text"),
            (SparedReplica(Ref("", "PodCliqueSet", "ml", "llm", 0), "so", datetime(2026, 1, 1)), "time zone"),  # noqa: DTZ001 - wrong on purpose
        ],
    )
    def test_what_is_no_spared_replica_raises(self, wrong: SparedReplica, words: str) -> None:
        careful = rule_set_that_spares(NAME, rule_set("design"), lambda _: [wrong])
        with pytest.raises((TypeError, ValueError), match=words):
            reconcile(cluster_of(ENDING).snapshot, careful)

    @pytest.mark.parametrize(("base", "spares"), [("field", list), (rule_set("field"), "worker")])
    def test_a_base_is_a_rule_set(self, base: RuleSet, spares: Spares) -> None:
        with pytest.raises(TypeError, match=r"takes a name, a RuleSet as rule_set\('field'\), and a function"):
            rule_set_that_spares(NAME, base, spares)
        with pytest.raises(TypeError, match="reconcile takes a RuleSet"):
            reconcile(cluster_of(ENDING).snapshot, "field")  # type: ignore[arg-type]  # what a user may write

    def test_an_error_of_the_function_names_the_rule_set(self) -> None:
        broken = rule_set_that_spares(NAME, rule_set("design"), lambda _: [1 // 0])  # type: ignore[list-item]  # never
        with pytest.raises(ZeroDivisionError) as caught:
            reconcile(cluster_of(ENDING).snapshot, broken)
        assert caught.value.__notes__ == ["raised by the function of the rule set 'careful' for PodCliqueSet/llm"]

    @pytest.mark.parametrize("got", [None, 5, SparedReplica(Ref("", "PodCliqueSet", "ml", "llm", 0), "so")])
    @pytest.mark.req("LB-003")
    def test_a_function_that_returns_no_list_is_named_without_a_note(self, got: object) -> None:
        broken = rule_set_that_spares(NAME, rule_set("design"), lambda _: got)  # type: ignore[arg-type, return-value]  # what a user may write
        with pytest.raises(
            TypeError, match=r"^the function of the rule set 'careful' returns a list of Spar"
        ) as caught:
            reconcile(cluster_of(ENDING).snapshot, broken)
        assert str(caught.value).endswith(f"got {'None' if got is None else type(got).__name__}")
        assert not hasattr(caught.value, "__notes__")

    @pytest.mark.parametrize("name", ["", " ", "a\nb"])
    def test_a_name_is_one_line(self, name: str) -> None:
        with pytest.raises(ValueError, match="the name of a rule set is one line of text"):
            rule_set_that_spares(name, rule_set("design"), lambda _: ())


class TestLB008:
    """A replica that is due and spared MUST be kept, with the user's reason before those of its delay. Of a PodClique
    that goes with another replica too, the deletion stays.
    """

    @given(DRAWN, CHOICES)
    @example(("field", TWO_LEVELS), frozenset({1, 5}))
    def test_the_finding_names_the_reason(self, case: tuple[str, RandomCluster], chosen: frozenset[int]) -> None:
        base, snapshot = rule_set(case[0]), case[1].snapshot
        careful = rule_set_that_spares(NAME, base, spares_of(chosen))
        spared = {
            ref: number
            for number, ref in enumerate(replicas_in(snapshot))
            if number in chosen and is_left(ref, snapshot)
        }
        before, after = reconcile(snapshot, base), reconcile(snapshot, careful)
        found = {one.subject: one for one in after.findings if one.question == TERMINATION}
        assert [(one.subject, one.question) for one in after.findings] == [
            (one.subject, one.question) for one in before.findings
        ]
        for was in before.findings:
            if was.question != TERMINATION:
                continue
            one = found[was.subject]
            if was.subject not in spared:
                groups = {ref.without_replica for ref in spared}
                assert one == was or was.subject in groups
            elif was.verdict == TERMINATES:
                event("spared and due")
                assert one.verdict == KEEPS
                assert one.because[1:] == was.because
                assert one.because[0].rule is SparingReason.SPARED_BY_RULE_SET
                assert one.because[0].sentence == f"the rule set {NAME} spares it: no. {spared[was.subject]} is in use"
            elif was.verdict == WAITS:
                event("spared and waiting")
                assert (one.verdict, one.because[:-1], one.deadline) == (WAITS, was.because, was.deadline)
            else:
                assert one == was

    @given(DRAWN, CHOICES)
    def test_a_group_as_a_whole_has_the_verdict_of_its_replicas(
        self, case: tuple[str, RandomCluster], chosen: frozenset[int]
    ) -> None:
        base, snapshot = rule_set(case[0]), case[1].snapshot
        plan = reconcile(snapshot, rule_set_that_spares(NAME, base, spares_of(chosen)))
        verdicts = {one.subject: one.verdict for one in plan.findings if one.question == TERMINATION}
        for group in snapshot.groups:
            parts = {verdict for ref, verdict in verdicts.items() if ref != group.ref == ref.without_replica}
            assert (verdicts.get(group.ref) == TERMINATES) == (TERMINATES in parts)
            assert (verdicts.get(group.ref) == WAITS) == (WAITS in parts and TERMINATES not in parts)

    @given(DRAWN, CHOICES)
    def test_a_saved_plan_is_read_as_it_was(self, case: tuple[str, RandomCluster], chosen: frozenset[int]) -> None:
        base, snapshot = rule_set(case[0]), case[1].snapshot
        plan = reconcile(snapshot, rule_set_that_spares(NAME, base, spares_of(chosen)))
        document = PlanDocument(
            rules=NAME, as_of=snapshot.now, not_collected=(), forecasts=(one_round_forecast(plan, snapshot.now),)
        )
        assert plan_document_from_json(plan_document_as_json(document, decisions=True)) == document

    def test_a_replica_that_is_named_twice_has_the_first_reason(self) -> None:
        snapshot = cluster_of(ENDING).snapshot
        (ref, *_) = terminated(reconcile(snapshot))
        twice = [SparedReplica(ref, "first"), SparedReplica(ref, "second")]
        plan = reconcile(snapshot, rule_set_that_spares(NAME, rule_set("design"), lambda _: twice))
        (finding,) = (one for one in plan.findings if one.question == TERMINATION and one.subject == ref)
        assert finding.because[0].sentence.endswith(": first")


class TestLB009:
    """A plan with a spared replica that is due MUST be made again when a delay ends that it would wait for if the
    replica were not due, or when the time alone ends that the function gave.
    """

    @given(DRAWN, CHOICES, st.sampled_from((timedelta(seconds=1), timedelta(minutes=7), timedelta(days=2))))
    @example(("design", cluster_of(ENDING)), frozenset(range(8)), timedelta(minutes=7))
    @pytest.mark.req("PL-008")
    def test_before_that_time_the_steps_stay(
        self, case: tuple[str, RandomCluster], chosen: frozenset[int], span: timedelta
    ) -> None:
        base, snapshot = rule_set(case[0]), case[1].snapshot
        careful = rule_set_that_spares(NAME, base, spares_of(chosen, snapshot.now + span))
        plan = reconcile(snapshot, careful)
        spared = {
            ref for number, ref in enumerate(replicas_in(snapshot)) if number in chosen and is_left(ref, snapshot)
        }
        if terminated(reconcile(snapshot, base)) & spared:
            event("spared and due")
            assert plan.wake_at is not None
            assert plan.wake_at <= snapshot.now + span
        wake = plan.wake_at or snapshot.now + timedelta(days=400)
        later = replace(snapshot, now=wake - timedelta(microseconds=1))
        if later.now > snapshot.now:
            assert gangs_by_target(reconcile(later, careful)).keys() == gangs_by_target(plan).keys()

    @given(DRAWN, CHOICES, CHOICES)
    @example(("field", TWO_LEVELS), frozenset({0}), frozenset({1}))
    @example(("field", GROUP_WAITS), frozenset[int](), frozenset({1}))
    def test_it_is_the_first_of_all_delays_and_times(
        self, case: tuple[str, RandomCluster], inner: frozenset[int], outer: frozenset[int]
    ) -> None:
        """One rule set that spares is the base of another one."""
        base, snapshot = rule_set(case[0]), case[1].snapshot
        end = snapshot.now + timedelta(days=300)
        first = rule_set_that_spares("first", base, spares_of(inner, end))
        result = rule_set_that_spares(NAME, first, spares_of(outer)).gang_termination(snapshot)
        spared = {ref for number, ref in enumerate(replicas_in(snapshot)) if number in inner and is_left(ref, snapshot)}
        ends = terminated(reconcile(snapshot, base)) & spared
        verdicts = {one.subject: one for one in result.findings if one.question == TERMINATION}
        index_of = {group.ref: group.replica_index for group in snapshot.groups}
        waits = []
        for one in verdicts.values():
            if one.verdict == WAITS and one.deadline is not None and one.subject.replica is not None:
                around = snapshot.root.ref.at_replica(index_of.get(one.subject.without_replica, one.subject.replica))
                if around not in verdicts or verdicts[around].verdict != TERMINATES:
                    waits.append(one.deadline)
        assert result.wake_at == min((*waits, *([end] if ends else ())), default=None)


class TestLB031:
    """A replica that the function of a rule set returns with a time MUST be spared before that time only."""

    @given(DRAWN, CHOICES, st.sampled_from((timedelta(0), timedelta(microseconds=1), timedelta(days=2))))
    @example(("design", cluster_of(ENDING)), frozenset(range(8)), timedelta(0))
    def test_a_time_that_is_over_spares_nothing(
        self, case: tuple[str, RandomCluster], chosen: frozenset[int], since: timedelta
    ) -> None:
        base, snapshot = rule_set(case[0]), case[1].snapshot

        def spares(seen: Snapshot) -> Iterator[SparedReplica]:
            found = enumerate(replicas_in(seen))
            yield from (SparedReplica(ref, "it was", snapshot.now - since) for no, ref in found if no in chosen)

        assert reconcile(snapshot, rule_set_that_spares(base.name, base, spares)) == reconcile(snapshot, base)

    def test_a_replica_is_terminated_at_that_time(self) -> None:
        snapshot = cluster_of(ENDING).snapshot
        end = snapshot.now + timedelta(hours=1)

        def spares(seen: Snapshot) -> Iterator[SparedReplica]:
            yield from (SparedReplica(ref, "the window is open", end) for ref in replicas_in(seen))

        careful = rule_set_that_spares(NAME, rule_set("design"), spares)
        first, last = (reconcile(replace(snapshot, now=at), careful) for at in (end - timedelta(microseconds=1), end))
        assert (terminated(first), first.wake_at) == (set(), end)
        assert terminated(last)

    def test_a_later_reason_stands_where_the_first_is_over(self) -> None:
        snapshot = cluster_of(ENDING).snapshot
        (ref, *_) = terminated(reconcile(snapshot))
        twice = [SparedReplica(ref, "first", snapshot.now), SparedReplica(ref, "second")]
        plan = reconcile(snapshot, rule_set_that_spares(NAME, rule_set("design"), lambda _: twice))
        (finding,) = (one for one in plan.findings if one.question == TERMINATION and one.subject == ref)
        assert finding.because[0].sentence.endswith(": second")


class TestLB032:
    """If a function of a rule set returns a replica of the set or of one of its scaling groups that has no PodClique
    and that their specs do not have, making the plan MUST fail with an error that names it.
    """

    @given(DRAWN, st.sampled_from((-2, 7, 1000)))
    def test_an_index_that_nothing_has_is_an_error(self, case: tuple[str, RandomCluster], index: int) -> None:
        snapshot = case[1].snapshot
        for owner in (snapshot.root, *snapshot.groups):
            wrong = (SparedReplica(owner.ref.at_replica(index), "so"),)
            careful = rule_set_that_spares(NAME, rule_set(case[0]), partial(spares_given, wrong))
            with pytest.raises(ValueError, match=f"^there is no replica {index} of {owner.ref.short} to spare: its"):
                reconcile(snapshot, careful)

    @given(DRAWN)
    def test_a_replica_that_exists_or_is_wanted_is_none_and_that_of_another_set_has_no_effect(
        self, case: tuple[str, RandomCluster]
    ) -> None:
        base, snapshot = rule_set(case[0]), case[1].snapshot
        root = snapshot.root

        def spares(seen: Snapshot) -> Iterator[SparedReplica]:
            refs = [*replicas_in(seen), *(root.ref.at_replica(index) for index in range(root.spec.replicas))]
            refs += [one.ref.at_replica(index) for one in seen.groups for index in range(one.replicas)]
            yield from (SparedReplica(ref, "so") for ref in refs)

        reconcile(snapshot, rule_set_that_spares(NAME, base, spares))
        other = [SparedReplica(replace(root.ref, name="another").at_replica(1000), "so")]
        assert reconcile(snapshot, rule_set_that_spares(base.name, base, lambda _: other)) == reconcile(snapshot, base)
