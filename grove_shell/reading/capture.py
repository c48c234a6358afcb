"""What a capture says of itself: when it was taken, of what, and what the cluster did not show (IN-047)."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from grove_core.kernel.errors import Problem
from grove_core.kernel.times import format_time
from grove_core.resources.fields import Fields
from grove_core.snapshot.cluster import Gap
from grove_shell.reading.collected import Collected

VERSION: Final = "snapshot.grove.io/v1"
KIND: Final = "Snapshot"


def as_item(collected: Collected, taken_at: datetime) -> dict[str, Any]:
    """The first object of a capture."""
    return {
        "apiVersion": VERSION,
        "kind": KIND,
        "metadata": {"name": "snapshot"},
        "takenAt": format_time(taken_at),
        "server": collected.origin,
        "collected": [{"kind": kind, "namespace": namespace} for kind, namespace in sorted(collected.complete)],
        "notCollected": [
            {"kind": kind, "namespace": namespace, "why": why}
            for (kind, namespace), why in sorted(collected.unseen.items())
        ],
    }


def read(raw: Mapping[str, Any]) -> tuple[Collected, datetime | None, tuple[Problem, ...]]:
    """The same read back, and everything wrong with it."""
    problems: list[Problem] = []
    top = Fields(raw, "", problems)
    complete: set[Gap] = {(part.text("kind"), part.text("namespace")) for part in top.parts("collected")}
    unseen = {(part.text("kind"), part.text("namespace")): part.text("why") for part in top.parts("notCollected")}
    taken_at = top.time("takenAt", required=True)
    found = Collected(origin=top.text("server"), complete=frozenset(complete), unseen=unseen)
    return found, taken_at, tuple(problems)
