"""The events of a scenario: each has a time and exactly one kind."""

from typing import TypeAlias

from pydantic import model_validator
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

from grove_shell.simulator.scenario.fault_events import (
    ChangeHashes,
    CrashOperator,
    EditLabels,
    EditStatus,
    ForeignDomain,
    GateForeign,
    HoldForeign,
    JumpClock,
    LagCache,
    LimitDomains,
    LoseAnswers,
    PermuteLists,
    Reconfigure,
    RefuseWrites,
    Relist,
    RemoveLabels,
    SecondLeader,
    SlowAnswers,
    Touch,
)
from grove_shell.simulator.scenario.field_types import Model, Span
from grove_shell.simulator.scenario.user_events import (
    ApplySet,
    ApplyTopology,
    Autoscale,
    ClaimTarget,
    CrashPod,
    DomainTarget,
    NodePool,
    NodeTarget,
    PodTarget,
    Scale,
    SetTarget,
    TopologyTarget,
)

EventArguments: TypeAlias = (
    ApplySet
    | ApplyTopology
    | TopologyTarget
    | Scale
    | Autoscale
    | SetTarget
    | DomainTarget
    | ClaimTarget
    | PodTarget
    | CrashPod
    | NodePool
    | NodeTarget
    | CrashOperator
    | LagCache
    | Relist
    | Touch
    | LoseAnswers
    | RefuseWrites
    | SlowAnswers
    | ChangeHashes
    | SecondLeader
    | JumpClock
    | HoldForeign
    | GateForeign
    | EditStatus
    | RemoveLabels
    | EditLabels
    | PermuteLists
    | Reconfigure
    | ForeignDomain
    | LimitDomains
)


class Event(Model):
    """One event: ``at`` a time after the start, and exactly one of the other fields."""

    at: Span
    apply_set: ApplySet | None = None
    scale: Scale | None = None
    autoscale: Autoscale | None = None
    delete_set: SetTarget | None = None
    delete_pod: PodTarget | None = None
    fail_pod: PodTarget | None = None
    crash_pod: CrashPod | None = None
    lose_node: NodeTarget | None = None
    restore_node: NodeTarget | None = None
    add_nodes: NodePool | None = None
    remove_node: NodeTarget | None = None
    cordon: NodeTarget | None = None
    uncordon: NodeTarget | None = None
    crash_operator: CrashOperator | None = None
    lag_cache: LagCache | None = None
    relist: Relist | None = None
    touch: Touch | None = None
    lose_answers: LoseAnswers | None = None
    refuse_writes: RefuseWrites | None = None
    slow_answers: SlowAnswers | None = None
    change_hashes: ChangeHashes | None = None
    second_leader: SecondLeader | None = None
    jump_clock: JumpClock | None = None
    hold_foreign: HoldForeign | None = None
    gate_foreign: GateForeign | None = None
    edit_status: EditStatus | None = None
    remove_labels: RemoveLabels | None = None
    edit_labels: EditLabels | None = None
    permute_lists: PermuteLists | None = None
    delete_domain: DomainTarget | None = None
    delete_claim: ClaimTarget | None = None
    foreign_domain: ForeignDomain | None = None
    limit_domains: LimitDomains | None = None
    reconfigure: Reconfigure | None = None
    apply_topology: ApplyTopology | None = None
    delete_topology: TopologyTarget | None = None

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
    def arguments(self) -> EventArguments:
        """The arguments of the event: the value of its one field beside ``at``."""
        given: EventArguments | None = self._given()
        assert given is not None  # noqa: S101 - the validator checked it
        return given

    def _given(self) -> EventArguments | None:
        return next((getattr(self, name) for name in self.model_fields_set - {"at"}), None)
