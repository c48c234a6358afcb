"""Wants for the objects that a set should have, by any rule set: creations, changes, names that are taken.

An object is created once its owner exists, since its manifest has the owner's uid (WL-010).
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from collections.abc import Set as AbstractSet
from typing import Final, TypeAlias

from grove_core.areas.workload.objects.lazy_manifests import LazyManifest
from grove_core.areas.workload.objects.podcliques_and_groups import (
    removed_autoscaler_metrics,
)
from grove_core.areas.workload.rules import WorkloadReason
from grove_core.areas.workload.workload_context import WorkloadContext
from grove_core.kernel.frozen import FrozenMap, object_under_key
from grove_core.kernel.refs import Ref
from grove_core.kernel.wants import (
    DesiredChanges,
    FieldsToApply,
    ObjectToCreate,
    ObjectToDelete,
    StepObstacle,
    Want,
    Withheld,
)
from grove_core.resources.api_names import DOMAIN_KIND, GROVE
from grove_core.resources.merge_patch import merge_patch_of_wanted_fields
from grove_core.resources.metadata_readers import Resource
from grove_core.resources.owned_object import OwnedObject
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.podcliqueset_spec import first_templates_by_name

SetObject: TypeAlias = LazyManifest | FieldsToApply | ObjectToDelete | Withheld
"""An object that should exist; or a change, a deletion, or a withheld object that has been decided already."""
_FOLLOW_TEMPLATE: Final = frozenset(
    {"Service", "HorizontalPodAutoscaler"}
)  # kinds whose spec changes with the template
_Key: TypeAlias = tuple[str, str]  # kind and name


def repeated_names(root: PodCliqueSet) -> Iterator[Withheld]:
    """Yield each name that a template has more than once: of cliques, groups, members; the first counts (WL-022)."""
    template = root.spec.template
    named = [
        *(f"clique {clique.name}" for clique in template.cliques),
        *(f"scaling group {group.name}" for group in template.pod_clique_scaling_groups),
        *(
            f"member {short} of scaling group {group.name}"
            for group in first_templates_by_name(template.pod_clique_scaling_groups).values()
            for short in group.clique_names
        ),
    ]
    for what, times in Counter(named).items() if len(set(named)) < len(named) else ():
        if times > 1:
            because = WorkloadReason.NAME_WANTED_TWICE.because(root.ref, other=f"{what}, the first of {times}")
            yield Withheld(root.ref, (because,))


def wants_for_objects(
    context: WorkloadContext,
    items: Iterable[SetObject],
    terminating: AbstractSet[str],
    unexpected: Callable[[WorkloadContext, AbstractSet[_Key]], Iterable[Want | Withheld]],
) -> DesiredChanges:
    """Return the wants for the objects that a set should have. Linear.

    Kinds that the context does not know completely are left alone.

    Args:
        context: the indexed snapshot.
        items: the objects that should exist, and what has been decided already.
        terminating: names of the cliques that are terminated: none of them is created meanwhile (WL-076).
        unexpected: returns the deletions of existing objects, given kind and name of all expected ones.
    """
    existing = {(ref.kind, ref.name): found for ref, found in context.snapshot.objects_without_pods_by_ref().items()}
    wants: list[Want | Withheld] = []
    manifests: dict[_Key, LazyManifest] = {}
    for item in items:
        if not isinstance(item, LazyManifest):
            wants.append(item)
            continue
        key = (item.kind, item.name)
        if key in manifests:
            wants.append(_second_of_name(manifests[key], item))
        else:
            manifests[key] = item
            wants += _wants_for(context, item, existing.get(key), terminating)
    withheld = (want.target for want in wants if isinstance(want, Withheld))
    expected = {*manifests, *((target.kind, target.name) for target in withheld)}
    return DesiredChanges.from_wants_and_withheld([*wants, *unexpected(context, expected)])


def _wants_for(
    context: WorkloadContext, item: LazyManifest, found: Resource | None, terminating: AbstractSet[str]
) -> Iterator[Want | Withheld]:
    """Yield what has to be done about one expected object; nothing where it is as it should be."""
    if not context.has_all_objects_of_kinds(item.kind):
        return
    if found is None and item.waiting:
        ref = Ref(GROVE, item.kind, context.root.ref.namespace, item.name)
        obstacle = (
            StepObstacle.RULE if context.has_all_objects_of_kinds(DOMAIN_KIND) else StepObstacle.DOMAINS_NOT_COLLECTED
        )
        yield Withheld(ref, item.waiting, obstacle=obstacle)
    elif found is None and not (item.kind == "PodClique" and item.name in terminating):
        yield _creation_of(context, item)
    elif item.kind in _FOLLOW_TEMPLATE and isinstance(found, OwnedObject) and not _has_spec(found, item):
        yield from _spec_changes(found, item)


def _creation_of(context: WorkloadContext, item: LazyManifest) -> ObjectToCreate | Withheld:
    """Return the creation of an object; it is withheld where a foreign object has its name (WL-027)."""
    want = item.make()
    holder = context.snapshot.foreign_owners.get((item.kind, want.target.namespace, item.name))
    if holder is None:
        return want
    because = WorkloadReason.NAME_IS_ANOTHERS.because(want.target, holder=holder)
    return Withheld(want.target, (because, *want.because))


def _second_of_name(first: LazyManifest, second: LazyManifest) -> Withheld:
    """Return the second of two objects of one kind and name: it is withheld (WL-022)."""
    other, want = first.make(), second.make()
    because = WorkloadReason.NAME_WANTED_TWICE.because(want.target, other=other.because[0].sentence)
    return Withheld(want.target, (because, *want.because))


def _has_spec(found: OwnedObject, item: LazyManifest) -> bool:
    """Return whether an object has the expected spec already; this saves the whole manifest for most objects."""
    return item.spec is not None and not merge_patch_of_wanted_fields(item.spec(), found.spec)


def _spec_changes(found: OwnedObject, item: LazyManifest) -> Iterator[FieldsToApply]:
    """Yield the change of an object if its spec differs; fields that a server filled in do not count (WL-025)."""
    wanted = item.make()
    spec = object_under_key(wanted.manifest, "spec") if item.spec is None else item.spec()
    fields = FrozenMap(
        {**merge_patch_of_wanted_fields(spec, found.spec), **removed_autoscaler_metrics(spec, found.spec)}
    )
    if fields and found.managed and not found.deleting:
        because = (WorkloadReason.FOLLOWS_TEMPLATE.because(found.ref), *wanted.because)
        yield FieldsToApply(found.ref, found.guard, FrozenMap({"spec": fields}), because)
