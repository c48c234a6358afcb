"""What the API server was asked, as its audit log has it."""

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

Event = dict[str, Any]


class Trail:
    """The audit events of each user, in their order; a line is read once, and only when it is whole.

    The server may be writing one just now, and its log grows as long as a control plane serves tests.
    """

    def __init__(self, log: Path) -> None:
        self._log = log
        self._read = 0
        self._events: defaultdict[str, list[Event]] = defaultdict(list)

    def of(self, user: str) -> list[Event]:
        """Every request of this user so far."""
        if self._log.exists():
            with self._log.open("rb") as log:
                log.seek(self._read)
                whole, ended, _ = log.read().rpartition(b"\n")
            self._read += len(whole) + len(ended)
            for line in whole.splitlines():
                event = json.loads(line)
                self._events[event["user"]["username"]].append(event)
        return [*self._events[user]]
