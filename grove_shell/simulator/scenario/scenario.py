"""A scenario: what there is, what happens, and what is expected of it; as people write it."""

from datetime import UTC, datetime
from typing import Any, Final, Literal

from pydantic import Field, StrictBool, StrictStr, model_validator
from pydantic_core import PydanticCustomError

from grove_shell.settings.mnnvl import MnnvlSettings
from grove_shell.settings.topology import TopologySettings
from grove_shell.simulator.scenario.events import Event
from grove_shell.simulator.scenario.field_types import Address, Count, Counted, Model, Moment, Name, Raw, Span, Time
from grove_shell.simulator.scenario.user_events import NodePool
from grove_shell.simulator.virtual_time import SECOND

API_VERSION: Final = "grove.io/v1alpha1"
KIND: Final = "Scenario"
_START: Final = datetime(2026, 11, 20, 9, 0, 0, tzinfo=UTC)


class PodTimings(Model):
    """How fast the kubelet is with pods of one clique; what is left out is as for all others."""

    start: Span | None = None
    ready: Span | None = None
    stop: Span | None = None


class KubeletSpec(Model):
    """How long pods take, from placed to running, from running to ready, from deleted to gone.

    Attributes:
        cliques: other paces, by short name of the clique in the template.
    """

    start: Span = 2 * SECOND
    ready: Span = 5 * SECOND
    stop: Span = 3 * SECOND
    cliques: dict[str, PodTimings] = Field(default_factory=dict)


class SchedulerSpec(Model):
    """How long the scheduler takes, and whether it places a gang as one or each pod by itself."""

    delay: Span = SECOND
    gang_aware: StrictBool = True


class OperatorSpec(Model):
    """The least time between two rounds of the operator, how old its view is, and how long it waits for an answer.

    Attributes:
        write: from sending a write to its answer; it is done half-way, and the next one is sent after it.
        mnnvl, topology_aware_scheduling: as in the operator's configuration file; admission is told the same.
    """

    round: Span = 100
    watch: Span = 200
    write: Span = 0
    mnnvl: MnnvlSettings = MnnvlSettings()
    topology_aware_scheduling: TopologySettings = TopologySettings()


class AdmissionSpec(Model):
    """How old the view is that those who admit writes have of topologies, of who uses them, and of their pods."""

    watch: Span = 0


class DriverSpec(Model):
    """NVIDIA's driver, as far as it is played.

    Attributes:
        release: how long a deleted ComputeDomain stays, held by the driver's finalizer; 0 where it has none.
        installed: when it is installed; before that the server has no ComputeDomains.
    """

    release: Span = 0
    installed: Span = 0


class Expectation(Model):
    """What should be so at a moment, at the end, or never; what is left out is not looked at.

    Attributes:
        pods, scheduled, ready, gated: of all pods, or by PodClique; pods that are being deleted count for none.
        terminations: replicas ended by gang termination so far.
        refused: writes of users that admission refused so far.
        images: by PodClique, what the first container of each of its live pods runs.
        objects: everything in the cluster, pods and sets included.
        exists, gone: objects as ``Kind/name``.
        nodes: on how many nodes pods are.
        joined: of all pods, or by PodClique: those that claim a channel of a ComputeDomain.
        stands_on: by PodClique, labels of nodes; all of its live pods are on nodes with these.
        topologies: by PodGang, the topology that it names; empty for none.
        in_sync: by PodCliqueSet, whether its topology holds, as its condition says.
        held: by ClusterTopology, whether Grove's finalizer is on it.
        levels: by ClusterTopology, its domains from broad to narrow.
        failed_domains: by PodCliqueSet, the replicas whose ComputeDomain could not be made, as its condition says.
    """

    at: Time | None = None
    never: Literal["terminated", "breached", "unschedulable", "refused"] | None = None
    pods: Counted | None = None
    scheduled: Counted | None = None
    ready: Counted | None = None
    gated: Counted | None = None
    terminations: Count | None = None
    refused: Count | None = None
    objects: Count | None = None
    nodes: Count | None = None
    images: dict[str, StrictStr] = Field(default_factory=dict)
    exists: tuple[Address, ...] = ()
    gone: tuple[Address, ...] = ()
    joined: Counted | None = None
    failed_domains: dict[str, tuple[Count, ...]] = Field(default_factory=dict)
    stands_on: dict[str, dict[str, StrictStr]] = Field(default_factory=dict)
    topologies: dict[str, StrictStr] = Field(default_factory=dict)
    in_sync: dict[str, StrictBool] = Field(default_factory=dict)
    held: dict[str, StrictBool] = Field(default_factory=dict)
    levels: dict[str, tuple[StrictStr, ...]] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _when_or_never(self) -> "Expectation":
        looked_at = self.model_fields_set - {"at", "never"}
        if (self.never is None) == (self.at is None) or (self.never is None) != bool(looked_at):
            raise PydanticCustomError("when_or_never", "at with what should be so then, or never with what should not")
        return self


class Spec(Model):
    """The world at the start, its actors, and what happens in it.

    Attributes:
        start: the moment that virtual time counts from.
        sets: PodCliqueSets that are there from the start, as manifests, or as ``file: PATH`` beside the scenario.
        topologies: ClusterTopologies that are there from the start, in the same way.
        cluster: a dump to start from, as kubectl prints it; what it lacks is made by the operator.
        until: when the run ends; where it is left out, when nothing more will happen.
    """

    start: Moment = _START
    sets: tuple[Raw, ...] = ()
    topologies: tuple[Raw, ...] = ()
    cluster: StrictStr | None = None
    nodes: tuple[NodePool, ...] = ()
    kubelet: KubeletSpec = Field(default_factory=KubeletSpec)
    scheduler: SchedulerSpec = Field(default_factory=SchedulerSpec)
    operator: OperatorSpec = Field(default_factory=OperatorSpec)
    driver: DriverSpec = Field(default_factory=DriverSpec)
    admission: AdmissionSpec = Field(default_factory=AdmissionSpec)
    until: Span | None = None
    events: tuple[Event, ...] = ()
    expect: tuple[Expectation, ...] = ()


class Meta(Model):
    """The name of a scenario."""

    name: Name
    description: StrictStr = ""


class Scenario(Model):
    """The whole file."""

    api_version: Literal["grove.io/v1alpha1"] = Field(alias="apiVersion")
    kind: Literal["Scenario"]
    metadata: Meta
    spec: Spec

    def with_events(self, events: tuple[Event, ...]) -> "Scenario":
        """The same world in which other things happen; in time."""
        ordered = tuple(sorted(events, key=lambda event: event.at))
        return self.model_copy(update={"spec": self.spec.model_copy(update={"events": ordered})})

    @property
    def as_json(self) -> dict[str, Any]:
        """The file again; what is as by default is left out."""
        raw: dict[str, Any] = self.model_dump(mode="json", by_alias=True, exclude_defaults=True)
        return {"apiVersion": API_VERSION, "kind": KIND, **{k: v for k, v in raw.items() if k in {"metadata", "spec"}}}
