"""Scenarios: read, and where they read and are small, played for a minute of their time."""

import json
import random
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Final

from grove_shell.simulator.scenario.scenario_reader import read_scenario
from tests.fuzz import mutations
from tests.fuzz.commands import kept
from tests.fuzz.fuzz_target import FuzzTarget
from tests.fuzz.seeds import ROOT, objects_in

_FILE: Final = "FILE"
_FOLDERS: Final = (ROOT / "tests/golden/simulation", ROOT / "examples/scenarios")
PLAYED: Final[dict[str, tuple[str, ...]]] = {
    "play": ("simulate", _FILE, "--until", "1m"),
    "play, checked": ("simulate", _FILE, "--until", "40s", "--check", "-v"),
    "play, json": ("simulate", _FILE, "--until", "30s", "-o", "json"),
    "play, field": ("simulate", _FILE, "--until", "30s", "--rules", "field"),
    "worlds": ("simulate", _FILE, "--until", "20s", "--seeds", "2"),
}
_COUNTING: Final = frozenset({"replicas", "count", "to", "minAvailable", "maxReplicas", "minReplicas", "most"})
_MOST: Final = 40
"""What a minute can be played with in no time; how long a large world takes is the user's own wish."""


@contextmanager
def scenario_files(folder: Path) -> Iterator[FuzzTarget]:
    """Scenarios beside the files that they name, so deep that a name which leads up leads nowhere else."""
    folder = folder / "here" / "and" / "here"
    beside = [path for path in _FOLDERS for path in path.rglob("*.yaml") if path.name != "scenario.yaml"]
    (folder / "sets").mkdir(parents=True)
    for path in beside:
        shutil.copy(path, folder)
    shutil.copy(ROOT / "examples/scenarios/sets/disaggregated-3.0.yaml", folder / "sets")
    texts = _texts(folder)

    def make(chance: random.Random, _way: str) -> bytes:
        return mutations.made(texts, chance, chance.choice((mutations.as_json, mutations.as_yaml)))

    def feed(way: str, data: bytes) -> str:
        path = folder / ("fed.json" if data[:1] == b"{" else "fed.yaml")
        path.write_bytes(data)
        read = read_scenario(str(path))
        if read.scenario is not None and not _is_small(read.scenario.as_json):
            return "read, too large to play"
        return kept(*(str(path) if word == _FILE else word for word in PLAYED[way]))

    yield FuzzTarget(tuple(PLAYED), make, feed)


@cache
def _texts(folder: Path) -> tuple[str, ...]:
    """Every scenario that reads in this folder."""
    found = []
    for path in sorted(path for top in _FOLDERS for path in top.rglob("*.yaml")):
        for raw in objects_in(path):
            text = json.dumps(raw)
            (folder / "fed.json").write_text(text, encoding="utf-8")
            if raw.get("kind") == "Scenario" and read_scenario(str(folder / "fed.json")).scenario is not None:
                found.append(text)
    return tuple(found)


def _is_small(value: Any) -> bool:
    """Whether nothing in it is counted beyond a few."""
    if isinstance(value, list):
        return len(value) <= _MOST and all(map(_is_small, value))
    if not isinstance(value, dict):
        return True
    counted = (number for key, number in value.items() if key in _COUNTING and isinstance(number, int))
    return max(counted, default=0) <= _MOST and all(map(_is_small, value.values()))
