"""A small cluster in which daemons register: a server, processes with requests under way, lagging views, faults.

Everything that happens is drawn from one seed. A request has three moments, at each of which it may be overtaken or
lost: it is decided, the server carries it out, its answer arrives.
"""

from dataclasses import dataclass, field, replace

from grove_core.areas.domain_cliques.daemon_context import (
    DaemonContext,
    DaemonIdentity,
    DaemonState,
    FabricState,
    RegistryObservation,
)
from grove_core.areas.domain_cliques.protocols import DaemonSettings
from grove_core.areas.domain_cliques.state_updates import version_number
from grove_core.areas.domain_cliques.verdicts import (
    REQUESTS,
    Apply,
    ClearOtherEntry,
    DaemonAction,
    DaemonRegistry,
    Idle,
    LabelPod,
    ListPods,
    Post,
    PushPeers,
    Put,
    ReadObject,
    RemoveEntry,
    Request,
    RequestResult,
    RestartFabric,
    ResultKind,
    StandBy,
    StartFabric,
    Stopped,
    Wait,
)
from grove_core.kernel.decisions import Decision
from grove_core.kernel.frozen import thaw
from grove_core.kernel.times import format_time
from grove_core.resources.api_names import CORE, DOMAIN
from grove_core.resources.compute_domain_clique import CLIQUE_KIND
from tests.property.domain_cliques.checked_server import CheckedServer
from tests.property.domain_cliques.controller import Controller
from tests.property.domain_cliques.processes import (
    DOMAIN_NAME,
    DRIVER_NAMESPACE,
    GRACE,
    NAMESPACE,
    START,
    DaemonProcess,
    Node,
    address_of,
)
from tests.server_side_apply.object_server import CONFLICT, MISSING, Address, Response


@dataclass
class SmallCluster(CheckedServer):
    """See the module.

    Attributes:
        limit: of the indices in a clique.
    """

    limit: int = 18
    processes: list[DaemonProcess] = field(default_factory=list)
    made: int = 0
    faults: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        super().__post_init__()
        self.controller = Controller(self)

    def start_pod(self, node: Node, ip: str = "") -> DaemonProcess:
        self.made += 1
        name, ip, uid = f"pod-{self.made}", ip or f"10.0.0.{self.made}", self.domain["metadata"]["uid"]
        pod = {
            "apiVersion": CORE,
            "kind": "Pod",
            "metadata": {
                "name": name,
                "namespace": DRIVER_NAMESPACE,
                "labels": {DOMAIN: uid},
                "creationTimestamp": format_time(self.now.replace(microsecond=0)),
            },
            "spec": {"nodeName": node.name},
            "status": {"podIP": ip, "phase": "Running"},
        }
        made = self.server.create(pod, "kubelet").body
        assert made is not None
        identity = DaemonIdentity(
            node=node.name,
            ip=ip,
            clique=node.clique,
            namespace=NAMESPACE,
            domain=DOMAIN_NAME,
            domain_uid=uid,
            pod_namespace=DRIVER_NAMESPACE,
            pod=name,
            pod_uid=made["metadata"]["uid"],
        )
        process = DaemonProcess(identity, DaemonSettings(protocol=self.protocol, limit=self.limit))
        self.processes.append(process)
        self.look(process)
        return process

    # what daemons do

    def look(self, process: DaemonProcess) -> None:
        """A fresh watch begins with a list."""
        process.cursor = len(self.server.history)
        self.tell(
            process,
            RegistryObservation(
                self.server.version, self.registry(process.identity, process.settings.protocol.sharded)
            ),
        )

    def registry(self, identity: DaemonIdentity, sharded: bool) -> DaemonRegistry | None:
        body = self.server.get(address_of(identity.registry_ref(sharded=sharded)))
        return self.register_of(body) if body is not None else None

    def tell(self, process: DaemonProcess, observation: RegistryObservation) -> None:
        process.state = self.core.after_event(
            process.state, process.identity, process.settings, observation, now=self.now
        )

    def deliver(self, process: DaemonProcess, count: int | None = None) -> bool:
        """Some events reach the daemon; of several on its object only the last is looked at."""
        history = self.server.history
        end = len(history) if count is None else min(len(history), process.cursor + count)
        own = address_of(process.identity.registry_ref(sharded=process.settings.protocol.sharded))
        news = [event for event in history[process.cursor : end] if event.address == own]
        process.cursor = end
        if news:
            last = news[-1]
            self.tell(
                process,
                RegistryObservation(last.version, self.register_of(last.body) if last.body is not None else None),
            )
        return bool(news)

    def context(self, process: DaemonProcess) -> DaemonContext:
        body = self.server.get(process.pod)
        return DaemonContext(
            identity=process.identity,
            settings=process.settings,
            state=process.state,
            pod=self.pod_of(body) if body is not None else None,
            fabric=process.fabric,
            stop_deadline=process.stop_deadline,
            now=self.now,
        )

    def work(self, process: DaemonProcess) -> bool:
        """The worker of a process looks once; whether it did anything."""
        if process.pending is not None:
            return False
        context = self.context(process)
        decision: Decision[DaemonAction] = self.core.decide(context)
        action = decision.verdict
        self.checker.decided(self, process, context, action)
        process.wake = None
        match action:
            case StartFabric(index, peers) | RestartFabric(index, peers):
                process.fabric = FabricState(index, peers)
                self.checker.recovered(self, process)
            case PushPeers(index, peers):
                assert process.fabric is not None
                process.fabric = replace(process.fabric, peers=peers)
            case Wait(until):
                process.wake = until
                return False
            case StandBy(until):
                process.wake = until
                ended, process.fabric = process.fabric is not None, None
                return ended
            case Idle():
                return False
            case Stopped():
                self.end(process)
            case _:
                assert isinstance(action, REQUESTS)
                process.pending = action
                return True
        self.checker.fabric_changed(self, process)
        return True

    def carry_out(self, process: DaemonProcess) -> None:
        """The server does what the request under way asks."""
        request = process.pending
        assert request is not None
        process.writes += not isinstance(request, ListPods | ReadObject)
        match request:
            case ListPods():
                pods = [pod for pod in self.pods() if (pod.node, pod.domain_uid) == mine_of(process)]
                process.answer = RequestResult(kind=ResultKind.SUCCEEDED, pods=tuple(pods))
            case ReadObject(target):
                body = self.server.get(address_of(target))
                found = self.register_of(body) if body is not None else None
                process.answer = RequestResult(
                    kind=ResultKind.SUCCEEDED if found is not None else ResultKind.NOT_FOUND, registry=found
                )
            case _:
                response = self.commit(process, request, lambda: self.sent(request))
                process.answer = self.answer_of(response)

    def sent(self, request: Request) -> Response:
        write = request.write if isinstance(request, RemoveEntry | ClearOtherEntry) else request
        match write:
            case Apply(target=target, subresource=part, manager=manager, fields=fields, force=force):
                return self.server.apply(self.core.rewrite(thaw(fields)), manager, part, force=force)
            case Put(target=target, subresource=part, manager=manager, manifest=manifest):
                body = self.core.rewrite(thaw(manifest))
                if not body["metadata"].get("resourceVersion"):  # only a mutant leaves it out
                    stored = self.server.get(address_of(target))
                    body["metadata"]["resourceVersion"] = stored["metadata"]["resourceVersion"] if stored else "1"
                return self.server.replace(body, manager, part)
            case Post(manager=manager, manifest=manifest):
                return self.server.create(thaw(manifest), manager)
            case LabelPod(pod=pod, labels=labels):
                return self.server.patch(address_of(pod), {"metadata": {"labels": thaw(labels)}}, "daemon")
        raise AssertionError(request)

    def answer_of(self, response: Response) -> RequestResult:
        if response.good:
            body = response.body
            registry = self.register_of(body) if body is not None and body["kind"] != "Pod" else None
            return RequestResult(kind=ResultKind.SUCCEEDED, registry=registry)
        if response.code == CONFLICT:
            return RequestResult(
                kind=ResultKind.FIELD_CONFLICT if response.owners else ResultKind.CONFLICT, detail=response.detail
            )
        if response.code == MISSING:
            return RequestResult(kind=ResultKind.NOT_FOUND, detail=response.detail)
        return RequestResult(kind=ResultKind.REFUSED, detail=response.detail)

    def hear(self, process: DaemonProcess, answer: RequestResult | None = None) -> None:
        """The answer to the request under way arrives, or another in its place."""
        request, answered = process.pending, answer or process.answer
        assert request is not None
        assert answered is not None
        process.pending = process.answer = None
        if answered.registry is not None and isinstance(request, Apply | Put | Post):
            process.answered = version_number(answered.registry)
        process.state = self.core.after_result(
            process.state, process.identity, process.settings, request, answered, now=self.now
        )

    # what becomes of processes and pods

    def settle_request(self, process: DaemonProcess) -> None:
        """A process ends: what it asked for was carried out by now, or never will be."""
        if process.pending is not None and process.answer is None and self.chance.random() < 0.5:
            self.carry_out(process)
        process.pending = process.answer = None

    def restart(self, process: DaemonProcess) -> None:
        """The container ends and starts again in the same pod."""
        self.settle_request(process)
        process.state, process.fabric, process.stop_deadline = DaemonState(), None, None
        process.restarts += 1
        process.answered = 0
        self.look(process)

    def end(self, process: DaemonProcess) -> None:
        """The process and its pod are gone."""
        self.settle_request(process)
        process.fabric = None
        self.processes.remove(process)
        self.server.delete(process.pod)

    def stop(self, process: DaemonProcess) -> None:
        """The pod is deleted, and the process told to stop."""
        if process.stop_deadline is None:
            process.stop_deadline = self.now + GRACE
            mark = {"metadata": {"deletionTimestamp": format_time(self.now)}}
            self.server.patch(process.pod, mark, "user")

    def report(self, process: DaemonProcess, ready: bool) -> None:
        if process.fabric is not None:
            process.fabric = replace(process.fabric, ready=ready)
            truth = "True" if ready else "False"
            condition = {"type": "Ready", "status": truth, "lastTransitionTime": format_time(START)}
            self.server.patch(process.pod, {"status": {"conditions": [condition]}}, "kubelet")

    def report_fabricless(self, process: DaemonProcess) -> None:
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
                self.commit(
                    None, None, lambda name=name: self.server.delete(Address(CLIQUE_KIND, DRIVER_NAMESPACE, name))
                )


def mine_of(process: DaemonProcess) -> tuple[str, str]:
    return process.identity.node, process.identity.domain_uid
