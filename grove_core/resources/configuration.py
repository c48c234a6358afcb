"""What the operator is told, as far as decisions depend on it, and what the API server offers it."""

from dataclasses import dataclass
from enum import Enum, unique
from typing import Final

from grove_core.resources.cluster_topology import Levels
from grove_core.version import IMAGE


@unique
class MnnvlMode(Enum):
    """How sets come to their ComputeDomains (decision D1)."""

    OPERATOR = "operator"
    """The operator makes one for each replica of every set that asks for GPUs and does not opt out."""
    ANNOTATIONS = "annotations"
    """Sets opt in and choose a scope; the admission of their PodCliques makes what they need."""


@unique
class DomainShape(Enum):
    """How a ComputeDomain is written (decision D2)."""

    DESIGN = "design"
    """As the design documents print it."""
    NVIDIA = "nvidia"
    """As the definition of NVIDIA's driver admits it."""


@dataclass(frozen=True, slots=True)
class Mnnvl:
    """What is done about Multi-Node NVLink.

    Attributes:
        shape: None for that of the cluster.
    """

    enabled: bool = False
    mode: MnnvlMode = MnnvlMode.OPERATOR
    shape: DomainShape | None = None

    def in_mode(self, mode: MnnvlMode) -> bool:
        """Whether it is on, and in this mode."""
        return self.enabled and self.mode is mode


@dataclass(frozen=True, slots=True)
class TopologyAware:
    """Whether pods are placed by the topology of the cluster.

    Attributes:
        levels: of the default topology, from broad to narrow.
    """

    enabled: bool = False
    levels: Levels = ()


_OFF: Final = Mnnvl()
_BLIND: Final = TopologyAware()


@dataclass(frozen=True, slots=True)
class Configuration:
    """The part of the operator's configuration that decisions look at.

    Attributes:
        init_image: of the init containers that wait for a start (WL-072).
    """

    mnnvl: Mnnvl = _OFF
    init_image: str = IMAGE
    topology: TopologyAware = _BLIND


@dataclass(frozen=True, slots=True)
class ServedApis:
    """What the API server offers beyond what Grove cannot do without.

    Attributes:
        domains: the shape of its ComputeDomains; None where it has none, or nobody asked.
        without_domains: whether it was asked, and has none.
        claims: the newest version of ``resource.k8s.io`` it knows; empty where nobody asked.
    """

    domains: DomainShape | None = None
    without_domains: bool = False
    claims: str = ""


DEFAULT_CONFIGURATION: Final = Configuration()
"""Of an operator without a configuration file."""
NOT_DISCOVERED: Final = ServedApis()
"""Of a server that nobody asked."""
