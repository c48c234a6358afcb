"""What the page of a plan adds to the trees of its sets: ids, links, and reasons with the rules that they cite."""

from datetime import datetime

from grove_core.kernel.refs import Ref
from grove_shell.html.anchors import HtmlAnchorIds
from grove_shell.html.cited_reasons import CitedRules, HtmlReason
from grove_shell.views.formatting import clock_time, relative_time
from grove_shell.views.tree.object_states import ObjectState
from grove_shell.views.tree.tree_nodes import PodRow, TreeNode, TreeNodeKind


class TreeNodeIdsAndReasons:
    """The ids and reasons of the nodes of a page; a template asks for those of each node."""

    def __init__(self, anchors: HtmlAnchorIds, cited: CitedRules, now: datetime, marked: Ref | None = None) -> None:
        """Know no tree yet.

        Args:
            marked: the object that the page is about; None for all.
        """
        self._anchors, self._cited, self._now, self._marked = anchors, cited, now, marked
        self._reasons: dict[Ref, tuple[HtmlReason, ...]] = {}
        self._around_marked: set[Ref] = set()
        self.marked_state: ObjectState | None = None

    def add_tree(self, node: TreeNode) -> None:
        """Give an id to each node and pod of a tree, from the top; then links to them are known."""
        parts: tuple[TreeNode | PodRow, ...] = (node, *node.pods)
        for part in parts:
            self._anchors.id_of(part.subject)
            if part.subject == self._marked:
                self._around_marked.add(node.subject)
                self.marked_state = part.state
        for child in node.children:
            self.add_tree(child)
            if child.subject in self._around_marked:
                self._around_marked.add(node.subject)
        self._reasons[node.subject] = self._cited.html_reasons(node.because, node.subject)

    def is_open(self, node: TreeNode) -> bool:
        """Return whether a node is open at first: it needs attention, or has the marked object in it."""
        return node.subject in self._around_marked or (node.level is not TreeNodeKind.CLIQUE and node.is_open)

    def is_marked(self, subject: Ref) -> bool:
        """Return whether the page is about an object."""
        return subject == self._marked

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
