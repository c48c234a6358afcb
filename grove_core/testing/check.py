"""Holds a controller against the invariants on drawn clusters and drawn histories."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import HypothesisWarning

from grove_core.rule_sets.rule_set import DESIGN, RuleSet
from grove_core.rule_sets.sparing_rule_sets import terminates_as_go_operator
from grove_core.snapshot.snapshot import Snapshot
from grove_core.snapshot.snapshot_argument import require_snapshot
from grove_core.testing.argument_checks import (
    require_controller,
    require_count,
    require_event_kinds,
    require_invariants,
    require_sizes,
    value_text_for_message,
)
from grove_core.testing.cluster_builder import Sizes
from grove_core.testing.controller_under_test import Controller, decide_with_controller
from grove_core.testing.events import Event, EventKind
from grove_core.testing.history_lines import lines_of_round, lines_of_snapshot
from grove_core.testing.invariants.invariant import Invariant, InvariantViolated, Round
from grove_core.testing.invariants.invariant_lists import FIELD_INVARIANTS, INVARIANTS
from grove_core.testing.played_cluster import PlayedCluster
from grove_core.testing.random_cluster import RandomCluster
from grove_core.testing.strategies import LEFT_OUT, event_sequences, mostly_breached_clusters, snapshot_without_kind

_NO_TIME_LIMIT: Final = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example)
_LEFT_OUT: Final = ("", "", "", "", *LEFT_OUT)
_EVERY_EVENT: Final = frozenset(EventKind)


@dataclass(frozen=True, slots=True)
class Effort:
    """How much :func:`check_all` draws.

    Attributes:
        snapshots: the number of single snapshots.
        histories: the number of histories; one takes several times as long as a snapshot. 0 plays none.
        events: the largest number of events of a history.
        sizes: the largest sizes of sets.
        kinds: the kinds of events that are drawn.
        seed: of the drawing; None draws others in every run.
        shrink: whether the smallest history is searched for, which takes up to a few minutes.

    Raises:
        ValueError: a number is below 0, there is no kind, or nothing would be drawn.
        TypeError: a value is of another type.
    """

    snapshots: int = 500
    histories: int = 200
    events: int = 12
    sizes: Sizes = Sizes()  # noqa: RUF009 - it is frozen
    kinds: frozenset[EventKind] = _EVERY_EVENT
    seed: int | None = 0
    shrink: bool = True

    def __post_init__(self) -> None:
        """Check the values."""
        for name in ("snapshots", "histories", "events"):
            require_count(getattr(self, name), name)
        if not self.snapshots + self.histories:
            raise ValueError("an effort draws at least one snapshot or history; got snapshots=0, histories=0")
        require_sizes(self.sizes)
        require_event_kinds(self.kinds)


def invariants_for(controller: Controller) -> tuple[Invariant, ...]:
    """Return the list for a controller: of the Go operator for a rule set that terminates like it, else of the design.

    The name of a rule set does not count: one that spares terminates as its base does, and a copy as the original. For
    a function the list is that of the design, so for one that calls :func:`grove_core.reconcile` with a rule set of the
    Go operator pass ``invariants=FIELD_INVARIANTS``.

    Args:
        controller: what is tested.

    Raises:
        TypeError: it is no controller.

    Example:
        >>> from grove_core import rule_set
        >>> [one.id for one in invariants_for(rule_set("field"))][:3]
        ['GF-002', 'GF-009', 'GF-077']
    """
    require_controller(controller)
    is_field = isinstance(controller, RuleSet) and terminates_as_go_operator(controller)
    return FIELD_INVARIANTS if is_field else INVARIANTS


def check_all(
    controller: Controller = DESIGN,
    *,
    invariants: Sequence[Invariant | str] | None = None,
    effort: Effort | None = None,
) -> None:
    """Hold a controller against the invariants, on single snapshots and in histories of a cluster in memory.

    Single snapshots are checked first. A controller that returns deletions alone is held against the invariants about
    deletions, and everything else is decided by the design. Effort and seed may be changed, and the smallest history
    that Hypothesis finds is reported.

    Args:
        controller: a rule set, or a function of a snapshot that returns a plan or what it deletes.
        invariants: those to check, or their ids; None for :func:`invariants_for` the controller.
        effort: how much is drawn; None for the default.

    Raises:
        InvariantViolated: with the rule, what it requires, what there is, and what happened before.
        ValueError: the controller deletes an object that the set does not have, or no invariant has such an id.
        TypeError: an argument, or what the controller returns, is of another type.

    Example:
        >>> def deletes_everything(snapshot):
        ...     return list(snapshot.cliques)
        >>> try:
        ...     check_all(deletes_everything, invariants=["GT-035"], effort=Effort(histories=0))
        ... except InvariantViolated as found:
        ...     print(found.violation.expected)
        the replica to be kept: nothing in it is breached
    """
    __tracebackhide__ = True
    listed, how = _listed(controller, invariants), Effort() if effort is None else effort
    if not isinstance(how, Effort):
        raise TypeError(f"effort is an Effort, as Effort(histories=1000); got {effort!r}")

    @given(mostly_breached_clusters(how.sizes), st.sampled_from(_LEFT_OUT))
    def on_snapshots(start: RandomCluster, kind: str) -> None:
        seen = snapshot_without_kind(start.snapshot, kind) if kind else start.snapshot
        check_snapshot(controller, seen, invariants=listed)

    @given(mostly_breached_clusters(how.sizes), event_sequences(how.events, how.kinds))
    def in_histories(start: RandomCluster, events: tuple[Event, ...]) -> None:
        check_history(controller, start, events, invariants=listed)

    for run, count in ((on_snapshots, how.snapshots), (in_histories, how.histories)):
        if count:
            _run(run, how, count)


def _listed(controller: Controller, invariants: Sequence[Invariant | str] | None) -> tuple[Invariant, ...]:
    """Return the invariants to check, of which some are given by their ids."""
    of_controller = invariants_for(controller)
    if invariants is None:
        return of_controller
    known = {one.id: one for one in of_controller}
    given = [known.get(one, one) if isinstance(one, str) else one for one in require_invariants(invariants)]
    found = tuple(one for one in given if isinstance(one, Invariant))
    if len(found) < len(given) or not given:
        got = ", ".join(value_text_for_message(one) for one in given if not isinstance(one, Invariant)) or "none"
        raise ValueError(f"invariants are those of {', '.join(known)}, or left out for all of them; got {got}")
    return found


def _run(test: Callable[[], None], how: Effort, count: int) -> None:
    """Run a test of Hypothesis; raise what it found without the notes about its drawing."""
    __tracebackhide__ = True
    phases = (Phase.generate, Phase.shrink) if how.shrink else (Phase.generate,)
    limited = settings(
        max_examples=count,
        phases=phases,
        deadline=None,
        database=None,
        report_multiple_bugs=False,
        suppress_health_check=_NO_TIME_LIMIT,
        derandomize=False,
        verbosity=Verbosity.quiet,  # else an error gets the drawn bytes as a note
        print_blob=False,  # nor the way to repeat them, which is of no use outside of a test
    )
    drawn = limited(test if how.seed is None else seed(how.seed)(test))
    violated: InvariantViolated | None = None
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Generating overly large repr", category=HypothesisWarning)
        try:
            drawn()
        except InvariantViolated as found:
            violated = found
    if violated is not None:
        raise InvariantViolated(violated.invariant, violated.violation, violated.history)


def check_snapshot(
    controller: Controller, snapshot: Snapshot, *, invariants: Sequence[Invariant | str] | None = None
) -> None:
    """Hold one decision of a controller against the invariants.

    Args:
        controller: what is tested.
        snapshot: what it decides on.
        invariants: as for :func:`check_all`.

    Raises:
        InvariantViolated: as above.
        TypeError: an argument is of another type.

    Example:
        >>> from grove_core.testing import cluster_of
        >>> check_snapshot(DESIGN, cluster_of(b"").snapshot)
    """
    decision = decide_with_controller(controller, require_snapshot(snapshot, "check_snapshot"))
    found = Round(snapshot, decision.plan)
    for invariant in _listed(controller, invariants):
        for violation in invariant.check((found,)) if decision.judges(invariant) else ():
            lines = (*lines_of_snapshot(snapshot), *lines_of_round(snapshot.now, found))
            raise InvariantViolated(invariant, violation, lines)


def check_history(
    controller: Controller,
    start: RandomCluster,
    events: Sequence[Event],
    *,
    invariants: Sequence[Invariant | str] | None = None,
) -> None:
    """Play a controller on a cluster, event by event and then until it rests, and check every round.

    Args:
        controller: what is tested.
        start: the objects at the beginning.
        events: what happens; after each the controller decides once.
        invariants: as for :func:`check_all`.

    Raises:
        InvariantViolated: as above.
        TypeError: an argument is of another type.

    Example:
        >>> from grove_core.testing import cluster_of
        >>> check_history(DESIGN, cluster_of(b""), [Event(EventKind.POD_FAILS), Event(EventKind.DELAY_PASSES)])
    """
    played = PlayedCluster(start, controller, _listed(controller, invariants))
    for event in events:
        played.happen(event)
    played.settle()
