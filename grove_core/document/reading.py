"""Reads documents and attempts from JSON, to values equal to those written (PL-009).

For any JSON the only exception is MalformedObject, and every value that is returned is complete (PL-009).
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from grove_core.areas.gang_termination import rules as gang_termination
from grove_core.areas.gang_termination.field import rules as field
from grove_core.areas.mnnvl import rules as mnnvl
from grove_core.areas.mnnvl_scopes import rules as mnnvl_scopes
from grove_core.areas.topology import rules as topology
from grove_core.areas.workload import rules as workload
from grove_core.document.document import AUTO, FOREGROUND, FORMAT_VERSION, Json, PlanDocument, RulesSource
from grove_core.document.document_values import (
    MalformedValue,
    integer,
    items,
    read_fact,
    read_flag,
    read_moment,
    read_object,
    text,
)
from grove_core.kernel.decisions import CountShare, Finding, SubjectHealth
from grove_core.kernel.errors import MalformedObject, Problem
from grove_core.kernel.reasons import Reason, Rule
from grove_core.kernel.refs import Guard, Ref
from grove_core.kernel.steps import (
    Action,
    Apply,
    Attempt,
    Create,
    Delete,
    DeletionImpact,
    DropFinalizer,
    Ensure,
    Outcome,
    SetStatus,
    Step,
    StepStage,
    Termination,
)
from grove_core.kernel.times import parse_duration
from grove_core.kernel.wants import Obstacle, Withheld
from grove_core.plan import rules as planning
from grove_core.plan.forecast import Forecast, ForecastRound, Recurrence
from grove_core.resources.cluster_topology import TopologyLevel
from grove_core.resources.configuration import (
    DEFAULT_CONFIGURATION,
    Configuration,
    DomainShape,
    Mnnvl,
    MnnvlMode,
    TopologyAwareSettings,
)
from grove_core.resources.fields import short_json
from grove_core.resources.names import listed_names
from grove_core.version import IMAGE

_RULES: Final[Mapping[str, Rule]] = MappingProxyType(
    {
        rule.requirement: rule
        for rules in (
            gang_termination.TerminationReason,
            gang_termination.GangTerminationDenial,
            field.GoOperatorReason,
            workload.Why,
            mnnvl.Why,
            mnnvl_scopes.Why,
            topology.Why,
            planning.Why,
        )
        for rule in rules
    }
)
_STAGES: Final[Mapping[str, StepStage]] = MappingProxyType(
    {
        "apply": StepStage.WORKLOAD,
        "setStatus": StepStage.STATUS,
        "delete": StepStage.CLEANUP,
        "dropFinalizer": StepStage.CLEANUP,
    }
)
_MALFORMED: Final = (KeyError, TypeError, AttributeError, ValueError)


def document_from_json(raw: Any) -> PlanDocument:  # noqa: ANN401 - any JSON
    """Read a document. Raises MalformedObject where it is no plan, or one of another major version."""
    version = raw.get("formatVersion") if isinstance(raw, Mapping) else raw
    if not isinstance(version, str) or version.split(".")[0] != FORMAT_VERSION.split(".")[0]:
        expected = f"a plan of format {FORMAT_VERSION}"
        raise MalformedObject((Problem(path="formatVersion", expected=expected, got=short_json(version)),))
    try:
        return PlanDocument(
            rules=text(raw["rules"]),
            as_of=read_moment(raw["asOf"]),
            not_collected=tuple(map(text, items(raw["notCollected"]))),
            forecasts=tuple(_forecast_from_json(plan) for plan in items(raw["plans"])),
            configuration=_configuration(raw["configuration"]) if "configuration" in raw else DEFAULT_CONFIGURATION,
            rules_from=_rules_source(raw["rulesFrom"]) if "rulesFrom" in raw else None,
        )
    except _MALFORMED as fault:
        raise MalformedObject((Problem(path="", expected="a whole plan", got=_got(raw, fault)),)) from fault


def _rules_source(raw: Json) -> RulesSource:
    return RulesSource(text(raw["kind"]), text(raw.get("because", "")))


def _configuration(raw: Json) -> Configuration:
    fields = raw["mnnvl"]
    enabled, shape = read_flag(fields["enabled"]), text(fields["computeDomainShape"])
    mnnvl_options = Mnnvl(enabled, MnnvlMode(text(fields["mode"])), None if shape == AUTO else DomainShape(shape))
    image = text(raw["startup"]["image"]) if "startup" in raw else IMAGE
    return Configuration(mnnvl=mnnvl_options, init_image=image, topology=_topology(raw.get("topologyAwareScheduling")))


def _topology(raw: Any) -> TopologyAwareSettings:  # noqa: ANN401 - any JSON
    if raw is None:
        return DEFAULT_CONFIGURATION.topology
    levels = tuple(TopologyLevel(text(level["domain"]), text(level["key"])) for level in items(raw["levels"]))
    return TopologyAwareSettings(read_flag(raw["enabled"]), levels)


def attempts_from_json(raw: Any) -> tuple[Attempt, ...]:  # noqa: ANN401 - any JSON
    """Read recorded attempts: a list of steps as a plan has them, each with ``outcome`` and ``detail``.

    Attempts may be without reasons, since they are not reviewed.

    Raises MalformedObject with every item that is no attempt.
    """
    if not isinstance(raw, list | Mapping):
        raise MalformedObject((Problem(path="", expected="a list of attempts", got=short_json(raw)),))
    found: list[Attempt] = []
    problems: list[Problem] = []
    for place, item in enumerate(raw if isinstance(raw, list) else [raw]):
        try:
            found.append(_attempt(item))
        except _MALFORMED as fault:
            expected = "an attempt as plans have them"
            problems.append(Problem(path=f"attempts[{place}]", expected=expected, got=_got(item, fault)))
    if problems:
        raise MalformedObject(tuple(problems))
    return tuple(found)


def _got(raw: Any, fault: Exception) -> str:  # noqa: ANN401 - any JSON
    """The value found, with the problem where the exception has a text for readers."""
    if isinstance(fault, KeyError):
        return f"{short_json(raw)}, of which {fault.args[0]!r} is missing or not known"
    return f"{short_json(raw)}, with {fault}" if isinstance(fault, ValueError) else short_json(raw)


def _attempt(raw: Json) -> Attempt:
    because = tuple(map(_reason, items(raw["because"])))
    return Attempt(_step(raw, because), Outcome(raw["outcome"]), text(raw.get("detail", "")))


def _forecast_from_json(raw: Json) -> Forecast:
    rounds = items(raw["rounds"])
    if not rounds:
        raise MalformedValue("no round instead of at least one")
    return Forecast(
        root=_ref(raw["root"]),
        root_uid=text(raw["root"]["uid"]),
        rounds=tuple(
            ForecastRound(
                integer(round_["round"]),
                read_moment(round_["at"]),
                tuple(_step(step, _reasons(step["because"])) for step in items(round_["steps"])),
                tuple(map(_withheld, items(round_["withheld"]))),
                None if round_["wakeAt"] is None else read_moment(round_["wakeAt"]),
            )
            for round_ in rounds
        ),
        findings=_findings(raw.get("decisions", [])),
        averted=_findings(raw.get("averted", [])),
        complete=read_flag(raw["complete"]),
        again=_again(raw.get("again")),
    )


def _findings(raw: object) -> tuple[Finding, ...]:
    return tuple(
        Finding(
            _ref(item["subject"]),
            text(item["question"]),
            text(item["verdict"]),
            _reasons(item["because"]),
            read_moment(item["deadline"]) if "deadline" in item else None,
            health=SubjectHealth(item["health"]) if "health" in item else SubjectHealth.NOT_JUDGED,
            causes=tuple(map(_ref, items(item.get("causes", [])))),
            within=tuple(map(_ref, items(item.get("within", [])))),
            share=_share(item["share"]) if "share" in item else None,
        )
        for item in items(raw)
    )


def _withheld(raw: Json) -> Withheld:
    obstacle = Obstacle(raw["obstacle"]) if "obstacle" in raw else Obstacle.RULE
    return Withheld(_ref(raw["target"]), _reasons(raw["because"]), _terminations(raw), obstacle)


def _share(raw: Json) -> CountShare:
    return CountShare(integer(raw["there"]), integer(raw["wanted"]))


def _terminations(raw: Json) -> tuple[Termination, ...]:
    """The gangs that a deletion terminates."""
    return tuple(
        Termination(_ref(item["replica"]), _ref(item["trigger"]), read_moment(item["deadline"]))
        for item in items(raw.get("terminates", []))
    )


def _again(raw: Json | None) -> Recurrence | None:
    """The repetition of rounds; formats before 1.3 contain every round instead."""
    if raw is None:
        return None
    every = parse_duration(text(raw["every"]))
    if not every:
        raise ValueError(f"{short_json(raw['every'])} instead of an interval")
    return Recurrence(integer(raw["sinceRound"]), every, read_moment(raw["until"]))


def _step(raw: Json, because: tuple[Reason, ...]) -> Step:
    name, target = raw["action"], _ref(raw["target"])
    if name == "create":
        return Step(StepStage[text(raw["stage"])], target, Create(read_object(raw["object"])), because)
    if name == "ensure":
        return Step(StepStage.FOUNDATION, target, Ensure(read_object(raw["object"])), because)
    guard = _guard(raw["guard"])
    stage = StepStage[text(raw["stage"])] if "stage" in raw else _STAGES[name]
    action: Action
    if name == "apply":
        action = Apply(read_object(raw["object"]), guard)
    elif name == "setStatus":
        action = SetStatus(read_object(raw["object"]), guard, tuple(map(_ref, items(raw.get("endOf", [])))))
    elif name == "dropFinalizer":
        action = DropFinalizer(text(raw["object"]["finalizer"]), guard)
    elif name == "delete":
        rests_on = tuple((_ref(item["target"]), _guard(item["guard"])) for item in items(raw["restsOn"]))
        foreground = raw.get("propagationPolicy") == FOREGROUND
        takes, terminates = _impact(raw.get("takes")), _terminations(raw)
        if bool(rests_on) != bool(terminates):
            raise MalformedValue("a deletion with only one of restsOn and terminates (PL-019)")
        action = Delete(guard, rests_on, foreground=foreground, takes=takes, terminates=terminates)
        stage = StepStage.CAUSE if read_flag(raw["isCause"]) else stage
    else:
        raise ValueError(f"{short_json(name)}, which is no action")
    return Step(stage, target, action, because)


def _impact(raw: Json | None) -> DeletionImpact | None:
    """The impact of a deletion; formats before 1.1 do not contain it."""
    return None if raw is None else DeletionImpact(*(integer(raw[key]) for key in ("pods", "ready", "gpus")))


def _guard(raw: Json) -> Guard:
    return Guard(text(raw["uid"]), text(raw["resourceVersion"]))


def _reasons(raw: object) -> tuple[Reason, ...]:
    found = tuple(map(_reason, items(raw)))
    if not found:
        raise ValueError("what has no reason (PL-003)")
    return found


def _reason(raw: Json) -> Reason:
    rule, facts = _RULES[raw["requirement"]], raw["facts"]
    if facts.keys() != rule.clause.facts:
        raise ValueError(
            f"{rule.requirement}, whose facts are {listed_names(rule.clause.facts)}, not {listed_names(facts)}"
        )
    return Reason(rule, _ref(raw["subject"]), tuple(sorted((name, read_fact(value)) for name, value in facts.items())))


def _ref(raw: Json) -> Ref:
    replica = None if raw.get("replica") is None else integer(raw["replica"])
    return Ref(text(raw["apiVersion"]), text(raw["kind"]), text(raw["namespace"]), text(raw["name"]), replica)
