"""The JSON plan: a public, versioned format, and its values. Additions are minor, all else is a new major version."""

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Final, assert_never

from grove_core.kernel.frozen import MOST_LEVELS, FrozenMap, frozen
from grove_core.kernel.reasons import Fact
from grove_core.kernel.steps import Action, Apply, Create, Delete, DropFinalizer, Ensure, SetStatus
from grove_core.kernel.structs import Struct
from grove_core.kernel.time_formats import parse_time
from grove_core.plan.forecast import Forecast
from grove_core.resources.configuration import DEFAULT_CONFIGURATION, Configuration
from grove_core.resources.json_field_reader import short_json

FORMAT_VERSION: Final = "1.4"
NEWEST_IN_INPUT: Final = "input"
"""Source of a time to decide at: the newest time in the input."""
FOREGROUND: Final = "Foreground"
AUTO: Final = "auto"  # the cluster decides the shape of ComputeDomains
# No step has the action ``holdFinalizer``; leaving it out of the summary would be a new major version.
ACTIONS: Final = ("create", "ensure", "apply", "setStatus", "delete", "holdFinalizer", "dropFinalizer")
Json = dict[str, Any]


class RuleSetSource(Struct, frozen=True):
    """What chose the rule set of a document (CL-055).

    Attributes:
        kind: ``option``, ``configuration``, ``cluster`` or ``default``.
        because: the evidence in the cluster; empty for the first two.
    """

    kind: str
    because: str = ""


class PlanDocument(Struct, frozen=True, kw_only=True):
    """The forecasts of one input at one time.

    Attributes:
        rules: name of the rule set.
        as_of: the time of the first rounds; aware UTC.
        not_collected: kinds (``Pod``, or ``Pod in ml``) that the input left out.
        forecasts: one for each root, sorted by namespace and name.
        configuration: of the planned operator.
        rules_from: what chose the rule set; None in plans of formats before 1.4.
        not_planned: ``namespace/name`` of the sets whose manifests in the input were not selected (IN-087).
        as_of_from: ``input`` where the time is the newest one in the input (IN-081); else empty.
    """

    rules: str
    as_of: datetime
    not_collected: tuple[str, ...]
    forecasts: tuple[Forecast, ...]
    configuration: Configuration = DEFAULT_CONFIGURATION
    rules_from: RuleSetSource | None = None
    as_of_from: str = ""
    not_planned: tuple[str, ...] = ()


def step_counts_by_action(forecasts: Iterable[Forecast]) -> Json:
    """Return the number of steps by action, and of withheld steps, in all rounds."""
    counts: Counter[str] = Counter()
    for forecast in forecasts:
        for round_ in forecast.rounds:
            counts.update(step_action_name(step.action) for step in round_.steps)
            counts["withheld"] += len(round_.withheld)
    return {name: counts[name] for name in (*ACTIONS, "withheld")}


def step_action_name(action: Action) -> str:
    """Return the name of an action in the format."""
    match action:
        case Create():
            return "create"
        case Ensure():
            return "ensure"
        case Apply():
            return "apply"
        case SetStatus():
            return "setStatus"
        case Delete():
            return "delete"
        case DropFinalizer():
            return "dropFinalizer"
        case _:
            assert_never(action)


class MalformedPlanValue(ValueError):
    """A value has another type than the format requires; the text names the value and the type."""


def require_text(value: object) -> str:
    """Return a string. Raises MalformedPlanValue for any other value."""
    if not isinstance(value, str):
        raise MalformedPlanValue(f"{short_json(value)} instead of a string")
    return value


def require_integer(value: object) -> int:
    """Return an integer of any size. Raises MalformedPlanValue for any other value."""
    if type(value) is not int:
        raise MalformedPlanValue(f"{short_json(value)} instead of an integer")
    return value


def require_boolean(value: object) -> bool:
    """Return a boolean. Raises MalformedPlanValue for any other value."""
    if not isinstance(value, bool):
        raise MalformedPlanValue(f"{short_json(value)} instead of true or false")
    return value


def fact_from_json(value: object) -> Fact:
    """Return a fact of a reason: a string, an integer or a boolean. Raises MalformedPlanValue for any other value."""
    if not isinstance(value, str | int):
        raise MalformedPlanValue(f"{short_json(value)} instead of a fact")
    return value


def require_time(value: object) -> datetime:
    """Return an RFC 3339 time as aware UTC. Raises MalformedPlanValue for any other value."""
    found = parse_time(require_text(value))
    if found is None:
        raise MalformedPlanValue(f"{short_json(value)} instead of an RFC 3339 time")
    return found


def require_list(value: Any) -> list[Any]:  # noqa: ANN401 - any JSON
    """Return a list with items of any type. Raises MalformedPlanValue for any other value."""
    if not isinstance(value, list):
        raise MalformedPlanValue(f"{short_json(value)} instead of a list")
    return value


def require_object(value: object) -> FrozenMap:
    """Return a Kubernetes object, or fields of one, as an immutable value.

    Raises:
        MalformedPlanValue: it is no object.
        ValueError: it has more levels than Kubernetes accepts.
    """
    if not isinstance(value, Mapping):
        raise MalformedPlanValue(f"{short_json(value)} instead of an object")
    level: list[Any] = [value]
    for _ in range(MOST_LEVELS):
        level = [inner for outer in level for inner in _inside(outer)]
    if level:
        raise ValueError(f"an object of more than {MOST_LEVELS} levels")
    return frozen(value)


def _inside(value: Any) -> Any:  # noqa: ANN401 - any JSON
    if isinstance(value, Mapping):
        return value.values()
    return value if isinstance(value, list | tuple) else ()
