"""What goes wrong in a scenario: on the way to the server, with the operator, and by strangers (F1 to F13)."""

from typing import Literal

from pydantic import StrictBool, StrictStr, model_validator
from pydantic_core import PydanticCustomError

from grove_shell.settings.mnnvl import MnnvlSettings
from grove_shell.settings.topology import TopologySettings
from grove_shell.simulator.scenario.field_types import Address, Count, Interval, Kind, Model, Name, Several, Span
from grove_shell.simulator.scenario.user_events import PodByIndex
from grove_shell.simulator.virtual_time import SECOND


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
    every: Interval = 3 * SECOND


class JumpClock(Model):
    """The operator's clock is off for a while (F9)."""

    ahead: Span = 0
    back: Span = 0
    span: Span = 60 * SECOND


class HoldForeign(Model):
    """Somebody else's finalizer is on an object for a while (F10)."""

    kind: Literal["PodCliqueSet", "PodCliqueScalingGroup", "PodClique", "PodGang", "ClusterTopology"]
    name: Name
    span: Span = 30 * SECOND


class GateForeign(PodByIndex):
    """Somebody else's scheduling gate is on a pod for a while (F10)."""

    span: Span = 30 * SECOND


class EditStatus(Model):
    """Somebody writes nonsense into the stored counts of a PodClique (F10)."""

    clique: Name


class RemoveLabels(Model):
    """Somebody takes all labels from a PodClique (F10)."""

    clique: Name


class EditLabels(Model):
    """Somebody writes labels of an object by hand (F10).

    Attributes:
        labels: by key; null takes one away.
    """

    kind: Literal["PodClique", "PodGang", "ComputeDomain", "ResourceClaim"]
    name: Name
    labels: dict[StrictStr, StrictStr | None]


class Reconfigure(Model):
    """The operator's configuration and that of admission are changed; the operator begins anew with it (F13).

    Attributes:
        mnnvl, topology_aware_scheduling: as in the configuration file; what is left out stays as it is.
    """

    mnnvl: MnnvlSettings | None = None
    topology_aware_scheduling: TopologySettings | None = None
    down: Span = 5 * SECOND

    @model_validator(mode="after")
    def _something(self) -> "Reconfigure":
        if self.mnnvl is None and self.topology_aware_scheduling is None:
            raise PydanticCustomError("something", "mnnvl, topologyAwareScheduling, or both")
        return self


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
