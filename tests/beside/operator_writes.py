"""What the operator wrote, by object: creations, deletions, changed fields and dropped finalizers, with their times."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Final, TypeAlias

from tests.beside.audit import OPERATOR
from tests.cluster.api import Json

Key: TypeAlias = tuple[str, str, str]
Times: TypeAlias = dict[Key, list[float]]

CHANGED: Final = frozenset({"PodClique", "PodCliqueScalingGroup"})


def shown(kind: str, name: str) -> tuple[str, str]:
    """Kind and name; of a pod the name of its clique, because the rest is chance."""
    return kind, name.rpartition("-")[0] if kind == "Pod" else name


def happened(events: Iterable[Json]) -> Times:
    """What the operator wrote from the moment it went on: creations, deletions, patches, finalizers dropped.

    A second deletion of the same object does not count.
    """
    found: Times = defaultdict(list)
    dying: set[tuple[str, str]] = set()
    for event in events:
        if event["t"] < 0 or event["user"] != OPERATOR or event["code"] >= 300 or "subresource" in event:
            continue
        kind, verb = event["kind"], event["verb"]
        if verb == "create":
            dying.discard((kind, event["name"]))
            found["create", *shown(kind, event["name"])].append(event["t"])
        elif verb in {"delete", "deletecollection"}:
            names = event["items"] if verb == "deletecollection" else [event["name"]]
            for name in names:
                if (kind, name) not in dying:
                    dying.add((kind, name))
                    found["delete", *shown(kind, name)].append(event["t"])
        elif verb == "patch" and _drops_finalizers(event):
            found["release", kind, event["name"]].append(event["t"])
        elif kind in CHANGED and _changes_fields(event) and not found.get(("patch", kind, event["name"])):
            found["patch", kind, event["name"]].append(event["t"])
    return found


def _drops_finalizers(event: Json) -> bool:
    metadata = event.get("body", {}).get("metadata", {})
    left = metadata.get("finalizers") or ()  # one of a deletion in the foreground stays
    return "finalizers" in metadata and not any(one.startswith("grove.io/") for one in left)


def _changes_fields(event: Json) -> bool:
    body = event.get("body", {})
    return "spec" in body or bool({"labels", "annotations"} & body.get("metadata", {}).keys())
