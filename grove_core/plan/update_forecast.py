"""The update of a set from an edit to its end: which pods go, stage by stage, and what serves meanwhile (ED)."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum, unique
from typing import Final, NamedTuple, Protocol

from grove_core.kernel.frozen import FrozenDict
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.kernel.structs import Struct
from grove_core.kernel.wants import Withheld
from grove_core.plan.serving_parts import ServingPart
from grove_core.resources.edited_manifest_fields import FieldDependence, ManifestChange
from grove_core.resources.pod_spec_gpus import gpu_count_of_pod_spec
from grove_core.resources.podcliqueset_spec import SetSpec, first_templates_by_name


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

    @staticmethod
    def of_pods(pods: Iterable["PodWithGpus"]) -> "PodsAndGpus":
        """Return the number of some pods and of their GPUs."""
        gpus = [pod.gpus for pod in pods]
        return PodsAndGpus(len(gpus), sum(gpus))

    @staticmethod
    def sum_of(counts: Iterable["PodsAndGpus"]) -> "PodsAndGpus":
        """Return the sum of some counts."""
        found = tuple(counts)
        return PodsAndGpus(sum(one.pods for one in found), sum(one.gpus for one in found))


NO_PODS: Final = PodsAndGpus()


class PodWithGpus(Protocol):
    """A pod, or a record of one."""

    @property
    def gpus(self) -> int:
        """The GPUs that it holds."""
        ...


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


class UpdateStage(Struct, frozen=True, kw_only=True):
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
        added: by how much the PodCliques grow: pods, and the GPUs that they request; surge pods do not count.
        unreached: pods that restart after the end of the forecast (ED-006), or once ``waits`` are over (ED-013).
        anyway: of the restarted pods those that restart without the edit too, as an update runs already (ED-014).
        is_cut: whether the forecast ends before the update does.
    """

    before: tuple[ServingPart, ...]
    after: tuple[ServingPart, ...]
    available: int
    stages: tuple[UpdateStage, ...]
    added: PodsAndGpus = NO_PODS
    waits: tuple[Withheld, ...] = ()
    unreached: PodsAndGpus = NO_PODS
    anyway: PodsAndGpus = NO_PODS
    is_cut: bool = field(default=False, compare=False)  # documents do not hold it

    def deleted(self, fate: DeletedPodFate) -> tuple[DeletedPod, ...]:
        """Return the deleted pods of one fate, in the order of their deletion."""
        return tuple(pod for stage in self.stages for pod in stage.deleted if pod.fate is fate)

    @property
    def restarted(self) -> PodsAndGpus:
        """The pods that are restarted, those that the forecast did not reach included."""
        return PodsAndGpus.sum_of((PodsAndGpus.of_pods(self.deleted(DeletedPodFate.RESTARTED)), self.unreached))

    @property
    def removed(self) -> PodsAndGpus:
        """The pods that go without a successor."""
        return PodsAndGpus.of_pods(self.deleted(DeletedPodFate.REMOVED))

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
    def lowest_serving(self) -> FrozenDict[Ref, int]:
        """The lowest number that serves after a stage of each part that exists before the update."""
        lowest = {one.part: one.serving for one in self.before}
        for stage in self.stages:
            lowest |= {one.part: min(lowest[one.part], one.serving) for one in stage.serving if one.part in lowest}
        return FrozenDict(lowest)

    @property
    def parts(self) -> tuple[PartDuringUpdate, ...]:
        """Every part that exists after the update, with the lowest number that serves of it on the way (ED-003)."""
        return tuple(_parts_during_update(self))


class UncollectedObjectCounts(NamedTuple):
    """How many objects of a kind that was not collected an edit touches, if the set had all of them before (ED-012).

    Attributes:
        kind: such as ``Service``.
        created, changed, deleted: numbers of objects.
    """

    kind: str
    created: int
    changed: int
    deleted: int


class EditForecast(Struct, frozen=True):
    """What an edit does.

    Attributes:
        changes: the fields that change (ED-001).
        update: None where the forecast would rest on objects that were not collected.
        uncollected: what the plan lacks of the edit, by kind (ED-012).
        lacks: the kinds without which the update is not known (ED-018); empty where it is.
        hidden: fields, without values, that a capture redacted and that count as unchanged (ED-015).
    """

    changes: tuple[ManifestChange, ...]
    update: UpdateForecast | None
    uncollected: tuple[UncollectedObjectCounts, ...] = ()
    lacks: tuple[str, ...] = ()
    hidden: tuple[ManifestChange, ...] = ()

    @property
    def may_change_more(self) -> bool:
        """Whether the edit may change more than the plan shows."""
        return may_change_more(self.hidden)


def may_change_more(hidden: Iterable[ManifestChange]) -> bool:
    """Return whether one of some fields that are not compared is more than metadata (ED-015)."""
    return any(one.dependence is not FieldDependence.METADATA for one in hidden)


def pod_and_gpu_counts_of_new_set(spec: SetSpec) -> PodsAndGpus:
    """Return the pods that a set consists of once it is created, and the GPUs that they hold (ED-007)."""
    groups = spec.template.groups_by_clique
    found = []
    for clique in first_templates_by_name(spec.template.cliques).values():
        group = groups.get(clique.name)
        pods = spec.replicas * clique.spec.replicas * (1 if group is None else group.replicas)
        found.append(PodsAndGpus(pods, pods * gpu_count_of_pod_spec(clique.spec.pod_spec)))
    return PodsAndGpus.sum_of(found)


def _parts_during_update(update: UpdateForecast) -> Iterator[PartDuringUpdate]:
    before, lowest = {one.part: one.serving for one in update.before}, update.lowest_serving
    for one in update.after:
        there = before.get(one.part, 0)
        low = min(lowest.get(one.part, one.serving), one.serving)
        yield PartDuringUpdate(one.part, one.template, one.needed, one.wanted, there, low, one.serving)


def cliques_with_changed_pods(changes: Iterable[ManifestChange]) -> frozenset[str]:
    """Return the names of the cliques whose pods depend on a changed field."""
    return frozenset(name for one in changes if one.dependence is FieldDependence.PODS for name in one.cliques)
