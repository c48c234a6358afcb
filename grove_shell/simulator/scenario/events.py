"""The events of a scenario: each has a time and exactly one kind."""

from pydantic import model_validator
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

from grove_shell.simulator.scenario import fault_events as faults
from grove_shell.simulator.scenario import user_events as users
from grove_shell.simulator.scenario.field_types import Model, Span


class Event(Model):
    """One event: ``at`` a time after the start, and exactly one of the other fields."""

    at: Span
    apply_set: users.ApplySet | None = None
    scale: users.Scale | None = None
    autoscale: users.Autoscale | None = None
    delete_set: users.SetTarget | None = None
    delete_pod: users.PodTarget | None = None
    fail_pod: users.PodTarget | None = None
    crash_pod: users.CrashPod | None = None
    lose_node: users.NodeTarget | None = None
    restore_node: users.NodeTarget | None = None
    add_nodes: users.NodePool | None = None
    remove_node: users.NodeTarget | None = None
    cordon: users.NodeTarget | None = None
    uncordon: users.NodeTarget | None = None
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
    delete_domain: users.DomainTarget | None = None
    delete_claim: users.ClaimTarget | None = None
    foreign_domain: faults.ForeignDomain | None = None
    limit_domains: faults.LimitDomains | None = None
    reconfigure: faults.Reconfigure | None = None
    apply_topology: users.ApplyTopology | None = None
    delete_topology: users.TopologyTarget | None = None

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
    def arguments(self) -> Model:
        """The arguments of the event: the value of its one field beside ``at``."""
        given: Model | None = self._given()
        assert given is not None  # noqa: S101 - the validator checked it
        return given

    def _given(self) -> Model | None:
        return next((getattr(self, name) for name in self.model_fields_set - {"at"}), None)
