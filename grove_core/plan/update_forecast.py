"""The update of a set from an edit to its end: which pods go, stage by stage, and what serves meanwhile (ED)."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum, unique
from typing import Final, NamedTuple

from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.kernel.wants import Withheld
from grove_core.resources.manifest_changes import FieldDependence, ManifestChange
from grove_core.resources.pod_spec_gpus import gpu_count_of_pod_spec
from grove_core.resources.podclique import GROUP_KIND, PodClique
from grove_core.resources.podcliqueset_spec import SetSpec, first_templates_by_name
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.snapshot.snapshot import Snapshot


@unique
class DeletedPodFate(Enum):
    """What becomes of a pod that an update deletes (ED-004)."""

    RESTARTED = "Restarted"
    """The update creates a pod with its index."""
    REMOVED = "Removed"
    """It gets no successor."""
    TERMINATED = "Terminated"
    """It is deleted with its gang."""


class PodsAndGpus(NamedTuple):
    """A number of pods, and the GPUs that they hold."""

    pods: int = 0
    gpus: int = 0

    def plus(self, other: "PodsAndGpus") -> "PodsAndGpus":
        """Return the sum."""
        return PodsAndGpus(self.pods + other.pods, self.gpus + other.gpus)


NO_PODS: Final = PodsAndGpus()


class DeletedPod(NamedTuple):
    """One pod that an update deletes.

    Attributes:
        pod, clique: the pod, and its PodClique.
        pod_index: in its PodClique; -1 where that is not known.
        node: on which it is; empty where it is not placed.
        gpus: that it holds.
        ready: whether it is ready when it is deleted.
        because: why it is deleted; None where nothing but the deletion of its owner says so.
    """

    pod: Ref
    clique: Ref
    pod_index: int
    node: str
    gpus: int
    ready: bool
    fate: DeletedPodFate
    because: Reason | None


class ServingPart(NamedTuple):
    """What serves of one part of a set at one time.

    Attributes:
        part: a standalone PodClique, or a scaling group.
        template: name of its clique or scaling group in the template.
        serving: ready pods of a PodClique, available replicas of a scaling group.
        needed: how many have to serve: at most ``minAvailable``.
        wanted: its ``replicas``.
    """

    part: Ref
    template: str
    serving: int
    needed: int
    wanted: int


class PartDuringUpdate(NamedTuple):
    """What serves of one part of a set before, during and after an update.

    Attributes:
        part, template, needed, wanted: as in :class:`ServingPart`, after the update.
        before, lowest, after: how many serve; ``before`` is 0 for a part that the update creates.
    """

    part: Ref
    template: str
    needed: int
    wanted: int
    before: int
    lowest: int
    after: int


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateStage:
    """What an update does until it waits for pods to become ready, and what serves then.

    Attributes:
        deleted: in the order of their deletion.
        created: pods, and the GPUs that they will hold.
        serving: the parts of which another number serves than before the stage, or that are new; sorted by kind and
            name.
        available: replicas that the set wants and all parts of which serve.
        waits: the withheld steps at its end.
    """

    deleted: tuple[DeletedPod, ...] = ()
    created: PodsAndGpus = NO_PODS
    serving: tuple[ServingPart, ...] = ()
    available: int = 0
    waits: tuple[Withheld, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateForecast:
    """An update from its begin to its end.

    Attributes:
        before, after: what serves of every part before and after it, sorted by kind and name.
        available: replicas that the set wants and all parts of which serve before it.
        stages: in order; the last one has no further stage because nothing is left to do, or because of ``waits`` or
            ``unreached``.
        waits: what it waits for although every created pod is ready (ED-005); empty where it ends.
        unreached: pods of changed templates that the forecast did not reach (ED-006).
    """

    before: tuple[ServingPart, ...]
    after: tuple[ServingPart, ...]
    available: int
    stages: tuple[UpdateStage, ...]
    waits: tuple[Withheld, ...] = ()
    unreached: PodsAndGpus = NO_PODS

    def deleted(self, fate: DeletedPodFate) -> tuple[DeletedPod, ...]:
        """Return the deleted pods of one fate, in the order of their deletion."""
        return tuple(pod for stage in self.stages for pod in stage.deleted if pod.fate is fate)

    @property
    def restarted(self) -> PodsAndGpus:
        """The pods that are restarted, those that the forecast did not reach included."""
        return _total(self.deleted(DeletedPodFate.RESTARTED)).plus(self.unreached)

    @property
    def removed(self) -> PodsAndGpus:
        """The pods that go without a successor."""
        return _total(self.deleted(DeletedPodFate.REMOVED))

    @property
    def added(self) -> PodsAndGpus:
        """The pods that are created beyond those that replace another one; their GPUs at most those created."""
        created = PodsAndGpus()
        for stage in self.stages:
            created = created.plus(stage.created)
        replaced = _total(
            pod for stage in self.stages for pod in stage.deleted if pod.fate is not DeletedPodFate.REMOVED
        )
        return PodsAndGpus(max(created.pods - replaced.pods, 0), max(created.gpus - replaced.gpus, 0))

    @property
    def most_at_once(self) -> int:
        """The largest number of pods that are restarted in one stage."""
        return max(
            (sum(pod.fate is DeletedPodFate.RESTARTED for pod in stage.deleted) for stage in self.stages), default=0
        )

    @property
    def lowest_available(self) -> int:
        """The lowest number of replicas of the set all parts of which serve."""
        return min((self.available, *(stage.available for stage in self.stages)))

    @property
    def parts(self) -> tuple[PartDuringUpdate, ...]:
        """Every part that exists after the update, with the lowest number that serves of it on the way (ED-003)."""
        return tuple(_parts_during_update(self))


@dataclass(frozen=True, slots=True)
class EditForecast:
    """What an edit does.

    Attributes:
        changes: the fields that change (ED-001).
        update: None where the forecast would rest on objects that were not collected.
    """

    changes: tuple[ManifestChange, ...]
    update: UpdateForecast | None


def pods_of_new_set(spec: SetSpec) -> PodsAndGpus:
    """Return the pods that a set consists of once it is created, and the GPUs that they hold (ED-007)."""
    template, found = spec.template, NO_PODS
    for clique in first_templates_by_name(template.cliques).values():
        group = template.groups_by_clique.get(clique.name)
        pods = spec.replicas * clique.spec.replicas * (1 if group is None else group.replicas)
        found = found.plus(PodsAndGpus(pods, pods * gpu_count_of_pod_spec(clique.spec.pod_spec)))
    return found


def _total(pods: Iterable[DeletedPod]) -> PodsAndGpus:
    found = tuple(pods)
    return PodsAndGpus(len(found), sum(pod.gpus for pod in found))


def _parts_during_update(update: UpdateForecast) -> Iterator[PartDuringUpdate]:
    before = {one.part: one.serving for one in update.before}
    lowest = dict(before)
    for stage in update.stages:
        for one in stage.serving:
            if one.part in lowest:
                lowest[one.part] = min(lowest[one.part], one.serving)
    for one in update.after:
        there = before.get(one.part, 0)
        low = min(lowest.get(one.part, one.serving), one.serving)
        yield PartDuringUpdate(one.part, one.template, one.needed, one.wanted, there, low, one.serving)


def cliques_with_changed_pods(changes: Iterable[ManifestChange]) -> frozenset[str]:
    """Return the names of the cliques whose pods depend on a changed field."""
    return frozenset(name for one in changes if one.dependence is FieldDependence.PODS for name in one.cliques)


def serving_parts(snapshot: Snapshot) -> tuple[ServingPart, ...]:
    """Return what serves of every part of a set, sorted by kind and name. Linear in its pods (ED-003)."""
    serving = {clique.uid: _ready_pods(snapshot, clique) for clique in snapshot.cliques}
    standalone = (
        ServingPart(
            clique.ref,
            clique.template_name,
            serving[clique.uid],
            clique.needed_ready_pods,
            clique.replicas,
        )
        for clique in snapshot.cliques
        if clique.owner_kind != GROUP_KIND and not clique.deleting
    )
    members: dict[str, list[PodClique]] = {}
    for clique in snapshot.cliques:
        if clique.owner_kind == GROUP_KIND and not clique.deleting:
            members.setdefault(clique.owner_uid, []).append(clique)
    groups = (
        ServingPart(
            group.ref,
            group.template_name,
            _available_replicas(group, members.get(group.uid, ()), serving),
            group.needed_replicas,
            group.replicas,
        )
        for group in snapshot.groups
        if not group.deleting
    )
    return tuple(sorted((*standalone, *groups), key=lambda one: one.part.sort_key))


def _ready_pods(snapshot: Snapshot, clique: PodClique) -> int:
    return sum(pod.ready and not pod.deleting for pod in snapshot.pods_of.get(clique.uid, ()))


def _available_replicas(group: ScalingGroup, members: Iterable[PodClique], serving: dict[str, int]) -> int:
    """Return how many replicas have all their PodCliques, each with the ready pods that it needs."""
    found: dict[int, int] = {}
    for clique in members:
        if serving[clique.uid] >= clique.needed_ready_pods:
            found[clique.group_replica_index] = found.get(clique.group_replica_index, 0) + 1
    return sum(count == len(group.clique_names) for count in found.values())


def available_set_replicas(snapshot: Snapshot, parts: Iterable[ServingPart]) -> int:
    """Return how many replicas of a set have all their parts, each with what it needs."""
    template = snapshot.root.spec.template
    expected = len(snapshot.root.spec.standalone_cliques) + len(template.pod_clique_scaling_groups)
    index_of = {one.ref: one.replica_index for one in snapshot.cliques}
    index_of |= {one.ref: one.replica_index for one in snapshot.groups}
    found: dict[int, int] = {}
    for one in parts:
        if one.serving >= one.needed:
            found[index_of[one.part]] = found.get(index_of[one.part], 0) + 1
    return sum(count == expected for index, count in found.items() if index < snapshot.root.spec.replicas)
