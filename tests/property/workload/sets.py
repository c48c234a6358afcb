"""Sets that are not applied yet: arbitrary ones for laws, small ones for tables; and their objects."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Final

from hypothesis import strategies as st

from grove_core.in_memory.forecasts import snapshot_of_newly_created_set
from grove_core.in_memory.in_memory_cluster import InMemoryCluster
from grove_core.kernel.frozen import FrozenDict, thaw_json
from grove_core.kernel.steps import Attempt, Create
from grove_core.kernel.structs import replace
from grove_core.plan.plan import Plan
from grove_core.plan.step_batches import execute_steps_sequentially
from grove_core.reconcile import reconcile
from grove_core.resources.podcliqueset import podcliqueset_from_json
from grove_core.snapshot.own_writes import standing_refusals_after_round
from grove_core.snapshot.snapshot import Snapshot

Json = dict[str, Any]
NOW: Final = datetime(2026, 11, 20, 9, 0, 0, tzinfo=UTC)
TYPES: Final = ("CliqueStartupTypeAnyOrder", "CliqueStartupTypeInOrder", "CliqueStartupTypeExplicit")
SCOPES: Final = ("AllReplicas", "PerReplica")
ROUNDS: Final = 20


def clique_raw(name: str, replicas: int = 1, *, pod_spec: Json | None = None, **more: Any) -> Json:
    spec: Json = {"roleName": name, "replicas": replicas, "podSpec": pod_spec or {"containers": [{"name": "main"}]}}
    above: Json = {key: more.pop(key) for key in ("labels", "annotations", "resourceSharing") if key in more}
    return {"name": name, **above, "spec": {**spec, **more}}


def set_raw(
    *cliques: Json, groups: tuple[Json, ...] = (), replicas: int = 1, meta: Json | None = None, **more: Any
) -> Json:
    template = {"cliques": list(cliques), "podCliqueScalingGroups": list(groups), **more}
    return {
        "metadata": {"name": "llm", "namespace": "ml", **(meta or {})},
        "spec": {"replicas": replicas, "template": template},
    }


def applied(raw: Json) -> Snapshot:
    """A moment after the manifest was applied."""
    return snapshot_of_newly_created_set(Snapshot(root=podcliqueset_from_json(raw), pods_of=FrozenDict(), now=NOW))


def rounds_of(start: Snapshot) -> Iterator[tuple[Snapshot, Plan]]:
    """Every round until rest, with the plan made of it."""
    world, seen = InMemoryCluster((start,)), start
    refused: tuple[Attempt, ...] = ()
    for _ in range(ROUNDS):
        plan = reconcile(seen)
        yield seen, plan
        if not plan.steps:
            return
        attempts = execute_steps_sequentially(world.attempt_step, plan.steps)
        refused = standing_refusals_after_round(refused, attempts)
        observed = world.snapshot_of_set(start.root.ref, NOW, (*attempts, *refused))
        assert observed is not None
        seen = observed
    raise AssertionError("no rest")


def at_rest(start: Snapshot) -> Snapshot:
    *_, (seen, _) = rounds_of(start)
    return replace(seen, attempts=())


def manifests_of(raw: Json) -> list[Json]:
    """Everything that is created for a set, in order."""
    return [
        thaw_json(step.action.manifest)
        for _, plan in rounds_of(applied(raw))
        for step in plan.steps
        if isinstance(step.action, Create)
    ]


def of_kind(raw: Json, kind: str) -> dict[str, Json]:
    return {item["metadata"]["name"]: item for item in manifests_of(raw) if item["kind"] == kind}


def pods_of(raw: Json) -> dict[str, Json]:
    return {item["spec"]["hostname"]: item for item in manifests_of(raw) if item["kind"] == "Pod"}


@st.composite
def raw_sets(draw: st.DrawFn) -> Json:
    """Any sound set of up to four cliques, two groups and two replicas."""
    names = ["a", "b", "c", "d"][: draw(st.integers(1, 4))]
    kind = draw(st.sampled_from(TYPES))
    templates: list[Json] = [{"name": name, "templateSpec": {"spec": {"devices": {}}}} for name in ("x", "y")]

    def sharing() -> list[Json]:
        chosen = draw(st.lists(st.sampled_from(["x", "y", "elsewhere"]), max_size=2, unique=True))
        return [{"name": name, "scope": draw(st.sampled_from(SCOPES))} for name in chosen]

    def scaling(replicas: int) -> Json | None:
        return {"maxReplicas": replicas + 1} if draw(st.booleans()) else None

    cliques: list[Json] = []
    groups: list[Json] = []
    free = list(names[1:])
    for name in ("pool", "spare"):
        taken = [free.pop() for _ in range(draw(st.integers(0, min(2, len(free)))))]
        if taken:
            replicas = draw(st.integers(1, 3))
            groups.append(
                {
                    "name": name,
                    "cliqueNames": taken,
                    "replicas": replicas,
                    "minAvailable": draw(st.integers(1, replicas)),
                    "scaleConfig": scaling(replicas),
                    "resourceSharing": sharing(),
                }
            )
    grouped = {name for group in groups for name in group["cliqueNames"]}
    for place, name in enumerate(names):
        replicas = draw(st.integers(1, 3))
        cliques.append(
            clique_raw(
                name,
                replicas,
                minAvailable=draw(st.integers(1, replicas)),
                startsAfter=draw(st.lists(st.sampled_from(names[:place]), max_size=2, unique=True)) if place else [],
                autoScalingConfig=None if name in grouped else scaling(replicas),
                resourceSharing=sharing(),
            )
        )
    return set_raw(
        *cliques,
        groups=tuple(groups),
        replicas=draw(st.integers(0, 2)),
        cliqueStartupType=kind,
        resourceClaimTemplates=templates,
        resourceSharing=sharing(),
        priorityClassName=draw(st.sampled_from(["", "high"])),
    )
