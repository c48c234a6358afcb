"""Files of clusters, as YAML and as JSON: the readers, and every command that decides about them."""

import io
import random
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

from grove_shell.reading.input_sources import input_items_in_path
from tests.fuzz import mutations, readers
from tests.fuzz.commands import NOW, kept
from tests.fuzz.fuzz_target import FuzzTarget
from tests.fuzz.seeds import ROOT, clusters

_FILE: Final = "FILE"
_TARGET: Final = "TARGET"
_SHORT: Final = {
    "PodCliqueSet": "pcs",
    "PodCliqueScalingGroup": "pcsg",
    "PodClique": "pclq",
    "Pod": "pod",
    "PodGang": "podgang",
    "ComputeDomain": "computedomain",
}
_MANIFEST: Final = str(ROOT / "examples/manifests/disaggregated.yaml")
_TOPOLOGY: Final = str(ROOT / "examples/topology/hardware/topologies.yaml")
_MNNVL: Final = str(ROOT / "examples/mnnvl/operator.yaml")
_PLACED: Final = str(ROOT / "examples/topology/operator.yaml")
_AT: Final = ("-f", _FILE, "--now", NOW)
COMMANDS: Final[dict[str, tuple[str, ...]]] = {
    "plan": ("plan", *_AT),
    "plan, going on": ("plan", *_AT, "--keep-going", "--until", "6h", "--decisions", "-v"),
    "plan, json": ("plan", *_AT, "--keep-going", "-o", "json", "--decisions", "--fail-on", "terminate"),
    "plan, field": ("plan", *_AT, "--keep-going", "--rules", "field"),
    "plan, mnnvl": ("plan", *_AT, "--keep-going", "--config", _MNNVL),
    "plan, topologies": ("plan", *_AT, "--keep-going", "--config", _PLACED, "-o", "yaml"),
    "plan, edited": ("plan", "-f", _MANIFEST, *_AT, "--keep-going"),
    "compare": ("compare", *_AT, "--keep-going"),
    "explain": ("explain", _TARGET, *_AT, "--keep-going"),
    "explain, why not": ("explain", _TARGET, *_AT, "--keep-going", "--why-not", "terminate", "-o", "json"),
    "validate": ("validate", "-f", _FILE),
    "validate, json": ("validate", "-f", _FILE, "--config", _MNNVL, "-o", "json"),
    "validate, changed": ("validate", "-f", _FILE, "--old", _MANIFEST, "--rules", "field"),
    "validate, from": ("validate", "-f", _MANIFEST, "--old", _FILE),
    "topology check": ("topology", "check", "-f", _FILE, "-v"),
    "topology check, json": ("topology", "check", "-f", _FILE, "-f", _TOPOLOGY, "-o", "json"),
    "topology list": ("topology", "list", *_AT, "--keep-going"),
    "topology impact": ("topology", "impact", "aws-p5", "-f", _TOPOLOGY, *_AT, "--keep-going", "-o", "json"),
    "topology impact, changed": ("topology", "impact", "dgx-h100", "-f", _TOPOLOGY, "--changed", _FILE),
}


@contextmanager
def yaml_files(folder: Path) -> Iterator[FuzzTarget]:
    """YAML."""
    make = partial(_made, write=mutations.as_yaml, whole=readers.YAML)
    yield FuzzTarget((*readers.READERS, *COMMANDS), make, partial(_fed, folder / "cluster.yaml"))


@contextmanager
def json_files(folder: Path) -> Iterator[FuzzTarget]:
    """JSON."""
    make = partial(_made, write=mutations.as_json, whole=readers.JSON)
    yield FuzzTarget((*readers.READERS, *COMMANDS), make, partial(_fed, folder / "cluster.json"))


def _made(chance: random.Random, way: str, *, write: Callable[[Any], bytes], whole: Sequence[bytes]) -> bytes:
    if way in readers.READERS and chance.random() < 0.7:
        return mutations.damaged(whole, chance)
    return mutations.made(clusters(), chance, write)


def _fed(path: Path, way: str, data: bytes) -> str:
    if way in readers.READERS:
        return readers.read(way, data)
    path.write_bytes(data)
    words = [str(path) if word == _FILE else word for word in COMMANDS[way]]
    if _TARGET in words:
        words[words.index(_TARGET)] = _target(path, data)
    return kept(*words)


def _target(path: Path, data: bytes) -> str:
    """One of the objects of a file that can be asked about, or one that is not there."""
    named = [
        f"{_SHORT[item.value['kind']]}/{item.value['metadata'].get('name')}"
        for item in input_items_in_path(str(path), [], io.BytesIO())
        if item.value.get("kind") in [*_SHORT] and isinstance(item.value.get("metadata"), dict)
    ]
    return named[zlib.crc32(data) % len(named)] if named else "pcs/none"
