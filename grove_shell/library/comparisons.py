"""Two rule sets on one cluster: which gangs only one of them terminates, or at another time."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from grove_core.areas.workload.field.upgrade_restart import UpgradeRestart
from grove_core.compare import FirstTermination
from grove_core.kernel.reasons import Reason
from grove_core.kernel.steps import DeletionImpact
from grove_core.kernel.time_formats import format_time
from grove_core.resources.podcliqueset_spec import ON_DELETE, ROLLING_RECREATE
from grove_core.rule_sets.rule_set import RuleSet
from grove_shell.actions.compare import CompareOptions, compare_input, comparison_as_json
from grove_shell.library.arguments import Sets, given_rules, time_span_from_argument
from grove_shell.library.cluster import Cluster, require_cluster
from grove_shell.library.html_tables import html_page_of_tables, html_table
from grove_shell.library.objects import qualified_name, subject_display_name
from grove_shell.library.tables import Table, table_of
from grove_shell.reading.input_faults import BadInput, InputFault
from grove_shell.views.compare.compare_page import RuleSetComparisonReport
from grove_shell.views.plan.manifest_notes import redacted_fields_text
from grove_shell.views.renderers import format_json_document


class Difference(NamedTuple):
    """PodCliques that the second rule set terminates otherwise than the first.

    Attributes:
        set: ``namespace/name``.
        change: what the second does, in the words of ``grove compare``: ``ENDS`` terminates them, and the first does
            not; ``SPARED`` does not, and the first does; ``SOONER``, ``LATER``, ``OFTENER`` (more often) and ``RARER``
            (less often) where both do.
        cliques: names of the PodCliques.
        before, after: when the first and the second terminate them first; None where they do not.
        because: why one of them terminates them then, and why the other one does not; each after its rule set.
        pods, ready, gpus: of everything that is deleted in that first termination; None where the pods are not known.
        replica: that is terminated, of the set or of a scaling group, as ``llama-0-decode replica 1``.
        times_before, times_after: how often each of them terminates it; 0 where it does not.
    """

    set: str
    change: str
    cliques: tuple[str, ...]
    before: datetime | None
    after: datetime | None
    because: str
    pods: int | None
    ready: int | None
    gpus: int | None
    replica: str
    times_before: int
    times_after: int


class OperatorUpgrade(NamedTuple):
    """What an upgrade of the operator from the first rule set to the second replaces of one set, replica by replica.

    Attributes:
        set: ``namespace/name``.
        strategy: ``RollingRecreate``, or ``OnDelete``, under which no pod is restarted.
        pods, ready, gpus: that are replaced; None where they are not known.
    """

    set: str
    strategy: str
    pods: int | None
    ready: int | None
    gpus: int | None


@dataclass(frozen=True, repr=False, eq=False)
class Comparison:
    """The comparison of two rule sets.

    Attributes:
        internals: not part of the public names.
    """

    internals: RuleSetComparisonReport

    @property
    def differences(self) -> Table[Difference]:
        """The differences of all sets, those of a set with the most severe first."""
        return table_of(Difference, self._differences())

    @property
    def upgrades(self) -> Table[OperatorUpgrade]:
        """The sets whose pods are replaced by the upgrade itself, because both releases hash templates otherwise."""
        found = ((qualified_name(one.root), one.restart) for one in self.internals.comparisons)
        return table_of(OperatorUpgrade, (_upgrade(name, one) for name, one in found if one is not None))

    def _differences(self) -> Iterator[Difference]:
        for one in self.internals.comparisons:
            for found in one.differences:
                ends = found.after or found.before
                first, second = self.rules
                by, other = (second, first) if found.after is not None else (first, second)
                sides = ((by, ends.because if ends is not None else ()), (other, found.spared_because))
                yield Difference(
                    qualified_name(one.root),
                    found.change.value,
                    tuple(clique.name for clique in found.cliques),
                    _time_of(found.before),
                    _time_of(found.after),
                    "; ".join(f"by {rules}: {_sentences(reasons)}" for rules, reasons in sides if reasons),
                    *_counts(ends.takes if ends is not None else None),
                    subject_display_name(ends.subject) if ends is not None else "",
                    found.before.times if found.before is not None else 0,
                    found.after.times if found.after is not None else 0,
                )

    @property
    def unknown(self) -> tuple[str, ...]:
        """Why a rule set cannot decide or predict, a sentence each; check it before you trust that nothing differs."""
        reasons = (why for one in self.internals.comparisons for why in (*one.unknown, *one.unpredicted))
        sentences = dict.fromkeys(why.sentence for why in reasons)
        hidden = (f"{name}: {redacted_fields_text(fields)}" for name, fields in self.internals.hidden.items())
        not_planned = (f"{name}: its manifest is not planned" for name in self.internals.not_planned)
        return (*sentences, *hidden, *not_planned)

    def to_dict(self) -> dict[str, Any]:
        """Return what ``grove compare -o json`` prints."""
        return comparison_as_json(self.internals)

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
        return html_page_of_tables(
            repr(self)[1:-1],
            html_table("not known", ("what",), ((one,) for one in self.unknown)),
            html_table("pods that the upgrade replaces", self.upgrades.columns, self.upgrades),
            html_table("differences", self.differences.columns, self.differences),
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

    Returns:
        No difference where both are the same rule set. Where an upgrade of the operator from the first to the second
        replaces pods, the second is judged after it: see ``upgrades``.

    Raises:
        BadInput: nothing can be decided from what was read.
        TypeError, ValueError: an argument is wrong.

    Example:
        >>> import grove_shell as grove
        >>> grove.compare(grove.read("examples/real-cluster.yaml"), "design", "field", until="6h")
        <Comparison of 'design' with 'field@v0.1.0-alpha.12-rc1' until 2026-11-21T15:40:00Z: 2 differences>
    """
    read = require_cluster(cluster).internals
    options = CompareOptions(
        rules=(given_rules(first, "first"), given_rules(second, "second")),
        sets=read.known_sets(sets),
        until=None if until is None else time_span_from_argument(until, cluster.now, "until"),
    )
    report = compare_input(read.inputs, read.source, options)
    if report.nothing_judged:
        raise BadInput([InputFault(file="input", expected="", got=report.nothing_judged)])
    return Comparison(report)


def _upgrade(name: str, restart: UpgradeRestart) -> OperatorUpgrade:
    strategy = ON_DELETE if restart.on_delete else ROLLING_RECREATE
    return OperatorUpgrade(name, strategy, *_counts(restart.takes))


def _counts(takes: DeletionImpact | None) -> tuple[int | None, int | None, int | None]:
    """Return pods, ready pods and GPUs."""
    return (None, None, None) if takes is None else (takes.pods, takes.ready, takes.gpus)


def _sentences(reasons: Iterable[Reason]) -> str:
    return "; ".join(dict.fromkeys(f"{why.subject.name}: {why.sentence}" for why in reasons))


def _time_of(found: FirstTermination | None) -> datetime | None:
    return None if found is None else found.at
