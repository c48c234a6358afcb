"""A scenario from a dump and the options of ``grove simulate``: edits to apply and nodes to lose (CL-084)."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

from grove_core.kernel.errors import MalformedObject
from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.time_formats import format_go_duration
from grove_core.resources.api_names import SET_KIND
from grove_core.resources.node import Node, node_from_json
from grove_core.resources.object_metadata import metadata_in, with_default_namespace
from grove_core.resources.pod import FINISHED_PHASES
from grove_core.resources.pod_spec_gpus import GPU, gpu_count_of_pod_spec
from grove_shell.reading.input_faults import InputFault
from grove_shell.reading.input_sources import input_items_in_path, standard_input_bytes
from grove_shell.simulator.scenario.scenario import API_VERSION, KIND

_START: Final = "0s"
_THOUSAND: Final = 1_000
_CORDONED: Final = "node.kubernetes.io/unschedulable"
_LOST: Final = frozenset({"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"})
_NO_NODES: Final = (
    "no Node is in the dump: each node that a pod names has the GPUs of its pods, and no other node exists; add the"
    " nodes to the dump for others (kubectl get nodes -o json)"
)


@dataclass(slots=True)
class DumpScenario:
    """A scenario that was made of a dump.

    Attributes:
        value: the scenario as JSON; its nodes are those of the dump.
        nodes: their names.
        note: how the nodes were found, where the dump has none; else empty.
    """

    value: dict[str, Any] = field(default_factory=dict)
    nodes: tuple[str, ...] = ()
    note: str = ""
    faults: list[InputFault] = field(default_factory=list)


def scenario_from_dump(
    path: str, edits: Sequence[str], lost_nodes: Sequence[str], ready_after: timedelta | None = None
) -> DumpScenario:
    """Return the scenario that starts from a dump, applies manifests and loses nodes at its start.

    A manifest that names no namespace is of that of the set with its name in the dump, if only one has it.

    Args:
        path: of the dump.
        edits: files with PodCliqueSets.
        lost_nodes: names of nodes.
        ready_after: when the pods that are not ready in the dump become ready; None for never.
    """
    found = DumpScenario()
    items = [item.value for item in input_items_in_path(path, found.faults, standard_input_bytes())]
    if not found.faults and not edits and not _has_stored_set(items):
        expected = f"a {SET_KIND} that a cluster stores, with a uid (--edit applies a manifest)"
        found.faults.append(InputFault(file=path, expected=expected, got="none"))
    nodes = [*_nodes_in(items)]
    pools = [_pool_of_node(node) for node in nodes]
    if not pools:
        pools = [*_pools_of_pods(items)]
        found.note = "" if found.faults else _NO_NODES
    namespaces: defaultdict[str, set[str]] = defaultdict(set)
    for raw in items:
        if raw.get("kind") == SET_KIND:
            namespaces[metadata_in(raw).name].add(metadata_in(raw).namespace)
    applied: list[dict[str, Any]] = [
        {"applySet": {"manifest": raw}} for edit in edits for raw in _manifests(edit, namespaces, found.faults)
    ]
    lost: list[dict[str, Any]] = [{"loseNode": {"node": name}} for name in lost_nodes]
    states = [{kind: {"node": name}} for kind, name in _states_of_nodes(nodes) if name not in lost_nodes]
    expect = [{"at": "end", "refused": 0}] if applied else []
    found.nodes = tuple(pool["name"] for pool in pools)
    found.value = {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": {"name": "from-dump"},
        "spec": {
            "cluster": path,
            "nodes": pools,
            **({} if ready_after is None else {"kubelet": {"recovers": format_go_duration(ready_after)}}),
            "events": [{"at": _START, **event} for event in (*states, *applied, *lost)],
            "expect": expect,
        },
    }
    return found


def _has_stored_set(items: Sequence[Mapping[str, Any]]) -> bool:
    return any(raw.get("kind") == SET_KIND and metadata_in(raw).uid for raw in items)


def _manifests(path: str, namespaces: Mapping[str, set[str]], faults: list[InputFault]) -> Iterator[dict[str, Any]]:
    count = 0
    for item in input_items_in_path(path, faults, standard_input_bytes()):
        if item.value.get("kind") != SET_KIND:
            continue
        count += 1
        meta = metadata_in(item.value)
        there = namespaces.get(meta.name, set())
        if meta.namespace or len(there) != 1:
            yield item.value
        else:
            yield with_default_namespace(item.value, next(iter(there)))
    if not count and not any(fault.file == path for fault in faults):
        faults.append(InputFault(file=path, expected=f"a {SET_KIND}", got="none"))


def _nodes_in(items: Sequence[Mapping[str, Any]]) -> Iterator[Node]:
    """Yield the Nodes of a dump; a malformed one is left out, because reading the dump reports it."""
    for raw in items:
        if raw.get("kind") == "Node":
            with suppress(MalformedObject):
                yield node_from_json(raw)


def _pool_of_node(node: Node) -> dict[str, Any]:
    """Return a pool of one Node, with its labels and what pods may use of it."""
    amounts = {resource: _quantity(amount) for resource, amount in node.amounts.items()}
    return {"name": node.name, "labels": dict(node.labels), "capacity": amounts}


def _states_of_nodes(nodes: Sequence[Node]) -> Iterator[tuple[str, str]]:
    """Yield the events that bring Nodes into their state in the dump, with their names: closed for pods, lost."""
    for node in nodes:
        keys = {taint.key for taint in node.taints}
        if keys & {_CORDONED, *_LOST}:  # a lost node takes pods until the node controller notices
            yield "cordon", node.name
        if keys & _LOST:
            yield "loseNode", node.name


def _pools_of_pods(items: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield a pool for each node that pods of a dump are bound to, with the GPUs and the labels that these ask for."""
    gpus: Counter[str] = Counter()
    labels: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for raw in items:
        spec, status = raw.get("spec"), raw.get("status")
        phase = status.get("phase") if isinstance(status, Mapping) else None
        if raw.get("kind") == "Pod" and isinstance(spec, Mapping) and phase not in FINISHED_PHASES:
            name, selector = spec.get("nodeName"), spec.get("nodeSelector")
            if isinstance(name, str) and name:
                gpus[name] += gpu_count_of_pod_spec(FrozenMap.view_of(spec))
                labels[name] |= selector if isinstance(selector, Mapping) else {}
    for name, count in sorted(gpus.items()):
        yield {"name": name, "labels": labels[name], "capacity": {GPU: count} if count else {}}


def _quantity(thousandths: int) -> int | str:
    whole, rest = divmod(thousandths, _THOUSAND)
    return f"{thousandths}m" if rest else whole
