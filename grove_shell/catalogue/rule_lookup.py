"""Rules by number, code and rule set, as the specifications state them."""

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
    """One rule as its specification states it.

    Attributes:
        id: its number, e.g. ``GT-033``.
        text: the sentence.
        code: the reason code that users see; empty where it gives no reason.
        instead_of: the number of the rule it takes the place of; empty where there is none.
        generations: of the existing operator that have it; empty where all do, or where it is none of theirs.
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
        """Whether the rules of a generation have it."""
        return not self.generations or generation in self.generations


@cache
def catalogue() -> Mapping[str, SpecRule]:
    """Every rule by its number, in order."""
    raw = json.loads(files(__package__).joinpath(FILE).read_text(encoding="utf-8"))
    return {one["id"]: SpecRule(**{**one, "generations": tuple(one.get("generations", ()))}) for one in raw}


def releases_of(generation: str) -> tuple[str, ...]:
    """The releases of the existing operator with these rules, oldest first."""
    return tuple(release for release, found in RELEASES.items() if found.name == generation)


def generations() -> tuple[str, ...]:
    """Of the existing operator's rules, oldest first."""
    return tuple(dict.fromkeys(found.name for found in RELEASES.values()))


def generation_of(name: str) -> str:
    """The generation behind a rule set; empty for the design. Raises KeyError where there is no such rule set."""
    kind, _, release = rule_set(name).name.partition("@")
    return RELEASES[release].name if kind == FIELD else ""


def differences(generation: str) -> tuple[SpecRule, ...]:
    """What distinguishes rules of the field from the design, as the specifications say: what stands instead of what."""
    own = (one for one in catalogue().values() if one.id.startswith(FIELD_PREFIX) and one.holds_in(generation))
    return tuple(one for one in own if one.instead_of)


def find_rules(word: str) -> tuple[SpecRule, ...]:
    """The rules with this number or this reason code, whatever the case."""
    asked = word.casefold()
    found: Iterable[SpecRule] = catalogue().values()
    return tuple(one for one in found if asked and asked in {one.id.casefold(), one.code.casefold()})
