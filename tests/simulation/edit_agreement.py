"""Draws sets and edits, and compares the forecast of each update with a simulation of it (ED-002, ED-003).

``python -m tests.simulation.edit_agreement --seeds 10000 -j 2`` prints every seed for which they differ.
"""

import argparse
import copy
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from random import Random
from typing import Any

from grove_core.admit import manifest_with_defaults_of
from grove_core.in_memory.update_forecasts import MOST_WORK, forecast_update_of_edit
from grove_core.kernel.frozen import FrozenDict
from grove_core.kernel.structs import replace
from grove_core.plan.serving_parts import available_set_replicas, serving_parts
from grove_core.plan.update_forecast import (
    DeletedPodFate,
    UpdateForecast,
    cliques_with_changed_pods,
)
from grove_core.resources.edited_manifest_fields import manifest_changes
from grove_core.rule_sets.rule_set import RuleSet
from grove_core.rule_sets.rule_set_by_name import rule_set
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.reading.manifest_admission import set_with_manifest_applied
from grove_shell.simulator.cluster.object_change_detector import ObjectChange
from grove_shell.simulator.scenario.scenario import Scenario
from grove_shell.simulator.scenario.scenario_field_types import WRITTEN
from grove_shell.simulator.simulation import Simulation
from grove_shell.simulator.simulation_run import SimulationOptions
from grove_shell.simulator.virtual_time import MINUTE, SECOND
from tests.simulation.sample_sets import clique_raw, scenario_of, set_raw

Json = dict[str, Any]
_EDITED_AT = 10 * MINUTE
_OTHER = "other "
RULE_SETS = ("design", "field", "field@v0.1.0-alpha.11")


@dataclass(frozen=True)
class Outcome:
    """What an update did, or what its forecast says: deleted pods, lowest numbers that serve, and ready pods after.

    Attributes:
        deleted: (PodClique, index) -> how often a pod from before the edit was deleted there.
        lowest: name of a part -> the lowest number that served.
        available: the lowest number of available replicas of the set.
        after: name of a part -> what serves at the end.
    """

    deleted: dict[tuple[str, int], int]
    lowest: dict[str, int]
    available: int
    after: dict[str, int]


class _Watch:
    """Records what serves during a simulation, from the edit on."""

    def __init__(self, simulation: Simulation) -> None:
        self.simulation = simulation
        self.lowest: dict[str, int] = {}
        self.available = sys.maxsize
        self.after: dict[str, int] = {}

    def seen(self) -> Snapshot:
        (root,) = (ref for ref in self.simulation.cluster.server.items if ref.kind == "PodCliqueSet")
        found = self.simulation.cluster.server.snapshot_of_set(root, self.simulation.scenario.spec.start)
        assert found is not None
        return found

    def on_changes(self, _changes: list[ObjectChange]) -> None:
        if self.simulation.queue.now < _EDITED_AT:
            return
        now = self.seen()
        parts = serving_parts(now)
        for one in parts:
            known = self.lowest.get(one.part.name)
            if known is not None:
                self.lowest[one.part.name] = min(known, one.serving)
        self.after = {one.part.name: one.serving for one in parts}
        self.available = min(self.available, available_set_replicas(now, parts))


def drawn_set(dice: Random) -> Json:
    """Draw a set with one to three cliques, and a scaling group in half of the cases."""
    names = "abc"[: dice.randint(1, 3)]
    cliques = []
    for name in names:
        replicas = dice.randint(1, 4)
        cliques.append(clique_raw(name, replicas, dice.randint(1, replicas)))
    groups: tuple[Json, ...] = ()
    if len(names) > 1 and dice.random() < 0.5:
        replicas = dice.randint(1, 3)
        members = [one["name"] for one in cliques[1:]]
        groups = (
            {"name": "g", "cliqueNames": members, "replicas": replicas, "minAvailable": dice.randint(1, replicas)},
        )
    return set_raw(*cliques, groups=groups, replicas=dice.randint(1, 3))


def drawn_edit(dice: Random, manifest: Json) -> Json:
    """Draw an edit of a set: another image for some cliques, other numbers, other labels."""
    edited = copy.deepcopy(manifest)
    spec = edited["spec"]
    for clique in spec["template"]["cliques"]:
        if dice.random() < 0.6:
            clique["spec"]["podSpec"]["containers"][0]["image"] = "example.com/engine:2"
    if dice.random() < 0.2:
        spec["replicas"] = dice.randint(1, 3)
    if dice.random() < 0.2:
        spec["template"]["cliques"][0]["labels"] = {"team": "blue"}
    if dice.random() < 0.1:
        spec["template"]["terminationDelay"] = "2m"
    if dice.random() < 0.1:
        spec["template"]["priorityClassName"] = "high"
    if dice.random() < 0.1:
        spec["updateStrategy"] = {"type": "OnDelete"}
    return edited


def _scenario(manifest: Json, edited: Json, dice: Random) -> Scenario:
    raw = scenario_of(manifest, nodes=4, gpus=1000).as_json
    raw["spec"]["events"] = [{"at": f"{_EDITED_AT // SECOND}s", "applySet": {"manifest": edited}}]
    raw["spec"]["kubelet"] = {"start": "2s", "ready": f"{dice.choice((5, 20))}s", "stop": f"{dice.choice((1, 3))}s"}
    return Scenario.model_validate(raw, context=WRITTEN)


def with_other_uids(seen: Snapshot) -> Snapshot:
    """Return the snapshot with uids that a cluster in memory does not give again to new objects of the same names."""

    def renamed(item: Any) -> Any:
        owner = f"{_OTHER}{item.owner_uid}" if item.owner_uid else ""
        return replace(item, uid=f"{_OTHER}{item.uid}", owner_uid=owner)

    return replace(
        seen,
        root=renamed(seen.root),
        groups=tuple(map(renamed, seen.groups)),
        cliques=tuple(map(renamed, seen.cliques)),
        gangs=tuple(map(renamed, seen.gangs)),
        others=tuple(map(renamed, seen.others)),
        pods_of=FrozenDict({f"{_OTHER}{uid}": tuple(map(renamed, pods)) for uid, pods in seen.pods_of.items()}),
    )


def simulated(manifest: Json, edited: Json, dice: Random, rules: RuleSet) -> tuple[Snapshot, Outcome]:
    """Return the cluster right before the edit, and what the simulation of the edit does."""
    scenario = _scenario(manifest, edited, dice)
    before = Simulation(scenario, SimulationOptions(rules=rules, until=_EDITED_AT - 1))
    before.run()
    start = with_other_uids(_Watch(before).seen())
    simulation = Simulation(scenario, SimulationOptions(rules=rules))
    watch = _Watch(simulation)
    parts = serving_parts(start)
    watch.lowest = {one.part.name: one.serving for one in parts}
    watch.after = dict(watch.lowest)
    watch.available = available_set_replicas(start, parts)
    simulation.cluster.listeners.append(watch.on_changes)
    result = simulation.run()
    slots = {pod.uid: (clique.ref.name, pod.index) for clique, pod in start.pods()}
    gone = Counter(
        slots[f"{_OTHER}{change.before.uid}"]
        for change in result.changes
        if change.kind == "Pod"
        and change.after is None
        and change.before is not None
        and change.at >= _EDITED_AT
        and f"{_OTHER}{change.before.uid}" in slots
    )
    return start, Outcome(dict(gone), watch.lowest, watch.available, watch.after)


def update_of_edit(start: Snapshot, before: Json, after: Json, rules: RuleSet, work: int = MOST_WORK) -> UpdateForecast:
    """Return the forecast of the update of an edit."""
    old, new = manifest_with_defaults_of(before, rules), manifest_with_defaults_of(after, rules)
    root = set_with_manifest_applied(start.root, {**new, "metadata": {**new["metadata"], "uid": start.root.uid}})
    changed = cliques_with_changed_pods(manifest_changes(old, new))
    found = forecast_update_of_edit(replace(start, root=root), rules, changed, work)
    assert found is not None
    return found.forecast


def outcome_of(found: UpdateForecast) -> Outcome:
    """Return what a forecast says."""
    gone = Counter((pod.clique.name, pod.pod_index) for fate in DeletedPodFate for pod in found.deleted(fate))
    lowest = {part.name: count for part, count in found.lowest_serving.items()}
    return Outcome(dict(gone), lowest, found.lowest_available, {one.part.name: one.serving for one in found.after})


def both(seed: int, rules_name: str) -> tuple[Outcome, Outcome]:
    """Return what the forecast and the simulation of a seed say."""
    dice, rules = Random(seed), rule_set(rules_name)
    manifest = drawn_set(dice)
    edited = drawn_edit(dice, manifest)
    start, happened = simulated(manifest, edited, dice, rules)
    return outcome_of(update_of_edit(start, manifest, edited, rules)), happened


def _differs(task: tuple[int, str]) -> str:
    said, happened = both(*task)
    return "" if said == happened else f"seed {task[0]} {task[1]}: said {said}, happened {happened}"


def main() -> None:
    """Compare many seeds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("-j", type=int, default=1)
    given = parser.parse_args()
    tasks = [(seed, RULE_SETS[seed % len(RULE_SETS)]) for seed in range(given.first, given.first + given.seeds)]
    with ProcessPoolExecutor(given.j) as pool:
        found = [text for text in pool.map(_differs, tasks, chunksize=20) if text]
    sys.stdout.write("\n".join([*found, f"{len(tasks):,} edits, {len(found):,} differ\n"]))
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
