"""What becomes of a topology itself: who holds it, and what the default one says (TP-040 to TP-054)."""

from collections.abc import Iterator

from grove_core.areas.topology.admit_levels import levels_text, users_text
from grove_core.areas.topology.rules import Why
from grove_core.areas.topology.topology_snapshot import TopologySnapshot
from grove_core.areas.topology.verdicts import DeletionHold
from grove_core.kernel.decisions import Finding
from grove_core.kernel.frozen import FrozenMap, Json
from grove_core.kernel.reasons import Reason
from grove_core.kernel.wants import Applied, Desired, Present, Withheld
from grove_core.resources.api_names import GROVE, MANAGED_BY, OPERATOR, TOPOLOGY_FINALIZER
from grove_core.resources.cluster_topology import TOPOLOGY_KIND, ClusterTopology, Levels, topology_ref

QUESTION = "topologyUse"


def wants_of_lifecycle(moment: TopologySnapshot) -> tuple[Desired, tuple[Finding, ...]]:
    """The wishes about one topology, at most one write at a time, and who holds it."""
    found = moment.topology
    if found is None:
        return _default_to_create(moment), ()
    hold, why = deletion_hold_of(moment), _hold_reason(moment, found)
    finding = Finding(found.ref, QUESTION, hold.value, (why,))
    metadata: dict[str, Json] = {}
    because: list[Reason] = []
    restored, held = _default_restored(moment, found)
    finalizers = _wanted_finalizers(hold, found)
    if finalizers is not None:
        metadata["finalizers"] = finalizers
        because.append(why)
    fields: dict[str, Json] = {}
    if restored and found.labels.get(MANAGED_BY) != OPERATOR:
        metadata["labels"] = FrozenMap({MANAGED_BY: OPERATOR})
        because += restored
    if metadata:
        fields["metadata"] = FrozenMap(metadata)
    elif restored:  # by itself: who refuses levels does not refuse the finalizer with them
        fields["spec"] = FrozenMap({"levels": _levels_as_json(moment.told.levels)})
        because += restored
    if found.deleting and TOPOLOGY_FINALIZER in found.finalizers:
        if hold is DeletionHold.HELD:
            held = (Withheld(found.ref, (Why.USERS_STAY.because(found.ref, users=users_text(moment.users)),)),)
        elif hold is DeletionHold.UNKNOWN:
            held = (Withheld(found.ref, (why,)),)
    wants = [Applied(found.ref, found.guard, FrozenMap(fields), tuple(because))] if fields else []
    wants += _drop_shadowed_finalizer(moment)
    return Desired(tuple(wants), held), (finding,)


def _drop_shadowed_finalizer(moment: TopologySnapshot) -> Iterator[Applied]:
    """A binding beside a topology of its name is used by nobody (TP-049)."""
    other = moment.shadowed
    if other is not None and TOPOLOGY_FINALIZER in other.finalizers:
        because = (Why.SHADOWED.because(other.ref, topology=moment.name),)
        fields = FrozenMap({"metadata": FrozenMap({"finalizers": _without_grove_finalizer(other.finalizers)})})
        yield Applied(other.ref, other.guard, fields, because)


def _default_to_create(moment: TopologySnapshot) -> Desired:
    """The default one is made; any other that is missing is somebody's to make (TP-050)."""
    if not moment.is_default or not moment.told.enabled:
        return Desired()
    ref = topology_ref(moment.name)
    manifest = FrozenMap(
        {
            "apiVersion": GROVE,
            "kind": TOPOLOGY_KIND,
            "metadata": FrozenMap({"name": moment.name, "labels": FrozenMap({MANAGED_BY: OPERATOR})}),
            "spec": FrozenMap({"levels": _levels_as_json(moment.told.levels)}),
        }
    )
    return Desired((Present(ref, manifest, (Why.DEFAULT_MADE.because(ref),), is_foundation=True),))


def deletion_hold_of(moment: TopologySnapshot) -> DeletionHold:
    """Whether a topology is held; one user is enough to know it (TP-122)."""
    if moment.drops_finalizer:
        return DeletionHold.FREE
    if moment.users:
        return DeletionHold.HELD
    return DeletionHold.FREE if moment.users_are_known else DeletionHold.UNKNOWN


def _hold_reason(moment: TopologySnapshot, found: ClusterTopology) -> Reason:
    """Why a topology is held, or not."""
    if moment.drops_finalizer:
        return Why.DEFAULT_RELEASED.because(found.ref)
    if moment.users:
        return Why.TOPOLOGY_USED.because(found.ref, users=users_text(moment.users))
    if not moment.users_are_known:
        return Why.SETS_NOT_COLLECTED.because(found.ref, kinds=", ".join(moment.unknown))
    return Why.TOPOLOGY_UNUSED.because(found.ref)


def _wanted_finalizers(hold: DeletionHold, found: ClusterTopology) -> tuple[str, ...] | None:
    """The finalizers it should have; None where they are as they should be. Others' stay, in their order (TP-041)."""
    holds = hold is DeletionHold.HELD
    if hold is DeletionHold.UNKNOWN or holds == (TOPOLOGY_FINALIZER in found.finalizers):
        return None
    if holds:  # an API server takes no new finalizer for what is being deleted
        return None if found.deleting else (*found.finalizers, TOPOLOGY_FINALIZER)
    return _without_grove_finalizer(found.finalizers)


def _without_grove_finalizer(finalizers: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in finalizers if name != TOPOLOGY_FINALIZER)


def _default_restored(
    moment: TopologySnapshot, found: ClusterTopology
) -> tuple[tuple[Reason, ...], tuple[Withheld, ...]]:
    """Why the default one is written anew, and why it is not although it should be (TP-051, TP-052, TP-054)."""
    if not moment.is_default or not moment.told.enabled or found.deleting:
        return (), ()
    if found.ref.kind != TOPOLOGY_KIND:
        named = Why.NAME_IS_A_BINDING.because(found.ref, kind=found.ref.kind, topology=moment.name)
        return (), (Withheld(found.ref, (named,)),)
    restored = Why.DEFAULT_RESTORED.because(found.ref, levels=levels_text(moment.told.levels))
    labelled = () if found.labels.get(MANAGED_BY) == OPERATOR else (restored,)
    if found.levels == moment.told.levels:
        return labelled, ()
    if moment.unknown:
        unknown = Why.SETS_NOT_COLLECTED.because(found.ref, kinds=", ".join(moment.unknown))
        return labelled, (Withheld(found.ref, (unknown, restored)),)
    if moment.placed:
        in_use = Why.DEFAULT_IN_USE.because(found.ref, users=users_text(moment.placed))
        return labelled, (Withheld(found.ref, (in_use, restored)),)
    return (restored,), ()


def _levels_as_json(levels: Levels) -> tuple[FrozenMap, ...]:
    return tuple(FrozenMap(level._asdict()) for level in levels)
