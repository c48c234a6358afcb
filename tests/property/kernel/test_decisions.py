"""A verdict never comes without its reasons."""

from typing import Final

import pytest

from grove_core.areas.gang_termination.rules import GangTerminationDenial, TerminationReason
from grove_core.kernel.admission import Admit, DenialReason, Deny
from grove_core.kernel.decisions import Decision, Finding
from grove_core.kernel.errors import BrokenInvariant, MalformedObject, ObjectProblem
from grove_core.kernel.refs import Ref

SUBJECT: Final = Ref("grove.io/v1alpha1", "PodCliqueSet", "ml", "llm")
REASON: Final = TerminationReason.NOTHING_BREACHED.because(SUBJECT)


@pytest.mark.parametrize("verdict", ["Keep", None, 0])
def test_pl003_a_verdict_without_a_reason_cannot_be_made(verdict: object) -> None:
    with pytest.raises(BrokenInvariant) as caught:
        Decision(verdict, ())
    assert caught.value.requirement == "PL-003"


def test_pl003_a_verdict_keeps_its_reasons_in_order() -> None:
    other = TerminationReason.SET_BEING_DELETED.because(SUBJECT)
    decision = Decision("Keep", (REASON, other))
    assert decision.verdict == "Keep"
    assert decision.because == (REASON, other)


def test_findings_are_ordered_by_subject_and_question() -> None:
    ordered = [
        Finding(SUBJECT, "breach", "False", (REASON,)),
        Finding(SUBJECT, "termination", "Keep", (REASON,)),
        Finding(SUBJECT.at_replica(0), "breach", "False", (REASON,)),
        Finding(SUBJECT.at_replica(1), "breach", "False", (REASON,)),
    ]
    shuffled = ordered[2:] + ordered[:2]
    assert sorted(shuffled, key=lambda finding: finding.sort_key) == ordered


def test_an_objection_names_field_rule_and_what_stood_there() -> None:
    objection = DenialReason("spec.replicas", "-1", GangTerminationDenial.COUNT_OUT_OF_RANGE.because(SUBJECT, least=0))
    assert str(objection) == f"spec.replicas: {objection.reason.sentence}, got -1"
    assert Deny((objection,)) == Deny((objection,))
    assert Admit() == Admit()


class TestErrors:
    """The only two exceptions of the core."""

    def test_a_broken_invariant_names_the_law(self) -> None:
        fault = BrokenInvariant("PL-013", "two steps for one target")
        assert fault.requirement == "PL-013"
        assert str(fault).startswith("PL-013")

    def test_a_malformed_object_carries_every_problem_once_and_in_order(self) -> None:
        first = ObjectProblem(path="spec.replicas", expected="an integer", got='"three"')
        second = ObjectProblem(path="", expected="an object", got="5")
        fault = MalformedObject((first, second, first))
        assert fault.problems == (first, second)
        assert str(fault) == f"{first}; {second}"

    def test_a_problem_of_the_whole_object_has_no_path(self) -> None:
        assert str(ObjectProblem(path="", expected="an object", got="5")) == "expected an object, got 5"
        assert str(ObjectProblem(path="a.b", expected="an object", got="5")) == "a.b: expected an object, got 5"


def test_pl003_a_verdict_without_a_reason_is_named() -> None:
    with pytest.raises(BrokenInvariant, match=r"^PL-003: verdict 'yes' without a reason$"):
        Decision("yes", ())
