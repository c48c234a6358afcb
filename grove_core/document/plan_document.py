"""The JSON plan: a public, versioned format. Additions are minor, anything else is a new major version."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, assert_never

from grove_core.kernel.steps import Action, Apply, Create, Delete, DropFinalizer, Ensure, SetStatus
from grove_core.plan.forecast import Forecast
from grove_core.resources.configuration import DEFAULT_CONFIGURATION, Configuration

FORMAT_VERSION: Final = "1.4"
FOREGROUND: Final = "Foreground"
AUTO: Final = "auto"  # the cluster decides the shape of ComputeDomains
# No step has the action ``holdFinalizer``; leaving it out of the summary would be a new major version.
ACTIONS: Final = ("create", "ensure", "apply", "setStatus", "delete", "holdFinalizer", "dropFinalizer")
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class RulesSource:
    """What chose the rule set of a document (CL-055).

    Attributes:
        kind: ``option``, ``configuration``, ``cluster`` or ``default``.
        because: the evidence in the cluster; empty for the first two.
    """

    kind: str
    because: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanDocument:
    """The forecasts of one input at one time.

    Attributes:
        rules: name of the rule set.
        as_of: the time of the first rounds; aware UTC.
        not_collected: kinds (``Pod``, or ``Pod in ml``) that the input left out.
        forecasts: one for each root, sorted by namespace and name.
        configuration: of the planned operator.
        rules_from: what chose the rule set; None in plans of formats before 1.4.
    """

    rules: str
    as_of: datetime
    not_collected: tuple[str, ...]
    forecasts: tuple[Forecast, ...]
    configuration: Configuration = DEFAULT_CONFIGURATION
    rules_from: RulesSource | None = None


def step_counts(forecasts: Iterable[Forecast]) -> Json:
    """Return the number of steps by action, and of withheld steps, in all rounds."""
    counts: Counter[str] = Counter()
    for forecast in forecasts:
        for round_ in forecast.rounds:
            counts.update(action_name(step.action) for step in round_.steps)
            counts["withheld"] += len(round_.withheld)
    return {name: counts[name] for name in (*ACTIONS, "withheld")}


def action_name(action: Action) -> str:
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
