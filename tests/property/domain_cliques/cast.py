"""Who is in the small cluster: nodes, daemon processes with requests under way, and changes with who made them."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from grove_core.areas.domain_cliques.protocols import Setup
from grove_core.areas.domain_cliques.situation import Daemon, Fabric, Memory
from grove_core.areas.domain_cliques.verdicts import Answer, Request
from grove_core.kernel.refs import Ref
from tests.merging.domain_shapes import domain_shapes
from tests.merging.object_server import Address

Json = dict[str, Any]
START: Final = datetime(2026, 11, 20, 9, tzinfo=UTC)
SPACE: Final = "user"
DRIVER: Final = "driver"
NAME: Final = "domain"
SHAPES: Final = domain_shapes()
GRACE: Final = timedelta(seconds=10)


@dataclass(frozen=True)
class Node:
    name: str
    clique: str


@dataclass(eq=False)
class Process:
    """One daemon process, with the pod it runs in.

    Attributes:
        answered: the newest version that an answer to a write of its own showed.
        disturbed: somebody else took its entry away or altered it since it last settled.
        answer: of the request under way, once the server has carried it out.
    """

    me: Daemon
    setup: Setup
    memory: Memory = field(default_factory=Memory)
    fabric: Fabric | None = None
    stop_by: datetime | None = None
    cursor: int = 0
    pending: Request | None = None
    answer: Answer | None = None
    wake: datetime | None = None
    answered: int = 0
    disturbed: bool = False
    restarts: int = 0
    moves: int = 0
    writes: int = 0

    @property
    def pod(self) -> Address:
        return Address("Pod", DRIVER, self.me.pod)


@dataclass
class Commit:
    """One change of the store, and whose it was."""

    address: Address
    before: Json | None
    after: Json | None
    by: Process | None
    request: Request | None = None
    controller: bool = False


def address_of(ref: Ref) -> Address:
    return Address(ref.kind, ref.namespace, ref.name)
