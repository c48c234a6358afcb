"""The public lists of invariants: number, sentence and check of each."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Final

from grove_core.testing.invariants.deletions import (
    violations_of_deletion_rule,
    violations_of_named_causes,
    violations_of_termination_order,
    violations_without_fresh_read,
)
from grove_core.testing.invariants.field import (
    violations_of_field_deletion_rule,
    violations_of_premature_field_termination,
    violations_of_whole_replicas,
)
from grove_core.testing.invariants.histories import (
    violations_of_coming_to_rest,
    violations_of_guards,
    violations_of_kept_companions,
    violations_of_premature_termination,
    violations_of_repeated_refused_writes,
)
from grove_core.testing.invariants.invariant import History, Invariant, Violation
from grove_core.testing.invariants.rule_texts import SENTENCES
from grove_core.testing.invariants.statuses import (
    violations_of_breach_condition,
    violations_of_deleting_clique_statuses,
    violations_of_pod_counts,
    violations_of_scheduled_rule,
    violations_of_transition_times,
    violations_of_uncollected_kinds,
    violations_of_wake_time,
    violations_of_was_available,
)


def _invariant(
    rule: str, check: Callable[[History], Iterable[Violation]], *, reads_deletions_only: bool = False
) -> Invariant:
    return Invariant(rule, SENTENCES[rule], check, reads_deletions_only)


def _by_rule(check: Callable[[str, History], Iterable[Violation]], *rules: str, deletions: bool) -> Iterator[Invariant]:
    for rule in rules:
        yield _invariant(rule, partial(check, rule), reads_deletions_only=deletions)


def _nothing_without_kinds(history: History) -> Iterator[Violation]:
    yield from violations_of_deletion_rule("GT-024", history)
    yield from violations_of_uncollected_kinds(history)


_REFUSALS: Final = (
    _invariant("PL-004", violations_of_guards),
    _invariant("PL-012", violations_of_repeated_refused_writes),
    _invariant("PL-027", violations_of_kept_companions),
)

INVARIANTS: Final[tuple[Invariant, ...]] = (
    *_by_rule(
        violations_of_deletion_rule,
        *("GT-031", "GT-033", "GT-034", "GT-035", "GT-037", "GT-050", "GT-051", "GT-052", "GT-053", "GT-055", "GT-065"),
        deletions=True,
    ),
    _invariant("GT-032", violations_of_premature_termination, reads_deletions_only=True),
    _invariant("GT-063", violations_of_termination_order, reads_deletions_only=True),
    _invariant("PL-029", violations_without_fresh_read, reads_deletions_only=True),
    _invariant("GT-024", _nothing_without_kinds, reads_deletions_only=True),
    _invariant("GT-002", violations_of_pod_counts),
    *_by_rule(
        violations_of_breach_condition,
        *("GT-011", "GT-012", "GT-013", "GT-014", "GT-015", "GT-041", "GT-042", "GT-043"),
        deletions=False,
    ),
    _invariant("GT-016", violations_of_was_available),
    _invariant("GT-019", violations_of_transition_times),
    *_by_rule(violations_of_scheduled_rule, "GT-021", "GT-022", deletions=False),
    _invariant("GT-023", violations_of_deleting_clique_statuses),
    *_by_rule(violations_of_named_causes, "GT-036", "GT-054", deletions=False),
    _invariant("GT-060", violations_of_wake_time),
    _invariant("PL-002", violations_of_coming_to_rest),
    *_REFUSALS,
)
"""The invariants of gang termination by the design documents, for controllers that keep ``wasAvailable``."""

FIELD_INVARIANTS: Final[tuple[Invariant, ...]] = (
    *_by_rule(violations_of_field_deletion_rule, "GF-002", "GF-009", "GF-077", deletions=True),
    _invariant("GF-073", violations_of_whole_replicas, reads_deletions_only=True),
    _invariant("GF-050", violations_of_premature_field_termination),
    *_REFUSALS,
)
"""The invariants of gang termination by the Go operator, which knows no ``wasAvailable``.

They find terminations that are too many or not whole. None of them requires that a termination begins, so a controller
that never terminates a gang keeps them all; of GF-050, too, only that side is checked (LT-013).
"""
