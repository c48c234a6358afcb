"""Random events of users, autoscalers, pods and nodes."""

from collections.abc import Mapping
from random import Random
from typing import Final

from grove_shell.simulator.random_events.random_event_targets import (
    Draw,
    RandomEventTargets,
    random_duration,
    random_pod_choice,
)
from grove_shell.simulator.scenario.scenario_events import (
    ApplySet,
    Autoscale,
    CrashPod,
    Event,
    NodeByNameOrPod,
    Scale,
    SetByName,
)
from grove_shell.simulator.virtual_time import MINUTE, SECOND


def random_clique_crashes(rng: Random, targets: RandomEventTargets, horizon: int) -> list[Event]:
    """Return crashes of a PodClique that last long enough for gang termination."""
    at, clique = rng.randrange(15 * SECOND, 15 * SECOND + horizon, 100), rng.choice(targets.cliques)
    pods = (CrashPod(clique=clique, index=index, recovers=10 * MINUTE) for index in range(rng.randint(1, 3)))
    return [Event(at=at, crash_pod=pod) for pod in pods]


def _crash_pod(rng: Random, targets: RandomEventTargets, at: int) -> list[Event]:
    pod = random_pod_choice(rng, targets)
    recovers = rng.choice((10 * SECOND, 2 * MINUTE, 10 * MINUTE))
    return [Event(at=at, crash_pod=CrashPod(clique=pod.clique, index=pod.index, recovers=recovers))]


def _lose_node(rng: Random, targets: RandomEventTargets, at: int) -> list[Event]:
    if not targets.nodes:
        return []
    node = NodeByNameOrPod(node=rng.choice(targets.nodes))
    back = at + rng.choice((20 * SECOND, 2 * MINUTE, 8 * MINUTE))
    end = Event(at=back, restore_node=node) if rng.random() < 0.8 else Event(at=back, remove_node=node)  # noqa: PLR2004 - arbitrary
    return [Event(at=at, lose_node=node), end]


def _cordon(rng: Random, targets: RandomEventTargets, at: int) -> list[Event]:
    if not targets.nodes:
        return []
    node = NodeByNameOrPod(node=rng.choice(targets.nodes))
    return [Event(at=at, cordon=node), Event(at=at + random_duration(rng, 3 * MINUTE), uncordon=node)]


def random_scale_events(rng: Random, targets: RandomEventTargets, at: int) -> list[Event]:
    """Return a change of the replicas of a scaling group or a set."""
    if targets.groups and rng.random() < 0.5:  # noqa: PLR2004 - a coin
        name, least = rng.choice(targets.groups)  # fewer than the minimum is a breach that the user asks for
        scale = Scale(kind="PodCliqueScalingGroup", name=name, replicas=rng.randint(least, max(least, 3)))
    else:
        name = rng.choice(targets.sets)["metadata"]["name"]
        scale = Scale(kind="PodCliqueSet", name=name, replicas=rng.randint(0, 2))
    return [Event(at=at, scale=scale)]


def _autoscale(rng: Random, targets: RandomEventTargets, at: int) -> list[Event]:
    if not targets.scalers:
        return []
    return [Event(at=at, autoscale=Autoscale(name=rng.choice(targets.scalers), replicas=rng.randint(0, 5)))]


def _update(rng: Random, targets: RandomEventTargets, at: int) -> list[Event]:
    """Return an update of a set: another image for one clique."""
    manifest = dict(rng.choice(targets.sets))
    template = dict(manifest["spec"]["template"])
    cliques = [dict(clique) for clique in template["cliques"]]
    place = rng.randrange(len(cliques))
    spec = dict(cliques[place]["spec"])
    pod_spec = dict(spec["podSpec"])
    image = f"example.com/engine:{rng.randint(2, 4)}"
    pod_spec["containers"] = [{**container, "image": image} for container in pod_spec["containers"]]
    cliques[place]["spec"] = {**spec, "podSpec": pod_spec}
    template["cliques"] = cliques
    changed = {**manifest, "spec": {**manifest["spec"], "template": template}}
    return [Event(at=at, apply_set=ApplySet(manifest=changed))]


def _delete_set(rng: Random, targets: RandomEventTargets, at: int) -> list[Event]:
    manifest = rng.choice(targets.sets)
    gone = Event(at=at, delete_set=SetByName(name=manifest["metadata"]["name"]))
    if rng.random() < 0.5:  # noqa: PLR2004 - a coin
        return [gone]
    return [gone, Event(at=at + random_duration(rng, MINUTE), apply_set=ApplySet(manifest=dict(manifest)))]


USER_DRAWS: Final[Mapping[str, Draw]] = {
    "delete_pod": lambda rng, targets, at: [Event(at=at, delete_pod=random_pod_choice(rng, targets))],
    "fail_pod": lambda rng, targets, at: [Event(at=at, fail_pod=random_pod_choice(rng, targets))],
    "crash_pod": _crash_pod,
    "lose_node": _lose_node,
    "cordon": _cordon,
    "scale": random_scale_events,
    "autoscale": _autoscale,
    "apply_set": _update,
    "delete_set": _delete_set,
}
