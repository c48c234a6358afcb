"""What the page of a plan adds to the trees of its sets: ids, links, and reasons with the rules that they cite."""

from datetime import datetime

from grove_core.kernel.refs import Ref
from grove_shell.html.anchors import Anchors
from grove_shell.html.cited_reasons import CitedRules, HtmlReason
from grove_shell.views.formatting import clock_time, relative_time
from grove_shell.views.tree_nodes import TreeNode


class TreePlaces:
    """The ids and reasons of the nodes of a page; a template asks for those of each node."""

    def __init__(self, anchors: Anchors, cited: CitedRules, now: datetime) -> None:
        self._anchors, self._cited, self._now = anchors, cited, now
        self._reasons: dict[Ref, tuple[HtmlReason, ...]] = {}

    def add_tree(self, node: TreeNode) -> None:
        """Give an id to each node and pod of a tree, from the top; then links to them are known."""
        self._anchors.id_of(node.subject)
        for pod in node.pods:
            self._anchors.id_of(pod.subject)
        for child in node.children:
            self.add_tree(child)
        self._reasons[node.subject] = self._cited.html_reasons(node.because, node.subject)

    def anchor(self, subject: Ref) -> str:
        """Return the id of a node or a pod."""
        return self._anchors.id_of(subject)

    def reasons(self, node: TreeNode) -> tuple[HtmlReason, ...]:
        """Return the verdict on a node in sentences; empty where it is well."""
        return self._reasons[node.subject]

    def ends(self, moment: datetime) -> str:
        """Return when something is terminated, as ``ends 10:15:00Z, in 1h15m``."""
        if moment <= self._now:
            return "ends now"
        return f"ends {clock_time(moment, self._now)}, {relative_time(moment, self._now)}"
