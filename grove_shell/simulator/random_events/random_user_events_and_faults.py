"""Random events of users, autoscalers, pods and nodes, random faults, and random edits of labels by hand."""

from collections.abc import Callable, Mapping
from random import Random
from typing import Final

from grove_core.resources.api_names import BASE_GANG, CLAIM_KIND, MNNVL_MANAGED, POD_GANG
from grove_core.resources.labels import CLIQUE, GROUP, GROUP_REPLICA, SET, SET_REPLICA
from grove_core.resources.object_metadata import metadata_in
from grove_shell.simulator.random_events.random_event_targets import (
    Draw,
    RandomEventTargets,
    random_duration,
    random_pod_choice,
)
from grove_shell.simulator.scenario import fault_events as faults
from grove_shell.simulator.scenario.scenario_events import (
    ApplySetScenarioEvent,
    AutoscaleScenarioEvent,
    CrashPodScenarioEvent,
    NodeByNameOrPod,
    PodCliqueSetByName,
    ScaleScenarioEvent,
    ScenarioEvent,
)
from grove_shell.simulator.scenario.scenario_field_types import Kind, ScenarioPart
from grove_shell.simulator.virtual_time import MINUTE, SECOND


def random_clique_crashes(rng: Random, targets: RandomEventTargets, horizon: int) -> list[ScenarioEvent]:
    """Return crashes of a PodClique that last long enough for gang termination."""
    at, clique = rng.randrange(15 * SECOND, 15 * SECOND + horizon, 100), rng.choice(targets.cliques)
    pods = (
        CrashPodScenarioEvent(clique=clique, index=index, recovers=10 * MINUTE) for index in range(rng.randint(1, 3))
    )
    return [ScenarioEvent(at=at, crash_pod=pod) for pod in pods]


def _crash_pod(rng: Random, targets: RandomEventTargets, at: int) -> list[ScenarioEvent]:
    pod = random_pod_choice(rng, targets)
    recovers = rng.choice((10 * SECOND, 2 * MINUTE, 10 * MINUTE))
    return [
        ScenarioEvent(at=at, crash_pod=CrashPodScenarioEvent(clique=pod.clique, index=pod.index, recovers=recovers))
    ]


def _lose_node(rng: Random, targets: RandomEventTargets, at: int) -> list[ScenarioEvent]:
    if not targets.nodes:
        return []
    node = NodeByNameOrPod(node=rng.choice(targets.nodes))
    back = at + rng.choice((20 * SECOND, 2 * MINUTE, 8 * MINUTE))
    end = ScenarioEvent(at=back, restore_node=node) if rng.random() < 0.8 else ScenarioEvent(at=back, remove_node=node)  # noqa: PLR2004 - arbitrary
    return [ScenarioEvent(at=at, lose_node=node), end]


def _cordon(rng: Random, targets: RandomEventTargets, at: int) -> list[ScenarioEvent]:
    if not targets.nodes:
        return []
    node = NodeByNameOrPod(node=rng.choice(targets.nodes))
    return [ScenarioEvent(at=at, cordon=node), ScenarioEvent(at=at + random_duration(rng, 3 * MINUTE), uncordon=node)]


def random_scale_events(rng: Random, targets: RandomEventTargets, at: int) -> list[ScenarioEvent]:
    """Return a change of the replicas of a scaling group or a set."""
    if targets.groups and rng.random() < 0.5:  # noqa: PLR2004 - a coin
        name, least = rng.choice(targets.groups)  # fewer than the minimum is a breach that the user asks for
        scale = ScaleScenarioEvent(kind="PodCliqueScalingGroup", name=name, replicas=rng.randint(least, max(least, 3)))
    else:
        name = metadata_in(rng.choice(targets.sets)).name
        scale = ScaleScenarioEvent(kind="PodCliqueSet", name=name, replicas=rng.randint(0, 2))
    return [ScenarioEvent(at=at, scale=scale)]


def _autoscale(rng: Random, targets: RandomEventTargets, at: int) -> list[ScenarioEvent]:
    if not targets.scalers:
        return []
    return [
        ScenarioEvent(
            at=at, autoscale=AutoscaleScenarioEvent(name=rng.choice(targets.scalers), replicas=rng.randint(0, 5))
        )
    ]


def _update(rng: Random, targets: RandomEventTargets, at: int) -> list[ScenarioEvent]:
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
    return [ScenarioEvent(at=at, apply_set=ApplySetScenarioEvent(manifest=changed))]


def _delete_set(rng: Random, targets: RandomEventTargets, at: int) -> list[ScenarioEvent]:
    manifest = rng.choice(targets.sets)
    gone = ScenarioEvent(at=at, delete_set=PodCliqueSetByName(name=metadata_in(manifest).name))
    if rng.random() < 0.5:  # noqa: PLR2004 - a coin
        return [gone]
    return [
        gone,
        ScenarioEvent(at=at + random_duration(rng, MINUTE), apply_set=ApplySetScenarioEvent(manifest=dict(manifest))),
    ]


USER_DRAWS: Final[Mapping[str, Draw]] = {
    "delete_pod": lambda rng, targets, at: [ScenarioEvent(at=at, delete_pod=random_pod_choice(rng, targets))],
    "fail_pod": lambda rng, targets, at: [ScenarioEvent(at=at, fail_pod=random_pod_choice(rng, targets))],
    "crash_pod": _crash_pod,
    "lose_node": _lose_node,
    "cordon": _cordon,
    "scale": random_scale_events,
    "autoscale": _autoscale,
    "apply_set": _update,
    "delete_set": _delete_set,
}


_DOWN: Final = (100, 5 * SECOND, 90 * SECOND)


def _gate_foreign(rng: Random, targets: RandomEventTargets) -> faults.ForeignSchedulingGateFault:
    pod = random_pod_choice(rng, targets)
    return faults.ForeignSchedulingGateFault(clique=pod.clique, index=pod.index, span=random_duration(rng, MINUTE))


def _jump_clock(rng: Random, _: RandomEventTargets) -> faults.JumpClockFault:
    jump = rng.choice((2 * SECOND, 30 * SECOND, 5 * MINUTE))
    ahead, back = (jump, 0) if rng.random() < 0.5 else (0, jump)  # noqa: PLR2004 - a coin
    return faults.JumpClockFault(ahead=ahead, back=back, span=random_duration(rng, 2 * MINUTE))


def _lag_cache(rng: Random, targets: RandomEventTargets) -> faults.LagCacheFault:
    kinds: tuple[Kind, ...] = tuple(rng.sample(targets.kinds, rng.randint(1, 3)))
    return faults.LagCacheFault(kinds=kinds, span=random_duration(rng, MINUTE))


_FAULTS: Final[Mapping[str, Callable[[Random, RandomEventTargets], ScenarioPart]]] = {
    "crash_operator": lambda rng, _: faults.CrashOperatorFault(
        write=rng.randrange(20),
        committed=rng.random() < 0.5,  # noqa: PLR2004 - a coin
        down=rng.choice(_DOWN),
        times=rng.choice((1, 1, 2)),
    ),
    "lag_cache": _lag_cache,
    # of the present: an operator never accepts an older list than it has seen (RS9)
    "relist": lambda _, __: faults.RelistFault(),
    "touch": lambda rng, targets: faults.TouchFault(kind=rng.choice(targets.kinds), writes=rng.randint(1, 5)),
    "lose_answers": lambda rng, _: faults.LoseAnswersFault(writes=rng.randint(1, 10)),
    "refuse_writes": lambda rng, targets: faults.RefuseWritesFault(
        code=rng.choice((403, 422, 429, 503)), kind=rng.choice((None, *targets.kinds)), writes=rng.randint(1, 8)
    ),
    "slow_answers": lambda rng, _: faults.SlowAnswersFault(
        delay=rng.choice((200, 2 * SECOND, 10 * SECOND)), span=random_duration(rng, MINUTE)
    ),
    "change_hashes": lambda rng, _: faults.ChangeHashesFault(down=rng.choice(_DOWN)),
    "second_leader": lambda rng, _: faults.SecondLeaderFault(
        span=random_duration(rng, 30 * SECOND), every=rng.choice((1000, 3000))
    ),
    "jump_clock": _jump_clock,
    "hold_foreign": lambda rng, targets: faults.ForeignFinalizerFault(
        kind="PodClique", name=rng.choice(targets.cliques), span=random_duration(rng, MINUTE)
    ),
    "gate_foreign": _gate_foreign,
    "edit_status": lambda rng, targets: faults.EditStatusFault(clique=rng.choice(targets.cliques)),
    "remove_labels": lambda rng, targets: faults.RemoveLabelsFault(clique=rng.choice(targets.cliques)),
    "permute_lists": lambda rng, _: faults.PermuteListsFault(
        span=random_duration(rng, MINUTE), seed=rng.randrange(1000)
    ),
}


def _draw_of(kind: str) -> Draw:
    make = _FAULTS[kind]

    def draw(rng: Random, targets: RandomEventTargets, at: int) -> list[ScenarioEvent]:
        moment = at % (5 * SECOND) if kind == "gate_foreign" else at  # a gate has an effect before pods are placed
        return [ScenarioEvent.model_validate({"at": moment, kind: make(rng, targets)})]

    return draw


FAULT_DRAWS: Final[Mapping[str, Draw]] = {kind: _draw_of(kind) for kind in _FAULTS}

_LABEL_GROUPS: Final = (
    *(label.keys for label in (SET, SET_REPLICA, GROUP, GROUP_REPLICA, CLIQUE)),
    (POD_GANG,),
    (BASE_GANG,),
)
_CLAIM_PROBABILITY: Final = 0.3
_MOST_EDITS: Final = 3
_INDICES: Final = ("0", "1", "7")


def random_label_edits(rng: Random, targets: RandomEventTargets, horizon: int) -> list[ScenarioEvent]:
    """Return edits of labels that assign a PodClique to a set, group or gang, or that mark a claim as shared."""
    events: list[ScenarioEvent] = []
    for _ in range(rng.randint(1, _MOST_EDITS) if targets.cliques else 0):
        at = rng.randrange(0, horizon, 100)
        if targets.claims and rng.random() < _CLAIM_PROBABILITY:
            name, labels = rng.choice(targets.claims), {MNNVL_MANAGED: rng.choice((None, "false"))}
            events.append(
                ScenarioEvent(at=at, edit_labels=faults.EditLabelsFault(kind=CLAIM_KIND, name=name, labels=labels))
            )
            continue
        sets = [metadata_in(manifest).name for manifest in targets.sets]
        gangs = [f"{name}-{index}" for name in sets for index in _INDICES]
        text = rng.choice((None, *_INDICES, *sets, *gangs, rng.choice(targets.cliques)))
        name, labels = rng.choice(targets.cliques), dict.fromkeys(rng.choice(_LABEL_GROUPS), text)
        events.append(
            ScenarioEvent(at=at, edit_labels=faults.EditLabelsFault(kind="PodClique", name=name, labels=labels))
        )
    return events
