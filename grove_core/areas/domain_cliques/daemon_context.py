"""What one daemon knows at one moment; every decision of it is a function of this value alone."""

from dataclasses import dataclass
from datetime import datetime

from grove_core.areas.domain_cliques.protocols import DaemonSettings
from grove_core.areas.domain_cliques.verdicts import DaemonRegistry, PeerMap
from grove_core.kernel.refs import Ref
from grove_core.resources.api_names import CORE, NVIDIA
from grove_core.resources.compute_domain import DOMAIN_KIND, ComputeDomain
from grove_core.resources.compute_domain_clique import CLIQUE_KIND
from grove_core.resources.daemon_pod import DaemonPod
from grove_core.resources.names import domain_clique_name


@dataclass(frozen=True, slots=True, kw_only=True)
class DaemonIdentity:
    """Who a daemon is; nothing of it changes while its process runs.

    Attributes:
        clique: empty where the node has no fabric.
        namespace, domain, domain_uid: the ComputeDomain it was started for.
        pod_namespace: where its pod is, and the cliques are.
    """

    node: str
    ip: str
    clique: str
    namespace: str
    domain: str
    domain_uid: str
    pod_namespace: str
    pod: str
    pod_uid: str

    @property
    def pod_ref(self) -> Ref:
        """Its pod."""
        return Ref(CORE, "Pod", self.pod_namespace, self.pod)

    def registry_ref(self, *, sharded: bool) -> Ref:
        """The object it registers in: its clique, or the domain."""
        if sharded:
            name = domain_clique_name(self.domain_uid, self.clique)
            return Ref(NVIDIA, CLIQUE_KIND, self.pod_namespace, name)
        return Ref(NVIDIA, DOMAIN_KIND, self.namespace, self.domain)


@dataclass(frozen=True, slots=True)
class RegistryObservation:
    """What an object was at a version of the store; ``register`` is None where there was none."""

    version: int
    registry: DaemonRegistry | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DaemonState:
    """What the process of a daemon remembers; a new process begins with ``Memory()``.

    Attributes:
        seen: the newest state of its register, be it an event or the answer to a write of its own (DC-010).
        settled: the index that an answer of its own has shown to be its alone (D42).
        contested_since: since when somebody else has the index it settled on.
        other: the object of the other gate as it was when it was read, at ``other_read_at`` (DC-065).
        pods: of the domain on this node, as listed at ``pods_listed_at`` for the address ``pods_listed_for``.
        labelled: the label of its pod was written.
        must_force: its last apply met fields of another manager (DC-032).
        by_put: its entry outlived an empty apply (DC-056).
        failures: requests that failed in a row, ``failure`` the last of them in words.
        not_before: no request before then; an event shortens it.
        patient_until: no request before then, whatever happens (DC-035).
    """

    observed: RegistryObservation | None = None
    settled_index: int | None = None
    contested_since: datetime | None = None
    other_registry: DaemonRegistry | None = None
    other_read_at: datetime | None = None
    pods: tuple[DaemonPod, ...] = ()
    pods_listed_for: str = ""
    pods_listed_at: datetime | None = None
    pod_labelled: bool = False
    must_force: bool = False
    removes_by_put: bool = False
    failures: int = 0
    failure: str = ""
    not_before: datetime | None = None
    throttled_until: datetime | None = None


@dataclass(frozen=True, slots=True)
class FabricState:
    """The fabric daemon's process: the index and peer map it runs with, and whether it says that it is ready."""

    index: int
    peers: PeerMap
    ready: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DaemonContext:
    """All that a decision of one daemon may look at.

    Attributes:
        pod: its own pod; None while it has not been seen.
        fabric: the running process; None where none runs.
        stop_by: set once it is told to stop: until when it may try to take its entry away.
        now: aware UTC; the only clock there is.
    """

    identity: DaemonIdentity
    settings: DaemonSettings
    state: DaemonState
    pod: DaemonPod | None = None
    fabric: FabricState | None = None
    stop_deadline: datetime | None = None
    now: datetime

    @property
    def registry_ref(self) -> Ref:
        """The object it registers in."""
        return self.identity.registry_ref(sharded=self.settings.protocol.sharded)

    @property
    def other_registry_ref(self) -> Ref:
        """The object it would register in if the gate were the other way."""
        return self.identity.registry_ref(sharded=not self.settings.protocol.sharded)

    @property
    def registry(self) -> DaemonRegistry | None:
        """Its register as last seen; None while there is none or none was seen."""
        return self.state.observed.registry if self.state.observed is not None else None

    @property
    def is_other_domain(self) -> bool:
        """Whether what has the name of its domain is another one: deleted and made again (DC-006)."""
        registry = self.registry
        return isinstance(registry, ComputeDomain) and registry.uid != self.identity.domain_uid

    @property
    def running_index(self) -> int | None:
        """The index its fabric daemon runs with; None where none runs."""
        return self.fabric.index if self.fabric is not None else None
