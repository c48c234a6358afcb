"""Tables of what admission says of a set, as data: one manifest, and what stands elsewhere in it case by case."""

import copy
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import yaml

from grove_core.kernel.admission import FieldRemark

Json = dict[str, Any]
_STEP: Final = re.compile(r"([A-Za-z]+)|\[(\d+)\]")


class Table:
    """A ``cases.yaml``: ``manifest`` is a set without findings, ``cases`` says what is judged otherwise."""

    def __init__(self, path: Path) -> None:
        raw: Json = yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader)
        self.cases: list[Json] = raw["cases"]
        self._manifest: Json = raw["manifest"]

    def with_values(self, values: Json) -> Json:
        """The manifest with other values at some places; None takes a field away."""
        raw: Json = copy.deepcopy(self._manifest)
        for path, value in values.items():
            steps = [name or int(index) for name, index in _STEP.findall(path)]
            place: Any = raw
            for step in steps[:-1]:
                place = place.setdefault(step, {}) if isinstance(step, str) else place[step]
            if value is not None:
                place[steps[-1]] = value
            elif isinstance(place, list) or steps[-1] in place:
                place.pop(steps[-1])
        return raw


def words_of(objections: Iterable[FieldRemark], warnings: Iterable[FieldRemark]) -> str:
    """What is said, each with its place, what stood there, and the code of its rule."""
    reported = [("refused", one) for one in objections] + [("warning", one) for one in warnings]
    lines = [f"{how}: {one}  {one.reason.rule.code}" for how, one in reported]
    return "".join(f"{line}\n" for line in lines or ["admitted"])


def same_words(path: Path, said: str, *, bless: bool) -> None:
    """Hold what is said against a file, which ``--bless`` writes."""
    if bless:
        path.write_text(said, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == said


def is_meant(pattern: str, path: str) -> bool:
    """Whether a pattern of a table means a field: ``*`` at its end stands for everything below."""
    return path.startswith(pattern[:-1]) if pattern.endswith("*") else path == pattern
