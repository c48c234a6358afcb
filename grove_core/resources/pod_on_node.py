"""Pods that take resources of a node, of any workload."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from grove_core.kernel.errors import MalformedObject, Problem
from grove_core.resources.fields import Fields
from grove_core.resources.labels import SET
from grove_core.resources.meta import read_label
from grove_core.resources.pod import FINISHED_PHASES
from grove_core.resources.pod_demand import REQUIRED, Amounts, amounts_of


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
    amounts: Amounts
    repelled_namespaces: tuple[str, ...] = ()


def pod_on_node_of(raw: Mapping[str, Any]) -> PodOnNode | None:
    """Return the pod as it takes resources of a node; None where it takes none.

    Raises:
        MalformedObject: with every problem of its requirements.
    """
    problems: list[Problem] = []
    pod = Fields(raw, "", problems)
    node = pod.part("spec").text("nodeName")
    if not node or pod.part("status").text("phase") in FINISHED_PHASES:
        return None
    meta = pod.part("metadata")
    of_clique = any(one.flag("controller") and one.text("kind") == "PodClique" for one in meta.parts("ownerReferences"))
    name = read_label(meta.part("labels"), SET) if of_clique else ""
    namespace, spec = meta.text("namespace") or "default", pod.part("spec")
    repelled_namespaces = (
        tuple(sorted(_repelled_namespaces(spec.part("affinity"), namespace))) if "affinity" in spec else ()
    )
    pod_on_node = PodOnNode(node, (namespace, name), amounts_of(spec), repelled_namespaces)
    if problems:
        raise MalformedObject(tuple(problems))
    return pod_on_node


def _repelled_namespaces(affinity: Fields, namespace: str) -> Iterator[str]:
    """Return the namespaces of a pod's required anti-affinity; its pod selectors are not evaluated."""
    for term in affinity.part("podAntiAffinity").parts(REQUIRED):
        named = term.texts("namespaces")
        yield from named
        if "namespaceSelector" in term:
            yield ""
        elif not named:
            yield namespace
