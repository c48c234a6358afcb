"""What is damaged: real files, and what the program itself writes of them."""

import gzip
import io
import json
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

from grove_shell.reading.input_sources import input_items_in_path
from tests.fuzz.commands import NOW, said

ROOT: Final = Path(__file__).parents[2]
MOST: Final = 40_000
"""Bytes of a seed: what is damaged should be reached soon, and read quickly."""
_PODS: Final = 12
_STORIES: Final = ("gang_termination", "gang_termination_field", "mnnvl", "mnnvl_scopes", "topology", "workload")
_EACH: Final = 7
_READ_ALONE: Final = (
    "examples/manifests/disaggregated.yaml",
    "examples/manifests/refused.yaml",
    "examples/mnnvl/llama.yaml",
    "examples/topology/clouds/chat.yaml",
    "examples/topology/hardware/llama.yaml",
    "examples/topology/hardware/topologies.yaml",
)


def spread(paths: Iterable[Path], most: int) -> list[Path]:
    """So many of these, from the first to the last."""
    ordered = sorted(paths)
    return ordered[:: max(1, -(-len(ordered) // most))]


def objects_in(*paths: Path) -> list[dict[str, Any]]:
    """The objects of files, as they are read."""
    return [item.value for path in paths for item in input_items_in_path(str(path), [], io.BytesIO())]


@cache
def golden(area: str, name: str = "given.yaml", most: int = _EACH) -> tuple[Path, ...]:
    """Some files of the stories of an area."""
    found = [path for path in (ROOT / "tests/golden" / area).glob(f"*/{name}") if path.stat().st_size < MOST]
    return tuple(spread(found, most))


@cache
def clusters() -> tuple[str, ...]:
    """Clusters, and manifests for them, each as the JSON of a List."""
    found = [objects_in(path) for area in _STORIES for path in golden(area)]
    found += [objects_in(ROOT / name) for name in _READ_ALONE]
    found += [_few(objects_in(path)) for path in spread((ROOT / "tests/snapshots").glob("s*.yaml"), 4)]
    found += [_few(objects_in(ROOT / name)) for name in ("examples/degraded.yaml", "examples/real-cluster.yaml")]
    hardware = ROOT / "examples/topology/hardware"
    found.append(_few(objects_in(hardware / "llama.yaml", hardware / "topologies.yaml", hardware / "nodes.json")))
    found += recorded_cases()
    written = (json.dumps({"apiVersion": "v1", "kind": "List", "items": items}) for items in found)
    return tuple(text for text in written if len(text) < 3 * MOST)


def recorded_cases() -> Iterator[list[dict[str, Any]]]:
    """Cases recorded elsewhere: the first case of each file."""
    for path in sorted((ROOT / "tests/vectors").glob("*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            yield json.loads(next(lines))["objects"]


@cache
def configurations() -> tuple[str, ...]:
    """Operator configurations as JSON."""
    paths = [ROOT / "examples/mnnvl/operator.yaml", ROOT / "examples/topology/operator.yaml"]
    paths += [path for area in ("mnnvl", "mnnvl_scopes", "topology") for path in golden(area, "operator.yaml", 3)]
    whole = {
        "apiVersion": "operator.config.grove.io/v1alpha1",
        "kind": "OperatorConfiguration",
        "rules": "field",
        "workers": 4,
        "leaderElection": {"enabled": True, "leaseDuration": "15s", "renewDeadline": "10s", "retryPeriod": "2s"},
        "client": {"qps": 20.5, "burst": 100, "inFlight": 8, "timeout": "30s"},
        "serving": {"host": "::", "port": 8080},
        "network": {"autoMNNVLEnabled": True},
        "startup": {"image": "example.com/grove:1"},
        "topologyAwareScheduling": {"enabled": True, "levels": [{"domain": "zone", "key": "example.com/zone"}]},
    }
    webhooks = {
        "apiVersion": "operator.config.grove.io/v1alpha1",
        "kind": "WebhookConfiguration",
        "certificates": {"mode": "manual", "directory": "/certs", "validFor": "8760h", "settle": "5s"},
        "registration": {"service": "hooks"},
        "listening": {"host": "127.0.0.1", "port": 9443},
        "mnnvl": {"enabled": True, "mode": "annotations"},
        "farewell": "5s",
    }
    return tuple(json.dumps(one) for one in (*objects_in(*paths), whole, webhooks))


@cache
def plans() -> tuple[str, ...]:
    """Plans as the program saves them, with every verdict; of clusters and of topologies."""
    found: list[str] = []
    for area in _STORIES:
        for path in golden(area, most=3):
            beside = path.with_name("operator.yaml")
            config = ("--config", str(beside)) if beside.exists() else ()
            reported = said(
                "plan", "-f", str(path), "--now", NOW, "-o", "json", "--decisions", "--until", "6h", *config
            )
            if reported.code == 0 and len(reported.out) < 5 * MOST:
                found.append(json.dumps(json.loads(reported.out)))
    return tuple(found)


@cache
def attempts() -> tuple[str, ...]:
    """Writes that were tried: as the stories have them, and the steps of plans with an outcome."""
    paths = (ROOT / "tests/golden").glob("*/*/attempts.yaml")
    found = objects_in(*sorted(paths))
    for number, text in enumerate(plans()):
        steps = [step for plan in json.loads(text)["plans"] for step in plan["rounds"][0]["steps"]][:8]
        outcome = ("Done", "Conflict", "Refused")[number % 3]
        found.append({"attempts": [{**step, "outcome": outcome, "detail": "said so"} for step in steps]})
    return tuple(json.dumps(one) for one in found)


def _few(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Without events and most pods and nodes."""
    left = {"Pod": _PODS, "Node": _PODS}
    found = []
    for item in items:
        kind = str(item.get("kind"))
        left[kind] = left.get(kind, MOST) - 1
        if left[kind] >= 0 and kind != "Event":
            found.append(item)
    return found
