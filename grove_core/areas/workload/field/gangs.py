"""PodGangs by the Go operator: the pods that they refer to, and the only status that it writes (WF-046)."""

from collections.abc import Iterator, Mapping, Sequence

from grove_core.areas.workload.field.rules import GoOperatorWorkloadReason
from grove_core.areas.workload.workload_context import WorkloadContext
from grove_core.kernel.conditions import (
    Condition,
    ConditionStatus,
    condition_of,
    is_condition_true,
    next_transition_time,
)
from grove_core.kernel.wants import StatusToWrite
from grove_core.resources.api_names import GANG_INITIALIZED
from grove_core.resources.podgang import PodGang
from grove_core.resources.status_comparison import changed_status_fields
from grove_core.snapshot.expected_replicas import ExpectedGang


def pod_references_of_gang(context: WorkloadContext, expected: ExpectedGang) -> Mapping[str, Sequence[str]]:
    """Return name of a clique -> names of its pods that the gang refers to, sorted: all that carry its label."""
    found: dict[str, Sequence[str]] = {}
    for part in expected.cliques:
        clique = context.existing_clique(part)
        pods = context.pods_of_clique(clique) if clique is not None else ()
        found[part.name] = sorted(pod.name for pod in pods if pod.gang == expected.name and not pod.deleting)
    return found


def gang_statuses_by_go_operator(
    context: WorkloadContext, gang: PodGang, expected: ExpectedGang
) -> Iterator[StatusToWrite]:
    """Yield a gang's status if it changes: ``Initialized``, and the phase ``Pending``, which never changes again.

    The condition is False until all pods exist, then True for ever.
    """
    stored = condition_of(gang.status.conditions, GANG_INITIALIZED)
    if is_condition_true(stored):
        return
    wanted = existing = 0
    complete = True
    for part in expected.cliques:
        clique = context.existing_clique(part)
        pods = [pod for pod in context.pods_of_clique(clique) if not pod.deleting] if clique is not None else []
        wanted += part.replicas
        existing += len(pods)
        complete = complete and clique is not None and len(pods) >= clique.replicas
        complete = complete and all(pod.gang == expected.name for pod in pods)
    if stored is not None and not complete:
        return
    truth = ConditionStatus.TRUE if complete else ConditionStatus.FALSE
    reason = "PodGangPodsCreated" if complete else "PodGangPodsCreationPending"
    condition = Condition(
        GANG_INITIALIZED, truth, reason, "", next_transition_time(stored, truth, context.snapshot.now)
    )
    fields = changed_status_fields(gang.status, {"phase": "Pending"}, (condition,))
    because = GoOperatorWorkloadReason.GANG_INITIALIZED.because(gang.ref, pods=existing, wanted=wanted)
    yield StatusToWrite(gang.ref, gang.guard, fields, (because,))
