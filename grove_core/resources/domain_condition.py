"""The condition that lists replicas without a ComputeDomain; its message can be read back (MN-015)."""

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from grove_core.kernel.conditions import Condition, Truth
from grove_core.resources.keys import DOMAINS_READY

REASON: Final = "CreationFailed"
_WORDS: Final = "ComputeDomain creation failed for replicas: "
_MESSAGE: Final = re.compile(re.escape(_WORDS) + r"\[([0-9, ]*)\]\. Error: (.*)", re.DOTALL)
_LONGEST: Final = 32_000  # an API server takes 32,768 characters


class Failure(NamedTuple):
    """Replicas whose domain could not be made, in order, and the server's words for the first of them."""

    replicas: tuple[int, ...] = ()
    error: str = ""

    @property
    def message(self) -> str:
        """As the condition says it; an error that is too long for a condition is cut."""
        text = f"{_WORDS}{list(self.replicas)}. Error: "
        return f"{text}{self.error}"[: max(_LONGEST, len(text))]


def failure_in(conditions: Iterable[Condition]) -> Failure:
    """What stored conditions say failed; nothing where none says so, or not in our words."""
    for condition in conditions:
        found = _MESSAGE.fullmatch(condition.message) if condition.type == DOMAINS_READY else None
        if found is not None and condition.status is Truth.FALSE:
            digits = [part.strip() for part in found[1].split(",") if part.strip()]
            return Failure(tuple(sorted({int(one) for one in digits if one.isdecimal()})), found[2])
    return Failure()
