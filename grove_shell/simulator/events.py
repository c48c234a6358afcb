"""What may happen in a scenario: what users and hardware do, and what goes wrong on the way to the server."""

from typing import Literal, TypeAlias

from pydantic import Field, StrictBool, StrictStr, model_validator
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

from grove_shell.settings.mnnvl import MnnvlSettings
from grove_shell.simulator.fields import Address, Amount, Count, Kind, Model, Name, Raw, Several, Span
from grove_shell.simulator.spans import SECOND

# ------------------------------------------------------------------------------------------- users


class ApplySet(Model):
    """Somebody applies a PodCliqueSet; admission is asked, and a refusal is reported and changes nothing."""

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


class Named(Model):
    """An object, by its name."""

    name: Name


class DomainAt(Model):
    """A ComputeDomain, by its name."""

    name: Name


class ClaimAt(Model):
    """A ResourceClaim that is shared by annotation, by its name."""

    name: Name


class PodAt(Model):
    """A pod, by its PodClique and its index in it; whichever pod has the index by then."""

    clique: Name
    index: Count = 0


class CrashPod(PodAt):
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


class NodeAt(Model):
    """A node: by its name, or as the one that carries a pod."""

    node: StrictStr = ""
    of: PodAt | None = None

    @model_validator(mode="after")
    def _one_of_two(self) -> "NodeAt":
        if bool(self.node) == (self.of is not None):
            raise PydanticCustomError("one_of_two", "either node, or of: {clique, index}")
        return self


# ------------------------------------------------------------------------------------------ faults


class CrashOperator(Model):
    """The operator process ends at a write, and is back after a while with an empty memory (F1).

    Attributes:
        write: at which of its writes from now on; 0 for at once.
        committed: whether that write reaches the server.
        down: for how long the process is away.
        times: how often, each time counted from its return.
    """

    write: Count = 0
    committed: StrictBool = False
    down: Span = 5 * SECOND
    times: Several = 1


class LagCache(Model):
    """What the operator sees of some kinds stands still for a while (F2, F3: changes meanwhile arrive as one)."""

    kinds: tuple[Kind, ...]
    span: Span


class Relist(Model):
    """The operator lists everything anew; from an older state, where ``back`` says so (F2, F3)."""

    back: Span = 0


class Touch(Model):
    """Somebody else writes to the object just before each of the operator's next writes to one of a kind (F4)."""

    kind: Kind
    writes: Several = 1


class LoseAnswers(Model):
    """The operator's next writes are done, and it is told of a timeout (F5)."""

    writes: Several = 1


class RefuseWrites(Model):
    """The server refuses the operator's next writes: 429 and 503 for now, 403 and 422 for a reason (F6, F7)."""

    code: Literal[403, 422, 429, 503] = 403
    kind: Kind | None = None
    writes: Several = 1


class SlowAnswers(Model):
    """Each of the operator's writes takes so much longer for a while; it reaches the server half-way (F6)."""

    delay: Span = 10 * SECOND
    span: Span = 60 * SECOND


class ChangeHashes(Model):
    """A new release of the operator begins, whose template hashes are others than those that are stored (F13)."""

    down: Span = 5 * SECOND


class SecondLeader(Model):
    """A leader that was replaced goes on for a while, on what it saw last (F8)."""

    span: Span = 15 * SECOND
    every: Span = 3 * SECOND


class JumpClock(Model):
    """The operator's clock is off for a while (F9)."""

    ahead: Span = 0
    back: Span = 0
    span: Span = 60 * SECOND


class HoldForeign(Model):
    """Somebody else's finalizer is on an object for a while (F10)."""

    kind: Literal["PodCliqueSet", "PodCliqueScalingGroup", "PodClique", "PodGang"]
    name: Name
    span: Span = 30 * SECOND


class GateForeign(PodAt):
    """Somebody else's scheduling gate is on a pod for a while (F10)."""

    span: Span = 30 * SECOND


class EditStatus(Model):
    """Somebody writes nonsense into the stored counts of a PodClique (F10)."""

    clique: Name


class RemoveLabels(Model):
    """Somebody takes all labels from a PodClique (F10)."""

    clique: Name


class Reconfigure(Model):
    """The operator's configuration and that of admission are changed; the operator begins anew with it (F13)."""

    mnnvl: MnnvlSettings
    down: Span = 5 * SECOND


class ForeignDomain(Model):
    """Somebody else makes a ComputeDomain of a name that a set will want (F10).

    Attributes:
        owner: who controls it, as ``Kind/name``; empty for nobody.
        span: until it is deleted; it stays where this is left out.
    """

    name: Name
    owner: Address | None = None
    span: Span | None = None


class LimitDomains(Model):
    """A quota: while it holds, ComputeDomains beyond so many in one namespace are refused (F7)."""

    most: Count
    span: Span = 60 * SECOND


class PermuteLists(Model):
    """The operator's lists come in another order at each look (F12); which ones, is what the seed says."""

    span: Span = 60 * SECOND
    seed: Count = 0


Deed: TypeAlias = (
    ApplySet
    | Scale
    | Autoscale
    | Named
    | DomainAt
    | ClaimAt
    | PodAt
    | CrashPod
    | NodePool
    | NodeAt
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
    | PermuteLists
    | Reconfigure
    | ForeignDomain
    | LimitDomains
)


class Event(Model):
    """One thing that happens: ``at`` a moment after the start, and exactly one of the others."""

    at: Span
    apply_set: ApplySet | None = None
    scale: Scale | None = None
    autoscale: Autoscale | None = None
    delete_set: Named | None = None
    delete_pod: PodAt | None = None
    fail_pod: PodAt | None = None
    crash_pod: CrashPod | None = None
    lose_node: NodeAt | None = None
    restore_node: NodeAt | None = None
    add_nodes: NodePool | None = None
    remove_node: NodeAt | None = None
    cordon: NodeAt | None = None
    uncordon: NodeAt | None = None
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
    permute_lists: PermuteLists | None = None
    delete_domain: DomainAt | None = None
    delete_claim: ClaimAt | None = None
    foreign_domain: ForeignDomain | None = None
    limit_domains: LimitDomains | None = None
    reconfigure: Reconfigure | None = None

    @model_validator(mode="after")
    def _exactly_one(self) -> "Event":
        if len(self.model_fields_set - {"at"}) != 1 or self._given() is None:
            raise PydanticCustomError("exactly_one", "at, and exactly one thing that happens")
        return self

    @property
    def what(self) -> str:
        """The name of what happens, as the field is called here (``lose_node``)."""
        (name,) = self.model_fields_set - {"at"}
        return name

    @property
    def written(self) -> str:
        """The same as it stands in a file (``loseNode``)."""
        return to_camel(self.what)

    @property
    def deed(self) -> Deed:
        """What happens."""
        given: Deed | None = self._given()
        assert given is not None  # noqa: S101 - the validator saw to it
        return given

    def _given(self) -> Deed | None:
        return next((getattr(self, name) for name in self.model_fields_set - {"at"}), None)
