"""The page on proofs has every rule of gang termination, and says of each what the proofs and scopes show (--bless)."""

import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Final

import pytest

from docs.generator.markdown import slug, table
from grove_shell.catalogue.specification_rules import SpecificationRule, parse_specification_rules
from tests.docs.site import DOCS, ROOT
from tests.exhaustive.recorded import covered, states_by_rule
from tests.golden.citations import cited_in

PAGE: Final = DOCS / "explanation" / "what-is-proved.md"
SPECS: Final = ("gang_termination.md", "gang_termination_field.md")
PROOFS: Final = {
    "test_gt032_a_delay_ends_at_the_transition_plus_the_delay": "times",
    "test_gt032_a_replica_is_terminated_exactly_from_the_end_of_its_first_delay_on": "times",
    "test_gf040_a_condition_is_history_after_five_seconds": "history",
    "test_gt011_the_breach_table_for_all_numbers": "breach table",
    "test_gt011_a_clique_is_breached_below_its_minimum_and_from_when": "pods",
    "test_gt050_a_group_terminates_only_what_it_can_spare": "two levels",
    "test_gt041_a_group_being_updated_terminates_nothing": "two levels",
    "test_gf025_a_clique_by_the_go_operator": "Go operator",
    "test_gf061_a_group_of_the_go_operator_terminates_only_what_it_can_spare": "Go operator, levels",
    "test_gt050_crosshair_confirms_the_contracts_and_refutes_the_wrong_one": "CrossHair",
}
"""Test -> its name on the page."""
ANCHORS: Final = {
    "times": "times",
    "history": "times",
    "breach table": "breach-table",
    "pods": "breach-table",
    "two levels": "two-levels",
    "Go operator": "breach-table",
    "Go operator, levels": "two-levels",
    "CrossHair": "two-tools",
}
NAMES: Final = {"design": "design", "F3": "field, F3", "F2": "field, F2"}


def rules() -> list[SpecificationRule]:
    """All rules of gang termination but those about manifests."""
    every = [
        rule
        for name in SPECS
        for rule in parse_specification_rules((ROOT / "specs" / name).read_text(encoding="utf-8"), name)
    ]
    return [rule for rule in every if rule.rule_kind != "admission"]


def proofs_by_rule() -> Mapping[str, set[str]]:
    """Rule -> the tests of ``tests/proofs`` that cite it."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for path in sorted((ROOT / "tests" / "proofs").glob("test_*.py")):
        for citation in cited_in(path.read_text(encoding="utf-8"), path.name):
            found[citation.id].add(citation.name)
    return found


def rule_rows() -> str:
    """The table of the rules."""
    proofs, states = proofs_by_rule(), states_by_rule()
    rows = []
    for rule in rules():
        page = SPECS[rule.id.startswith("GF")]
        named = sorted({PROOFS[test] for test in proofs.get(rule.id, ())})
        shown = ", ".join(f"[{name}](#{ANCHORS[name]})" for name in named)
        count = f"{states[rule.id]:,}" if rule.id in states else ""
        link = f"[{rule.id}](../reference/rules/{page}#{slug(rule.id)})"
        rows.append((link, rule.title, shown, count, "" if shown or count else "tested"))
    return table(("rule", "title", "for all numbers and times", "states", "else"), rows)


def scope_rows() -> str:
    """The table of the scopes: those of a plain ``pytest`` before the wide ones."""
    found = covered()
    every = {
        (name, "rules" not in scope): "python -m tests.exhaustive" if "rules" not in scope else "pytest"
        for scopes in found.values()
        for name, scope in scopes.items()
    }
    rows = [
        (
            name,
            *(f"{found[one][name]['states']:,}" if name in found[one] else "" for one in NAMES),
            f"`{every[name, wide]}`",
        )
        for name, wide in sorted(every, key=lambda one: (one[1], one[0]))
    ]
    return table(("scope", *NAMES.values(), "run by"), rows)


@pytest.mark.parametrize(("name", "content"), [("scopes", scope_rows), ("rules", rule_rows)])
def test_gt033_the_tables_are_complete_and_true(name: str, content: Callable[[], str], *, bless: bool) -> None:
    block = re.compile(rf"(<!-- {name} -->\n)(.*?)(<!-- end of {name} -->)", re.DOTALL)
    expected = f"\n{content().strip()}\n\n"
    if bless:
        text = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(block.sub(lambda found: found[1] + expected + found[3], text), encoding="utf-8")
    assert [found[2] for found in block.finditer(PAGE.read_text(encoding="utf-8"))] == [expected]


def test_every_decision_is_in_the_table_or_named_as_tested() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert [rule.id for rule in rules() if rule.rule_kind == "decision" and f"| [{rule.id}](" not in text] == []


def test_every_proof_has_a_name_and_every_named_proof_is_there() -> None:
    tests = {test for found in proofs_by_rule().values() for test in found}
    assert tests == {*PROOFS}
    assert {*PROOFS.values()} == {*ANCHORS}


def test_what_is_counted_is_a_rule() -> None:
    known = {rule.id for rule in rules()}
    assert {*states_by_rule()} <= known
    assert {*proofs_by_rule()} <= known
