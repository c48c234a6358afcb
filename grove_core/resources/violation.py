"""What a rule finds in a manifest, before it becomes an objection or a warning."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from grove_core.kernel.admission import Caution, Objection
from grove_core.kernel.reasons import Fact, Rule
from grove_core.kernel.refs import Ref
from grove_core.resources.fields import shown


class Violation(NamedTuple):
    """A field, what stands there, the rule against it and the facts the rule quotes."""

    path: str
    got: object
    rule: Rule
    facts: Mapping[str, Fact]

    def objection(self, subject: Ref) -> Objection:
        """It is refused."""
        return Objection(self.path, shown(self.got), self.rule.because(subject, **self.facts))

    def caution(self, subject: Ref) -> Caution:
        """It is warned of."""
        return Caution(self.path, shown(self.got), self.rule.because(subject, **self.facts))


def new_violations(now: Iterable[Violation], before: Iterable[Violation]) -> Iterator[Violation]:
    """What was not found before, wherever it stood: an update is not blamed for what it leaves as it was."""
    known = {(found.rule, found.got) for found in before}
    return (found for found in now if (found.rule, found.got) not in known)
