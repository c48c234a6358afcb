"""The update of a set by the Go operator: which replica is updated, and when it is done (WF-002 to WF-006)."""

from collections.abc import Sequence

from grove_core.areas.gang_termination.verdicts import ReplicasToTerminate
from grove_core.areas.workload.field.present_templates import PresentTemplateHashes
from grove_core.areas.workload.field.rules import GoOperatorWorkloadReason
from grove_core.areas.workload.field.scaling_group_update import is_clique_updated
from grove_core.areas.workload.workload_context import WorkloadContext
from grove_core.kernel.frozen import EMPTY, FrozenMap, list_at
from grove_core.kernel.reasons import Reason
from grove_core.kernel.structs import Struct
from grove_core.kernel.wants import StepObstacle, Withheld
from grove_core.resources.api_names import UPDATE_ENDED, UPDATE_STARTED
from grove_core.resources.podcliqueset_spec import ON_DELETE
from grove_core.resources.status_comparison import is_marked_breached
from grove_core.snapshot.expected_replicas import ExpectedReplica

UPDATING = "currentlyUpdating"
_INDEX = "replicaIndex"


class SetUpdateDecision(Struct, frozen=True):
    """What one reconcile of a set does for its update.

    Attributes:
        progress: ``updateProgress`` of its status afterwards, without counts; as stored where nothing of it changes.
        because: why the progress changes; empty where it does not.
        withheld: the report of what the update waits for.
    """

    progress: FrozenMap = EMPTY
    because: tuple[Reason, ...] = ()
    withheld: tuple[Withheld, ...] = ()


def replica_being_updated(progress: FrozenMap) -> int | None:
    """Return the index of the replica that ``updateProgress`` of a set names first; None where it names none."""
    first = next(iter(list_at(progress, UPDATING)), None)
    index = first.get(_INDEX) if isinstance(first, FrozenMap) else None
    return index if isinstance(index, int) else None


def set_update_step(
    context: WorkloadContext,
    replicas: Sequence[ExpectedReplica],
    templates: PresentTemplateHashes,
    terminating: ReplicasToTerminate,
    now: str,
) -> SetUpdateDecision:
    """Return what one reconcile of the set does: it begins an update, chooses the next replica, or ends the update.

    Args:
        replicas: those that the set wants.
        templates: the hashes of the present templates.
        terminating: replicas that are terminated; the update does not choose them.
        now: of the snapshot, as a text in RFC 3339.
    """
    root = context.root
    progress, because = root.status.progress, tuple[Reason, ...]()
    if templates.has_changed:
        because = (GoOperatorWorkloadReason.SET_UPDATE_BEGINS.because(root.ref, replicas=len(replicas)),)
        progress = FrozenMap({UPDATE_STARTED: now})
        if root.spec.update_strategy.type == ON_DELETE:
            return SetUpdateDecision(FrozenMap({**progress, UPDATE_ENDED: now}), because)
    if not progress or UPDATE_ENDED in progress or root.spec.update_strategy.type == ON_DELETE:
        return SetUpdateDecision(progress, because)
    candidates = [one for one in replicas if one.index not in terminating.replicas]
    current = replica_being_updated(progress)
    pending = [
        one
        for one in candidates
        if one.index != current and not _is_updated(context, templates, one, templates.generation)
    ]
    chosen = next((one for one in candidates if one.index == current), None)
    if chosen is not None and not _is_updated(context, templates, chosen, templates.generation):
        waits = GoOperatorWorkloadReason.REPLICA_UPDATE_RUNS.because(
            root.ref.at_replica(chosen.index), replica=chosen.index, left=len(pending)
        )
        held = Withheld(root.ref.at_replica(chosen.index), (waits,), obstacle=StepObstacle.UPDATE)
        return SetUpdateDecision(progress, because, (held,))
    rest = {key: progress[key] for key in progress if key != UPDATING}
    if not pending:
        ends = GoOperatorWorkloadReason.SET_UPDATE_ENDS.because(root.ref, replicas=len(replicas))
        return SetUpdateDecision(FrozenMap({**rest, UPDATE_ENDED: now}), (*because, ends))
    following = min(pending, key=lambda one: _order(context, one))
    entry = FrozenMap({_INDEX: following.index, UPDATE_STARTED: now})
    begins = GoOperatorWorkloadReason.REPLICA_UPDATE_BEGINS.because(
        root.ref, replica=following.index, left=len(pending) - 1
    )
    return SetUpdateDecision(FrozenMap({**rest, UPDATING: (entry,)}), (*because, begins))


def _order(context: WorkloadContext, replica: ExpectedReplica) -> tuple[bool, bool, int]:
    """Return the order: replicas without scheduled pods first, then breached ones, then by index (WF-004)."""
    cliques = [clique for part in replica.cliques if (clique := context.existing_clique(part)) is not None]
    groups = [group for part in replica.groups if (group := context.groups.get(part.name)) is not None]
    placed = any(clique.status.scheduled for clique in cliques) or any(group.status.scheduled for group in groups)
    breached = any(is_marked_breached(clique.status) for clique in cliques)
    breached = breached or any(is_marked_breached(group.status) for group in groups)
    return (placed, not breached, replica.index)


def _is_updated(
    context: WorkloadContext, templates: PresentTemplateHashes, replica: ExpectedReplica, generation: str
) -> bool:
    """Return whether all cliques and groups of a replica show the update as complete (WF-005)."""
    for part in replica.cliques:
        clique = context.existing_clique(part)
        if clique is None or not is_clique_updated(clique, templates.hash_of(part), generation):
            return False
    groups = (context.groups.get(part.name) for part in replica.groups)
    return all(group is not None and group.status.set_hash == generation for group in groups)
