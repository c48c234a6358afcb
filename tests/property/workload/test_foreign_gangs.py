"""PodGangs of another naming scheme are left alone (WL-207)."""

from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core.kernel.frozen import FrozenMap, frozen_dict_of_tuples
from grove_core.kernel.steps import Create, Delete
from grove_core.kernel.structs import replace
from grove_core.reconcile import reconcile
from grove_core.resources.api_names import POD_GANG
from grove_core.rule_sets.rule_set_by_name import rule_set
from grove_core.snapshot.snapshot import Snapshot, foreign_gang_names_in
from tests.property.workload.sets import Json, applied, at_rest, clique_raw, raw_sets, set_raw

EPOCHS: Final = st.sampled_from(["7f3a9c", "1234567", "0a", "pool-7f3a9c"])


def renamed(seen: Snapshot, epoch: str) -> Snapshot:
    """The same set after a release that names its gangs by an epoch took it over."""
    names = {gang.ref.name: f"{gang.ref.name}-{epoch}" for gang in seen.gangs}
    cliques = tuple(
        replace(
            one,
            labels=FrozenMap({**one.labels, POD_GANG: names.get(str(one.labels.get(POD_GANG)), "")}),
        )
        for one in seen.cliques
    )
    gangs = tuple(replace(one, ref=replace(one.ref, name=names[one.ref.name])) for one in seen.gangs)
    pods = {uid: [replace(pod, gang=names.get(pod.gang, "")) for pod in found] for uid, found in seen.pods_of.items()}
    return replace(seen, cliques=cliques, gangs=gangs, pods_of=frozen_dict_of_tuples(pods))


@given(raw_sets(), EPOCHS, st.sampled_from(["design", "field"]))
def test_wl207_no_gang_that_pods_are_in_goes_and_none_comes_in_its_place(raw: Json, epoch: str, rules: str) -> None:
    seen = renamed(at_rest(applied(raw)), epoch)
    alive = {gang.ref.name for gang in seen.gangs} & {pod.gang for _, pod in seen.pods()}
    assert foreign_gang_names_in(seen) >= alive
    plan = reconcile(seen, rule_set(rules))
    done = {(type(step.action), step.target.name) for step in plan.steps if step.target.kind == "PodGang"}
    assert not {name for action, name in done if action is Delete} & alive
    assert not {name for action, name in done if action is Create}
    assert {held.target.name for held in plan.withheld if held.target.kind == "PodGang"} >= alive


@given(raw_sets())
def test_wl207_is_no_matter_of_a_set_whose_gangs_are_named_as_ever(raw: Json) -> None:
    seen = at_rest(applied(raw))
    assert foreign_gang_names_in(seen) == frozenset()
    if len(seen.gangs) > 1:
        fewer = replace(seen, root=replace(seen.root, spec=seen.root.spec.model_copy(update={"replicas": 0})))
        gone = {step.target.name for step in reconcile(fewer).steps if isinstance(step.action, Delete)}
        assert gone >= {gang.ref.name for gang in seen.gangs}


@pytest.mark.parametrize(
    ("name", "foreign"),
    [
        ("llm-0", False),
        ("llm-12", False),
        ("llm-0-7f3a9c", True),
        ("llm-0-0", True),
        ("other-0", True),
        ("llm-a", True),
    ],
)
def test_wl207_names(name: str, foreign: bool) -> None:
    seen = at_rest(applied(set_raw(clique_raw("a"))))
    (gang,) = seen.gangs
    cliques = tuple(replace(one, labels=FrozenMap({**one.labels, POD_GANG: name})) for one in seen.cliques)
    gangs = (replace(gang, ref=replace(gang.ref, name=name)),)
    assert foreign_gang_names_in(replace(seen, cliques=cliques, gangs=gangs)) == (
        frozenset({name}) if foreign else frozenset()
    )
