"""The life of one set in a quiet cluster: a kubelet that makes pods ready, users that edit the set, and a watch.

Everything the operator does goes through :meth:`Life.round`, which holds it to what it may never do.
"""

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from grove_core.in_memory.in_memory_cluster import InMemoryCluster
from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Attempt, AttemptOutcome, Create, Delete, Step
from grove_core.kernel.structs import replace
from grove_core.plan.plan import Plan
from grove_core.plan.plan_laws import broken_laws_in_plan
from grove_core.plan.step_batches import execute_steps_sequentially
from grove_core.reconcile import reconcile
from grove_core.resources.labels import podcliqueset_name_from_labels
from grove_core.resources.pod import Pod
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.podcliqueset_spec import SetSpec, UpdateStrategy
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.snapshot.snapshot import Snapshot
from tests.property.workload.sets import NOW, Json, applied

MOST_ROUNDS: Final = 400
TICK: Final = timedelta(seconds=10)


class Violated(AssertionError):
    """The operator did what it may never do."""


@dataclass
class Life:
    """One set from its application on; every public method is one thing that happens."""

    raw: Json
    lingering: bool = False
    now: datetime = NOW
    attempts: tuple[Attempt, ...] = ()
    deleted: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        """Apply the manifest."""
        start = applied(self.raw)
        self.ref = start.root.ref
        self.world = InMemoryCluster((start,), lingering=self.lingering)

    # what users and nodes do

    @property
    def root(self) -> PodCliqueSet:
        found = self.world.items[self.ref]
        assert isinstance(found, PodCliqueSet)
        return found

    def leftovers(self) -> list[ScalingGroup | PodClique]:
        """Return the parts of a deleted set that are being deleted (WL-001), sorted."""
        sets = {(ref.namespace, ref.name) for ref, item in self.world.items.items() if isinstance(item, PodCliqueSet)}
        found: list[ScalingGroup | PodClique] = []
        for item in self.world.items.values():
            if isinstance(item, ScalingGroup | PodClique) and item.deleting:
                of_set = (
                    item.owner_name if isinstance(item, ScalingGroup) else podcliqueset_name_from_labels(item.labels)
                )
                if (item.ref.namespace, of_set) not in sets:
                    found.append(item)
        return sorted(found, key=lambda item: item.ref.sort_key)

    def edit(self, **changes: object) -> None:
        """Change fields of the set's spec."""
        spec = self.root.spec.model_copy(update=changes)
        self.world.put_object(replace(self.root, spec=spec, generation=(self.root.generation or 0) + 1))

    def new_image(self, image: str, *cliques: str) -> None:
        """Another image for the named cliques, or for all."""
        self.edit(template=with_image(self.root.spec, image, cliques).template)

    def on_delete(self) -> None:
        self.edit(update_strategy=UpdateStrategy(type="OnDelete"))

    def scale(self, name: str, replicas: int) -> None:
        """A user scales a clique or a scaling group."""
        for item in list(self.world.items.values()):
            if isinstance(item, PodClique | ScalingGroup) and item.ref.name == name:
                self.world.put_object(replace(item, replicas=replicas, generation=(item.generation or 0) + 1))

    def clique(self, name: str) -> PodClique:
        (found,) = (item for item in self.world.items.values() if isinstance(item, PodClique) and item.ref.name == name)
        return found

    def group(self, name: str) -> ScalingGroup:
        (found,) = (
            item for item in self.world.items.values() if isinstance(item, ScalingGroup) and item.ref.name == name
        )
        return found

    def pods(self, clique: str) -> list[Pod]:
        """By index."""
        return sorted(self.world.pods.get(self.clique(clique).uid, ()), key=lambda pod: (pod.index, pod.uid))

    def all_pods(self) -> list[Pod]:
        return sorted((pod for pods in self.world.pods.values() for pod in pods), key=lambda pod: pod.name)

    def kubelet(self, *, image: str = "") -> int:
        """Every pod that may be placed is, and is ready; those of one image come up only as far as running."""
        done = 0
        for pod in self.all_pods():
            broken = bool(image) and self.image_of(pod) == image
            if not pod.has_grove_gate and not pod.deleting and not pod.ready and not (broken and pod.scheduled):
                up = replace(pod, scheduled=True, gated=False, node="node", phase="Running", ready=not broken)
                self.world.put_pod(replace(up, trouble="CrashLoopBackOff" if broken else ""))
                done += 1
            elif pod.deleting:
                self.world.end_pod_containers(pod.ref)
                done += 1
        return done

    def image_of(self, pod: Pod) -> str:
        spec = self.world.manifests[pod.ref]["spec"]
        assert isinstance(spec, FrozenMap)
        containers = spec["containers"]
        assert isinstance(containers, tuple)
        first = containers[0]
        assert isinstance(first, FrozenMap)
        return str(first.get("image", ""))

    # what the operator does

    def look(self) -> Snapshot | None:
        return self.world.snapshot_of_set(self.ref, self.now, self.attempts)

    def round(self) -> Plan | None:
        """One round, under watch; None where the set is gone."""
        seen = self.look()
        if seen is None:
            return None
        plan = reconcile(seen)
        if problems := broken_laws_in_plan(plan, seen):
            raise Violated(problems)
        before = self.serving(), self.groups_serving()
        self.attempts = execute_steps_sequentially(self.world.attempt_step, plan.steps)
        self.watch(plan, *before)
        self.now += TICK
        return plan

    def settle(self, *, image: str = "") -> list[Plan]:
        """Rounds until nothing is left to do; ``image``: see :meth:`kubelet`."""
        plans: list[Plan] = []
        for _ in range(MOST_ROUNDS):
            is_quiet = not self.attempts  # an object made a moment ago counts as present, also if it was deleted
            plan = self.round()
            moved = self.kubelet(image=image)
            if plan is None:
                return plans
            plans.append(plan)
            if is_quiet and not plan.steps and not moved:
                return plans
        raise Violated("no rest")

    # what is watched

    def serving(self) -> dict[str, int]:
        """Uid of a clique -> its ready pods that stay."""
        return {uid: sum(pod.ready and not pod.deleting for pod in pods) for uid, pods in self.world.pods.items()}

    def groups_serving(self) -> dict[str, int]:
        """Name of a scaling group -> its replicas all of whose cliques have enough ready pods."""
        serving = self.serving()
        cliques = [item for item in self.world.items.values() if isinstance(item, PodClique) and not item.deleting]
        found: Counter[tuple[str, int]] = Counter()
        for clique in cliques:
            if clique.is_in_scaling_group and serving.get(clique.uid, 0) >= min(clique.min_available, clique.replicas):
                found[clique.owner_uid, clique.group_replica_index] += 1
        return {
            item.ref.name: sum(count == len(item.clique_names) for (uid, _), count in found.items() if uid == item.uid)
            for item in self.world.items.values()
            if isinstance(item, ScalingGroup) and not item.deleting
        }

    def watch(self, plan: Plan, serving: dict[str, int], groups: dict[str, int]) -> None:
        """Nothing falls below its minimum by the operator's hand, and no pod is one of two."""
        for attempt in self.attempts:
            if attempt.outcome is AttemptOutcome.CONFLICT and isinstance(attempt.step.action, Create):
                raise Violated(f"{attempt.step.target.short}: {attempt.detail}")
            if isinstance(attempt.step.action, Delete) and attempt.outcome is AttemptOutcome.DONE:
                self.deleted[attempt.step.target.kind] += 1
        if self.ref not in self.world.items or self.root.deleting:
            return
        after, groups_after = self.serving(), self.groups_serving()
        for item in self.world.items.values():
            if isinstance(item, PodClique) and not item.deleting:
                self._watch_clique(item, serving.get(item.uid, 0), after[item.uid])
            elif isinstance(item, ScalingGroup) and not item.deleting and item.replicas >= item.min_available:
                held = min(groups.get(item.ref.name, 0), item.min_available)
                if groups_after[item.ref.name] < held and not _is_scaled_in(plan):
                    raise Violated(f"{item.ref.name} fell to {groups_after[item.ref.name]} of {held}: {plan.steps}")

    def _watch_clique(self, clique: PodClique, before: int, after: int) -> None:
        pods = [
            pod for pod in self.world.pods[clique.uid] if not pod.deleting and pod.phase not in {"Failed", "Succeeded"}
        ]
        if clique.replicas >= clique.min_available and after < min(before, clique.min_available):
            raise Violated(f"{clique.ref.name} fell from {before} to {after} ready pods of {clique.min_available}")
        if len({pod.index for pod in pods}) < len(pods):
            raise Violated(f"{clique.ref.name} has two pods of one index")
        surge = 1 if clique.status.updating else 0
        made = [attempt.step for attempt in self.attempts if _makes_pod_of(attempt.step, clique.ref)]
        if made and len(pods) > clique.replicas + surge:
            raise Violated(f"{clique.ref.name} was given {len(pods)} pods for {clique.replicas}")


def _is_scaled_in(plan: Plan) -> bool:
    """Whether this round takes replicas away because fewer are wanted."""
    codes = {why.rule.requirement for step in plan.steps for why in step.because}
    return bool(codes & {"WL-200", "WL-201"})


def _makes_pod_of(step: Step, clique: Ref) -> bool:
    return isinstance(step.action, Create) and step.target.kind == "Pod" and step.because[0].subject == clique


def with_image(spec: SetSpec, image: str, cliques: tuple[str, ...] = ()) -> SetSpec:
    """The spec with another image in the named cliques, or in all."""
    pod_spec = FrozenMap({"containers": (FrozenMap({"name": "main", "image": image}),)})
    changed = tuple(
        clique.model_copy(update={"spec": clique.spec.model_copy(update={"pod_spec": pod_spec})})
        if not cliques or clique.name in cliques
        else clique
        for clique in spec.template.cliques
    )
    return spec.model_copy(update={"template": spec.template.model_copy(update={"cliques": changed})})
