"""Arbitrary snapshots of one set: valid by construction, in every state a cluster can be in.

Drawn as state classes, not as fields: a pod is in one of the legal combinations of placed, ready and going.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final

from hypothesis import strategies as st

from grove_core.kernel.conditions import Condition, ConditionStatus
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Delete, Step
from grove_core.plan.plan import Plan
from grove_core.resources.api_names import (
    CLIQUE_FINALIZER,
    CLIQUE_SCHEDULED,
    GROUP_FINALIZER,
    GROVE,
    MIN_AVAILABLE_BREACHED,
    SET_FINALIZER,
)
from grove_core.resources.metadata_readers import ObjectMetadataFields, Resource
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
from grove_core.snapshot.cluster import IndexedCluster
from grove_core.snapshot.cluster_index import index_cluster
from grove_core.snapshot.snapshot import Snapshot
from tests.property.strategies.tape import Tape

START: Final = datetime(2026, 11, 20, 9, 0, 0, tzinfo=UTC)
DELAYS: Final = (timedelta(minutes=5), None, timedelta(minutes=1), timedelta(hours=1), timedelta(seconds=1))
AGES: Final = tuple(timedelta(seconds=seconds) for seconds in (600, 0, 1, 59, 60, 61, 299, 300, 301, 3600, 7200, -30))
NAMES: Final = ("router", "leader", "worker", "decode", "prefill")
# (placed, gated, ready, going, phase): every combination the API can show
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


@dataclass(frozen=True)
class RandomCluster:
    """Everything in one namespace, as loose objects; a set, what it owns, and what it does not."""

    root: PodCliqueSet
    groups: tuple[ScalingGroup, ...]
    cliques: tuple[PodClique, ...]
    pods: tuple[Pod, ...]
    now: datetime

    @property
    def cluster(self) -> IndexedCluster:
        return index_cluster(sets=(self.root,), groups=self.groups, cliques=self.cliques, pods=self.pods)

    @property
    def snapshot(self) -> Snapshot:
        return self.cluster.snapshot_of(self.root, self.now)

    def at(self, moment: datetime) -> "RandomCluster":
        return replace(self, now=moment)


class Builder:
    """Decodes a tape into a cluster."""

    def __init__(self, tape: Tape, name: str = "llm") -> None:
        self.tape = tape
        self.name = name
        self.serial = 0
        self.pods: list[Pod] = []
        self.cliques: list[PodClique] = []
        self.groups: list[ScalingGroup] = []

    def world(self) -> RandomCluster:
        tape = self.tape
        root = self.root()
        for replica in range(root.spec.replicas + tape.rarely()):
            for clique in root.spec.standalone_cliques:
                self.clique(root, f"{self.name}-{replica}-{clique.name}", replica, -1, clique)
            for config in root.spec.template.pod_clique_scaling_groups:
                self.group(root, replica, config)
        for _ in range(tape.count(2) if not tape.spent else 0):
            self.pod("uid-of-nobody", f"{self.name}-0-stray-{self.next()}")
        return RandomCluster(root, tuple(self.groups), tuple(self.cliques), tuple(self.pods), START)

    def next(self) -> int:
        self.serial += 1
        return self.serial

    def identity(self, kind: str, name: str, finalizer: str, owner: Resource | None) -> ObjectMetadataFields:
        return ObjectMetadataFields(
            ref=Ref(GROVE, kind, "ml", name),
            uid=f"uid-{name}-{self.next()}",
            resource_version=str(1000 + self.next()),
            owner_uid=owner.uid if owner else "",
            owner_kind=owner.ref.kind if owner else "",
            owner_name=owner.ref.name if owner else "",
            finalizers=(finalizer,),
            deleting=self.tape.rarely(),
        )

    def root(self) -> PodCliqueSet:
        tape = self.tape
        cliques = tuple(self.template(name) for name in NAMES[: 1 + tape.count(len(NAMES) - 1)])
        free = [clique.name for clique in cliques[1:]]
        groups = []
        for name in ("pool", "spare"):
            taken = [free.pop() for _ in range(min(len(free), tape.count(2)))]
            if taken:
                replicas = 1 + tape.count(3)
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
            **self.identity("PodCliqueSet", self.name, SET_FINALIZER, None),
            spec=SetSpec(replicas=1 + tape.count(2) if not tape.rarely() else 0, template=template),
            status=tape.pick((PodCliqueSetStatus(replicas=1, available=1), PodCliqueSetStatus())),
        )

    def template(self, name: str) -> CliqueTemplate:
        replicas = 1 + self.tape.count(2)
        return CliqueTemplate(
            name=name, spec=CliqueSpec(replicas=replicas, min_available=1 + self.tape.count(replicas - 1))
        )

    def group(self, root: PodCliqueSet, replica: int, config: ScalingGroupTemplate) -> None:
        tape = self.tape
        if tape.rarely():
            return
        replicas = config.replicas if not tape.rarely() else tape.count(4)
        group = ScalingGroup(
            **self.identity("PodCliqueScalingGroup", f"{self.name}-{replica}-{config.name}", GROUP_FINALIZER, root),
            replica_index=replica,
            replicas=replicas,
            min_available=config.min_available,
            clique_names=config.clique_names,
            status=GroupStatus(updating=tape.rarely(), conditions=tuple(self.conditions())),
        )
        self.groups.append(group)
        templates = {clique.name: clique for clique in root.spec.template.cliques}
        for index in range(replicas + tape.rarely()):
            for name in config.clique_names:
                self.clique(group, f"{group.ref.name}-{index}-{name}", replica, index, templates[name])

    def clique(self, owner: Resource, name: str, replica: int, index: int, template: CliqueTemplate) -> None:
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
                conditions=tuple(self.conditions(scheduled=True)),
            )
        clique = PodClique(
            **self.identity("PodClique", name, CLIQUE_FINALIZER, owner),
            replica_index=replica,
            group_replica_index=index,
            replicas=replicas,
            min_available=template.min_available,
            template_hash="h1",
            status=status,
        )
        self.cliques.append(clique)
        for number in range(replicas):
            self.pod(clique.uid, f"{name}-{number}")

    def conditions(self, *, scheduled: bool = False) -> Iterator[Condition]:
        tape = self.tape
        if scheduled:
            truth = tape.pick((ConditionStatus.TRUE, ConditionStatus.FALSE))
            yield Condition(CLIQUE_SCHEDULED, truth, "Recorded", "as recorded", START - tape.pick(AGES))
        truth_or_none = tape.pick((ConditionStatus.TRUE, ConditionStatus.FALSE, ConditionStatus.UNKNOWN, None))
        if truth_or_none is not None:
            yield Condition(MIN_AVAILABLE_BREACHED, truth_or_none, "Recorded", "as recorded", START - tape.pick(AGES))

    def pod(self, owner_uid: str, name: str) -> None:
        placed, gated, ready, going, phase = self.tape.pick(POD_STATES[:2] * 4 + POD_STATES)
        self.pods.append(
            Pod(
                namespace="ml",
                name=name,
                uid=f"uid-{name}-{self.next()}",
                resource_version="7",
                owner_uid=owner_uid,
                template_hash=self.tape.pick(("h1", "h2")),
                gang="",
                node="node-1" if placed else "",
                phase=phase,
                trouble="",
                deleting=going,
                scheduled=placed,
                gated=gated,
                ready=ready,
            )
        )


def cluster_of(data: bytes, name: str = "llm") -> RandomCluster:
    """Decode a tape; total: every tape is a cluster."""
    return Builder(Tape(data), name).world()


def clusters() -> st.SearchStrategy[RandomCluster]:
    """Arbitrary clusters; an empty tape is the plainest one."""
    return st.binary(max_size=400).map(cluster_of)


def busy_clusters() -> st.SearchStrategy[RandomCluster]:
    """Clusters of long tapes: replicas, groups, updates, deletions and ages that short tapes seldom reach."""
    return st.binary(min_size=150, max_size=400).map(cluster_of)


def stormy(generated: RandomCluster) -> RandomCluster:
    """The same cluster with every pod lost, everything once available, and every stored breach as old as it was."""
    conditions = {clique.ref: clique.status.conditions for clique in generated.cliques}
    conditions |= {group.ref: group.status.conditions for group in generated.groups}
    breached = {
        ref: tuple(replace(condition, status=ConditionStatus.TRUE) for condition in held)
        for ref, held in conditions.items()
    }
    return replace(
        generated,
        root=replace(generated.root, deleting=False),
        pods=tuple(replace(pod, ready=False) for pod in generated.pods),
        cliques=tuple(
            replace(
                clique,
                status=replace(
                    clique.status, recorded=True, was_available=True, updating=False, conditions=breached[clique.ref]
                ),
            )
            for clique in generated.cliques
        ),
        groups=tuple(
            replace(group, status=replace(group.status, updating=False, conditions=breached[group.ref]))
            for group in generated.groups
        ),
    )


def storms() -> st.SearchStrategy[RandomCluster]:
    """Clusters in which nearly everything is breached, for longer or shorter than its delay."""
    return st.one_of(clusters(), busy_clusters()).map(stormy)


def with_namesake(generated: RandomCluster) -> RandomCluster:
    """The same cluster, its first scaling group called as its first standalone clique, as admission allows."""
    template = generated.root.spec.template
    first = template.pod_clique_scaling_groups[:1]
    if not first:
        return generated
    called = template.cliques[0].name
    one = first[0].model_copy(update={"name": called})
    groups = (one, *template.pod_clique_scaling_groups[1:])
    spec = generated.root.spec.model_copy(
        update={"template": template.model_copy(update={"pod_clique_scaling_groups": groups})}
    )

    def renamed(name: str, replica: int) -> str:
        before, after = (f"{generated.root.ref.name}-{replica}-{short}" for short in (first[0].name, called))
        return after + name.removeprefix(before) if (name + "-").startswith(before + "-") else name

    def in_place(ref: Ref, replica: int) -> Ref:
        return replace(ref, name=renamed(ref.name, replica))

    return replace(
        generated,
        root=replace(generated.root, spec=spec),
        groups=tuple(replace(group, ref=in_place(group.ref, group.replica_index)) for group in generated.groups),
        cliques=tuple(
            replace(
                clique,
                ref=in_place(clique.ref, clique.replica_index),
                owner_name=renamed(clique.owner_name, clique.replica_index),
            )
            for clique in generated.cliques
        ),
    )


def is_termination(step: Step) -> bool:
    """Whether a step ends a clique for a breach; other deletions rest on nothing (PL-015)."""
    return isinstance(step.action, Delete) and bool(step.action.rests_on)


def deleted(plan: Plan) -> set[str]:
    """The cliques that a plan ends, by name."""
    return {step.target.name for step in plan.steps if is_termination(step)}
