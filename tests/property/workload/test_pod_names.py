"""Pod names that would collide: suffixes have five letters, so of 500 pods two may get the same name."""

from collections import Counter
from typing import Final

import pytest

from grove_core.areas.workload.template_hash import short_text_hash
from grove_core.kernel.frozen import frozen_dict_of_tuples
from grove_core.kernel.steps import Create
from grove_core.kernel.structs import replace
from grove_core.reconcile import reconcile
from grove_core.resources.pod import Pod
from grove_core.snapshot.snapshot import Snapshot
from tests.property.workload.sets import applied, at_rest, clique_raw, set_raw

NAMESAKES: Final = (43, 65)
"""Indices that meet in the clique of this very name, with a world's uids; looked for by hand."""
PODS: Final = 70


@pytest.fixture(scope="module")
def rested() -> Snapshot:
    return at_rest(applied(set_raw(clique_raw("a", PODS), meta={"name": "s7578"})))


def pods_in(snapshot: Snapshot) -> dict[int, Pod]:
    (clique,) = snapshot.cliques
    return {pod.index: pod for pod in snapshot.pods_of[clique.uid]}


def seen(snapshot: Snapshot, *pods: Pod) -> Snapshot:
    (clique,) = snapshot.cliques
    return replace(snapshot, pods_of=frozen_dict_of_tuples({clique.uid: list(pods)}), attempts=())


def made(snapshot: Snapshot) -> Counter[str]:
    steps = reconcile(snapshot).steps
    return Counter(step.target.name for step in steps if isinstance(step.action, Create) and step.target.kind == "Pod")


def test_the_case_is_one(rested: Snapshot) -> None:
    (clique,) = rested.cliques
    first, second = (short_text_hash(f"{clique.uid}/{index}/{clique.template_hash}", 5) for index in NAMESAKES)
    assert first == second


def test_wl085_each_has_a_name_of_its_own(rested: Snapshot) -> None:
    pods = pods_in(rested)
    assert sorted(pods) == list(range(PODS))
    names = {pod.name for pod in pods.values()}
    assert len(names) == PODS
    (gang,) = rested.gangs
    assert {name for group in gang.groups for name in group.pods} == names
    assert not made(rested)


@pytest.mark.parametrize("missing", [NAMESAKES[:1], NAMESAKES[1:], NAMESAKES, (0, *NAMESAKES)], ids=str)
def test_wl085_made_twice_it_is_refused_as_existing(rested: Snapshot, missing: tuple[int, ...]) -> None:
    """Whatever of it a cache shows, each pod is wanted under the name that it has."""
    pods = pods_in(rested)
    shown = [pod for index, pod in pods.items() if index not in missing]
    assert made(seen(rested, *shown)) == Counter(pods[index].name for index in missing)


def test_wl085_a_successor_meets_no_terminating_pod(rested: Snapshot) -> None:
    pods = pods_in(rested)
    going = [replace(pod, deleting=pod.index in NAMESAKES) for pod in pods.values()]
    new = made(seen(rested, *going))
    assert len(new) == len(NAMESAKES)
    assert not new.keys() & {pod.name for pod in pods.values()}
