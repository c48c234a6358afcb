"""Reasons of a page with links to their subjects, and the rules that they cite."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_shell.catalogue.specification_rules import SpecificationRule, specification_rules_by_number
from grove_shell.html.anchors import HtmlAnchorIds


@dataclass(frozen=True, slots=True)
class HtmlReason:
    """One sentence.

    Attributes:
        subject: the object that it is about, where the page names it; empty where the place says so.
        link: to the subject; empty where it is not on the page.
        code, rule: the reason code and the number of the rule; empty for a sentence without one.
        level: of its indent, from 0.
    """

    sentence: str
    subject: str = ""
    link: str = ""
    code: str = ""
    rule: str = ""
    level: int = 0


class CitedRules:
    """Turns reasons into sentences with links, and remembers the rules that they cite."""

    def __init__(self, anchors: HtmlAnchorIds) -> None:
        self._anchors = anchors
        self._codes: dict[str, str] = {}

    def html_reasons(self, because: Iterable[Reason], place: Ref | None = None) -> tuple[HtmlReason, ...]:
        """Return some reasons.

        Args:
            place: the object at whose place they stand; it is not named again.
        """
        return tuple(self.html_reason(why, place) for why in because)

    def html_reason(self, why: Reason, place: Ref | None = None, level: int = 0) -> HtmlReason:
        """Return one reason; see ``html_reasons``."""
        self.cite(why)
        is_here = place is not None and why.subject.without_replica == place.without_replica
        return HtmlReason(
            why.sentence,
            "" if is_here else why.subject.short,
            "" if is_here else self._anchors.link_to(why.subject),
            why.rule.code,
            why.rule.requirement,
            level,
        )

    def cite(self, why: Reason) -> None:
        """Remember the rule of a reason."""
        self.cite_number(why.rule.requirement, why.rule.code)

    def cite_number(self, number: str, code: str) -> None:
        """Remember a rule by its number and reason code."""
        self._codes[number] = code

    def link_to(self, ref: Ref) -> str:
        """Return the link to an object; empty where it is not on the page."""
        return self._anchors.link_to(ref)

    def rules(self) -> Mapping[str, tuple[str, SpecificationRule | None]]:
        """Return number of a cited rule -> its reason code and its text; None for a rule of an entry point."""
        known = specification_rules_by_number()
        return {number: (self._codes[number], known.get(number)) for number in sorted(self._codes)}
