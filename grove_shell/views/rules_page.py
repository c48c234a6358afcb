"""Pages of ``grove rules``."""

from collections.abc import Mapping, Sequence
from textwrap import wrap

from grove_core.areas.gang_termination.field.go_operator_rule_generations import MAIN
from grove_shell.catalogue.specification_rules import (
    RetiredRule,
    SpecificationRule,
    go_operator_generation_of,
    reason_codes_by_rule_number,
    specification_rules_by_number,
)
from grove_shell.styled_text_page import StyledTextPage

_WIDTH = 100
_NAMES = "  "


def rule_sets_page(
    field: Mapping[str, tuple[Sequence[str], Sequence[SpecificationRule]]],
    installed: Sequence[tuple[str, str, str, bool]] = (),
) -> StyledTextPage:
    """Return a page of all rule sets, newest first, each with the titles of its differences.

    Args:
        field: generation of the Go operator's rules -> its releases, and the rules that replace rules of ``design``.
        installed: name, entry point and package of rule sets of users; whether a built-in one has the name (LB-010).
    """
    page = StyledTextPage()
    page.add_line(("design", "bold"), "  the Gang Termination Design Doc; the default where no operator is recognised")
    newer: tuple[str, ...] = ()
    for number, (generation, (releases, differing)) in enumerate(field.items()):
        named = releases[0] if len(releases) == 1 else f"{releases[0]} to {releases[-1]}"
        newest = f", short name field (generation {generation})" if number == 0 else f" (generation {generation})"
        page.add_line("")
        page.add_line((f"field@{named}", "bold"), f"  the Go operator{newest}")
        if number:
            page.add_line(_NAMES, "as the newer one, except:")
        else:
            page.add_line(
                _NAMES, f"field@{MAIN}: its main branch, which is in no release yet; see WF-033, WF-152, WF-154"
            )
        _add_differences(page, [one for one in differing if one.id not in newer])
        newer = tuple(one.id for one in differing)
    for own, value, package, is_hidden in installed:
        page.add_line("")
        page.add_line((own, "bold"), f"  the entry point {value} of the package {package}")
        if is_hidden:
            page.add_line(
                _NAMES, f"not used: --rules {own} is the built-in rule set of this name; rename the entry point"
            )
    page.add_line("")
    page.add_line("one rule set in full: grove rules field@RELEASE; one rule: grove rules GF-073")
    return page


def installed_rule_set_page(name: str, value: str, package: str) -> StyledTextPage:
    """Return a page of a rule set of a user's (LB-010)."""
    page = StyledTextPage()
    page.add_line((name, "bold"), f"  the entry point {value} of the package {package}")
    page.add_line(_NAMES, "for plan, explain, compare, simulate, validate, why and replay; no operator takes it")
    return page


def rule_set_page(name: str, differing: Sequence[SpecificationRule]) -> StyledTextPage:
    """Return a page of one rule set with its differences in full."""
    page = StyledTextPage()
    generation = go_operator_generation_of(name)
    if not generation:
        page.add_line((name, "bold"), "  the Gang Termination Design Doc")
        page.add_line(
            _NAMES, "its rules are GT-001 to GT-103; other rule sets are listed with their differences from it"
        )
        return page
    page.add_line((name, "bold"), f"  the Go operator, generation {generation}")
    for one in differing:
        page.add_line("")
        _add_rule(page, one)
    return page


def rule_page(one: SpecificationRule) -> StyledTextPage:
    """Return a page of one rule."""
    page = StyledTextPage()
    _add_rule(page, one)
    for detail in one.details:
        _add_text(page, f"- {detail}")
    page.add_line(_NAMES, f"{one.rule_kind}; source: {one.items.get('source', '')}")
    if one.go_operator_generations:
        page.add_line(_NAMES, f"in generations {', '.join(one.go_operator_generations)} of the Go operator")
    return page


def retired_rule_page(one: RetiredRule) -> StyledTextPage:
    """Return a page of a number that was given up."""
    page = StyledTextPage()
    what_holds = {
        "gone": "no rule states it any more",
        "known limits": "docs/explanation/known-limits.md says what is not promised",
    }
    page.add_line((one.id, "bold"), f"  {one.title}: given up; {what_holds.get(one.now, f'{one.now} has it now')}")
    return page


def _add_rule(page: StyledTextPage, one: SpecificationRule) -> None:
    code = reason_codes_by_rule_number().get(one.id)
    page.add_line((one.id, "bold"), f"  {one.title}{f'  {code}' if code else ''}")
    _add_text(page, one.text.replace("`", ""))
    if because := one.items.get("because"):
        _add_text(page, f"because: {because}")
    if one.replaced_rule_number:
        other = specification_rules_by_number()[one.replaced_rule_number]
        _add_text(page, f"instead of {other.id}, {other.title}")


def _add_differences(page: StyledTextPage, differing: Sequence[SpecificationRule]) -> None:
    for one in differing:
        other = specification_rules_by_number()[one.replaced_rule_number]
        page.add_line(_NAMES, (one.id, "bold"), f"  {one.title}  (instead of {other.id}, {other.title})")


def _add_text(page: StyledTextPage, text: str) -> None:
    for line in wrap(text, _WIDTH):
        page.add_line(_NAMES, line)
