"""What an installation may set of its alerts: thresholds, durations, severities, the address of runbooks (AL-012)."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, TypeAlias

Value: TypeAlias = str | int | float
AlertValues: TypeAlias = Mapping[str, Mapping[str, Value]]
"""The values of each alert by its key, as ``values.yaml`` of the chart has them."""

RUNBOOKS: Final = "https://github.com/YOUR-ORGANISATION/grove/blob/main/docs/runbooks"
"""Where the runbook pages are read: the folder ``docs/runbooks`` of a repository with this project."""

DEFAULTS: Final[AlertValues] = MappingProxyType(
    {
        "gangTerminationPending": {"for": "0s", "severity": "warning", "withinSeconds": 3600},
        "gangTerminated": {"for": "0s", "severity": "warning", "withinSeconds": 900},
        "writeRefused": {"for": "15m", "severity": "warning"},
        "predictionFailed": {"for": "0s", "severity": "warning", "window": "1h"},
        "queueDeep": {"for": "10m", "severity": "warning", "above": 50},
        "apiServerSlow": {"for": "10m", "severity": "warning", "aboveSeconds": 1, "window": "5m"},
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertOptions:
    """What an installation sets of its alerts.

    Attributes:
        values: of each alert, by its key.
        runbooks: the address of the folder with the runbook pages, without a slash at its end.
    """

    values: AlertValues = field(default_factory=lambda: DEFAULTS)
    runbooks: str = RUNBOOKS


_DURATION: Final = re.compile(r"(?:0|[1-9]\d{0,8})(?:ms|s|m|h|d|w)")
_WORD: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,62}")
_NUMBER: Final = re.compile(r"\d{1,9}(?:\.\d{1,6})?")
_URL: Final = re.compile(r"https?://[^\s\"'{}\\<>]+")
_DURATIONS: Final = frozenset({"for", "window"})


class InvalidAlertValue(ValueError):
    """A value of an alert, or the address of the runbooks, is not valid; the message says what is expected."""


def settable_alert_names() -> tuple[str, ...]:
    """Return the names of all values: the key of an alert, a dot, and the field."""
    return tuple(f"{key}.{part}" for key, parts in DEFAULTS.items() for part in parts)


def parse_alert_options(assignments: Iterable[str] = (), runbooks: str | None = None) -> AlertOptions:
    """Return the default options with some values set, such as ``queueDeep.above=200``.

    Args:
        assignments: of values.
        runbooks: the address of the folder with the runbook pages; None for the default.

    Raises:
        InvalidAlertValue: a name, a value or the address is not valid.
    """
    found: dict[str, dict[str, Value]] = {key: dict(parts) for key, parts in DEFAULTS.items()}
    for assignment in assignments:
        name, _, text = assignment.partition("=")
        key, _, part = name.partition(".")
        if part not in found.get(key, {}):
            known = ", ".join(settable_alert_names())
            raise InvalidAlertValue(f"--alert {assignment}: expected NAME=VALUE, with one of the names {known}")
        found[key][part] = _value(assignment, part, text)
    folder = RUNBOOKS if runbooks is None else runbooks
    if not _URL.fullmatch(folder):
        raise InvalidAlertValue(f"--runbooks {folder}: expected the address of a folder, such as {RUNBOOKS}")
    return AlertOptions(values=found, runbooks=folder.rstrip("/"))


def _value(assignment: str, part: str, text: str) -> Value:
    if part in _DURATIONS:
        if _DURATION.fullmatch(text) and not (part == "window" and text[0] == "0"):
            return text
        raise InvalidAlertValue(f"--alert {assignment}: expected a duration such as 30s, 15m or 1h")
    if part == "severity":
        if _WORD.fullmatch(text):
            return text
        raise InvalidAlertValue(f"--alert {assignment}: expected a word such as warning or critical")
    if not _NUMBER.fullmatch(text):
        raise InvalidAlertValue(f"--alert {assignment}: expected a number that is not negative, such as 60 or 0.5")
    return float(text) if "." in text else int(text)
