"""Checks arguments of the functions of ``grove_core.testing`` before anything is drawn (LT-009)."""

from collections.abc import Iterable
from collections.abc import Set as AbstractSet

from grove_core.plan.plan import Plan
from grove_core.rule_sets.rule_set import RuleSet
from grove_core.testing.cluster_builder import Sizes
from grove_core.testing.events import EventKind
from grove_core.testing.invariants.invariant import Invariant
from grove_core.testing.random_cluster import RandomCluster


def value_text_for_message(given: object) -> str:
    """Return a value for a message: a text, number or None as written, else its type."""
    return repr(given) if isinstance(given, str | int | float | bytes | None) else type(given).__name__


def require_controller(given: object) -> None:
    """Raise TypeError for what is no controller."""
    if isinstance(given, RuleSet) or callable(given):
        return
    hint = f", as rule_set({given!r})" if isinstance(given, str) else ""
    raise TypeError(f"a controller is a RuleSet{hint} or a function of a snapshot; got {value_text_for_message(given)}")


def require_sizes(given: object) -> None:
    """Raise TypeError for what is no Sizes."""
    if not isinstance(given, Sizes):
        raise TypeError(f"sizes is a Sizes, as Sizes(pods=2); got {value_text_for_message(given)}")


def require_event_kinds(given: object) -> None:
    """Raise TypeError or ValueError for what is no set of kinds of events, or an empty one."""
    kinds = given if isinstance(given, AbstractSet) else ()
    if not isinstance(given, AbstractSet) or not all(isinstance(one, EventKind) for one in kinds):
        raise TypeError(
            f"kinds is a set of EventKind, as frozenset({{EventKind.POD_FAILS}}); got {value_text_for_message(given)}"
        )
    if not kinds:
        raise ValueError("kinds has at least one EventKind; got none")


def require_count(given: object, name: str) -> None:
    """Raise TypeError or ValueError for what is no number from 0."""
    if isinstance(given, bool) or not isinstance(given, int):
        raise TypeError(f"{name} is a number; got {value_text_for_message(given)}")
    if given < 0:
        raise ValueError(f"{name} is at least 0; got {given}")


def require_drawn_cluster(given: object, function: str) -> None:
    """Raise TypeError for what is no drawn cluster."""
    if not isinstance(given, RandomCluster):
        raise TypeError(f"{function} takes a RandomCluster, as cluster_of(b''); got {value_text_for_message(given)}")


def require_deletions(given: object) -> Iterable[object]:
    """Return what a controller deletes. Raises TypeError where it is no list."""
    if isinstance(given, Iterable) and not isinstance(given, str | Plan):
        return given
    forgotten = ": is a return missing?" if given is None else ""
    raise TypeError(
        f"a controller returns a Plan, or a list of what it deletes; got {value_text_for_message(given)}{forgotten}"
    )


def require_invariants(given: object) -> tuple[object, ...]:
    """Return the invariants that a program gave. Raises TypeError where they are no list."""
    if isinstance(given, str | Invariant):
        one = repr(given) if isinstance(given, str) else given.id
        raise TypeError(f"invariants is a list, as [{one}]; got {one}")
    if not isinstance(given, Iterable):
        raise TypeError(f'invariants is a list, as ["GT-033"]; got {value_text_for_message(given)}')
    return tuple(given)
