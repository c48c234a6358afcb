"""Laws of the Go operator's rules on generated clusters, for each generation."""

from datetime import timedelta
from typing import Any, Final

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from grove_core.areas.gang_termination.field.clique_judgement import judge_clique_from_pods
from grove_core.areas.gang_termination.field.go_operator_findings import go_operator_manifest_warnings
from grove_core.areas.gang_termination.field.go_operator_rule_generations import RELEASES, GoOperatorRuleGeneration
from grove_core.areas.gang_termination.field.judge import judge_gang_termination_by_go_operator
from grove_core.in_memory.in_memory_cluster import InMemoryCluster
from grove_core.kernel.conditions import Condition, ConditionStatus
from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.questions import RISK
from grove_core.kernel.steps import SetStatus
from grove_core.kernel.structs import replace
from grove_core.plan.plan import Plan
from grove_core.plan.plan_laws import broken_laws_in_plan
from grove_core.plan.step_batches import execute_steps_sequentially
from grove_core.reconcile import reconcile
from grove_core.resources.api_names import CLIQUE_SCHEDULED, MIN_AVAILABLE_BREACHED, TERMINATION_IN_PROGRESS
from grove_core.resources.pod import pod_from_json
from grove_core.resources.podclique import podclique_from_json
from grove_core.resources.podcliqueset import podcliqueset_from_json
from grove_core.rule_sets.go_operator import NEWEST
from grove_core.rule_sets.rule_set import RuleSet
from grove_core.rule_sets.rule_set_by_name import rule_set, rule_sets
from grove_core.testing import RandomCluster
from grove_core.testing.cluster_builder import START
from tests.property.gang_termination_field.oracle import BREACHED, SCHEDULED, verdict_of
from tests.property.gang_termination_field.terminating_sets import ends, rules_of
from tests.property.gang_termination_field.worlds import field_clusters
from tests.property.strategies.worlds import is_termination
from tests.property.workload.life import Life
from tests.property.workload.sets import applied, clique_raw, set_raw

GENERATIONS: Final = tuple(GoOperatorRuleGeneration)
POOL_OF_THREE: Final = {"name": "pool", "cliqueNames": ["a"], "replicas": 3, "minAvailable": 1}
SPANS: Final = st.timedeltas(min_value=timedelta(), max_value=timedelta(days=2))


def ended(plan: Plan) -> set[str]:
    return {step.target.name for step in plan.steps if is_termination(step)}


@pytest.mark.parametrize("generation", GENERATIONS, ids=lambda one: one.name)
class TestOracle:
    """The core agrees with a slow, literal transcription of the rules."""

    @given(field_clusters())
    @pytest.mark.req("GF-012")
    @pytest.mark.req("GF-021")
    @pytest.mark.req("GF-022")
    @pytest.mark.req("GF-023")
    @pytest.mark.req("GF-024")
    @pytest.mark.req("GF-025")
    @pytest.mark.req("GF-026")
    @pytest.mark.req("GF-027")
    @pytest.mark.req("GT-019")
    @pytest.mark.req("GF-029")
    @pytest.mark.req("GF-031")
    @pytest.mark.req("GF-033")
    @pytest.mark.req("GF-034")
    @pytest.mark.req("GF-035")
    @pytest.mark.req("GF-080")
    @pytest.mark.req("GF-065")
    @pytest.mark.req("GF-104")
    @pytest.mark.req("GF-105")
    @pytest.mark.req("GF-107")
    @pytest.mark.req("GF-108")
    def test_conditions_and_their_times(self, generation: GoOperatorRuleGeneration, generated: RandomCluster) -> None:
        judgement, expected = (
            judge_gang_termination_by_go_operator(generated.snapshot, generation),
            verdict_of(generated, generation.name),
        )
        for clique in judgement.cliques:
            theirs = expected.conditions[clique.clique.ref.name]
            for type_, ours in ((BREACHED, clique.breach), (SCHEDULED, clique.placed)):
                found = theirs.get(type_)
                assert (ours and (ours.status.value, ours.last_transition_time)) == (
                    found and (found.status, found.since)
                )
            if clique.clique.ref.name in expected.reasons:
                assert clique.breach is not None
                assert (
                    clique.breach.reason == clique.breach_reason.rule.code == expected.reasons[clique.clique.ref.name]
                )
        for group in judgement.groups:
            held = expected.conditions[group.group.ref.name].get(BREACHED)
            assert (group.breach and (group.breach.status.value, group.breach.last_transition_time)) == (
                held and (held.status, held.since)
            )
            if group.group.ref.name in expected.reasons:
                assert group.breach_reason.rule.code == expected.reasons[group.group.ref.name]

    @given(field_clusters())
    @pytest.mark.req("GF-001")
    @pytest.mark.req("GF-040")
    @pytest.mark.req("GF-041")
    @pytest.mark.req("GF-044")
    @pytest.mark.req("GF-050")
    @pytest.mark.req("GF-051")
    @pytest.mark.req("GF-060")
    @pytest.mark.req("GF-061")
    @pytest.mark.req("GF-062")
    @pytest.mark.req("GF-063")
    @pytest.mark.req("GF-065")
    @pytest.mark.req("GF-070")
    @pytest.mark.req("GF-072")
    @pytest.mark.req("GF-092")
    @pytest.mark.req("GF-076")
    @pytest.mark.req("GF-085")
    @pytest.mark.req("GF-101")
    def test_deletions_flags_and_the_next_round(
        self, generation: GoOperatorRuleGeneration, generated: RandomCluster
    ) -> None:
        plan, expected = reconcile(generated.snapshot, rules_of(generation)), verdict_of(generated, generation.name)
        event(f"deletes {min(len(expected.deletes), 5)}")
        assert ended(plan) == expected.deletes
        moments = [moment for moment in expected.wakes if moment > generated.now]
        assert plan.wake_at == min(moments, default=None)
        flags = {step.target.name for step in plan.steps if flags_with(step.action)}
        held = {
            group.ref.name
            for group in generated.groups
            if any((one.type, one.status.value) == (TERMINATION_IN_PROGRESS, "True") for one in group.status.conditions)
        }
        assert flags == (expected.flagged - held if generation.requires_breach_history else set())

    @given(field_clusters())
    @pytest.mark.req("GF-073")
    def test_plans_keep_the_laws_of_plans_and_delete_cliques_alone(
        self, generation: GoOperatorRuleGeneration, generated: RandomCluster
    ) -> None:
        plan = reconcile(generated.snapshot, rules_of(generation))
        assert broken_laws_in_plan(plan, generated.snapshot) == ()
        assert plan == reconcile(generated.snapshot, rules_of(generation))
        assert plan.rules.startswith("field@")
        assert {step.target.kind for step in plan.steps if is_termination(step)} <= {"PodClique"}

    @given(field_clusters())
    @pytest.mark.req("GT-002")
    @pytest.mark.req("GF-092")
    @pytest.mark.req("GF-037")
    def test_a_second_round_writes_no_status(
        self, generation: GoOperatorRuleGeneration, generated: RandomCluster
    ) -> None:
        """A status that was written is not changed again while pods and time stay the same."""
        snapshot = generated.snapshot
        rules = rules_of(generation)
        statuses = [step for step in reconcile(snapshot, rules).steps if isinstance(step.action, SetStatus)]
        memory = InMemoryCluster((snapshot,))
        attempts = execute_steps_sequentially(memory.attempt_step, statuses)
        seen = memory.snapshot_of_set(snapshot.root.ref, snapshot.now, attempts)
        assert seen is not None
        again = rules.gang_termination(seen)
        written = {step.target for step in statuses}
        wanted = {want.target for want in again.statuses.wants if type(want).__name__ == "Status"}
        late = {clique.ref for clique in snapshot.cliques if clique.status.observed is None}
        groups = {group.ref for group in snapshot.groups} | {snapshot.root.ref}
        assert not (wanted & written) - late - groups

    @given(field_clusters(), SPANS)
    @pytest.mark.req("GF-050")
    def test_a_due_replica_stays_due(
        self, generation: GoOperatorRuleGeneration, generated: RandomCluster, passed: timedelta
    ) -> None:
        """A replica that is due by stored conditions that still hold stays due as time passes."""
        now, later = generated, generated.at(generated.now + passed)
        due = {
            replica.number
            for replica in judge_gang_termination_by_go_operator(now.snapshot, generation).replicas
            if ends(replica.fate)
        }
        then = {
            replica.number
            for replica in judge_gang_termination_by_go_operator(later.snapshot, generation).replicas
            if ends(replica.fate)
        }
        assert due <= then


def flags_with(action: object) -> bool:
    if not isinstance(action, SetStatus):
        return False
    conditions = action.fields.get("conditions", ())
    assert isinstance(conditions, tuple)
    return any(isinstance(one, FrozenMap) and one["type"] == TERMINATION_IN_PROGRESS for one in conditions)


class TestSettings:
    """The delay of a set."""

    @given(field_clusters())
    def test_gf001_delays_of_groups_and_records_of_availability_change_nothing(self, generated: RandomCluster) -> None:
        template = generated.root.spec.template
        bare = [group.model_copy(update={"termination_delay": None}) for group in template.pod_clique_scaling_groups]
        spec = generated.root.spec.model_copy(
            update={"template": template.model_copy(update={"pod_clique_scaling_groups": tuple(bare)})}
        )
        without = replace(
            generated,
            root=replace(generated.root, spec=spec),
            cliques=tuple(replace(one, status=replace(one.status, was_available=True)) for one in generated.cliques),
        )
        assert ended(reconcile(without.snapshot, NEWEST)) == ended(reconcile(generated.snapshot, NEWEST))

    @given(field_clusters())
    def test_gf002_without_a_delay_nothing_is_terminated(self, generated: RandomCluster) -> None:
        spec = generated.root.spec
        off = spec.model_copy(update={"template": spec.template.model_copy(update={"termination_delay": None})})
        snapshot = replace(generated, root=replace(generated.root, spec=off)).snapshot
        plan = reconcile(snapshot, NEWEST)
        assert not ended(plan)
        assert {finding.because[0].rule.code for finding in plan.findings if finding.question == "termination"} == {
            "DelayMissing"
        }

    @pytest.mark.parametrize("rules", list(rule_sets().values()), ids=lambda rules: rules.name)
    def test_gf100_every_name_leads_to_its_rules(self, rules: RuleSet) -> None:
        assert rule_set(rules.name) is rules
        assert rule_set("field") is rule_set("field@v0.1.0-alpha.12-rc1")

    def test_gf100_every_release_has_its_generation(self) -> None:
        assert [found.name for found in RELEASES.values()] == [*["F2"] * 3, "F3"]
        assert next(iter(RELEASES)) == "v0.1.0-alpha.9"

    def test_gf001_a_new_set_waits_four_hours(self) -> None:
        assert rule_set("field").default_delay == timedelta(hours=4)
        assert rule_set("design").default_delay is None


class TestPods:
    """The class of a pod, from its status."""

    @pytest.mark.parametrize(
        ("ready", "init", "main", "expected"),
        [
            ("True", {}, {"lastState": {"terminated": {"exitCode": 137}}}, (False, False)),
            ("False", {}, {"lastState": {"terminated": {"exitCode": 137}}}, (True, False)),
            ("False", {"lastState": {"terminated": {"exitCode": 1}}}, {"started": True, "ready": False}, (True, False)),
            ("False", {}, {"lastState": {"terminated": {"exitCode": 0}}}, (False, False)),
            ("False", {}, {"state": {"terminated": {"exitCode": 1}}}, (False, False)),
            ("False", {}, {"started": True, "ready": False}, (False, True)),
            ("False", {"started": True, "ready": False}, {}, (False, False)),
            ("False", {}, {"started": False, "ready": False}, (False, False)),
            ("False", {}, {"ready": False}, (False, False)),
            ("False", {}, {"started": True, "ready": True}, (False, False)),
        ],
    )
    def test_gf012_classes(
        self, ready: str, init: dict[str, object], main: dict[str, object], expected: tuple[bool, bool]
    ) -> None:
        raw = {
            "metadata": {"name": "p", "namespace": "ml", "uid": "u"},
            "status": {
                "conditions": [{"type": "Ready", "status": ready}],
                "initContainerStatuses": [{"name": "wait", **init}] if init else [],
                "containerStatuses": [{"name": "main", **main}],
            },
        }
        pod = pod_from_json(raw, {})
        assert (pod.crashed, pod.unready) == expected


class TestAdvice:
    """Warnings about manifests."""

    @pytest.mark.parametrize(
        ("delay", "name", "warned"),
        [
            ("9m59s", "field", True),
            ("10m", "field", False),
            (None, "field", False),
        ],
    )
    def test_gf120_a_delay_shorter_than_a_reboot(self, delay: str, name: str, warned: bool) -> None:
        raw = set_raw(clique_raw("a", 2))
        if delay:
            raw["spec"]["template"]["terminationDelay"] = delay
        root, default = podcliqueset_from_json(raw), rule_set(name).default_delay
        assert default is not None
        found = go_operator_manifest_warnings(root.ref, root.spec, default)
        assert [caution.path for caution in found] == ["spec.template.terminationDelay"] * warned
        assert all(caution.reason.rule.requirement == "GF-120" for caution in found)
        assert [caution.got for caution in found] == [f'"{delay}"'] * warned
        running = reconcile(applied(raw), rule_set(name)).findings
        assert [one.verdict for one in running if one.question == RISK] == ["Warn"] * warned

    @pytest.mark.parametrize(
        ("schedulers", "constraint", "warned"),
        [
            (("", ""), {"packDomain": "rack"}, True),
            (("default-scheduler", ""), {"pack": {"required": "rack"}}, True),
            (("kai-scheduler", ""), {"packDomain": "rack"}, False),
            (("", ""), None, False),
        ],
    )
    @pytest.mark.parametrize("delay", ["1m", "4h", None])
    def test_gf123_a_constraint_that_is_not_enforced(
        self, schedulers: tuple[str, str], constraint: dict[str, Any] | None, warned: bool, delay: str | None
    ) -> None:
        cliques = [
            clique_raw(name, pod_spec={"containers": [{"name": "main"}], **({"schedulerName": said} if said else {})})
            for name, said in zip("ab", schedulers, strict=True)
        ]
        raw = set_raw(*cliques)
        raw["spec"]["template"] |= {"topologyConstraint": constraint, "terminationDelay": delay}
        findings = reconcile(applied(raw), rule_set("field")).findings
        reported = [why.rule.requirement for one in findings for why in one.because if one.question == RISK]
        assert reported == ["GF-120"] * (delay == "1m") + ["GF-123"] * warned


NAMED: Final = {"name": "ml-0-a", "uid": "u", "labels": {"grove.io/podcliqueset-replica-index": "0"}}


@pytest.mark.parametrize("generation", GoOperatorRuleGeneration)
def test_gf080_the_older_name_of_progress_counts_for_nothing(generation: GoOperatorRuleGeneration) -> None:
    raw = {"status": {"rollingUpdateProgress": {"updateStartedAt": "2026-11-20T08:00:00Z"}, "observedGeneration": 1}}
    clique = podclique_from_json({"metadata": NAMED, **raw})
    both = {**raw["status"], "updateProgress": {"updateStartedAt": "2026-11-20T08:00:00Z"}}
    newer = podclique_from_json({"metadata": NAMED, "status": both})
    assert (clique.status.old_spelling, newer.status.old_spelling) == (True, False)
    breaches = [judge_clique_from_pods(one, (), START, generation).why.code for one in (clique, newer)]
    assert [code == "UpdateInProgress" for code in breaches] == [False, True]


@pytest.mark.parametrize("generation", GENERATIONS, ids=lambda one: one.name)
@given(generated=field_clusters())
@pytest.mark.req("GF-023")
def test_gf022_what_is_said_of_placement_fits_the_verdict(
    generation: GoOperatorRuleGeneration, generated: RandomCluster
) -> None:
    """The finding on a clique that was not observed has its stored verdict, and says that it is stored."""
    cliques = {clique.ref: clique for clique in generated.cliques}
    words = {"True": "GF-022", "False": "GF-023"}
    for finding in reconcile(generated.snapshot, rules_of(generation)).findings:
        if finding.question == "scheduled":
            clique = cliques[finding.subject]
            stored = "GF-029" if clique.deleting else "GF-021" if clique.status.observed is None else ""
            assert [one.rule.requirement for one in finding.because] == [stored or words[finding.verdict]]


@given(generated=field_clusters())
def test_gf061_nothing_is_left_where_more_is_breached_than_there_is(generated: RandomCluster) -> None:
    for generation in GENERATIONS:
        for finding in reconcile(generated.snapshot, rules_of(generation)).findings:
            assert all(int(dict(one.facts).get("left", 0)) >= 0 for one in finding.because)


def test_gf061_surplus_members_do_not_make_less_than_nothing() -> None:
    """Three members of a group with one replica are breached."""
    life = Life(set_raw(clique_raw("a"), groups=(POOL_OF_THREE,), terminationDelay="1h"))
    life.settle()
    seen = life.look()
    assert seen is not None
    since = seen.now - timedelta(minutes=30)
    conditions = (
        Condition(MIN_AVAILABLE_BREACHED, ConditionStatus.TRUE, "InsufficientReadyPods", "", since),
        Condition(CLIQUE_SCHEDULED, ConditionStatus.TRUE, "SufficientScheduledPods", "", since),
    )
    going = tuple(
        replace(one, deleting=True, status=replace(one.status, conditions=conditions)) for one in seen.cliques
    )
    (group,) = seen.groups
    plan = reconcile(replace(seen, cliques=going, groups=(replace(group, replicas=1),)), NEWEST)
    (because,) = (one.because for one in plan.findings if (one.subject, one.question) == (group.ref, "termination"))
    assert [one.sentence for one in because] == [
        "0 of 1 replicas not breached, 1 needed: the group can spare none, the set decides"
    ]


@pytest.mark.parametrize("deleting", [True, False])
@pytest.mark.parametrize("flagged", [True, False])
def test_gf051_a_group_that_is_leaving_is_asked_for_its_history_too(*, deleting: bool, flagged: bool) -> None:
    life = Life(set_raw(clique_raw("a"), clique_raw("b"), groups=(POOL_OF_THREE,), terminationDelay="1h"))
    life.settle()
    seen = life.look()
    assert seen is not None
    since = seen.now + timedelta(minutes=30)
    breach = Condition(MIN_AVAILABLE_BREACHED, ConditionStatus.TRUE, "InsufficientReadyPods", "", since)
    flag = Condition(TERMINATION_IN_PROGRESS, ConditionStatus.TRUE, "GangTerminationActive", "", since)
    (group,) = seen.groups
    status = replace(group.status, conditions=(breach, flag) if flagged else (breach,))
    group = replace(group, deleting=deleting, status=status)
    judgement = judge_gang_termination_by_go_operator(
        replace(seen, groups=(group,), now=since), GoOperatorRuleGeneration.F3, looks=False
    )
    (replica,) = judgement.replicas
    assert [one.ref for one in replica.breaches] == ([] if flagged else [group.ref])
