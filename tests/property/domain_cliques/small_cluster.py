"""A small cluster in which daemons register: a server, processes with pending requests, lagging views, and faults.

Everything that happens follows from one seed. A request has three steps, between which it may be superseded or lost:
decision, execution on the server, and result.
"""

from dataclasses import dataclass, field

from grove_core.areas.domain_cliques.daemon.daemon_input import (
    DaemonIdentity,
    DaemonInput,
    FabricDaemonState,
    ObservedDaemonRegistry,
    RegistrationState,
)
from grove_core.areas.domain_cliques.daemon.registration_protocols import DaemonRegistrationSettings
from grove_core.areas.domain_cliques.daemon.verdicts import (
    REQUEST_TYPES,
    ApplyRequest,
    ClearOtherEntryRequest,
    DaemonAction,
    DaemonRequest,
    IdleAction,
    LabelPodRequest,
    ListPodsRequest,
    PodsListed,
    PostRequest,
    PushPeersAction,
    PutRequest,
    ReadObjectRequest,
    RemoveEntryRequest,
    RequestFailed,
    RequestResult,
    RequestResultKind,
    RequestSucceeded,
    RestartFabricAction,
    StartFabricAction,
    StopFabricAction,
    StoppedAction,
    WaitAction,
)
from grove_core.kernel.decisions import Decision
from grove_core.kernel.frozen import thaw_json
from grove_core.kernel.structs import replace
from grove_core.kernel.time_formats import format_time
from grove_core.resources.api_names import CORE, DOMAIN, DOMAIN_CLIQUE_KIND
from grove_core.resources.daemon_entry_lists import DaemonRegistry, registry_version_number
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
        limit: number of indices of a clique.
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
        process = DaemonProcess(identity, DaemonRegistrationSettings(protocol=self.protocol, limit=self.limit))
        self.processes.append(process)
        self.list_registry(process)
        return process

    # what daemons do

    def list_registry(self, process: DaemonProcess) -> None:
        """List the registry, as at the start of a watch."""
        process.cursor = len(self.server.history)
        self.observe(
            process,
            ObservedDaemonRegistry(
                self.server.version, self.registry(process.identity, process.settings.protocol.sharded)
            ),
        )

    def registry(self, identity: DaemonIdentity, sharded: bool) -> DaemonRegistry | None:
        body = self.server.get(address_of(identity.registry_ref(sharded=sharded)))
        return self.register_of(body) if body is not None else None

    def observe(self, process: DaemonProcess, observation: ObservedDaemonRegistry) -> None:
        process.state = self.core.after_event(
            process.state, process.identity, process.settings, observation, now=self.now
        )

    def deliver_events(self, process: DaemonProcess, count: int | None = None) -> bool:
        """Deliver some events to a daemon; of several events of its registry it decides on the last."""
        history = self.server.history
        end = len(history) if count is None else min(len(history), process.cursor + count)
        own = address_of(process.identity.registry_ref(sharded=process.settings.protocol.sharded))
        events = [event for event in history[process.cursor : end] if event.address == own]
        process.cursor = end
        if events:
            last = events[-1]
            self.observe(
                process,
                ObservedDaemonRegistry(last.version, self.register_of(last.body) if last.body is not None else None),
            )
        return bool(events)

    def context(self, process: DaemonProcess) -> DaemonInput:
        body = self.server.get(process.pod)
        return DaemonInput(
            identity=process.identity,
            settings=process.settings,
            state=process.state,
            pod=self.pod_of(body) if body is not None else None,
            fabric=process.fabric,
            stop_deadline=process.stop_deadline,
            now=self.now,
        )

    def decide(self, process: DaemonProcess) -> bool:
        """Decide and act once; return whether the process did anything."""
        if process.pending is not None:
            return False
        context = self.context(process)
        decision: Decision[DaemonAction] = self.core.next_action(context)
        action = decision.verdict
        self.checker.on_decision(self, process, context, action)
        process.wake = None
        match action:
            case StartFabricAction(index, peers) | RestartFabricAction(index, peers):
                process.fabric = FabricDaemonState(index, peers)
                self.checker.update_disturbed(self, process)
            case PushPeersAction(index, peers):
                assert process.fabric is not None
                process.fabric = replace(process.fabric, peers=peers)
            case WaitAction(until):
                process.wake = until
                return False
            case StopFabricAction(until):
                process.wake = until
                ended, process.fabric = process.fabric is not None, None
                return ended
            case IdleAction():
                return False
            case StoppedAction():
                self.end(process)
            case _:
                assert isinstance(action, REQUEST_TYPES)
                process.pending = action
                return True
        self.checker.on_fabric_change(self, process)
        return True

    def execute(self, process: DaemonProcess) -> None:
        """Execute the pending request on the server."""
        request = process.pending
        assert request is not None
        process.writes += not isinstance(request, ListPodsRequest | ReadObjectRequest)
        match request:
            case ListPodsRequest(address):
                pods = [pod for pod in self.pods() if (pod.node, pod.domain_uid) == node_and_domain_of(process)]
                process.answer = PodsListed(address, tuple(pods))
            case ReadObjectRequest(target):
                body = self.server.get(address_of(target))
                found = self.register_of(body) if body is not None else None
                process.answer = (
                    RequestSucceeded(found) if found is not None else RequestFailed(RequestResultKind.NOT_FOUND)
                )
            case _:
                response = self.commit(process, request, lambda: self.send(request))
                process.answer = self.result_of(response)

    def send(self, request: DaemonRequest) -> Response:
        write = request.write if isinstance(request, RemoveEntryRequest | ClearOtherEntryRequest) else request
        match write:
            case ApplyRequest(target=target, subresource=part, manager=manager, fields=fields, force=force):
                return self.server.apply(self.core.rewrite(thaw_json(fields)), manager, part, force=force)
            case PutRequest(target=target, subresource=part, manager=manager, manifest=manifest):
                body = self.core.rewrite(thaw_json(manifest))
                if not body["metadata"].get("resourceVersion"):  # only a mutant leaves it out
                    stored = self.server.get(address_of(target))
                    body["metadata"]["resourceVersion"] = stored["metadata"]["resourceVersion"] if stored else "1"
                return self.server.replace(body, manager, part)
            case PostRequest(manager=manager, manifest=manifest):
                return self.server.create(thaw_json(manifest), manager)
            case LabelPodRequest(pod=pod, labels=labels):
                return self.server.patch(address_of(pod), {"metadata": {"labels": thaw_json(labels)}}, "daemon")
        raise AssertionError(request)

    def result_of(self, response: Response) -> RequestResult:
        if response.good:
            body = response.body
            registry = self.register_of(body) if body is not None and body["kind"] != "Pod" else None
            return RequestSucceeded(registry)
        if response.code == CONFLICT:
            if response.owners:
                return RequestFailed(RequestResultKind.FIELD_CONFLICT, response.detail)
            return RequestFailed(RequestResultKind.CONFLICT, response.detail)
        if response.code == MISSING:
            return RequestFailed(RequestResultKind.NOT_FOUND, response.detail)
        return RequestFailed(RequestResultKind.REFUSED, response.detail)

    def receive(self, process: DaemonProcess, answer: RequestResult | None = None) -> None:
        """Deliver the result of the pending request, or another result in its place."""
        request, result = process.pending, answer or process.answer
        assert request is not None
        assert result is not None
        process.pending = process.answer = None
        registry = result.registry if isinstance(result, RequestSucceeded) else None
        if registry is not None and isinstance(request, ApplyRequest | PutRequest | PostRequest):
            process.last_own_version = registry_version_number(registry)
        process.state = self.core.after_result(
            process.state, process.identity, process.settings, request, result, now=self.now
        )

    # what becomes of processes and pods

    def resolve_pending(self, process: DaemonProcess) -> None:
        """End the pending request of a process that ends: executed by now, or never."""
        if process.pending is not None and process.answer is None and self.chance.random() < 0.5:
            self.execute(process)
        process.pending = process.answer = None

    def restart(self, process: DaemonProcess) -> None:
        """Restart the container in the same pod."""
        self.resolve_pending(process)
        process.state, process.fabric, process.stop_deadline = RegistrationState(), None, None
        process.restarts += 1
        process.last_own_version = 0
        self.list_registry(process)

    def end(self, process: DaemonProcess) -> None:
        """Delete the process and its pod."""
        self.resolve_pending(process)
        process.fabric = None
        self.processes.remove(process)
        self.server.delete(process.pod)

    def stop(self, process: DaemonProcess) -> None:
        """Mark the pod as terminating, and ask the process to stop."""
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

    def report_pod_ready(self, process: DaemonProcess) -> None:
        condition = {"type": "Ready", "status": "True", "lastTransitionTime": format_time(START)}
        self.server.patch(process.pod, {"status": {"conditions": [condition]}}, "kubelet")

    # what others do

    def collect_garbage(self) -> None:
        """Delete cliques whose owners are all deleted."""
        alive = {body["metadata"]["uid"] for body in self.server.all_of("Pod")}
        for body in self.server.all_of(DOMAIN_CLIQUE_KIND):
            owners = body["metadata"].get("ownerReferences", [])
            if owners and not any(owner["uid"] in alive for owner in owners):
                name = body["metadata"]["name"]
                self.commit(
                    None,
                    None,
                    lambda name=name: self.server.delete(Address(DOMAIN_CLIQUE_KIND, DRIVER_NAMESPACE, name)),
                )


def node_and_domain_of(process: DaemonProcess) -> tuple[str, str]:
    return process.identity.node, process.identity.domain_uid
