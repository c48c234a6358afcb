"""Records what the operator does and which conditions change, as entries of the timeline."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, TypeAlias, assert_never

from grove_core.areas.gang_termination.verdicts import WAITS
from grove_core.kernel.decisions import reasons_for_question
from grove_core.kernel.questions import PREDICTION, TERMINATION
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
from grove_core.resources.object_metadata import metadata_in
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.cache.cache_view import Observation
from grove_shell.simulator.cluster.object_change_detector import ObjectChange
from grove_shell.simulator.recording.simulation_history import (
    BreachWaitHistoryEntry,
    ConditionHistoryEntry,
    NoteHistoryEntry,
    NoteKind,
    SimulationActor,
    SimulationHistory,
    WriteEffect,
    WriteHistoryEntry,
)

_TAKEN_AWAY: Final = {
    DOMAINS_READY: f"no ComputeDomain fails any more, {DOMAINS_READY} is removed",
    TOPOLOGY_IN_SYNC: f"its topology holds again, {TOPOLOGY_IN_SYNC} is removed",
}
_IN_WORDS: Final = frozenset(_TAKEN_AWAY)
"""Conditions of which a change of the message alone is recorded."""
_Because: TypeAlias = Mapping[Ref, tuple[Reason, ...]]


class TimelineRecorder:
    """Observes the operators and the changes of the cluster, and adds entries to the history."""

    def __init__(self, history: SimulationHistory) -> None:
        self.history = history
        self._unpredicted: dict[Ref, dict[str, None]] = {}
        self._deleted_with: dict[
            tuple[Ref, str], set[Ref]
        ] = {}  # replica and uid of the cause -> objects deleted with it
        self._waits: dict[Ref, _Because] = {}  # by root
        self._withheld: dict[Ref, _Because] = {}

    # changes of the cluster

    def on_changes(self, changes: Iterable[ObjectChange]) -> None:
        """Record conditions that change, and updates that begin and end."""
        if self.history.counts_only:
            return
        for change in changes:
            before, after = change.before, change.after
            if isinstance(after, PodClique | ScalingGroup | PodCliqueSet) and change.kind == after.ref.kind:
                status = before.status if isinstance(before, PodClique | ScalingGroup | PodCliqueSet) else None
                known = {one.type: one for one in status.conditions} if status is not None else {}
                for condition in after.status.conditions:
                    old = known.get(condition.type)
                    moved = old is None or old.status is not condition.status or old.reason != condition.reason
                    if moved or (condition.type in _IN_WORDS and old != condition):
                        entry = ConditionHistoryEntry(after.ref, condition, old.status if old is not None else None)
                        self.history.record(SimulationActor.OPERATOR, entry)
                gone = known.keys() - {one.type for one in after.status.conditions}
                words = [word for kind, word in _TAKEN_AWAY.items() if kind in gone]
                if after.status.updating != (status is not None and status.updating):
                    words.append("an update begins" if after.status.updating else "the update is complete")
                for word in words:
                    self.history.record(SimulationActor.OPERATOR, NoteHistoryEntry(NoteKind.UPDATE, word, after.ref))

    # actions of the operator

    @property
    def unpredicted_sentences_by_set(self) -> Mapping[Ref, tuple[str, ...]]:
        """Set -> what the rules do not predict of it, as sentences in the order of their first appearance."""
        ordered = sorted(self._unpredicted, key=lambda root: root.sort_key)
        return {root: tuple(self._unpredicted[root]) for root in ordered}

    def on_operator_plan(self, actor: SimulationActor, seen: Observation, plan: Plan) -> None:
        """Record which replicas wait, and what is withheld, when it is new or changed."""
        for why in reasons_for_question(PREDICTION, plan.findings):
            self._unpredicted.setdefault(plan.root, {})[why.sentence] = None
        if self.history.counts_only:
            return
        waits = {
            finding.subject: finding.because
            for finding in plan.findings
            if finding.question == TERMINATION and finding.verdict == WAITS
        }
        for subject, because in _new_in(self._waits.get(plan.root, {}), waits):
            self.history.record(actor, BreachWaitHistoryEntry(subject, because))
        self._waits[plan.root] = waits
        withheld = {word.target: word.because for word in plan.withheld}
        for target, because in _new_in(self._withheld.get(plan.root, {}), withheld):
            self.history.record(actor, WriteHistoryEntry(WriteEffect.WITHHELD, target, because=because))
        self._withheld[plan.root] = withheld
        del seen

    def on_operator_write(self, actor: SimulationActor, seen: Observation, attempt: Attempt) -> None:
        """Record a write with its reasons."""
        step = attempt.step
        if attempt.outcome is AttemptOutcome.DONE and isinstance(step.action, Delete):
            self._count_terminations(step)
        if self.history.counts_only:
            return
        clique = _clique_of(step, seen) if step.target.kind == "Pod" else ""
        what, error = _kind_of(step), ""
        if attempt.outcome is not AttemptOutcome.DONE or attempt.unexpected:
            is_done = attempt.outcome is AttemptOutcome.DONE
            what, error = (
                WriteEffect.FAILED,
                attempt.detail if is_done else f"{attempt.outcome.value}: {attempt.detail}",
            )
        self.history.record(actor, WriteHistoryEntry(what, step.target, clique, step.because, error))

    def on_operator_start(self, actor: SimulationActor, configuration: Configuration, objection: Reason | None) -> None:
        """Record a process that exits because of its preflight; a successful start has no entry."""
        if objection is not None:
            self.history.record_fault(f"the operator exits at its start: {objection.sentence}")
        del actor, configuration

    def on_operator_crash(self, actor: SimulationActor, writes: int) -> None:
        """Record a crash of the process."""
        self.history.record_fault(f"the operator crashes{f' at write {writes} of its round' if writes else ''}")
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


def _new_in(before: _Because, now: _Because) -> Iterator[tuple[Ref, tuple[Reason, ...]]]:
    """Yield subject and reasons of what is new, or now has other reasons."""
    for subject, because in now.items():
        old = before.get(subject)
        if old != because:
            yield subject, because


def _kind_of(step: Step) -> WriteEffect:
    action = step.action
    match action:
        case Create() | Ensure():
            return WriteEffect.CREATED
        case Apply():
            return WriteEffect.OPENED if step.target.kind == "Pod" else WriteEffect.CHANGED
        case SetStatus():
            return WriteEffect.STATUS
        case DropFinalizer():
            return WriteEffect.RELEASED
        case Delete():
            return WriteEffect.TERMINATED if gangs_terminated_by(step) else WriteEffect.DELETED
        case _:
            assert_never(action)


def _clique_of(step: Step, seen: Observation) -> str:
    if isinstance(step.action, Create):
        return metadata_in(step.action.manifest).controller.name
    pods = seen.pods() if isinstance(seen, Snapshot) else ()
    found = (clique.ref.name for clique, pod in pods if pod.name == step.target.name)
    return next(found, "")
