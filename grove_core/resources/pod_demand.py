"""What a pod requires of its node (TP-103 to TP-106). Total: unreadable requirements are reported."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from grove_core.kernel.errors import Problem
from grove_core.resources.fields import Fields
from grove_core.resources.merge_patch import quantity_of

PODS: Final = "pods"
COMMON: Final = ("cpu", "memory", "ephemeral-storage", PODS)
"""Resources that every node has; whatever else there is comes first, for it is scarce."""
_SCALE: Final = 1000
_PLAIN: Final = 18
_OF_THE_POD: Final = ("cpu", "memory")
REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_OF_ANY_NODE: Final = frozenset(  # volumes that bind a pod to no node and to no other pod
    {"name", "emptyDir", "configMap", "secret", "downwardAPI", "projected", "hostPath", "nfs", "image", "gitRepo"}
)
_UNSEEN: Final = (
    ("podAffinity", "pod affinity"),
    ("podAntiAffinity", "pod anti-affinity"),
)

Amounts = Mapping[str, int]
"""Resource -> thousandths."""


class Match(NamedTuple):
    """One expression of a node affinity: on a label, or on a field where ``is_field``."""

    key: str
    operator: str
    values: tuple[str, ...]
    is_field: bool = False


class Toleration(NamedTuple):
    """A toleration; empty texts match any taint."""

    key: str
    operator: str
    value: str
    effect: str


class PodDemand(NamedTuple):
    """The requirements of one pod.

    Attributes:
        amounts: thousandths by resource, including one pod; scarce resources first, zero amounts left out.
        selector: labels that its node must have.
        affinity: terms of which one must match in all its expressions; None where there is none.
        tolerations: of taints.
        unchecked: requirements that are not evaluated here, in words.
    """

    amounts: tuple[tuple[str, int], ...]
    selector: tuple[tuple[str, str], ...] = ()
    affinity: tuple[tuple[Match, ...], ...] | None = None
    tolerations: tuple[Toleration, ...] = ()
    unchecked: tuple[str, ...] = ()


def pod_demand_of(raw: Mapping[str, Any]) -> PodDemand:
    """Return the requirements of a pod with this pod spec."""
    problems: list[Problem] = []
    spec = Fields(raw, "", problems)
    amounts = amounts_of(spec)
    required = spec.part("affinity").part("nodeAffinity").part(REQUIRED)
    affinity = tuple(_term(term) for term in required.parts("nodeSelectorTerms")) if required.raw else None
    tolerations = tuple(
        Toleration(one.text("key"), one.text("operator"), one.text("value"), one.text("effect"))
        for one in spec.parts("tolerations")
    )
    selector = spec.part("nodeSelector")
    labels = tuple(sorted((key, selector.text(key)) for key in selector.raw))
    unchecked = sorted({*_unchecked(spec), *(f"{problem.path}: {problem.got}" for problem in problems)})
    return PodDemand(
        tuple(sorted(amounts.items(), key=scarcest_first)), labels, affinity, tolerations, tuple(unchecked)
    )


def scarcest_first(item: tuple[str, int]) -> tuple[bool, str]:
    """Return the sort key of a resource: extended resources such as GPUs before those that every node has."""
    return item[0] in COMMON, item[0]


def amounts_of(spec: Fields) -> dict[str, int]:
    """Return thousandths of each resource as the scheduler counts them, including one pod (TP-103)."""
    running: dict[str, int] = {}
    peak: dict[str, int] = {}
    for container in spec.parts("initContainers"):
        requests = _requests(container)
        if container.text("restartPolicy") == "Always":
            _add(running, requests)
            _raise(peak, running)
        else:
            _raise(peak, {key: running.get(key, 0) + amount for key, amount in requests.items()})
    for container in spec.parts("containers"):
        _add(running, _requests(container))
    _raise(peak, running)
    whole = _requests(spec)
    peak |= {key: amount for key, amount in whole.items() if key in _OF_THE_POD or key.startswith("hugepages-")}
    _add(peak, read_amounts(spec.part("overhead")))
    return {key: amount for key, amount in peak.items() if amount} | {PODS: _SCALE}


def read_amounts(part: Fields) -> dict[str, int]:
    """Return thousandths by resource, rounded up; invalid amounts are noted."""
    found = {}
    for key, value in part.raw.items():
        if value.__class__ is str and value.isdecimal() and value.isascii() and len(value) <= _PLAIN:
            found[key] = int(value) * _SCALE  # what most amounts of most nodes are
            continue
        amount = quantity_of(value)
        if amount is None or amount < 0:
            part.note(key, "an amount such as 8, 500m or 64Gi", value)
        else:
            found[key] = -int(-amount * _SCALE // 1)
    return found


def amount_text(resource: str, amount: int) -> str:
    """Return an amount for a sentence: ``16 nvidia.com/gpu``, ``64Gi memory``."""
    whole, rest = divmod(amount, _SCALE)
    if resource in {"memory", "ephemeral-storage"} or resource.startswith("hugepages-"):
        for power, unit in ((4, "Ti"), (3, "Gi"), (2, "Mi"), (1, "Ki")):
            if whole >= 1024**power:
                return f"{whole / 1024**power:.4g}{unit} {resource}"
    return f"{whole if not rest else amount / _SCALE:,} {resource}"


def _requests(holder: Fields) -> dict[str, int]:
    """Return the requests; a resource with a limit only is requested too."""
    resources = holder.part("resources")
    return {**read_amounts(resources.part("limits")), **read_amounts(resources.part("requests"))}


def _add(total: dict[str, int], more: Amounts) -> None:
    for key, amount in more.items():
        total[key] = total.get(key, 0) + amount


def _raise(peak: dict[str, int], other: Amounts) -> None:
    for key, amount in other.items():
        peak[key] = max(peak.get(key, 0), amount)


def _term(term: Fields) -> tuple[Match, ...]:
    return tuple(
        Match(one.text("key"), one.text("operator"), one.texts("values"), key == "matchFields")
        for key in ("matchExpressions", "matchFields")
        for one in term.parts(key)
    )


def _unchecked(spec: Fields) -> Iterator[str]:
    affinity = spec.part("affinity")
    yield from (words for key, words in _UNSEEN if affinity.part(key).raw.get(REQUIRED))
    if any(one.text("whenUnsatisfiable") != "ScheduleAnyway" for one in spec.parts("topologySpreadConstraints")):
        yield "spread constraints"
    if any(one.text("operator") not in {"", "Equal", "Exists"} for one in spec.parts("tolerations")):
        yield "tolerations by comparison"
    if spec.text("nodeName"):
        yield "a node by name"
    if any(True for _ in spec.parts("resourceClaims")):
        yield "resource claims"
    if spec.text("runtimeClassName"):
        yield "a class of runtimes"
    if any(not one.raw.keys() <= _OF_ANY_NODE for one in spec.parts("volumes")):
        yield "persistent volumes"
    sidecars = (one for one in spec.parts("initContainers") if one.text("restartPolicy") == "Always")
    ports = (port for one in (*spec.parts("containers"), *sidecars) for port in one.parts("ports"))
    if any(port.integer("hostPort") for port in ports) or spec.flag("hostNetwork"):
        yield "ports of the host"
