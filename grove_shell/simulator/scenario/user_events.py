"""What users, autoscalers and hardware do in a scenario."""

from typing import Literal

from pydantic import Field, StrictStr, model_validator
from pydantic_core import PydanticCustomError

from grove_shell.simulator.scenario.field_types import Amount, Count, Model, Name, Raw, Several, Span
from grove_shell.simulator.virtual_time import SECOND

# ------------------------------------------------------------------------------------------- users


class ApplySet(Model):
    """Somebody applies a PodCliqueSet; admission is asked, and a refusal is reported and changes nothing."""

    manifest: Raw


class ApplyTopology(Model):
    """Somebody applies a ClusterTopology; admission is asked in the same way."""

    manifest: Raw


class Scale(Model):
    """Somebody sets the replicas of an object."""

    kind: Literal["PodCliqueSet", "PodCliqueScalingGroup", "PodClique"]
    name: Name
    replicas: Count


class Autoscale(Model):
    """An autoscaler wants so many replicas of its target, and gets what its bounds allow.

    Attributes:
        name: of the HorizontalPodAutoscaler, which is that of its target.
    """

    name: Name
    replicas: Count


class SetByName(Model):
    """An object, by its name."""

    name: Name


class DomainByName(Model):
    """A ComputeDomain, by its name."""

    name: Name


class ClaimByName(Model):
    """A ResourceClaim that is shared by annotation, by its name."""

    name: Name


class TopologyByName(Model):
    """A ClusterTopology, by its name."""

    name: Name


class PodByIndex(Model):
    """A pod, by its PodClique and its index in it; whichever pod has the index by then."""

    clique: Name
    index: Count = 0


class CrashPod(PodByIndex):
    """A pod stops being ready, and is again after a while."""

    recovers: Span = 30 * SECOND


# ---------------------------------------------------------------------------------------- hardware


class NodePool(Model):
    """Some equal nodes: ``name-0`` and on, or just ``name`` where there is one and no count is given.

    Attributes:
        capacity: what pods may ask for, by resource; ``pods`` is how many of them; what is left out is endless only
            for ``cpu``, ``memory`` and ``pods``.
    """

    name: Name
    count: Several | None = None
    labels: dict[str, StrictStr] = Field(default_factory=dict)
    capacity: dict[str, Amount] = Field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """Those of its nodes."""
        return [self.name] if self.count is None else [f"{self.name}-{index}" for index in range(self.count)]


class NodeTarget(Model):
    """A node: by its name, or as the one that carries a pod."""

    node: StrictStr = ""
    of: PodByIndex | None = None

    @model_validator(mode="after")
    def _one_of_two(self) -> "NodeTarget":
        if bool(self.node) == (self.of is not None):
            raise PydanticCustomError("one_of_two", "either node, or of: {clique, index}")
        return self
