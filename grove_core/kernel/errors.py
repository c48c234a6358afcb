"""The two ways to fail: somebody else's input, or our own law. Nothing else leaves the core."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing that is wrong in one object (IN-030).

    Attributes:
        path: field path, e.g. ``spec.template.cliques[0].spec.minAvailable``; empty for the object itself.
        expected: what would have been right, as a noun phrase.
        got: what stood there, shortened.
    """

    path: str
    expected: str
    got: str

    def __str__(self) -> str:
        where = f"{self.path}: " if self.path else ""
        return f"{where}expected {self.expected}, got {self.got}"


class MalformedObject(Exception):
    """An object is not what it claims to be. Theirs to fix; carries every problem of the object, once (IN-030)."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        self.problems = tuple(dict.fromkeys(problems))
        super().__init__("; ".join(map(str, self.problems)))


class BrokenInvariant(Exception):
    """We broke a law of our own. Never caught, never expected; the requirement says which law."""

    def __init__(self, requirement: str, detail: str) -> None:
        super().__init__(f"{requirement}: {detail}")
        self.requirement = requirement
