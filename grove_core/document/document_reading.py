"""Reads documents and attempts from JSON, to values equal to those written (CL-011).

For any JSON the only exception is MalformedObject, and every value that is returned is complete (CL-011).
"""

from collections.abc import Mapping
from typing import Any, Final

from grove_core.document.edit_format import edit_forecast_from_json, pods_and_gpus_from_json
from grove_core.document.plan_document import (
    AUTO,
    FORMAT_VERSION,
    Json,
    MalformedPlanValue,
    PlanDocument,
    RuleSetSource,
    require_boolean,
    require_integer,
    require_list,
    require_text,
    require_time,
)
from grove_core.document.step_reading import (
    integers_at_keys,
    reason_from_json,
    reasons_from_json,
    ref_from_json,
    step_from_json,
    withheld_from_json,
)
from grove_core.document.termination_hint_format import termination_hints_from_json
from grove_core.kernel.decisions import ExistingAndWantedCounts, Finding, SubjectHealth
from grove_core.kernel.errors import MalformedObject, ObjectProblem
from grove_core.kernel.steps import (
    Attempt,
    AttemptOutcome,
)
from grove_core.kernel.time_formats import parse_duration
from grove_core.plan.forecast import Forecast, ForecastRound, RemovedManifest, RepeatedRounds, SetsOfSameName
from grove_core.resources.cluster_topology import TopologyLevel
from grove_core.resources.configuration import (
    DEFAULT_CONFIGURATION,
    ComputeDomainFormatName,
    Configuration,
    MnnvlConfiguration,
    MnnvlMode,
    SchedulerProfiles,
    TopologyAwareSettings,
)
from grove_core.resources.json_field_reader import short_json
from grove_core.version import IMAGE

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
            as_of_from=require_text(raw.get("asOfFrom", "")),
            not_planned=tuple(map(require_text, require_list(raw.get("notPlanned", [])))),
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
    return Configuration(
        mnnvl=mnnvl_options,
        init_image=image,
        topology=_topology(raw.get("topologyAwareScheduling")),
        schedulers=_schedulers(raw["scheduler"]) if "scheduler" in raw else None,
    )


def _schedulers(raw: Json) -> SchedulerProfiles:
    names = tuple(require_text(profile["name"]) for profile in require_list(raw["profiles"]))
    return SchedulerProfiles(names, require_text(raw["defaultProfileName"]))


def _topology(raw: Any) -> TopologyAwareSettings:  # noqa: ANN401 - any JSON
    if raw is None:
        return DEFAULT_CONFIGURATION.topology
    levels = tuple(
        TopologyLevel(require_text(level["domain"]), require_text(level["key"]))
        for level in require_list(raw["levels"])
    )
    return TopologyAwareSettings(require_boolean(raw["enabled"]), levels)


def attempts_from_json(raw: Any) -> tuple[Attempt, ...]:  # noqa: ANN401 - any JSON
    """Read recorded attempts: a list of steps as a plan has them, each with ``outcome``, ``detail`` and ``withheld``.

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


def _attempt(raw: Json) -> Attempt:
    because = tuple(map(reason_from_json, require_list(raw["because"])))
    outcome, detail = AttemptOutcome(raw["outcome"]), require_text(raw.get("detail", ""))
    withheld = require_boolean(raw["withheld"]) if "withheld" in raw else None
    return Attempt(step_from_json(raw, because), outcome, detail, withheld)


def _forecast_from_json(raw: Json) -> Forecast:
    rounds = require_list(raw["rounds"])
    if not rounds:
        raise MalformedPlanValue("no round instead of at least one")
    return Forecast(
        root=ref_from_json(raw["root"]),
        root_uid=require_text(raw["root"]["uid"]),
        rounds=tuple(
            ForecastRound(
                require_integer(round_["round"]),
                require_time(round_["at"]),
                tuple(
                    step_from_json(step, reasons_from_json(step["because"])) for step in require_list(round_["steps"])
                ),
                tuple(map(withheld_from_json, require_list(round_["withheld"]))),
                None if round_["wakeAt"] is None else require_time(round_["wakeAt"]),
            )
            for round_ in rounds
        ),
        findings=_findings(raw.get("decisions", [])),
        averted=_findings(raw.get("averted", [])),
        complete=require_boolean(raw["complete"]),
        again=_again(raw.get("again")),
        edit=edit_forecast_from_json(raw["edit"]) if "edit" in raw else None,
        creates=pods_and_gpus_from_json(raw["creates"]) if "creates" in raw else None,
        hints=tuple(map(termination_hints_from_json, require_list(raw.get("hints", [])))),
        same_name=_same_name(raw["sameName"]) if "sameName" in raw else None,
        removed=_removed(raw["ifDeleted"]) if "ifDeleted" in raw else None,
    )


def _same_name(raw: Json) -> SetsOfSameName:
    return SetsOfSameName(tuple(map(require_text, require_list(raw["sets"]))), require_boolean(raw["namespaceGiven"]))


def _removed(raw: Json) -> RemovedManifest:
    return RemovedManifest(require_integer(raw["podCliques"]), pods_and_gpus_from_json(raw))


def _findings(raw: object) -> tuple[Finding, ...]:
    return tuple(
        Finding(
            ref_from_json(item["subject"]),
            require_text(item["question"]),
            require_text(item["verdict"]),
            reasons_from_json(item["because"]),
            require_time(item["deadline"]) if "deadline" in item else None,
            health=SubjectHealth(item["health"]) if "health" in item else SubjectHealth.NOT_JUDGED,
            causes=tuple(map(ref_from_json, require_list(item.get("causes", [])))),
            within=tuple(map(ref_from_json, require_list(item.get("within", [])))),
            share=ExistingAndWantedCounts(*integers_at_keys(item["share"], "there", "wanted"))
            if "share" in item
            else None,
        )
        for item in require_list(raw)
    )


def _again(raw: Json | None) -> RepeatedRounds | None:
    """The repetition of rounds; formats before 1.3 contain every round instead."""
    if raw is None:
        return None
    every = parse_duration(require_text(raw["every"]))
    if not every:
        raise ValueError(f"{short_json(raw['every'])} instead of an interval")
    return RepeatedRounds(require_integer(raw["sinceRound"]), every, require_time(raw["until"]))


def _got(raw: Any, fault: Exception) -> str:  # noqa: ANN401 - any JSON
    """The value found, with the problem where the exception has a text for readers."""
    if isinstance(fault, KeyError):
        return f"{short_json(raw)}, of which {fault.args[0]!r} is missing or not known"
    return f"{short_json(raw)}, with {fault}" if isinstance(fault, ValueError) else short_json(raw)
