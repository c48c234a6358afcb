"""A small cluster in which daemons register: a server, processes with requests under way, lagging views, faults.

Everything that happens is drawn from one seed. A request has three moments, at each of which it may be overtaken or
lost: it is decided, the server carries it out, its answer arrives.
"""

from dataclasses import dataclass, field, replace

from grove_core.areas.domain_cliques.memory import version_of
from grove_core.areas.domain_cliques.protocols import Setup
from grove_core.areas.domain_cliques.situation import Daemon, Fabric, Glimpse, Memory, Situation
from grove_core.areas.domain_cliques.verdicts import (
    REQUESTS,
    Answer,
    Apply,
    Clear,
    Deed,
    Done,
    Label,
    ListPods,
    Post,
    Push,
    Put,
    Read,
    Register,
    Remove,
    Reply,
    Request,
    Rest,
    Restart,
    Start,
    Wait,
    Yield,
)
from grove_core.kernel.decisions import Decision
from grove_core.kernel.frozen import thaw
from grove_core.kernel.times import format_time
from grove_core.resources.api_names import CORE, DOMAIN
from grove_core.resources.compute_domain_clique import CLIQUE_KIND
from tests.merging.object_server import CONFLICT, MISSING, Address, Response
from tests.property.domain_cliques.cast import DRIVER, GRACE, NAME, SPACE, START, Node, Process, address_of
from tests.property.domain_cliques.controller import Controller
from tests.property.domain_cliques.stage import Stage


@dataclass
class World(Stage):
    """See the module.

    Attributes:
        limit: of the indices in a clique.
    """

    limit: int = 18
    processes: list[Process] = field(default_factory=list)
    made: int = 0
    faults: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        super().__post_init__()
        self.controller = Controller(self)

    def start_pod(self, node: Node, ip: str = "") -> Process:
        self.made += 1
        name, ip, uid = f"pod-{self.made}", ip or f"10.0.0.{self.made}", self.domain["metadata"]["uid"]
        pod = {
            "apiVersion": CORE,
            "kind": "Pod",
            "metadata": {
                "name": name,
                "namespace": DRIVER,
                "labels": {DOMAIN: uid},
                "creationTimestamp": format_time(self.now.replace(microsecond=0)),
            },
            "spec": {"nodeName": node.name},
            "status": {"podIP": ip, "phase": "Running"},
        }
        made = self.server.create(pod, "kubelet").body
        assert made is not None
        me = Daemon(
            node=node.name,
            ip=ip,
            clique=node.clique,
            namespace=SPACE,
            domain=NAME,
            domain_uid=uid,
            pod_namespace=DRIVER,
            pod=name,
            pod_uid=made["metadata"]["uid"],
        )
        process = Process(me, Setup(protocol=self.protocol, limit=self.limit))
        self.processes.append(process)
        self.look(process)
        return process

    # what daemons do

    def look(self, process: Process) -> None:
        """A fresh watch begins with a list."""
        process.cursor = len(self.server.history)
        self.tell(process, Glimpse(self.server.version, self.register(process.me, process.setup.protocol.sharded)))

    def register(self, me: Daemon, sharded: bool) -> Register | None:
        body = self.server.get(address_of(me.register_ref(sharded=sharded)))
        return self.register_of(body) if body is not None else None

    def tell(self, process: Process, glimpse: Glimpse) -> None:
        process.memory = self.players.after_event(process.memory, process.me, process.setup, glimpse, now=self.now)

    def deliver(self, process: Process, count: int | None = None) -> bool:
        """Some events reach the daemon; of several on its object only the last is looked at."""
        history = self.server.history
        end = len(history) if count is None else min(len(history), process.cursor + count)
        own = address_of(process.me.register_ref(sharded=process.setup.protocol.sharded))
        news = [event for event in history[process.cursor : end] if event.address == own]
        process.cursor = end
        if news:
            last = news[-1]
            self.tell(process, Glimpse(last.version, self.register_of(last.body) if last.body is not None else None))
        return bool(news)

    def situation(self, process: Process) -> Situation:
        body = self.server.get(process.pod)
        return Situation(
            me=process.me,
            setup=process.setup,
            memory=process.memory,
            pod=self.pod_of(body) if body is not None else None,
            fabric=process.fabric,
            stop_by=process.stop_by,
            now=self.now,
        )

    def work(self, process: Process) -> bool:
        """The worker of a process looks once; whether it did anything."""
        if process.pending is not None:
            return False
        situation = self.situation(process)
        decision: Decision[Deed] = self.players.decide(situation)
        deed = decision.verdict
        self.judge.decided(self, process, situation, deed)
        process.wake = None
        match deed:
            case Start(index, peers) | Restart(index, peers):
                process.fabric = Fabric(index, peers)
                self.judge.recovered(self, process)
            case Push(index, peers):
                assert process.fabric is not None
                process.fabric = replace(process.fabric, peers=peers)
            case Wait(until):
                process.wake = until
                return False
            case Yield(until):
                process.wake = until
                ended, process.fabric = process.fabric is not None, None
                return ended
            case Rest():
                return False
            case Done():
                self.end(process)
            case _:
                assert isinstance(deed, REQUESTS)
                process.pending = deed
                return True
        self.judge.fabric_changed(self, process)
        return True

    def carry_out(self, process: Process) -> None:
        """The server does what the request under way asks."""
        request = process.pending
        assert request is not None
        process.writes += not isinstance(request, ListPods | Read)
        match request:
            case ListPods():
                pods = [pod for pod in self.pods() if (pod.node, pod.domain_uid) == mine_of(process)]
                process.answer = Answer(reply=Reply.DONE, pods=tuple(pods))
            case Read(target):
                body = self.server.get(address_of(target))
                found = self.register_of(body) if body is not None else None
                process.answer = Answer(reply=Reply.DONE if found is not None else Reply.GONE, register=found)
            case _:
                response = self.commit(process, request, lambda: self.sent(request))
                process.answer = self.answer_of(response)

    def sent(self, request: Request) -> Response:
        write = request.write if isinstance(request, Remove | Clear) else request
        match write:
            case Apply(target=target, subresource=part, manager=manager, fields=fields, force=force):
                return self.server.apply(self.players.rewrite(thaw(fields)), manager, part, force=force)
            case Put(target=target, subresource=part, manager=manager, manifest=manifest):
                body = self.players.rewrite(thaw(manifest))
                if not body["metadata"].get("resourceVersion"):  # only a mutant leaves it out
                    stored = self.server.get(address_of(target))
                    body["metadata"]["resourceVersion"] = stored["metadata"]["resourceVersion"] if stored else "1"
                return self.server.replace(body, manager, part)
            case Post(manager=manager, manifest=manifest):
                return self.server.create(thaw(manifest), manager)
            case Label(pod=pod, labels=labels):
                return self.server.patch(address_of(pod), {"metadata": {"labels": thaw(labels)}}, "daemon")
        raise AssertionError(request)

    def answer_of(self, response: Response) -> Answer:
        if response.good:
            body = response.body
            register = self.register_of(body) if body is not None and body["kind"] != "Pod" else None
            return Answer(reply=Reply.DONE, register=register)
        if response.code == CONFLICT:
            return Answer(reply=Reply.OWNED if response.owners else Reply.STALE, detail=response.detail)
        if response.code == MISSING:
            return Answer(reply=Reply.GONE, detail=response.detail)
        return Answer(reply=Reply.REFUSED, detail=response.detail)

    def hear(self, process: Process, answer: Answer | None = None) -> None:
        """The answer to the request under way arrives, or another in its place."""
        request, answered = process.pending, answer or process.answer
        assert request is not None
        assert answered is not None
        process.pending = process.answer = None
        if answered.register is not None and isinstance(request, Apply | Put | Post):
            process.answered = version_of(answered.register)
        process.memory = self.players.after_answer(
            process.memory, process.me, process.setup, request, answered, now=self.now
        )

    # what becomes of processes and pods

    def settle_request(self, process: Process) -> None:
        """A process ends: what it asked for was carried out by now, or never will be."""
        if process.pending is not None and process.answer is None and self.chance.random() < 0.5:
            self.carry_out(process)
        process.pending = process.answer = None

    def restart(self, process: Process) -> None:
        """The container ends and starts again in the same pod."""
        self.settle_request(process)
        process.memory, process.fabric, process.stop_by = Memory(), None, None
        process.restarts += 1
        process.answered = 0
        self.look(process)

    def end(self, process: Process) -> None:
        """The process and its pod are gone."""
        self.settle_request(process)
        process.fabric = None
        self.processes.remove(process)
        self.server.delete(process.pod)

    def stop(self, process: Process) -> None:
        """The pod is deleted, and the process told to stop."""
        if process.stop_by is None:
            process.stop_by = self.now + GRACE
            mark = {"metadata": {"deletionTimestamp": format_time(self.now)}}
            self.server.patch(process.pod, mark, "user")

    def report(self, process: Process, ready: bool) -> None:
        if process.fabric is not None:
            process.fabric = replace(process.fabric, ready=ready)
            truth = "True" if ready else "False"
            condition = {"type": "Ready", "status": truth, "lastTransitionTime": format_time(START)}
            self.server.patch(process.pod, {"status": {"conditions": [condition]}}, "kubelet")

    def report_fabricless(self, process: Process) -> None:
        condition = {"type": "Ready", "status": "True", "lastTransitionTime": format_time(START)}
        self.server.patch(process.pod, {"status": {"conditions": [condition]}}, "kubelet")

    # what others do

    def collect_garbage(self) -> None:
        """Cliques all of whose owners are gone go too."""
        alive = {body["metadata"]["uid"] for body in self.server.all_of("Pod")}
        for body in self.server.all_of(CLIQUE_KIND):
            owners = body["metadata"].get("ownerReferences", [])
            if owners and not any(owner["uid"] in alive for owner in owners):
                name = body["metadata"]["name"]
                self.commit(None, None, lambda name=name: self.server.delete(Address(CLIQUE_KIND, DRIVER, name)))


def mine_of(process: Process) -> tuple[str, str]:
    return process.me.node, process.me.domain_uid
