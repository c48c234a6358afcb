"""Random events of an hour on a cluster, and the state that must follow once they stop."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from random import Random
from typing import Final, TypeAlias

from grove_core.resources.api_names import MANAGED_BY
from grove_core.resources.labels import GROUP
from tests.fault_injection.api_store import Address, Json
from tests.fault_injection.kubelet import is_ready
from tests.fault_injection.operator_run import NAMESPACE, OperatorRun
from tests.fault_injection.virtual_time import run_in_virtual_time

_STEPS: Final = 40
_DELAYS: Final = (60, 120, 240)  # seconds, of terminations
_PAUSES: Final = (0.01, 0.3, 2, 10, 30, 60, 120)
_SHORT_PAUSES: Final = (0.3, 2, 4, 10, 20, 40)
_SETTLED: Final = 120  # seconds
_LONG: Final = 900
_REST: Final = 600
_HOLD: Final = "storage.example.com/flush"
_CODES: Final = (403, 409, 503)
_ALWAYS: Final = 1_000_000
_FEW: Final = 20  # requests of an operator at rest in that time

Happens: TypeAlias = Callable[[OperatorRun, Json, str], Awaitable[None] | None]
"""To a clique and a set, or to none of them."""


def sick(run: OperatorRun, clique: Json, _root: str) -> None:
    run.kubelet.sick |= {pod["metadata"]["uid"] for pod in run.pods_of(clique) if run.random.random() < 0.8}


def healed(run: OperatorRun, _clique: Json, _root: str) -> None:
    run.kubelet.sick = {uid for uid in sorted(run.kubelet.sick) if run.random.random() < 0.4}


def all_sick(run: OperatorRun, clique: Json, _root: str) -> None:
    run.kubelet.sick |= {pod["metadata"]["uid"] for pod in run.pods_of(clique)}


def all_healed(run: OperatorRun, _clique: Json, _root: str) -> None:
    run.kubelet.sick = set()


def error_rate_changes(run: OperatorRun, _clique: Json, _root: str) -> None:
    run.fault_rates.bad = run.random.choice((0, 0, 0.05, 0.3, 0.7))


def delay_changes(run: OperatorRun, _clique: Json, _root: str) -> None:
    run.fault_rates.hesitates = run.random.choice((0, 0.9))


def cuts(run: OperatorRun, _clique: Json, _root: str) -> None:
    run.fault_rates.cuts = run.random.choice((0, 0, 0.1))


def denied(run: OperatorRun, _clique: Json, _root: str) -> None:
    run.fault_rates.denied = run.random.choice(("", "DELETE", "POST"))


def kept(run: OperatorRun, clique: Json, _root: str) -> None:
    """One may not be deleted for a while, or its termination status not be written."""
    fault_rates = run.fault_rates
    fault_rates.kept, fault_rates.kept_by = clique["metadata"]["name"], run.random.choice(_CODES)
    fault_rates.kept_for, fault_rates.unreported = run.random.choice(
        ((0, 0), (0, 0), (1, 0), (9, 0), (_ALWAYS, 0), (0, 3))
    )


def lost(run: OperatorRun, clique: Json, _root: str) -> None:
    """Lose the response to the next deletion of a PodClique, which is carried out."""
    run.fault_rates.lost = clique["metadata"]["name"]


def mute(run: OperatorRun, clique: Json, _root: str) -> None:
    """Its status, or that of its scaling group, is not written for a while."""
    fault_rates, name = run.fault_rates, clique["metadata"]["name"]
    fault_rates.mute = run.random.choice(("", name, name, clique["metadata"]["labels"].get(GROUP.primary, name)))
    fault_rates.muted_by, fault_rates.muted_for = run.random.choice(_CODES), run.random.choice((1, 2, 5, _ALWAYS))


def hushed(run: OperatorRun, clique: Json, root: str) -> None:
    """It is about a clique that is sick just now, where there is one."""
    sick = [one for one in run.cliques() if any(pod["metadata"]["uid"] in run.kubelet.sick for pod in run.pods_of(one))]
    mute(run, run.random.choice(sick or [clique]), root)


def fixed(run: OperatorRun, clique: Json, _root: str) -> None:
    """Nothing but its status is written for a while."""
    run.fault_rates.fixed = run.random.choice(("", clique["metadata"]["name"]))


def pod_deleted(run: OperatorRun, clique: Json, _root: str) -> None:
    for pod in run.pods_of(clique)[:1]:
        run.store.delete(Address("Pod", NAMESPACE, pod["metadata"]["name"]), {})


def clique_deleted(run: OperatorRun, clique: Json, _root: str) -> None:
    run.store.delete(Address("PodClique", NAMESPACE, clique["metadata"]["name"]), {})


def held(run: OperatorRun, clique: Json, _root: str) -> None:
    """By a foreign finalizer, so that it lingers when it is deleted."""
    address = Address("PodClique", NAMESPACE, clique["metadata"]["name"])
    run.store.change(address, lambda raw: raw["metadata"].setdefault("finalizers", []).append(_HOLD))


def drop_finalizers(run: OperatorRun, _clique: Json, _root: str) -> None:
    for raw in run.store.of("PodClique", NAMESPACE):
        if _HOLD in raw["metadata"].get("finalizers", []):
            kept = [one for one in raw["metadata"]["finalizers"] if one != _HOLD]
            address = Address("PodClique", NAMESPACE, raw["metadata"]["name"])
            run.store.change(address, lambda found, kept=kept: found["metadata"].update(finalizers=kept))  # type: ignore[misc]  # mypy infers no type for a default of a lambda


def label_lost(run: OperatorRun, clique: Json, _root: str) -> None:
    for pod in run.pods_of(clique)[:1]:
        address = Address("Pod", NAMESPACE, pod["metadata"]["name"])
        run.store.change(address, lambda raw: raw["metadata"]["labels"].pop(MANAGED_BY, None))


async def restarted(run: OperatorRun, server: str) -> None:
    await (run.kill() if run.random.random() < 0.5 else run.end())
    run.begin(server)


def scaled(run: OperatorRun, _clique: Json, root: str) -> None:
    wanted = run.random.choice((1, 2, 3))
    run.store.change(Address("PodCliqueSet", NAMESPACE, root), lambda raw: raw["spec"].update(replicas=wanted))


def group_scaled(run: OperatorRun, _clique: Json, root: str) -> None:
    for group in run.groups_of(root)[:1]:
        wanted = {"replicas": max(group["spec"]["minAvailable"], run.random.choice((1, 2, 3)))}
        run.store.patch(Address(group["kind"], NAMESPACE, group["metadata"]["name"]), {"spec": wanted})


def updated(run: OperatorRun, _clique: Json, root: str) -> None:
    which, image = run.random.randrange(3), f"x:{run.random.randrange(100)}"

    def change(raw: Json) -> None:
        raw["spec"]["template"]["cliques"][which]["spec"]["podSpec"]["containers"][0]["image"] = image

    run.store.change(Address("PodCliqueSet", NAMESPACE, root), change)


async def replaced(run: OperatorRun, _clique: Json, root: str) -> None:
    """Deleted, and made anew as soon as it is gone, despite faults; its deletion is never forbidden for ever."""
    address, fault_rates = Address("PodCliqueSet", NAMESPACE, root), run.fault_rates
    drop_finalizers(run, {}, "")
    fault_rates.denied = fault_rates.kept = fault_rates.fixed = ""
    run.store.delete(address, {}, foreground=run.random.random() < 0.5)
    for _ in range(_LONG):
        await asyncio.sleep(1)
        if address not in run.store.there:
            break
    run.store.create(address, a_set(root, run.random))


OFTEN: Final[tuple[Happens, ...]] = (
    sick,
    sick,
    sick,
    healed,
    error_rate_changes,
    error_rate_changes,
    delay_changes,
    cuts,
    pod_deleted,
    label_lost,
    mute,
    mute,
    kept,
)
SELDOM: Final[tuple[Happens, ...]] = (*OFTEN, *OFTEN, clique_deleted, denied, held, held, drop_finalizers, lost, fixed)
CHANGES: Final[tuple[Happens, ...]] = (*SELDOM, scaled, scaled, group_scaled, group_scaled, updated, updated, replaced)
UNSEEN: Final[tuple[Happens, ...]] = (*SELDOM, *(8 * (label_lost, pod_deleted)))
"""Pods lose their label, many of which have names that depend on the pods before them."""
FAIR: Final[tuple[Happens, ...]] = (
    all_sick,
    all_sick,
    all_sick,
    all_healed,
    all_healed,
    hushed,
    hushed,
    hushed,
    kept,
    lost,
    pod_deleted,
)
"""Single writes fail, and all reads succeed."""


def clique(name: str, replicas: int = 1, least: int = 1) -> Json:
    """Of a template."""
    pod = {"containers": [{"name": "main", "image": "x:1"}]}
    return {"name": name, "spec": {"roleName": name, "replicas": replicas, "minAvailable": least, "podSpec": pod}}


def a_set(name: str, random: Random) -> Json:
    """One clique alone, two in a scaling group."""
    size, delay = random.choice((1, 2, 3)), random.choice(_DELAYS)
    group: Json = {"name": "g", "cliqueNames": ["x", "y"], "replicas": size, "minAvailable": random.randint(1, size)}
    own = {"terminationDelay": f"{delay // 2}s"} if random.random() < 0.3 else {}
    template = {
        "terminationDelay": f"{delay}s",
        "cliques": [clique("a", random.choice((1, 2)), 1), clique("x", 1, 1), clique("y", 2, random.choice((1, 2)))],
        "podCliqueScalingGroups": [{**group, **own}],
    }
    return set_of(name, template, random.choice((1, 2)))


def set_of(name: str, template: Json, replicas: int = 1) -> Json:
    """A set of this template."""
    spec = {"replicas": replicas, "template": template}
    meta = {"name": name, "namespace": NAMESPACE}
    return {"apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet", "metadata": meta, "spec": spec}


def random_run(seed: int, choice: tuple[Happens, ...], rules: str = "design") -> OperatorRun:
    """A whole life.

    Args:
        seed: of all chance.
        choice: of what happens.
        rules: by which the operator judges.
    """
    return run_in_virtual_time(_live(OperatorRun(seed, rules), choice))


async def _live(run: OperatorRun, choice: tuple[Happens, ...]) -> OperatorRun:
    run.judges = choice is not CHANGES
    if choice is FAIR:
        run.recoveries = 0
        run.health.expect_no_faults()
    roots = ("one", "two")[: run.random.choice((1, 2))]
    async with run.api_server.listening() as server, asyncio.TaskGroup() as others:
        kubelet, watch = others.create_task(run.kubelet.run()), others.create_task(run.watch())
        for root in roots:
            run.store.create(Address("PodCliqueSet", NAMESPACE, root), a_set(root, run.random))
        run.begin(server)
        await asyncio.sleep(_SETTLED)
        for _ in range(_STEPS):
            await _happens(run, server, choice, roots)
        await _rests(run, roots)
        await run.end()
        kubelet.cancel()
        watch.cancel()
    lines = [json.loads(line) for line in run.log.getvalue().splitlines()]
    reported = (line["error"] for line in lines if line["msg"] == "round failed")
    run.faults += {words for words in reported if words.startswith(("internal error", "broken invariant"))}
    return run


async def _happens(run: OperatorRun, server: str, choice: tuple[Happens, ...], roots: tuple[str, ...]) -> None:
    run.look_after()
    cliques = run.cliques()
    if choice is not FAIR and run.random.random() < 0.1:
        await restarted(run, server)
    elif cliques:
        what, clique = run.random.choice(choice), run.random.choice(cliques)
        took = what(run, clique, run.random.choice(roots))
        if took is not None:
            await took
    await asyncio.sleep(run.random.choice(_PAUSES if choice is not FAIR else _SHORT_PAUSES))


async def _rests(run: OperatorRun, roots: tuple[str, ...]) -> None:
    """The weather is fair and pods are as they are made, but for those of a clique that is to end for it."""
    run.fault_rates.clear_up()
    run.recoveries, run.kubelet.sick = 0, set()
    drop_finalizers(run, {}, "")
    await asyncio.sleep(_LONG)
    cliques = run.cliques()
    doomed = [clique for clique in cliques if run.random.random() < 0.2] or cliques[:1]
    run.kubelet.sick = {pod["metadata"]["uid"] for clique in doomed for pod in run.pods_of(clique)}
    await asyncio.sleep(_LONG)
    run.look_after()
    asked = run.api_server.requests
    await asyncio.sleep(_REST)
    if run.api_server.requests - asked > _FEW:
        run.fault(f"{run.api_server.requests - asked} requests in {_REST} seconds of rest")
    there = {clique["metadata"]["uid"] for clique in run.store.of("PodClique")}
    for clique in doomed:
        if clique["metadata"]["uid"] in there:
            run.fault(f"{clique['metadata']['name']} is still there")
    _whole(run, roots)


def _whole(run: OperatorRun, roots: tuple[str, ...]) -> None:
    """Everything is there, once, and ready."""
    for pod in run.store.of("Pod"):
        if not is_ready(pod):
            run.fault(f"{pod['metadata']['name']} is not ready")
    for root in roots:
        raw = run.store.get(Address("PodCliqueSet", NAMESPACE, root))
        a, x, y = (one["spec"]["replicas"] for one in raw["spec"]["template"]["cliques"])
        groups = sum(group["spec"]["replicas"] for group in run.groups_of(root))
        wanted = a * raw["spec"]["replicas"] + groups * (x + y)
        found = sum(len(run.pods_of(one)) for one in run.cliques() if one["metadata"]["name"].startswith(f"{root}-"))
        if found != wanted:
            run.fault(f"{root} has {found} pods, and wants {wanted}")
        available = raw.get("status", {}).get("availableReplicas")
        if available != raw["spec"]["replicas"]:
            run.fault(f"{root} says that {available} replicas are available")
