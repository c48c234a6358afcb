"""Rebuilds the snapshot of a set at a moment of a record, with what the record leaves unknown (AF-004)."""

from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from datetime import datetime
from typing import Final, NamedTuple

from grove_core.document.plan_document import RuleSetSource
from grove_core.operator_recognition import RecognisedOperator
from grove_core.plan.plan import Plan
from grove_core.reconcile import reconcile
from grove_core.resources.configuration import Configuration
from grove_core.rule_sets.rule_set import RuleSet
from grove_core.snapshot.cluster import IndexedCluster
from grove_core.snapshot.snapshot import EVERY_KIND, Snapshot
from grove_shell.reading.cluster_reading import load_input_files
from grove_shell.reading.input_completeness import CollectedObjects, LoadedInput
from grove_shell.reconstruction.recorded_objects import RecordedObjects, SetKey

_JUDGED: Final = frozenset({"PodClique", "Pod"})
ChooseRules = Callable[[IndexedCluster, Iterable[str]], tuple[RuleSet, RuleSetSource, RecognisedOperator | None]]
"""The rule set for a cluster and for marks of a newer release, what chose it, and the operator that it shows."""


class SetAtPastTime(NamedTuple):
    """A set as it was.

    Attributes:
        snapshot: of it.
        gaps: kind -> why the record does not show all its objects of that kind.
        plan: what the operator would do.
        rules: whose plan it is.
        is_whole: whether every part of the set is on record: it was created there, or a dump has its parts (AF-004).
    """

    snapshot: Snapshot
    gaps: Mapping[str, str]
    plan: Plan
    rules: RuleSet
    is_whole: bool


class SetRebuilder:
    """Rebuilds sets from recorded objects.

    Attributes:
        shown: the operator that the last rebuilt set shows, if it shows one.
        source: what chose the rule set.
    """

    def __init__(self, objects: RecordedObjects, configuration: Configuration, choose: ChooseRules) -> None:
        self._objects = objects
        self._configuration = configuration
        self._choose = choose
        self.listed: dict[str, set[str]] = {}  # namespace -> kinds that a dump has completely
        self.rules: RuleSet | None = None
        self.source: RuleSetSource | None = None
        self.shown: RecognisedOperator | None = None

    def rebuilt(self, root: SetKey, moment: datetime, now: datetime) -> SetAtPastTime | None:
        """Return a set as the record shows it at a moment, decided on at ``now``; None if the set is not known."""
        items = self._objects.objects_at(root, moment)
        gaps = self._gaps(root)
        complete = self._complete(root, moment) - gaps.keys()
        known = CollectedObjects(
            origin="the record",
            items=tuple(dict(item) for item in items),
            complete=frozenset((kind, root.namespace) for kind in complete),
            not_listed={(kind, root.namespace): why for kind, why in gaps.items()},
        )
        loaded = self._loaded(known)
        stored = [one for one in loaded.cluster.sets if one.ref.name == root.name]
        if not stored:
            return None
        rules = self._chosen(loaded.cluster, loaded.newer)
        snapshot = loaded.cluster.snapshot_of(stored[0], now)
        if lacking := _lacking_pods(snapshot, has_statuses=root in self._objects.with_pod_statuses):
            gaps = {**gaps, "Pod": lacking}
            loaded = load_input_files(
                (), live=_without_pods(known, root, lacking), configuration=self._configuration, raising=False
            )
            snapshot = loaded.cluster.snapshot_of(stored[0], now)
        return SetAtPastTime(snapshot, gaps, reconcile(snapshot, rules), rules, complete >= _JUDGED)

    def _loaded(self, known: CollectedObjects) -> LoadedInput:
        return load_input_files((), live=known, configuration=self._configuration, raising=False)

    def _chosen(self, cluster: IndexedCluster, newer: Iterable[str]) -> RuleSet:
        if self.rules is None or self.shown is None or not self.shown.is_shown:
            self.rules, self.source, self.shown = self._choose(cluster, newer)
        return self.rules

    def _gaps(self, root: SetKey) -> dict[str, str]:
        gaps: dict[str, str] = {}
        for key in self._objects.keys_of(root):
            if key in self._objects.without_content and key.kind in EVERY_KIND:
                gaps.setdefault(key.kind, f"the log has no content of writes to {key.kind} {key.name}")
        return gaps

    def _complete(self, root: SetKey, moment: datetime) -> AbstractSet[str]:
        """Return the kinds of which everything of a set is known."""
        present = {key.kind for key in self._objects.keys_of(root)}
        created = self._objects.created.get(root)
        if created is not None and created <= moment:
            return present
        return present & self.listed.get(root.namespace, frozenset())


def _without_pods(known: CollectedObjects, root: SetKey, why: str) -> CollectedObjects:
    complete = frozenset(gap for gap in known.complete if gap[0] != "Pod")
    not_listed = {**known.not_listed, ("Pod", root.namespace): why}
    return CollectedObjects(origin=known.origin, items=known.items, complete=complete, not_listed=not_listed)


def _lacking_pods(snapshot: Snapshot, *, has_statuses: bool) -> str:
    """Return which pods the record lacks, by the counts in the statuses of PodCliques; empty where it lacks none.

    Args:
        has_statuses: whether the record has writes to statuses of pods.
    """
    is_complete = "Pod" in snapshot.complete
    for clique in snapshot.cliques:
        pods, status = snapshot.pods_of.get(clique.uid, ()), clique.status
        if clique.deleting:
            continue
        if not is_complete and len(pods) < (status.replicas or 0):
            return f"the record shows {len(pods)} of {status.replicas} pods of PodClique {clique.ref.name}"
        if status.ready and not has_statuses and not any(pod.ready for pod in pods):
            return f"the record has no status of a pod; that of PodClique {clique.ref.name} counts {status.ready} ready"
    return ""
