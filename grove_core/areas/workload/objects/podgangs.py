"""Manifests of PodGangs with their topology constraints (TP-020), and their changes."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from grove_core.areas.topology.verdicts import GangsPlacedByTopology
from grove_core.areas.workload.objects.lazy_manifests import object_to_create
from grove_core.areas.workload.rules import WorkloadReason
from grove_core.kernel.frozen import EMPTY, FrozenMap, Json, freeze, text_under_key
from grove_core.kernel.reasons import Reason
from grove_core.kernel.wants import FieldsToApply, ObjectToCreate, Withheld
from grove_core.resources.api_names import COMPONENT, SCHEDULER, SCHEDULER_FIELD, SCHEDULER_NAME, TOPOLOGY_NAME
from grove_core.resources.labels import is_grove_key, labels_of_set
from grove_core.resources.merge_patch import labels_or_annotations_to_change, replacement_patch
from grove_core.resources.owned_object import NewObjectMetadata
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.podgang import (
    NO_PLACEMENT,
    PodGang,
    PodGangConstraints,
    PodGroup,
)
from grove_core.snapshot.expected_replicas import ExpectedClique, ExpectedGang

_DEFAULT_SCHEDULER: Final = "default-scheduler"


class GangConstraintChange(NamedTuple):
    """New topology constraints of a PodGang, and the reason."""

    to: PodGangConstraints
    because: Reason


def gang_constraint_change(
    root: PodCliqueSet, gang: PodGang, part: ExpectedGang, topology: GangsPlacedByTopology
) -> GangConstraintChange | Withheld | None:
    """Return what becomes of constraints that differ from the topology that applies; None where they stay.

    Args:
        gang: the existing one.
        part: the gang as the set expects it.
        topology: the one that applies, with the reason to follow it or to leave the gang as it is.
    """
    wanted = topology.topology.constraints_of_gang(root, part)
    if wanted == gang.placement:
        return None
    if topology.follows:
        return GangConstraintChange(wanted, topology.because)
    return Withheld(gang.ref, (topology.because,))


def podgang_manifest_for(
    root: PodCliqueSet,
    part: ExpectedGang,
    pods: Mapping[str, Sequence[str]],
    placement: PodGangConstraints = NO_PLACEMENT,
) -> ObjectToCreate:
    """Return a PodGang that refers to these pods, sorted by clique (WL-016, WL-017, TP-020).

    Args:
        part: the gang as the set expects it.
        pods: name of each of its PodCliques -> names of the pods.
        placement: its topology constraints.
    """
    template = root.spec.template
    spec: dict[str, object] = {"podgroups": _pod_groups(root, part, pods, placement), **placement.spec_fields}
    if template.priority_class_name:
        spec["priorityClassName"] = template.priority_class_name
    blank = NewObjectMetadata(
        api_version=SCHEDULER,
        kind="PodGang",
        name=part.name,
        owner=root,
        labels=_labels_of(root, part),
        annotations=FrozenMap({**_without_groves(root.annotations), **_topology_annotation(placement)}),
    )
    return object_to_create(blank, {"spec": spec}, (reason_of_new_gang(root, part),))


def reason_of_new_gang(root: PodCliqueSet, part: ExpectedGang) -> Reason:
    """Return why a PodGang is created (WL-016, WL-017)."""
    if part.group is not None:
        return WorkloadReason.SCALED_GANG.because(root.ref, replica=part.group.replica, group=part.group.name)
    return WorkloadReason.BASE_GANG.because(root.ref, replica=part.replica, cliques=len(part.cliques))


def changes_of_podgang(
    root: PodCliqueSet,
    gang: PodGang,
    part: ExpectedGang,
    pods: Mapping[str, Sequence[str]],
    move: GangConstraintChange | None = None,
) -> FieldsToApply | None:
    """Return the change of an existing PodGang; None where nothing differs (WL-023, WL-026, TP-025).

    Args:
        gang: the existing one.
        part: the gang as the set expects it.
        pods: name of each of its PodCliques -> names of the pods.
        move: its new topology constraints; None where they stay.
    """
    placement = move.to if move is not None else gang.placement
    wanted_groups = tuple(
        PodGroup(clique.name, required_gang_pods(clique), tuple(pods.get(clique.name, ()))) for clique in part.cliques
    )
    because: list[Reason] = []
    fields: dict[str, Json] = {}
    spec: dict[str, Json] = {}
    if move is not None:
        because.append(move.because)
        spec |= dict(replacement_patch(FrozenMap(placement.spec_fields), FrozenMap(gang.placement.spec_fields)))
    if gang.groups != wanted_groups:
        because.append(
            WorkloadReason.GANG_FOLLOWS_PODS.because(gang.ref, pods=sum(len(group.pods) for group in wanted_groups))
        )
    if move is not None or gang.groups != wanted_groups:
        spec["podgroups"] = freeze(_pod_groups(root, part, pods, placement))
    priority = root.spec.template.priority_class_name
    if gang.priority != priority:
        spec["priorityClassName"] = priority or None
    if spec:
        fields["spec"] = FrozenMap(spec)
    metadata = {
        key: change
        for key, mirrored, stored in (
            ("labels", _labels_under(root, part), gang.labels),
            ("annotations", _without_groves(root.annotations), gang.annotations),
        )
        if (change := labels_or_annotations_to_change(mirrored, stored))
    }
    follows = bool(metadata) or "priorityClassName" in spec
    if placement.topology != gang.placement.topology:
        metadata["annotations"] = FrozenMap({**metadata.get("annotations", EMPTY), **_topology_annotation(placement)})
    if metadata:
        fields["metadata"] = FrozenMap(metadata)
    if not fields:
        return None
    if follows:
        because.append(WorkloadReason.GANG_FOLLOWS_SET.because(gang.ref))
    return FieldsToApply(gang.ref, gang.guard, FrozenMap(fields), tuple(because))


def _topology_annotation(placement: PodGangConstraints) -> dict[str, str]:
    return {TOPOLOGY_NAME: placement.topology} if placement.topology else {}


def _pod_groups(
    root: PodCliqueSet, part: ExpectedGang, pods: Mapping[str, Sequence[str]], placement: PodGangConstraints
) -> list[dict[str, object]]:
    packs = dict(placement.cliques)
    return [
        {
            "name": clique.name,
            "minReplicas": required_gang_pods(clique),
            "podReferences": [{"namespace": root.ref.namespace, "name": name} for name in pods.get(clique.name, ())],
            **({"topologyConstraint": packs[clique.name].as_json} if clique.name in packs else {}),
        }
        for clique in part.cliques
    ]


def required_gang_pods(clique: ExpectedClique) -> int:
    """Return how many pods of a clique the gang needs. A negative number, which admission refuses, counts as 0."""
    return max(clique.template.min_available, 0)


def _labels_of(root: PodCliqueSet, part: ExpectedGang) -> dict[str, str]:
    """Return the labels of a PodGang: its set's, overridden by Grove's (WL-026, WL-030)."""
    return {
        **{str(key): str(text) for key, text in _without_groves(root.labels).items()},
        **labels_of_set(root.ref.name),
        COMPONENT: "podgang",
        SCHEDULER_NAME: _scheduler_of(part),
    }


def _labels_under(root: PodCliqueSet, part: ExpectedGang) -> FrozenMap:
    """Return the labels under keys that the set has; labels of Grove under other keys are left as they are."""
    return FrozenMap({key: text for key, text in _labels_of(root, part).items() if key in root.labels})


def _without_groves(texts: FrozenMap) -> FrozenMap:
    return FrozenMap({key: text for key, text in texts.items() if not is_grove_key(key)})


def _scheduler_of(part: ExpectedGang) -> str:
    """Return the scheduler of the gang; admission ensures that all cliques name the same one."""
    named = (text_under_key(clique.template.spec.pod_spec, SCHEDULER_FIELD) for clique in part.cliques)
    return next(filter(None, named), _DEFAULT_SCHEDULER)
