"""Kubernetes Events about a plan: scheduled and executed terminations, refused writes, and kinds that cannot be read.

The name of an Event is a hash of its content, so a restart or a second process writes none twice.
"""

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, Final

from grove_core.areas.gang_termination.run_time_scaling import BELOW_MIN_AVAILABLE
from grove_core.areas.gang_termination.termination_findings import constituents_behind_termination
from grove_core.areas.gang_termination.verdicts import TERMINATES, WAITS
from grove_core.kernel.decisions import Finding
from grove_core.kernel.questions import BREACH, SCALED, TERMINATION
from grove_core.kernel.refs import Ref
from grove_core.kernel.time_formats import format_time
from grove_core.kernel.wants import StepObstacle, Withheld
from grove_core.plan.plan import Plan
from grove_core.resources.api_names import DOMAIN_KIND
from grove_core.resources.cluster_topology import TOPOLOGY_KINDS
from grove_shell.apply.planned_round import PlannedReconcileRound, ReconcileRoundListener
from grove_shell.client.api_session import ApiSession, NoServerResponse

CONTROLLER: Final = "grove.io/operator"
PLAN: Final = "grove.io/plan"
_EVENTS: Final = "events.k8s.io/v1"
_MOST_KNOWN: Final = 4096
_LONGEST_NOTE: Final = 1024
_LONGEST_FIELD: Final = 128
_LONGEST_NAME: Final = 253
"""Limits of an API server, in bytes (OP-042)."""
_DIGITS: Final = 16
_MOST_QUEUED: Final = 1000
_FLUSH_TIMEOUT: Final = 2.0
_ALL_LISTED: Final[Mapping[str, str]] = MappingProxyType({})
_DEFERS: Final = frozenset({StepObstacle.REFUSED, StepObstacle.NOT_CONFIRMED})
_UNREADABLE: Final[Mapping[StepObstacle, str]] = MappingProxyType(
    {StepObstacle.DOMAINS_NOT_COLLECTED: DOMAIN_KIND, StepObstacle.CLIQUES_NOT_COLLECTED: "PodClique"}
)
"""The kind that would have to be read, by the obstacle to a withheld step."""


@dataclass(frozen=True, slots=True)
class EventToWrite:
    """An Event that is to be written.

    Attributes:
        about: the object that it is about.
        uid: of that object.
        reason: in CamelCase; the name of a rule.
        key: distinguishes Events of the same object and reason.
    """

    about: Ref
    uid: str
    reason: str
    action: str
    note: str
    key: str


def kubernetes_events_of_plan(plan: Plan, unlisted: Mapping[str, str] = _ALL_LISTED) -> Iterator[EventToWrite]:
    """Yield the Events about a plan.

    They report scheduled and executed terminations (no withheld ones), PodCliques that are scaled below their minimum,
    refused writes, writes that are withheld because a kind cannot be read, and withheld writes to a topology.

    Args:
        plan: of one set, or of one topology.
        unlisted: kind that cannot be listed -> message of the server.
    """
    deferred = {one.replica for held in plan.withheld if held.obstacle in _DEFERS for one in held.terminates}
    ending = [
        one
        for one in plan.findings
        if one.question == TERMINATION
        and one.subject.replica is not None  # there is a finding for each replica of a scaling group, too
        and (one.verdict == WAITS or (one.verdict == TERMINATES and one.subject not in deferred))
    ]
    breaches = {one.subject: one for one in plan.findings if one.question == BREACH} if ending else {}
    for finding in ending:
        yield _of_termination(plan, finding, breaches)
    for finding in plan.findings:
        if (finding.question, finding.verdict) == (SCALED, BELOW_MIN_AVAILABLE):
            note = f"{finding.subject.short}: {'; '.join(reason.sentence for reason in finding.because)}"
            yield EventToWrite(plan.root, plan.root_uid, BELOW_MIN_AVAILABLE, "Scale", note, note)
    unreadable: dict[StepObstacle, list[Withheld]] = {}
    for held in plan.withheld:
        rule = held.because[0].rule
        note = f"{held.target.short}: {held.because[0].sentence}"
        if held.obstacle is StepObstacle.REFUSED:
            yield EventToWrite(plan.root, plan.root_uid, rule.code, "Write", note, note)
        elif held.target.kind in TOPOLOGY_KINDS:
            yield EventToWrite(plan.root, plan.root_uid, rule.code, "Keep", note, held.target.short)
        elif held.obstacle is StepObstacle.NOT_CONFIRMED:
            words = held.because[0].sentence
            yield EventToWrite(plan.root, plan.root_uid, rule.code, "Look", words, words)
        elif held.obstacle in _UNREADABLE:
            unreadable.setdefault(held.obstacle, []).append(held)
    for obstacle, steps in unreadable.items():
        kind = _UNREADABLE[obstacle]
        words = unlisted.get(kind) or "not all of them can be read"
        more = f", and {len(steps) - 1} more" if steps[1:] else ""
        note = f"{steps[0].target.short}{more}: withheld until {kind}s can be read: {words}"
        code = steps[0].because[0].rule.code
        yield EventToWrite(plan.root, plan.root_uid, code, "Look", note, words)


def _of_termination(plan: Plan, finding: Finding, breaches: Mapping[Ref, Finding]) -> EventToWrite:
    """Return the Event about a termination: its delay, then the breach of each PodClique behind it."""
    ends = finding.verdict == TERMINATES
    behind = [
        ref for ref in constituents_behind_termination(finding, breaches) if ref.kind == "PodClique" and ref in breaches
    ]
    reasons = (*finding.because, *(reason for ref in dict.fromkeys(behind) for reason in breaches[ref].because))
    note = f"{_replica_name(finding.subject)}: " + "; ".join(
        f"{reason.subject.short}: {reason.sentence}" for reason in reasons
    )
    reason = "GangTerminated" if ends else "TerminationScheduled"
    key = f"{_replica_name(finding.subject)} {'' if finding.deadline is None else format_time(finding.deadline)}"
    return EventToWrite(plan.root, plan.root_uid, reason, "Terminate", note, key)


def _replica_name(replica: Ref) -> str:
    return f"replica {replica.replica} of {replica.kind} {replica.name}"


def _cut(text: str, size: int) -> str:
    """Return the longest prefix of a text that fits into ``size`` bytes, in whole characters."""
    return text.encode(errors="replace")[:size].decode(errors="ignore")


def _name_of(planned: EventToWrite) -> str:
    """Return the name of an Event: that of its object, cut to a valid length, and a hash of its content."""
    content = f"{planned.uid} {planned.reason} {planned.key}".encode(errors="replace")
    digest = hashlib.sha256(content).hexdigest()[:_DIGITS]
    return f"{_cut(planned.about.name, _LONGEST_NAME - _DIGITS - 1).rstrip('-.')}.{digest}"


def _namespace_of(planned: EventToWrite) -> str:
    """Return the namespace of an Event; ``default`` for a cluster-scoped object."""
    return planned.about.namespace or "default"


class EventRecorder(ReconcileRoundListener):
    """Writes Events in the background; one that cannot be written is dropped."""

    def __init__(self, api: ApiSession, instance: str, unlisted: Mapping[str, str] = _ALL_LISTED) -> None:
        """Write nothing yet.

        Args:
            api: the API server.
            instance: the name of this process.
            unlisted: kind that cannot be listed -> why; a live view.
        """
        self._api = api
        self._instance = instance
        self._unlisted = unlisted
        self._known: OrderedDict[tuple[str, str, str], None] = OrderedDict()
        self._queue: asyncio.Queue[tuple[EventToWrite, str]] = asyncio.Queue(maxsize=_MOST_QUEUED)

    def on_round_planned(self, planned_round: PlannedReconcileRound) -> None:
        """Queue the Events about a plan that were not queued before."""
        for planned in kubernetes_events_of_plan(planned_round.plan, self._unlisted):
            key = (planned.uid, planned.reason, planned.key)
            if key in self._known:
                continue
            self._known[key] = None
            if len(self._known) > _MOST_KNOWN:
                self._known.popitem(last=False)
            with suppress(asyncio.QueueFull):
                self._queue.put_nowait((planned, planned_round.plan_name))

    async def run(self) -> None:
        """Write the queued Events until cancelled."""
        while True:
            await self._write(*await self._queue.get())
            self._queue.task_done()

    async def wait_until_written(self) -> None:
        """Wait until the queue is written, two seconds at most: no termination is delayed by an Event."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_FLUSH_TIMEOUT):
                await self._queue.join()

    async def _write(self, planned: EventToWrite, plan: str) -> None:
        path = f"/apis/{_EVENTS}/namespaces/{_namespace_of(planned)}/events"
        with suppress(NoServerResponse):
            await self._api.request("POST", path, body=self._event(planned, plan))

    def _event(self, planned: EventToWrite, plan: str) -> dict[str, Any]:
        metadata = {"name": _name_of(planned), "namespace": _namespace_of(planned), "annotations": {PLAN: plan}}
        return {
            "apiVersion": _EVENTS,
            "kind": "Event",
            "metadata": metadata,
            "eventTime": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%fZ}",
            "reportingController": CONTROLLER,
            "reportingInstance": _cut(self._instance, _LONGEST_FIELD),
            "action": _cut(planned.action, _LONGEST_FIELD),
            "reason": _cut(planned.reason, _LONGEST_FIELD),
            "type": "Warning",
            "note": _cut(planned.note, _LONGEST_NOTE),
            "regarding": {
                "apiVersion": planned.about.api_version,
                "kind": planned.about.kind,
                "namespace": planned.about.namespace,
                "name": planned.about.name,
                "uid": planned.uid,
            },
        }
