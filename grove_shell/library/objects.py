"""Sets, replicas, PodCliques and pods of what was read, in the words of the command line."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from grove_core.explain import explanation_of_forecast
from grove_core.forecast_explanation import ExplainedReplica
from grove_core.in_memory.forecasts import snapshot_with_set_as_stored
from grove_core.kernel.refs import Ref
from grove_core.kernel.time_formats import format_time
from grove_core.plan.forecast import one_round_forecast
from grove_core.reconcile import reconcile
from grove_core.resources.api_names import GATE
from grove_core.resources.pod import Pod, ready_pod_count
from grove_core.resources.podclique import PodClique
from grove_core.rule_sets.rule_set import RuleSet
from grove_core.snapshot.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class PodState:
    """One pod.

    Attributes:
        clique: name of its PodClique.
        gang: name of its PodGang; empty where it names none.
        node: empty where it is not placed.
        gates: names of the scheduling gates on it; why, is in ``plan.gated``.
        trouble: why it is not ready, as ``CrashLoopBackOff``; empty where no reason is given.
    """

    name: str
    clique: str
    gang: str
    node: str
    gates: tuple[str, ...]
    gpus: int
    ready: bool
    phase: str
    trouble: str
    deleting: bool


@dataclass(frozen=True, slots=True)
class CliqueState:
    """One PodClique.

    Attributes:
        replica: of the set.
        group: name of its PodCliqueScalingGroup; empty for a standalone one.
        group_replica: of that; None for a standalone one.
        pods: those that are being deleted included.
        ready: pods that are ready and not being deleted.
    """

    name: str
    replica: int
    group: str
    group_replica: int | None
    replicas: int
    min_available: int
    ready: int
    pods: tuple[PodState, ...]

    @property
    def is_below_minimum(self) -> bool:
        """Whether fewer pods are ready than its minimum."""
        return self.ready < self.min_available


@dataclass(frozen=True, slots=True)
class ReplicaState:
    """What the operator decides now about one replica, of a set or of a scaling group.

    Attributes:
        name: as ``llama replica 0``.
        owner, index: name of the set or scaling group, and the number of the replica; None for all of them.
        verdict: ``TERMINATE``, ``WAIT``, ``HELD BACK``, ``UNKNOWN``, ``GATED`` or ``KEEP``.
        until: when the delay ends or ended; None where none runs.
        because: sentences.
    """

    name: str
    owner: str
    index: int | None
    verdict: str
    until: datetime | None
    because: str


@dataclass(frozen=True, slots=True)
class SetState:
    """One PodCliqueSet.

    Attributes:
        labels: as they are on it.
        available: replicas that are available; ``wanted`` of them are asked for.
        replicas: the verdicts on its replicas and those of its scaling groups, the most urgent first; replicas of
            scaling groups of which nothing is to say are left out.
    """

    namespace: str
    name: str
    labels: Mapping[str, str]
    available: int
    wanted: int
    replicas: tuple[ReplicaState, ...]
    cliques: tuple[CliqueState, ...]

    @property
    def full_name(self) -> str:
        """``namespace/name``, as rows of tables have it under ``set``."""
        return f"{self.namespace}/{self.name}"

    @property
    def pods(self) -> tuple[PodState, ...]:
        """The pods of all PodCliques."""
        return tuple(pod for clique in self.cliques for pod in clique.pods)

    def to_dict(self) -> dict[str, Any]:
        """Return it with its parts as JSON with the names of the attributes."""
        return {name: _as_json(value) for name, value in asdict(self).items()}

    @property
    def groups(self) -> tuple[str, ...]:
        """The names of its scaling groups, each once."""
        return tuple(dict.fromkeys(clique.group for clique in self.cliques if clique.group))


def set_states(snapshots: Iterable[Snapshot], rules: RuleSet) -> tuple[SetState, ...]:
    """Return the state of each set under these rules."""
    return tuple(_set_state(snapshot_with_set_as_stored(one, rules), rules) for one in snapshots)


def _set_state(snapshot: Snapshot, rules: RuleSet) -> SetState:
    story = explanation_of_forecast(one_round_forecast(reconcile(snapshot, rules), snapshot.now))
    ref = snapshot.root.ref
    return SetState(
        namespace=ref.namespace,
        name=ref.name,
        labels={key: str(value) for key, value in snapshot.root.labels.items()},
        available=story.available,
        wanted=snapshot.root.spec.replicas,
        replicas=tuple(
            ReplicaState(
                subject_display_name(one.subject),
                one.subject.name,
                one.subject.replica,
                one.urgency.value,
                one.until,
                "; ".join(cause_sentences_of_entry(one)),
            )
            for one in story.entries
        ),
        cliques=tuple(_clique_state(snapshot, one) for one in snapshot.cliques),
    )


def _clique_state(snapshot: Snapshot, clique: PodClique) -> CliqueState:
    found = snapshot.pods_of.get(clique.uid, ())
    is_member = clique.is_in_scaling_group
    return CliqueState(
        name=clique.ref.name,
        replica=clique.replica_index,
        group=clique.owner_name if is_member else "",
        group_replica=clique.group_replica_index if is_member else None,
        replicas=clique.replicas,
        min_available=clique.min_available,
        ready=ready_pod_count(found),
        pods=tuple(_pod_state(pod, clique) for pod in found),
    )


def _pod_state(pod: Pod, clique: PodClique) -> PodState:
    return PodState(
        name=pod.name,
        clique=clique.ref.name,
        gang=pod.gang,
        node=pod.node,
        gates=gates_of(pod),
        gpus=pod.gpus,
        ready=pod.ready,
        phase=pod.phase,
        trouble=pod.trouble,
        deleting=pod.deleting,
    )


def gates_of(pod: Pod) -> tuple[str, ...]:
    """Return the names of the scheduling gates on a pod, Grove's first."""
    return (*((GATE,) if pod.has_grove_gate else ()), *pod.foreign_gates)


def _as_json(value: Any) -> Any:  # noqa: ANN401 - any value of a field
    if isinstance(value, datetime):
        return format_time(value)
    if isinstance(value, dict):
        return {key: _as_json(one) for key, one in value.items()}
    return [_as_json(one) for one in value] if isinstance(value, tuple | list) else value


def qualified_name(ref: Ref) -> str:
    """Return ``namespace/name``."""
    return f"{ref.namespace}/{ref.name}"


def subject_display_name(subject: Ref) -> str:
    """Return ``llama replica 0`` for a replica, and the name for an object."""
    return subject.name if subject.replica is None else f"{subject.name} replica {subject.replica}"


def cause_sentences_of_entry(entry: ExplainedReplica) -> Iterator[str]:
    """Yield why an entry is as it is: the sentences of its causes, and of the causes behind them."""
    todo = [*entry.causes]
    while todo:
        cause = todo.pop(0)
        yield f"{cause.subject.name}: {', '.join(cause.sentences)}"
        todo[:0] = cause.below
