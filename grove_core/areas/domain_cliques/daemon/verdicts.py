"""Actions that a daemon can take next, and results of its requests: closed unions.

The summary of an action is what a log says of it: the daemon "applies its entry".
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import Enum, unique
from typing import ClassVar, Final, Literal, TypeAlias

from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.refs import Ref
from grove_core.kernel.structs import Struct
from grove_core.resources.compute_domain import DaemonPod
from grove_core.resources.daemon_entry_lists import DaemonRegistry
from grove_core.resources.naming_rules import daemon_hostname


class PeerMap(Struct, frozen=True):
    """The (index, IP address) of every daemon of a clique, sorted by index, each index once."""

    addresses: tuple[tuple[int, str], ...]

    @property
    def hosts_file_lines(self) -> tuple[tuple[str, str], ...]:
        """The (IP address, host name) lines of a hosts file (DC-003)."""
        return tuple((address, daemon_hostname(index)) for index, address in self.addresses)


class ApplyRequest(Struct, frozen=True, kw_only=True):
    """Server-side apply of ``fields``; creates a missing object unless ``fields`` contain a uid."""

    summary: ClassVar[str] = "applies its entry"
    target: Ref
    subresource: str
    manager: str
    fields: FrozenMap
    force: bool = False


class PutRequest(Struct, frozen=True, kw_only=True):
    """Replace the whole object; the manifest contains the resourceVersion that was read."""

    summary: ClassVar[str] = "writes its entry"
    target: Ref
    subresource: str
    manager: str
    manifest: FrozenMap


class PostRequest(Struct, frozen=True, kw_only=True):
    """Create the object."""

    summary: ClassVar[str] = "creates the object"
    target: Ref
    manager: str
    manifest: FrozenMap


class RemoveEntryRequest(Struct, frozen=True):
    """Remove the daemon's own entry with this write."""

    summary: ClassVar[str] = "removes its entry"
    write: ApplyRequest | PutRequest


class ClearOtherEntryRequest(Struct, frozen=True):
    """Remove the entry of the daemon's node from the other registry with this write."""

    summary: ClassVar[str] = "clears the other object"
    write: PutRequest


class LabelPodRequest(Struct, frozen=True):
    """Merge these labels into those of the daemon's own pod."""

    summary: ClassVar[str] = "labels its pod"
    pod: Ref
    labels: FrozenMap


class ListPodsRequest(Struct, frozen=True):
    """List the domain's pods on the daemon's node, to find the pod with this IP address."""

    summary: ClassVar[str] = "lists the pods of its node"
    address: str


class ReadObjectRequest(Struct, frozen=True):
    """Get this object once."""

    summary: ClassVar[str] = "reads the other object"
    target: Ref


class StartFabricAction(Struct, frozen=True):
    """Start the fabric daemon with this index and peer map."""

    summary: ClassVar[str] = "starts the fabric daemon"
    index: int
    peers: PeerMap


class PushPeersAction(Struct, frozen=True):
    """Send a new peer map to the running fabric daemon."""

    summary: ClassVar[str] = "pushes the peer map"
    index: int
    peers: PeerMap


class RestartFabricAction(Struct, frozen=True):
    """Restart the fabric daemon, which reads its index only when it starts."""

    summary: ClassVar[str] = "restarts the fabric daemon"
    index: int
    peers: PeerMap


@dataclass(frozen=True, slots=True)
class WaitAction:
    """Do nothing now; decide again on the next event, or at ``until``.

    Attributes:
        after_failure: whether a request that failed is repeated then (DC-034); it does nothing else than another wait.
    """

    summary: ClassVar[str] = "waits"
    until: datetime | None = None
    after_failure: bool = field(default=False, compare=False)


class StopFabricAction(Struct, frozen=True):
    """Stop the fabric daemon if it runs, write nothing, and decide again at ``until``."""

    summary: ClassVar[str] = "stands by"
    until: datetime


class IdleAction(Struct, frozen=True):
    """Do nothing until the next event."""

    summary: ClassVar[str] = "is idle"


class StoppedAction(Struct, frozen=True):
    """The daemon has stopped and writes nothing more.

    Attributes:
        entry_remains: whether its entry is still registered, because the deadline passed first (DC-057).
    """

    summary: ClassVar[str] = "has stopped"
    entry_remains: bool = False


DaemonRequest: TypeAlias = (
    ApplyRequest
    | PutRequest
    | PostRequest
    | RemoveEntryRequest
    | ClearOtherEntryRequest
    | LabelPodRequest
    | ListPodsRequest
    | ReadObjectRequest
)
FabricAction: TypeAlias = StartFabricAction | PushPeersAction | RestartFabricAction
DaemonAction: TypeAlias = DaemonRequest | FabricAction | WaitAction | StopFabricAction | IdleAction | StoppedAction
REQUEST_TYPES: Final = (
    ApplyRequest,
    PutRequest,
    PostRequest,
    RemoveEntryRequest,
    ClearOtherEntryRequest,
    LabelPodRequest,
    ListPodsRequest,
    ReadObjectRequest,
)


@unique
class RequestResultKind(Enum):
    """How a request ended.

    ``CONFLICT`` is 409 for a version, a uid or a taken name, ``FIELD_CONFLICT`` 409 for fields of another manager,
    ``NOT_FOUND`` 404, ``TOO_MANY_REQUESTS`` 429, ``NO_RESPONSE`` a transport error or a server error, ``REFUSED`` any
    other status that is no success.
    """

    SUCCEEDED = "succeeded"
    CONFLICT = "conflict"
    FIELD_CONFLICT = "field conflict"
    NOT_FOUND = "not found"
    TOO_MANY_REQUESTS = "too many requests"
    NO_RESPONSE = "no response"
    REFUSED = "refused"


class RequestSucceeded(Struct, frozen=True):
    """The request succeeded.

    Attributes:
        registry: the object after the write, or as it was read; None if the response has none.
    """

    kind: ClassVar = RequestResultKind.SUCCEEDED
    registry: DaemonRegistry | None = None


class PodsListed(Struct, frozen=True):
    """A :class:`ListPodsRequest` with this address succeeded, and these are the pods."""

    kind: ClassVar = RequestResultKind.SUCCEEDED
    address: str
    pods: tuple[DaemonPod, ...]


class TooManyRequests(Struct, frozen=True):
    """The server refused the request because it has too many.

    Attributes:
        retry_after: the delay before the next request; None if the server named none.
        detail: the server's message.
    """

    kind: ClassVar = RequestResultKind.TOO_MANY_REQUESTS
    retry_after: timedelta | None = None
    detail: str = ""


class RequestFailed(Struct, frozen=True):
    """The request failed, or may have failed.

    Attributes:
        detail: the server's message, or the transport error.
    """

    kind: Literal[
        RequestResultKind.CONFLICT,
        RequestResultKind.FIELD_CONFLICT,
        RequestResultKind.NOT_FOUND,
        RequestResultKind.NO_RESPONSE,
        RequestResultKind.REFUSED,
    ]
    detail: str = ""


RequestResult: TypeAlias = RequestSucceeded | PodsListed | TooManyRequests | RequestFailed
"""The result of a request."""
