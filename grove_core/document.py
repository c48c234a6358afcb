"""The JSON plan: a public, versioned format. Additions are minor, anything else is a new major version.

What is written can be read back to an equal value (PL-009); ``sentence`` and ``summary`` are there for readers only.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final, assert_never

from grove_core.areas.gang_termination import rules as gang_termination
from grove_core.areas.workload import rules as workload
from grove_core.kernel.decisions import Finding
from grove_core.kernel.errors import MalformedObject, Problem
from grove_core.kernel.frozen import FrozenMap, freeze, thaw
from grove_core.kernel.reasons import Reason, Rule
from grove_core.kernel.refs import Guard, Ref
from grove_core.kernel.steps import Action, Attempt, Delete, DropFinalizer, Outcome, SetStatus, Stage, Step
from grove_core.kernel.times import format_time, parse_time
from grove_core.plan import rules as planning
from grove_core.plan.forecast import Forecast, Round
from grove_core.plan.plan import Withheld
from grove_core.version import VERSION

FORMAT_VERSION: Final = "1.0"
ACTIONS: Final = ("create", "apply", "setStatus", "delete", "holdFinalizer", "dropFinalizer")
_RULES: Final[Mapping[str, Rule]] = MappingProxyType(
    {
        rule.requirement: rule
        for rules in (gang_termination.Why, gang_termination.Refuse, workload.Why, planning.Why)
        for rule in rules
    }
)
_STAGES: Final[Mapping[str, Stage]] = MappingProxyType(
    {"setStatus": Stage.STATUS, "delete": Stage.CLEANUP, "dropFinalizer": Stage.CLEANUP}
)
Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """Forecasts of one input at one moment.

    Attributes:
        rules: name of the rule set that judged.
        as_of: the clock of the first rounds.
        not_collected: kinds (``Pod``, or ``Pod in ml``) that the input left out.
        forecasts: one for each root, sorted by namespace and name.
    """

    rules: str
    as_of: datetime
    not_collected: tuple[str, ...]
    forecasts: tuple[Forecast, ...]


def summary_of(forecasts: Iterable[Forecast]) -> Json:
    """How many steps of each action there are in all rounds, and how many withheld ones."""
    counts: Counter[str] = Counter()
    for forecast in forecasts:
        for round_ in forecast.rounds:
            counts.update(action_name(step.action) for step in round_.steps)
            counts["withheld"] += len(round_.withheld)
    return {name: counts[name] for name in (*ACTIONS, "withheld")}


def document_as_json(document: Document, *, decisions: bool) -> Json:
    """Write a document; ``decisions`` adds every verdict, the "do nothing" ones included."""
    return {
        "formatVersion": FORMAT_VERSION,
        "coreVersion": VERSION,
        "rules": document.rules,
        "asOf": format_time(document.as_of),
        "notCollected": list(document.not_collected),
        "summary": summary_of(document.forecasts),
        "plans": [_forecast_as_json(forecast, decisions=decisions) for forecast in document.forecasts],
    }


def document_from_json(raw: Json) -> Document:
    """Read a document back. Raises MalformedObject where it is none of ours, or of another major version."""
    version = raw.get("formatVersion")
    if not isinstance(version, str) or version.split(".")[0] != FORMAT_VERSION.split(".")[0]:
        expected = f"a plan of format {FORMAT_VERSION}"
        raise MalformedObject((Problem(path="formatVersion", expected=expected, got=str(version)),))
    try:
        return Document(
            rules=raw["rules"],
            as_of=_time(raw["asOf"]),
            not_collected=tuple(raw["notCollected"]),
            forecasts=tuple(_forecast_from_json(plan, raw["rules"]) for plan in raw["plans"]),
        )
    except (KeyError, TypeError, AttributeError) as fault:
        raise MalformedObject((Problem(path="", expected="a whole plan", got=f"trouble at {fault}"),)) from fault


def attempts_from_json(raw: Any) -> tuple[Attempt, ...]:  # noqa: ANN401 - any JSON
    """Read recorded attempts: a list of steps as a plan has them, each with ``outcome`` and ``detail``.

    Raises MalformedObject where it is none of that.
    """
    items = raw if isinstance(raw, list) else [raw]
    try:
        return tuple(Attempt(_step(item), Outcome(item["outcome"]), _text(item.get("detail", ""))) for item in items)
    except (KeyError, TypeError, AttributeError, ValueError) as fault:
        raise MalformedObject((Problem(path="", expected="a list of attempts", got=f"trouble at {fault}"),)) from fault


def action_name(action: Action) -> str:
    """The action as the format calls it."""
    match action:
        case SetStatus():
            return "setStatus"
        case Delete():
            return "delete"
        case DropFinalizer():
            return "dropFinalizer"
        case _:
            assert_never(action)


def reason_as_json(reason: Reason) -> Json:
    """A reason with its rule, number, subject, facts and sentence."""
    return {
        "rule": reason.rule.code,
        "requirement": reason.rule.requirement,
        "subject": ref_as_json(reason.subject),
        "facts": dict(reason.facts),
        "sentence": reason.sentence,
    }


def finding_as_json(finding: Finding) -> Json:
    """A verdict with its subject, question and reasons."""
    return {
        "subject": ref_as_json(finding.subject),
        "question": finding.question,
        "verdict": finding.verdict,
        "because": _reasons_as_json(finding.because),
    }


def ref_as_json(ref: Ref) -> Json:
    """An address; ``replica`` only where one is meant."""
    shown: Json = {"apiVersion": ref.api_version, "kind": ref.kind, "namespace": ref.namespace, "name": ref.name}
    return shown if ref.replica is None else {**shown, "replica": ref.replica}


def _forecast_as_json(forecast: Forecast, *, decisions: bool) -> Json:
    shown: Json = {
        "root": {**ref_as_json(forecast.root), "uid": forecast.root_uid},
        "rounds": [_round_as_json(round_) for round_ in forecast.rounds],
        "complete": forecast.complete,
        "wakeAt": _time_as_json(forecast.rounds[0].wake_at),
    }
    if decisions:
        shown["decisions"] = [finding_as_json(finding) for finding in forecast.findings]
    return shown


def _round_as_json(round_: Round) -> Json:
    return {
        "round": round_.number,
        "at": format_time(round_.at),
        "steps": [_step_as_json(step) for step in round_.steps],
        "withheld": [
            {"target": ref_as_json(held.target), "because": _reasons_as_json(held.because)} for held in round_.withheld
        ],
        "wakeAt": _time_as_json(round_.wake_at),
    }


def _time_as_json(moment: datetime | None) -> str | None:
    return format_time(moment) if moment is not None else None


def _step_as_json(step: Step) -> Json:
    body = None
    if isinstance(step.action, SetStatus):
        body = thaw(step.action.fields)
    elif isinstance(step.action, DropFinalizer):
        body = {"finalizer": step.action.finalizer}
    guard = step.action.guard
    shown: Json = {
        "action": action_name(step.action),
        "target": ref_as_json(step.target),
        "guard": _guard_as_json(guard),
        "object": body,
        "because": _reasons_as_json(step.because),
    }
    if isinstance(step.action, Delete):
        shown["restsOn"] = [
            {"target": ref_as_json(ref), "guard": _guard_as_json(held)} for ref, held in step.action.rests_on
        ]
        shown["isCause"] = step.stage is Stage.CAUSE
    return shown


def _guard_as_json(guard: Guard) -> Json:
    return {"uid": guard.uid, "resourceVersion": guard.resource_version}


def _reasons_as_json(reasons: Iterable[Reason]) -> list[Json]:
    return [reason_as_json(reason) for reason in reasons]


def _forecast_from_json(raw: Json, rules: str) -> Forecast:
    return Forecast(
        root=_ref(raw["root"]),
        root_uid=raw["root"]["uid"],
        rules=rules,
        rounds=tuple(
            Round(
                round_["round"],
                _time(round_["at"]),
                tuple(_step(step) for step in round_["steps"]),
                tuple(Withheld(_ref(held["target"]), _reasons(held["because"])) for held in round_["withheld"]),
                None if round_["wakeAt"] is None else _time(round_["wakeAt"]),
            )
            for round_ in raw["rounds"]
        ),
        findings=tuple(
            Finding(_ref(item["subject"]), item["question"], item["verdict"], _reasons(item["because"]))
            for item in raw.get("decisions", ())
        ),
        complete=raw["complete"],
    )


def _step(raw: Json) -> Step:
    guard = _guard(raw["guard"])
    name = raw["action"]
    stage = _STAGES[name]
    action: Action
    if name == "setStatus":
        fields = freeze(raw["object"])
        if not isinstance(fields, FrozenMap):
            raise TypeError(f"status {raw['object']!r}")
        action = SetStatus(fields, guard)
    elif name == "dropFinalizer":
        action = DropFinalizer(_text(raw["object"]["finalizer"]), guard)
    else:
        action = Delete(guard, tuple((_ref(item["target"]), _guard(item["guard"])) for item in raw["restsOn"]))
        stage = Stage.CAUSE if raw["isCause"] else stage
    return Step(stage, _ref(raw["target"]), action, _reasons(raw["because"]))


def _guard(raw: Json) -> Guard:
    return Guard(_text(raw["uid"]), _text(raw["resourceVersion"]))


def _reasons(raw: Iterable[Json]) -> tuple[Reason, ...]:
    return tuple(
        Reason(_RULES[item["requirement"]], _ref(item["subject"]), tuple(sorted(item["facts"].items()))) for item in raw
    )


def _ref(raw: Json) -> Ref:
    replica = raw.get("replica")
    if replica is not None and type(replica) is not int:
        raise TypeError(f"replica {replica!r}")
    return Ref(_text(raw["apiVersion"]), _text(raw["kind"]), _text(raw["namespace"]), _text(raw["name"]), replica)


def _text(value: object) -> str:
    """A string, or a TypeError that becomes a report: hashing anything else would end in one anyway, later."""
    if not isinstance(value, str):
        raise TypeError(f"{value!r} instead of a string")
    return value


def _time(text: str) -> datetime:
    moment = parse_time(text)
    if moment is None:
        raise MalformedObject((Problem(path="", expected="an RFC 3339 time", got=text),))
    return moment
