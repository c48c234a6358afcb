"""Two rule sets on one cluster: which gangs only one of them terminates, or at another time."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from grove_core.compare import FirstTermination
from grove_core.kernel.time_formats import format_time
from grove_core.rule_sets.rule_set import RuleSet
from grove_shell.actions.compare import CompareOptions, compare_input, report_as_json
from grove_shell.library.arguments import Sets, given_rules, time_span
from grove_shell.library.cluster import Cluster
from grove_shell.library.html import html_escaped, html_table
from grove_shell.library.objects import qualified_name
from grove_shell.library.plans import checked_cluster
from grove_shell.views.compare_page import RuleSetComparisonReport
from grove_shell.views.renderers import format_json_document


class Difference(NamedTuple):
    """PodCliques that the second rule set terminates otherwise than the first.

    Attributes:
        set: ``namespace/name``.
        change: what the second does: ``ENDS`` terminates them, and the first does not; ``SPARED`` the other way round;
            ``SOONER``, ``LATER``, ``OFTENER`` and ``RARER`` where both do.
        before, after: when the first and the second terminate them first; None where they do not.
    """

    set: str
    change: str
    cliques: tuple[str, ...]
    before: datetime | None
    after: datetime | None


@dataclass(frozen=True, repr=False, eq=False)
class Comparison:
    """The comparison of two rule sets.

    Attributes:
        internals: not part of the public names.
    """

    internals: RuleSetComparisonReport

    @property
    def differences(self) -> tuple[Difference, ...]:
        """The differences of all sets, those of a set with the most severe first."""
        return tuple(self._differences())

    def _differences(self) -> Iterator[Difference]:
        for one in self.internals.comparisons:
            for found in one.differences:
                yield Difference(
                    qualified_name(one.root),
                    found.change.value,
                    tuple(clique.name for clique in found.cliques),
                    _time_of(found.before),
                    _time_of(found.after),
                )

    @property
    def unknown(self) -> tuple[str, ...]:
        """Why a rule set cannot decide or predict, a sentence each; check it before you trust that nothing differs."""
        reasons = (why for one in self.internals.comparisons for why in (*one.unknown, *one.unpredicted))
        return tuple(dict.fromkeys(why.sentence for why in reasons))

    def to_dict(self) -> dict[str, Any]:
        """Return what ``grove compare -o json`` prints."""
        return report_as_json(self.internals)

    def to_json(self) -> str:
        """Return it as text."""
        return format_json_document(self.to_dict())

    @property
    def rules(self) -> tuple[str, str]:
        """The names of both rule sets."""
        return self.internals.rules

    @property
    def until(self) -> datetime | None:
        """The end of the comparison; None where only the present moment is compared."""
        return self.internals.until

    def __repr__(self) -> str:
        (first, second), until = self.rules, self.until
        end = f" until {format_time(until)}" if until is not None else " now"
        return f"<Comparison of {first!r} with {second!r}{end}: {len(self.differences)} differences>"

    def _repr_html_(self) -> str:
        """Return a table for a notebook."""
        unknown = html_table("not known", ("what",), ((one,) for one in self.unknown))
        return (
            f"<p><b>{html_escaped(repr(self)[1:-1])}</b></p>"
            + unknown
            + html_table("differences", Difference._fields, self.differences)
        )


def compare(
    cluster: Cluster,
    first: str | RuleSet,
    second: str | RuleSet,
    *,
    until: timedelta | datetime | str | None = None,
    sets: Sets = None,
) -> Comparison:
    """Return what the second rule set terminates otherwise than the first.

    Args:
        cluster: as :func:`grove_shell.read` returns it.
        first, second: names of rule sets, as ``field@alpha.11``, or RuleSets; ``auto`` for the operator of the cluster.
        until: also compare what happens within this time, if nothing else happens.
        sets: names of PodCliqueSets; all of them by default.

    Raises:
        TypeError, ValueError: an argument is wrong.

    Example:
        >>> import grove_shell as grove
        >>> grove.compare(grove.read("examples/real-cluster.yaml"), "design", "field", until="6h")
        <Comparison of 'design' with 'field@v0.1.0-alpha.12-rc1' until 2026-11-21T15:40:00Z: 2 differences>
    """
    read = checked_cluster(cluster).internals
    options = CompareOptions(
        rules=(given_rules(first, "first"), given_rules(second, "second")),
        sets=read.known_sets(sets),
        until=None if until is None else time_span(until, cluster.now, "until"),
    )
    return Comparison(compare_input(read.inputs, read.source, options))


def _time_of(found: FirstTermination | None) -> datetime | None:
    return None if found is None else found.at
