"""Pods as they take room on nodes, whoever they are of."""

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
        owner: namespace and name of the set it is of; the name is empty for a pod that no PodClique controls (TP-103).
        repelled_namespaces: namespaces of which it keeps some pods away; an empty one for all.
    """

    node: str
    owner: tuple[str, str]
    amounts: Amounts
    repelled_namespaces: tuple[str, ...] = ()


def pod_on_node_of(raw: Mapping[str, Any]) -> PodOnNode | None:
    """A pod as it takes room on a node; None for one that takes none.

    Raises:
        MalformedObject: with every problem of what it asks for.
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
    """Namespaces that a pod's required anti-affinity is about; which of their pods it means is not looked at."""
    for term in affinity.part("podAntiAffinity").parts(REQUIRED):
        named = term.texts("namespaces")
        yield from named
        if "namespaceSelector" in term:
            yield ""
        elif not named:
            yield namespace
