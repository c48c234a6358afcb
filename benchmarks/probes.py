"""What is measured, each in a process of its own: ``python -m benchmarks.probes NAME JSON`` prints one JSON object.

A fresh process for each measurement, so that none inherits a grown heap, warm caches or imports from another one.
Seconds are of the processor, not of the clock: they leave out what other programs on the machine take in between.
"""

import gc
import io
import json
import sys
import tracemalloc
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from time import process_time
from typing import Any, Final, TypeAlias

from benchmarks.data.cast import NOW
from benchmarks.data.facts import Owners, owner_facts, pod_facts
from benchmarks.data.lists import texts_of_pods
from benchmarks.data.owners import bare_set, sharing_set
from grove_core.areas.gang_termination.breach_delays import earliest_breach_wake_time
from grove_core.areas.gang_termination.design.judge import judge_breached_cliques_by_design
from grove_core.areas.gang_termination.design.wants import replica_fates_by_design
from grove_core.in_memory.forecasts import forecast_until_settled, snapshot_of_newly_created_set
from grove_core.in_memory.in_memory_cluster import InMemoryCluster
from grove_core.reconcile import reconcile
from grove_core.resources.configuration import (
    ComputeDomainFormatName,
    Configuration,
    MnnvlConfiguration,
    MnnvlMode,
    ServedApis,
)
from grove_core.resources.pod import Pod, pod_from_json
from grove_core.resources.podcliqueset import podcliqueset_from_json
from grove_core.rule_sets.rule_set import DESIGN
from grove_core.snapshot.cluster import IndexedCluster
from grove_core.snapshot.cluster_index import index_cluster
from grove_core.snapshot.snapshot import Snapshot

Numbers: TypeAlias = dict[str, float]
Json: TypeAlias = dict[str, Any]
_STATUS: Final = Path("/proc/self/status")
_SERVED: Final = ServedApis(domains=ComputeDomainFormatName.NVIDIA, claims="resource.k8s.io/v1")


# ---------------------------------------------------------------------------------------------------- loading


def load_facts(path: str) -> Numbers:
    """Our reader, from a file to a cluster of facts."""
    from grove_shell.reading.cluster_reading import load_input_files  # noqa: PLC0415 - each process imports what it measures

    def work() -> None:
        loaded = load_input_files([path], io.BytesIO())
        if loaded.faults:
            raise RuntimeError(loaded.faults[0])

    return _measured(work)


def json_loads(path: str) -> Numbers:
    """The standard library on a text that is in memory, to dicts and lists, the collector off."""
    text = Path(path).read_text(encoding="utf-8")
    gc.disable()
    return _measured(lambda: json.loads(text))


def yaml_load(path: str, *, collector: bool) -> Numbers:
    """PyYAML's C loader on a text that is in memory, to dicts and lists."""
    import yaml  # noqa: PLC0415 - each process imports what it measures

    text = Path(path).read_bytes()
    if not collector:
        gc.disable()
    return _measured(lambda: yaml.load(text, Loader=yaml.CSafeLoader))


def _measured(work: Callable[[], object]) -> Numbers:
    """Processor seconds, and by how many MB the process grew at its peak (nan where the system does not tell)."""
    before = _memory("VmRSS")
    start = process_time()
    kept = work()
    seconds = process_time() - start
    peak = _memory("VmHWM") - before
    del kept
    return {"seconds": seconds, "peak_mb": peak}


def _memory(field: str) -> float:
    try:
        lines = _STATUS.read_text(encoding="ascii").splitlines()
    except OSError:
        return float("nan")
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(f"{field}:"))


# ----------------------------------------------------------------------------------------------------- keeping


def kept_facts(pods: int) -> Numbers:
    """What pods take as facts."""
    shared: dict[str, str] = {}
    return _kept(pods, lambda text: pod_from_json(json.loads(text), shared))


def kept_models(pods: int) -> Numbers:
    """What pods take as nested frozen pydantic models."""
    from benchmarks.models import PodModel  # noqa: PLC0415 - each process imports what it measures

    return _kept(pods, lambda text: PodModel.model_validate(json.loads(text)))


def _kept(pods: int, project: Callable[[str], object]) -> Numbers:
    texts = list(texts_of_pods(pods))
    project(texts[0])
    gc.collect()
    tracemalloc.start()
    kept = [project(text) for text in texts]
    gc.collect()
    size, _ = tracemalloc.get_traced_memory()
    return {"bytes": size / len(kept)}


# ---------------------------------------------------------------------------------------------------- deciding


def decisions(pods: int, rounds: int, looked_at: int, *, whole_plans: bool) -> dict[str, list[float]]:
    """Processor seconds that one look at a cluster takes, in several ways, taken in turn; each ``rounds`` times.

    One measurement looks at the cluster until it saw ``looked_at`` pods.
    """
    shared: dict[str, str] = {}
    owners, facts = owner_facts(pods, shared), pod_facts(pods, shared)
    gc.collect()
    gc.freeze()
    gc.disable()  # as the program does
    times = -(-looked_at // len(facts))
    found = _in_turn(owners, facts, rounds, times, "in order", whole_plans=False)
    Random(7).shuffle(facts)
    return found | _in_turn(owners, facts, rounds, times, "shuffled", whole_plans=whole_plans)


def _in_turn(
    owners: Owners, facts: list[Pod], rounds: int, times: int, order: str, *, whole_plans: bool
) -> dict[str, list[float]]:
    indexed = _index(owners, facts)
    ways: dict[str, Callable[[], object]] = {
        "floor": lambda: _read_five_slots(facts),
        "decide": lambda: _judge(_index(owners, facts)),
        "index": lambda: _index(owners, facts),
        "judge": lambda: _judge(indexed),
    }
    if whole_plans:
        ways["plan"] = lambda: _plan(_index(owners, facts))
    found: dict[str, list[float]] = {f"{way}, {order}": [] for way in ways}
    for measured in range(-1, rounds):  # the first round warms up
        for name, way in ways.items():
            start = process_time()
            kept = [way() for _ in range(times)]
            seconds = process_time() - start
            del kept  # to take an answer apart is no part of giving it
            if measured >= 0:
                found[f"{name}, {order}"].append(seconds / times)
    return found


def _read_five_slots(facts: Sequence[Pod]) -> None:
    """The floor: no decision about pods is possible without reading them."""
    for pod in facts:
        pod.owner_uid, pod.ready, pod.scheduled, pod.deleting, pod.template_hash  # noqa: B018 - only read


def _index(owners: Owners, facts: list[Pod]) -> IndexedCluster:
    return index_cluster(sets=owners.sets, groups=owners.groups, cliques=owners.cliques, pods=facts)


def _judge(cluster: IndexedCluster) -> IndexedCluster:
    """Ready counts, breaches, fates of groups and replicas, and when to look again; of every set."""
    for root in cluster.sets:
        earliest_breach_wake_time(
            replica_fates_by_design(judge_breached_cliques_by_design(cluster.snapshot_of(root, NOW)))
        )
    return cluster


def _plan(cluster: IndexedCluster) -> IndexedCluster:
    for root in cluster.sets:
        reconcile(cluster.snapshot_of(root, NOW))
    return cluster


# -------------------------------------------------------------------------------------------------- expanding


def expansion(replicas: int, rounds: int) -> dict[str, list[float]]:
    """Processor seconds for the first plan of a bare set, and for all rounds until it rests; and how many steps."""
    gc.disable()  # as the program does
    found: dict[str, list[float]] = {"first": [], "all": [], "steps": []}
    for measured in range(-1, rounds):  # the first round warms up
        _expand(bare_set(replicas), Configuration(), found if measured >= 0 else None)
    return found


def domains(replicas: int, rounds: int) -> dict[str, list[float]]:
    """The same of a set with a ComputeDomain for each replica, in both modes, and of one without, in turn."""
    gc.disable()  # as the program does
    bare, configured = bare_set(replicas), sharing_set(replicas)
    ways = {
        "operator": (bare, Configuration(mnnvl=MnnvlConfiguration(enabled=True))),
        "annotations": (configured, Configuration(mnnvl=MnnvlConfiguration(enabled=True, mode=MnnvlMode.ANNOTATIONS))),
        "off": (bare, Configuration()),
    }
    found: dict[str, dict[str, list[float]]] = {way: {"first": [], "all": [], "steps": []} for way in ways}
    for measured in range(-1, rounds):  # the first round warms up
        for way, (raw, configuration) in ways.items():
            _expand(raw, configuration, found[way] if measured >= 0 else None)
    for way, each in (("operator", 1), ("annotations", 4)):  # domain; and claim, and both are handed to the gang
        more = {on - off for on, off in zip(found[way]["steps"], found["off"]["steps"], strict=True)}
        if more != {each * replicas}:
            raise RuntimeError(f"in mode {way} {each * replicas} steps more, and not {more}")
    return {f"{key}, {way}": values for way, kept in found.items() for key, values in kept.items()}


def _expand(raw: Json, configured: Configuration, found: dict[str, list[float]] | None) -> None:
    start = process_time()
    root = podcliqueset_from_json(raw)
    snapshot = snapshot_of_newly_created_set(Snapshot(root=root, now=NOW, configuration=configured, served=_SERVED))
    reconcile(snapshot)
    first = process_time() - start
    rested = forecast_until_settled(InMemoryCluster((snapshot,)), snapshot, DESIGN, limit=None, until=None)
    if found is not None:
        found["first"].append(first)
        found["all"].append(process_time() - start)
        found["steps"].append(sum(len(round_.steps) for round_ in rested.rounds))


# ---------------------------------------------------------------------------------------------- answering reviews


def reviews(sets: int, rounds: int) -> dict[str, list[float]]:
    """Processor seconds to answer one review of each kind, from its bytes, with so many other sets in the copy."""
    from grove_shell.webhooks.admission_cache import AdmissionCache  # noqa: PLC0415 - as above
    from grove_shell.webhooks.admission_handlers import podcliqueset_defaults_response, validate_podcliqueset  # noqa: PLC0415 - each process imports what it measures
    from grove_shell.webhooks.admission_review import parse_admission_review  # noqa: PLC0415 - as above

    raw, cache = bare_set(2), AdmissionCache()
    namespace = raw["metadata"]["namespace"]
    others = [{**raw, "metadata": {"name": f"other-{number}", "namespace": namespace}} for number in range(sets)]
    cache.replace_all_of_kind("PodCliqueSet", others, "1")
    kind = {"group": "grove.io", "kind": "PodCliqueSet"}
    asked = {"uid": "u", "kind": kind, "namespace": namespace, "operation": "CREATE", "object": raw}
    review = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": asked}
    body = json.dumps(review).encode()
    found: dict[str, list[float]] = {"defaults": [], "verdict": [], "parse": []}
    for measured in range(-1, rounds * 20):  # the first round warms up
        for way, seconds in found.items():
            start = process_time()
            request = parse_admission_review(body)[0]
            if request is None:
                raise RuntimeError("the review does not read")
            if way != "parse":
                json.dumps(
                    podcliqueset_defaults_response(request)
                    if way == "defaults"
                    else validate_podcliqueset(request, cache)
                )
            if measured >= 0:
                seconds.append(process_time() - start)
    return found


# -------------------------------------------------------------------------------------------------- being called

PROBES: Final[dict[str, Callable[..., Any]]] = {
    probe.__name__: probe
    for probe in (load_facts, json_loads, yaml_load, kept_facts, kept_models, decisions, expansion, domains, reviews)
}

if __name__ == "__main__":
    print(json.dumps(PROBES[sys.argv[1]](**json.loads(sys.argv[2]))))
