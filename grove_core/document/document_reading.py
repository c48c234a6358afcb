"""Reads documents and attempts from JSON, to values equal to those written (CL-011).

For any JSON the only exception is MalformedObject, and every value that is returned is complete (CL-011).
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

from grove_core.areas.gang_termination import rules as gang_termination
from grove_core.areas.gang_termination.field import rules as field
from grove_core.areas.mnnvl import rules as mnnvl
from grove_core.areas.mnnvl_scopes import rules as mnnvl_scopes
from grove_core.areas.topology import rules as topology
from grove_core.areas.workload import rules as workload
from grove_core.document.plan_document import (
    AUTO,
    FOREGROUND,
    FORMAT_VERSION,
    Json,
    MalformedPlanValue,
    PlanDocument,
    RuleSetSource,
    require_boolean,
    require_fact,
    require_integer,
    require_list,
    require_object,
    require_text,
    require_time,
)
from grove_core.kernel.decisions import ExistingAndWanted, Finding, SubjectHealth
from grove_core.kernel.errors import MalformedObject, ObjectProblem
from grove_core.kernel.reasons import Reason, Rule
from grove_core.kernel.refs import Guard, Ref
from grove_core.kernel.steps import (
    Action,
    Apply,
    Attempt,
    AttemptOutcome,
    Create,
    Delete,
    DeletionImpact,
    DropFinalizer,
    Ensure,
    GangTermination,
    SetStatus,
    Step,
    StepStage,
    TerminationReport,
)
from grove_core.kernel.time_formats import parse_duration
from grove_core.kernel.wants import StepObstacle, Withheld
from grove_core.plan import rules as planning
from grove_core.plan.forecast import Forecast, ForecastRound, RepeatedRounds
from grove_core.resources.cluster_topology import TopologyLevel
from grove_core.resources.configuration import (
    DEFAULT_CONFIGURATION,
    ComputeDomainFormatName,
    Configuration,
    MnnvlConfiguration,
    MnnvlMode,
    TopologyAwareSettings,
)
from grove_core.resources.json_field_reader import short_json
from grove_core.resources.naming_rules import name_list_text
from grove_core.version import IMAGE

_RULES: Final[Mapping[str, Rule]] = MappingProxyType(
    {
        rule.requirement: rule
        for rules in (
            gang_termination.TerminationReason,
            gang_termination.GangTerminationDenial,
            field.GoOperatorReason,
            workload.WorkloadReason,
            mnnvl.MnnvlReason,
            mnnvl_scopes.SharedDomainReason,
            topology.TopologyReason,
            planning.WithheldStepReason,
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


def plan_document_from_json(raw: Any) -> PlanDocument:  # noqa: ANN401 - any JSON
    """Read a document. Raises MalformedObject where it is no plan, or one of another major version."""
    version = raw.get("formatVersion") if isinstance(raw, Mapping) else raw
    if not isinstance(version, str) or version.split(".")[0] != FORMAT_VERSION.split(".")[0]:
        expected = f"a plan of format {FORMAT_VERSION}"
        raise MalformedObject((ObjectProblem(path="formatVersion", expected=expected, got=short_json(version)),))
    try:
        return PlanDocument(
            rules=require_text(raw["rules"]),
            as_of=require_time(raw["asOf"]),
            not_collected=tuple(map(require_text, require_list(raw["notCollected"]))),
            forecasts=tuple(_forecast_from_json(plan) for plan in require_list(raw["plans"])),
            configuration=_configuration(raw["configuration"]) if "configuration" in raw else DEFAULT_CONFIGURATION,
            rules_from=_rules_source(raw["rulesFrom"]) if "rulesFrom" in raw else None,
        )
    except _MALFORMED as fault:
        raise MalformedObject((ObjectProblem(path="", expected="a whole plan", got=_got(raw, fault)),)) from fault


def _rules_source(raw: Json) -> RuleSetSource:
    return RuleSetSource(require_text(raw["kind"]), require_text(raw.get("because", "")))


def _configuration(raw: Json) -> Configuration:
    fields = raw["mnnvl"]
    enabled, shape = require_boolean(fields["enabled"]), require_text(fields["computeDomainShape"])
    mnnvl_options = MnnvlConfiguration(
        enabled, MnnvlMode(require_text(fields["mode"])), None if shape == AUTO else ComputeDomainFormatName(shape)
    )
    image = require_text(raw["startup"]["image"]) if "startup" in raw else IMAGE
    return Configuration(mnnvl=mnnvl_options, init_image=image, topology=_topology(raw.get("topologyAwareScheduling")))


def _topology(raw: Any) -> TopologyAwareSettings:  # noqa: ANN401 - any JSON
    if raw is None:
        return DEFAULT_CONFIGURATION.topology
    levels = tuple(
        TopologyLevel(require_text(level["domain"]), require_text(level["key"]))
        for level in require_list(raw["levels"])
    )
    return TopologyAwareSettings(require_boolean(raw["enabled"]), levels)


def attempts_from_json(raw: Any) -> tuple[Attempt, ...]:  # noqa: ANN401 - any JSON
    """Read recorded attempts: a list of steps as a plan has them, each with ``outcome`` and ``detail``.

    Attempts may be without reasons, since they are not reviewed.

    Raises MalformedObject with every item that is no attempt.
    """
    if not isinstance(raw, list | Mapping):
        raise MalformedObject((ObjectProblem(path="", expected="a list of attempts", got=short_json(raw)),))
    found: list[Attempt] = []
    problems: list[ObjectProblem] = []
    for place, item in enumerate(raw if isinstance(raw, list) else [raw]):
        try:
            found.append(_attempt(item))
        except _MALFORMED as fault:
            expected = "an attempt as plans have them"
            problems.append(ObjectProblem(path=f"attempts[{place}]", expected=expected, got=_got(item, fault)))
    if problems:
        raise MalformedObject(tuple(problems))
    return tuple(found)


def _got(raw: Any, fault: Exception) -> str:  # noqa: ANN401 - any JSON
    """The value found, with the problem where the exception has a text for readers."""
    if isinstance(fault, KeyError):
        return f"{short_json(raw)}, of which {fault.args[0]!r} is missing or not known"
    return f"{short_json(raw)}, with {fault}" if isinstance(fault, ValueError) else short_json(raw)


def _attempt(raw: Json) -> Attempt:
    because = tuple(map(_reason, require_list(raw["because"])))
    return Attempt(_step(raw, because), AttemptOutcome(raw["outcome"]), require_text(raw.get("detail", "")))


def _forecast_from_json(raw: Json) -> Forecast:
    rounds = require_list(raw["rounds"])
    if not rounds:
        raise MalformedPlanValue("no round instead of at least one")
    return Forecast(
        root=_ref(raw["root"]),
        root_uid=require_text(raw["root"]["uid"]),
        rounds=tuple(
            ForecastRound(
                require_integer(round_["round"]),
                require_time(round_["at"]),
                tuple(_step(step, _reasons(step["because"])) for step in require_list(round_["steps"])),
                tuple(map(_withheld, require_list(round_["withheld"]))),
                None if round_["wakeAt"] is None else require_time(round_["wakeAt"]),
            )
            for round_ in rounds
        ),
        findings=_findings(raw.get("decisions", [])),
        averted=_findings(raw.get("averted", [])),
        complete=require_boolean(raw["complete"]),
        again=_again(raw.get("again")),
    )


def _findings(raw: object) -> tuple[Finding, ...]:
    return tuple(
        Finding(
            _ref(item["subject"]),
            require_text(item["question"]),
            require_text(item["verdict"]),
            _reasons(item["because"]),
            require_time(item["deadline"]) if "deadline" in item else None,
            health=SubjectHealth(item["health"]) if "health" in item else SubjectHealth.NOT_JUDGED,
            causes=tuple(map(_ref, require_list(item.get("causes", [])))),
            within=tuple(map(_ref, require_list(item.get("within", [])))),
            share=ExistingAndWanted(*_integers(item["share"], "there", "wanted")) if "share" in item else None,
        )
        for item in require_list(raw)
    )


def _withheld(raw: Json) -> Withheld:
    obstacle = StepObstacle(raw["obstacle"]) if "obstacle" in raw else StepObstacle.RULE
    because = _reasons(raw["because"])
    return Withheld(_ref(raw["target"]), because, _terminations(raw, because), obstacle)


def _terminations(raw: Json, because: tuple[Reason, ...]) -> tuple[GangTermination, ...]:
    """The gangs that a deletion terminates; its last reasons are two for each: that it is part of it, and the delay."""
    items = require_list(raw.get("terminates", []))
    delays = because[-2 * len(items) :][1::2]
    return tuple(
        GangTermination(_ref(item["replica"]), _ref(item["trigger"]), require_time(item["deadline"]), delay)
        for item, delay in zip(items, (*delays, *[None] * len(items)), strict=False)
    )


def _again(raw: Json | None) -> RepeatedRounds | None:
    """The repetition of rounds; formats before 1.3 contain every round instead."""
    if raw is None:
        return None
    every = parse_duration(require_text(raw["every"]))
    if not every:
        raise ValueError(f"{short_json(raw['every'])} instead of an interval")
    return RepeatedRounds(require_integer(raw["sinceRound"]), every, require_time(raw["until"]))


def _step(raw: Json, because: tuple[Reason, ...]) -> Step:
    name, target = raw["action"], _ref(raw["target"])
    if name == "create":
        return Step(StepStage[require_text(raw["stage"])], target, Create(require_object(raw["object"])), because)
    if name == "ensure":
        return Step(StepStage.FOUNDATION, target, Ensure(require_object(raw["object"])), because)
    guard = _guard(raw["guard"])
    stage = StepStage[require_text(raw["stage"])] if "stage" in raw else _STAGES[name]
    action: Action
    if name == "apply":
        action = Apply(require_object(raw["object"]), guard)
    elif name == "setStatus":
        action = SetStatus(require_object(raw["object"]), guard, _report(raw.get("endOf")))
    elif name == "dropFinalizer":
        action = DropFinalizer(require_text(raw["object"]["finalizer"]), guard)
    elif name == "delete":
        rests_on = tuple((_ref(item["target"]), _guard(item["guard"])) for item in require_list(raw["restsOn"]))
        foreground = raw.get("propagationPolicy") == FOREGROUND
        impact, terminates = raw.get("takes"), _terminations(raw, because)
        if bool(rests_on) != bool(terminates):
            raise MalformedPlanValue("a deletion with only one of restsOn and terminates (PL-019)")
        # formats before 1.1 do not contain the impact
        takes = None if impact is None else DeletionImpact(*_integers(impact, "pods", "ready", "gpus"))
        action = Delete(guard, rests_on, foreground=foreground, takes=takes, terminates=terminates)
        stage = StepStage.CAUSE if require_boolean(raw["isCause"]) else stage
    else:
        raise ValueError(f"{short_json(name)}, which is no action")
    return Step(stage, target, action, because)


def _report(raw: Json | None) -> TerminationReport | None:
    return None if raw is None else TerminationReport(tuple(map(_ref, require_list(raw))))


def _integers(raw: Json, *keys: str) -> Iterator[int]:
    return (require_integer(raw[key]) for key in keys)


def _guard(raw: Json) -> Guard:
    return Guard(require_text(raw["uid"]), require_text(raw["resourceVersion"]))


def _reasons(raw: object) -> tuple[Reason, ...]:
    found = tuple(map(_reason, require_list(raw)))
    if not found:
        raise ValueError("what has no reason (PL-003)")
    return found


def _reason(raw: Json) -> Reason:
    rule, facts = _RULES[raw["requirement"]], raw["facts"]
    if not rule.has_fact_names(facts):
        raise ValueError(
            f"{rule.requirement}, whose facts are {name_list_text(rule.clause.facts)}, not {name_list_text(facts)}"
        )
    return Reason(
        rule, _ref(raw["subject"]), tuple(sorted((name, require_fact(value)) for name, value in facts.items()))
    )


def _ref(raw: Json) -> Ref:
    replica = None if raw.get("replica") is None else require_integer(raw["replica"])
    return Ref(
        require_text(raw["apiVersion"]),
        require_text(raw["kind"]),
        require_text(raw["namespace"]),
        require_text(raw["name"]),
        replica,
    )
