"""The sets of an input that a command selects by name, and hints at names that are not there (CL-009, CL-083)."""

from collections.abc import Collection, Iterable, Iterator
from itertools import takewhile
from typing import Final

from grove_core.resources.naming_rules import most_similar_name
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.snapshot.cluster import IndexedCluster
from grove_shell.views.formatting import MAX_NAMES, join_names_with_commas


def selected_sets(
    cluster: IndexedCluster, names: Collection[str], namespace: str | None = None
) -> Iterator[PodCliqueSet]:
    """Yield the selected sets, sorted by namespace and name.

    Args:
        names: ``set`` or ``namespace/set``; empty for all.
        namespace: only sets of this namespace; None for all.
    """
    wanted = set(names)
    for root in cluster.sets:
        if namespace in {None, root.ref.namespace} and (not wanted or wanted & {root.ref.name, _full(root)}):
            yield root


def selected_sets_not_found(cluster: IndexedCluster, names: Collection[str], namespace: str | None = None) -> str:
    """Return the selected names that are not there, with the known ones (CL-009); empty where nothing is missing."""
    present = [*selected_sets(cluster, (), namespace)]
    if namespace is not None and not present and not names:
        others = {root.ref.namespace for root in cluster.sets}
        return f"a PodCliqueSet in namespace {namespace}{known_names_hint(namespace, others)}"
    known = {name: _full(root) for root in present for name in (root.ref.name, _full(root))}
    lacking = sorted(name for name in names if name not in known)
    if not lacking:
        return ""
    guesses = (known.get(most_similar_name(name, known)) or known.get(name.rpartition("/")[2]) for name in lacking)
    meant = dict.fromkeys(filter(None, guesses))
    return ", ".join(f"PodCliqueSet {name}" for name in lacking) + _names_hint(meant, sorted({*known.values()}))


def known_names_hint(name: str, known: Collection[str]) -> str:
    """Return the known name that is most similar to one that is not there, and the known names (CL-083)."""
    meant = most_similar_name(name, sorted(known)[:_MOST_COMPARED])
    nearest = sorted(known, key=lambda one: (-_shared_letter_count(name, one), one))
    return _names_hint([meant] if meant else [], nearest)


def _shared_letter_count(one: str, other: str) -> int:
    """Return how many letters two names begin with in common."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _names_hint(meant: Iterable[str], known: Collection[str]) -> str:
    names = join_names_with_commas([*known], MAX_NAMES) if known else "none"
    guess = ", ".join(meant)
    return f"; did you mean {guess}? Known: {names}" if guess else f"; known: {names}"


_MOST_COMPARED: Final = 5_000


def _full(root: PodCliqueSet) -> str:
    return f"{root.ref.namespace}/{root.ref.name}"
