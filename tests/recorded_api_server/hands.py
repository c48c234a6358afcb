"""Turns a move into the step of an operator, or into the write of another client; the same for every server."""

from datetime import UTC, datetime
from typing import Any, Final

from grove_core.kernel.frozen import FrozenMap, freeze
from grove_core.kernel.steps import Action, Apply, Create, Delete, DropFinalizer, SetStatus, Step, StepStage
from grove_core.resources.api_names import GATE, GROUP_KIND, TEMPLATE_HASH
from tests.property.termination_bases import basis_of
from tests.recorded_api_server.moves import Move, What
from tests.recorded_api_server.slots import FOREIGN_FINALIZER, SLOTS, Json, manifest_of
from tests.recorded_api_server.transcripts import Eyes

START: Final = datetime(2026, 11, 20, 9, tzinfo=UTC)
_STAGES: Final = {What.CREATE: StepStage.WORKLOAD, What.APPLY: StepStage.WORKLOAD, What.STATUS: StepStage.STATUS}
_MOMENTS: Final = {"one": "2026-11-20T09:00:00Z", "two": "2026-11-20T10:00:00Z", "more": "2026-11-20T10:00:00Z"}


def step_of(move: Move, namespace: str, eyes: Eyes) -> Step | None:
    """The step; None for a write of another client."""
    slot = SLOTS[move.slot]
    guard = eyes.guard_of(move.slot, stale=move.stale)
    action: Action
    match move.what:
        case What.CREATE:
            owner = slot.rival if move.how == "for another owner" else slot.owner
            manifest = manifest_of(
                slot,
                namespace,
                SLOTS[owner],
                eyes.uid_of(owner),
                held=move.how == "held",
                malformed=move.how == "malformed",
            )
            action = Create(_frozen(manifest))
        case What.APPLY:
            action = Apply(_frozen(fields_of(slot.kind, move.how)), guard)
        case What.STATUS:
            action = SetStatus(_frozen(status_of(slot.kind, move.how)), guard)
        case What.DELETE:
            cause = eyes.guard_of("set", stale=move.how == "resting on what changed")
            basis = basis_of((SLOTS["set"].ref(namespace), cause)) if "resting" in move.how else None
            action = Delete(guard, foreground=move.how == "foreground", basis=basis)
        case What.RELEASE:
            action = DropFinalizer(slot.finalizer if move.how == "own" else FOREIGN_FINALIZER, guard)
        case _:
            return None
    return Step(_STAGES.get(move.what, StepStage.CLEANUP), slot.ref(namespace), action, ())


def fields_of(kind: str, how: str) -> Json:
    """What an apply writes."""
    if kind == "Pod":
        return {"spec": {"schedulingGates": [{"$patch": "delete", "name": GATE}]}}
    texts: dict[str, str | None] = {"example.com/word": None if how == "null" else how}
    if kind in {"Service", "HorizontalPodAutoscaler"}:
        return {"spec": _spec_fields(kind, how)}
    fields: Json = {"metadata": {"annotations": texts}}
    if kind != GROUP_KIND:
        fields["metadata"]["labels"] = texts
    if kind == "PodClique":
        fields["metadata"]["labels"] = {**texts, TEMPLATE_HASH: "first" if how == "one" else "second"}
    return {**fields, "spec": _spec_fields(kind, how)} if how == "spec" and kind != GROUP_KIND else fields


def _spec_fields(kind: str, how: str) -> Json:
    match kind:
        case "Service":
            return {"publishNotReadyAddresses": how == "two"}
        case "HorizontalPodAutoscaler":
            return {"maxReplicas": 5 if how == "one" else 7}
        case "PodGang":
            groups = [{"name": "s-0-a", "minReplicas": 2, "podReferences": [{"namespace": "x", "name": "s-0-a-x"}]}]
            return {"podgroups": groups, "priorityClassName": "high"}
        case _:
            return {"podSpec": {"containers": [{"name": "main", "image": "example.com/main:2"}]}}


def status_of(kind: str, how: str) -> Json:
    """What a status write holds."""
    if kind == "PodGang":
        counts: Json = {"phase": "Running" if how == "one" else "Pending"}
    else:
        counts = {"replicas": 1 if how == "one" else 2, "observedGeneration": 1}
    if kind == "PodClique":
        counts["wasAvailable"] = how == "one"
    types = ("MinAvailableBreached", "PodCliqueScheduled") if kind != "PodGang" else ("Initialized", "Ready")
    conditions = [
        {
            "type": name,
            "status": "True" if how == "one" else "False",
            "reason": "Because",
            "message": how,
            "lastTransitionTime": _MOMENTS[how],
        }
        for name in (types if how == "more" else types[:1])
    ]
    if how == "more" and kind != "PodGang":
        counts["updateProgress"] = {"updateStartedAt": _MOMENTS[how]}
    return {**counts, "conditions": conditions}


def _frozen(raw: Any) -> FrozenMap:
    found = freeze(raw)
    assert isinstance(found, FrozenMap)
    return found
