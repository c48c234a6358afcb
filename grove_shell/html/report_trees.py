"""What the page of a result shows of the plans that it was made of: terminations ahead, and the tree of each set."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from grove_core.document.plan_document import PlanDocument
from grove_core.explain import explanation_of_forecast
from grove_core.kernel.refs import Ref
from grove_core.kernel.time_formats import format_time
from grove_core.plan.forecast import Forecast
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.html.anchors import HtmlAnchorIds
from grove_shell.html.cited_reasons import CitedRules
from grove_shell.html.timeline import TerminationTimeline, plan_timeline
from grove_shell.html.tree_places import TreeNodeIdsAndReasons
from grove_shell.views.tree.object_states import ObjectState
from grove_shell.views.tree.object_tree import set_tree
from grove_shell.views.tree.tree_nodes import TreeNode


@dataclass(frozen=True, slots=True, kw_only=True)
class PlansOfResult:
    """The plans that a result was made of.

    Attributes:
        documents: of the same sets, by one rule set each; the states of the trees are those of the first one.
        snapshots: of the sets.
        until: the end of the forecast time; None without one.
        marked: the object that the result is about; None for all.
    """

    documents: Sequence[PlanDocument]
    snapshots: Sequence[Snapshot]
    until: datetime | None = None
    marked: Ref | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SetTreeView:
    """The tree of a set, with the id of the set."""

    anchor: str
    namespace: str
    name: str
    tree: TreeNode


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportTrees:
    """The trees of a page.

    Attributes:
        sets: ``namespace/name`` -> the tree of the set.
        states: the number of objects in each state, the most urgent first.
        timelines: (rule set, terminations ahead); no rule set without any.
        rules: the rule set that the states are of, where there are several; else empty.
        at: the time of the plans.
    """

    sets: Mapping[str, SetTreeView]
    places: TreeNodeIdsAndReasons
    states: tuple[tuple[ObjectState, int], ...]
    timelines: tuple[tuple[str, TerminationTimeline], ...]
    rules: str
    at: str


def html_report_trees(plans: PlansOfResult, anchors: HtmlAnchorIds, cited: CitedRules) -> ReportTrees:
    """Return the trees of a page, and give an id to every object of them."""
    first = plans.documents[0]
    by_root = {snapshot.root_ref: snapshot for snapshot in plans.snapshots}
    assign_object_ids(first.forecasts, by_root, anchors)
    places = TreeNodeIdsAndReasons(anchors, cited, first.as_of, plans.marked)
    sets = dict[str, SetTreeView]()
    for forecast in first.forecasts:
        root, snapshot = forecast.root, by_root.get(forecast.root)
        if snapshot is not None:
            tree = set_tree(snapshot, forecast, explanation_of_forecast(forecast))
            places.add_tree(tree)
            view = SetTreeView(anchor=anchors.id_of(root), namespace=root.namespace, name=root.name, tree=tree)
            sets[f"{root.namespace}/{root.name}"] = view
    timelines = [(one.rules, _timeline(one, plans.until, anchors)) for one in plans.documents]
    return ReportTrees(
        sets=sets,
        places=places,
        states=state_counts(view.tree for view in sets.values()),
        timelines=tuple((rules, timeline) for rules, timeline in timelines if timeline is not None),
        rules=first.rules if len(plans.documents) > 1 else "",
        at=format_time(first.as_of),
    )


def _timeline(document: PlanDocument, until: datetime | None, anchors: HtmlAnchorIds) -> TerminationTimeline | None:
    return plan_timeline(document, tuple(map(explanation_of_forecast, document.forecasts)), until, anchors)


def assign_object_ids(forecasts: Iterable[Forecast], by_root: Mapping[Ref, Snapshot], anchors: HtmlAnchorIds) -> None:
    """Give ids to all objects before any of them is linked to."""
    for forecast in forecasts:
        anchors.id_of(forecast.root)
        snapshot = by_root.get(forecast.root)
        if snapshot is None:
            continue
        for group in snapshot.groups:
            anchors.id_of(group.ref)
        for clique in snapshot.cliques:
            for replica in clique.enclosing_replicas(forecast.root):
                anchors.id_of(replica)
            anchors.id_of(clique.ref)


def state_counts(trees: Iterable[TreeNode]) -> tuple[tuple[ObjectState, int], ...]:
    """Return the number of pods and PodCliques in each state, the most urgent first; for the buttons of the filter."""
    counts = Counter(state for tree in trees for state in tree.every_state)
    return tuple((state, counts[state]) for state in ObjectState if counts[state])
