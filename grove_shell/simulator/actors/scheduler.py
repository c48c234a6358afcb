"""The scheduler: a gang is placed as one or not at all, then pod by pod; the same world is always placed alike."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace

from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.refs import Ref
from grove_core.resources.api_names import SCHEDULER
from grove_core.resources.placement import NO_PACK, NO_PLACEMENT
from grove_core.resources.pod import UNSCHEDULABLE, Pod
from grove_core.resources.podclique import PodClique
from grove_core.resources.podgang import PodGang
from grove_shell.simulator.actors.gang_packing import Block, Found, block_of, give_back, placed_in, required_in
from grove_shell.simulator.cluster.changes import Change
from grove_shell.simulator.cluster.nodes import ENDLESS, NO_REQUESTS, Node, PodRequests, count_pods, requests_of
from grove_shell.simulator.cluster.simulated_cluster import SimulatedCluster, is_live
from grove_shell.simulator.recording.history import Actor, EntryKind, History
from grove_shell.simulator.scenario.scenario import SchedulerSpec


class Scheduler:
    """Looks a moment after there is something to place, or room to place it in.

    Attributes:
        pending: pods that wait for a node, by uid.
    """

    def __init__(
        self, cluster: SimulatedCluster, nodes: dict[str, Node], spec: SchedulerSpec, history: History
    ) -> None:
        self.cluster = cluster
        self.nodes = nodes
        self.spec = spec
        self.history = history
        self.pending: dict[str, Pod] = {}
        self._asks: dict[tuple[str, str], PodRequests] = {}
        self._reported: dict[tuple[str, str], str] = {}
        self._noted = False

    def on_changes(self, changes: Iterable[Change]) -> None:
        """Learn what there is to place, and whether it is worth another try."""
        worth = False
        for change in changes:
            if change.kind == "Pod":
                worth |= self._hear_of_pod(change)
            elif change.kind == "PodGang":
                worth = True
        if worth:
            self.nudge()

    def nudge(self) -> None:
        """Something changed that may let pods be placed."""
        if self.pending and not self._noted:
            self._noted = True
            self.cluster.queue.schedule_after(self.spec.delay, self._look)

    def asks(self, pod: Pod) -> PodRequests:
        """What a pod asks of its node; nothing where nobody knows its manifest."""
        key = (pod.owner_uid, pod.template_hash)
        found = self._asks.get(key)
        if found is None:
            manifest = self.cluster.server.manifests.get(pod.ref)
            spec = manifest.get("spec") if manifest is not None else None
            found = self._asks[key] = requests_of(spec) if isinstance(spec, FrozenMap) else NO_REQUESTS
        return found

    def _hear_of_pod(self, change: Change) -> bool:
        before, pod = change.before, change.after
        if not isinstance(pod, Pod) or pod.node or not is_live(pod) or pod.gated or pod.has_grove_gate:
            gone = self.pending.pop(change.object.uid, None)
            freed = isinstance(before, Pod) and bool(before.node) and (not isinstance(pod, Pod) or not is_live(pod))
            return freed or (gone is not None and not isinstance(pod, Pod))
        new = pod.uid not in self.pending
        self.pending[pod.uid] = pod
        return new

    def _look(self) -> None:
        """One pass over everything that waits."""
        self._noted = False
        count_pods(self.nodes.values(), ((pod, self.asks(pod)) for pod in self.cluster.pods() if pod.node))
        cliques = {item.uid: item for item in self.cluster.server.items.values() if isinstance(item, PodClique)}
        gangs: defaultdict[tuple[str, str], list[Pod]] = defaultdict(list)
        for uid, pod in tuple(self.pending.items()):
            stored = self.cluster.server.pod(pod.ref)
            if stored is None or stored.uid != uid or stored.owner_uid not in cliques:
                del self.pending[uid]  # it went in this very moment
            else:
                gangs[stored.namespace, stored.gang].append(stored)
        self._reported = {gang: why for gang, why in self._reported.items() if gang in gangs}
        for (namespace, name), waiting in sorted(gangs.items()):
            pods = sorted(waiting, key=lambda pod: (cliques[pod.owner_uid].ref.name, pod.index, pod.name))
            gang = self.cluster.server.items.get(Ref(SCHEDULER, "PodGang", namespace, name))
            if isinstance(gang, PodGang) and self.spec.gang_aware and not gang.deleting:
                pods = self._place_gang(gang, pods, cliques)
            else:
                gang = None
            left = [pod for pod in pods if not self._place(pod, gang, cliques)]
            for pod in left:
                self._give_up(pod)
            if left and (namespace, name) not in self._reported:
                self._tell(name, left, f"{len(left)} of its pods fit nowhere{self._lack(left[0])}")

    def _place_gang(self, gang: PodGang, pods: list[Pod], cliques: Mapping[str, PodClique]) -> list[Pod]:
        """Place what the gang needs at once, or nothing; what may still be placed pod by pod is given back."""
        waiting: defaultdict[str, list[Pod]] = defaultdict(list)
        for pod in pods:
            waiting[cliques[pod.owner_uid].ref.name].append(pod)
        needed: list[Pod] = []
        for group in gang.groups:
            placed = self._placed(group.name, gang, cliques)
            missing = max(group.min_replicas - placed, 0)
            needed += waiting[group.name][:missing]
            if missing > len(waiting[group.name]):
                self._tell(
                    gang.ref.name, pods, f"it needs {missing} pods of {group.name}, {len(waiting[group.name])} wait"
                )
                return self._refuse(pods)
        needed.sort(key=lambda pod: sorted(self.asks(pod).amounts.items()), reverse=True)
        found = self._found(gang, needed, cliques)
        if found is None:
            self._tell(gang.ref.name, pods, self._shortage(gang, needed))
            return self._refuse(pods)
        for pod, node in sorted(found, key=lambda pair: pair[0].name):
            self._bind(pod, node, cliques)
        chosen = {pod.uid for pod in needed}
        return [pod for pod in pods if pod.uid not in chosen]

    def _found(self, gang: PodGang, pods: Iterable[Pod], cliques: Mapping[str, PodClique]) -> Found | None:
        """Nodes for these pods of a gang, as near to each other as it says and to those that are placed."""
        block = Block(NO_PACK, tuple(pods))
        if gang.placement._replace(topology="") != NO_PLACEMENT:
            waiting: defaultdict[str, list[Pod]] = defaultdict(list)
            for pod in block.pods:
                waiting[cliques[pod.owner_uid].ref.name].append(pod)
            block = block_of(gang.placement, waiting, self._company(gang, cliques))
        return placed_in(block, tuple(self.nodes.values()), self.asks, self._best)

    def _company(self, gang: PodGang, cliques: Mapping[str, PodClique]) -> dict[str, list[Node]]:
        """By PodClique, the nodes of the pods of a gang that are placed and count."""
        found: defaultdict[str, list[Node]] = defaultdict(list)
        for uid, clique in cliques.items():
            for pod in self.cluster.server.pods.get(uid, ()):
                if pod.namespace == gang.ref.namespace and pod.gang == gang.ref.name and is_live(pod):
                    found[clique.ref.name] += [self.nodes[pod.node]] if pod.node in self.nodes else []
        return found

    def _shortage(self, gang: PodGang, needed: list[Pod]) -> str:
        """Why there are no nodes for what a gang needs: room, or room so near."""
        taken: Found = []
        nodes, why = tuple(self.nodes.values()), ""
        for pod in needed:
            found = placed_in(Block(NO_PACK, (pod,)), nodes, self.asks, self._best)
            if found is None:
                why = f"there are some for {len(taken)}{self._lack(pod)}"
                break
            taken += found
        give_back(taken, self.asks)
        keys = ", ".join(sorted(required_in(gang.placement)))
        return f"it needs nodes for {len(needed)} pods at once, {why or f'and there are none so near by {keys}'}"

    def _placed(self, clique: str, gang: PodGang, cliques: Mapping[str, PodClique]) -> int:
        return sum(
            pod.scheduled and is_live(pod) and pod.gang == gang.ref.name
            for uid, found in cliques.items()
            if found.ref.name == clique and found.ref.namespace == gang.ref.namespace
            for pod in self.cluster.server.pods.get(uid, ())
        )

    def _refuse(self, pods: Iterable[Pod]) -> list[Pod]:
        for pod in pods:
            self._give_up(pod)
        return []

    def _place(self, pod: Pod, gang: PodGang | None, cliques: Mapping[str, PodClique]) -> bool:
        """Place a pod by itself; it may have to stand near the others of its gang."""
        if gang is not None:
            found = self._found(gang, (pod,), cliques)
        else:
            found = placed_in(Block(NO_PACK, (pod,)), tuple(self.nodes.values()), self.asks, self._best)
        for placed, node in found or ():
            self._bind(placed, node, cliques)
        return found is not None

    def _best(self, asks: PodRequests, nodes: Iterable[Node]) -> Node | None:
        """The fullest node that has room; of equal ones the first by name."""
        fitting = (
            node
            for node in nodes
            if not (node.cordoned or node.unready) and asks.suit(node) and node.has_room(asks.amounts)
        )
        return min(fitting, key=lambda node: (node.room_after(asks.amounts), len(node.name), node.name), default=None)

    def _lack(self, pod: Pod) -> str:
        """What no node has at all that a pod asks for; words to add, empty where size or room is what lacks."""
        if not self.nodes:
            return "; the scenario has no nodes"
        asked = (resource for resource, amount in self.asks(pod).amounts.items() if amount and resource not in ENDLESS)
        lacking = sorted(name for name in asked if not any(name in node.capacity for node in self.nodes.values()))
        return f"; no node has {', '.join(lacking)}" if lacking else ""

    def _bind(self, pod: Pod, node: Node, cliques: Mapping[str, PodClique]) -> None:
        del self.pending[pod.uid]
        self._reported.pop((pod.namespace, pod.gang), None)
        self.cluster.put_pod(replace(pod, node=node.name, scheduled=True, trouble=""))
        clique = cliques[pod.owner_uid].ref.name
        self.history.record(
            self.cluster.queue.now, Actor.SCHEDULER, EntryKind.PLACED, pod.ref, clique=clique, detail=node.name
        )

    def _give_up(self, pod: Pod) -> None:
        if pod.trouble != UNSCHEDULABLE:
            self.pending[pod.uid] = replace(pod, trouble=UNSCHEDULABLE)
            self.cluster.put_pod(replace(pod, trouble=UNSCHEDULABLE))

    def _tell(self, gang: str, pods: list[Pod], why: str) -> None:
        key = (pods[0].namespace, gang)
        if self._reported.get(key) != why:
            self._reported[key] = why
            ref = Ref(SCHEDULER, "PodGang", pods[0].namespace, gang)
            self.history.record(
                self.cluster.queue.now, Actor.SCHEDULER, EntryKind.UNPLACED, ref, detail=str(len(pods)), because=(why,)
            )
