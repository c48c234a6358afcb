"""Kubernetes Events for what an administrator should know: a gang that waits for its end, ends, or cannot be helped.

The name of an Event follows from what it says, so a restart says nothing twice, and two processes not either.
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

from grove_core.areas.gang_termination.questions import TERMINATION
from grove_core.areas.gang_termination.verdicts import ENDS, WAITS
from grove_core.areas.mnnvl.rules import Why as Fabric
from grove_core.areas.workload.rules import Why as Workload
from grove_core.kernel.decisions import Finding
from grove_core.kernel.reasons import Reason, Rule
from grove_core.kernel.refs import Ref
from grove_core.kernel.times import format_time
from grove_core.kernel.wants import Withheld
from grove_core.plan.plan import Plan
from grove_core.plan.rules import Why as Planning
from grove_core.resources.cluster_topology import TOPOLOGY_KINDS
from grove_core.resources.compute_domain import DOMAIN_KIND
from grove_shell.client.api import Api, Unreachable
from grove_shell.controller.round_listener import PlannedRound, RoundListener

CONTROLLER: Final = "grove.io/operator"
PLAN: Final = "grove.io/plan"
_EVENTS: Final = "events.k8s.io/v1"
_REMEMBERED: Final = 4096
_LONGEST_NOTE: Final = 1024
_LONGEST_WORD: Final = 128
_LONGEST_NAME: Final = 253
"""An API server counts all three in bytes, and refuses an Event with more (OP-093)."""
_DIGITS: Final = 16
_BACKLOG: Final = 1000
_LONGEST_WAIT: Final = 2.0
_NOTHING_LOST: Final[Mapping[str, str]] = MappingProxyType({})
_UNSEEN: Final[Mapping[Rule, str]] = MappingProxyType(
    {Fabric.DOMAINS_NOT_COLLECTED: DOMAIN_KIND, Workload.PARTS_NOT_COLLECTED: "PodClique"}
)
"""Why something is held back, and the kind that would have to be seen."""


@dataclass(frozen=True, slots=True)
class PlannedEvent:
    """One Event.

    Attributes:
        about: the object it is shown with.
        reason: in CamelCase; the name of a rule.
        key: what tells it from others of the same reason.
    """

    about: Ref
    uid: str
    reason: str
    action: str
    note: str
    key: str


def planned_events(plan: Plan, lost: Mapping[str, str] = _NOTHING_LOST) -> Iterator[PlannedEvent]:
    """What a plan has to tell administrators.

    Gangs that wait for their end or end now (none whose end is held back), writes that are refused, what a kind that
    cannot be seen holds back, and what may not be done to a topology.

    Args:
        plan: of one set, or of one topology.
        lost: kinds of which nothing is known, and the server's words.
    """
    stays = {why.subject for held in plan.withheld if _is_end_put_off(held) for why in held.because}
    for finding in plan.findings:
        whole = finding.subject.replica is None  # a scaling group: what is said of it is said of its replicas
        if finding.question != TERMINATION or finding.verdict not in {ENDS, WAITS} or whole:
            continue
        if finding.verdict == WAITS or stays.isdisjoint(reason.subject for reason in finding.because):
            yield _of_termination(plan, finding)
    unseen: dict[Rule, list[Withheld]] = {}
    for held in plan.withheld:
        rule = held.because[0].rule
        note = f"{held.target.short}: {held.because[0].sentence}"
        if rule is Planning.REFUSED_BEFORE:
            yield PlannedEvent(plan.root, plan.root_uid, rule.code, "Write", note, note)
        elif held.target.kind in TOPOLOGY_KINDS:
            yield PlannedEvent(plan.root, plan.root_uid, rule.code, "Keep", note, held.target.short)
        elif rule is Planning.NOT_ASKED:
            words = held.because[0].sentence
            yield PlannedEvent(plan.root, plan.root_uid, rule.code, "Look", words, words)
        elif rule in _UNSEEN:
            unseen.setdefault(rule, []).append(held)
    for rule, held_back in unseen.items():
        kind = _UNSEEN[rule]
        words = lost.get(kind) or "not all of them can be read"
        more = f", and {len(held_back) - 1} more" if held_back[1:] else ""
        note = f"{held_back[0].target.short}{more}: held back until {kind}s can be seen: {words}"
        yield PlannedEvent(plan.root, plan.root_uid, rule.code, "Look", note, words)


def _is_end_put_off(held: Withheld) -> bool:
    return bool(held.terminates) and held.because[0].rule in {Planning.REFUSED_BEFORE, Planning.NOT_ASKED}


def _of_termination(plan: Plan, finding: Finding) -> PlannedEvent:
    ends = finding.verdict == ENDS
    note = f"{_whom(finding.subject)}: " + "; ".join(map(_clause, finding.because))
    reason = "GangTerminated" if ends else "TerminationScheduled"
    key = f"{_whom(finding.subject)} {'' if finding.deadline is None else format_time(finding.deadline)}"
    return PlannedEvent(plan.root, plan.root_uid, reason, "Terminate", note, key)


def _clause(reason: Reason) -> str:
    return f"{reason.subject.short}: {reason.sentence}"


def _whom(replica: Ref) -> str:
    return f"replica {replica.replica} of {replica.kind} {replica.name}"


def _cut(text: str, size: int) -> str:
    """As much of a text as goes into so many bytes; no character is cut in two."""
    return text.encode(errors="replace")[:size].decode(errors="ignore")


def _name_of(told: PlannedEvent) -> str:
    """The same for the same; the name of an object comes first, or as much of it as leaves a valid name."""
    digest = hashlib.sha256(f"{told.uid} {told.reason} {told.key}".encode(errors="replace")).hexdigest()[:_DIGITS]
    return f"{_cut(told.about.name, _LONGEST_NAME - _DIGITS - 1).rstrip('-.')}.{digest}"


def _place_of(told: PlannedEvent) -> str:
    """Events about what is in no namespace are looked for in that one."""
    return told.about.namespace or "default"


class EventRecorder(RoundListener):
    """Writes Events beside the rounds; one that cannot be written is lost, and nothing waits for it."""

    def __init__(self, api: Api, instance: str, lost: Mapping[str, str] = _NOTHING_LOST) -> None:
        """Write nothing yet.

        Args:
            api: whom to tell.
            instance: this process.
            lost: kinds of which nothing is known at this moment, and why; changes as it goes.
        """
        self._api = api
        self._instance = instance
        self._lost = lost
        self._told: OrderedDict[tuple[str, str, str], None] = OrderedDict()
        self._queue: asyncio.Queue[tuple[PlannedEvent, str]] = asyncio.Queue(maxsize=_BACKLOG)

    def planned(self, look: PlannedRound) -> None:
        """What is new in a plan is told, before it is carried out."""
        for told in planned_events(look.plan, self._lost):
            key = (told.uid, told.reason, told.key)
            if key in self._told:
                continue
            self._told[key] = None
            if len(self._told) > _REMEMBERED:
                self._told.popitem(last=False)
            with suppress(asyncio.QueueFull):
                self._queue.put_nowait((told, look.name))

    async def run(self) -> None:
        """Write until cancelled."""
        while True:
            await self._write(*await self._queue.get())
            self._queue.task_done()

    async def flush(self) -> None:
        """Wait until everything is written, and not for long: an end is not put off for an Event."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_LONGEST_WAIT):
                await self._queue.join()

    async def _write(self, told: PlannedEvent, plan: str) -> None:
        path = f"/apis/{_EVENTS}/namespaces/{_place_of(told)}/events"
        with suppress(Unreachable):
            await self._api.request("POST", path, body=self._event(told, plan))

    def _event(self, told: PlannedEvent, plan: str) -> dict[str, Any]:
        return {
            "apiVersion": _EVENTS,
            "kind": "Event",
            "metadata": {
                "name": _name_of(told),
                "namespace": _place_of(told),
                "annotations": {PLAN: plan},
            },
            "eventTime": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%fZ}",
            "reportingController": CONTROLLER,
            "reportingInstance": _cut(self._instance, _LONGEST_WORD),
            "action": _cut(told.action, _LONGEST_WORD),
            "reason": _cut(told.reason, _LONGEST_WORD),
            "type": "Warning",
            "note": _cut(told.note, _LONGEST_NOTE),
            "regarding": {
                "apiVersion": told.about.api_version,
                "kind": told.about.kind,
                "namespace": told.about.namespace,
                "name": told.about.name,
                "uid": told.uid,
            },
        }
