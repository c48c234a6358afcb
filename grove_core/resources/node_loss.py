"""Pods of nodes that do not answer: what the node and the pods show, and when the pods are evicted (GF-015, GF-016)."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any, Final, NamedTuple, TypeAlias

from grove_core.kernel.time_formats import parse_time
from grove_core.resources.decoded_pod import DecodedPodCondition, DecodedPodSpec, DecodedPodStatus, decode_value

NOT_READY: Final = "node.kubernetes.io/not-ready"
UNREACHABLE: Final = "node.kubernetes.io/unreachable"
EVICTING: Final = "NoExecute"
_KEYS: Final = (UNREACHABLE, NOT_READY)
_READY: Final = "Ready"
_NO_CONDITION: Final = DecodedPodCondition(type=_READY)
_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})
_LONGEST: Final = 10**9
"""Seconds, three decades; a longer toleration never ends."""


class NodeReadiness(NamedTuple):
    """What a Node object shows.

    Attributes:
        taint: the key of the taint that evicts its pods, or that its condition leads to; empty if it is ready.
        since: since when; None where that is not shown.
    """

    taint: str
    since: datetime | None = None


NodesByName: TypeAlias = Mapping[str, NodeReadiness]
"""Name of a node -> what the Node in the input shows."""


class NodeLossSigns(NamedTuple):
    """What a pod that is bound to a node and is not ready shows about the node.

    Attributes:
        since: when it stopped being ready; None where that is not shown.
        written_for_node: whether it is not ready although all its containers are: the control plane wrote that, because
            the node does not answer.
        tolerates: for each taint of a lost node that it tolerates, the seconds; None for ever.
    """

    since: datetime | None
    written_for_node: bool
    tolerates: tuple[tuple[str, int | None], ...]

    def evicted_at(self, taint: str, since: datetime) -> datetime | None:
        """Return when the pod is evicted from a node with a taint; None for never."""
        seconds = dict(self.tolerates).get(taint, 0)
        return None if seconds is None or seconds > _LONGEST else since + timedelta(seconds=max(seconds, 0))


def node_readiness_from_json(raw: Mapping[str, Any]) -> NodeReadiness | None:
    """Return what a Node shows; None where it has no status, as in a capture, or a malformed one."""
    try:
        taints = (raw.get("spec") or _NOTHING).get("taints") or ()
        for key in _KEYS:
            for taint in taints:
                if (taint.get("key"), taint.get("effect")) == (key, EVICTING):
                    return NodeReadiness(key, _time(taint.get("timeAdded")))
        for condition in (raw.get("status") or _NOTHING).get("conditions") or ():
            if condition.get("type") == _READY:
                status = condition.get("status")
                taint = {"True": "", "False": NOT_READY}.get(status, UNREACHABLE)
                return NodeReadiness(taint, _time(condition.get("lastTransitionTime")))
    except (AttributeError, TypeError):
        return None
    return None


def node_loss_signs(spec: DecodedPodSpec, status: DecodedPodStatus) -> NodeLossSigns | None:
    """Return what a pod shows that is bound to a node and is not ready; None where no decision can read it."""
    ready = next((one for one in status.conditions or () if one.type == _READY), _NO_CONDITION)
    containers = status.container_statuses or ()
    is_written = (
        ready.status == "False"
        and not ready.reason
        and not decode_value(spec.readiness_gates)
        and bool(containers)
        and all(one.ready for one in containers)
    )
    since = parse_time(ready.last_transition_time) if ready.last_transition_time else None
    try:
        tolerated = tuple(_tolerated(decode_value(spec.tolerations) or ()))
    except (AttributeError, TypeError):
        return None
    return NodeLossSigns(since, is_written, tolerated)


def _tolerated(tolerations: Iterable[Mapping[str, Any]]) -> Iterable[tuple[str, int | None]]:
    """Yield each taint of a lost node that is tolerated, with the shortest time of those that limit it."""
    for key in _KEYS:
        alike = [one for one in tolerations if _matches(one, key)]
        limits = [seconds for one in alike if (seconds := one.get("tolerationSeconds")) is not None]
        if not all(isinstance(seconds, int) for seconds in limits):
            raise TypeError
        if alike:
            yield key, min(limits, default=None)


def _matches(one: Mapping[str, Any], key: str) -> bool:
    if one.get("effect") not in {None, "", EVICTING}:
        return False
    if one.get("operator") == "Exists":
        return one.get("key") in {None, "", key}
    return one.get("key") == key and not one.get("value")


def _time(text: object) -> datetime | None:
    return parse_time(text) if isinstance(text, str) else None
