"""Arguments of events of users, autoscalers, pods and nodes."""

from typing import Annotated, Literal

from pydantic import Field, StrictStr, model_validator
from pydantic_core import PydanticCustomError

from grove_core.resources.cluster_topology import TOPOLOGY_KIND
from grove_core.resources.compute_domain import DOMAIN_KIND
from grove_core.resources.owned_object import CLAIM_KIND
from grove_shell.simulator.scenario.field_types import (
    AUTOSCALER,
    NODE,
    Amount,
    CliqueName,
    Count,
    Model,
    Name,
    Named,
    Raw,
    Several,
    Span,
)
from grove_shell.simulator.virtual_time import SECOND

# ------------------------------------------------------------------------------------------- users


class ApplySet(Model):
    """A user applies a PodCliqueSet; where admission refuses it, the refusal is recorded and nothing changes."""

    manifest: Raw


class ApplyTopology(Model):
    """A user applies a ClusterTopology; admission decides as for a set."""

    manifest: Raw


class Scale(Model):
    """A user sets the replicas of an object."""

    kind: Literal["PodCliqueSet", "PodCliqueScalingGroup", "PodClique"]
    name: Annotated[Name, Named()]
    replicas: Count


class Autoscale(Model):
    """A HorizontalPodAutoscaler sets the replicas of its target, within its bounds.

    Attributes:
        name: of the HorizontalPodAutoscaler; its target has the same name.
    """

    name: Annotated[Name, Named(AUTOSCALER)]
    replicas: Count


class SetTarget(Model):
    """A PodCliqueSet, by its name."""

    name: Annotated[Name, Named("PodCliqueSet")]


class DomainTarget(Model):
    """A ComputeDomain, by its name."""

    name: Annotated[Name, Named(DOMAIN_KIND)]


class ClaimTarget(Model):
    """A ResourceClaim that is shared by annotation, by its name."""

    name: Annotated[Name, Named(CLAIM_KIND)]


class TopologyTarget(Model):
    """A ClusterTopology, by its name."""

    name: Annotated[Name, Named(TOPOLOGY_KIND)]


class PodTarget(Model):
    """A pod, by its PodClique and index: the pod that has the index when the event happens (SM-007)."""

    clique: CliqueName
    index: Count = 0


class CrashPod(PodTarget):
    """A pod becomes not ready, and is ready again after ``recovers``."""

    recovers: Span = 30 * SECOND


# ---------------------------------------------------------------------------------------- hardware


class NodePool(Model):
    """Some equal nodes: ``name-0``, ``name-1`` and so on, or one node ``name`` without a count.

    Attributes:
        capacity: resource -> quantity; ``pods`` is the number of pods. A resource that is left out is unlimited for
            ``cpu``, ``memory``, ``pods`` and ``ephemeral-storage``, and 0 for all others.
    """

    name: Name
    count: Several | None = None
    labels: dict[str, StrictStr] = Field(default_factory=dict)
    capacity: dict[str, Amount] = Field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """The names of its nodes."""
        return [self.name] if self.count is None else [f"{self.name}-{index}" for index in range(self.count)]


class NodeTarget(Model):
    """A node, by its name or as the node of a pod."""

    node: Annotated[StrictStr, Named(NODE)] = ""
    of: PodTarget | None = None

    @model_validator(mode="after")
    def _one_of_two(self) -> "NodeTarget":
        if bool(self.node) == (self.of is not None):
            raise PydanticCustomError("one_of_two", "either node, or of: {clique, index}")
        return self
