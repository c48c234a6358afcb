"""What a pod requires of a node, and what pods take of one (TP-103 to TP-106).

Total: unreadable requirements are reported.
"""

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from grove_core.kernel.errors import ObjectProblem
from grove_core.kernel.frozen import FrozenDict
from grove_core.resources.json_field_reader import JsonFieldReader
from grove_core.resources.labels import SET
from grove_core.resources.metadata_readers import read_label
from grove_core.resources.pod import FINISHED_PHASES
from grove_core.resources.pod_requests import PODS, THOUSANDTHS, resource_amounts_of_pod

COMMON: Final = ("cpu", "memory", "ephemeral-storage", PODS)
"""Resources that every node has; whatever else there is comes first, for it is scarce."""
REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_OF_ANY_NODE: Final = frozenset(  # volumes that bind a pod to no node and to no other pod
    {"name", "emptyDir", "configMap", "secret", "downwardAPI", "projected", "hostPath", "nfs", "image", "gitRepo"}
)
_UNEVALUATED_AFFINITY: Final = (
    ("podAffinity", "pod affinity"),
    ("podAntiAffinity", "pod anti-affinity"),
)


class AffinityExpression(NamedTuple):
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
    affinity: tuple[tuple[AffinityExpression, ...], ...] | None = None
    tolerations: tuple[Toleration, ...] = ()
    unchecked: tuple[str, ...] = ()


def pod_demand_of(raw: Mapping[str, object]) -> PodDemand:
    """Return the requirements of a pod with this pod spec."""
    problems: list[ObjectProblem] = []
    spec = JsonFieldReader(raw, "", problems)
    amounts = resource_amounts_of_pod(spec)
    required = spec.inner_object("affinity").inner_object("nodeAffinity").inner_object(REQUIRED)
    affinity = tuple(_term(term) for term in required.inner_objects("nodeSelectorTerms")) if required.raw else None
    tolerations = tuple(
        Toleration(one.text("key"), one.text("operator"), one.text("value"), one.text("effect"))
        for one in spec.inner_objects("tolerations")
    )
    selector = spec.inner_object("nodeSelector")
    labels = tuple(sorted((key, selector.text(key)) for key in selector.raw))
    unchecked = sorted({*_unchecked(spec), *(f"{problem.path}: {problem.got}" for problem in problems)})
    return PodDemand(
        tuple(sorted(amounts.items(), key=resource_sort_key)), labels, affinity, tolerations, tuple(unchecked)
    )


def resource_sort_key(item: tuple[str, int]) -> tuple[bool, str]:
    """Return the sort key of a resource: extended resources such as GPUs before those that every node has."""
    return item[0] in COMMON, item[0]


def resource_amount_text(resource: str, amount: int) -> str:
    """Return an amount for a sentence: ``16 nvidia.com/gpu``, ``64Gi memory``."""
    whole, rest = divmod(amount, THOUSANDTHS)
    if resource in {"memory", "ephemeral-storage"} or resource.startswith("hugepages-"):
        for power, unit in ((4, "Ti"), (3, "Gi"), (2, "Mi"), (1, "Ki")):
            if whole >= 1024**power:
                return f"{whole / 1024**power:.4g}{unit} {resource}"
    return f"{whole if not rest else amount / THOUSANDTHS:,} {resource}"


def _term(term: JsonFieldReader) -> tuple[AffinityExpression, ...]:
    return tuple(
        AffinityExpression(one.text("key"), one.text("operator"), one.text_list("values"), key == "matchFields")
        for key in ("matchExpressions", "matchFields")
        for one in term.inner_objects(key)
    )


def _unchecked(spec: JsonFieldReader) -> Iterator[str]:
    affinity = spec.inner_object("affinity")
    yield from (words for key, words in _UNEVALUATED_AFFINITY if affinity.inner_object(key).raw.get(REQUIRED))
    if any(
        one.text("whenUnsatisfiable") != "ScheduleAnyway" for one in spec.inner_objects("topologySpreadConstraints")
    ):
        yield "spread constraints"
    if any(one.text("operator") not in {"", "Equal", "Exists"} for one in spec.inner_objects("tolerations")):
        yield "tolerations by comparison"
    if spec.text("nodeName"):
        yield "a node by name"
    if any(True for _ in spec.inner_objects("resourceClaims")):
        yield "resource claims"
    if spec.text("runtimeClassName"):
        yield "a class of runtimes"
    if any(not one.raw.keys() <= _OF_ANY_NODE for one in spec.inner_objects("volumes")):
        yield "persistent volumes"
    sidecars = (one for one in spec.inner_objects("initContainers") if one.text("restartPolicy") == "Always")
    ports = (port for one in (*spec.inner_objects("containers"), *sidecars) for port in one.inner_objects("ports"))
    if any(port.integer("hostPort") for port in ports) or spec.boolean("hostNetwork"):
        yield "ports of the host"


class PodOnNode(NamedTuple):
    """A pod on a node.

    Attributes:
        node: name of the node.
        owner: namespace and name of its set; the name is empty for a pod without a PodClique as its controller
            (TP-103).
        amounts: thousandths by resource.
        repelled_namespaces: namespaces whose pods its anti-affinity may keep away; an empty text for all.
    """

    node: str
    owner: tuple[str, str]
    amounts: FrozenDict[str, int]
    repelled_namespaces: tuple[str, ...] = ()


def read_pod_using_node_capacity(raw: Mapping[str, object]) -> PodOnNode | None:
    """Read a pod that takes resources of a node; None where it takes none. Raises MalformedObject (IN-030)."""
    pod = JsonFieldReader(raw, "", [])
    node = pod.inner_object("spec").text("nodeName")
    if not node or pod.inner_object("status").text("phase") in FINISHED_PHASES:
        return None
    meta = pod.inner_object("metadata")
    of_clique = any(
        one.boolean("controller") and one.text("kind") == "PodClique" for one in meta.inner_objects("ownerReferences")
    )
    name = read_label(meta.inner_object("labels"), SET) if of_clique else ""
    namespace, spec = meta.text("namespace") or "default", pod.inner_object("spec")
    repelled_namespaces = (
        tuple(sorted(_repelled_namespaces(spec.inner_object("affinity"), namespace))) if "affinity" in spec else ()
    )
    return pod.result_or_problems(
        PodOnNode(node, (namespace, name), FrozenDict(resource_amounts_of_pod(spec)), repelled_namespaces)
    )


def _repelled_namespaces(affinity: JsonFieldReader, namespace: str) -> Iterator[str]:
    """Yield the namespaces of a pod's required anti-affinity; its pod selectors are not evaluated."""
    for term in affinity.inner_object("podAntiAffinity").inner_objects(REQUIRED):
        named = term.text_list("namespaces")
        yield from named
        if "namespaceSelector" in term:
            yield ""
        elif not named:
            yield namespace
