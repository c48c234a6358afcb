"""Violations of rules in a manifest, before they become objections or warnings."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from grove_core.kernel.admission import Caution, Objection
from grove_core.kernel.reasons import Fact, Rule
from grove_core.kernel.refs import Ref
from grove_core.resources.fields import shown


class Violation(NamedTuple):
    """A field, its value, the violated rule and the facts that the rule quotes."""

    path: str
    got: object
    rule: Rule
    facts: Mapping[str, Fact]

    def objection(self, subject: Ref) -> Objection:
        """Return the violation as an objection, which refuses the manifest."""
        return Objection(self.path, shown(self.got), self.rule.because(subject, **self.facts))

    def caution(self, subject: Ref) -> Caution:
        """Return the violation as a warning."""
        return Caution(self.path, shown(self.got), self.rule.because(subject, **self.facts))


def new_violations(now: Iterable[Violation], before: Iterable[Violation]) -> Iterator[Violation]:
    """Return the violations that the manifest did not have before the update, at any path."""
    known = {(found.rule, found.got) for found in before}
    return (found for found in now if (found.rule, found.got) not in known)
