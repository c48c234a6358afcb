"""Violations of promises."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PromiseViolation:
    """One broken promise.

    Attributes:
        code: code of the promise (``RS1``, ``GT5``, ``O10``); the table "Promises" of ``specs/simulation.md`` has all.
        at: milliseconds since the start.
        objects: the objects concerned, as ``Kind/name``.
        message: what was observed, and what was promised.
    """

    code: str
    at: int
    objects: tuple[str, ...]
    message: str


class PromiseViolated(Exception):
    """Raised at the first violation; it ends the run."""

    def __init__(self, violation: PromiseViolation) -> None:
        super().__init__(violation.message)
        self.violation = violation
