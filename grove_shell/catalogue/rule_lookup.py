"""Finds rules of the specifications by number, reason code and rule set."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

from grove_core.areas.gang_termination.field.generations import RELEASES
from grove_core.rule_sets.named import rule_set
from grove_core.rule_sets.released import FIELD

FILE: Final = "rules.json"
FIELD_PREFIX: Final = "GF-"


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecRule:
    """One rule of the specifications.

    Attributes:
        id: its number, e.g. ``GT-033``.
        text: the sentence.
        code: the reason code that users see; empty without one.
        instead_of: number of the rule it replaces; empty without one.
        generations: of the Go operator's rules that have it; empty for all, or for other rules.
    """

    id: str
    title: str
    text: str
    kind: str
    source: str
    because: str = ""
    code: str = ""
    instead_of: str = ""
    generations: tuple[str, ...] = ()

    def holds_in(self, generation: str) -> bool:
        """Return whether a generation of the Go operator's rules has it."""
        return not self.generations or generation in self.generations


@cache
def catalogue() -> Mapping[str, SpecRule]:
    """Return every rule by its number, in order."""
    raw = json.loads(files(__package__).joinpath(FILE).read_text(encoding="utf-8"))
    return {one["id"]: SpecRule(**{**one, "generations": tuple(one.get("generations", ()))}) for one in raw}


def releases_of(generation: str) -> tuple[str, ...]:
    """Return the releases of the Go operator with these rules, oldest first."""
    return tuple(release for release, found in RELEASES.items() if found.name == generation)


def generations() -> tuple[str, ...]:
    """Return the generations of the Go operator's rules, oldest first."""
    return tuple(dict.fromkeys(found.name for found in RELEASES.values()))


def generation_of(name: str) -> str:
    """Return the generation of a rule set; empty for the design. Raises KeyError for an unknown rule set."""
    kind, _, release = rule_set(name).name.partition("@")
    return RELEASES[release].name if kind == FIELD else ""


def differences(generation: str) -> tuple[SpecRule, ...]:
    """Return the rules of a generation that replace rules of the design."""
    own = (one for one in catalogue().values() if one.id.startswith(FIELD_PREFIX) and one.holds_in(generation))
    return tuple(one for one in own if one.instead_of)


def find_rules(word: str) -> tuple[SpecRule, ...]:
    """Return the rules with this number or reason code, ignoring case."""
    asked = word.casefold()
    found: Iterable[SpecRule] = catalogue().values()
    return tuple(one for one in found if asked and asked in {one.id.casefold(), one.code.casefold()})
