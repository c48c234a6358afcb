"""The whole core instead of the quick one: real memories, real requests, on objects that are merged field by field.

It shares with the quick one only what takes time: limiter, server, processor, watches. Everything that decides, and
everything that is written, is done twice, in two ways.
"""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from grove_core.areas.domain_cliques.judge import decide
from grove_core.areas.domain_cliques.memory import after_answer, after_event, version_of
from grove_core.areas.domain_cliques.moment import moment_of
from grove_core.areas.domain_cliques.situation import Daemon, Fabric, Glimpse, Memory, Situation
from grove_core.areas.domain_cliques.verdicts import (
    Answer,
    Apply,
    Peers,
    Post,
    Push,
    Put,
    Register,
    Reply,
    Rest,
    Restart,
    Start,
    Wait,
)
from grove_core.kernel.frozen import thaw
from grove_core.kernel.steps import SetStatus
from grove_core.reconcile_domain import reconcile_domain
from grove_core.resources.api_names import NVIDIA
from grove_core.resources.compute_domain import DOMAIN_KIND, ComputeDomain, compute_domain_of
from grove_core.resources.compute_domain_clique import ComputeDomainClique, compute_domain_clique_of
from grove_core.resources.daemon_pod import DaemonPod
from grove_shell.converge.model.cast import NAME, SPACE, Cast
from grove_shell.converge.model.costs import Costs
from grove_shell.converge.model.mind import START_OF_TIME, moment
from grove_shell.converge.model.play import Troupe
from grove_shell.converge.model.seams import CONTROLLER, DOMAIN, Chief, Later, Local, Mind, Store, Told, Write
from grove_shell.converge.model.shelf import Shelf
from tests.merging.domain_shapes import domain_shapes
from tests.merging.object_server import Address, ObjectServer, Response

SHAPES = domain_shapes()
UID = "uid-1"
Commit = tuple[int, int, int, bool]


class Tally:
    """One clique of a register."""

    def __init__(self, register: Register, clique: str) -> None:
        self.register = register
        found = [entry for entry in register.entries if entry.clique == clique]
        self.count = len(found)
        self.ready = sum(entry.ready for entry in found)
        self.shared = len({entry.index for entry in found}) < len(found)


class WholeStore:
    """Objects as they are sent, merged by the object server."""

    def __init__(self, cast: Cast, log: list[Commit]) -> None:
        self.cast = cast
        self.log = log
        self.server = ObjectServer(SHAPES)
        self.registers: dict[int, Register] = {}
        spec = {"numNodes": cast.point.nodes, "channel": {"resourceClaimTemplate": {"name": "channel"}}}
        head = {"apiVersion": NVIDIA, "kind": DOMAIN_KIND, "metadata": {"name": NAME, "namespace": SPACE}}
        assert self.server.create({**head, "spec": spec}, "user").good

    @property
    def latest(self) -> int:
        return self.server.version

    def address(self, thing: int) -> Address:
        if thing == DOMAIN:
            return Address(DOMAIN_KIND, SPACE, NAME)
        first = daemon(self.cast, (thing - 1) * self.cast.point.clique_size)
        ref = first.register_ref(sharded=True)
        return Address(ref.kind, ref.namespace, ref.name)

    def version(self, thing: int) -> int:
        body = self.server.get(self.address(thing))
        return int(body["metadata"]["resourceVersion"]) if body is not None else 0

    def register(self, version: int) -> Register:
        """The object that got this version."""
        if version not in self.registers:
            body = self.server.history[version - 1].body
            assert body is not None
            project: Any = compute_domain_of if body["kind"] == DOMAIN_KIND else compute_domain_clique_of
            self.registers[version] = project(body)
        return self.registers[version]

    def view(self, thing: int, clique: int) -> Tally | None:
        version = self.version(thing)
        who = daemon(self.cast, clique * self.cast.point.clique_size)
        return Tally(self.register(version), who.clique) if version else None

    def changes(self, write: Write) -> bool:
        if write.writer == CONTROLLER:
            return True
        version = self.version(write.thing)
        entries = self.register(version).entries if version else ()
        node = daemon(self.cast, write.writer).node
        stored = [(entry.index, entry.ready) for entry in entries if entry.node == node]
        return stored != [(write.index, write.ready)]

    def carry_out(self, write: Write) -> None:
        before = self.server.version
        response = self.sent(write.content)
        assert response.good, response
        assert self.server.version == before + 1
        self.log.append((write.writer, write.thing, write.index, write.ready))

    def sent(self, deed: Any) -> Response:
        match deed:
            case Apply():
                return self.server.apply(thaw(deed.fields), deed.manager, deed.subresource)
            case Put():
                return self.server.replace(thaw(deed.manifest), deed.manager, deed.subresource)
            case Post():
                return self.server.create(thaw(deed.manifest), deed.manager)
            case SetStatus():
                guard = {"uid": deed.guard.uid, "resourceVersion": deed.guard.resource_version}
                head = {"apiVersion": NVIDIA, "kind": DOMAIN_KIND}
                body = {**head, "metadata": {"name": NAME, "namespace": SPACE, **guard}, "status": thaw(deed.fields)}
                return self.server.apply(body, "cd-controller", "status", force=True)
        raise AssertionError(deed)

    def says_ready(self) -> bool:
        body = self.server.get(self.address(DOMAIN))
        assert body is not None
        return bool(body.get("status", {}).get("status") == "Ready")


class WholeMind:
    """Memory and decisions of the core, with whole objects and every event looked at."""

    def __init__(self, cast: Cast, number: int, retry_after: timedelta) -> None:
        self.cast = cast
        self.number = number
        self.retry_after = retry_after
        self.me = daemon(cast, number)
        self.memory = Memory()
        self.fabric: Fabric | None = None
        self.start: tuple[int, Peers] | None = None

    def sees(self, version: int, view: Tally | None, at: int, jitter: float) -> bool:
        glimpse = Glimpse(version, view.register if view is not None else None)
        self.memory = after_event(self.memory, self.me, self.cast.setup, glimpse, now=moment(at), jitter=jitter)
        return True

    def answered(self, write: Write, told: Told, at: int, jitter: float) -> None:
        register = told.view.register if told.view is not None else None
        answer = Answer(reply=told.reply, register=register, retry_after=self.retry_after)
        self.memory = after_answer(
            self.memory, self.me, self.cast.setup, write.content, answer, now=moment(at), jitter=jitter
        )

    def started(self) -> None:
        assert self.start is not None
        self.fabric = Fabric(*self.start)

    def is_ready(self) -> None:
        assert self.fabric is not None
        self.fabric = replace(self.fabric, ready=True)

    def looks(self, at: int) -> Write | Local | Later:
        while True:
            found = Situation(me=self.me, setup=self.cast.setup, memory=self.memory, fabric=self.fabric, now=moment(at))
            deed = decide(found).verdict
            match deed:
                case Push(_, peers):
                    assert self.fabric is not None
                    self.fabric = replace(self.fabric, peers=peers)
                case Start(index, peers) | Restart(index, peers):
                    self.start = (index, peers)
                    return Local.START
                case Wait(until) if until is not None:
                    return Later((until - START_OF_TIME) // timedelta(microseconds=1))
                case Rest() | Wait():
                    return Local.REST
                case Apply() | Put() | Post():
                    return self.write(deed)
                case _:
                    raise AssertionError(deed)

    def write(self, deed: Apply | Put | Post) -> Write:
        body: dict[str, Any] = thaw(deed.fields if isinstance(deed, Apply) else deed.manifest)
        items = body["status"]["nodes"] if "status" in body else body["daemons"]
        own = next(item for item in items if self.me.node in {item.get("name"), item.get("nodeName")})
        seen = self.memory.seen
        register = seen.register if seen is not None else None
        stored = [] if register is None else [one.index for one in register.entries if one.node == self.me.node]
        return Write(
            writer=self.number,
            thing=self.cast.thing_of(self.cast.point.clique_of(self.number)),
            index=own["index"],
            ready=own["status"] == "Ready",
            moves=bool(stored) and stored != [own["index"]],
            base=None if isinstance(deed, Apply) else version_of(register) if register is not None else 0,
            content=deed,
        )


class WholeChief:
    """The core's plan for the domain, from all objects."""

    def __init__(self, cast: Cast, store: WholeStore) -> None:
        self.cast = cast
        self.store = store
        self.seen: dict[int, Register] = {DOMAIN: store.register(1)}
        self.pods = [pod_of(daemon(cast, number)) for number in range(cast.point.nodes)]

    def sees(self, thing: int, version: int, clique: int | None, view: Tally | None) -> None:
        assert clique is None or view is not None
        self.take_in(thing, version)

    def take_in(self, thing: int, version: int) -> None:
        if thing not in self.seen or version > version_of(self.seen[thing]):
            self.seen[thing] = self.store.register(version)

    def looks(self, at: int) -> Write | None:
        domain = self.seen[DOMAIN]
        assert isinstance(domain, ComputeDomain)
        cliques = [one for one in self.seen.values() if isinstance(one, ComputeDomainClique)]
        plan = reconcile_domain(moment_of(domain, cliques, self.pods, pods_version=10**9, now=moment(at)))
        if not plan.steps:
            return None
        (step,) = plan.steps
        status = step.action
        assert isinstance(status, SetStatus)
        fields: Any = thaw(status.fields)
        return Write(
            CONTROLLER,
            DOMAIN,
            ready=fields["status"] == "Ready",
            records=len(fields["cliques"]),
            base=int(status.guard.resource_version),
            content=status,
        )

    def answered(self, write: Write, told: Told) -> None:
        if told.reply is Reply.DONE:
            self.take_in(write.thing, told.version)


class Whole(Troupe):
    """Everybody as they really are."""

    def __init__(self) -> None:
        self.log: list[Commit] = []

    def store(self, cast: Cast) -> Store:
        return WholeStore(cast, self.log)

    def mind(self, cast: Cast, number: int, costs: Costs) -> Mind:
        return WholeMind(cast, number, timedelta(milliseconds=costs.retry_after_ms))

    def chief(self, cast: Cast, store: Store) -> Chief:
        assert isinstance(store, WholeStore)
        return WholeChief(cast, store)


class Quick(Troupe):
    """The quick ones, with what they write noted."""

    def __init__(self) -> None:
        self.log: list[Commit] = []

    def store(self, cast: Cast) -> Store:
        return LoggedShelf(cast, self.log)


class LoggedShelf(Shelf):
    def __init__(self, cast: Cast, log: list[Commit]) -> None:
        super().__init__(cast)
        self.log = log

    def carry_out(self, write: Write) -> None:
        super().carry_out(write)
        self.log.append((write.writer, write.thing, write.index, write.ready))


def daemon(cast: Cast, number: int) -> Daemon:
    """A daemon of the domain as the object server named it."""
    return replace(cast.daemons[number], domain_uid=UID)


def pod_of(me: Daemon) -> DaemonPod:
    return DaemonPod(ref=me.pod_ref, uid=me.pod_uid, node=me.node, ip=me.ip, domain_uid=UID, clique=me.clique)
