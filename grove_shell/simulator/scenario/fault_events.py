"""Arguments of fault events: faults of the connection and of the operator, and writes of other clients (F1 to F13)."""

from typing import Annotated, Literal

from pydantic import StrictBool, StrictStr, model_validator
from pydantic_core import PydanticCustomError

from grove_core.resources.api_names import DOMAIN_KIND
from grove_shell.settings.shared_settings import MnnvlSettings, TopologySettings
from grove_shell.simulator.scenario.scenario_field_types import (
    Address,
    CliqueName,
    Count,
    Interval,
    Kind,
    Name,
    ObjectNamesFieldMarker,
    PodByCliqueAndIndex,
    ScenarioPart,
    Several,
    Span,
)
from grove_shell.simulator.virtual_time import SECOND


class CrashOperatorFault(ScenarioPart):
    """The operator process crashes at a write, and starts again with an empty memory (F1).

    Attributes:
        write: number of the write from now on at which it crashes; 0 for at once.
        committed: whether that write takes effect.
        down: how long the process is down.
        times: number of crashes; writes are counted anew after each restart.
    """

    write: Count = 0
    committed: StrictBool = False
    down: Span = 5 * SECOND
    times: Several = 1


class LagCacheFault(ScenarioPart):
    """The operator's cache of some kinds is frozen for a while; the changes of that time arrive as one (F2, F3)."""

    kinds: tuple[Kind, ...]
    span: Span


class RelistFault(ScenarioPart):
    """The operator relists all kinds, as they were ``back`` ago (F2, F3)."""

    back: Span = 0


class TouchFault(ScenarioPart):
    """Another client writes to the object just before each of the operator's next writes to the kind (F4)."""

    kind: Kind
    writes: Several = 1


class LoseAnswersFault(ScenarioPart):
    """The operator's next writes take effect, and the operator gets a timeout (F5)."""

    writes: Several = 1


class RefuseWritesFault(ScenarioPart):
    """The API server refuses the operator's next writes: 429 and 503 may be retried, 403 and 422 are final (F6, F7)."""

    code: Literal[403, 422, 429, 503] = 403
    kind: Kind | None = None
    writes: Several = 1


class SlowAnswersFault(ScenarioPart):
    """Each write of the operator takes ``delay`` longer for a while; it takes effect half-way (F6)."""

    delay: Span = 10 * SECOND
    span: Span = 60 * SECOND


class ChangeHashesFault(ScenarioPart):
    """A new release of the operator starts that computes other template hashes than those stored (F13)."""

    down: Span = 5 * SECOND


class SecondLeaderFault(ScenarioPart):
    """A replaced leader goes on for a while on its last cache (F8)."""

    span: Span = 15 * SECOND
    every: Interval = 3 * SECOND


class JumpClockFault(ScenarioPart):
    """The operator's clock is wrong for a while (F9)."""

    ahead: Span = 0
    back: Span = 0
    span: Span = 60 * SECOND


class ForeignFinalizerFault(ScenarioPart):
    """An object has a foreign finalizer for a while (F10)."""

    kind: Literal["PodCliqueSet", "PodCliqueScalingGroup", "PodClique", "PodGang", "ClusterTopology"]
    name: Annotated[Name, ObjectNamesFieldMarker()]
    span: Span = 30 * SECOND


class ForeignSchedulingGateFault(PodByCliqueAndIndex):
    """A pod has a foreign scheduling gate for a while (F10)."""

    span: Span = 30 * SECOND


class EditStatusFault(ScenarioPart):
    """Another client writes wrong counts into the status of a PodClique (F10)."""

    clique: CliqueName


class RemoveLabelsFault(ScenarioPart):
    """Another client removes all labels of a PodClique (F10)."""

    clique: CliqueName


class EditLabelsFault(ScenarioPart):
    """A user edits labels of an object by hand (F10).

    Attributes:
        labels: key -> value; null removes a label.
    """

    kind: Literal["PodClique", "PodGang", "ComputeDomain", "ResourceClaim"]
    name: Annotated[Name, ObjectNamesFieldMarker()]
    labels: dict[StrictStr, StrictStr | None]


class ReconfigureFault(ScenarioPart):
    """The configuration of operator and admission changes; the operator restarts with it (F13).

    Attributes:
        mnnvl, topology_aware_scheduling: as in the configuration file; a part that is left out stays.
        down: how long the restart takes.
    """

    mnnvl: MnnvlSettings | None = None
    topology_aware_scheduling: TopologySettings | None = None
    down: Span = 5 * SECOND

    @model_validator(mode="after")
    def _something(self) -> "ReconfigureFault":
        if self.mnnvl is None and self.topology_aware_scheduling is None:
            raise PydanticCustomError("something", "mnnvl, topologyAwareScheduling, or both")
        return self


class ForeignDomainFault(ScenarioPart):
    """Another client creates a ComputeDomain with a name that a set will need (F10).

    Attributes:
        owner: its controller, as ``Kind/name``; None for no controller.
        span: until it is deleted; None for never.
    """

    name: Annotated[Name, ObjectNamesFieldMarker(DOMAIN_KIND)]
    owner: Address | None = None
    span: Span | None = None


class LimitDomainsFault(ScenarioPart):
    """A quota for a while: more than ``most`` ComputeDomains in a namespace are refused (F7)."""

    most: Count
    span: Span = 60 * SECOND


class PermuteListsFault(ScenarioPart):
    """The operator's lists come in a random order for a while; the seed determines it (F12)."""

    span: Span = 60 * SECOND
    seed: Count = 0
