"""What may never happen, happened."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Violation:
    """One broken promise.

    Attributes:
        code: of the catalogue (``RS1``, ``GT5``, ``O10``).
        at: milliseconds since the start.
        objects: those concerned, as ``Kind/name``.
        says: what was seen, and what was promised.
    """

    code: str
    at: int
    objects: tuple[str, ...]
    message: str


class Violated(Exception):
    """Raised where a violation is found; it ends the run."""

    def __init__(self, violation: Violation) -> None:
        super().__init__(violation.message)
        self.violation = violation
