"""Of a test with many combinations of faults those run that have every pair of values; all with ``--all-faults``."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Final, TypeAlias

import pytest

FOLDER: Final = Path(__file__).parent
FEW: Final = 4
"""Tests with so many combinations run whole."""
Pair: TypeAlias = tuple[tuple[str, str], tuple[str, str]]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--all-faults"):
        return
    by_test: defaultdict[tuple[Path, str], list[pytest.Function]] = defaultdict(list)
    for item in items:
        if isinstance(item, pytest.Function) and item.path.parent == FOLDER:
            by_test[item.path, item.originalname].append(item)
    left_out = {item for alike in by_test.values() if len(alike) > FEW for item in set(alike) - set(covering(alike))}
    items[:] = [item for item in items if item not in left_out]
    config.hook.pytest_deselected(items=list(left_out))


def covering(alike: Sequence[pytest.Function]) -> Iterable[pytest.Function]:
    """Yield some combinations of one test: every value of a parameter is in one with every value of each other."""
    pairs = {item: _pairs_of(item.callspec.params) for item in alike}
    missing = set[Pair]().union(*pairs.values())
    while missing:
        best = max(alike, key=lambda item: len(pairs[item] & missing))
        missing -= pairs[best]
        yield best


def _pairs_of(params: Mapping[str, object]) -> frozenset[Pair]:
    return frozenset(combinations(sorted((name, repr(value)) for name, value in params.items()), 2))
