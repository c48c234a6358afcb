"""The daemons of a model run, and the objects in which they register."""

from dataclasses import dataclass

from grove_core.areas.domain_cliques.daemon_context import DaemonIdentity
from grove_core.areas.domain_cliques.protocols import DaemonSettings
from grove_core.kernel.refs import Ref
from grove_core.resources.api_names import NVIDIA
from grove_core.resources.compute_domain import DOMAIN_KIND
from grove_shell.converge.model.interfaces import DOMAIN_NUMBER
from grove_shell.converge.points import Point

NAMESPACE = "ml"
DRIVER_NAMESPACE = "dra-driver"
DOMAIN_NAME = "domain"
DOMAIN_UID = "6f1d3c52-1f0e-4a3b-9d6e-0c1a2b3c4d5e"


def clique_id(clique: int) -> str:
    """Return the id of a clique, 42 characters long as real ones."""
    return f"0b7e5a90-3c4d-4e5f-8a9b-{clique:012x}.32766"


def daemon_identity(number: int, clique: int) -> DaemonIdentity:
    """Return a daemon by its number; node names sort by number."""
    return DaemonIdentity(
        node=f"gpu-node-{number:011}",
        ip=f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}",
        clique=clique_id(clique),
        namespace=NAMESPACE,
        domain=DOMAIN_NAME,
        domain_uid=DOMAIN_UID,
        pod_namespace=DRIVER_NAMESPACE,
        pod=f"computedomain-daemon-{DOMAIN_UID}-{number:05x}",
        pod_uid=f"5c2a7e10-9b8d-4c6f-a1e2-{number:012x}",
    )


@dataclass(frozen=True, slots=True)
class Participants:
    """The daemons of a point, and the object that each of them registers in."""

    point: Point
    settings: DaemonSettings
    daemons: tuple[DaemonIdentity, ...]

    @property
    def domain(self) -> Ref:
        """The ComputeDomain."""
        return Ref(NVIDIA, DOMAIN_KIND, NAMESPACE, DOMAIN_NAME)

    def object_number_of(self, clique: int) -> int:
        """Return the number of the object that the daemons of a clique register in."""
        return 1 + clique if self.point.protocol.sharded else DOMAIN_NUMBER

    def cliques_in(self, object_number: int) -> range:
        """Return the cliques whose daemons register in an object."""
        if not self.point.protocol.sharded:
            return range(self.point.cliques)
        return range(object_number - 1, object_number) if object_number else range(0)


def participants_of(point: Point) -> Participants:
    """Return the daemons of a point."""
    daemons = tuple(daemon_identity(number, point.clique_of(number)) for number in range(point.nodes))
    return Participants(point, point.settings, daemons)
