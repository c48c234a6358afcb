"""Records what the operator does and which conditions change, as entries of the timeline."""

from collections.abc import Iterable, Mapping
from typing import Final, assert_never

from grove_core.areas.gang_termination.termination_findings import PREDICTION, TERMINATION
from grove_core.areas.gang_termination.verdicts import WAITS
from grove_core.kernel.conditions import Condition
from grove_core.kernel.decisions import reasons_for_question
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import (
    Apply,
    Attempt,
    AttemptOutcome,
    Create,
    Delete,
    DropFinalizer,
    Ensure,
    SetStatus,
    Step,
    gangs_terminated_by,
)
from grove_core.plan.plan import Plan
from grove_core.resources.api_names import DOMAINS_READY, TOPOLOGY_IN_SYNC
from grove_core.resources.configuration import Configuration
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.simulator.cluster.object_change_detector import ObjectChange
from grove_shell.simulator.cluster.simulated_cluster import SimulatedCluster
from grove_shell.simulator.cluster.topologies import RoundSnapshot
from grove_shell.simulator.recording.run_history import HistoryActor, HistoryEntryKind, RunHistory

_TAKEN_AWAY: Final = {
    DOMAINS_READY: f"no ComputeDomain fails any more, {DOMAINS_READY} is removed",
    TOPOLOGY_IN_SYNC: f"its topology holds again, {TOPOLOGY_IN_SYNC} is removed",
}
_IN_WORDS: Final = frozenset(_TAKEN_AWAY)
"""Conditions of which a change of the message alone is recorded."""


class TimelineRecorder:
    """Observes the operators and the changes of the cluster, and adds entries to the history."""

    def __init__(self, cluster: SimulatedCluster, history: RunHistory) -> None:
        self.cluster = cluster
        self.history = history
        self._unpredicted: dict[Ref, dict[str, None]] = {}
        self._deleted_with: dict[
            tuple[Ref, str], set[Ref]
        ] = {}  # replica and uid of the cause -> objects deleted with it
        self._waits: dict[Ref, dict[Ref, str]] = {}  # by root
        self._withheld: dict[Ref, dict[Ref, tuple[str, ...]]] = {}

    # changes of the cluster

    def on_changes(self, changes: Iterable[ObjectChange]) -> None:
        """Record conditions that change, and updates that begin and end."""
        if self.history.counts_only:
            return
        for change in changes:
            before, after = change.before, change.after
            if isinstance(after, PodClique | ScalingGroup | PodCliqueSet) and change.kind == after.ref.kind:
                known = _conditions(before)
                for condition in after.status.conditions:
                    old = known.get(condition.type)
                    moved = old is None or old.status is not condition.status or old.reason != condition.reason
                    if moved or (condition.type in _IN_WORDS and old != condition):
                        self._record_condition(after.ref, condition, old)
                gone = known.keys() - {one.type for one in after.status.conditions}
                for word in (word for kind, word in _TAKEN_AWAY.items() if kind in gone):
                    self.history.record(
                        change.at, HistoryActor.OPERATOR, HistoryEntryKind.CHANGED, after.ref, detail=word
                    )
                was = getattr(getattr(before, "status", None), "updating", False)
                if after.status.updating != was:
                    word = "an update begins" if after.status.updating else "the update is complete"
                    self.history.record(
                        change.at, HistoryActor.OPERATOR, HistoryEntryKind.CHANGED, after.ref, detail=word
                    )

    def _record_condition(self, ref: Ref, condition: Condition, old: Condition | None) -> None:
        self.history.record(
            self.cluster.queue.now,
            HistoryActor.OPERATOR,
            HistoryEntryKind.CONDITION,
            ref,
            detail=f"{condition.type}={condition.status.value}",
            because=(condition.reason, condition.message, old.status.value if old is not None else ""),
        )

    # actions of the operator

    @property
    def unpredicted_by_set(self) -> Mapping[Ref, tuple[str, ...]]:
        """Set -> what the rules do not predict of it, as sentences in the order of their first appearance."""
        ordered = sorted(self._unpredicted, key=lambda root: root.sort_key)
        return {root: tuple(self._unpredicted[root]) for root in ordered}

    def on_plan(self, actor: HistoryActor, seen: RoundSnapshot, plan: Plan) -> None:
        """Record which replicas wait, and what is withheld, when it is new or changed."""
        for why in reasons_for_question(PREDICTION, plan.findings):
            self._unpredicted.setdefault(plan.root, {})[why.sentence] = None
        if self.history.counts_only:
            return
        waits: dict[Ref, str] = {}
        for finding in plan.findings:
            if finding.question == TERMINATION and finding.verdict == WAITS:
                waits[finding.subject] = "; ".join(dict.fromkeys(why.sentence for why in finding.because))
        for subject, sentence in waits.items():
            if self._waits.get(plan.root, {}).get(subject) != sentence:
                self.history.record(self.cluster.queue.now, actor, HistoryEntryKind.WAITS, subject, because=(sentence,))
        self._waits[plan.root] = waits
        held = {word.target: tuple(why.sentence for why in word.because) for word in plan.withheld}
        for target, sentences in held.items():
            if self._withheld.get(plan.root, {}).get(target) != sentences:
                self.history.record(self.cluster.queue.now, actor, HistoryEntryKind.HOLDS, target, because=sentences)
        self._withheld[plan.root] = held
        del seen

    def on_write(self, actor: HistoryActor, seen: RoundSnapshot, attempt: Attempt) -> None:
        """Record a write with its reasons."""
        step = attempt.step
        if attempt.outcome is AttemptOutcome.DONE and isinstance(step.action, Delete):
            self._count_terminations(step)
        if self.history.counts_only:
            return
        because = tuple(why.sentence for why in step.because)
        clique = _clique_of(step, seen) if step.target.kind == "Pod" else ""
        if attempt.outcome is not AttemptOutcome.DONE or attempt.unexpected:
            is_done = attempt.outcome is AttemptOutcome.DONE
            detail = attempt.detail if is_done else f"{attempt.outcome.value}: {attempt.detail}"
            self.history.record(
                self.cluster.queue.now,
                actor,
                HistoryEntryKind.DENIED,
                step.target,
                clique=clique,
                detail=detail,
                because=because,
            )
            return
        self.history.record(self.cluster.queue.now, actor, _kind_of(step), step.target, clique=clique, because=because)

    def on_start(self, actor: HistoryActor, configuration: Configuration, objection: Reason | None) -> None:
        """Record a process that exits because of its preflight; a successful start has no entry."""
        if objection is not None and not self.history.counts_only:
            word = f"the operator exits at its start: {objection.sentence}"
            self.history.record(self.cluster.queue.now, HistoryActor.FAULT, HistoryEntryKind.FAULT, detail=word)
        del actor, configuration

    def on_crash(self, actor: HistoryActor, writes: int) -> None:
        """Record a crash of the process."""
        word = f"the operator crashes at write {writes} of its round" if writes else "the operator crashes"
        self.history.record(self.cluster.queue.now, HistoryActor.FAULT, HistoryEntryKind.FAULT, detail=word)
        del actor

    def _count_terminations(self, step: Step) -> None:
        """Count terminated replicas: deletions in several rounds count once, a second one of the same object anew."""
        if not isinstance(step.action, Delete):
            return
        cause = step.action.rests_on[0][1].uid if step.action.rests_on else ""
        for one in step.action.terminates:
            ended = self._deleted_with.setdefault((one.replica, cause), set())
            if not ended or step.target in ended:
                self.history.terminations += 1
                ended.clear()
            ended.add(step.target)


def _kind_of(step: Step) -> HistoryEntryKind:
    action = step.action
    match action:
        case Create() | Ensure():
            return HistoryEntryKind.CREATED
        case Apply():
            return HistoryEntryKind.OPENED if step.target.kind == "Pod" else HistoryEntryKind.CHANGED
        case SetStatus():
            return HistoryEntryKind.STATUS
        case DropFinalizer():
            return HistoryEntryKind.RELEASED
        case Delete():
            return HistoryEntryKind.TERMINATED if gangs_terminated_by(step) else HistoryEntryKind.DELETED
        case _:
            assert_never(action)


def _clique_of(step: Step, seen: RoundSnapshot) -> str:
    if isinstance(step.action, Create):
        owner = step.action.manifest["metadata"]["ownerReferences"][0]  # type: ignore[index,call-overload]  # a new object has an owner (PL-016)
        return str(owner["name"])  # type: ignore[index,call-overload]  # a new object has an owner (PL-016)
    pods = seen.pods() if isinstance(seen, Snapshot) else ()
    found = (clique.ref.name for clique, pod in pods if pod.name == step.target.name)
    return next(found, "")


def _conditions(item: object) -> dict[str, Condition]:
    if isinstance(item, PodClique | ScalingGroup | PodCliqueSet):
        return {condition.type: condition for condition in item.status.conditions}
    return {}
