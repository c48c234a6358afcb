"""The operator's configuration as far as decisions depend on it, and the optional APIs that a cluster serves."""

from enum import Enum, unique
from typing import Final, Literal, TypeAlias

from grove_core.kernel.structs import Struct
from grove_core.resources.cluster_topology import Levels
from grove_core.version import IMAGE


@unique
class MnnvlMode(Enum):
    """How ComputeDomains of sets are created (decision D1)."""

    OPERATOR = "operator"
    """The operator makes one for each replica of every set that asks for GPUs and does not opt out."""
    ANNOTATIONS = "annotations"
    """Sets opt in and choose a scope; the admission of their PodCliques makes what they need."""


@unique
class ComputeDomainFormatName(Enum):
    """The format of a ComputeDomain (decision D2)."""

    DESIGN = "design"
    """As the design documents print it."""
    NVIDIA = "nvidia"
    """As the definition of NVIDIA's driver admits it."""


@unique
class GangBackend(Enum):
    """The kind of objects by which a scheduler places the gangs of a set as a whole (decision 0018)."""

    PODGANG = "podgang"
    """PodGangs, for KAI and Volcano."""
    KUBERNETES = "kubernetes"
    """The Workload API of Kubernetes."""


@unique
class WorkloadApiLevel(Enum):
    """How much of the Workload API an API server serves."""

    NONE = "none"
    FLAT = "flat"
    """Only PodGroups: a gang of several PodCliques cannot be expressed."""
    HIERARCHICAL = "hierarchical"
    """CompositePodGroups as well."""


class MnnvlConfiguration(Struct, frozen=True):
    """The configuration of Multi-Node NVLink.

    Attributes:
        shape: the format of ComputeDomains; None for that of the cluster.
        is_given: whether a configuration says whether it is enabled; without one that is the default.
    """

    enabled: bool = False
    mode: MnnvlMode = MnnvlMode.OPERATOR
    shape: ComputeDomainFormatName | None = None
    is_given: bool = False

    @property
    def is_on_by_go_operator(self) -> bool:
        """Whether the Go operator creates ComputeDomains; it counts as so where no configuration is given (NF-004)."""
        return self.enabled or not self.is_given

    def is_enabled_in_mode(self, mode: MnnvlMode) -> bool:
        """Return whether MNNVL is enabled, in this mode."""
        return self.enabled and self.mode is mode


class TopologyAwareSettings(Struct, frozen=True):
    """Whether pods are placed by the topology of the cluster.

    Attributes:
        levels: of the default topology, from broad to narrow; empty where the operator manages no topology, as the Go
            operator does not (IN-071).
    """

    enabled: bool = False
    levels: Levels = ()

    @property
    def has_default_topology(self) -> bool:
        """Whether the operator creates the default topology and keeps its levels."""
        return self.enabled and bool(self.levels)


DEFAULT_SCHEDULER: Final = "default-scheduler"
GoSchedulerName: TypeAlias = Literal["kai-scheduler", "default-scheduler", "volcano", "lpx-scheduler"]
"""The schedulers that a configuration of the Go operator can enable."""


class SchedulerProfiles(Struct, frozen=True):
    """The scheduler profiles of the Go operator (IN-070).

    Attributes:
        names: of the enabled schedulers, in the order of the file; ``default-scheduler`` is always one of them.
        default: the scheduler of pods whose template names none.
    """

    names: tuple[str, ...] = (DEFAULT_SCHEDULER,)
    default: str = DEFAULT_SCHEDULER


_OFF: Final = MnnvlConfiguration()
_BLIND: Final = TopologyAwareSettings()


class Configuration(Struct, frozen=True):
    """The part of the operator's configuration that decisions depend on.

    Attributes:
        mnnvl: of Multi-Node NVLink.
        init_image: of init containers that wait for parents (WL-084).
        topology: of topology-aware placement.
        schedulers: of the Go operator; None where no file of it was read.
        gang_backend: of new gangs; None for the Workload API where it is served (SC-001).
    """

    mnnvl: MnnvlConfiguration = _OFF
    init_image: str = IMAGE
    topology: TopologyAwareSettings = _BLIND
    schedulers: SchedulerProfiles | None = None
    gang_backend: GangBackend | None = None

    @property
    def default_scheduler(self) -> str:
        """The scheduler of pods whose template names none (WF-152)."""
        return DEFAULT_SCHEDULER if self.schedulers is None else self.schedulers.default


class ServedApis(Struct, frozen=True):
    """The optional APIs that an API server serves.

    Attributes:
        domains: the format of its ComputeDomains; None where it has none, or where that is not known.
        without_domains: whether it is known to have none.
        claims: the newest version of ``resource.k8s.io``; empty where that is not known.
        workload_api: its level; None where that is not known.
    """

    domains: ComputeDomainFormatName | None = None
    without_domains: bool = False
    claims: str = ""
    workload_api: WorkloadApiLevel | None = None


DEFAULT_CONFIGURATION: Final = Configuration()
"""Of an operator without a configuration file."""
NOT_DISCOVERED: Final = ServedApis()
"""Of a server whose APIs were not discovered."""
