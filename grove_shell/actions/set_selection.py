"""Selects PodCliqueSets of a cluster by name and namespace, and names those that are not there."""

from collections.abc import Collection, Iterator

from grove_core.resources.cluster_topology import most_similar
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.snapshot.cluster import Cluster


def selected_sets(cluster: Cluster, names: Collection[str], namespace: str | None = None) -> Iterator[PodCliqueSet]:
    """Yield the selected sets, sorted by namespace and name.

    Args:
        cluster: all sets.
        names: ``set`` or ``namespace/set``; empty for all.
        namespace: only sets of this namespace; None for all.
    """
    wanted = set(names)
    for root in cluster.sets:
        if namespace in {None, root.ref.namespace} and (not wanted or wanted & {root.ref.name, _full(root)}):
            yield root


def missing_sets(cluster: Cluster, names: Collection[str], namespace: str | None = None) -> str:
    """Return the selected names that are not there, with similar names (CL-009); empty where nothing is missing.

    Args:
        cluster: all sets.
        names: ``set`` or ``namespace/set``.
        namespace: only sets of this namespace; None for all.
    """
    present = [*selected_sets(cluster, (), namespace)]
    if namespace is not None and not present and not names:
        meant = most_similar(namespace, {root.ref.namespace for root in cluster.sets})
        return f"a PodCliqueSet in namespace {namespace}" + (f"; did you mean {meant}?" if meant else "")
    known = {name: _full(root) for root in present for name in (root.ref.name, _full(root))}
    lacking = sorted(name for name in names if name not in known)
    guesses = (known.get(most_similar(name, known)) or known.get(name.rpartition("/")[2]) for name in lacking)
    meant = ", ".join(dict.fromkeys(filter(None, guesses)))
    return ", ".join(f"PodCliqueSet {name}" for name in lacking) + (f"; did you mean {meant}?" if meant else "")


def _full(root: PodCliqueSet) -> str:
    return f"{root.ref.namespace}/{root.ref.name}"
