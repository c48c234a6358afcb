"""The scenario file: the cluster at the start, the events, and the expectations."""

from datetime import UTC, datetime
from typing import Annotated, Any, Final, Literal

from pydantic import Field, StrictBool, StrictInt, StrictStr, model_validator
from pydantic_core import PydanticCustomError

from grove_core.resources.api_names import TOPOLOGY_KIND
from grove_shell.settings.shared_settings import MnnvlSettings, SchedulingSettings, TopologySettings
from grove_shell.simulator.scenario.scenario_events import ScenarioEvent, ScenarioNodePool
from grove_shell.simulator.scenario.scenario_field_types import (
    Address,
    ClockTime,
    Count,
    Counted,
    Name,
    ObjectNamesFieldMarker,
    Raw,
    ScenarioPart,
    Span,
    Time,
)
from grove_shell.simulator.virtual_time import SECOND

API_VERSION: Final = "grove.io/v1alpha1"
KIND: Final = "Scenario"
CountedPods = Annotated[Counted | None, ObjectNamesFieldMarker("PodClique")]
_START: Final = datetime(2026, 11, 20, 9, 0, 0, tzinfo=UTC)


class ScenarioPodTimings(ScenarioPart):
    """Kubelet delays for the pods of one clique; a delay that is left out is that of all other pods."""

    start: Span | None = None
    ready: Span | None = None
    stop: Span | None = None


class ScenarioKubeletSpec(ScenarioPart):
    """Kubelet delays: from scheduled to running, from running to ready, and from deletion to its end.

    Attributes:
        recovers: when the pods that are not ready in the dump become ready; None for never.
        cliques: short name of a clique in the template -> its own delays.
    """

    start: Span = 2 * SECOND
    ready: Span = 5 * SECOND
    stop: Span = 3 * SECOND
    recovers: Span | None = None
    cliques: dict[str, ScenarioPodTimings] = Field(default_factory=dict)


class ScenarioSchedulerSpec(ScenarioPart):
    """The scheduler.

    Attributes:
        gang_aware: whether it places a gang all or nothing, or each pod by itself.
        priorities: name of a PriorityClass -> its value; 0 for all others. Gangs in groups preempt by it.
    """

    delay: Span = SECOND
    gang_aware: StrictBool = True
    priorities: dict[str, StrictInt] = Field(default_factory=dict)


class ScenarioOperatorSpec(ScenarioPart):
    """Delays and configuration of the operator.

    Attributes:
        round: the shortest time between two rounds.
        watch: how late a change reaches the operator's cache.
        write: from sending a write to its response; the write takes effect half-way, and the next one is sent after it.
        mnnvl, topology_aware_scheduling, scheduling: as in the operator's configuration file; admission uses the same.
    """

    round: Span = 100
    watch: Span = 200
    write: Span = 0
    mnnvl: MnnvlSettings = MnnvlSettings()
    topology_aware_scheduling: TopologySettings = TopologySettings()
    scheduling: SchedulingSettings = SchedulingSettings()


class ScenarioAdmissionDelaySpec(ScenarioPart):
    """Delay of the caches that admission reads: topologies, the sets that use them, and the bound pods of these."""

    watch: Span = 0


class ScenarioDraDriverSpec(ScenarioPart):
    """NVIDIA's DRA driver, as far as it is simulated.

    Attributes:
        release: how long the driver's finalizer keeps a deleted ComputeDomain; 0 for no finalizer.
        installed: when the driver is installed; before that the API server does not serve ComputeDomains.
    """

    release: Span = 0
    installed: Span = 0


class ScenarioExpectation(ScenarioPart):
    """What must hold at a time, at the end, or what must never happen; a field that is left out is not checked.

    Attributes:
        pods, scheduled, ready, gated: number of pods, in all or by PodClique; pods that are being deleted do not count.
        terminations: replicas that gang termination has terminated so far.
        refused: writes of users that admission has refused so far.
        images: PodClique -> image of the first container of each of its live pods.
        objects: number of all objects in the cluster, pods and sets included.
        exists, gone: objects as ``Kind/name``.
        nodes: number of nodes that carry pods.
        joined: number of pods that claim a channel of a ComputeDomain, in all or by PodClique.
        stands_on: PodClique -> labels that the nodes of all its live pods have.
        topologies: PodGang -> the topology that it names; empty for none.
        in_sync: PodCliqueSet -> whether its condition TopologyInSync holds.
        held: ClusterTopology -> whether it has Grove's finalizer.
        levels: ClusterTopology -> its domains from broad to narrow.
        failed_domains: PodCliqueSet -> the replicas whose ComputeDomain could not be created, as its condition lists.
    """

    at: Time | None = None
    never: Literal["terminated", "breached", "unschedulable", "refused"] | None = None
    pods: CountedPods = None
    scheduled: CountedPods = None
    ready: CountedPods = None
    gated: CountedPods = None
    terminations: Count | None = None
    refused: Count | None = None
    objects: Count | None = None
    nodes: Count | None = None
    images: Annotated[dict[str, StrictStr], ObjectNamesFieldMarker("PodClique")] = Field(default_factory=dict)
    exists: Annotated[tuple[Address, ...], ObjectNamesFieldMarker()] = ()
    gone: Annotated[tuple[Address, ...], ObjectNamesFieldMarker()] = ()
    joined: CountedPods = None
    failed_domains: Annotated[dict[str, tuple[Count, ...]], ObjectNamesFieldMarker("PodCliqueSet")] = Field(
        default_factory=dict
    )
    stands_on: Annotated[dict[str, dict[str, StrictStr]], ObjectNamesFieldMarker("PodClique")] = Field(
        default_factory=dict
    )
    topologies: Annotated[dict[str, StrictStr], ObjectNamesFieldMarker("PodGang")] = Field(default_factory=dict)
    in_sync: Annotated[dict[str, StrictBool], ObjectNamesFieldMarker("PodCliqueSet")] = Field(default_factory=dict)
    held: Annotated[dict[str, StrictBool], ObjectNamesFieldMarker(TOPOLOGY_KIND)] = Field(default_factory=dict)
    levels: Annotated[dict[str, tuple[StrictStr, ...]], ObjectNamesFieldMarker(TOPOLOGY_KIND)] = Field(
        default_factory=dict
    )

    @model_validator(mode="after")
    def _when_or_never(self) -> "ScenarioExpectation":
        looked_at = self.model_fields_set - {"at", "never"}
        if (self.never is None) == (self.at is None) or (self.never is None) != bool(looked_at):
            raise PydanticCustomError("when_or_never", "at with what must hold then, or never alone")
        return self


class ScenarioSpec(ScenarioPart):
    """The cluster at the start, the actors, the events, and the expectations.

    Attributes:
        start: the clock time at which virtual time is 0.
        sets: PodCliqueSets that exist at the start, as manifests, or as ``file: PATH`` beside the scenario.
        topologies: ClusterTopologies that exist at the start, written in the same way.
        cluster: path of a dump to start from, as kubectl prints it; the operator creates what the dump lacks.
        until: when the run stops; without it the run stops when no event is left.
    """

    start: ClockTime = _START
    sets: tuple[Raw, ...] = ()
    topologies: tuple[Raw, ...] = ()
    cluster: StrictStr | None = None
    nodes: tuple[ScenarioNodePool, ...] = ()
    kubelet: ScenarioKubeletSpec = Field(default_factory=ScenarioKubeletSpec)
    scheduler: ScenarioSchedulerSpec = Field(default_factory=ScenarioSchedulerSpec)
    operator: ScenarioOperatorSpec = Field(default_factory=ScenarioOperatorSpec)
    driver: ScenarioDraDriverSpec = Field(default_factory=ScenarioDraDriverSpec)
    admission: ScenarioAdmissionDelaySpec = Field(default_factory=ScenarioAdmissionDelaySpec)
    until: Span | None = None
    events: tuple[ScenarioEvent, ...] = ()
    expect: tuple[ScenarioExpectation, ...] = ()


class ScenarioMetadata(ScenarioPart):
    """The name and the description of a scenario."""

    name: Name
    description: StrictStr = ""


class Scenario(ScenarioPart):
    """The whole scenario file."""

    api_version: Literal["grove.io/v1alpha1"] = Field(alias="apiVersion")
    kind: Literal["Scenario"]
    metadata: ScenarioMetadata
    spec: ScenarioSpec

    def with_events(self, events: tuple[ScenarioEvent, ...]) -> "Scenario":
        """Return this scenario with other events, sorted by time."""
        ordered = tuple(sorted(events, key=lambda event: event.at))
        return self.model_copy(update={"spec": self.spec.model_copy(update={"events": ordered})})

    @property
    def as_json(self) -> dict[str, Any]:
        """The scenario as JSON; fields with their default are left out."""
        raw: dict[str, Any] = self.model_dump(mode="json", by_alias=True, exclude_defaults=True)
        return {"apiVersion": API_VERSION, "kind": KIND, **{k: v for k, v in raw.items() if k in {"metadata", "spec"}}}
