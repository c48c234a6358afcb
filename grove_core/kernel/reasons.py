"""Reasons: a rule, the object it was applied to, and the facts. Data, which is rendered only for readers."""

from collections.abc import Collection, Mapping
from enum import Enum
from string import Formatter
from types import MappingProxyType
from typing import Final, NamedTuple, TypeAlias

from grove_core.kernel.errors import BrokenInvariant
from grove_core.kernel.refs import Ref

Fact: TypeAlias = str | int | bool

FORMER_CODES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "DomainLeaves": "EarlierObjectBeingDeleted",
        "EndRemains": "TerminationIncomplete",
        "GoesWithSet": "DeletedWithSet",
        "LeftByAnEnd": "TerminationDueBeforeUpdate",
        "LetGo": "FinalizerRemoved",
        "LetInWithout": "CreatedWithoutClaim",
        "NoneHolds": "NoDomainHasRoom",
        "NotAsked": "FreshReadFailed",
        "NotNow": "AdmissionMustWait",
        "OddAnnotation": "AnnotationInvalid",
        "OddOnClique": "CliqueAnnotationInvalid",
        "Remains": "OutdatedCliqueRemains",
        "ScaledBelowMinimum": "ScaledBelowMinAvailable",
        "Stamped": "GangAnnotated",
        "StrangerSeen": "OtherAddressOnNode",
        "TopologyLeaving": "TopologyBeingDeleted",
        "Untold": "StatusNotWritten",
    }
)
"""Earlier names of reason codes. Stored conditions, saved plans and decision logs may have them, and ``grove rules``
accepts them; nothing prints them.
"""


class RuleSentence:
    """The sentence of a rule, with the facts that it needs.

    Attributes:
        requirement: the id of the rule, e.g. ``GT-033``; unique among all.
        sentence: the text for readers; ``{names}`` are the facts it needs, and no other facts are accepted.
        code: the reason code, where it is not the name of the member in CamelCase (conditions shared by two kinds).
        count: the end of the sentence, which is left out where each of its facts is 0 (CL-135); empty for none.
    """

    __slots__ = ("_counted", "code", "count", "facts", "requirement", "sentence")

    def __init__(self, requirement: str, sentence: str, *, code: str = "", count: str = "") -> None:
        self.requirement = requirement
        self.sentence = sentence + count
        self.code = code
        self.count = count
        self._counted = _names_in(count)
        self.facts = _names_in(self.sentence)

    def text(self, facts: Mapping[str, Fact]) -> str:
        """Return the sentence with the facts filled in."""
        is_zero = bool(self.count) and not any(facts[name] for name in self._counted)
        return (self.sentence.removesuffix(self.count) if is_zero else self.sentence).format(**facts)


def _names_in(sentence: str) -> frozenset[str]:
    return frozenset(name for _, name, _, _ in Formatter().parse(sentence) if name)


class Rule(Enum):
    """Base of every area's ``rules.py``: one member, one reason code, one sentence. Decorate with ``@unique``.

    Attributes:
        wording: the sentence and what it needs.
        code: the reason code that users see and search for: ``DELAY_EXPIRED`` is ``DelayExpired``.
        requirement: the id of the rule in ``specs/``.
    """

    def __init__(self, wording: RuleSentence) -> None:
        self.wording = wording
        self.code = wording.code or "".join(word.capitalize() for word in self.name.split("_"))
        self.requirement = wording.requirement

    @property
    def fact_names(self) -> frozenset[str]:
        """The names of the facts that its sentence needs."""
        return self.wording.facts

    def has_code(self, code: str) -> bool:
        """Whether this is its code, or an earlier name of it, as a condition of an earlier release may have."""
        return FORMER_CODES.get(code, code) == self.code

    def __reduce_ex__(self, protocol: object) -> tuple[object, ...]:
        """Copy and pickle a member by its name (PL-001)."""
        return getattr, (type(self), self.name)

    def has_fact_names(self, names: Collection[str]) -> bool:
        """Whether these are the names of the facts that its sentence needs."""
        return self.fact_names == set(names)

    def because(self, subject: Ref, /, **facts: Fact) -> "Reason":
        """Return the rule as a reason about a subject. Raises BrokenInvariant (PL-003) where the facts do not fit."""
        if facts.keys() != self.wording.facts:
            raise BrokenInvariant("PL-003", f"{self.name} needs {sorted(self.fact_names)}, got {sorted(facts)}")
        return Reason(self, subject, tuple(sorted(facts.items())))


class Reason(NamedTuple):
    """One reason. Facts are absolute (a moment, never a remaining time) and sorted by name."""

    rule: Rule
    subject: Ref
    facts: tuple[tuple[str, Fact], ...]

    @property
    def sentence(self) -> str:
        """The rule's sentence with the facts filled in."""
        return self.rule.wording.text(dict(self.facts))
