"""One run of a small cluster from its seed: random steps and faults, then no faults until nothing changes."""

import random
from collections import Counter
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from grove_core.areas.domain_cliques.daemon.registration_protocols import RegistrationProtocol
from grove_core.areas.domain_cliques.daemon.verdicts import (
    RequestFailed,
    RequestResultKind,
    TooManyRequests,
)
from grove_core.resources.api_names import DOMAIN_CLIQUE_KIND, DOMAIN_KIND
from tests.property.domain_cliques.core_functions import CoreFunctions
from tests.property.domain_cliques.invariants import InvariantChecker, Violation, violations_at_rest
from tests.property.domain_cliques.processes import DOMAIN_NAME, DRIVER_NAMESPACE, NAMESPACE, DaemonProcess, Node
from tests.property.domain_cliques.small_cluster import SmallCluster
from tests.server_side_apply.object_server import Address

FAULTS: Final = (
    "lost answer",
    "lost request",
    "busy",
    "container restart",
    "pod crash",
    "address kept",
    "graceful replacement",
    "second pod",
    "node leaves",
    "node moves",
    "fabric fails",
    "gate flip",
    "domain recreated",
    "clique deleted",
    "entry removed",
    "legacy",
)
FAULT_PROBABILITY: Final = 0.06
ROUNDS: Final = 600
ROUNDS_AT_REST: Final = 12


@dataclass
class RunResult:
    """The result of one run."""

    seed: int
    protocol: RegistrationProtocol
    violation: Violation | None = None
    fault_counts: Counter[str] = field(default_factory=Counter)
    writes: int = 0
    commits: int = 0


def random_cluster(
    seed: int, core: CoreFunctions, protocol: RegistrationProtocol | None = None, wanted: frozenset[str] | None = None
) -> SmallCluster:
    """Return the cluster of a seed before its first step; protocol and faults are random unless they are given."""
    chance = random.Random(f"{seed} setting")
    chosen = protocol or chance.choice(list(RegistrationProtocol))
    cliques = (
        ["a"] * chance.choice([2, 3, 3, 4]) + ["b"] * chance.choice([0, 0, 1, 2]) + [""] * chance.choice([0, 0, 1])
    )
    nodes = tuple(Node(f"n{number}", clique) for number, clique in enumerate(cliques))
    faults = frozenset(chance.sample(FAULTS, chance.choice([0, 1, 2, 3, 4])))
    faults = faults if wanted is None else wanted
    limit = chance.choice([18, 18, 4, 3])
    return SmallCluster(seed, nodes, chosen, InvariantChecker(), core, limit=limit, faults=faults)


def run_seed(
    seed: int,
    core: CoreFunctions | None = None,
    protocol: RegistrationProtocol | None = None,
    faults: frozenset[str] | None = None,
) -> RunResult:
    """Run the cluster of a seed; return the result with its first violation."""
    result = RunResult(seed, RegistrationProtocol.SSA)
    try:
        cluster = random_cluster(seed, core or CoreFunctions(), protocol, faults)
        result.protocol = cluster.protocol
        RandomRun(cluster, result).run()
        result.commits = len(cluster.server.history)
    except Violation as violation:
        result.violation = violation
    return result


class RandomRun:
    """Random steps of a cluster, then steps until it is at rest."""

    def __init__(self, cluster: SmallCluster, result: RunResult) -> None:
        self.cluster = cluster
        self.result = result
        self.chance = cluster.chance
        self.flipped = False

    def run(self) -> None:
        cluster, chance = self.cluster, self.chance
        if "legacy" in cluster.faults:
            self.legacy()
        waiting = list(cluster.nodes)
        chance.shuffle(waiting)
        for _ in range(chance.choice([60, 120, 180])):
            cluster.now += timedelta(milliseconds=chance.choice([1, 5, 10, 20, 300]))
            if waiting and chance.random() < 0.25:
                cluster.start_pod(waiting.pop())
            elif chance.random() < FAULT_PROBABILITY and cluster.faults:
                self.fault(chance.choice(sorted(cluster.faults - {"legacy"} or {"lost answer"})))
            else:
                self.step()
        for node in waiting:
            cluster.start_pod(node)
        self.reach_rest()
        for code, message in violations_at_rest(cluster):
            raise Violation(code, message)
        self.check_rest()

    def step(self) -> None:
        """Take a random step: mostly of a daemon, sometimes of a view or of the controller."""
        cluster, chance = self.cluster, self.chance
        kind = chance.choices(["go on", "deliver", "ready", "see", "tick", "gc"], [60, 14, 8, 9, 8, 1])[0]
        process = chance.choice(cluster.processes) if cluster.processes else None
        if kind == "see":
            cluster.controller.advance_views(chance.choice([0, 1, 3, None]), chance.choice([0, 2, None, None]))
        elif kind == "tick":
            cluster.controller.reconcile_once()
        elif kind == "gc":
            cluster.collect_garbage()
        elif process is None:
            return
        elif kind == "deliver":
            cluster.deliver_events(process, chance.choice([1, 2, 5, None]))
        elif kind == "ready":
            self.report(process)
        elif process.answer is not None:
            cluster.receive(process)
        elif process.pending is not None:
            cluster.execute(process)
        else:
            cluster.decide(process)

    def report(self, process: DaemonProcess) -> None:
        if process.identity.clique:
            self.cluster.report(process, ready=True)
        else:
            self.cluster.report_pod_ready(process)

    # faults

    def fault(self, what: str) -> None:
        cluster, chance = self.cluster, self.chance
        process = chance.choice(cluster.processes) if cluster.processes else None
        self.result.fault_counts[what] += 1
        if what == "gate flip":
            self.flip()
        elif what == "domain recreated":
            cluster.server.delete(Address(DOMAIN_KIND, NAMESPACE, DOMAIN_NAME))
            cluster.make_domain()
        elif what == "clique deleted":
            for body in cluster.server.all_of(DOMAIN_CLIQUE_KIND)[:1]:
                address = Address(DOMAIN_CLIQUE_KIND, DRIVER_NAMESPACE, body["metadata"]["name"])
                cluster.commit(None, None, lambda address=address: cluster.server.delete(address))
        elif what == "entry removed":
            self.remove_an_entry()
        elif process is not None:
            self.process_fault(what, process)

    def process_fault(self, what: str, process: DaemonProcess) -> None:
        if what in {"lost answer", "lost request", "busy"}:
            self.lose_request(what, process)
        elif what in {"node moves", "node leaves"}:
            self.change_nodes(what, process)
        else:
            self.process_event(what, process)

    def lose_request(self, what: str, process: DaemonProcess) -> None:
        cluster = self.cluster
        under_way = process.pending is not None
        if what == "lost answer" and under_way:
            if process.answer is None:
                cluster.execute(process)
            cluster.receive(process, RequestFailed(RequestResultKind.NO_RESPONSE))
        elif what == "lost request" and under_way and process.answer is None:
            cluster.receive(process, RequestFailed(RequestResultKind.NO_RESPONSE))
        elif what == "busy" and under_way and process.answer is None:
            cluster.receive(
                process,
                TooManyRequests(timedelta(milliseconds=500)),
            )

    def process_event(self, what: str, process: DaemonProcess) -> None:
        cluster = self.cluster
        if what == "container restart" and process.stop_deadline is None:
            cluster.restart(process)
        elif what == "pod crash":
            cluster.end(process)
            cluster.start_pod(self.node_of(process))
        elif what == "address kept":
            cluster.end(process)
            shared = any(other.identity.node == process.identity.node for other in cluster.processes)
            cluster.start_pod(self.node_of(process), "" if shared else process.identity.ip)
        elif what == "graceful replacement":
            cluster.stop(process)
        elif what == "second pod":
            cluster.start_pod(self.node_of(process))
        elif what == "fabric fails":
            cluster.report(process, ready=False)

    def change_nodes(self, what: str, process: DaemonProcess) -> None:
        cluster = self.cluster
        if (
            what == "node moves"
            and process.identity.clique
            and process.identity.node in {node.name for node in cluster.nodes}
        ):
            moved = Node(process.identity.node, "b" if process.identity.clique == "a" else "a")
            cluster.nodes = tuple(moved if node.name == moved.name else node for node in cluster.nodes)
            for other in [other for other in cluster.processes if other.identity.node == moved.name]:
                cluster.end(other)
            cluster.start_pod(moved)
        elif what == "node leaves" and len(cluster.processes) > 1:
            cluster.end(process)
            cluster.nodes = tuple(node for node in cluster.nodes if node.name != process.identity.node)

    def node_of(self, process: DaemonProcess) -> Node:
        return Node(process.identity.node, process.identity.clique)

    def flip(self) -> None:
        """Flip the feature gate for new pods; old pods are replaced one by one."""
        cluster = self.cluster
        other = {
            RegistrationProtocol.RMW: RegistrationProtocol.SHARDED_RMW,
            RegistrationProtocol.SSA: RegistrationProtocol.SHARDED,
        }
        back = {new: old for old, new in other.items()}
        cluster.protocol = {**other, **back}[cluster.protocol]
        self.flipped = True

    def remove_an_entry(self) -> None:
        """Remove the entry of a living daemon by another writer."""
        cluster = self.cluster
        for address, body in list(cluster.stored()):
            key, part = ("nodes", "status") if address.kind == DOMAIN_KIND else ("daemons", "")
            found = (body.get("status", {}) if part else body).get(key, [])
            if found:
                kept = found[1:]
                fields = {"status": {key: kept}} if part else {key: kept}
                cluster.commit(
                    None,
                    None,
                    lambda address=address, fields=fields, part=part: cluster.server.patch(
                        address, fields, "another", part
                    ),
                )
                return

    def legacy(self) -> None:
        """Write entries of older daemons under their manager, some with duplicate indices, some without any."""
        cluster, chance = self.cluster, self.chance
        self.result.fault_counts["legacy"] += 1
        roomy = len(cluster.nodes) <= cluster.limit

        def indices(at: int) -> list[int]:
            return [0, at] if roomy else [at]

        nodes = [
            {"name": node.name, "ipAddress": f"10.9.9.{at}", "cliqueID": node.clique}
            | ({"index": chance.choice(indices(at))} if chance.random() < 0.7 else {})
            | ({"status": "Ready"} if chance.random() < 0.5 else {})
            for at, node in enumerate(cluster.nodes)
            if node.clique
        ]
        cluster.server.patch(
            Address(DOMAIN_KIND, NAMESPACE, DOMAIN_NAME),
            {"status": {"nodes": nodes}},
            "compute-domain-daemon",
            "status",
        )

    # the end of faults

    def reach_rest(self) -> None:
        """Take steps of all processes without faults until nothing changes; time advances when nothing changes."""
        self.end_leftovers()
        rounds_at_rest = 0
        for _ in range(ROUNDS):
            if self.turn():
                rounds_at_rest = 0
            else:
                rounds_at_rest += 1
                self.advance_time()
            if rounds_at_rest > ROUNDS_AT_REST:
                return
            self.replace_missing_pods()
        raise Violation("20", "it does not come to rest")

    def end_leftovers(self) -> None:
        cluster = self.cluster
        uid = cluster.domain["metadata"]["uid"]
        for process in list(cluster.processes):
            if process.identity.domain_uid != uid:
                cluster.end(process)
            elif self.flipped and process.settings.protocol is not cluster.protocol:
                cluster.stop(process)
        self.replace_missing_pods()

    def replace_missing_pods(self) -> None:
        """Start a pod on each node without one, as a DaemonSet does."""
        cluster = self.cluster
        there = {process.identity.node for process in cluster.processes}
        for node in cluster.nodes:
            if node.name not in there:
                cluster.start_pod(node)

    def turn(self) -> bool:
        """One step of every process; return whether anything changed."""
        cluster = self.cluster
        version, did = cluster.server.version, False
        for process in list(cluster.processes):
            cluster.deliver_events(process)
            if process.pending is not None:
                if process.answer is None:
                    cluster.execute(process)
                cluster.receive(process)
            fabric = process.fabric
            if fabric is None or not fabric.ready:
                self.report(process)
            local = cluster.decide(process)
            did = did or (local and process.pending is None)
        cluster.collect_garbage()
        cluster.controller.advance_views()
        cluster.controller.reconcile_once()
        return did or cluster.server.version != version

    def advance_time(self) -> None:
        self.cluster.now += timedelta(seconds=5)

    def check_rest(self) -> None:
        """Check that no process writes at rest (20)."""
        cluster = self.cluster
        before = {process: process.writes for process in cluster.processes}
        version = cluster.server.version
        for _ in range(4):
            self.turn()
            self.advance_time()
        if cluster.server.version != version or any(process.writes != before[process] for process in cluster.processes):
            raise Violation("20", "a process writes although nothing changes")
        self.result.writes = sum(process.writes for process in cluster.processes)
