"""The questions of findings are declared in one module (PL-003)."""

from typing import Final

import pytest
from hypothesis import given

from grove_core.kernel import questions
from grove_core.reconcile import reconcile
from grove_core.rule_sets.rule_set_by_name import rule_set
from grove_core.testing import RandomCluster, clusters
from tests.property.few_examples import RARELY

DECLARED: Final = {value for name, value in vars(questions).items() if name.isupper()}


def test_questions_differ() -> None:
    assert len(DECLARED) == sum(name.isupper() for name in vars(questions))


@pytest.mark.parametrize("rules", ["design", "field"])
@RARELY
@given(generated=clusters())
@pytest.mark.req("PL-003")
def test_every_question_of_a_plan_is_declared(rules: str, generated: RandomCluster) -> None:
    found = {finding.question for finding in reconcile(generated.snapshot, rule_set(rules)).findings}
    assert found <= DECLARED
    assert found
