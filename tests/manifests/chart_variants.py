"""The objects of an installation under every combination of features, merged into one with conditions of Helm."""

import json
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import combinations, count
from typing import Any, Final

from grove_core.resources.cluster_topology import TopologyLevel
from grove_core.resources.configuration import GangBackend, MnnvlConfiguration, MnnvlMode, TopologyAwareSettings
from grove_shell.manifests.installation import InstallationOptions
from tests.manifests.chart_text import marked_items, marked_keys

Json = dict[str, Any]
Combination = frozenset[str]
FILE: Final = "file"
"""The program has a configuration file."""
FEATURES: Final = ("topology", "sharing", "podgangs")
NAMESPACE: Final = "<<.Release.Namespace>>"
_LEVELS: Final = (TopologyLevel("zone", "topology.kubernetes.io/zone"),)


def installation(features: Combination) -> InstallationOptions:
    """Return the options of an installation with these features; ``file`` alone changes nothing else."""
    backend = GangBackend.PODGANG if "podgangs" in features else GangBackend.KUBERNETES
    return InstallationOptions(
        home=NAMESPACE,
        mnnvl=MnnvlConfiguration("sharing" in features, MnnvlMode.ANNOTATIONS),
        topology=TopologyAwareSettings("topology" in features, _LEVELS if "topology" in features else ()),
        gang_backend=backend if FILE in features else None,
        operator={"kind": "OperatorConfiguration"} if FILE in features else {},
    )


COMBINATIONS: Final[tuple[Combination, ...]] = (
    frozenset(),
    *(frozenset({FILE, *chosen}) for size in range(len(FEATURES) + 1) for chosen in combinations(FEATURES, size)),
)
"""Features come by a file, so there is no combination of them without one."""


Test = Callable[[Combination], bool]


def _tests() -> Mapping[str, Test]:
    """Return what a condition of Helm with one or two features holds for, by its text."""
    single = {name: f'include "grove.{name}" .' for name in FEATURES} | {FILE: "<file>"}
    tests: dict[str, Test] = {}
    for name, text in single.items():
        tests[text] = partial(_has, name)
        tests[f"not ({text})"] = partial(_lacks, name)
    for (first, one), (second, other) in combinations(tuple(tests.items()), 2):
        tests[f"and ({first}) ({second})"] = partial(_both, one, other)
        tests[f"or ({first}) ({second})"] = partial(_either, one, other)
    return tests


def _has(name: str, features: Combination) -> bool:
    return name in features


def _lacks(name: str, features: Combination) -> bool:
    return name not in features


def _both(one: Test, other: Test, features: Combination) -> bool:
    return one(features) and other(features)


def _either(one: Test, other: Test, features: Combination) -> bool:
    return one(features) or other(features)


def condition(present: Iterable[Combination], among: Iterable[Combination], file: str) -> str:
    """Return the condition of Helm that holds, among some combinations, under these alone; empty for all of them."""
    wanted, scope = frozenset(present), frozenset(among)
    if wanted == scope:
        return ""
    text = next(text for text, holds in _tests().items() if frozenset(filter(holds, scope)) == wanted)
    return text.replace("(<file>)", f"({file})").replace("<file>", file)


def merged(variants: Mapping[Combination, Any], file: str) -> Any:
    """Return one value with conditions for what differs between combinations.

    Args:
        variants: the value under each combination that has it.
        file: the condition that the program has a file.
    """
    return _Merge(file).value(variants)


class _Merge:
    def __init__(self, file: str) -> None:
        self._file = file
        self._numbers = count(1)

    def value(self, variants: Mapping[Combination, Any]) -> Any:
        first, *others = variants.values()
        if all(one == first for one in others):
            return first
        if isinstance(first, dict):
            return self._of_objects(variants)
        if isinstance(first, list):
            return self._of_lists(variants)
        raise AssertionError(f"no condition inside of a text: {list(variants.values())}")

    def _of_objects(self, variants: Mapping[Combination, Json]) -> Json:
        found: Json = {}
        for key in _in_order([list(one) for one in variants.values()]):
            having = {features: one[key] for features, one in variants.items() if key in one}
            value = self.value(having)
            when = condition(having, variants, self._file)
            found |= marked_keys(when, {key: value}, self._numbers) if when else {key: value}
        return found

    def _of_lists(self, variants: Mapping[Combination, list[Any]]) -> list[Any]:
        found: list[tuple[str, list[Any]]] = []
        for name in _in_order([[_identity(item) for item in one] for one in variants.values()]):
            having = {features: item for features, one in variants.items() for item in one if _identity(item) == name}
            when = condition(having, variants, self._file)
            if not found or found[-1][0] != when:
                found.append((when, []))
            found[-1][1].append(self.value(having))
        return [item for when, items in found for item in marked_items(when, items)]


def _identity(item: Any) -> str:
    """Return by what an item of a list is found in another variant: its name, else all of it."""
    return str(item["name"]) if isinstance(item, dict) and "name" in item else json.dumps(item)


def _in_order(sequences: list[list[str]]) -> list[str]:
    """Return the items of sequences that agree on their order, in that order."""
    found: list[str] = []
    for sequence in sequences:
        place = 0
        for item in sequence:
            if item in found:
                place = found.index(item) + 1
            else:
                found.insert(place, item)
                place += 1
    return found
