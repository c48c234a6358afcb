"""A set with pods that do not come back."""

from collections.abc import Iterable
from datetime import timedelta
from functools import cache
from typing import Final

from grove_core.in_memory.in_memory_cluster import InMemoryCluster
from grove_core.kernel.structs import replace
from grove_core.plan.step_batches import execute_steps_sequentially
from grove_core.reconcile import reconcile
from grove_core.rule_sets.rule_set_by_name import rule_set
from grove_core.snapshot.snapshot import Snapshot
from tests.property.workload.life import Life
from tests.property.workload.sets import clique_raw, set_raw

POOL: Final = {"name": "pool", "cliqueNames": ["c"], "replicas": 2, "minAvailable": 1}
SET: Final = set_raw(
    clique_raw("a", 2), clique_raw("b", 1), clique_raw("c", 1), groups=(POOL,), replicas=2, terminationDelay="1h"
)


@cache
def at_rest() -> Snapshot:
    """The set with everything ready, made once."""
    life = Life(SET)
    life.settle()
    seen = life.look()
    assert seen is not None
    return replace(seen, attempts=())


def broken_set(lost: Iterable[str], changed: Iterable[str], *, name: str = "design") -> Snapshot:
    """A set whose delay runs because cliques lost all ready pods; a minute later others get another image."""
    life = Life(SET, now=at_rest().now)
    life.world = InMemoryCluster((at_rest(),))
    life.now += timedelta(minutes=1)
    for pod in life.all_pods():
        if any(pod.name.startswith(f"llm-{short}-") for short in lost):
            life.world.put_pod(replace(pod, ready=False, crashed=True))
    for _ in range(4):
        seen = life.look()
        assert seen is not None
        life.attempts = execute_steps_sequentially(life.world.attempt_step, reconcile(seen, rule_set(name)).steps)
    life.now += timedelta(minutes=1)
    if templates := sorted({short[-1] for short in changed}):
        life.new_image("another", *templates)
    seen = life.look()
    assert seen is not None
    return replace(seen, attempts=())
