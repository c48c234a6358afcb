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


def sick(life: OperatorRun, clique: Json, _root: str) -> None:
    life.kubelet.sick |= {pod["metadata"]["uid"] for pod in life.pods_of(clique) if life.chance.random() < 0.8}


def healed(life: OperatorRun, _clique: Json, _root: str) -> None:
    life.kubelet.sick = {uid for uid in sorted(life.kubelet.sick) if life.chance.random() < 0.4}


def all_sick(life: OperatorRun, clique: Json, _root: str) -> None:
    life.kubelet.sick |= {pod["metadata"]["uid"] for pod in life.pods_of(clique)}


def all_healed(life: OperatorRun, _clique: Json, _root: str) -> None:
    life.kubelet.sick = set()


def error_rate_changes(life: OperatorRun, _clique: Json, _root: str) -> None:
    life.climate.bad = life.chance.choice((0, 0, 0.05, 0.3, 0.7))


def delay_changes(life: OperatorRun, _clique: Json, _root: str) -> None:
    life.climate.hesitates = life.chance.choice((0, 0.9))


def cuts(life: OperatorRun, _clique: Json, _root: str) -> None:
    life.climate.cuts = life.chance.choice((0, 0, 0.1))


def denied(life: OperatorRun, _clique: Json, _root: str) -> None:
    life.climate.denied = life.chance.choice(("", "DELETE", "POST"))


def kept(life: OperatorRun, clique: Json, _root: str) -> None:
    """One may not be deleted for a while, or what tells of an end not be written."""
    climate = life.climate
    climate.kept, climate.kept_by = clique["metadata"]["name"], life.chance.choice(_CODES)
    climate.kept_for, climate.untold = life.chance.choice(((0, 0), (0, 0), (1, 0), (9, 0), (_ALWAYS, 0), (0, 3)))


def lost(life: OperatorRun, clique: Json, _root: str) -> None:
    """Its deletion is done, and nobody hears of it."""
    life.climate.lost = clique["metadata"]["name"]


def mute(life: OperatorRun, clique: Json, _root: str) -> None:
    """Its status, or that of its scaling group, is not written for a while."""
    climate, name = life.climate, clique["metadata"]["name"]
    climate.mute = life.chance.choice(("", name, name, clique["metadata"]["labels"].get(GROUP.primary, name)))
    climate.muted_by, climate.muted_for = life.chance.choice(_CODES), life.chance.choice((1, 2, 5, _ALWAYS))


def hushed(life: OperatorRun, clique: Json, root: str) -> None:
    """It is about somebody who is sick just now, where there is one."""
    sick = [
        one for one in life.cliques() if any(pod["metadata"]["uid"] in life.kubelet.sick for pod in life.pods_of(one))
    ]
    mute(life, life.chance.choice(sick or [clique]), root)


def fixed(life: OperatorRun, clique: Json, _root: str) -> None:
    """Nothing but its status is written for a while."""
    life.climate.fixed = life.chance.choice(("", clique["metadata"]["name"]))


def pod_deleted(life: OperatorRun, clique: Json, _root: str) -> None:
    for pod in life.pods_of(clique)[:1]:
        life.store.delete(Address("Pod", NAMESPACE, pod["metadata"]["name"]), {})


def clique_deleted(life: OperatorRun, clique: Json, _root: str) -> None:
    life.store.delete(Address("PodClique", NAMESPACE, clique["metadata"]["name"]), {})


def held(life: OperatorRun, clique: Json, _root: str) -> None:
    """By a finalizer of somebody else, so that it lingers when it ends."""
    address = Address("PodClique", NAMESPACE, clique["metadata"]["name"])
    life.store.change(address, lambda raw: raw["metadata"].setdefault("finalizers", []).append(_HOLD))


def let_go(life: OperatorRun, _clique: Json, _root: str) -> None:
    for raw in life.store.of("PodClique", NAMESPACE):
        if _HOLD in raw["metadata"].get("finalizers", []):
            kept = [one for one in raw["metadata"]["finalizers"] if one != _HOLD]
            address = Address("PodClique", NAMESPACE, raw["metadata"]["name"])
            life.store.change(address, lambda found, kept=kept: found["metadata"].update(finalizers=kept))  # type: ignore[misc]  # mypy infers no type for a default of a lambda


def label_lost(life: OperatorRun, clique: Json, _root: str) -> None:
    for pod in life.pods_of(clique)[:1]:
        address = Address("Pod", NAMESPACE, pod["metadata"]["name"])
        life.store.change(address, lambda raw: raw["metadata"]["labels"].pop(MANAGED_BY, None))


async def restarted(life: OperatorRun, server: str) -> None:
    await (life.kill() if life.chance.random() < 0.5 else life.end())
    life.begin(server)


def scaled(life: OperatorRun, _clique: Json, root: str) -> None:
    wanted = life.chance.choice((1, 2, 3))
    life.store.change(Address("PodCliqueSet", NAMESPACE, root), lambda raw: raw["spec"].update(replicas=wanted))


def group_scaled(life: OperatorRun, _clique: Json, root: str) -> None:
    for group in life.groups_of(root)[:1]:
        wanted = {"replicas": max(group["spec"]["minAvailable"], life.chance.choice((1, 2, 3)))}
        life.store.patch(Address(group["kind"], NAMESPACE, group["metadata"]["name"]), {"spec": wanted})


def updated(life: OperatorRun, _clique: Json, root: str) -> None:
    which, image = life.chance.randrange(3), f"x:{life.chance.randrange(100)}"

    def change(raw: Json) -> None:
        raw["spec"]["template"]["cliques"][which]["spec"]["podSpec"]["containers"][0]["image"] = image

    life.store.change(Address("PodCliqueSet", NAMESPACE, root), change)


async def replaced(life: OperatorRun, _clique: Json, root: str) -> None:
    """Deleted, and made anew as soon as it is gone, however bad the weather; nobody forbids for ever that it goes."""
    address, climate = Address("PodCliqueSet", NAMESPACE, root), life.climate
    let_go(life, {}, "")
    climate.denied = climate.kept = climate.fixed = ""
    life.store.delete(address, {}, foreground=life.chance.random() < 0.5)
    for _ in range(_LONG):
        await asyncio.sleep(1)
        if address not in life.store.there:
            break
    life.store.create(address, a_set(root, life.chance))


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
SELDOM: Final[tuple[Happens, ...]] = (*OFTEN, *OFTEN, clique_deleted, denied, held, held, let_go, lost, fixed)
CHANGES: Final[tuple[Happens, ...]] = (*SELDOM, scaled, scaled, group_scaled, group_scaled, updated, updated, replaced)
UNSEEN: Final[tuple[Happens, ...]] = (*SELDOM, *(8 * (label_lost, pod_deleted)))
"""Pods go out of sight, many of which have names that depend on who was there before."""
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
"""Single writes fail, and nobody knows less than there is to know."""


def clique(name: str, replicas: int = 1, least: int = 1) -> Json:
    """Of a template."""
    pod = {"containers": [{"name": "main", "image": "x:1"}]}
    return {"name": name, "spec": {"roleName": name, "replicas": replicas, "minAvailable": least, "podSpec": pod}}


def a_set(name: str, chance: Random) -> Json:
    """One clique alone, two in a scaling group."""
    size, delay = chance.choice((1, 2, 3)), chance.choice(_DELAYS)
    group: Json = {"name": "g", "cliqueNames": ["x", "y"], "replicas": size, "minAvailable": chance.randint(1, size)}
    own = {"terminationDelay": f"{delay // 2}s"} if chance.random() < 0.3 else {}
    template = {
        "terminationDelay": f"{delay}s",
        "cliques": [clique("a", chance.choice((1, 2)), 1), clique("x", 1, 1), clique("y", 2, chance.choice((1, 2)))],
        "podCliqueScalingGroups": [{**group, **own}],
    }
    return set_of(name, template, chance.choice((1, 2)))


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


async def _live(life: OperatorRun, choice: tuple[Happens, ...]) -> OperatorRun:
    life.judges = choice is not CHANGES
    if choice is FAIR:
        life.recoveries = 0
        life.courses.expect_fair_weather()
    roots = ("one", "two")[: life.chance.choice((1, 2))]
    async with life.serving.listening() as server, asyncio.TaskGroup() as others:
        kubelet, watch = others.create_task(life.kubelet.run()), others.create_task(life.watch())
        for root in roots:
            life.store.create(Address("PodCliqueSet", NAMESPACE, root), a_set(root, life.chance))
        life.begin(server)
        await asyncio.sleep(_SETTLED)
        for _ in range(_STEPS):
            await _happens(life, server, choice, roots)
        await _rests(life, roots)
        await life.end()
        kubelet.cancel()
        watch.cancel()
    lines = [json.loads(line) for line in life.log.getvalue().splitlines()]
    told = (line["error"] for line in lines if line["msg"] == "round failed")
    life.faults += {words for words in told if words.startswith(("internal error", "broken invariant"))}
    return life


async def _happens(life: OperatorRun, server: str, choice: tuple[Happens, ...], roots: tuple[str, ...]) -> None:
    life.look_after()
    cliques = life.cliques()
    if choice is not FAIR and life.chance.random() < 0.1:
        await restarted(life, server)
    elif cliques:
        what, clique = life.chance.choice(choice), life.chance.choice(cliques)
        took = what(life, clique, life.chance.choice(roots))
        if took is not None:
            await took
    await asyncio.sleep(life.chance.choice(_PAUSES if choice is not FAIR else _SHORT_PAUSES))


async def _rests(life: OperatorRun, roots: tuple[str, ...]) -> None:
    """The weather is fair and pods are as they are made, but for those of a clique that is to end for it."""
    life.climate.clear_up()
    life.recoveries, life.kubelet.sick = 0, set()
    let_go(life, {}, "")
    await asyncio.sleep(_LONG)
    cliques = life.cliques()
    doomed = [clique for clique in cliques if life.chance.random() < 0.2] or cliques[:1]
    life.kubelet.sick = {pod["metadata"]["uid"] for clique in doomed for pod in life.pods_of(clique)}
    await asyncio.sleep(_LONG)
    life.look_after()
    asked = life.serving.requests
    await asyncio.sleep(_REST)
    if life.serving.requests - asked > _FEW:
        life.fault(f"{life.serving.requests - asked} requests in {_REST} seconds of rest")
    there = {clique["metadata"]["uid"] for clique in life.store.of("PodClique")}
    for clique in doomed:
        if clique["metadata"]["uid"] in there:
            life.fault(f"{clique['metadata']['name']} is still there")
    _whole(life, roots)


def _whole(life: OperatorRun, roots: tuple[str, ...]) -> None:
    """Everything is there, once, and ready."""
    for pod in life.store.of("Pod"):
        if not is_ready(pod):
            life.fault(f"{pod['metadata']['name']} is not ready")
    for root in roots:
        raw = life.store.get(Address("PodCliqueSet", NAMESPACE, root))
        a, x, y = (one["spec"]["replicas"] for one in raw["spec"]["template"]["cliques"])
        groups = sum(group["spec"]["replicas"] for group in life.groups_of(root))
        wanted = a * raw["spec"]["replicas"] + groups * (x + y)
        found = sum(len(life.pods_of(one)) for one in life.cliques() if one["metadata"]["name"].startswith(f"{root}-"))
        if found != wanted:
            life.fault(f"{root} has {found} pods, and wants {wanted}")
        available = raw.get("status", {}).get("availableReplicas")
        if available != raw["spec"]["replicas"]:
            life.fault(f"{root} says that {available} replicas are available")
