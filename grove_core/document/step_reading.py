"""Reads the steps of a plan from JSON: reasons, addresses, guards, writes and withheld writes (CL-011).

The exceptions are those that :mod:`grove_core.document.document_reading` catches.
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from grove_core.areas.gang_termination import rules as gang_termination
from grove_core.areas.gang_termination.field import rules as field
from grove_core.areas.mnnvl import rules as mnnvl
from grove_core.areas.mnnvl.field import rules as mnnvl_field
from grove_core.areas.mnnvl_scopes import rules as mnnvl_scopes
from grove_core.areas.scheduling import rules as scheduling
from grove_core.areas.topology import rules as topology
from grove_core.areas.workload import rules as workload
from grove_core.areas.workload.field import rules as workload_field
from grove_core.document.plan_document import (
    FOREGROUND,
    Json,
    MalformedPlanValue,
    fact_from_json,
    require_boolean,
    require_integer,
    require_list,
    require_object,
    require_text,
    require_time,
)
from grove_core.kernel.gang_terminations import GangTermination, GangTerminationReasons, TerminationBasis
from grove_core.kernel.reasons import Reason, Rule
from grove_core.kernel.refs import Guard, Ref
from grove_core.kernel.steps import (
    Action,
    Apply,
    Create,
    Delete,
    DeletionImpact,
    DropFinalizer,
    Ensure,
    SetStatus,
    Step,
    StepStage,
    TerminationStatusReport,
)
from grove_core.kernel.wants import StepObstacle, Withheld
from grove_core.plan import rules as planning
from grove_core.resources.json_field_reader import short_json
from grove_core.resources.naming_rules import name_list_text
from grove_core.rule_sets import rules as rule_sets

_RULES: Final[Mapping[str, Rule]] = MappingProxyType(
    {
        rule.requirement: rule
        for rules in (
            gang_termination.TerminationReason,
            gang_termination.GangTerminationDenial,
            field.GoOperatorReason,
            workload.WorkloadReason,
            workload_field.GoOperatorWorkloadReason,
            mnnvl.MnnvlReason,
            mnnvl_field.GoOperatorMnnvlReason,
            mnnvl_scopes.SharedDomainReason,
            scheduling.SchedulingReason,
            topology.TopologyReason,
            planning.WithheldStepReason,
            rule_sets.SparingReason,
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


def step_from_json(raw: Json, because: tuple[Reason, ...]) -> Step:
    """Read a step; ``because`` is what was read of its reasons, which recorded attempts may lack.

    Raises:
        MalformedPlanValue: a value has another type, or a deletion has only one of its two lists about terminations.
        ValueError: the action is unknown.
        KeyError: a field is missing.
    """
    name, target = raw["action"], ref_from_json(raw["target"])
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
        rests_on = tuple(
            (ref_from_json(item["target"]), _guard(item["guard"])) for item in require_list(raw["restsOn"])
        )
        foreground = raw.get("propagationPolicy") == FOREGROUND
        impact, terminates = raw.get("takes"), _terminations(raw, because)
        if bool(rests_on) != bool(terminates):
            raise MalformedPlanValue("a deletion with only one of restsOn and terminates (PL-019)")
        # formats before 1.1 do not contain the impact
        takes = None if impact is None else DeletionImpact(*integers_at_keys(impact, "pods", "ready", "gpus"))
        basis = TerminationBasis(rests_on, terminates) if terminates else None
        action = Delete(guard, foreground, takes, basis)
        stage = StepStage.CAUSE if require_boolean(raw["isCause"]) else stage
    else:
        raise ValueError(f"{short_json(name)}, which is no action")
    return Step(stage, target, action, because)


def _terminations(raw: Json, because: tuple[Reason, ...]) -> tuple[GangTermination, ...]:
    """The gangs that a deletion terminates."""
    items = require_list(raw.get("terminates", []))
    return tuple(
        GangTermination(
            ref_from_json(item["replica"]), ref_from_json(item["trigger"]), require_time(item["deadline"]), found
        )
        for item, found in zip(items, _reasons_by_gang(because, len(items)), strict=True)
    )


def _reasons_by_gang(because: tuple[Reason, ...], gangs: int) -> Iterator[GangTerminationReasons | None]:
    """Yield the reasons of each gang that a deletion terminates: the last reasons of a deletion, two for each gang."""
    first = len(because) - 2 * gangs
    for at in range(first, len(because), 2):
        yield None if first < 0 else GangTerminationReasons(*because[at : at + 2])


def _report(raw: Json | None) -> TerminationStatusReport | None:
    return None if raw is None else TerminationStatusReport(tuple(map(ref_from_json, require_list(raw))))


def withheld_from_json(raw: Json) -> Withheld:
    """Read a withheld step."""
    obstacle = StepObstacle(raw["obstacle"]) if "obstacle" in raw else StepObstacle.RULE
    because = reasons_from_json(raw["because"])
    return Withheld(ref_from_json(raw["target"]), because, _terminations(raw, because), obstacle)


def reasons_from_json(raw: object) -> tuple[Reason, ...]:
    """Read at least one reason. Raises ValueError for an empty list (PL-003)."""
    found = tuple(map(reason_from_json, require_list(raw)))
    if not found:
        raise ValueError("what has no reason (PL-003)")
    return found


def reason_from_json(raw: Json) -> Reason:
    """Read a reason. Raises ValueError if its facts are not exactly those of its rule."""
    rule, facts = _RULES[raw["requirement"]], raw["facts"]
    if not rule.has_fact_names(facts):
        raise ValueError(
            f"{rule.requirement}, whose facts are {name_list_text(rule.fact_names)}, not {name_list_text(facts)}"
        )
    return Reason(
        rule,
        ref_from_json(raw["subject"]),
        tuple(sorted((name, fact_from_json(value)) for name, value in facts.items())),
    )


def _guard(raw: Json) -> Guard:
    return Guard(require_text(raw["uid"]), require_text(raw["resourceVersion"]))


def ref_from_json(raw: Json) -> Ref:
    """Read an address; formats write ``replica`` only where there is one."""
    replica = None if raw.get("replica") is None else require_integer(raw["replica"])
    return Ref(
        require_text(raw["apiVersion"]),
        require_text(raw["kind"]),
        require_text(raw["namespace"]),
        require_text(raw["name"]),
        replica,
    )


def integers_at_keys(raw: Json, *keys: str) -> Iterator[int]:
    """Read the integers at some keys, in that order."""
    return (require_integer(raw[key]) for key in keys)
