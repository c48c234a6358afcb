"""The events of a scenario, each with a time and exactly one kind, and the arguments of those that are no faults."""

from typing import Annotated, Literal

from pydantic import Field, StrictStr, model_validator
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

from grove_core.resources.cluster_topology import TOPOLOGY_KIND
from grove_core.resources.compute_domain import DOMAIN_KIND
from grove_core.resources.owned_object import CLAIM_KIND
from grove_shell.simulator.scenario import fault_events as faults
from grove_shell.simulator.scenario.scenario_field_types import (
    AUTOSCALER,
    NODE,
    Amount,
    Count,
    HoldsObjectNames,
    Name,
    PodByCliqueAndIndex,
    Raw,
    ScenarioPart,
    Several,
    Span,
)
from grove_shell.simulator.virtual_time import SECOND


class ApplySet(ScenarioPart):
    """A user applies a PodCliqueSet; where admission refuses it, the refusal is recorded and nothing changes."""

    manifest: Raw


class ApplyTopology(ScenarioPart):
    """A user applies a ClusterTopology; admission decides as for a set."""

    manifest: Raw


class Scale(ScenarioPart):
    """A user sets the replicas of an object."""

    kind: Literal["PodCliqueSet", "PodCliqueScalingGroup", "PodClique"]
    name: Annotated[Name, HoldsObjectNames()]
    replicas: Count


class Autoscale(ScenarioPart):
    """A HorizontalPodAutoscaler sets the replicas of its target, within its bounds.

    Attributes:
        name: of the HorizontalPodAutoscaler; its target has the same name.
    """

    name: Annotated[Name, HoldsObjectNames(AUTOSCALER)]
    replicas: Count


class SetByName(ScenarioPart):
    """A PodCliqueSet, by its name."""

    name: Annotated[Name, HoldsObjectNames("PodCliqueSet")]


class DomainByName(ScenarioPart):
    """A ComputeDomain, by its name."""

    name: Annotated[Name, HoldsObjectNames(DOMAIN_KIND)]


class ClaimByName(ScenarioPart):
    """A ResourceClaim that is shared by annotation, by its name."""

    name: Annotated[Name, HoldsObjectNames(CLAIM_KIND)]


class TopologyByName(ScenarioPart):
    """A ClusterTopology, by its name."""

    name: Annotated[Name, HoldsObjectNames(TOPOLOGY_KIND)]


class CrashPod(PodByCliqueAndIndex):
    """A pod becomes not ready, and is ready again after ``recovers``."""

    recovers: Span = 30 * SECOND


class NodePool(ScenarioPart):
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


class NodeByNameOrPod(ScenarioPart):
    """A node, by its name or as the node of a pod."""

    node: Annotated[StrictStr, HoldsObjectNames(NODE)] = ""
    of: PodByCliqueAndIndex | None = None

    @model_validator(mode="after")
    def _one_of_two(self) -> "NodeByNameOrPod":
        if bool(self.node) == (self.of is not None):
            raise PydanticCustomError("one_of_two", "either node, or of: {clique, index}")
        return self


class Event(ScenarioPart):
    """One event: ``at`` a time after the start, and exactly one of the other fields."""

    at: Span
    apply_set: ApplySet | None = None
    scale: Scale | None = None
    autoscale: Autoscale | None = None
    delete_set: SetByName | None = None
    delete_pod: PodByCliqueAndIndex | None = None
    fail_pod: PodByCliqueAndIndex | None = None
    crash_pod: CrashPod | None = None
    lose_node: NodeByNameOrPod | None = None
    restore_node: NodeByNameOrPod | None = None
    add_nodes: NodePool | None = None
    remove_node: NodeByNameOrPod | None = None
    cordon: NodeByNameOrPod | None = None
    uncordon: NodeByNameOrPod | None = None
    crash_operator: faults.CrashOperator | None = None
    lag_cache: faults.LagCache | None = None
    relist: faults.Relist | None = None
    touch: faults.Touch | None = None
    lose_answers: faults.LoseAnswers | None = None
    refuse_writes: faults.RefuseWrites | None = None
    slow_answers: faults.SlowAnswers | None = None
    change_hashes: faults.ChangeHashes | None = None
    second_leader: faults.SecondLeader | None = None
    jump_clock: faults.JumpClock | None = None
    hold_foreign: faults.HoldForeign | None = None
    gate_foreign: faults.GateForeign | None = None
    edit_status: faults.EditStatus | None = None
    remove_labels: faults.RemoveLabels | None = None
    edit_labels: faults.EditLabels | None = None
    permute_lists: faults.PermuteLists | None = None
    delete_domain: DomainByName | None = None
    delete_claim: ClaimByName | None = None
    foreign_domain: faults.ForeignDomain | None = None
    limit_domains: faults.LimitDomains | None = None
    reconfigure: faults.Reconfigure | None = None
    apply_topology: ApplyTopology | None = None
    delete_topology: TopologyByName | None = None

    @model_validator(mode="after")
    def _exactly_one(self) -> "Event":
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
