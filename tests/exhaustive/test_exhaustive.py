"""Every state of small clusters is decided as a specification of its own decides it; nothing is drawn at random.

The numbers of states are recorded in ``covered.json`` (rewrite it with --bless), so a scope cannot shrink unseen.
"""

import ast
from typing import Final

import pytest

from grove_core.reconcile import reconcile
from grove_core.rule_sets.rule_set_by_name import rule_set
from tests.exhaustive import design_scopes, field_scopes
from tests.exhaustive.comparison import (
    RULES_OF,
    SCOPES,
    SPECIFICATIONS,
    WIDE_SCOPES,
    Difference,
    compare,
    compare_states,
)
from tests.exhaustive.observed import decision_of
from tests.exhaustive.recorded import FILE, content, covered, record
from tests.exhaustive.snapshots import snapshot_of
from tests.property.strategies.worlds import deleted

CASES: Final = [(specification, name) for specification, scopes in SCOPES.items() for name in scopes]


@pytest.mark.parametrize(("specification", "name"), CASES)
def test_every_state_is_decided_as_specified(specification: str, name: str, *, bless: bool) -> None:
    count = compare(specification, SCOPES[specification][name])
    if bless:
        record(specification, name, count.states, count.rules)
    assert covered()[specification][name] == content(count.states, count.rules)


def test_the_wide_scopes_have_as_many_states_as_recorded(*, bless: bool) -> None:
    for specification, scopes in WIDE_SCOPES.items():
        for name, scope in scopes.items():
            states = sum(1 for _ in scope.states())
            if bless:
                record(specification, name, states)
            assert covered()[specification][name] == content(states)


def test_no_other_scope_is_recorded() -> None:
    expected = {name: {*SCOPES[name], *WIDE_SCOPES[name]} for name in SPECIFICATIONS}
    assert {name: {*scopes} for name, scopes in covered().items()} == expected


@pytest.mark.parametrize("specification", SPECIFICATIONS)
def test_a_plan_deletes_what_the_decision_deletes(specification: str) -> None:
    scopes = field_scopes if specification != "design" else design_scopes
    for state in scopes.groups_in_any_state(2, 1):
        plan = reconcile(snapshot_of(state), rule_set(RULES_OF[specification]))
        assert deleted(plan) == set(SPECIFICATIONS[specification](state).deletions)


@pytest.mark.parametrize("specification", SPECIFICATIONS)
def test_order_does_not_matter(specification: str) -> None:
    """Verdicts are the same for every order of the replicas of a scaling group and of the PodCliques in each.

    So the other scopes take one order of each.
    """
    decide = rule_set(RULES_OF[specification]).gang_termination
    seen: dict[object, object] = {}
    for state in (field_scopes if specification != "design" else design_scopes).orders():
        group = state.replicas[0].groups[0]
        assert group is not None
        found = decision_of(decide(snapshot_of(state)))
        verdicts = sorted((one.question, one.verdict, sorted(one.rules)) for one in found.findings)
        content = repr(sorted(sorted(map(repr, part)) for part in group.parts))
        assert seen.setdefault(content, (verdicts, len(found.deletions), found.wake)) == (
            verdicts,
            len(found.deletions),
            found.wake,
        )
    assert len(seen) == 120  # multisets of 2 of the 15 multisets of 2 of 5 letters


@pytest.mark.parametrize(
    "name", ["states", "decisions", "design_cliques", "design_specification", "field_specification", "field_decision"]
)
def test_a_specification_imports_nothing_of_the_product(name: str) -> None:
    tree = ast.parse(FILE.with_name(f"{name}.py").read_text(encoding="utf-8"))
    found = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    assert not any(isinstance(node, ast.Import) for node in ast.walk(tree))
    known = ("collections.abc", "dataclasses", "typing", "tests.exhaustive.states", "tests.exhaustive.decisions")
    assert {*found} <= {*known, "tests.exhaustive.design_cliques", "tests.exhaustive.field_specification"}


def test_a_wrong_decision_is_found() -> None:
    """A delay one second longer in the product than in the specification fails at the first breach at its delay."""
    later = (state._replace(delay=61) for state in design_scopes.orders())
    decide = SPECIFICATIONS["design"]
    with pytest.raises(Difference, match="specification"):
        compare_states(rule_set("design"), lambda state: decide(state._replace(delay=60)), later)
