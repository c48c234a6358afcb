"""Writes the steps and findings of a plan as JSON: reasons, addresses, guards, writes and withheld writes (CL-011)."""

from collections.abc import Iterable
from typing import assert_never

from grove_core.document.plan_document import FOREGROUND, Json, step_action_name
from grove_core.kernel.decisions import Finding, SubjectHealth
from grove_core.kernel.frozen import thaw_json
from grove_core.kernel.gang_terminations import GangTermination
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Guard, Ref
from grove_core.kernel.steps import Action, Apply, Create, Delete, DropFinalizer, Ensure, SetStatus, Step, StepStage
from grove_core.kernel.time_formats import format_time
from grove_core.kernel.wants import StepObstacle, Withheld


def step_as_json(step: Step) -> Json:
    """Return a step as JSON: its guard, what it writes, and its reasons."""
    guard = step.action.guard
    shown: Json = {
        "action": step_action_name(step.action),
        "target": ref_as_json(step.target),
        "guard": None if guard is None else _guard_as_json(guard),
        "object": _what_is_written(step.action),
        "because": reasons_as_json(step.because),
    }
    if isinstance(step.action, Create) or (isinstance(step.action, SetStatus) and step.stage is StepStage.FOUNDATION):
        shown["stage"] = step.stage.name
    if isinstance(step.action, SetStatus) and step.action.report:
        shown["endOf"] = [ref_as_json(ref) for ref in step.action.report.causes]
    if isinstance(step.action, Delete):
        shown["restsOn"] = [
            {"target": ref_as_json(ref), "guard": _guard_as_json(held)} for ref, held in step.action.rests_on
        ]
        shown["isCause"] = step.stage is StepStage.CAUSE
        if step.action.terminates:
            shown["terminates"] = _terminations_as_json(step.action.terminates)
        impact = step.action.takes
        shown["takes"] = None if impact is None else {"pods": impact.pods, "ready": impact.ready, "gpus": impact.gpus}
        if step.action.foreground:
            shown["propagationPolicy"] = FOREGROUND
    return shown


def _what_is_written(action: Action) -> object:
    """Return the manifest or the fields that an action writes; None for a deletion."""
    match action:
        case Create(manifest) | Ensure(manifest):
            return thaw_json(manifest)
        case Apply(fields) | SetStatus(fields):
            return thaw_json(fields)
        case DropFinalizer(finalizer):
            return {"finalizer": finalizer}
        case Delete():
            return None
        case _:
            assert_never(action)


def withheld_step_as_json(held: Withheld) -> Json:
    """Return a withheld step as JSON, with its reasons."""
    shown: Json = {"target": ref_as_json(held.target), "because": reasons_as_json(held.because)}
    if held.terminates:
        shown["terminates"] = _terminations_as_json(held.terminates)
    if held.obstacle is not StepObstacle.RULE:
        shown["obstacle"] = held.obstacle.value
    return shown


def finding_as_json(finding: Finding) -> Json:
    """Return a finding as JSON, without its empty optional fields (PL-003)."""
    shown: Json = {
        "subject": ref_as_json(finding.subject),
        "question": finding.question,
        "verdict": finding.verdict,
        "because": reasons_as_json(finding.because),
    }
    if finding.deadline is not None:
        shown["deadline"] = format_time(finding.deadline)
    if finding.health is not SubjectHealth.NOT_JUDGED:
        shown["health"] = finding.health.value
    if finding.causes:
        shown["causes"] = [ref_as_json(ref) for ref in finding.causes]
    if finding.within:
        shown["within"] = [ref_as_json(ref) for ref in finding.within]
    if finding.share is not None:
        shown["share"] = finding.share._asdict()
    return shown


def reason_as_json(reason: Reason) -> Json:
    """Return a reason as JSON: its code, rule id, subject, facts and sentence."""
    return {
        "rule": reason.rule.code,
        "requirement": reason.rule.requirement,
        "subject": ref_as_json(reason.subject),
        "facts": dict(reason.facts),
        "sentence": reason.sentence,
    }


def reasons_as_json(reasons: Iterable[Reason]) -> list[Json]:
    """Return some reasons as JSON, in their order."""
    return [reason_as_json(reason) for reason in reasons]


def ref_as_json(ref: Ref) -> Json:
    """Return a reference as JSON; ``replica`` only where it has one."""
    shown: Json = {"apiVersion": ref.api_version, "kind": ref.kind, "namespace": ref.namespace, "name": ref.name}
    return shown if ref.replica is None else {**shown, "replica": ref.replica}


def _terminations_as_json(terminates: Iterable[GangTermination]) -> list[Json]:
    return [
        {
            "replica": ref_as_json(one.replica),
            "trigger": ref_as_json(one.trigger),
            "deadline": format_time(one.deadline),
        }
        for one in terminates
    ]


def _guard_as_json(guard: Guard) -> Json:
    return {"uid": guard.uid, "resourceVersion": guard.resource_version}
