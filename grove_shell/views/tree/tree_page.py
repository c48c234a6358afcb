"""The page of ``grove tree``: each set with its replicas, scaling groups, PodCliques and pods, as a tree of text."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from textwrap import wrap
from typing import Final, NamedTuple

from grove_shell.styled_text_page import StyledTextPage
from grove_shell.views.formatting import clock_time, count_with_noun, relative_time
from grove_shell.views.tree.object_states import STATE_STYLES, ObjectState
from grove_shell.views.tree.tree_nodes import PodRow, TreeNode, TreeNodeKind

_READY_SHOWN: Final = 8  # siblings that are ready
_WIDEST_NAMES: Final = 56
_STATE: Final = 15  # the longest state with two spaces
_LEAST_TEXT: Final = 16


@dataclass(frozen=True, slots=True)
class TreeSigns:
    """The signs that draw a tree: before a child, before the last one, and before what is below each of them."""

    child: str
    last: str
    line: str
    blank: str
    cut: str


BOX_SIGNS: Final = TreeSigns("├─ ", "└─ ", "│  ", "   ", "…")
ASCII_SIGNS: Final = TreeSigns("|- ", "`- ", "|  ", "   ", "..")


def tree_symbols_for_encoding(encoding: str | None) -> TreeSigns:
    """Return the signs that an encoding has; None for text in memory, which has all."""
    try:
        "├─└│…".encode(encoding or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return ASCII_SIGNS
    return BOX_SIGNS


class _Row(NamedTuple):
    """One line of the tree before it is laid out.

    Attributes:
        guides: the signs before the name.
        below: the signs before further lines of the same row.
        state: None where the name says it.
    """

    guides: str
    below: str
    name: str
    state: ObjectState | None
    word: str
    text: str


def add_tree(
    page: StyledTextPage, tree: TreeNode, now: datetime, *, width: int | None, signs: TreeSigns, full: bool
) -> None:
    """Add the tree of a set.

    Args:
        width: of a line; None for any.
        signs: that draw the tree.
        full: whether to list every pod and every replica, else equal ones together.
    """
    rows = list(_TreeRows(now, signs, full=full).rows_of_set(tree))
    most = min(_WIDEST_NAMES, (width or 10 * _WIDEST_NAMES) // 2)
    column = min(max((len(row.guides) + len(row.name) for row in rows), default=0), most) + 2
    for row in rows:
        _add_row(page, row, column, width, signs)


class _TreeRows:
    """Makes the rows of a tree."""

    def __init__(self, now: datetime, signs: TreeSigns, *, full: bool) -> None:
        self._now, self._signs, self._full = now, signs, full

    def rows_of_set(self, tree: TreeNode) -> Iterator[_Row]:
        """Yield the row of a set, and those of everything in it."""
        ref = tree.subject
        below = self._signs.line if tree.children else self._signs.blank
        yield _Row("", below, f"{ref.namespace}/{ref.name}", tree.state, _word(tree), tree.counts)
        yield from self._rows_below(tree, "")

    def _rows_below(self, node: TreeNode, guides: str) -> Iterator[_Row]:
        """Yield the rows of the children and pods of a node."""
        entries = [*self._shown_children(node.children), *self._shown_pods(node.pods)]
        for number, entry in enumerate(entries):
            is_last = number == len(entries) - 1
            own = guides + (self._signs.last if is_last else self._signs.child)
            deeper = guides + (self._signs.blank if is_last else self._signs.line)
            if not isinstance(entry, TreeNode):
                yield entry._replace(guides=own, below=deeper)
                continue
            below = deeper + (self._signs.line if entry.children or entry.pods else self._signs.blank)
            yield _Row(own, below, _name(entry), entry.state, _word(entry), self._text(entry))
            yield from self._rows_below(entry, deeper)

    def _shown_children(self, children: Sequence[TreeNode]) -> Iterator[TreeNode | _Row]:
        """Yield the children; of many that are ready the first ones and a row that counts the others."""
        calm = [one for one in children if one.state is ObjectState.READY]
        folded = {id(one) for one in calm[_READY_SHOWN:]} if len(calm) > _READY_SHOWN + 1 and not self._full else set()
        yield from (one for one in children if id(one) not in folded)
        if folded:
            noun = "PodClique" if calm[-1].level is TreeNodeKind.CLIQUE else "replica"
            yield _Row("", "", f"{count_with_noun(len(folded), f'more {noun}')}, all ready", None, "", "(-v lists all)")

    def _shown_pods(self, pods: Sequence[PodRow]) -> Iterator[_Row]:
        """Yield a row for each pod, or for each state and trouble of several pods."""
        alike: dict[tuple[ObjectState, str], list[PodRow]] = {}
        for pod in pods:
            alike.setdefault((pod.state, pod.trouble), []).append(pod)
        for (state, trouble), same in alike.items():
            if len(same) == 1 or self._full:
                for pod in same:
                    yield _Row("", "", pod.name, state, state.value, _pod_text((pod,), trouble))
            else:
                yield _Row("", "", f"{len(same):,} {_ADJECTIVES[state]}", None, "", _pod_text(same, trouble))

    def _text(self, node: TreeNode) -> str:
        counts = _counts(node)
        if node.ends_at is None:
            return counts
        is_due = node.ends_at <= self._now
        ends = "ends now"
        if not is_due:
            ends = f"ends {clock_time(node.ends_at, self._now)}, {relative_time(node.ends_at, self._now)}"
        return f"{ends}; {counts}" if counts else ends


_ADJECTIVES: Final = {
    ObjectState.ENDS: "pods that will end",
    ObjectState.WAITS: "waiting pods",
    ObjectState.UNKNOWN: "pods of unknown state",
    ObjectState.BREACHED: "breached pods",
    ObjectState.WITHHELD: "withheld pods",
    ObjectState.DELETED: "pods being deleted",
    ObjectState.UNSCHEDULED: "pods without a node",
    ObjectState.STARTING: "pods not ready",
    ObjectState.GATED: "gated pods",
    ObjectState.CREATED: "pods to create",
    ObjectState.FINISHED: "finished pods",
    ObjectState.READY: "ready pods",
}


def _counts(node: TreeNode) -> str:
    """Return the numbers of a node in few words: a line of 80 columns has room for them."""
    if node.present is None or node.needed is None:
        return node.counts
    what = "ready" if node.level is TreeNodeKind.CLIQUE else "available"
    return f"{node.present:,} of {node.wanted:,} {what}, {node.needed:,} needed"


def _name(node: TreeNode) -> str:
    return f"{node.name} (scaling group)" if node.level is TreeNodeKind.GROUP else node.name


def _word(node: TreeNode) -> str:
    """Return the state of a node as a word; that of something inside it says so."""
    is_inside = (
        node.state_is_from_below and node.level is not TreeNodeKind.CLIQUE and node.state is not ObjectState.READY
    )
    return f"{node.state.value} inside" if is_inside else node.state.value


def _pod_text(pods: Sequence[PodRow], trouble: str) -> str:
    """Return the GPUs, nodes and trouble of some pods."""
    gpus = sum(pod.gpus for pod in pods)
    nodes = Counter(pod.node for pod in pods if pod.node)
    where = next(iter(nodes)) if len(nodes) == 1 else f"{len(nodes):,} nodes"
    parts = [count_with_noun(gpus, "GPU")] if gpus else []
    parts += [f"on {where}"] if nodes else []
    return "; ".join(filter(None, (" ".join(parts), trouble)))


def _add_row(page: StyledTextPage, row: _Row, column: int, width: int | None, signs: TreeSigns) -> None:
    """Add a row: its name, its state and its text in columns; what has no room goes below, behind the guides."""
    name = row.name
    if width is not None and len(row.guides) + len(name) > width:
        name = _shortened(name, max(width - len(row.guides), _LEAST_TEXT), signs.cut)
    style = "" if row.state is None else STATE_STYLES[row.state]
    word, text = row.word, row.text
    start = max(column, len(row.guides) + len(name) + 2)
    used = start + (max(_STATE, len(word) + 2) if word else 0)
    if width is None or used + len(text) <= width:
        spaces = " " * (start - len(row.guides) - len(name))
        page.add_line(row.guides, (name, "bold" if not row.guides else ""), spaces, (_padded(word, text), style), text)
        return
    if start + len(word) <= width:
        spaces = " " * (start - len(row.guides) - len(name))
        page.add_line(row.guides, (name, "bold" if not row.guides else ""), spaces, (word, style))
    else:
        page.add_line(row.guides, (name, "bold" if not row.guides else ""))
        page.add_line(f"{row.below}  ", (word, style))
    for part in wrap(text, max(width - len(row.below) - 2, _LEAST_TEXT)):
        page.add_line(f"{row.below}  ", part)


def _padded(word: str, text: str) -> str:
    if not word:
        return ""
    return f"{word:<{_STATE - 2}}  " if text else word


def _shortened(text: str, most: int, cut: str) -> str:
    """Return the begin and the end of a text; the end of a name tells it from others."""
    if len(text) <= most:
        return text
    room = most - len(cut)
    return f"{text[: room // 2]}{cut}{text[len(text) - (room - room // 2) :]}"
