"""A set of the Go operator at rest: made by its own rules in memory, then scheduled and started."""

from collections.abc import Callable
from typing import Any, Final

from grove_core.in_memory.in_memory_cluster import InMemoryCluster
from grove_core.kernel.frozen import frozen_dict_of_tuples
from grove_core.kernel.structs import replace
from grove_core.plan.plan import Plan
from grove_core.plan.step_batches import execute_steps_sequentially
from grove_core.reconcile import reconcile
from grove_core.resources.pod import Pod
from grove_core.resources.podcliqueset import PlannedSetChange, podcliqueset_from_json
from grove_core.rule_sets.go_operator import NEWEST
from grove_core.rule_sets.rule_set import RuleSet
from grove_core.snapshot.snapshot import Snapshot
from tests.property.workload.sets import applied, clique_raw, set_raw

Json = dict[str, Any]
ROUNDS: Final = 150


def started(pod: Pod) -> Pod:
    """The pod as it is once it runs and is ready."""
    return replace(pod, scheduled=True, gated=False, ready=True, trouble="", phase="Running", node="n1")


def raw_set(*, image: str = "a:1", replicas: int = 1, minimum: int = 1, strategy: str = "RollingRecreate") -> Json:
    """A set with a standalone clique of three pods and a scaling group of two replicas with one clique."""
    spec = {"containers": [{"name": "main", "image": image}]}
    raw = set_raw(
        clique_raw("router", 3, minAvailable=2, pod_spec=spec),
        clique_raw("worker", 2, minAvailable=1, pod_spec=spec),
        groups=({"name": "pool", "cliqueNames": ["worker"], "replicas": 2, "minAvailable": minimum},),
        replicas=replicas,
        terminationDelay="4h",
    )
    raw["spec"]["updateStrategy"] = {"type": strategy}
    return raw


def played(
    seen: Snapshot,
    rules: RuleSet = NEWEST,
    *,
    start: Callable[[Pod], Pod] = started,
    watch: Callable[[Snapshot, Plan], None] = lambda _seen, _plan: None,
) -> Snapshot:
    """Run rounds until rest; after each round ungated pods become what ``start`` makes of them."""
    world = InMemoryCluster((seen,))
    for _ in range(ROUNDS):
        plan = reconcile(seen, rules)
        watch(seen, plan)
        execute_steps_sequentially(world.attempt_step, plan.steps)
        before = [pod for pods in world.pods.values() for pod in pods]
        for pod in before:
            if not pod.has_grove_gate and not pod.ready and start(pod) != pod:
                world.put_pod(start(pod))
        observed = world.snapshot_of_set(seen.root.ref, seen.now)
        assert observed is not None
        if not plan.steps and before == [pod for pods in world.pods.values() for pod in pods]:
            if plan.requeue_at is None:
                return observed
            observed = replace(observed, now=plan.requeue_at)
        seen = observed
    raise AssertionError("no rest")


def healthy(raw: Json | None = None, rules: RuleSet = NEWEST) -> Snapshot:
    """A set at rest, all pods of which are ready."""
    return played(applied(raw or raw_set()), rules)


def edited(seen: Snapshot, raw: Json) -> Snapshot:
    """The set right after an edit was stored."""
    new = podcliqueset_from_json(raw)
    generation = (seen.root.generation or 0) + 1
    root = replace(seen.root, spec=new.spec, generation=generation, edit=PlannedSetChange.OF_MORE)
    return replace(seen, root=root)


def with_pods(seen: Snapshot, change: Callable[[Pod], Pod]) -> Snapshot:
    """The snapshot with each pod changed."""
    changed = {uid: tuple(map(change, pods)) for uid, pods in seen.pods_of.items()}
    return replace(seen, pods_of=frozen_dict_of_tuples(changed))
