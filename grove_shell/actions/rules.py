"""``grove rules``: list the rule sets, or print rules."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

from grove_core.rule_sets.rule_set_by_name import rule_sets
from grove_shell.actions.installed_rule_sets import (
    RuleSetEntryPoint,
    known_rule_set_name,
    rule_set_entry_points,
    rule_set_from_entry_point,
)
from grove_shell.catalogue.specification_rules import (
    RetiredRule,
    SpecificationRule,
    find_rules_by_number_or_reason,
    go_operator_generation_of,
    go_operator_generations,
    go_operator_releases_of_generation,
    go_operator_rules_replacing_design,
    reason_codes_by_rule_number,
    retired_rules,
    specification_rules_by_number,
)
from grove_shell.exit_codes import DONE, USAGE
from grove_shell.styled_text_page import joined_pages, print_error
from grove_shell.views.renderers import RENDERERS
from grove_shell.views.rules_page import (
    installed_rule_set_page,
    retired_rule_page,
    rule_page,
    rule_set_page,
    rule_sets_page,
)


def print_rules(asked: tuple[str, ...], output: str) -> int:
    """Print all rule sets, or those rules and rule sets that are asked for; returns the exit code."""
    if not asked:
        return _all_sets(output)
    found: list[SpecificationRule] = []
    given_up: list[RetiredRule] = []
    sets: list[str] = []
    unknown: list[str] = []
    for word in asked:
        retired = retired_rules().get(word.upper())
        rules_ = find_rules_by_number_or_reason(retired.now if retired is not None else word)
        found.extend(rules_)
        if retired is not None:
            given_up.append(retired)
        elif not rules_:
            try:
                sets.append(known_rule_set_name(word))
            except ValueError:
                unknown.append(word)
    if unknown:
        _report_unknown(unknown)
        return USAGE
    own = _installed_among(sets)
    RENDERERS[output].print_result(
        page=lambda: joined_pages(
            [
                *(
                    installed_rule_set_page(own[name].name, own[name].value, own[name].package)
                    if name in own
                    else rule_set_page(name, go_operator_rules_replacing_design(go_operator_generation_of(name)))
                    for name in sets
                ),
                *map(retired_rule_page, given_up),
                *map(rule_page, found),
            ]
        ),
        document=lambda: {
            "ruleSets": [_installed_as_json(own[name]) if name in own else _set_as_json(name) for name in sets],
            "rules": [_rule_as_json(one) for one in found],
            **(
                {"retired": [{"id": one.id, "title": one.title, "now": one.now} for one in given_up]}
                if given_up
                else {}
            ),
        },
    )
    return DONE


def _installed_among(names: Iterable[str]) -> dict[str, RuleSetEntryPoint]:
    """Return the rule sets of entry points among some names. Raises InstalledRuleSetFailed where one does not load."""
    others = [name for name in names if name not in rule_sets()]
    found = {one.name: one for one in rule_set_entry_points() if one.name in others} if others else {}
    for name in found:
        rule_set_from_entry_point(name)
    return found


def _installed_as_json(one: RuleSetEntryPoint) -> dict[str, Any]:
    hidden = {"hiddenByBuiltIn": True} if one.name in rule_sets() else {}
    return {
        "name": one.name,
        "generation": None,
        "differences": [],
        "entryPoint": one.value,
        "package": one.package,
        **hidden,
    }


def _report_unknown(words: Iterable[str]) -> None:
    for word in words:
        near = get_close_matches(
            word,
            [
                *rule_sets(),
                *(one.name for one in rule_set_entry_points()),
                *specification_rules_by_number(),
                *reason_codes_by_rule_number().values(),
            ],
            n=1,
            cutoff=0.5,
        )
        hint = f'; did you mean "{near[0]}"?' if near else ""
        print_error(f"{word!r} is no rule set, rule number or reason code{hint}")


def _all_sets(output: str) -> int:
    installed = rule_set_entry_points()
    RENDERERS[output].print_result(
        page=lambda: rule_sets_page(
            {
                name: (go_operator_releases_of_generation(name), go_operator_rules_replacing_design(name))
                for name in reversed(go_operator_generations())
            },
            [(one.name, one.value, one.package, one.name in rule_sets()) for one in installed],
        ),
        document=lambda: {
            "ruleSets": [
                *(_set_as_json(name) for name in dict.fromkeys(one.name for one in rule_sets().values())),
                *map(_installed_as_json, installed),
            ]
        },
    )
    return DONE


def _set_as_json(name: str) -> dict[str, Any]:
    generation = go_operator_generation_of(name)
    differing = [
        {"rule": one.id, "title": one.title, "insteadOf": one.replaced_rule_number}
        for one in go_operator_rules_replacing_design(generation)
    ]
    return {"name": name, "generation": generation or None, "differences": differing if generation else []}


def _rule_as_json(one: SpecificationRule) -> dict[str, Any]:
    shown = {
        "id": one.id,
        "title": one.title,
        "text": one.text,
        "kind": one.rule_kind,
        "source": one.items.get("source"),
        "because": one.items.get("because"),
        "code": reason_codes_by_rule_number().get(one.id),
        "generations": list(one.go_operator_generations),
        "insteadOf": one.replaced_rule_number,
    }
    return {key: value for key, value in shown.items() if value}
