"""What is wrong with a field, in words (IN-030)."""

import pytest

from grove_core.areas.gang_termination.rules import GangTerminationDenial as Malformed
from grove_core.areas.workload.rules import WorkloadDenial
from grove_core.kernel.admission import DenialReason
from grove_core.kernel.errors import ObjectProblem, ProblemKind
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref

SET = Ref("grove.io/v1alpha1", "PodCliqueSet", "ml", "llm")


@pytest.mark.parametrize(
    ("kind", "expected", "got", "words"),
    [
        (ProblemKind.MISSING, "a value", "nothing", "is required"),
        (
            ProblemKind.UNKNOWN_FIELD,
            "unknown field; did you mean name?",
            '"x"',
            "unknown field; did you mean name?",
        ),
        (ProblemKind.WRONG_VALUE, "a value", "null", "expected a value, got null"),
        (ProblemKind.WRONG_VALUE, "a list", "nothing", "expected a list, got nothing"),
    ],
)
def test_in030_a_problem_in_words(kind: ProblemKind, expected: str, got: str, words: str) -> None:
    assert str(ObjectProblem(path="spec.a", expected=expected, got=got, kind=kind)) == f"spec.a: {words}"
    assert str(ObjectProblem(path="", expected=expected, got=got, kind=kind)) == words


@pytest.mark.parametrize(
    ("kind", "reason", "got", "words"),
    [
        (ProblemKind.MISSING, Malformed.MALFORMED.because(SET, expected="a value"), "nothing", "is required"),
        (
            ProblemKind.WRONG_VALUE,
            Malformed.MALFORMED.because(SET, expected="a list"),
            "nothing",
            "must be a list, got nothing",
        ),
        (
            ProblemKind.UNKNOWN_FIELD,
            WorkloadDenial.FIELD_UNKNOWN.because(SET, hint="did you mean name?"),
            "1",
            "unknown field; did you mean name?",
        ),
    ],
)
def test_in030_an_objection_in_words(kind: ProblemKind, reason: Reason, got: str, words: str) -> None:
    assert str(DenialReason("spec.a", got, reason, kind)) == f"spec.a: {words}"
