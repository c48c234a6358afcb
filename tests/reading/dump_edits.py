"""Objects of a dump, by name, and how they are read."""

import io
import json
from pathlib import Path
from typing import Any, Final

from grove_shell.reading.cluster_reading import load_input_files
from grove_shell.reading.input_completeness import LoadedInput

Json = dict[str, Any]
EXAMPLE: Final = Path(__file__).parents[2] / "examples/degraded.yaml"
NOW: Final = ["--now", "2026-11-20T09:00:00Z"]


def write(path: Path, items: list[Json]) -> str:
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}), encoding="utf-8")
    return str(path)


def loaded(path: Path, items: list[Json]) -> LoadedInput:
    return load_input_files([write(path, items)], io.BytesIO(), raising=False)


def named(items: list[Json], kind: str, name: str) -> Json:
    return next(item for item in items if item["kind"] == kind and item["metadata"]["name"] == name)


def pods_of(items: list[Json], clique: str) -> list[Json]:
    uid = named(items, "PodClique", clique)["metadata"]["uid"]
    return [item for item in items if item["kind"] == "Pod" and item["metadata"]["ownerReferences"][0]["uid"] == uid]
