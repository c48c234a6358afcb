"""The scenario that plays a recording: its nodes, delays and events, and what others than Grove did meanwhile."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from grove_core.resources.api_names import POD_INDEX
from tests.cluster.api import Json

_EVICTION: Final = "controllers"  # the user whose deletions of pods are evictions


def scenario_of(folder: Path, about: Json) -> Json:
    """Return the scenario of a recording; it starts with the stored edit."""
    events = json.loads((folder / "audit.json").read_text(encoding="utf-8"))
    stored = json.loads((folder / "edited.json").read_text(encoding="utf-8"))
    played = dict(about["scenario"])
    played["kubelet"] = _with_recovery(played["kubelet"])
    played["events"] = [*played["events"], *_evictions(events, stored["items"])]
    spec = {"cluster": str((folder / "edited.json").absolute()), **played}
    return {"apiVersion": "grove.io/v1alpha1", "kind": "Scenario", "metadata": {"name": "beside"}, "spec": spec}


def _with_recovery(kubelet: Json) -> Json:
    """Return the delays, by which pods that are starting in the capture become ready, unless a clique never does."""
    return kubelet if kubelet["cliques"] else {**kubelet, "recovers": kubelet["ready"]}


def _evictions(events: list[Json], stored: list[Json]) -> Iterator[Json]:
    pods = {item["metadata"]["name"]: item["metadata"] for item in stored if item["kind"] == "Pod"}
    for event in events:
        is_eviction = event["user"] == _EVICTION and event["verb"] == "delete" and event["kind"] == "Pod"
        pod = pods.get(event["name"]) if is_eviction and event["t"] >= 0 else None
        if pod is not None:
            index = int(pod["labels"][POD_INDEX])
            chosen = {"clique": pod["ownerReferences"][0]["name"], "index": index}
            yield {"at": f"{event['t']}s", "deletePod": chosen}
