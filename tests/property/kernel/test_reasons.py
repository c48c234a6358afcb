"""A reason is a rule, a subject and exactly the facts that its sentence needs."""

import copy
import re
from collections import Counter
from enum import unique
from functools import partial
from typing import Final

import pytest

from grove_core.areas.domain_cliques import rules as domain_cliques
from grove_core.areas.gang_termination import rules as termination
from grove_core.areas.gang_termination.field import rules as field
from grove_core.areas.gang_termination.rules import TerminationReason
from grove_core.areas.mnnvl import rules as mnnvl
from grove_core.areas.mnnvl.field import rules as mnnvl_field
from grove_core.areas.mnnvl_scopes import rules as mnnvl_scopes
from grove_core.areas.scheduling import rules as scheduling
from grove_core.areas.topology import rules as topology
from grove_core.areas.workload import rules as workload
from grove_core.areas.workload.field import rules as workload_field
from grove_core.kernel.errors import BrokenInvariant
from grove_core.kernel.reasons import FORMER_CODES, Reason, Rule, RuleSentence
from grove_core.kernel.refs import Ref
from grove_core.plan import rules as planning
from grove_core.rule_sets import rules as sparing

SUBJECT: Final = Ref("grove.io/v1alpha1", "PodClique", "ml", "llm-0-router")
RULES: Final[tuple[type[Rule], ...]] = (
    *(termination.TerminationReason, termination.GangTerminationDenial, field.GoOperatorReason),
    domain_cliques.ComputeDomainReason,
    *(mnnvl.MnnvlReason, mnnvl.MnnvlDenial, mnnvl.PreflightFailureReason, mnnvl.MnnvlWarning),
    *(mnnvl_field.GoOperatorMnnvlReason, mnnvl_field.GoOperatorMnnvlDenial, mnnvl_field.GoOperatorMnnvlWarning),
    *(workload_field.GoOperatorWorkloadReason, workload_field.GoOperatorWorkloadDenial),
    workload_field.GoOperatorWorkloadWarning,
    *(workload.WorkloadReason, workload.WorkloadDenial, workload.WorkloadWarning),
    *(scheduling.SchedulingReason, scheduling.SchedulingPreflightReason, scheduling.SchedulingWarning),
    *(mnnvl_scopes.SharedDomainReason, mnnvl_scopes.SharedDomainDenial, mnnvl_scopes.SharedDomainWarning),
    planning.WithheldStepReason,
    sparing.SparingReason,
    *(topology.TopologyReason, topology.TopologyDenial, topology.TopologyWarning, topology.FitReason),
)
MEMBERS: Final = tuple(rule for rules in RULES for rule in rules)


@unique
class Sample(Rule):
    """Rules that stand in for an area's."""

    TOO_FEW_EGGS = RuleSentence("XX-001", "{eggs} eggs, {needed} needed")
    ALL_WELL = RuleSentence("XX-002", "nothing is wrong")
    EGGS_BROKEN = RuleSentence("XX-003", "{eggs} of {eggs} eggs are broken", code="TooFewEggs")


def test_every_rule_of_the_core_is_looked_at_here() -> None:
    assert {rules for rules in Rule.__subclasses__() if rules.__module__.startswith("grove_core.")} == set(RULES)


@pytest.mark.parametrize(("former", "code"), FORMER_CODES.items())
def test_a_rule_is_known_by_its_code_and_by_earlier_names_of_it(former: str, code: str) -> None:
    rules = [rule for rule in MEMBERS if rule.has_code(former)]
    assert rules
    assert {rule.code for rule in rules} == {code}
    assert all(rule.has_code(code) for rule in rules)


class TestReasons:
    """What a rule and facts make."""

    def test_a_reason_keeps_rule_subject_and_sorted_facts(self) -> None:
        reason = Sample.TOO_FEW_EGGS.because(SUBJECT, needed=6, eggs=5)
        assert reason == Reason(Sample.TOO_FEW_EGGS, SUBJECT, (("eggs", 5), ("needed", 6)))
        assert reason == Sample.TOO_FEW_EGGS.because(SUBJECT, eggs=5, needed=6)

    def test_the_sentence_holds_the_facts(self) -> None:
        assert Sample.TOO_FEW_EGGS.because(SUBJECT, needed=6, eggs=5).sentence == "5 eggs, 6 needed"
        assert Sample.EGGS_BROKEN.because(SUBJECT, eggs="no").sentence == "no of no eggs are broken"
        assert Sample.ALL_WELL.because(SUBJECT).sentence == "nothing is wrong"

    @pytest.mark.req("CL-135")
    def test_a_number_of_zero_at_its_end_is_left_out(self) -> None:
        for why, before in (
            (
                partial(workload_field.GoOperatorWorkloadReason.REPLICA_UPDATE_BEGINS.because, SUBJECT, replica=1),
                "is updated next",
            ),
            (
                partial(workload_field.GoOperatorWorkloadReason.REPLICA_UPDATE_RUNS.because, SUBJECT, replica=0),
                "new and ready",
            ),
            (
                partial(workload_field.GoOperatorWorkloadReason.SUCCESSOR_NOT_READY.because, SUBJECT, pod="a"),
                "successor is not ready",
            ),
            (
                partial(workload_field.GoOperatorWorkloadReason.REPLICA_NOT_UPDATED_YET.because, SUBJECT, replica=0),
                "is not ready",
            ),
        ):
            assert why(left=0).sentence.endswith(before)
            assert f"{before}; 2 " in why(left=2).sentence
            assert dict(why(left=0).facts)["left"] == 0

    def test_a_fact_with_braces_is_left_as_it_is(self) -> None:
        assert Sample.EGGS_BROKEN.because(SUBJECT, eggs="{needed}").sentence == "{needed} of {needed} eggs are broken"

    @pytest.mark.parametrize(
        "facts", [{}, {"eggs": 1}, {"needed": 1}, {"eggs": 1, "needed": 2, "spoons": 3}, {"eggs": 1, "Needed": 2}]
    )
    def test_pl003_missing_and_surplus_facts_are_faults_of_ours(self, facts: dict[str, int]) -> None:
        with pytest.raises(BrokenInvariant) as caught:
            Sample.TOO_FEW_EGGS.because(SUBJECT, **facts)
        assert caught.value.requirement == "PL-003"

    def test_a_rule_without_facts_takes_none(self) -> None:
        with pytest.raises(BrokenInvariant):
            Sample.ALL_WELL.because(SUBJECT, eggs=1)

    def test_reasons_can_be_hashed_and_copied(self) -> None:
        reason = termination.TerminationReason.SET_BEING_DELETED.because(SUBJECT)
        assert {reason: 1}[termination.TerminationReason.SET_BEING_DELETED.because(SUBJECT)] == 1
        assert copy.deepcopy(reason) == reason


class TestCodes:
    """The words that users search for."""

    def test_the_name_gives_the_code(self) -> None:
        assert Sample.TOO_FEW_EGGS.code == "TooFewEggs"
        assert Sample.ALL_WELL.code == "AllWell"

    def test_a_rule_may_share_the_code_of_another(self) -> None:
        assert Sample.EGGS_BROKEN.code == Sample.TOO_FEW_EGGS.code
        assert len(Sample) == 3

    def test_the_number_is_that_of_the_sentence(self) -> None:
        assert [rule.requirement for rule in Sample] == ["XX-001", "XX-002", "XX-003"]

    @pytest.mark.parametrize(
        ("rule", "code"),
        [
            (termination.TerminationReason.SUFFICIENT_READY_PODS, "SufficientReadyPods"),
            (termination.TerminationReason.INSUFFICIENT_READY_PODS, "InsufficientReadyPods"),
            (termination.TerminationReason.NEVER_AVAILABLE, "NeverAvailable"),
            (termination.TerminationReason.UPDATE_IN_PROGRESS, "UpdateInProgress"),
            (termination.TerminationReason.GROUP_UPDATE_IN_PROGRESS, "UpdateInProgress"),
            (termination.TerminationReason.AVAILABILITY_NOT_RECORDED, "AvailabilityNotRecorded"),
            (termination.TerminationReason.SUFFICIENT_SCHEDULED_PODS, "SufficientScheduledPods"),
            (termination.TerminationReason.INSUFFICIENT_SCHEDULED_PODS, "InsufficientScheduledPods"),
            (termination.TerminationReason.NOT_COLLECTED, "NotCollected"),
            (
                termination.TerminationReason.INSUFFICIENT_AVAILABLE_POD_CLIQUE_SCALING_GROUP_REPLICAS,
                "InsufficientAvailablePodCliqueScalingGroupReplicas",
            ),
            (
                termination.TerminationReason.SUFFICIENT_AVAILABLE_POD_CLIQUE_SCALING_GROUP_REPLICAS,
                "SufficientAvailablePodCliqueScalingGroupReplicas",
            ),
        ],
        ids=lambda value: value if isinstance(value, str) else value.requirement,
    )
    def test_conditions_say_what_the_specification_says(self, rule: Rule, code: str) -> None:
        assert rule.code == code


class TestEveryRule:
    """What holds for the members of all rule enums."""

    def test_no_number_is_claimed_twice(self) -> None:
        claims = Counter(rule.requirement for rule in MEMBERS)
        assert {number for number, count in claims.items() if count > 1} == set()

    @pytest.mark.parametrize("rules", RULES, ids=lambda rules: f"{rules.__module__}.{rules.__name__}")
    def test_no_member_is_an_alias(self, rules: type[Rule]) -> None:
        assert list(rules.__members__.values()) == list(rules)
        assert unique(rules) is rules

    @pytest.mark.parametrize("rule", MEMBERS, ids=lambda rule: f"{rule.requirement}-{rule.name}")
    def test_every_sentence_takes_its_facts(self, rule: Rule) -> None:
        reason = rule.because(SUBJECT, **dict.fromkeys(rule.value.facts, 4711))
        assert reason.sentence.replace("4,711", "4711").count("4711") >= len(rule.value.facts)
        assert not re.search(r"[{}]", reason.sentence)
        assert reason.sentence == reason.sentence.strip() != ""
        assert not reason.sentence.endswith(".")

    @pytest.mark.parametrize("rule", MEMBERS, ids=lambda rule: f"{rule.requirement}-{rule.name}")
    def test_every_code_is_a_reason_that_the_api_takes(self, rule: Rule) -> None:
        assert re.fullmatch(r"[A-Za-z](?:[A-Za-z0-9_,:]*[A-Za-z0-9_])?", rule.code)
        assert re.fullmatch(r"[A-Z]{2}-\d{3}", rule.requirement)


def test_pl003_facts_that_do_not_fit_are_named() -> None:
    with pytest.raises(BrokenInvariant, match=r"^PL-003: SET_BEING_DELETED needs \[\], got \['name'\]$"):
        TerminationReason.SET_BEING_DELETED.because(SUBJECT, name="llm")


def test_pl003_a_clause_knows_the_facts_of_its_sentence() -> None:
    clause = RuleSentence("GT-000", "{ready} of {needed} ready {{sic}}")
    assert (clause.requirement, clause.sentence, clause.code) == ("GT-000", "{ready} of {needed} ready {{sic}}", "")
    assert clause.facts == {"ready", "needed"}
    assert RuleSentence("GT-000", "no facts", code="Other").code == "Other"
