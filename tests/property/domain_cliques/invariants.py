"""Invariants of registration, checked on what is stored and on what runs, not on decisions."""

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from grove_core.areas.domain_cliques.daemon.daemon_input import DaemonInput
from grove_core.areas.domain_cliques.daemon.registration_protocols import RegistrationProtocol
from grove_core.areas.domain_cliques.daemon.verdicts import (
    ApplyRequest,
    DaemonAction,
    PostRequest,
    PushPeersAction,
    PutRequest,
    RemoveEntryRequest,
    RestartFabricAction,
    StartFabricAction,
)
from grove_core.areas.domain_cliques.domain_snapshot import ComputeDomainSnapshot
from grove_core.kernel.frozen import thaw_json
from grove_core.plan.plan import Plan
from grove_core.resources.api_names import DOMAIN_CLIQUE_KIND, DOMAIN_KIND
from grove_core.resources.compute_domain import NOT_READY, READY, ComputeDomain, DaemonPod
from grove_core.resources.daemon_entry_lists import DaemonRegistry
from tests.property.domain_cliques.processes import Commit, DaemonProcess
from tests.property.domain_cliques.small_cluster import SmallCluster
from tests.server_side_apply.object_server import Address

Json = dict[str, Any]
FIELDS: Final = frozenset({"ipAddress", "cliqueID", "index", "status"})


class Violation(AssertionError):
    """An invariant was violated; ``code`` is its number in the list of invariants, or IX1 to IX8."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code} {message}")
        self.code = code


class InvariantChecker:
    """Checks the invariants of one small cluster."""

    def __init__(self) -> None:
        self.sources: set[RegistrationProtocol] = set()
        self.pods_version = 0
        self.registered: set[tuple[str, str]] = set()
        self.addresses: dict[str, frozenset[str]] = {}

    def on_decision(
        self, cluster: SmallCluster, process: DaemonProcess, context: DaemonInput, action: DaemonAction
    ) -> None:
        self.sources.add(process.settings.protocol)
        registry = context.registry
        if isinstance(action, StartFabricAction | PushPeersAction | RestartFabricAction):
            held = Counter(
                entry.index
                for entry in (registry.daemon_entries if registry is not None else ())
                if entry.clique == process.identity.clique and entry.index is not None
            )
            twice = [index for index, count in held.items() if count > 1]
            require(not twice, "2", f"{process.identity.node} pushes while {twice} have two holders")
        if isinstance(action, ApplyRequest | PutRequest | PostRequest):
            seen = context.state.observed.version if context.state.observed is not None else 0
            require(
                seen >= process.last_own_version,
                "IX2",
                f"{process.identity.node} writes from a view older than its last response",
            )
            foreign = isinstance(registry, ComputeDomain) and registry.uid != process.identity.domain_uid
            require(not foreign, "10", f"{process.identity.node} writes to another domain")
            self.check_index(process, context, action)

    def check_index(
        self, process: DaemonProcess, context: DaemonInput, action: ApplyRequest | PutRequest | PostRequest
    ) -> None:
        """Check gap filling (9) and sticky indices (8) in the view that the index was chosen from."""
        identity, registry = process.identity, context.registry
        body = thaw_json(action.fields if isinstance(action, ApplyRequest) else action.manifest)
        written = entries(body).get(identity.node)
        if written is None:
            return
        all_entries = [
            entry
            for entry in (registry.daemon_entries if registry is not None else ())
            if entry.clique == identity.clique
        ]
        other = context.state.other_registry
        foreign = [
            entry for entry in (other.daemon_entries if other is not None else ()) if entry.clique == identity.clique
        ]
        used = {entry.index for entry in (*all_entries, *foreign) if entry.node != identity.node}
        own = next((entry for entry in all_entries if entry.node == identity.node), None)
        running = context.fabric.index if context.fabric is not None else None
        elsewhere = next(
            (entry.index for entry in (other.daemon_entries if other else ()) if entry.node == identity.node), None
        )
        require(written.keys() >= FIELDS, "5", f"{identity.node} writes only {sorted(written)}")
        index, stored = written["index"], own.index if own is not None else None
        stays = own is not None and (own.ip, own.index) == (identity.ip, index)
        require(
            stays or written["status"] != READY,
            "D44",
            f"{identity.node} registers with index {index} and is ready at once",
        )
        if stored is not None and stored not in used and 0 <= stored < index_limit(context) and running is None:
            moved = context.state.settled_index is not None
            require(index == stored or moved, "8", f"{identity.node} had {stored}, which is free, and takes {index}")
        elif index not in {stored, running, elsewhere}:
            free = next(number for number in range(index_limit(context) + 1) if number not in used)
            require(index == free, "9", f"{identity.node} takes {index}, and {free} is the smallest free one")

    def on_fabric_change(self, cluster: SmallCluster, process: DaemonProcess) -> None:
        """Check that no two started, undisturbed and newest daemons of a clique have one index (2, IX1)."""
        newest = newest_of(cluster, process.identity.domain_uid).values()
        running = [other for other in newest if other.fabric is not None and not other.is_disturbed]
        held = Counter((other.identity.clique, other.fabric.index) for other in running if other.fabric is not None)
        twice = [what for what, count in held.items() if count > 1]
        require(not twice, "IX1", f"two daemons run with {twice}")

    def on_commit(self, cluster: SmallCluster, commit: Commit) -> None:
        if commit.address.kind == "Pod":
            return
        before, after = entries(commit.before), entries(commit.after)
        replaced = (
            commit.before is not None
            and commit.after is not None
            and commit.before["metadata"]["uid"] != commit.after["metadata"]["uid"]
        )
        changed = {node for node in before.keys() | after.keys() if before.get(node) != after.get(node)}
        if commit.by is not None and not replaced:
            self.check_daemon_write(cluster, commit, commit.by, before, after, changed)
        elif commit.controller:
            self.check_controller_write(cluster, commit, before, after, changed)
        if commit.after is not None:
            self.check_object(cluster, commit)
        if commit.by is not None:
            self.update_disturbed(cluster, commit.by)
        for other in cluster.processes:
            touched = other.identity.node in changed and other is not commit.by
            if touched and before.get(other.identity.node, {}).get("ipAddress") == other.identity.ip:
                other.is_disturbed = True

    def update_disturbed(self, cluster: SmallCluster, process: DaemonProcess) -> None:
        """Clear the disturbed mark of a daemon that settled on the stored index, runs with it and has it alone."""
        stored = dict(all_entries(cluster))
        own = own_entry(stored, process)
        last_own_version = own is not None and process.state.settled_index == own.get("index")
        if (
            own is not None
            and last_own_version
            and (process.fabric is None or process.fabric.index == own.get("index"))
        ):
            place = (own["cliqueID"], own.get("index"))
            held = [node for (_, node), item in stored.items() if (item["cliqueID"], item.get("index")) == place]
            process.is_disturbed = process.is_disturbed and any(node != process.identity.node for node in held)

    def check_daemon_write(
        self, cluster: SmallCluster, commit: Commit, by: DaemonProcess, before: Json, after: Json, changed: set[str]
    ) -> None:
        identity = by.identity
        require(
            changed <= {identity.node},
            "4",
            f"{identity.node} changed the entries of {sorted(changed - {identity.node})}",
        )
        old, new = before.get(identity.node), after.get(identity.node)
        if isinstance(commit.request, RemoveEntryRequest):
            gone_from = old is None or old["ipAddress"] == identity.ip or by.stop_deadline is None
            require(gone_from or new is not None, "7", f"{identity.node} removed the entry of {old}")
            require(commit.before is not None, "7", f"{identity.node} created an object by leaving")
        elif new is not None and identity.node in changed:
            require(new.keys() >= FIELDS, "5", f"{identity.node} stored only {sorted(new)}")
        removes = isinstance(commit.request, RemoveEntryRequest)
        if isinstance(commit.request, ApplyRequest | PutRequest | PostRequest):
            self.registered.add((identity.pod_uid, commit.address.name))
        if new and old and not removes and old.get("index") != new.get("index") and old["ipAddress"] == identity.ip:
            by.moves += 1
            frozen = by.fabric is not None and not by.is_disturbed
            patience = (
                by.state.contested_since is not None
                and cluster.now >= by.state.contested_since + by.settings.rival_timeout
            )
            require(not frozen or patience, "3", f"{identity.node} runs with {old} and moved to {new}")

    def check_controller_write(
        self, cluster: SmallCluster, commit: Commit, before: Json, after: Json, changed: set[str]
    ) -> None:
        for node in changed:
            old, new = before.get(node), after.get(node)
            if (old or new or {}).get("cliqueID") == "":
                continue
            require(new is None, "11", f"the controller changed the entry of {node}")
            assert old is not None
            version = int((commit.before or {})["metadata"]["resourceVersion"])
            moved = self.registered_elsewhere(cluster, commit, node)
            for pod in cluster.pods():
                mine = pod.node == node and pod.domain_uid == self.domain_of(commit, cluster)
                known = made_at(cluster, pod.uid) <= max(version, self.pods_version)
                fits = mine and pod.clique in {None, old["cliqueID"]} and known
                if fits and (pod.ip == old["ipAddress"] or not moved):
                    raise Violation("6", f"the controller removed the entry of {node}, where {pod.ref.name} is")

    def registered_elsewhere(self, cluster: SmallCluster, commit: Commit, node: str) -> bool:
        """Whether, in the controller's view, a living pod on the node was registered in another object (DC-074)."""
        uid = self.domain_of(commit, cluster)
        elsewhere = [held for name, held in self.addresses.items() if name != commit.address.name]
        pods = (pod for pod in pods_at(cluster, self.pods_version) if (pod.node, pod.domain_uid) == (node, uid))
        return any(pod.living and any(pod.ip in held for held in elsewhere) for pod in pods)

    def domain_of(self, commit: Commit, cluster: SmallCluster) -> str:
        body = commit.after or commit.before or {}
        if commit.address.kind == DOMAIN_KIND:
            return str(body["metadata"]["uid"])
        return commit.address.name.partition(".")[0]

    def check_object(self, cluster: SmallCluster, commit: Commit) -> None:
        body = commit.after
        assert body is not None
        found = [entry for entry in cluster.register_of(body).daemon_entries if entry.clique]
        optimistic = all(not protocol.uses_apply for protocol in self.sources) and "legacy" not in cluster.faults
        if optimistic:
            held = Counter((entry.clique, entry.index) for entry in found)
            require(max(held.values(), default=1) == 1, "1", f"{commit.address.name} stores {held}")
            inside = all(entry.index is not None and 0 <= entry.index < cluster.limit for entry in found)
            require(inside, "1", f"{commit.address.name} stores an index beyond the limit")
        if commit.address.kind == DOMAIN_CLIQUE_KIND:
            require(not commit.address.name.endswith("."), "13", "a clique object without a clique")
            owners = body["metadata"].get("ownerReferences", [])
            require(not any(owner.get("controller") for owner in owners), "14", "a controlling owner of a clique")
            uids = {owner["uid"] for owner in owners}
            for pod in cluster.pods():
                entry = next((entry for entry in found if entry.node == pod.node and entry.ip == pod.ip), None)
                known = (pod.uid, commit.address.name) in self.registered  # its address may be that of an earlier pod
                outside = entry is None or not known
                require(outside or pod.uid in uids, "14", f"{pod.ref.name} is registered and no owner")

    def planned(self, cluster: SmallCluster, snapshot: ComputeDomainSnapshot, plan: Plan) -> None:
        self.pods_version = snapshot.pods_version
        registries: tuple[DaemonRegistry, ...] = (snapshot.domain, *snapshot.cliques)
        self.addresses = {
            registry.ref.name: frozenset(entry.ip for entry in registry.daemon_entries) for registry in registries
        }
        for step in plan.steps:
            if step.target.kind == DOMAIN_KIND and getattr(step.action, "fields", {}).get("status") == READY:
                pods = {(pod.node, pod.clique) for pod in snapshot.pods}
                found = [entry for registry in registries for entry in registry.daemon_entries]
                fabricless = {pod.node for pod in snapshot.pods if pod.clique == ""}
                enough = len({entry.node for entry in found} | fabricless) >= snapshot.domain.num_nodes
                here = {entry.node: entry for entry in found if entry.clique and (entry.node, entry.clique) in pods}
                require(enough and all(entry.status == READY for entry in here.values()), "15", "not all are ready")


def require(holds: object, code: str, message: str) -> None:
    if not holds:
        raise Violation(code, message)


def index_limit(context: DaemonInput) -> int:
    return context.settings.limit


def entries(body: Json | None) -> dict[str, Json]:
    """The stored entries of an object by node, as JSON."""
    if body is None:
        return {}
    if body["kind"] == DOMAIN_KIND:
        return {item["name"]: item for item in body.get("status", {}).get("nodes", [])}
    return {item["nodeName"]: item for item in body.get("daemons", [])}


def newest_of(cluster: SmallCluster, uid: str) -> dict[str, DaemonProcess]:
    """The process that owns each node's entry (D45): that of the newest pod, by uid within one second."""
    pods = {pod.uid: (pod.created, pod.uid) for pod in cluster.pods() if pod.created is not None}
    own = [process for process in cluster.processes if process.identity.domain_uid == uid]
    return {
        process.identity.node: process for process in sorted(own, key=lambda process: pods[process.identity.pod_uid])
    }


def pods_at(cluster: SmallCluster, version: int) -> list[DaemonPod]:
    """The pods as of a version of the store."""
    found: dict[Address, Json] = {}
    for event in cluster.server.history:
        if event.address.kind == "Pod" and event.version <= version:
            found.pop(event.address, None)
            if event.body is not None:
                found[event.address] = event.body
    return [cluster.pod_of(body) for body in found.values()]


def made_at(cluster: SmallCluster, uid: str) -> int:
    """The version at which a pod was created."""
    return next(
        event.version
        for event in cluster.server.history
        if event.address.kind == "Pod" and event.body is not None and event.body["metadata"]["uid"] == uid
    )


def violations_at_rest(cluster: SmallCluster) -> Iterator[tuple[str, str]]:
    """The violated conditions of a cluster at rest: (code, message)."""
    uid = cluster.domain["metadata"]["uid"]
    newest = newest_of(cluster, uid)
    stored = dict(all_entries(cluster))
    alive = {(pod.node, pod.clique or "") for pod in cluster.pods() if pod.domain_uid == uid}
    for (_, node), item in stored.items():
        if (node, item["cliqueID"]) not in alive:
            yield "19", f"{node} has no pod and still an entry"
    places = Counter(node for _, node in stored)
    yield from (("88", f"{node} is registered in {count} objects") for node, count in places.items() if count > 1)
    expected_ready = True
    for clique in sorted({process.identity.clique for process in newest.values()} - {""}):
        members = [process for process in newest.values() if process.identity.clique == clique]
        inside = [process for process in members if own_entry(stored, process) is not None]
        if len(inside) != min(len(members), cluster.limit):
            yield (
                "16",
                f"{len(inside)} of {len(members)} daemons of {clique} are registered, with {cluster.limit} indices",
            )
        found = {process: own_entry(stored, process) or {} for process in inside}
        held = Counter(item["index"] for item in found.values())
        if any(count > 1 for count in held.values()):
            yield "17", f"{clique} ends with {held}"
        peers = tuple(sorted((item["index"], item["ipAddress"]) for item in found.values()))
        for process, item in found.items():
            fabric = process.fabric
            if fabric is None or fabric.index != item["index"]:
                yield "IX7", f"{process.identity.node} is registered with {item['index']} and runs with {fabric}"
            elif fabric.peers.addresses != peers:
                yield "16", f"{process.identity.node} has the peers {fabric.peers.addresses}, not {peers}"
            elif item["status"] != READY:
                yield "16", f"{process.identity.node} is not ready"
        expected_ready = expected_ready and len(inside) == len(members)
    yield from status_of(cluster, newest, stored)


def status_of(
    cluster: SmallCluster, newest: dict[str, DaemonProcess], stored: dict[tuple[str, str], Json]
) -> Iterator[tuple[str, str]]:
    status = cluster.domain.get("status", {})
    by_node = {node: item for (_, node), item in stored.items()}
    for node, process in newest.items():
        if not process.identity.clique and by_node.get(node, {}).get("index") != -1:
            yield "62", f"{node} has no fabric and no entry"
    ready = len(by_node) >= cluster.domain["spec"]["numNodes"] and all(
        item["status"] == READY for item in by_node.values()
    )
    wanted = READY if ready else NOT_READY
    if status.get("status") != wanted:
        yield "21", f"the domain is {status.get('status')} and should be {wanted}"
    result = {item["id"]: item["status"] for item in status.get("cliques", [])}
    uid = cluster.domain["metadata"]["uid"]
    found = {}
    for body in cluster.server.all_of(DOMAIN_CLIQUE_KIND):
        if body["metadata"]["name"].startswith(f"{uid}."):
            daemons = body.get("daemons", [])
            good = bool(daemons) and all(item["status"] == READY for item in daemons)
            found[body["metadata"]["name"].removeprefix(f"{uid}.")] = READY if good else NOT_READY
    if result != found:
        yield "12", f"the records are {result} and should be {found}"


def all_entries(cluster: SmallCluster) -> Iterator[tuple[tuple[str, str], Json]]:
    uid = cluster.domain["metadata"]["uid"]
    for address, body in cluster.stored():
        if address.kind == DOMAIN_KIND or address.name.startswith(f"{uid}."):
            for node, item in entries(body).items():
                yield (address.name, node), item


def own_entry(stored: dict[tuple[str, str], Json], process: DaemonProcess) -> Json | None:
    ref = process.identity.registry_ref(sharded=process.settings.protocol.sharded)
    item = stored.get((ref.name, process.identity.node))
    return item if item is not None and item["ipAddress"] == process.identity.ip else None
