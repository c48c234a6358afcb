"""What is wrong with a field, in words (IN-030)."""

import pytest

from grove_core.areas.gang_termination.rules import GangTerminationDenial as Malformed
from grove_core.areas.workload.rules import WorkloadDenial
from grove_core.kernel.admission import DenialReason
from grove_core.kernel.errors import ObjectProblem
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref

SET = Ref("grove.io/v1alpha1", "PodCliqueSet", "ml", "llm")


@pytest.mark.parametrize(
    ("expected", "got", "words"),
    [
        ("a value", "nothing", "is required"),
        ("unknown field; did you mean name?", '"x"', "unknown field; did you mean name?"),
        ("a value", "null", "expected a value, got null"),
        ("a list", "nothing", "expected a list, got nothing"),
    ],
)
def test_in030_a_problem_in_words(expected: str, got: str, words: str) -> None:
    assert str(ObjectProblem(path="spec.a", expected=expected, got=got)) == f"spec.a: {words}"
    assert str(ObjectProblem(path="", expected=expected, got=got)) == words


@pytest.mark.parametrize(
    ("reason", "got", "words"),
    [
        (Malformed.MALFORMED.because(SET, expected="a value"), "nothing", "is required"),
        (Malformed.MALFORMED.because(SET, expected="a list"), "nothing", "must be a list, got nothing"),
        (
            WorkloadDenial.FIELD_UNKNOWN.because(SET, hint="did you mean name?"),
            "1",
            "unknown field; did you mean name?",
        ),
    ],
)
def test_in030_an_objection_in_words(reason: Reason, got: str, words: str) -> None:
    assert str(DenialReason("spec.a", got, reason)) == f"spec.a: {words}"
