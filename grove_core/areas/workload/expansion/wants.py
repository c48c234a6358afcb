"""From the blueprint to wishes: what a set should consist of and is not so yet, and what of it is too much.

An object is wished for once its owner exists: its manifest names the owner's uid (WL-010).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final, NamedTuple

from grove_core.areas.gang_termination.verdicts import Ending
from grove_core.areas.mnnvl.verdicts import CliqueDomains
from grove_core.areas.workload.context import WorkloadContext
from grove_core.areas.workload.expansion.set_objects import ExpansionInputs, SetObjects
from grove_core.areas.workload.expansion.surplus import unexpected_objects
from grove_core.areas.workload.objects.autoscalers import removed_metrics
from grove_core.areas.workload.objects.manifests import LazyManifest
from grove_core.areas.workload.rules import Why
from grove_core.areas.workload.template.expected_replicas import ExpectedReplica
from grove_core.kernel.frozen import FrozenMap, part_of
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.kernel.wants import Absent, Applied, Desired, Present, Want, Withheld
from grove_core.resources.api_names import GROVE
from grove_core.resources.merge_patch import changed_fields
from grove_core.resources.owned_object import OwnedObject
from grove_core.resources.podclique import GROUP_KIND

_FOLLOWING: Final = frozenset({"Service", "HorizontalPodAutoscaler"})  # the template may change what they say


class Expansion(NamedTuple):
    """What a set should consist of and does not.

    Attributes:
        misplaced: names of the gangs that stay although their topology says otherwise (TP-026).
    """

    desired: Desired
    misplaced: tuple[str, ...]


def wants_of_expansion(
    context: WorkloadContext, replicas: Sequence[ExpectedReplica], midst: ExpansionInputs
) -> Expansion:
    """Everything a set should consist of that is not so (WL-010 to WL-026), and what of it is too much.

    Linear. Kinds of which the snapshot may lack something are left alone.

    Args:
        context: of a set that is not being deleted.
        replicas: its blueprint.
        midst: what goes on meanwhile.
    """
    snapshot = context.snapshot
    there = {(ref.kind, ref.name): found for ref, found in snapshot.targets().items()}
    wants: list[Want] = []
    held: list[Withheld] = []
    taken: dict[tuple[str, str], LazyManifest] = {}
    ends = _names_in(replicas, midst.ending)
    waiting = _waiting_in(replicas, midst.fabric)
    walk = SetObjects(context, midst.written | ends, midst)
    for item in walk.everything(replicas):
        if isinstance(item, Withheld):
            held.append(item)
        elif isinstance(item, Applied | Absent):
            wants.append(item)
        elif (item.kind, item.name) in taken:
            first, second = taken[item.kind, item.name].make(), item.make()
            because = Why.NAME_WANTED_TWICE.because(second.target, other=first.because[0].sentence)
            held.append(Withheld(second.target, (because, *second.because)))
        else:
            taken[item.kind, item.name] = item
            found = there.get((item.kind, item.name))
            if not context.knows(item.kind):
                continue
            if found is None and (item.kind, item.name) in waiting:
                ref = Ref(GROVE, item.kind, snapshot.root.ref.namespace, item.name)
                held.append(Withheld(ref, waiting[item.kind, item.name]))
            elif found is None and not (item.kind == "PodClique" and item.name in ends):
                want = item.make()
                holder = snapshot.strangers.get((item.kind, want.target.namespace, item.name))
                if holder is None:
                    wants.append(want)
                else:
                    because = Why.NAME_IS_ANOTHERS.because(want.target, holder=holder)
                    held.append(Withheld(want.target, (because, *want.because)))
            elif item.kind in _FOLLOWING and isinstance(found, OwnedObject) and not _says(found, item):
                wants.extend(_following(found, item.make()))
    expected = {*taken, *((item.target.kind, item.target.name) for item in held)}
    return Expansion(Desired.of([*wants, *held, *unexpected_objects(context, expected)]), tuple(walk.misplaced))


def _says(found: OwnedObject, item: LazyManifest) -> bool:
    """Whether an object says what it should, by its spec alone; most do, and need no manifest to be held against."""
    return item.spec is not None and not changed_fields(item.spec(), found.spec)


def _names_in(replicas: Iterable[ExpectedReplica], ending: Ending) -> AbstractSet[str]:
    """The cliques of what is being ended."""
    if not ending.replicas and not ending.parts:
        return frozenset()
    parts = (part for replica in replicas for part in replica.all_cliques)
    return {part.name for part in parts if ending.holds(part.replica, part.group, part.group_replica)}


def _waiting_in(
    replicas: Iterable[ExpectedReplica], fabric: CliqueDomains
) -> Mapping[tuple[str, str], tuple[Reason, ...]]:
    """The cliques and groups of replicas that wait for a ComputeDomain, and why (MN-010)."""
    return {
        (kind, part.name): fabric.waiting[replica.index]
        for replica in (replicas if fabric.waiting else ())
        if replica.index in fabric.waiting
        for kind, parts in (("PodClique", replica.all_cliques), (GROUP_KIND, replica.groups))
        for part in parts
    }


def _following(found: OwnedObject, wanted: Present) -> Iterator[Applied]:
    """What an object should say otherwise; fields that a server filled in are no difference (WL-025)."""
    spec = part_of(wanted.manifest, "spec")
    fields = FrozenMap({**changed_fields(spec, found.spec), **removed_metrics(spec, found.spec)})
    if fields and found.managed and not found.deleting:
        because = (Why.FOLLOWS_TEMPLATE.because(found.ref), *wanted.because)
        yield Applied(found.ref, found.guard, FrozenMap({"spec": fields}), because)
