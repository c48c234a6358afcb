"""One world from its seed: it is set up, chance has its way with it, faults end, and it comes to rest."""

import random
from collections import Counter
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from grove_core.areas.domain_cliques.protocols import Protocol
from grove_core.areas.domain_cliques.verdicts import RequestResult, ResultKind
from grove_core.resources.compute_domain import DOMAIN_KIND
from grove_core.resources.compute_domain_clique import CLIQUE_KIND
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
RARE: Final = 0.06
ROUNDS: Final = 600
QUIET: Final = 12


@dataclass
class RunResult:
    """What became of one world."""

    seed: int
    protocol: Protocol
    broken: Violation | None = None
    happened: Counter[str] = field(default_factory=Counter)
    writes: int = 0
    commits: int = 0


def random_cluster(
    seed: int, core: CoreFunctions, protocol: Protocol | None = None, wanted: frozenset[str] | None = None
) -> SmallCluster:
    """The world of a seed, before anything happens in it; protocol and faults may be given instead of drawn."""
    chance = random.Random(f"{seed} setting")
    chosen = protocol or chance.choice(list(Protocol))
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
    protocol: Protocol | None = None,
    faults: frozenset[str] | None = None,
) -> RunResult:
    """Play a world to its end; what was broken first, if anything was."""
    told = RunResult(seed, Protocol.SSA)
    try:
        world = random_cluster(seed, core or CoreFunctions(), protocol, faults)
        told.protocol = world.protocol
        RandomRun(world, told).run()
        told.commits = len(world.server.history)
    except Violation as broken:
        told.broken = broken
    return told


class RandomRun:
    """Chance, and whoever lets the world come to rest."""

    def __init__(self, world: SmallCluster, told: RunResult) -> None:
        self.world = world
        self.told = told
        self.chance = world.chance
        self.flipped = False

    def run(self) -> None:
        world, chance = self.world, self.chance
        if "legacy" in world.faults:
            self.legacy()
        waiting = list(world.nodes)
        chance.shuffle(waiting)
        for _ in range(chance.choice([60, 120, 180])):
            world.now += timedelta(milliseconds=chance.choice([1, 5, 10, 20, 300]))
            if waiting and chance.random() < 0.25:
                world.start_pod(waiting.pop())
            elif chance.random() < RARE and world.faults:
                self.fault(chance.choice(sorted(world.faults - {"legacy"} or {"lost answer"})))
            else:
                self.step()
        for node in waiting:
            world.start_pod(node)
        self.come_to_rest()
        for code, says in violations_at_rest(world):
            raise Violation(code, says)
        self.stays_at_rest()

    def step(self) -> None:
        """Mostly somebody goes on with what it does; views and the controller move now and then."""
        world, chance = self.world, self.chance
        kind = chance.choices(["go on", "deliver", "ready", "see", "tick", "gc"], [60, 14, 8, 9, 8, 1])[0]
        process = chance.choice(world.processes) if world.processes else None
        if kind == "see":
            world.controller.see(chance.choice([0, 1, 3, None]), chance.choice([0, 2, None, None]))
        elif kind == "tick":
            world.controller.tick()
        elif kind == "gc":
            world.collect_garbage()
        elif process is None:
            return
        elif kind == "deliver":
            world.deliver(process, chance.choice([1, 2, 5, None]))
        elif kind == "ready":
            self.report(process)
        elif process.answer is not None:
            world.hear(process)
        elif process.pending is not None:
            world.carry_out(process)
        else:
            world.work(process)

    def report(self, process: DaemonProcess) -> None:
        if process.identity.clique:
            self.world.report(process, ready=True)
        else:
            self.world.report_fabricless(process)

    # faults

    def fault(self, what: str) -> None:
        world, chance = self.world, self.chance
        process = chance.choice(world.processes) if world.processes else None
        self.told.happened[what] += 1
        if what == "gate flip":
            self.flip()
        elif what == "domain recreated":
            world.server.delete(Address(DOMAIN_KIND, NAMESPACE, DOMAIN_NAME))
            world.make_domain()
        elif what == "clique deleted":
            for body in world.server.all_of(CLIQUE_KIND)[:1]:
                address = Address(CLIQUE_KIND, DRIVER_NAMESPACE, body["metadata"]["name"])
                world.commit(None, None, lambda address=address: world.server.delete(address))
        elif what == "entry removed":
            self.remove_an_entry()
        elif process is not None:
            self.fault_of(what, process)

    def fault_of(self, what: str, process: DaemonProcess) -> None:
        if what in {"lost answer", "lost request", "busy"}:
            self.lose(what, process)
        elif what in {"node moves", "node leaves"}:
            self.change_nodes(what, process)
        else:
            self.disturb(what, process)

    def lose(self, what: str, process: DaemonProcess) -> None:
        world = self.world
        under_way = process.pending is not None
        if what == "lost answer" and under_way:
            if process.answer is None:
                world.carry_out(process)
            world.hear(process, RequestResult(kind=ResultKind.NO_RESPONSE))
        elif what == "lost request" and under_way and process.answer is None:
            world.hear(process, RequestResult(kind=ResultKind.NO_RESPONSE))
        elif what == "busy" and under_way and process.answer is None:
            world.hear(
                process, RequestResult(kind=ResultKind.TOO_MANY_REQUESTS, retry_after=timedelta(milliseconds=500))
            )

    def disturb(self, what: str, process: DaemonProcess) -> None:
        world = self.world
        if what == "container restart" and process.stop_deadline is None:
            world.restart(process)
        elif what == "pod crash":
            world.end(process)
            world.start_pod(self.node_of(process))
        elif what == "address kept":
            world.end(process)
            shared = any(other.identity.node == process.identity.node for other in world.processes)
            world.start_pod(self.node_of(process), "" if shared else process.identity.ip)
        elif what == "graceful replacement":
            world.stop(process)
        elif what == "second pod":
            world.start_pod(self.node_of(process))
        elif what == "fabric fails":
            world.report(process, ready=False)

    def change_nodes(self, what: str, process: DaemonProcess) -> None:
        world = self.world
        if (
            what == "node moves"
            and process.identity.clique
            and process.identity.node in {node.name for node in world.nodes}
        ):
            moved = Node(process.identity.node, "b" if process.identity.clique == "a" else "a")
            world.nodes = tuple(moved if node.name == moved.name else node for node in world.nodes)
            for other in [other for other in world.processes if other.identity.node == moved.name]:
                world.end(other)
            world.start_pod(moved)
        elif what == "node leaves" and len(world.processes) > 1:
            world.end(process)
            world.nodes = tuple(node for node in world.nodes if node.name != process.identity.node)

    def node_of(self, process: DaemonProcess) -> Node:
        return Node(process.identity.node, process.identity.clique)

    def flip(self) -> None:
        """New pods come with the gate the other way; old ones are replaced one after the other."""
        world = self.world
        other = {Protocol.RMW: Protocol.SHARDED_RMW, Protocol.SSA: Protocol.SHARDED}
        back = {new: old for old, new in other.items()}
        world.protocol = {**other, **back}[world.protocol]
        self.flipped = True

    def remove_an_entry(self) -> None:
        """Somebody takes an entry away that is a living daemon's."""
        world = self.world
        for address, body in list(world.stored()):
            key, part = ("nodes", "status") if address.kind == DOMAIN_KIND else ("daemons", "")
            found = (body.get("status", {}) if part else body).get(key, [])
            if found:
                kept = found[1:]
                fields = {"status": {key: kept}} if part else {key: kept}
                world.commit(
                    None,
                    None,
                    lambda address=address, fields=fields, part=part: world.server.patch(
                        address, fields, "somebody", part
                    ),
                )
                return

    def legacy(self) -> None:
        """An older daemon of each node left its entry, under its own manager; some share an index, some have none."""
        world, chance = self.world, self.chance
        self.told.happened["legacy"] += 1
        roomy = len(world.nodes) <= world.limit

        def indices(at: int) -> list[int]:
            return [0, at] if roomy else [at]

        nodes = [
            {"name": node.name, "ipAddress": f"10.9.9.{at}", "cliqueID": node.clique}
            | ({"index": chance.choice(indices(at))} if chance.random() < 0.7 else {})
            | ({"status": "Ready"} if chance.random() < 0.5 else {})
            for at, node in enumerate(world.nodes)
            if node.clique
        ]
        world.server.patch(
            Address(DOMAIN_KIND, NAMESPACE, DOMAIN_NAME),
            {"status": {"nodes": nodes}},
            "compute-domain-daemon",
            "status",
        )

    # the end of faults

    def come_to_rest(self) -> None:
        """No fault any more, everybody gets a turn, and time passes where nobody has anything to do."""
        self.let_leftovers_go()
        quiet = 0
        for _ in range(ROUNDS):
            if self.turn():
                quiet = 0
            else:
                quiet += 1
                self.pass_time()
            if quiet > QUIET:
                return
            self.replace_the_fallen()
        raise Violation("20", "it does not come to rest")

    def let_leftovers_go(self) -> None:
        world = self.world
        uid = world.domain["metadata"]["uid"]
        for process in list(world.processes):
            if process.identity.domain_uid != uid:
                world.end(process)
            elif self.flipped and process.settings.protocol is not world.protocol:
                world.stop(process)
        self.replace_the_fallen()

    def replace_the_fallen(self) -> None:
        """What a DaemonSet does: one pod for each node."""
        world = self.world
        there = {process.identity.node for process in world.processes}
        for node in world.nodes:
            if node.name not in there:
                world.start_pod(node)

    def turn(self) -> bool:
        """Everybody once; whether anything changed."""
        world = self.world
        version, did = world.server.version, False
        for process in list(world.processes):
            world.deliver(process)
            if process.pending is not None:
                if process.answer is None:
                    world.carry_out(process)
                world.hear(process)
            fabric = process.fabric
            if fabric is None or not fabric.ready:
                self.report(process)
            local = world.work(process)
            did = did or (local and process.pending is None)
        world.collect_garbage()
        world.controller.see()
        world.controller.tick()
        return did or world.server.version != version

    def pass_time(self) -> None:
        self.world.now += timedelta(seconds=5)

    def stays_at_rest(self) -> None:
        """Nothing changes, so nobody writes (20)."""
        world = self.world
        before = {process: process.writes for process in world.processes}
        version = world.server.version
        for _ in range(4):
            self.turn()
            self.pass_time()
        if world.server.version != version or any(process.writes != before[process] for process in world.processes):
            raise Violation("20", "somebody writes although nothing changes")
        self.told.writes = sum(process.writes for process in world.processes)
