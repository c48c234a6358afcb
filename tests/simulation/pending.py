"""What does not hold yet, in one place; each entry is strict: whoever repairs something is told to take it out here."""

from collections.abc import Mapping
from typing import Final

WAITING_EVENTS: Final = frozenset({"scale", "autoscale", "apply_set", "delete_set"})
"""Events to which the core has no answer yet: scaling in, updates, deletion in order."""

WAITING_CASES: Final = frozenset(
    {
        "a-day",
        "autoscale",
        "burst_of_edits",
        "deletion_of_a_set",
        "rolling_update",
        "scale_at_three_levels",
        "scale_during_update",
    }
)
"""Golden simulations, and examples, that need such an answer."""

KNOWN: Final[Mapping[int, str]] = {26: "O8", 104: "O8"}
"""Seed of a world among those that every run plays -> code of the promise that it is known to break."""
