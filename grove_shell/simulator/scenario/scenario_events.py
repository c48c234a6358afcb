"""The events of a scenario, each with a time and exactly one kind, and the arguments of those that are no faults."""

from typing import Annotated, Literal

from pydantic import Field, StrictStr, model_validator
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

from grove_core.resources.api_names import CLAIM_KIND, DOMAIN_KIND, TOPOLOGY_KIND
from grove_shell.simulator.scenario import fault_events as faults
from grove_shell.simulator.scenario.scenario_field_types import (
    AUTOSCALER,
    NODE,
    Amount,
    Count,
    Name,
    ObjectNamesFieldMarker,
    PodByCliqueAndIndex,
    Raw,
    ScenarioPart,
    Several,
    Span,
)
from grove_shell.simulator.virtual_time import SECOND


class ApplySetScenarioEvent(ScenarioPart):
    """A user applies a PodCliqueSet; where admission refuses it, the refusal is recorded and nothing changes."""

    manifest: Raw


class ApplyTopologyScenarioEvent(ScenarioPart):
    """A user applies a ClusterTopology; admission decides as for a set."""

    manifest: Raw


class ScaleScenarioEvent(ScenarioPart):
    """A user sets the replicas of an object."""

    kind: Literal["PodCliqueSet", "PodCliqueScalingGroup", "PodClique"]
    name: Annotated[Name, ObjectNamesFieldMarker()]
    replicas: Count


class AutoscaleScenarioEvent(ScenarioPart):
    """A HorizontalPodAutoscaler sets the replicas of its target, within its bounds.

    Attributes:
        name: of the HorizontalPodAutoscaler; its target has the same name.
    """

    name: Annotated[Name, ObjectNamesFieldMarker(AUTOSCALER)]
    replicas: Count


class PodCliqueSetByName(ScenarioPart):
    """A PodCliqueSet, by its name."""

    name: Annotated[Name, ObjectNamesFieldMarker("PodCliqueSet")]


class ComputeDomainByName(ScenarioPart):
    """A ComputeDomain, by its name."""

    name: Annotated[Name, ObjectNamesFieldMarker(DOMAIN_KIND)]


class ResourceClaimByName(ScenarioPart):
    """A ResourceClaim that is shared by annotation, by its name."""

    name: Annotated[Name, ObjectNamesFieldMarker(CLAIM_KIND)]


class ClusterTopologyByName(ScenarioPart):
    """A ClusterTopology, by its name."""

    name: Annotated[Name, ObjectNamesFieldMarker(TOPOLOGY_KIND)]


class CrashPodScenarioEvent(PodByCliqueAndIndex):
    """A pod becomes not ready, and is ready again after ``recovers``."""

    recovers: Span = 30 * SECOND


class ScenarioNodePool(ScenarioPart):
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
    def node_names(self) -> list[str]:
        """The names of its nodes."""
        return [self.name] if self.count is None else [f"{self.name}-{index}" for index in range(self.count)]


class NodeByNameOrPod(ScenarioPart):
    """A node, by its name or as the node of a pod."""

    node: Annotated[StrictStr, ObjectNamesFieldMarker(NODE)] = ""
    of: PodByCliqueAndIndex | None = None

    @model_validator(mode="after")
    def _one_of_two(self) -> "NodeByNameOrPod":
        if bool(self.node) == (self.of is not None):
            raise PydanticCustomError("one_of_two", "either node, or of: {clique, index}")
        return self


class ScenarioEvent(ScenarioPart):
    """One event: ``at`` a time after the start, and exactly one of the other fields."""

    at: Span
    apply_set: ApplySetScenarioEvent | None = None
    scale: ScaleScenarioEvent | None = None
    autoscale: AutoscaleScenarioEvent | None = None
    delete_set: PodCliqueSetByName | None = None
    delete_pod: PodByCliqueAndIndex | None = None
    fail_pod: PodByCliqueAndIndex | None = None
    crash_pod: CrashPodScenarioEvent | None = None
    lose_node: NodeByNameOrPod | None = None
    restore_node: NodeByNameOrPod | None = None
    add_nodes: ScenarioNodePool | None = None
    remove_node: NodeByNameOrPod | None = None
    cordon: NodeByNameOrPod | None = None
    uncordon: NodeByNameOrPod | None = None
    crash_operator: faults.CrashOperatorFault | None = None
    lag_cache: faults.LagCacheFault | None = None
    relist: faults.RelistFault | None = None
    touch: faults.TouchFault | None = None
    lose_answers: faults.LoseAnswersFault | None = None
    refuse_writes: faults.RefuseWritesFault | None = None
    slow_answers: faults.SlowAnswersFault | None = None
    change_hashes: faults.ChangeHashesFault | None = None
    second_leader: faults.SecondLeaderFault | None = None
    jump_clock: faults.JumpClockFault | None = None
    hold_foreign: faults.ForeignFinalizerFault | None = None
    gate_foreign: faults.ForeignSchedulingGateFault | None = None
    edit_status: faults.EditStatusFault | None = None
    remove_labels: faults.RemoveLabelsFault | None = None
    edit_labels: faults.EditLabelsFault | None = None
    permute_lists: faults.PermuteListsFault | None = None
    delete_domain: ComputeDomainByName | None = None
    delete_claim: ResourceClaimByName | None = None
    foreign_domain: faults.ForeignDomainFault | None = None
    limit_domains: faults.LimitDomainsFault | None = None
    reconfigure: faults.ReconfigureFault | None = None
    apply_topology: ApplyTopologyScenarioEvent | None = None
    delete_topology: ClusterTopologyByName | None = None

    @model_validator(mode="after")
    def _exactly_one(self) -> "ScenarioEvent":
        if len(self.model_fields_set - {"at"}) != 1 or self._given() is None:
            raise PydanticCustomError("exactly_one", "at, and exactly one kind of event")
        return self

    @property
    def kind(self) -> str:
        """The kind of the event, as the field is named in Python (``lose_node``)."""
        (name,) = self.model_fields_set - {"at"}
        return name

    @property
    def field_name(self) -> str:
        """The kind of the event, as the field is named in a file (``loseNode``)."""
        return to_camel(self.kind)

    @property
    def arguments(self) -> ScenarioPart:
        """The arguments of the event: the value of its one field beside ``at``."""
        given: ScenarioPart | None = self._given()
        assert given is not None  # noqa: S101 - the validator checked it
        return given

    def _given(self) -> ScenarioPart | None:
        return next((getattr(self, name) for name in self.model_fields_set - {"at"}), None)
