"""What a daemon can do next, and how the world can answer: closed unions."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum, unique
from typing import Final, TypeAlias

from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.refs import Ref
from grove_core.resources.compute_domain import ComputeDomain
from grove_core.resources.compute_domain_clique import ComputeDomainClique
from grove_core.resources.daemon_pod import DaemonPod
from grove_core.resources.names import daemon_host

DaemonRegistry: TypeAlias = ComputeDomain | ComputeDomainClique
"""An object that daemons register in."""


@dataclass(frozen=True, slots=True)
class PeerMap:
    """A peer map: (index, address) of every daemon of a clique, sorted by index, each index once."""

    addresses: tuple[tuple[int, str], ...]

    @property
    def hosts(self) -> tuple[tuple[str, str], ...]:
        """(address, name) as a hosts file has them (DC-005)."""
        return tuple((address, daemon_host(index)) for index, address in self.addresses)


@dataclass(frozen=True, slots=True, kw_only=True)
class Apply:
    """Server-side apply of these fields; creates the object where ``fields`` name no uid and there is none."""

    target: Ref
    subresource: str
    manager: str
    fields: FrozenMap
    force: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Put:
    """Write the whole object back; it carries the version it was read at."""

    target: Ref
    subresource: str
    manager: str
    manifest: FrozenMap


@dataclass(frozen=True, slots=True, kw_only=True)
class Post:
    """Create the object."""

    target: Ref
    manager: str
    manifest: FrozenMap


@dataclass(frozen=True, slots=True)
class RemoveEntry:
    """Take the own entry away, by this write."""

    write: Apply | Put


@dataclass(frozen=True, slots=True)
class ClearOtherEntry:
    """Take the entry of its node out of the object of the other gate, by this write."""

    write: Put


@dataclass(frozen=True, slots=True)
class LabelPod:
    """Merge these labels into those of the own pod."""

    pod: Ref
    labels: FrozenMap


@dataclass(frozen=True, slots=True)
class ListPods:
    """List the pods of the domain on the node, from the server itself: who has this address?"""

    address: str


@dataclass(frozen=True, slots=True)
class ReadObject:
    """Get this object once."""

    target: Ref


@dataclass(frozen=True, slots=True)
class StartFabric:
    """Start the fabric daemon with this index and peer map."""

    index: int
    peers: PeerMap


@dataclass(frozen=True, slots=True)
class PushPeers:
    """Give the running fabric daemon a new peer map."""

    index: int
    peers: PeerMap


@dataclass(frozen=True, slots=True)
class RestartFabric:
    """End the fabric daemon and start it anew: an index is read only once."""

    index: int
    peers: PeerMap


@dataclass(frozen=True, slots=True)
class Wait:
    """Nothing now; look again when something changes, at the latest then."""

    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class StandBy:
    """End the fabric daemon if it runs, write nothing, and look again then."""

    until: datetime


@dataclass(frozen=True, slots=True)
class Idle:
    """Nothing to do until something changes."""


@dataclass(frozen=True, slots=True)
class Stopped:
    """It has stopped: nothing more will be written.

    Attributes:
        entry_remains: whether its entry is still registered, for want of time to remove it (DC-057).
    """

    entry_remains: bool = False


Request: TypeAlias = Apply | Put | Post | RemoveEntry | ClearOtherEntry | LabelPod | ListPods | ReadObject
FabricAction: TypeAlias = StartFabric | PushPeers | RestartFabric
DaemonAction: TypeAlias = Request | FabricAction | Wait | StandBy | Idle | Stopped
REQUESTS: Final = (Apply, Put, Post, RemoveEntry, ClearOtherEntry, LabelPod, ListPods, ReadObject)


@unique
class ResultKind(Enum):
    """How the server answered a request.

    ``STALE`` is 409 for a version, a uid or a name that is taken, ``OWNED`` 409 for fields of another manager, ``GONE``
    404, ``BUSY`` 429, ``LOST`` no answer at all, ``REFUSED`` whatever else is no success.
    """

    DONE = "done"
    STALE = "stale"
    OWNED = "owned"
    GONE = "gone"
    BUSY = "busy"
    LOST = "lost"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestResult:
    """The answer to a request.

    Attributes:
        register: the object as the server has it after the write, or as it was read.
        pods: to a :class:`ListPods`.
        retry_after: with ``BUSY``, where the server said how long.
    """

    kind: ResultKind
    registry: DaemonRegistry | None = None
    pods: tuple[DaemonPod, ...] = ()
    retry_after: timedelta | None = None
    detail: str = ""
