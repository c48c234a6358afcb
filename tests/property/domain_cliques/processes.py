"""Nodes, daemon processes with pending requests, and commits of the small cluster."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from grove_core.areas.domain_cliques.daemon.daemon_input import DaemonIdentity, FabricDaemonState, RegistrationState
from grove_core.areas.domain_cliques.daemon.registration_protocols import DaemonRegistrationSettings
from grove_core.areas.domain_cliques.daemon.verdicts import DaemonRequest, RequestResult
from grove_core.kernel.refs import Ref
from tests.server_side_apply.domain_shapes import domain_shapes
from tests.server_side_apply.object_server import Address

Json = dict[str, Any]
START: Final = datetime(2026, 11, 20, 9, tzinfo=UTC)
NAMESPACE: Final = "user"
DRIVER_NAMESPACE: Final = "driver"
DOMAIN_NAME: Final = "domain"
SHAPES: Final = domain_shapes()
GRACE: Final = timedelta(seconds=10)


@dataclass(frozen=True)
class Node:
    name: str
    clique: str


@dataclass(eq=False)
class DaemonProcess:
    """One daemon process, with the pod it runs in.

    Attributes:
        last_own_version: the newest version in a response to its own write.
        is_disturbed: whether another writer removed or changed its entry since it last settled.
        answer: the result of the pending request, once the server has executed it.
    """

    identity: DaemonIdentity
    settings: DaemonRegistrationSettings
    state: RegistrationState = field(default_factory=RegistrationState)
    fabric: FabricDaemonState | None = None
    stop_deadline: datetime | None = None
    cursor: int = 0
    pending: DaemonRequest | None = None
    answer: RequestResult | None = None
    wake: datetime | None = None
    last_own_version: int = 0
    is_disturbed: bool = False
    restarts: int = 0
    moves: int = 0
    writes: int = 0

    @property
    def pod(self) -> Address:
        return Address("Pod", DRIVER_NAMESPACE, self.identity.pod)


@dataclass
class Commit:
    """One change of the store, and its writer."""

    address: Address
    before: Json | None
    after: Json | None
    by: DaemonProcess | None
    request: DaemonRequest | None = None
    controller: bool = False


def address_of(ref: Ref) -> Address:
    return Address(ref.kind, ref.namespace, ref.name)
