"""Nodes: labels, taints and allocatable resources (TP-103)."""

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from grove_core.kernel.errors import MalformedObject
from grove_core.kernel.frozen import FrozenDict
from grove_core.kernel.structs import Struct
from grove_core.resources.json_field_reader import JsonFieldReader
from grove_core.resources.pod_demand import AffinityExpression, PodDemand, Toleration
from grove_core.resources.pod_requests import read_resource_amounts

_CORDONED: Final = "node.kubernetes.io/unschedulable"
_NOT_READY: Final = "node.kubernetes.io/not-ready"
_UNREACHABLE: Final = "node.kubernetes.io/unreachable"
_INTEGER: Final = re.compile(r"([+-]?)0*([0-9]{1,19})", re.ASCII)
_MOST: Final = 2**63
_TURNS_AWAY: Final = ("NoSchedule", "NoExecute")


class Taint(NamedTuple):
    """A taint, which keeps pods away that do not tolerate it."""

    key: str
    value: str
    effect: str


class Node(Struct, frozen=True):
    """A node.

    Attributes:
        labels: as written.
        taints: those that keep new pods away; cordoned and unready nodes have one from their controllers.
        amounts: allocatable thousandths of each resource; a missing resource is 0.
    """

    name: str
    labels: FrozenDict[str, str]
    taints: tuple[Taint, ...]
    amounts: FrozenDict[str, int]


def node_from_json(raw: Mapping[str, object]) -> Node:
    """Read a node; raises MalformedObject with every problem (IN-030)."""
    top = JsonFieldReader(raw, "", [])
    meta, spec, status = top.inner_object("metadata"), top.inner_object("spec"), top.inner_object("status")
    name = meta.text("name", required=True)
    labels = meta.inner_object("labels")
    texts = {key: value if isinstance(value, str) else labels.text(key) for key, value in labels.raw.items()}
    amounts = read_resource_amounts(status.inner_object("allocatable" if "allocatable" in status else "capacity"))
    return top.result_or_problems(Node(name, FrozenDict(texts), _taints(spec, status), FrozenDict(amounts)))


def node_with_known_amounts(raw: Mapping[str, object]) -> Node | None:
    """Read a node whose amounts are known; None where they are not, as in a capture, or where it is malformed."""
    try:
        node = node_from_json(raw)
    except MalformedObject:
        return None
    return node if node.amounts else None


def pod_demand_mismatch_reason(node: Node, demand: PodDemand) -> str:
    """Return why no pod with this demand fits on a node, whatever is free on it; empty where it may."""
    for taint in node.taints:
        if not any(_tolerates(one, taint) for one in demand.tolerations):
            return f"the taint {taint.key}"
    if any(node.labels.get(key) != value for key, value in demand.selector):
        return "their node selector"
    if demand.affinity is not None and not any(  # an empty term matches nothing
        term and all(_matches(line, node) for line in term) for term in demand.affinity
    ):
        return "their node affinity"
    return ""


def _taints(spec: JsonFieldReader, status: JsonFieldReader) -> tuple[Taint, ...]:
    written = (Taint(one.text("key"), one.text("value"), one.text("effect")) for one in spec.inner_objects("taints"))
    found = [taint for taint in written if taint.effect in _TURNS_AWAY]
    keys = {taint.key for taint in found}
    if spec.boolean("unschedulable") and _CORDONED not in keys:
        found.append(Taint(_CORDONED, "", _TURNS_AWAY[0]))
    ready = [one.text("status") for one in status.inner_objects("conditions") if one.text("type") == "Ready"]
    if ready and ready != ["True"] and not keys & {_NOT_READY, _UNREACHABLE}:
        found.append(Taint(_NOT_READY, "", _TURNS_AWAY[0]))
    return tuple(found)


def _tolerates(one: Toleration, taint: Taint) -> bool:
    """Return whether a toleration matches a taint; comparisons of values are reported as not supported."""
    if one.effect not in {"", taint.effect} or (one.key and one.key != taint.key):
        return False
    return one.operator not in {"", "Equal"} or (bool(one.key) and one.value == taint.value)


def _matches(line: AffinityExpression, node: Node) -> bool:
    there = node.name if line.is_field else node.labels.get(line.key)
    match line.operator:
        case "In":
            return there in line.values
        case "NotIn":
            return there not in line.values
        case "Exists":
            return there is not None
        case "DoesNotExist":
            return there is None
        case "Gt" | "Lt":
            left, right = _number(there), _number(line.values[0] if len(line.values) == 1 else None)
            if left is None or right is None:
                return False
            return left > right if line.operator == "Gt" else left < right
    return False


def _number(text: str | None) -> int | None:
    """Return a number as the scheduler reads it: one with more than 64 bits matches nothing."""
    found = _INTEGER.fullmatch(text or "")
    number = int(found[1] + found[2]) if found is not None else None
    return number if number is not None and -_MOST <= number < _MOST else None
