"""PodGangs as the Go operator writes them (WF-130 to WF-132), and what it changes in an existing one (WF-102)."""

from collections.abc import Mapping, Sequence

from grove_core.areas.workload.field.objects.labels_and_annotations import labels_by_go_operator, metadata_changes
from grove_core.areas.workload.objects.lazy_manifests import object_to_create
from grove_core.areas.workload.objects.podgangs import reason_of_new_gang, required_gang_pods
from grove_core.areas.workload.rules import WorkloadReason
from grove_core.areas.workload.workload_context import WorkloadContext
from grove_core.kernel.frozen import EMPTY, FrozenMap, Json, freeze, text_under_key
from grove_core.kernel.reasons import Reason
from grove_core.kernel.wants import FieldsToApply, ObjectToCreate
from grove_core.resources.api_names import COMPONENT, SCHEDULER, SCHEDULER_FIELD, SCHEDULER_NAME, TOPOLOGY_NAME
from grove_core.resources.labels import is_grove_key
from grove_core.resources.merge_patch import replacement_patch
from grove_core.resources.owned_object import NewObjectMetadata
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.podgang import NO_PACK, PodGang, PodGangConstraints, PodGroup
from grove_core.snapshot.expected_replicas import ExpectedGang


def podgang_manifest_by_go_operator(
    context: WorkloadContext, part: ExpectedGang, pods: Mapping[str, Sequence[str]], placement: PodGangConstraints
) -> ObjectToCreate:
    """Return a PodGang that refers to these pods, which are sorted, by clique (WF-130, WF-131).

    Args:
        part: the gang as the set expects it.
        pods: name of each of its PodCliques -> names of the pods.
        placement: its topology constraints.
    """
    root = context.root
    blank = NewObjectMetadata(
        api_version=SCHEDULER,
        kind="PodGang",
        name=part.name,
        owner=root,
        labels={key: str(text) for key, text in _labels(context, EMPTY).items()},
        annotations=_annotations(root, placement, EMPTY),
    )
    return object_to_create(blank, {"spec": _spec(root, part, pods, placement)}, (reason_of_new_gang(root, part),))


def podgang_changes_by_go_operator(
    context: WorkloadContext,
    gang: PodGang,
    part: ExpectedGang,
    pods: Mapping[str, Sequence[str]],
    placement: PodGangConstraints,
) -> FieldsToApply | None:
    """Return the change of an existing PodGang; None where nothing differs (WF-102, WF-132).

    Args:
        gang: the existing one.
        part, pods, placement: as of :func:`podgang_manifest_by_go_operator`.
    """
    root = context.root
    because = list[Reason]()
    groups = tuple(PodGroup(one.name, required_gang_pods(one), tuple(pods.get(one.name, ()))) for one in part.cliques)
    spec: dict[str, Json] = {}
    if gang.groups != groups:
        named = sum(len(group.pods) for group in groups)
        because.append(WorkloadReason.GANG_FOLLOWS_PODS.because(gang.ref, pods=named))
    if gang.placement._replace(topology=placement.topology) != placement:
        because.append(WorkloadReason.FOLLOWS_TEMPLATE.because(gang.ref))
        constraints = FrozenMap(_in_template_order(placement, part).spec_fields)
        spec |= replacement_patch(constraints, FrozenMap(gang.placement.spec_fields))
    if because:
        spec["podgroups"] = _spec(root, part, pods, placement)["podgroups"]
    priority = root.spec.template.priority_class_name
    if gang.priority != priority:
        spec["priorityClassName"] = priority or None
    labels = _labels(context, gang.labels)
    annotations = _annotations(root, placement, gang.annotations)
    metadata = metadata_changes(labels, annotations, gang.labels, gang.annotations)
    if metadata or "priorityClassName" in spec:
        because.append(WorkloadReason.GANG_FOLLOWS_SET.because(gang.ref))
    parts = {"metadata": metadata, "spec": FrozenMap(spec)}
    fields = FrozenMap({key: changes for key, changes in parts.items() if changes})
    return FieldsToApply(gang.ref, gang.guard, fields, tuple(because)) if fields else None


def _spec(
    root: PodCliqueSet, part: ExpectedGang, pods: Mapping[str, Sequence[str]], placement: PodGangConstraints
) -> FrozenMap:
    packs, namespace = dict(placement.cliques), root.ref.namespace
    groups = [
        {
            "name": clique.name,
            "podReferences": [{"namespace": namespace, "name": name} for name in pods.get(clique.name, ())],
            "minReplicas": required_gang_pods(clique),
            **({"topologyConstraint": packs[clique.name].as_json} if clique.name in packs else {}),
        }
        for clique in part.cliques
    ]
    priority = root.spec.template.priority_class_name
    spec: dict[str, object] = {
        "podgroups": groups,
        **_in_template_order(placement, part).spec_fields,
        **({"priorityClassName": priority} if priority else {}),
    }
    return FrozenMap({key: freeze(value) for key, value in spec.items()})


def _in_template_order(placement: PodGangConstraints, part: ExpectedGang) -> PodGangConstraints:
    """Return the constraints with those of group replicas in the order of their cliques (WF-131)."""
    places = {clique.name: place for place, clique in enumerate(part.cliques)}
    packed = sorted(placement.packed_groups, key=lambda one: places[one.cliques[0]])
    return placement._replace(packed_groups=tuple(packed))


def _labels(context: WorkloadContext, stored: FrozenMap) -> FrozenMap:
    """Return the set's labels and the operator's; those stored under Grove's domain stay (WF-130)."""
    root = context.root
    own = {
        **labels_by_go_operator(root.ref.name),
        COMPONENT: "podgang",
        SCHEDULER_NAME: _scheduler(root) or context.snapshot.configuration.default_scheduler,
    }
    return FrozenMap({**_of_grove(stored), **_mirrored(root.labels), **own})


def _annotations(root: PodCliqueSet, placement: PodGangConstraints, stored: FrozenMap) -> FrozenMap:
    """Return the set's annotations, and the topology if some constraint was translated (WF-130, WF-131)."""
    kept = {key: text for key, text in _of_grove(stored).items() if key != TOPOLOGY_NAME}
    is_placed = (
        placement.gang != NO_PACK or placement.cliques or any(one.pack != NO_PACK for one in placement.packed_groups)
    )
    topology = {TOPOLOGY_NAME: placement.topology} if is_placed else {}
    return FrozenMap({**kept, **_mirrored(root.annotations), **topology})


def _of_grove(texts: FrozenMap) -> FrozenMap:
    return FrozenMap({key: text for key, text in texts.items() if is_grove_key(key)})


def _mirrored(texts: FrozenMap) -> FrozenMap:
    return FrozenMap({key: text for key, text in texts.items() if not is_grove_key(key)})


def _scheduler(root: PodCliqueSet) -> str:
    """Return the scheduler that the first clique with one names; empty where none does."""
    named = (text_under_key(clique.spec.pod_spec, SCHEDULER_FIELD) for clique in root.spec.template.cliques)
    return next(filter(None, named), "")
