"""Decodes a byte string into a PodCliqueSet and its objects: valid by construction, in every state of a cluster.

State classes are drawn, not fields: a pod is in one of the legal combinations of placed, ready and being deleted.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from grove_core.kernel.conditions import Condition, ConditionStatus
from grove_core.kernel.refs import Ref
from grove_core.resources.api_names import (
    CLIQUE_FINALIZER,
    CLIQUE_SCHEDULED,
    GROUP_FINALIZER,
    GROVE,
    MIN_AVAILABLE_BREACHED,
    SET_FINALIZER,
)
from grove_core.resources.metadata_readers import MetadataArguments, Resource
from grove_core.resources.pod import Pod
from grove_core.resources.podclique import CliqueStatus, PodClique
from grove_core.resources.podcliqueset import PodCliqueSet, PodCliqueSetStatus
from grove_core.resources.podcliqueset_spec import (
    CliqueSpec,
    CliqueTemplate,
    ScalingGroupTemplate,
    SetSpec,
    SetTemplate,
)
from grove_core.resources.scaling_group import GroupStatus, ScalingGroup
from grove_core.testing.random_cluster import RandomCluster
from grove_core.testing.tape import ByteChoices

START: Final = datetime(2026, 11, 20, 9, 0, 0, tzinfo=UTC)
STARTS: Final = (
    START,
    START + timedelta(hours=6),
    START + timedelta(hours=12),
    START + timedelta(hours=18),
    START + timedelta(hours=27),
)
"""Morning, afternoon, evening and night of a working day, and noon of a weekend: for rules about the time of day."""
DELAYS: Final = (timedelta(minutes=5), None, timedelta(minutes=1), timedelta(hours=1), timedelta(seconds=1))
AGES: Final = tuple(timedelta(seconds=seconds) for seconds in (600, 0, 1, 59, 60, 61, 299, 300, 301, 3600, 7200, -30))
NAMES: Final = ("router", "leader", "worker", "decode", "prefill")
# (placed, gated, ready, deleting, phase): every combination the API can show
POD_STATES: Final = (
    (True, False, True, False, "Running"),
    (True, False, False, False, "Running"),
    (False, False, False, False, "Pending"),
    (False, True, False, False, "Pending"),
    (True, False, True, True, "Running"),
    (True, False, False, True, "Running"),
    (True, False, False, False, "Failed"),
    (True, False, False, False, "Succeeded"),
)


@dataclass(frozen=True, slots=True)
class Sizes:
    """The largest sizes that are drawn; each is at least 1.

    Attributes:
        cliques: cliques of the template, at most five; those of scaling groups are among them.
        pods: pods of a PodClique.
        set_replicas: replicas of the set.
        group_replicas: replicas of a scaling group; 0 draws no scaling groups.
    """

    cliques: int = 5
    pods: int = 3
    set_replicas: int = 3
    group_replicas: int = 4

    def __post_init__(self) -> None:
        """Check the limits."""
        if not 1 <= self.cliques <= len(NAMES) or min(self.pods, self.set_replicas) < 1 or self.group_replicas < 0:
            raise ValueError(f"sizes are from 1, at most {len(NAMES)} cliques, and 0 group_replicas for none: {self}")


class RandomClusterDecoder:
    """Decodes a tape into a cluster."""

    def __init__(
        self,
        tape: ByteChoices,
        name: str = "llm",
        sizes: Sizes = Sizes(),
        start: datetime = START,
    ) -> None:
        self.tape = tape
        self.start = start
        self.name = name
        self.sizes = sizes
        self.serial = 0
        self.pods: list[Pod] = []
        self.cliques: list[PodClique] = []
        self.groups: list[ScalingGroup] = []

    def cluster(self) -> RandomCluster:
        """Return the whole cluster."""
        tape = self.tape
        root = self.root()
        for replica in range(root.spec.replicas + tape.rarely()):
            for clique in root.spec.standalone_cliques:
                self._clique(root, f"{self.name}-{replica}-{clique.name}", replica, -1, clique)
            for config in root.spec.template.pod_clique_scaling_groups:
                self._group(root, replica, config)
        for _ in range(tape.count(2) if not tape.spent else 0):
            self._pod("uid-of-another", f"{self.name}-0-stray-{self._next()}")
        return RandomCluster(root, tuple(self.groups), tuple(self.cliques), tuple(self.pods), self.start)

    def _next(self) -> int:
        self.serial += 1
        return self.serial

    def _identity(self, kind: str, name: str, finalizer: str, owner: Resource | None) -> MetadataArguments:
        return MetadataArguments(
            ref=Ref(GROVE, kind, "ml", name),
            uid=f"uid-{name}-{self._next()}",
            resource_version=str(1000 + self._next()),
            owner_uid=owner.uid if owner else "",
            owner_kind=owner.ref.kind if owner else "",
            owner_name=owner.ref.name if owner else "",
            finalizers=(finalizer,),
            deleting=self.tape.rarely(),
        )

    def root(self) -> PodCliqueSet:
        """Return the set alone."""
        tape = self.tape
        cliques = tuple(self._template(name) for name in NAMES[: 1 + tape.count(self.sizes.cliques - 1)])
        free = [clique.name for clique in cliques[1:]]
        groups = []
        for name in ("pool", "spare"):
            taken = [free.pop() for _ in range(min(len(free), tape.count(2)))] if self.sizes.group_replicas else []
            if taken:
                replicas = 1 + tape.count(self.sizes.group_replicas - 1)
                groups.append(
                    ScalingGroupTemplate(
                        name=name,
                        clique_names=tuple(taken),
                        replicas=replicas,
                        min_available=1 + tape.count(replicas - 1),
                        termination_delay=tape.pick((None, *DELAYS[2:])),
                    )
                )
        template = SetTemplate(
            cliques=cliques, pod_clique_scaling_groups=tuple(groups), termination_delay=tape.pick(DELAYS)
        )
        return PodCliqueSet(
            **self._identity("PodCliqueSet", self.name, SET_FINALIZER, None),
            spec=SetSpec(
                replicas=1 + tape.count(self.sizes.set_replicas - 1) if not tape.rarely() else 0, template=template
            ),
            status=tape.pick((PodCliqueSetStatus(replicas=1, available=1), PodCliqueSetStatus())),
        )

    def _template(self, name: str) -> CliqueTemplate:
        replicas = 1 + self.tape.count(self.sizes.pods - 1)
        return CliqueTemplate(
            name=name, spec=CliqueSpec(replicas=replicas, min_available=1 + self.tape.count(replicas - 1))
        )

    def _group(self, root: PodCliqueSet, replica: int, config: ScalingGroupTemplate) -> None:
        tape = self.tape
        if tape.rarely():
            return
        replicas = config.replicas if not tape.rarely() else tape.count(self.sizes.group_replicas)
        group = ScalingGroup(
            **self._identity("PodCliqueScalingGroup", f"{self.name}-{replica}-{config.name}", GROUP_FINALIZER, root),
            replica_index=replica,
            replicas=replicas,
            min_available=config.min_available,
            clique_names=config.clique_names,
            status=GroupStatus(updating=tape.rarely(), conditions=tuple(self._conditions())),
        )
        self.groups.append(group)
        templates = {clique.name: clique for clique in root.spec.template.cliques}
        for index in range(replicas + tape.rarely()):
            for name in config.clique_names:
                self._clique(group, f"{group.ref.name}-{index}-{name}", replica, index, templates[name])

    def _clique(self, owner: Resource, name: str, replica: int, index: int, template: CliqueTemplate) -> None:
        tape = self.tape
        if tape.rarely():
            return
        replicas = template.spec.replicas
        status = CliqueStatus()
        if not tape.rarely():
            status = CliqueStatus(
                recorded=True,
                replicas=replicas,
                ready=replicas,
                scheduled=replicas,
                gated=0,
                updated=replicas,
                was_available=tape.pick((True, True, True, False, None)),
                updating=tape.rarely(),
                current_hash="h1",
                conditions=tuple(self._conditions(scheduled=True)),
            )
        clique = PodClique(
            **self._identity("PodClique", name, CLIQUE_FINALIZER, owner),
            replica_index=replica,
            group_replica_index=index,
            replicas=replicas,
            min_available=template.min_available,
            template_hash="h1",
            status=status,
        )
        self.cliques.append(clique)
        for number in range(replicas):
            self._pod(clique.uid, f"{name}-{number}")

    def _conditions(self, *, scheduled: bool = False) -> Iterator[Condition]:
        tape = self.tape
        if scheduled:
            truth = tape.pick((ConditionStatus.TRUE, ConditionStatus.FALSE))
            yield Condition(CLIQUE_SCHEDULED, truth, "Recorded", "as recorded", self.start - tape.pick(AGES))
        truth_or_none = tape.pick((ConditionStatus.TRUE, ConditionStatus.FALSE, ConditionStatus.UNKNOWN, None))
        if truth_or_none is not None:
            yield Condition(
                MIN_AVAILABLE_BREACHED, truth_or_none, "Recorded", "as recorded", self.start - tape.pick(AGES)
            )

    def _pod(self, owner_uid: str, name: str) -> None:
        placed, gated, ready, deleting, phase = self.tape.pick(POD_STATES[:2] * 4 + POD_STATES)
        self.pods.append(
            Pod(
                namespace="ml",
                name=name,
                uid=f"uid-{name}-{self._next()}",
                resource_version="7",
                owner_uid=owner_uid,
                template_hash=self.tape.pick(("h1", "h2")),
                gang="",
                node="node-1" if placed else "",
                phase=phase,
                trouble="",
                deleting=deleting,
                scheduled=placed,
                gated=gated,
                ready=ready,
            )
        )


def cluster_of(data: bytes, name: str = "llm", sizes: Sizes = Sizes(), start: datetime = START) -> RandomCluster:
    """Decode a byte string; every byte string is a cluster, and the empty one is the plainest.

    Args:
        data: what is drawn.
        name: of the set.
        sizes: the largest sizes.
        start: the time of the cluster, from which every stored time counts; aware UTC.

    Raises:
        TypeError: the data are no bytes.

    Example:
        >>> [clique.ref.name for clique in cluster_of(b"", "llama").cliques]
        ['llama-0-router']
    """
    if not isinstance(data, bytes):
        raise TypeError(f"cluster_of takes bytes, as cluster_of(b''); got {type(data).__name__}")
    return RandomClusterDecoder(ByteChoices(data), name, sizes, start).cluster()
