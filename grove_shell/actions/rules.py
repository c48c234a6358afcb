"""``grove rules``: list the rule sets, or print rules."""

from dataclasses import asdict
from difflib import get_close_matches
from typing import Any

from grove_core.rule_sets.named import rule_sets
from grove_shell.catalogue.rule_lookup import (
    SpecRule,
    catalogue,
    differences,
    find_rules,
    generation_of,
    generations,
    releases_of,
)
from grove_shell.exits import DONE, USAGE
from grove_shell.page import joined_pages, print_error
from grove_shell.settings.rule_set_names import canonical_rule_set
from grove_shell.views.renderers import RENDERERS
from grove_shell.views.rules_page import rule_page, rule_set_page, rule_sets_page


def rules(asked: tuple[str, ...], output: str) -> int:
    """Print all rule sets, or those rules and rule sets that are asked for; returns the exit code."""
    if not asked:
        return _all_sets(output)
    found: list[SpecRule] = []
    sets: list[str] = []
    unknown: list[str] = []
    for word in asked:
        rules_ = find_rules(word)
        found.extend(rules_)
        if rules_:
            continue
        try:
            sets.append(canonical_rule_set(word))
        except ValueError:
            unknown.append(word)
    if unknown:
        for word in unknown:
            names = [*rule_sets(), *catalogue(), *(one.code for one in catalogue().values() if one.code)]
            near = get_close_matches(word, names, n=1, cutoff=0.5)
            hint = f'; did you mean "{near[0]}"?' if near else ""
            print_error(f"{word!r} is no rule set, rule number or reason code{hint}")
        return USAGE
    RENDERERS[output].show(
        page=lambda: joined_pages(
            [
                *(rule_set_page(name, differences(generation_of(name))) for name in sets),
                *(rule_page(one) for one in found),
            ]
        ),
        document=lambda: {
            "ruleSets": [_set_as_json(name) for name in sets],
            "rules": [_rule_as_json(one) for one in found],
        },
    )
    return DONE


def _all_sets(output: str) -> int:
    RENDERERS[output].show(
        page=lambda: rule_sets_page({name: (releases_of(name), differences(name)) for name in reversed(generations())}),
        document=lambda: {
            "ruleSets": [_set_as_json(name) for name in dict.fromkeys(one.name for one in rule_sets().values())]
        },
    )
    return DONE


def _set_as_json(name: str) -> dict[str, Any]:
    generation = generation_of(name)
    differing = [{"rule": one.id, "title": one.title, "insteadOf": one.instead_of} for one in differences(generation)]
    return {"name": name, "generation": generation or None, "differences": differing if generation else []}


def _rule_as_json(one: SpecRule) -> dict[str, Any]:
    shown = asdict(one)
    shown["insteadOf"] = shown.pop("instead_of")
    return {key: list(value) if isinstance(value, tuple) else value for key, value in shown.items() if value}
