"""The object server of the small cluster; an invariant checker is called with each change."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from grove_core.areas.domain_cliques.daemon.registration_protocols import RegistrationProtocol
from grove_core.areas.domain_cliques.daemon.verdicts import DaemonRequest
from grove_core.resources.api_names import DOMAIN_CLIQUE_KIND, DOMAIN_KIND, NVIDIA
from grove_core.resources.compute_domain import (
    DaemonPod,
    compute_domain_from_json,
    daemon_pod_from_json,
    domain_clique_from_json,
)
from grove_core.resources.daemon_entry_lists import DaemonRegistry
from tests.property.domain_cliques.core_functions import CoreFunctions
from tests.property.domain_cliques.processes import (
    DOMAIN_NAME,
    NAMESPACE,
    SHAPES,
    START,
    Commit,
    DaemonProcess,
    Json,
    Node,
)
from tests.server_side_apply.object_server import Address, ObjectServer, Response


@dataclass
class CheckedServer:
    """A server of domains, cliques and pods.

    Attributes:
        checker: called with each commit and each action; raises if an invariant is violated.
    """

    seed: int
    nodes: tuple[Node, ...]
    protocol: RegistrationProtocol
    checker: Any
    core: CoreFunctions = field(default_factory=CoreFunctions)
    server: ObjectServer = field(default_factory=lambda: ObjectServer(SHAPES))
    now: datetime = START

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)
        self.parsed_pods: dict[tuple[str, str], DaemonPod] = {}
        self.registries: dict[tuple[str, str], DaemonRegistry] = {}
        self.make_domain()

    @property
    def domain(self) -> Json:
        found = self.server.get(Address(DOMAIN_KIND, NAMESPACE, DOMAIN_NAME))
        assert found is not None
        return found

    def pods(self) -> list[DaemonPod]:
        return [self.pod_of(body) for body in self.server.all_of("Pod")]

    def pod_of(self, body: Json) -> DaemonPod:
        """The parsed pod, cached by version."""
        key = (body["metadata"]["uid"], body["metadata"]["resourceVersion"])
        if key not in self.parsed_pods:
            self.parsed_pods[key] = daemon_pod_from_json(body)
        return self.parsed_pods[key]

    def register_of(self, body: Json) -> DaemonRegistry:
        """The parsed registry, cached by version."""
        key = (body["metadata"]["uid"], body["metadata"]["resourceVersion"])
        if key not in self.registries:
            self.registries[key] = projected(body)
        return self.registries[key]

    def make_domain(self) -> None:
        manifest = {
            "apiVersion": NVIDIA,
            "kind": DOMAIN_KIND,
            "metadata": {"name": DOMAIN_NAME, "namespace": NAMESPACE},
            "spec": {"numNodes": len(self.nodes), "channel": {"resourceClaimTemplate": {"name": "channel"}}},
        }
        self.commit(None, None, lambda: self.server.create(manifest, "user"))

    def commit(
        self, by: DaemonProcess | None, request: DaemonRequest | None, write: Any, *, controller: bool = False
    ) -> Response:
        """Execute a write, and check each of its changes."""
        start = len(self.server.history)
        before = dict(self.stored())
        response: Response = write()
        for event in self.server.history[start:]:
            result = Commit(event.address, before.get(event.address), event.body, by, request, controller)
            self.checker.on_commit(self, result)
        return response

    def stored(self) -> Iterator[tuple[Address, Json]]:
        for kind in (DOMAIN_KIND, DOMAIN_CLIQUE_KIND):
            for body in self.server.all_of(kind):
                yield Address(kind, body["metadata"]["namespace"], body["metadata"]["name"]), body


def projected(body: Json) -> DaemonRegistry:
    return compute_domain_from_json(body) if body["kind"] == DOMAIN_KIND else domain_clique_from_json(body)
