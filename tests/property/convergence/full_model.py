"""Full models: daemon states of the core and whole requests, on objects that an object server merges by field.

They share with the fast models only what takes time: limiter, server, processor and watches. Decisions and writes are
implemented twice, in two ways.
"""

from datetime import timedelta
from typing import Any

from grove_core.areas.domain_cliques.daemon.daemon_input import (
    DaemonIdentity,
    DaemonInput,
    FabricDaemonState,
    ObservedDaemonRegistry,
    RegistrationState,
)
from grove_core.areas.domain_cliques.daemon.judge import next_daemon_action
from grove_core.areas.domain_cliques.daemon.registration_state_updates import (
    registration_state_after_event,
    registration_state_after_result,
)
from grove_core.areas.domain_cliques.daemon.verdicts import (
    ApplyRequest,
    IdleAction,
    PeerMap,
    PostRequest,
    PushPeersAction,
    PutRequest,
    RequestFailed,
    RequestResult,
    RequestResultKind,
    RequestSucceeded,
    RestartFabricAction,
    StartFabricAction,
    TooManyRequests,
    WaitAction,
)
from grove_core.areas.domain_cliques.domain_snapshot import compute_domain_snapshot_of
from grove_core.kernel.frozen import thaw_json
from grove_core.kernel.steps import SetStatus
from grove_core.kernel.structs import replace
from grove_core.reconcile_domain import reconcile_compute_domain
from grove_core.resources.api_names import DOMAIN_KIND, NVIDIA
from grove_core.resources.compute_domain import (
    ComputeDomain,
    ComputeDomainClique,
    DaemonPod,
    compute_domain_from_json,
    domain_clique_from_json,
)
from grove_core.resources.daemon_entry_lists import DaemonRegistry, registry_version_number
from grove_shell.converge.model.convergence_model_run import ConvergenceModelFactory
from grove_shell.converge.model.daemon_model import START_OF_TIME, DomainDaemonModel, datetime_from_microseconds
from grove_shell.converge.model.model_object_store import ModelNvlinkCliqueState, ModelObjectStore
from grove_shell.converge.model.model_run_context import (
    CONTROLLER_NUMBER,
    DOMAIN_NAME,
    DOMAIN_NUMBER,
    NAMESPACE,
    DaemonActionWithoutRequest,
    DecideAgainAt,
    ModelDaemonsAndRegistries,
    ModelWrite,
    ModelWriteResult,
)
from grove_shell.converge.model.server_costs import ModelServerCosts
from grove_shell.converge.model.simulated_clients import DomainControllerModel
from tests.server_side_apply.domain_shapes import domain_shapes
from tests.server_side_apply.object_server import Address, ObjectServer, Response

SHAPES = domain_shapes()
UID = "uid-1"
Commit = tuple[int, int, int, bool]


class FullCliqueState(ModelNvlinkCliqueState):
    """One clique of a registry."""

    def __init__(self, registry: DaemonRegistry, clique: str) -> None:
        self.whole = registry
        found = [entry for entry in registry.daemon_entries if entry.clique == clique]
        self.count = len(found)
        self.ready = sum(entry.is_ready for entry in found)
        self.has_duplicates = len({entry.index for entry in found}) < len(found)


class FullObjectStore(ModelObjectStore):
    """Whole objects, merged by the object server."""

    def __init__(self, participants: ModelDaemonsAndRegistries, log: list[Commit]) -> None:
        self.participants = participants
        self.log = log
        self.server = ObjectServer(SHAPES)
        self.registries: dict[int, DaemonRegistry] = {}
        spec = {"numNodes": participants.point.nodes, "channel": {"resourceClaimTemplate": {"name": "channel"}}}
        head = {"apiVersion": NVIDIA, "kind": DOMAIN_KIND, "metadata": {"name": DOMAIN_NAME, "namespace": NAMESPACE}}
        assert self.server.create({**head, "spec": spec}, "user").good

    @property
    def latest_version(self) -> int:
        return self.server.version

    def address(self, object_number: int) -> Address:
        if object_number == DOMAIN_NUMBER:
            return Address(DOMAIN_KIND, NAMESPACE, DOMAIN_NAME)
        first = daemon(self.participants, (object_number - 1) * self.participants.point.clique_size)
        ref = first.registry_ref(sharded=True)
        return Address(ref.kind, ref.namespace, ref.name)

    def version_of_object(self, object_number: int) -> int:
        body = self.server.get(self.address(object_number))
        return int(body["metadata"]["resourceVersion"]) if body is not None else 0

    def registry(self, version: int) -> DaemonRegistry:
        """The object as of this version."""
        if version not in self.registries:
            body = self.server.history[version - 1].body
            assert body is not None
            project: Any = compute_domain_from_json if body["kind"] == DOMAIN_KIND else domain_clique_from_json
            self.registries[version] = project(body)
        return self.registries[version]

    def clique_view(self, object_number: int, clique: int) -> FullCliqueState | None:
        version = self.version_of_object(object_number)
        identity = daemon(self.participants, clique * self.participants.point.clique_size)
        return FullCliqueState(self.registry(version), identity.clique) if version else None

    def changes_anything(self, write: ModelWrite) -> bool:
        if write.writer == CONTROLLER_NUMBER:
            return True
        version = self.version_of_object(write.object_number)
        entries = self.registry(version).daemon_entries if version else ()
        node = daemon(self.participants, write.writer).node
        stored = [(entry.index, entry.is_ready) for entry in entries if entry.node == node]
        return stored != [(write.index, write.ready)]

    def apply_write(self, write: ModelWrite) -> None:
        before = self.server.version
        response = self.sent(write.content)
        assert response.good, response
        assert self.server.version == before + 1
        self.log.append((write.writer, write.object_number, write.index, write.ready))

    def sent(self, action: Any) -> Response:
        match action:
            case ApplyRequest():
                return self.server.apply(thaw_json(action.fields), action.manager, action.subresource)
            case PutRequest():
                return self.server.replace(thaw_json(action.manifest), action.manager, action.subresource)
            case PostRequest():
                return self.server.create(thaw_json(action.manifest), action.manager)
            case SetStatus():
                guard = {"uid": action.guard.uid, "resourceVersion": action.guard.resource_version}
                head = {"apiVersion": NVIDIA, "kind": DOMAIN_KIND}
                body = {
                    **head,
                    "metadata": {"name": DOMAIN_NAME, "namespace": NAMESPACE, **guard},
                    "status": thaw_json(action.fields),
                }
                return self.server.apply(body, "cd-controller", "status", force=True)
        raise AssertionError(action)

    def is_domain_ready(self) -> bool:
        body = self.server.get(self.address(DOMAIN_NUMBER))
        assert body is not None
        return bool(body.get("status", {}).get("status") == "Ready")


class FullDaemonModel(DomainDaemonModel):
    """State and decisions of the core, on whole objects and all events."""

    def __init__(self, participants: ModelDaemonsAndRegistries, number: int, retry_after: timedelta) -> None:
        self.participants = participants
        self.number = number
        self.retry_after = retry_after
        self.identity = daemon(participants, number)
        self.state = RegistrationState()
        self.fabric: FabricDaemonState | None = None
        self.start: tuple[int, PeerMap] | None = None

    def on_watch_event(self, version: int, view: Any, at: int, jitter: float) -> bool:
        observation = ObservedDaemonRegistry(version, view.whole if view is not None else None)
        self.state = registration_state_after_event(
            self.state,
            self.identity,
            self.participants.settings,
            observation,
            now=datetime_from_microseconds(at),
            jitter=jitter,
        )
        return True

    def on_write_result(self, write: ModelWrite, result: ModelWriteResult, at: int, jitter: float) -> None:
        registry = result.view.whole if result.view is not None else None
        answer: RequestResult
        match result.kind:
            case RequestResultKind.SUCCEEDED:
                answer = RequestSucceeded(registry)
            case RequestResultKind.TOO_MANY_REQUESTS:
                answer = TooManyRequests(self.retry_after)
            case kind:
                answer = RequestFailed(kind)
        self.state = registration_state_after_result(
            self.state,
            self.identity,
            self.participants.settings,
            write.content,
            answer,
            now=datetime_from_microseconds(at),
            jitter=jitter,
        )

    def on_fabric_start(self) -> None:
        assert self.start is not None
        self.fabric = FabricDaemonState(*self.start)

    def on_fabric_ready(self) -> None:
        assert self.fabric is not None
        self.fabric = replace(self.fabric, ready=True)

    def decide_next_action(self, at: int) -> ModelWrite | DaemonActionWithoutRequest | DecideAgainAt:
        while True:
            found = DaemonInput(
                identity=self.identity,
                settings=self.participants.settings,
                state=self.state,
                fabric=self.fabric,
                now=datetime_from_microseconds(at),
            )
            action = next_daemon_action(found).verdict
            match action:
                case PushPeersAction(_, peers):
                    assert self.fabric is not None
                    self.fabric = replace(self.fabric, peers=peers)
                case StartFabricAction(index, peers) | RestartFabricAction(index, peers):
                    self.start = (index, peers)
                    return DaemonActionWithoutRequest.START
                case WaitAction(until) if until is not None:
                    return DecideAgainAt((until - START_OF_TIME) // timedelta(microseconds=1))
                case IdleAction() | WaitAction():
                    return DaemonActionWithoutRequest.IDLE
                case ApplyRequest() | PutRequest() | PostRequest():
                    return self.write(action)
                case _:
                    raise AssertionError(action)

    def write(self, action: ApplyRequest | PutRequest | PostRequest) -> ModelWrite:
        body: dict[str, Any] = thaw_json(action.fields if isinstance(action, ApplyRequest) else action.manifest)
        items = body["status"]["nodes"] if "status" in body else body["daemons"]
        own = next(item for item in items if self.identity.node in {item.get("name"), item.get("nodeName")})
        seen = self.state.observed
        registry = seen.registry if seen is not None else None
        stored = (
            [] if registry is None else [one.index for one in registry.daemon_entries if one.node == self.identity.node]
        )
        return ModelWrite(
            writer=self.number,
            object_number=self.participants.registry_object_number_of(
                self.participants.point.clique_number_of_daemon(self.number)
            ),
            index=own["index"],
            ready=own["status"] == "Ready",
            moves=bool(stored) and stored != [own["index"]],
            base=None
            if isinstance(action, ApplyRequest)
            else registry_version_number(registry)
            if registry is not None
            else 0,
            content=action,
        )


class FullControllerModel(DomainControllerModel):
    """The plan of the core, from all objects."""

    def __init__(self, participants: ModelDaemonsAndRegistries, store: FullObjectStore) -> None:
        self.participants = participants
        self.store = store
        self.observed: dict[int, DaemonRegistry] = {DOMAIN_NUMBER: store.registry(1)}
        self.pods = [pod_of(daemon(participants, number)) for number in range(participants.point.nodes)]

    def on_watch_event(self, object_number: int, version: int, clique: int | None, view: Any) -> None:
        assert clique is None or view is not None
        self.take_in(object_number, version)

    def take_in(self, object_number: int, version: int) -> None:
        if object_number not in self.observed or version > registry_version_number(self.observed[object_number]):
            self.observed[object_number] = self.store.registry(version)

    def decide_next_write(self, at: int) -> ModelWrite | None:
        domain = self.observed[DOMAIN_NUMBER]
        assert isinstance(domain, ComputeDomain)
        cliques = [one for one in self.observed.values() if isinstance(one, ComputeDomainClique)]
        plan = reconcile_compute_domain(
            compute_domain_snapshot_of(
                domain, cliques, self.pods, pods_version=10**9, now=datetime_from_microseconds(at)
            )
        )
        if not plan.steps:
            return None
        (step,) = plan.steps
        status = step.action
        assert isinstance(status, SetStatus)
        fields: Any = thaw_json(status.fields)
        return ModelWrite(
            CONTROLLER_NUMBER,
            DOMAIN_NUMBER,
            ready=fields["status"] == "Ready",
            records=len(fields["cliques"]),
            base=int(status.guard.resource_version),
            content=status,
        )

    def on_write_result(self, write: ModelWrite, result: ModelWriteResult) -> None:
        if result.kind is RequestResultKind.SUCCEEDED:
            self.take_in(write.object_number, result.version)


class FullParts(ConvergenceModelFactory):
    """The full models, with a log of all writes."""

    def __init__(self) -> None:
        self.log: list[Commit] = []

    def create_object_store(self, participants: ModelDaemonsAndRegistries) -> ModelObjectStore:
        return FullObjectStore(participants, self.log)

    def create_daemon(
        self, participants: ModelDaemonsAndRegistries, number: int, costs: ModelServerCosts
    ) -> DomainDaemonModel:
        return FullDaemonModel(participants, number, timedelta(milliseconds=costs.retry_after_ms))

    def create_controller(
        self, participants: ModelDaemonsAndRegistries, store: ModelObjectStore
    ) -> DomainControllerModel:
        assert isinstance(store, FullObjectStore)
        return FullControllerModel(participants, store)


class LoggedFastParts(ConvergenceModelFactory):
    """The fast models, with a log of all writes."""

    def __init__(self) -> None:
        self.log: list[Commit] = []

    def create_object_store(self, participants: ModelDaemonsAndRegistries) -> ModelObjectStore:
        return LoggedFastObjectStore(participants, self.log)


class LoggedFastObjectStore(ModelObjectStore):
    def __init__(self, participants: ModelDaemonsAndRegistries, log: list[Commit]) -> None:
        super().__init__(participants)
        self.log = log

    def apply_write(self, write: ModelWrite) -> None:
        super().apply_write(write)
        self.log.append((write.writer, write.object_number, write.index, write.ready))


def daemon(participants: ModelDaemonsAndRegistries, number: int) -> DaemonIdentity:
    """A daemon, with the uid that the object server gave to the domain."""
    return replace(participants.daemons[number], domain_uid=UID)


def pod_of(identity: DaemonIdentity) -> DaemonPod:
    return DaemonPod(
        ref=identity.pod_ref,
        uid=identity.pod_uid,
        node=identity.node,
        ip=identity.ip,
        domain_uid=UID,
        clique=identity.clique,
    )
