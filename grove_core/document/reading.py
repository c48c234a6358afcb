"""Documents and attempts read back from JSON to equal values (PL-009).

Rule for this file: whatever the JSON is, the only exception is MalformedObject.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final

from grove_core.areas.gang_termination import rules as gang_termination
from grove_core.areas.gang_termination.field import rules as field
from grove_core.areas.mnnvl import rules as mnnvl
from grove_core.areas.mnnvl_scopes import rules as mnnvl_scopes
from grove_core.areas.topology import rules as topology
from grove_core.areas.workload import rules as workload
from grove_core.document.document import AUTO, FOREGROUND, FORMAT_VERSION, Document, Json
from grove_core.kernel.decisions import Finding
from grove_core.kernel.durations import parse_duration
from grove_core.kernel.errors import MalformedObject, Problem
from grove_core.kernel.frozen import FrozenMap, freeze
from grove_core.kernel.reasons import Reason, Rule
from grove_core.kernel.refs import Guard, Ref
from grove_core.kernel.steps import (
    Action,
    Apply,
    Attempt,
    Create,
    Delete,
    DropFinalizer,
    Ensure,
    Outcome,
    SetStatus,
    Stage,
    Step,
    Toll,
)
from grove_core.kernel.times import parse_time
from grove_core.plan import rules as planning
from grove_core.plan.forecast import Forecast, Round
from grove_core.plan.plan import Withheld
from grove_core.plan.recurrence import Recurrence
from grove_core.resources.cluster_topology import Level
from grove_core.resources.configuration import UNTOLD, Configuration, DomainShape, Mnnvl, MnnvlMode, TopologyAware
from grove_core.version import IMAGE

_RULES: Final[Mapping[str, Rule]] = MappingProxyType(
    {
        rule.requirement: rule
        for rules in (
            gang_termination.Why,
            gang_termination.Refuse,
            field.Why,
            workload.Why,
            mnnvl.Why,
            mnnvl_scopes.Why,
            topology.Why,
            planning.Why,
        )
        for rule in rules
    }
)
_STAGES: Final[Mapping[str, Stage]] = MappingProxyType(
    {"apply": Stage.WORKLOAD, "setStatus": Stage.STATUS, "delete": Stage.CLEANUP, "dropFinalizer": Stage.CLEANUP}
)


def document_from_json(raw: Json) -> Document:
    """Read a document back. Raises MalformedObject where it is none of ours, or of another major version."""
    version = raw.get("formatVersion")
    if not isinstance(version, str) or version.split(".")[0] != FORMAT_VERSION.split(".")[0]:
        expected = f"a plan of format {FORMAT_VERSION}"
        raise MalformedObject((Problem(path="formatVersion", expected=expected, got=str(version)),))
    try:
        return Document(
            rules=_text(raw["rules"]),
            as_of=_time(raw["asOf"]),
            not_collected=tuple(raw["notCollected"]),
            forecasts=tuple(_forecast_from_json(plan, raw["rules"]) for plan in raw["plans"]),
            configuration=_configuration(raw["configuration"]) if "configuration" in raw else UNTOLD,
        )
    except (KeyError, TypeError, AttributeError, ValueError) as fault:
        raise MalformedObject((Problem(path="", expected="a whole plan", got=f"trouble at {fault}"),)) from fault


def _configuration(raw: Json) -> Configuration:
    said = raw["mnnvl"]
    enabled, shape = said["enabled"], _text(said["computeDomainShape"])
    if type(enabled) is not bool:
        raise TypeError(f"{enabled!r} instead of true or false")
    told = Mnnvl(enabled, MnnvlMode(_text(said["mode"])), None if shape == AUTO else DomainShape(shape))
    image = _text(raw["startup"]["image"]) if "startup" in raw else IMAGE
    return Configuration(mnnvl=told, init_image=image, topology=_topology(raw.get("topologyAwareScheduling")))


def _topology(raw: Any) -> TopologyAware:  # noqa: ANN401 - any JSON
    if raw is None:
        return UNTOLD.topology
    levels = tuple(Level(_text(level["domain"]), _text(level["key"])) for level in raw["levels"])
    if type(raw["enabled"]) is not bool:
        raise TypeError(f"{raw['enabled']!r} instead of true or false")
    return TopologyAware(raw["enabled"], levels)


def attempts_from_json(raw: Any) -> tuple[Attempt, ...]:  # noqa: ANN401 - any JSON
    """Read recorded attempts: a list of steps as a plan has them, each with ``outcome`` and ``detail``.

    Raises MalformedObject where it is none of that.
    """
    items = raw if isinstance(raw, list) else [raw]
    try:
        return tuple(Attempt(_step(item), Outcome(item["outcome"]), _text(item.get("detail", ""))) for item in items)
    except (KeyError, TypeError, AttributeError, ValueError) as fault:
        raise MalformedObject((Problem(path="", expected="a list of attempts", got=f"trouble at {fault}"),)) from fault


def _forecast_from_json(raw: Json, rules: str) -> Forecast:
    return Forecast(
        root=_ref(raw["root"]),
        root_uid=_text(raw["root"]["uid"]),
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
        findings=_findings(raw.get("decisions", ())),
        averted=_findings(raw.get("averted", ())),
        complete=raw["complete"],
        again=_again(raw.get("again")),
    )


def _findings(raw: Iterable[Json]) -> tuple[Finding, ...]:
    return tuple(
        Finding(_ref(item["subject"]), item["question"], item["verdict"], _reasons(item["because"])) for item in raw
    )


def _again(raw: Json | None) -> Recurrence | None:
    """What comes again and again; plans of before 1.3 play it all."""
    if raw is None:
        return None
    since, every = raw["sinceRound"], parse_duration(_text(raw["every"]))
    if type(since) is not int or not every:
        raise TypeError(f"{raw!r} instead of a round and an interval")
    return Recurrence(since, every, _time(raw["until"]))


def _step(raw: Json) -> Step:
    name = raw["action"]
    target, because = _ref(raw["target"]), _reasons(raw["because"])
    if name == "create":
        return Step(Stage[_text(raw["stage"])], target, Create(_object(raw["object"])), because)
    if name == "ensure":
        return Step(Stage.FOUNDATION, target, Ensure(_object(raw["object"])), because)
    guard = _guard(raw["guard"])
    stage = Stage[_text(raw["stage"])] if "stage" in raw else _STAGES[name]
    action: Action
    if name == "apply":
        action = Apply(_object(raw["object"]), guard)
    elif name == "setStatus":
        action = SetStatus(_object(raw["object"]), guard)
    elif name == "dropFinalizer":
        action = DropFinalizer(_text(raw["object"]["finalizer"]), guard)
    else:
        rests_on = tuple((_ref(item["target"]), _guard(item["guard"])) for item in raw["restsOn"])
        foreground = raw.get("propagationPolicy") == FOREGROUND
        action = Delete(guard, rests_on, foreground=foreground, takes=_toll(raw.get("takes")))
        stage = Stage.CAUSE if raw["isCause"] else stage
    return Step(stage, target, action, because)


def _toll(raw: Json | None) -> Toll | None:
    """What a deletion takes along; plans of before 1.1 do not say it."""
    if raw is None:
        return None
    counts = [raw[key] for key in ("pods", "ready", "gpus")]
    if any(type(count) is not int for count in counts):
        raise TypeError(f"{counts} instead of three integers")
    return Toll(*counts)


def _object(raw: object) -> FrozenMap:
    frozen = freeze(raw)
    if not isinstance(frozen, FrozenMap):
        raise TypeError(f"{raw!r} instead of an object")
    return frozen


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
