"""Admission of the levels of a ClusterTopology, and writes to it: finalizer, default levels (TP-040 to TP-087)."""

from collections.abc import Iterable, Iterator

from grove_core.areas.topology.admit import KnownTopologiesForAdmission
from grove_core.areas.topology.cluster_topology_snapshot import ClusterTopologySnapshot
from grove_core.areas.topology.rules import TopologyDenial, TopologyReason, TopologyWarning
from grove_core.areas.topology.verdicts import TopologyDeletionHold
from grove_core.kernel.admission import AdmissionWarning
from grove_core.kernel.decisions import Finding
from grove_core.kernel.frozen import FrozenMap, Json
from grove_core.kernel.questions import TOPOLOGY_USE
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.kernel.wants import DesiredChanges, FieldsToApply, ObjectToCreate, Withheld
from grove_core.resources.api_names import GROVE, MANAGED_BY, OPERATOR, TOPOLOGY_FINALIZER, TOPOLOGY_KIND
from grove_core.resources.cluster_topology import (
    DEFAULT_TOPOLOGY,
    ClusterTopology,
    Levels,
    topology_level_problems,
    topology_ref,
)
from grove_core.resources.configuration import Configuration
from grove_core.resources.naming_rules import name_list_text
from grove_core.resources.podcliqueset_manifest import BadField
from grove_core.resources.topology_usage import TopologyUser, sets_with_bound_pods

LEVELS = "spec.levels"


def topology_level_violations(
    new: ClusterTopology, old: ClusterTopology | None, configuration: Configuration, view: KnownTopologiesForAdmission
) -> Iterator[BadField]:
    """Yield every violation in the levels of a topology; none if an update leaves the levels unchanged.

    Args:
        old: the topology before the update; None for a new one.
        configuration: of the operator, with the levels of the default topology.
        view: the users of topologies; unknown ones are no violation.
    """
    if old is not None and old.levels == new.levels:
        return
    for problem in topology_level_problems(new.levels):
        yield BadField(
            f"{LEVELS}{problem.path}", problem.got, TopologyDenial.LEVELS_INVALID, {"expected": problem.expected}
        )
    settings = configuration.topology
    if settings.has_default_topology and new.ref.name == DEFAULT_TOPOLOGY and new.levels != settings.levels:
        yield BadField(
            LEVELS,
            topology_levels_text(new.levels),
            TopologyDenial.NAME_RESERVED,
            {"levels": topology_levels_text(settings.levels)},
        )
    placed_users = sets_with_bound_pods((view.users or {}).get(new.ref.name, ())) if old is not None else ()
    if placed_users:
        yield BadField(
            LEVELS,
            topology_levels_text(new.levels),
            TopologyDenial.LEVELS_IN_USE,
            {"users": topology_users_text(placed_users)},
        )


def topology_level_change_warnings(
    subject: Ref, new: ClusterTopology, old: ClusterTopology | None, view: KnownTopologiesForAdmission
) -> Iterator[AdmissionWarning]:
    """Yield a warning if the levels change and the users of the topology are not all known.

    Args:
        subject: the topology.
        old: the topology before the update; None for a new one.
        view: the users of topologies, and which of them may be missing.
    """
    if old is not None and old.levels != new.levels and (view.users is None or view.incomplete_kinds):
        yield BadField(LEVELS, topology_levels_text(new.levels), TopologyWarning.USERS_NOT_KNOWN, {}).as_warning(
            subject
        )


def topology_levels_text(levels: Levels) -> str:
    """Return levels on one line: ``zone (topology.kubernetes.io/zone), host (kubernetes.io/hostname)``."""
    return ", ".join(f"{level.domain} ({level.key})" for level in levels) or "none"


def topology_users_text(users: Iterable[TopologyUser]) -> str:
    """Return the names of sets on one line."""
    return name_list_text(user.namespace_and_name for user in users)


def desired_topology_changes(snapshot: ClusterTopologySnapshot) -> tuple[DesiredChanges, tuple[Finding, ...]]:
    """Return the wanted writes to one topology, at most one at a time, and a finding that says whether it is held."""
    found = snapshot.topology
    if found is None:
        return _default_to_create(snapshot), ()
    hold, why = topology_deletion_hold(snapshot), _hold_reason(snapshot, found)
    finding = Finding(found.ref, TOPOLOGY_USE, hold.value, (why,))
    metadata: dict[str, Json] = {}
    because: list[Reason] = []
    restoring, withheld = _default_to_restore(snapshot, found)
    finalizers = _wanted_finalizers(hold, found)
    if finalizers is not None:
        metadata["finalizers"] = finalizers
        because.append(why)
    fields: dict[str, Json] = {}
    if restoring and found.labels.get(MANAGED_BY) != OPERATOR:
        metadata["labels"] = FrozenMap({MANAGED_BY: OPERATOR})
        because += restoring
    if metadata:
        fields["metadata"] = FrozenMap(metadata)
    elif restoring:  # in a write of its own: a webhook that refuses the levels must not refuse the finalizer too
        fields["spec"] = FrozenMap({"levels": _levels_as_json(snapshot.settings.levels)})
        because += restoring
    if found.deleting and TOPOLOGY_FINALIZER in found.finalizers:
        if hold is TopologyDeletionHold.HELD:
            withheld = (
                Withheld(
                    found.ref,
                    (TopologyReason.USERS_STAY.because(found.ref, users=topology_users_text(snapshot.users)),),
                ),
            )
        elif hold is TopologyDeletionHold.UNKNOWN:
            withheld = (Withheld(found.ref, (why,)),)
    wants = [FieldsToApply(found.ref, found.guard, FrozenMap(fields), tuple(because))] if fields else []
    wants += _drop_shadowed_finalizer(snapshot)
    return DesiredChanges(tuple(wants), withheld), (finding,)


def _drop_shadowed_finalizer(snapshot: ClusterTopologySnapshot) -> Iterator[FieldsToApply]:
    """Remove the finalizer from a binding that a ClusterTopology of the same name takes precedence over (TP-049)."""
    other = snapshot.shadowed
    if other is not None and TOPOLOGY_FINALIZER in other.finalizers:
        because = (TopologyReason.SHADOWED.because(other.ref, topology=snapshot.name),)
        fields = FrozenMap({"metadata": FrozenMap({"finalizers": _without_grove_finalizer(other.finalizers)})})
        yield FieldsToApply(other.ref, other.guard, fields, because)


def _default_to_create(snapshot: ClusterTopologySnapshot) -> DesiredChanges:
    """Create the default topology; users create all others (TP-050)."""
    if not snapshot.is_default or not snapshot.settings.has_default_topology:
        return DesiredChanges()
    ref = topology_ref(snapshot.name)
    manifest = FrozenMap(
        {
            "apiVersion": GROVE,
            "kind": TOPOLOGY_KIND,
            "metadata": FrozenMap({"name": snapshot.name, "labels": FrozenMap({MANAGED_BY: OPERATOR})}),
            "spec": FrozenMap({"levels": _levels_as_json(snapshot.settings.levels)}),
        }
    )
    return DesiredChanges(
        (ObjectToCreate(ref, manifest, (TopologyReason.DEFAULT_MADE.because(ref),), is_foundation=True),)
    )


def topology_deletion_hold(snapshot: ClusterTopologySnapshot) -> TopologyDeletionHold:
    """Return whether Grove's finalizer holds a topology; one known user is enough to decide that (TP-121)."""
    if snapshot.drops_finalizer:
        return TopologyDeletionHold.FREE
    if snapshot.users:
        return TopologyDeletionHold.HELD
    return TopologyDeletionHold.FREE if snapshot.users_are_known else TopologyDeletionHold.UNKNOWN


def _hold_reason(snapshot: ClusterTopologySnapshot, found: ClusterTopology) -> Reason:
    if snapshot.drops_finalizer:
        return TopologyReason.DEFAULT_RELEASED.because(found.ref)
    if snapshot.users:
        return TopologyReason.TOPOLOGY_USED.because(found.ref, users=topology_users_text(snapshot.users))
    if not snapshot.users_are_known:
        return TopologyReason.SETS_NOT_COLLECTED.because(found.ref, kinds=", ".join(snapshot.not_collected))
    return TopologyReason.TOPOLOGY_UNUSED.because(found.ref)


def _wanted_finalizers(hold: TopologyDeletionHold, found: ClusterTopology) -> tuple[str, ...] | None:
    """Return the wanted finalizers, those of others in their order; None if the stored ones are right (TP-041)."""
    is_held = hold is TopologyDeletionHold.HELD
    if hold is TopologyDeletionHold.UNKNOWN or is_held == (TOPOLOGY_FINALIZER in found.finalizers):
        return None
    if is_held:  # the API server refuses a new finalizer on an object that is being deleted
        return None if found.deleting else (*found.finalizers, TOPOLOGY_FINALIZER)
    return _without_grove_finalizer(found.finalizers)


def _without_grove_finalizer(finalizers: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in finalizers if name != TOPOLOGY_FINALIZER)


def _default_to_restore(
    snapshot: ClusterTopologySnapshot, found: ClusterTopology
) -> tuple[tuple[Reason, ...], tuple[Withheld, ...]]:
    """Return why the default topology is rewritten, and why a rewrite is withheld (TP-051, TP-052, TP-054)."""
    if not snapshot.is_default or not snapshot.settings.has_default_topology or found.deleting:
        return (), ()
    if found.ref.kind != TOPOLOGY_KIND:
        named = TopologyReason.NAME_IS_A_BINDING.because(found.ref, kind=found.ref.kind, topology=snapshot.name)
        return (), (Withheld(found.ref, (named,)),)
    restoring = TopologyReason.DEFAULT_RESTORED.because(
        found.ref, levels=topology_levels_text(snapshot.settings.levels)
    )
    labelled = () if found.labels.get(MANAGED_BY) == OPERATOR else (restoring,)
    if found.levels == snapshot.settings.levels:
        return labelled, ()
    if snapshot.not_collected:
        unknown = TopologyReason.SETS_NOT_COLLECTED.because(found.ref, kinds=", ".join(snapshot.not_collected))
        return labelled, (Withheld(found.ref, (unknown, restoring)),)
    if snapshot.users_with_bound_pods:
        in_use = TopologyReason.DEFAULT_IN_USE.because(
            found.ref, users=topology_users_text(snapshot.users_with_bound_pods)
        )
        return labelled, (Withheld(found.ref, (in_use, restoring)),)
    return (restoring,), ()


def _levels_as_json(levels: Levels) -> tuple[FrozenMap, ...]:
    return tuple(FrozenMap(level._asdict()) for level in levels)
