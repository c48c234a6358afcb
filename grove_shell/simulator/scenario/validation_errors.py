"""Texts of faults for the validation errors of pydantic, and the names that a misspelt name may have meant."""

from collections.abc import Iterable, Mapping
from difflib import SequenceMatcher
from typing import Any, Final

from pydantic import BaseModel

from grove_core.resources.json_field_reader import short_json
from grove_shell.settings.shared_settings import field_names_at

_SHOWN: Final = 4
_MOST_COMPARED: Final = 2_000


def similar_known_names_text(name: str, known: Iterable[str]) -> str:
    """Return ``known: a, b and 3 more`` with the most similar names first; empty without known names.

    Above 2,000 known names they stay in their order, because comparing them takes too long.
    """
    found = list(known)
    matcher = SequenceMatcher(b=name)

    def dissimilarity(other: str) -> float:
        matcher.set_seq1(other)
        return -matcher.ratio()

    ordered = sorted(found, key=dissimilarity) if len(found) <= _MOST_COMPARED else found
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return f"known: {', '.join(ordered[:_SHOWN])}{more}" if found else ""


_EXPECTED: Final[Mapping[str, str]] = {
    "bool_type": "true or false",
    "int_type": "a whole number",
    "string_type": "a string",
    "string_too_short": "a name",
    "missing": "a value",
    "tuple_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
}


def expected_field_value_text(problem: Mapping[str, Any], whole: type[BaseModel]) -> str:
    """Return what a field must be."""
    kind = problem["type"]
    context = problem.get("ctx") or {}
    if kind == "extra_forbidden":
        *where, name = problem["loc"]
        return f"unknown field; {similar_known_names_text(str(name), field_names_at(whole, where))}"
    if kind == "literal_error":
        known = context["expected"].replace("'", "").replace(" or ", ", ")
        return f"one of {known}" if ", " in known else str(known)
    if kind == "greater_than_equal":
        return f"a whole number of at least {context['ge']}"
    if kind == "less_than_equal":
        return f"a whole number of at most {context['le']}"
    return _EXPECTED.get(kind, str(problem["msg"]).removeprefix("Value error, "))


def wrong_field_value_text(problem: Mapping[str, Any]) -> str:
    """Return the wrong value, shortened."""
    if problem["type"] == "missing":
        return "nothing"
    if problem["type"] in {"exactly_one", "when_or_never", "one_of_two"}:
        given = problem["input"]
        return ", ".join(map(str, given)) or "nothing" if isinstance(given, Mapping) else short_json(given)
    return short_json(problem["input"])
