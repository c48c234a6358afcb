"""Random faults of the operator, of its caches and of the API server, and random edits of labels by hand."""

from collections.abc import Callable, Mapping
from random import Random
from typing import Final

from grove_core.resources.api_names import BASE_GANG, MNNVL_MANAGED, POD_GANG
from grove_core.resources.labels import CLIQUE, GROUP, GROUP_REPLICA, SET, SET_REPLICA
from grove_core.resources.owned_object import CLAIM_KIND
from grove_shell.simulator.random_events.random_event_targets import (
    Draw,
    RandomEventTargets,
    random_duration,
    random_pod_choice,
)
from grove_shell.simulator.scenario import fault_events as faults
from grove_shell.simulator.scenario.scenario_events import Event
from grove_shell.simulator.scenario.scenario_field_types import Kind, ScenarioPart
from grove_shell.simulator.virtual_time import MINUTE, SECOND

_DOWN: Final = (100, 5 * SECOND, 90 * SECOND)


def _gate_foreign(rng: Random, targets: RandomEventTargets) -> faults.GateForeign:
    pod = random_pod_choice(rng, targets)
    return faults.GateForeign(clique=pod.clique, index=pod.index, span=random_duration(rng, MINUTE))


def _jump_clock(rng: Random, _: RandomEventTargets) -> faults.JumpClock:
    jump = rng.choice((2 * SECOND, 30 * SECOND, 5 * MINUTE))
    ahead, back = (jump, 0) if rng.random() < 0.5 else (0, jump)  # noqa: PLR2004 - a coin
    return faults.JumpClock(ahead=ahead, back=back, span=random_duration(rng, 2 * MINUTE))


def _lag_cache(rng: Random, targets: RandomEventTargets) -> faults.LagCache:
    kinds: tuple[Kind, ...] = tuple(rng.sample(targets.kinds, rng.randint(1, 3)))
    return faults.LagCache(kinds=kinds, span=random_duration(rng, MINUTE))


_FAULTS: Final[Mapping[str, Callable[[Random, RandomEventTargets], ScenarioPart]]] = {
    "crash_operator": lambda rng, _: faults.CrashOperator(
        write=rng.randrange(20),
        committed=rng.random() < 0.5,  # noqa: PLR2004 - a coin
        down=rng.choice(_DOWN),
        times=rng.choice((1, 1, 2)),
    ),
    "lag_cache": _lag_cache,
    # of the present: an operator never accepts an older list than it has seen (RS9)
    "relist": lambda _, __: faults.Relist(),
    "touch": lambda rng, targets: faults.Touch(kind=rng.choice(targets.kinds), writes=rng.randint(1, 5)),
    "lose_answers": lambda rng, _: faults.LoseAnswers(writes=rng.randint(1, 10)),
    "refuse_writes": lambda rng, targets: faults.RefuseWrites(
        code=rng.choice((403, 422, 429, 503)), kind=rng.choice((None, *targets.kinds)), writes=rng.randint(1, 8)
    ),
    "slow_answers": lambda rng, _: faults.SlowAnswers(
        delay=rng.choice((200, 2 * SECOND, 10 * SECOND)), span=random_duration(rng, MINUTE)
    ),
    "change_hashes": lambda rng, _: faults.ChangeHashes(down=rng.choice(_DOWN)),
    "second_leader": lambda rng, _: faults.SecondLeader(
        span=random_duration(rng, 30 * SECOND), every=rng.choice((1000, 3000))
    ),
    "jump_clock": _jump_clock,
    "hold_foreign": lambda rng, targets: faults.HoldForeign(
        kind="PodClique", name=rng.choice(targets.cliques), span=random_duration(rng, MINUTE)
    ),
    "gate_foreign": _gate_foreign,
    "edit_status": lambda rng, targets: faults.EditStatus(clique=rng.choice(targets.cliques)),
    "remove_labels": lambda rng, targets: faults.RemoveLabels(clique=rng.choice(targets.cliques)),
    "permute_lists": lambda rng, _: faults.PermuteLists(span=random_duration(rng, MINUTE), seed=rng.randrange(1000)),
}


def _draw_of(kind: str) -> Draw:
    make = _FAULTS[kind]

    def draw(rng: Random, targets: RandomEventTargets, at: int) -> list[Event]:
        moment = at % (5 * SECOND) if kind == "gate_foreign" else at  # a gate has an effect before pods are placed
        return [Event.model_validate({"at": moment, kind: make(rng, targets)})]

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


def random_label_edits(rng: Random, targets: RandomEventTargets, horizon: int) -> list[Event]:
    """Return edits of labels that assign a PodClique to a set, group or gang, or that mark a claim as shared."""
    events: list[Event] = []
    for _ in range(rng.randint(1, _MOST_EDITS) if targets.cliques else 0):
        at = rng.randrange(0, horizon, 100)
        if targets.claims and rng.random() < _CLAIM_PROBABILITY:
            name, labels = rng.choice(targets.claims), {MNNVL_MANAGED: rng.choice((None, "false"))}
            events.append(Event(at=at, edit_labels=faults.EditLabels(kind=CLAIM_KIND, name=name, labels=labels)))
            continue
        sets = [str(manifest["metadata"]["name"]) for manifest in targets.sets]
        gangs = [f"{name}-{index}" for name in sets for index in _INDICES]
        text = rng.choice((None, *_INDICES, *sets, *gangs, rng.choice(targets.cliques)))
        name, labels = rng.choice(targets.cliques), dict.fromkeys(rng.choice(_LABEL_GROUPS), text)
        events.append(Event(at=at, edit_labels=faults.EditLabels(kind="PodClique", name=name, labels=labels)))
    return events
