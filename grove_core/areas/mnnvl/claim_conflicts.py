"""Admission: pods with a claim to a ComputeDomain and one of ``resourceSharing`` that others share (MN-078).

Checks a sample of the set's pods: two replicas, two replicas of each scaling group, two pods of each clique.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Final, NamedTuple, TypeAlias

from grove_core.areas.mnnvl.judge import wants_domains
from grove_core.areas.mnnvl.rules import Warn
from grove_core.kernel.admission import Caution
from grove_core.kernel.refs import Ref
from grove_core.resources.configuration import Configuration, MnnvlMode
from grove_core.resources.domain_sharing import member_of
from grove_core.resources.manifest import Manifest
from grove_core.resources.manifest_paths import CLIQUES, GROUPS, TEMPLATE
from grove_core.resources.names import listed
from grove_core.resources.template import ALL_REPLICAS, ResourceSharing
from grove_core.resources.violation import Violation

_SAMPLE: Final = 2  # two of a kind conflict exactly if many do


class _Pod(NamedTuple):
    """One pod of the sample.

    Attributes:
        clique: name in the template.
        group: name in the template; empty for a standalone clique.
        replica: of the set.
        group_replica: of the scaling group; -1 for a standalone clique.
        number: of the pod in its PodClique.
        claim: identity of its claim to a ComputeDomain.
    """

    clique: str
    group: str
    replica: int
    group_replica: int
    number: int
    claim: Hashable


ClaimOfPod: TypeAlias = Callable[[_Pod], tuple[Hashable, ...] | None]


class _SharingEntry(NamedTuple):
    """One entry of ``resourceSharing``.

    Attributes:
        path: of the entry in the manifest.
        entry: as written.
        share: returns the identity of the entry's claim that a pod has; None if it has none.
    """

    path: str
    entry: ResourceSharing
    share: ClaimOfPod


def admission_warnings(subject: Ref, new: Manifest, configuration: Configuration) -> Iterator[Caution]:
    """Yield a warning for each entry whose claims and claims to ComputeDomains are shared by different sets of pods.

    Args:
        subject: the set.
        new: its manifest.
        configuration: of the operator.
    """
    pods = tuple(_pods(new, configuration))
    for shared in _entries(new) if pods else ():
        sharing = [(pod, share) for pod in pods if (share := shared.share(pod)) is not None]
        if _is_one_to_many((pod.claim, share) for pod, share in sharing):
            cliques = listed(dict.fromkeys(pod.clique for pod, _ in sharing))
            found = Violation(shared.path, shared.entry.name, Warn.CLAIMS_IN_COMPANY, {"cliques": cliques})
            yield found.caution(subject)


def _is_one_to_many(pairs: Iterable[tuple[Hashable, Hashable]]) -> bool:
    """Return whether a claim of one kind occurs together with several claims of the other kind."""
    found: dict[tuple[int, Hashable], set[Hashable]] = defaultdict(set)
    for first, second in pairs:
        found[0, first].add(second)
        found[1, second].add(first)
    return any(len(others) > 1 for others in found.values())


def _pods(manifest: Manifest, configuration: Configuration) -> Iterator[_Pod]:
    """Yield the sampled pods that get a claim to a ComputeDomain."""
    settings, template = configuration.mnnvl, manifest.spec.template
    groups = template.groups_by_clique
    each_its_own = settings.in_mode(MnnvlMode.OPERATOR) and wants_domains(manifest.annotations, template)
    if not each_its_own and not settings.in_mode(MnnvlMode.ANNOTATIONS):
        return
    for clique in template.cliques:
        group = groups.get(clique.name)
        for replica in _sample(manifest.spec.replicas):
            for group_replica in _sample(group.replicas) if group is not None else (-1,):
                shared = None if each_its_own else member_of(manifest, clique, group, replica, group_replica)
                for number in _sample(clique.spec.replicas):
                    index = (clique.name, group.name if group is not None else "", replica, group_replica, number)
                    if each_its_own or shared is not None:
                        yield _Pod(*index, claim=index if shared is None else shared.claim)


def _entries(manifest: Manifest) -> Iterator[_SharingEntry]:
    """Yield the entries of the set, of its scaling groups and of its cliques."""
    template = manifest.spec.template
    for index, entry in enumerate(template.resource_sharing):
        yield _SharingEntry(f"{TEMPLATE}.resourceSharing[{index}]", entry, _of_set(entry))
    for index, group in enumerate(template.pod_clique_scaling_groups):
        for at, entry in enumerate(group.resource_sharing):
            path = f"{GROUPS}[{index}].resourceSharing[{at}]"
            yield _SharingEntry(path, entry, _of_group(group.name, entry))
    for index, clique in enumerate(template.cliques):
        for at, entry in enumerate(clique.resource_sharing):
            path = f"{CLIQUES}[{index}].resourceSharing[{at}]"
            yield _SharingEntry(path, entry, _of_clique(clique.name, entry))


def _of_set(entry: ResourceSharing) -> ClaimOfPod:
    def share(pod: _Pod) -> tuple[Hashable, ...] | None:
        if not entry.concerns(pod.clique, pod.group):
            return None
        return () if entry.scope == ALL_REPLICAS else (pod.replica,)

    return share


def _of_group(name: str, entry: ResourceSharing) -> ClaimOfPod:
    def share(pod: _Pod) -> tuple[Hashable, ...] | None:
        if pod.group != name or not entry.concerns(pod.clique, pod.group):
            return None
        return (pod.replica,) if entry.scope == ALL_REPLICAS else (pod.replica, pod.group_replica)

    return share


def _of_clique(name: str, entry: ResourceSharing) -> ClaimOfPod:
    def share(pod: _Pod) -> tuple[Hashable, ...] | None:
        if pod.clique != name:
            return None
        position = (pod.replica, pod.group_replica)
        return position if entry.scope == ALL_REPLICAS else (*position, pod.number)

    return share


def _sample(count: int) -> range:
    return range(min(max(count, 0), _SAMPLE))
