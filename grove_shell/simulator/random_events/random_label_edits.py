"""Random edits of labels by hand."""

from random import Random
from typing import Final

from grove_core.resources.api_names import BASE_GANG, MNNVL_MANAGED, POD_GANG
from grove_core.resources.labels import CLIQUE, GROUP, GROUP_REPLICA, SET, SET_REPLICA
from grove_core.resources.owned_object import CLAIM_KIND
from grove_shell.simulator.random_events.targets import Targets
from grove_shell.simulator.scenario.events import Event
from grove_shell.simulator.scenario.fault_events import EditLabels

_LABEL_GROUPS: Final = (
    *(label.keys for label in (SET, SET_REPLICA, GROUP, GROUP_REPLICA, CLIQUE)),
    (POD_GANG,),
    (BASE_GANG,),
)
_CLAIM_PROBABILITY: Final = 0.3
_MOST_EDITS: Final = 3
_INDICES: Final = ("0", "1", "7")


def edited_labels(rng: Random, targets: Targets, horizon: int) -> list[Event]:
    """Return edits of labels that assign a PodClique to a set, group or gang, or that mark a claim as shared."""
    events: list[Event] = []
    for _ in range(rng.randint(1, _MOST_EDITS) if targets.cliques else 0):
        at = rng.randrange(0, horizon, 100)
        if targets.claims and rng.random() < _CLAIM_PROBABILITY:
            name, labels = rng.choice(targets.claims), {MNNVL_MANAGED: rng.choice((None, "false"))}
            events.append(Event(at=at, edit_labels=EditLabels(kind=CLAIM_KIND, name=name, labels=labels)))
            continue
        sets = [str(manifest["metadata"]["name"]) for manifest in targets.sets]
        gangs = [f"{name}-{index}" for name in sets for index in _INDICES]
        text = rng.choice((None, *_INDICES, *sets, *gangs, rng.choice(targets.cliques)))
        name, labels = rng.choice(targets.cliques), dict.fromkeys(rng.choice(_LABEL_GROUPS), text)
        events.append(Event(at=at, edit_labels=EditLabels(kind="PodClique", name=name, labels=labels)))
    return events
