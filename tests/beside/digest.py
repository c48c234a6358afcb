"""``python -m tests.beside.digest FOLDER NAME``: a recording as lines, one for each time, writer and kind of write."""

import json
import sys
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Final

from tests.beside.audit import OPERATOR
from tests.beside.operator_writes import shown
from tests.cluster.api import Json

REPEATED: Final = frozenset({"Service", "HorizontalPodAutoscaler"})
"""Kinds that the operator patches at every look, without a change."""


def lines(events: Iterable[Json]) -> Iterator[str]:
    """Creations, deletions and spec patches, readiness of pods, and what the user did."""
    told = [(event, text) for event in events if (text := _text(event))]
    for (second, user, verb), found in groupby(told, key=lambda one: (round(one[0]["t"], 1), *_who(one[0]))):
        counted: dict[str, int] = {}
        for _, text in found:
            counted[text] = counted.get(text, 0) + 1
        names = ", ".join(f"{name} x{count}" if count > 1 else name for name, count in counted.items())
        yield f"{second:7.1f}  {user:17} {verb:9} {names}"


def _who(event: Json) -> tuple[str, str]:
    verb = "says" if "says" in event else event["verb"].removesuffix("collection")
    return event["user"], verb + (
        "/" + event["subresource"] if event.get("subresource") not in {None, "status"} else ""
    )


def _text(event: Json) -> str:
    kind, name = event["kind"], event["name"]
    if event["code"] >= 300 and event["verb"] != "delete":
        return ""
    where = " ".join(shown(kind, name))
    if event["code"] >= 300:
        return f"{where} ({event['code']})"
    if event["verb"] == "deletecollection":
        return ", ".join(" ".join(shown(kind, each)) for each in event["items"]) or f"{kind} {event['selector']}: none"
    if event["user"] == "kubelet":
        return f"{where} {event['says']}" if event.get("says") else (where if event["verb"] == "delete" else "")
    if kind in REPEATED and event["verb"] == "patch":
        return ""
    if event["user"] in {OPERATOR, "admin"} and event["verb"] in {"patch", "update"}:
        body = event.get("body", {})
        if event.get("subresource") == "status":
            return ""
        gate = kind == "Pod" and "schedulingGates" in json.dumps(body)
        return f"{where}{' gate' if gate else ''}" if "spec" in body or event["user"] == "admin" else ""
    return where if event["verb"] in {"create", "delete"} else ""


if __name__ == "__main__":
    _events = json.loads((Path(sys.argv[1]) / sys.argv[2] / "audit.json").read_text(encoding="utf-8"))
    _from = float(sys.argv[3]) if len(sys.argv) > 3 else -10.0
    sys.stdout.write("\n".join(lines(event for event in _events if event["t"] >= _from)) + "\n")
