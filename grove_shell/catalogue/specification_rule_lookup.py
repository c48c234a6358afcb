"""Finds rules of the specifications by number, reason code and rule set."""

from collections.abc import Mapping
from functools import cache
from typing import Final

from grove_core.areas.domain_cliques import rules as domain_cliques
from grove_core.areas.gang_termination import rules as gang_termination
from grove_core.areas.gang_termination.field import rules as field
from grove_core.areas.gang_termination.field.rule_generations import RELEASES
from grove_core.areas.mnnvl import rules as mnnvl
from grove_core.areas.mnnvl_scopes import rules as mnnvl_scopes
from grove_core.areas.topology import rules as topology
from grove_core.areas.workload import rules as workload
from grove_core.kernel.reasons import Rule
from grove_core.plan import rules as planning
from grove_core.rule_sets.go_operator import FIELD
from grove_core.rule_sets.named import rule_set
from grove_shell.catalogue.specification_rules import (
    RETIRED_FILE,
    RetiredRule,
    SpecificationRule,
    parse_specification_rules,
    retired_rules_in,
    specification_folder,
)

_WITH_CODES: Final = (planning, gang_termination, field, workload, mnnvl, mnnvl_scopes, topology, domain_cliques)
_FIELD_PREFIX: Final = "GF-"


@cache
def specification_rules_by_number() -> Mapping[str, SpecificationRule]:
    """Return every rule by its number, in order."""
    found = (
        rule
        for path in specification_folder().glob("*.md")
        for rule in parse_specification_rules(path.read_text("utf-8"), path.name)
    )
    return {rule.id: rule for rule in sorted(found, key=lambda rule: rule.id)}


@cache
def retired_rules() -> Mapping[str, RetiredRule]:
    """Return every number that was given up."""
    text = (specification_folder() / RETIRED_FILE).read_text("utf-8")
    return {rule.id: rule for rule in retired_rules_in(text, RETIRED_FILE)}


@cache
def reason_codes() -> Mapping[str, str]:
    """Return number of a rule -> the reason code that plans show of it."""
    enums = (one for module in _WITH_CODES for one in vars(module).values() if isinstance(one, type))
    return {rule.requirement: rule.code for enum in enums if issubclass(enum, Rule) for rule in enum}


def releases_of_generation(generation: str) -> tuple[str, ...]:
    """Return the releases of the Go operator with these rules, oldest first."""
    return tuple(release for release, found in RELEASES.items() if found.name == generation)


def go_operator_generations() -> tuple[str, ...]:
    """Return the generations of the Go operator's rules, oldest first."""
    return tuple(dict.fromkeys(found.name for found in RELEASES.values()))


def go_operator_generation_of(name: str) -> str:
    """Return the generation of a rule set; empty for the design. Raises KeyError for an unknown rule set."""
    kind, _, release = rule_set(name).name.partition("@")
    return RELEASES[release].name if kind == FIELD else ""


def rules_replacing_design(generation: str) -> tuple[SpecificationRule, ...]:
    """Return the rules of a generation of the Go operator that replace rules of the design."""
    return tuple(
        one
        for one in specification_rules_by_number().values()
        if one.id.startswith(_FIELD_PREFIX)
        and one.replaced_rule_number
        and (not one.generations or generation in one.generations)
    )


def find_rules(word: str) -> tuple[SpecificationRule, ...]:
    """Return the rules with this number or reason code, ignoring case."""
    asked, codes = word.casefold(), reason_codes()
    rules = specification_rules_by_number().values()
    return tuple(one for one in rules if asked and asked in {one.id.casefold(), codes.get(one.id, "").casefold()})
