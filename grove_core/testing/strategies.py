"""Hypothesis strategies: sets, clusters in any state, snapshots of them, and what happens to them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from hypothesis import strategies as st

from grove_core.kernel.frozen import FrozenDict
from grove_core.kernel.structs import replace
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.snapshot.snapshot import Snapshot
from grove_core.testing.argument_checks import require_count, require_event_kinds, require_sizes
from grove_core.testing.cluster_builder import (
    STARTS,
    RandomClusterDecoder,
    Sizes,
    cluster_of,
)
from grove_core.testing.events import Event, EventKind
from grove_core.testing.random_cluster import RandomCluster, snapshot_with_short_repr, stormy
from grove_core.testing.tape import ByteChoices

_SIZES: Final = Sizes()
_LONG, _SHORT, _NUMBER, _BUSY = 400, 150, 255, 4
LEFT_OUT: Final = ("Pod", "PodClique", "PodCliqueScalingGroup")


def sets(sizes: Sizes = _SIZES) -> st.SearchStrategy[PodCliqueSet]:
    """PodCliqueSets that admission accepts, some of them being deleted, some without a termination delay.

    Args:
        sizes: the largest sizes that are drawn.

    Example:
        >>> from hypothesis import given, settings
        >>> @settings(max_examples=5, database=None)
        ... @given(sets(Sizes(cliques=1)))
        ... def test(root):
        ...     assert len(root.spec.template.cliques) == 1
        >>> test()
    """
    require_sizes(sizes)
    return st.binary(max_size=_LONG).map(lambda data: RandomClusterDecoder(ByteChoices(data), sizes=sizes).root())


def clusters(sizes: Sizes = _SIZES) -> st.SearchStrategy[RandomCluster]:
    """Arbitrary clusters; most of their parts are healthy, and they shrink to a set of one ready pod.

    Args:
        sizes: the largest sizes that are drawn.

    Example:
        >>> from hypothesis import given, settings
        >>> @settings(max_examples=5, database=None)
        ... @given(clusters())
        ... def test(cluster):
        ...     assert cluster.snapshot.root == cluster.root
        >>> test()
    """
    return _drawn_clusters(sizes, 0, STARTS[:1])


def busy_clusters(sizes: Sizes = _SIZES) -> st.SearchStrategy[RandomCluster]:
    """Clusters with replicas, scaling groups, updates, deletions and old conditions, which ``clusters`` seldom draws.

    Args:
        sizes: the largest sizes that are drawn.

    Example:
        >>> from hypothesis import given, settings
        >>> @settings(max_examples=5, database=None)
        ... @given(busy_clusters())
        ... def test(cluster):
        ...     assert cluster.snapshot.root == cluster.root
        >>> test()
    """
    return _drawn_clusters(sizes, _SHORT, STARTS[:1])


def storms(sizes: Sizes = _SIZES) -> st.SearchStrategy[RandomCluster]:
    """Clusters in which nearly everything is breached, for longer or shorter than its delay.

    Args:
        sizes: the largest sizes that are drawn.

    Example:
        >>> from hypothesis import given, settings
        >>> @settings(max_examples=5, database=None)
        ... @given(storms())
        ... def test(cluster):
        ...     assert not any(pod.ready for pod in cluster.pods)
        >>> test()
    """
    return _drawn_storms(sizes, STARTS[:1])


def any_clusters(sizes: Sizes = _SIZES) -> st.SearchStrategy[RandomCluster]:
    """Clusters of the three strategies above at several times of the day, and storms in a set that is being deleted.

    Nearly half of them are busy clusters (LT-011).

    Args:
        sizes: the largest sizes that are drawn.

    Example:
        >>> from hypothesis import given, settings
        >>> @settings(max_examples=5, database=None)
        ... @given(any_clusters(Sizes(set_replicas=1)))
        ... def test(cluster):
        ...     assert cluster.root.spec.replicas <= 1
        >>> test()
    """
    return _mixed(sizes, _BUSY)


def mostly_breached_clusters(sizes: Sizes) -> st.SearchStrategy[RandomCluster]:
    """Clusters as above, but most of them storms: the invariants are about terminations."""
    return _mixed(sizes, 1)


def _mixed(sizes: Sizes, shares: int) -> st.SearchStrategy[RandomCluster]:
    """Busy clusters in this number of shares, any clusters in one, storms in two, and as many in a deleted set."""
    busy = (_drawn_clusters(sizes, _SHORT, STARTS) for _ in range(shares))
    any_size, lost = _drawn_clusters(sizes, 0, STARTS), _drawn_storms(sizes, STARTS)
    return st.one_of(*busy, lost, any_size, lost.map(_being_deleted))


def _drawn_clusters(sizes: Sizes, least: int, starts: Sequence[datetime]) -> st.SearchStrategy[RandomCluster]:
    require_sizes(sizes)
    data = st.binary(min_size=least, max_size=_LONG)
    return st.builds(cluster_of, data, sizes=st.just(sizes), start=st.sampled_from(starts))


def _drawn_storms(sizes: Sizes, starts: Sequence[datetime]) -> st.SearchStrategy[RandomCluster]:
    return st.one_of(_drawn_clusters(sizes, 0, starts), _drawn_clusters(sizes, _SHORT, starts)).map(stormy)


def _being_deleted(start: RandomCluster) -> RandomCluster:
    return replace(start, root=replace(start.root, deleting=True))


def snapshots(sizes: Sizes = _SIZES, *, incomplete: bool = False) -> st.SearchStrategy[Snapshot]:
    """Snapshots of such clusters, as a controller gets them.

    Args:
        sizes: the largest sizes that are drawn.
        incomplete: whether in some of them a kind was not collected.

    Example:
        >>> from hypothesis import given, settings
        >>> @settings(max_examples=5, database=None)
        ... @given(snapshots())
        ... def test(snapshot):
        ...     assert not snapshot.not_collected
        >>> test()
    """
    complete = any_clusters(sizes).map(lambda generated: snapshot_with_short_repr(generated.snapshot))
    if not incomplete:
        return complete
    return st.one_of(
        complete, complete, complete, st.builds(snapshot_without_kind, complete, st.sampled_from(LEFT_OUT))
    )


def snapshot_without_kind(snapshot: Snapshot, kind: str) -> Snapshot:
    """Return the snapshot that a source gives which left out a kind: Pod, PodClique or PodCliqueScalingGroup."""
    left = replace(snapshot, not_collected=frozenset({kind}))
    if kind == "Pod":
        return replace(left, pods_of=FrozenDict())
    return replace(left, cliques=()) if kind == "PodClique" else replace(left, groups=())


def events(kinds: frozenset[EventKind] = frozenset(EventKind)) -> st.SearchStrategy[Event]:
    """Single events.

    Args:
        kinds: those that are drawn.

    Example:
        >>> from hypothesis import given, settings
        >>> @settings(max_examples=5, database=None)
        ... @given(events(frozenset({EventKind.TIME_PASSES})))
        ... def test(event):
        ...     assert event.kind is EventKind.TIME_PASSES
        >>> test()
    """
    require_event_kinds(kinds)
    number = st.integers(0, _NUMBER)
    return st.builds(Event, st.sampled_from([kind for kind in EventKind if kind in kinds]), number, number)


def event_sequences(
    most: int = 12, kinds: frozenset[EventKind] = frozenset(EventKind)
) -> st.SearchStrategy[tuple[Event, ...]]:
    """Sequences of events; they shrink to fewer events.

    Args:
        most: the largest number of events.
        kinds: those that are drawn.

    Example:
        >>> from hypothesis import given, settings
        >>> @settings(max_examples=5, database=None)
        ... @given(event_sequences(most=3))
        ... def test(sequence):
        ...     assert len(sequence) <= 3
        >>> test()
    """
    require_count(most, "most")
    return st.lists(events(kinds), max_size=most).map(tuple)
