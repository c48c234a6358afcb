"""The trees of sets as JSON (CL-096)."""

from typing import Any

from grove_core.document.document_writing import rule_set_source_as_json
from grove_core.document.plan_document import PlanDocument
from grove_core.document.step_writing import reason_as_json, ref_as_json
from grove_core.kernel.time_formats import format_time
from grove_shell.views.tree_nodes import PodRow, TreeNode


def trees_as_json(document: PlanDocument, trees: list[TreeNode]) -> dict[str, Any]:
    """Return the trees of the sets of a plan as JSON, with the time and the rule set."""
    return {
        "rules": document.rules,
        "rulesFrom": rule_set_source_as_json(document.rules_from) if document.rules_from is not None else None,
        "asOf": format_time(document.as_of),
        **({"asOfFrom": document.as_of_from} if document.as_of_from else {}),
        "notCollected": list(document.not_collected),
        "sets": [_node_as_json(tree) for tree in trees],
    }


def _node_as_json(node: TreeNode) -> dict[str, Any]:
    return {
        "level": node.level,
        "subject": ref_as_json(node.subject),
        "state": node.state.value,
        "stateIsFromBelow": node.state_is_from_below,
        "endsAt": format_time(node.ends_at) if node.ends_at is not None else None,
        "present": node.present,
        "wanted": node.wanted,
        "needed": node.needed,
        "because": [reason_as_json(why) for why in node.because],
        **({"pods": [_pod_as_json(pod) for pod in node.pods]} if node.level == "clique" else {}),
        **({"children": [_node_as_json(child) for child in node.children]} if node.level != "clique" else {}),
    }


def _pod_as_json(pod: PodRow) -> dict[str, Any]:
    return {
        "name": pod.name,
        "state": pod.state.value,
        "node": pod.node or None,
        "gpus": pod.gpus,
        "trouble": pod.trouble or None,
    }
