"""The rows of the screen: each object with its state, counts and end, as the tree of a page has them (WA-004)."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_shell.styled_text_page import escape_unprintable
from grove_shell.views.tree.object_states import ObjectState
from grove_shell.views.tree.tree_nodes import PodRow, TreeNode


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreenRow:
    """One object or replica.

    Attributes:
        level: ``set``, ``replica``, ``group``, ``group replica``, ``clique`` or ``pod``.
        detail: counts of ready pods; of a pod its node, and why it is not ready.
        ends_at: when it is terminated if nothing changes; None where no termination is planned.
        reasons: the verdict on it in sentences; empty where it is well.
        is_own_state: whether the state is its own, and not that of something inside it.
    """

    subject: Ref
    level: str
    name: str
    state: ObjectState
    detail: str = ""
    ends_at: datetime | None = None
    reasons: tuple[str, ...] = ()
    children: tuple["ScreenRow", ...] = ()
    is_own_state: bool = True

    def with_all_below(self) -> Iterator["ScreenRow"]:
        """Yield the row and every row below it."""
        yield self
        for child in self.children:
            yield from child.with_all_below()

    @property
    def is_termination(self) -> bool:
        """Whether it is a replica that waits for its end, or that is terminated now."""
        return "replica" in self.level and self.is_own_state and self.state in {ObjectState.ENDS, ObjectState.WAITS}

    def contains(self, text: str) -> bool:
        """Return whether its name, state or detail has a text; letter case does not count."""
        return text.lower() in f"{self.name} {self.state.value} {self.detail}".lower()


class VisibleRow(NamedTuple):
    """A row that is not inside a closed one; ``depth`` is 0 for a set."""

    row: ScreenRow
    depth: int


def row_of_set(tree: TreeNode) -> ScreenRow:
    """Return the row of a set with all rows below it."""
    row = _row(tree)
    ends = [one.ends_at for one in row.with_all_below() if one.is_termination and one.ends_at is not None]
    name = f"{tree.subject.namespace}/{tree.name}"
    return ScreenRow(
        subject=row.subject,
        level=row.level,
        name=escape_unprintable(name),
        state=row.state,
        detail=row.detail,
        ends_at=min(ends, default=None),
        children=row.children,
        is_own_state=False,
    )


def row_of_other_root(subject: Ref) -> ScreenRow:
    """Return the row of a root that is no set, such as a topology."""
    return ScreenRow(
        subject=subject,
        level="root",
        name=escape_unprintable(f"{subject.kind}/{subject.name}"),
        state=ObjectState.READY,
    )


def _row(node: TreeNode) -> ScreenRow:
    children = (*(_row(child) for child in node.children), *(_pod_row(pod) for pod in node.pods))
    return ScreenRow(
        subject=node.subject,
        level=node.level,
        name=escape_unprintable(node.name),
        state=node.state,
        detail=escape_unprintable(node.counts),
        ends_at=node.ends_at,
        reasons=tuple(_reason_text(why, node.subject) for why in node.because),
        children=children,
        is_own_state=not node.state_is_from_below,
    )


def _reason_text(why: Reason, place: Ref) -> str:
    """Return a reason, with its subject where that is another object than the one of the row."""
    is_here = why.subject.without_replica == place.without_replica
    return why.sentence if is_here else f"{why.subject.short}: {why.sentence}"


def _pod_row(pod: PodRow) -> ScreenRow:
    detail = "; ".join(filter(None, (f"on {pod.node}" if pod.node else "", pod.trouble)))
    return ScreenRow(
        subject=pod.subject,
        level="pod",
        name=escape_unprintable(pod.name),
        state=pod.state,
        detail=escape_unprintable(detail),
    )


def visible_rows(rows: Iterable[ScreenRow], opened: AbstractSet[Ref], depth: int = 0) -> Iterator[VisibleRow]:
    """Yield the rows that are not inside a closed one."""
    for row in rows:
        yield VisibleRow(row, depth)
        if row.subject in opened:
            yield from visible_rows(row.children, opened, depth + 1)


def parents(rows: Iterable[ScreenRow]) -> Mapping[Ref, Ref]:
    """Return object -> the object whose row it is directly below; sets have none."""
    found: dict[Ref, Ref] = {}
    for top in rows:
        for row in top.with_all_below():
            for child in row.children:
                found.setdefault(child.subject, row.subject)
    return found


def initially_open_rows(rows: Iterable[ScreenRow], most: int) -> Iterator[Ref]:
    """Yield the rows to open where a screen begins: those around what needs attention, PodCliques apart."""
    for top in rows:
        for row in top.with_all_below():
            if row.children and row.level != "clique" and row.state.needs_attention and most > 0:
                most -= 1
                yield row.subject


def next_matching_row(
    rows: Iterable[ScreenRow], after: Ref | None, matches: Callable[[ScreenRow], bool]
) -> ScreenRow | None:
    """Return the next row that matches below a row, from the top again after the last; None where none matches."""
    first, is_after = None, after is None
    for top in rows:
        for row in top.with_all_below():
            if matches(row):
                if is_after:
                    return row
                first = first or row
            is_after = is_after or row.subject == after
    return first
