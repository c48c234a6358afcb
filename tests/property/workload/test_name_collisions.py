"""Two sets of a namespace that would share the name of an object (WL-117), and the index that finds them."""

from typing import Any, Final

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from grove_core.admit import admit, index_names_used_by_sets
from grove_core.areas.workload.admission import name_collisions
from grove_core.areas.workload.rules import WorkloadDenial
from grove_core.kernel.admission import Deny
from grove_core.kernel.reasons import Fact
from grove_core.resources.configuration import Configuration, MnnvlConfiguration, MnnvlMode
from tests.property.few_examples import RARELY
from tests.property.resources.manifests import Json
from tests.property.workload.call_count import calls_of
from tests.property.workload.sets import manifests_of

KINDS: Final = (
    "HorizontalPodAutoscaler",
    "PodClique",
    "PodCliqueScalingGroup",
    "PodGang",
    "ResourceClaim",
    "Service",
)


def clique(name: str, **spec: object) -> Json:
    return {"name": name, "spec": {"roleName": name, "replicas": 1, "podSpec": {"containers": []}, **spec}}


def a_set(name: str, *cliques: Json, replicas: int = 1, namespace: str = "ml", **template: object) -> Json:
    return {
        "apiVersion": "grove.io/v1alpha1",
        "kind": "PodCliqueSet",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"replicas": replicas, "template": {"cliques": list(cliques) or [clique("w")], **template}},
    }


def group(name: str, *members: str, **more: object) -> Json:
    return {"name": name, "cliqueNames": list(members), "replicas": 1, "minAvailable": 1, **more}


def shared(new: Json, *others: Json, old: Json | None = None) -> list[dict[str, Fact]]:
    """What is refused because of others, as the rule quotes it."""
    verdict = admit(new, old, index_names_used_by_sets([new, *others])).verdict
    refused = verdict.objections if isinstance(verdict, Deny) else ()
    return [dict(one.reason.facts) for one in refused if one.reason.rule is WorkloadDenial.SETS_COLLIDE]


def facts(kind: str, name: str, other: str) -> dict[str, Fact]:
    return {"kind": kind, "name": name, "other": other}


CLAIM: Final = {"name": "c", "templateSpec": {"spec": {"devices": {"requests": [{"name": "gpu"}]}}}}
COLLISIONS: Final[list[tuple[Json, Json, list[tuple[str, str]]]]] = [
    (a_set("a", clique("1-x")), a_set("a-0", clique("x"), replicas=2), [("PodClique", "a-0-1-x")]),
    (
        a_set("a", clique("x"), podCliqueScalingGroups=[group("0", "x", replicas=2)]),
        a_set("a-0-0", clique("w"), replicas=2),
        [("PodGang", "a-0-0-0")],
    ),
    (
        a_set("a", clique("x"), podCliqueScalingGroups=[group("0-g", "x")]),
        a_set("a-0", clique("x"), podCliqueScalingGroups=[group("g", "x")]),
        [("PodClique", "a-0-0-g-0-x"), ("PodCliqueScalingGroup", "a-0-0-g")],
    ),
    (
        a_set("a", clique("0-x", autoScalingConfig={"maxReplicas": 2})),
        a_set("a-0", clique("y"), podCliqueScalingGroups=[group("x", "y", scaleConfig={"maxReplicas": 2})]),
        [("HorizontalPodAutoscaler", "a-0-0-x")],
    ),
    (
        a_set(
            "a",
            resourceClaimTemplates=[{**CLAIM, "name": "0-c"}],
            resourceSharing=[{"name": "0-c", "scope": "PerReplica"}],
        ),
        a_set("a-0", resourceClaimTemplates=[CLAIM], resourceSharing=[{"name": "c", "scope": "PerReplica"}]),
        [("ResourceClaim", "a-0-0-c")],
    ),
    (
        a_set(
            "a",
            resourceClaimTemplates=[{**CLAIM, "name": "0-c"}],
            resourceSharing=[{"name": "0-c", "scope": "AllReplicas"}],
        ),
        a_set("a-all", resourceClaimTemplates=[CLAIM], resourceSharing=[{"name": "c", "scope": "PerReplica"}]),
        [("ResourceClaim", "a-all-0-c")],
    ),
]


class TestWL117:
    """A set MUST be refused if one of its objects would have the kind and name of an existing or planned object of
    another set in its namespace. This holds for every index that the replicas and autoscalers of the manifest
    allow.
    """

    @pytest.mark.parametrize(("one", "another", "found"), COLLISIONS)
    def test_both_are_reported_of_the_other_and_the_object(
        self, one: Json, another: Json, found: list[tuple[str, str]]
    ) -> None:
        assert shared(one, another) == [facts(*what, another["metadata"]["name"]) for what in found]
        assert shared(another, one) == [facts(*what, one["metadata"]["name"]) for what in found]

    def test_not_in_another_namespace_nor_beyond_an_index(self) -> None:
        one, another = COLLISIONS[0][:2]
        assert not shared(one, {**another, "metadata": {"name": "a-0", "namespace": "other"}})
        assert not shared(one, a_set("a-0", clique("x")))
        assert not shared(one, a_set("a-1", clique("x"), replicas=2))
        assert not shared(one, a_set("a-00", clique("x"), replicas=2))
        assert not shared(one, a_set("a-b", clique("x"), replicas=2))
        assert not shared(one, one)

    def test_an_autoscaler_may_come_to_an_index(self) -> None:
        grown = group("g", "x", scaleConfig={"maxReplicas": 7})
        one = a_set("a", clique("x"), podCliqueScalingGroups=[grown])
        assert shared(a_set("a-0-g", clique("y"), replicas=9), one) == [facts("PodGang", "a-0-g-0", "a")]

    def test_objects_that_are_there_already_count(self) -> None:
        held = {
            "apiVersion": "grove.io/v1alpha1",
            "kind": "PodClique",
            "metadata": {"name": "a-0-1-x", "namespace": "ml", "labels": {"app.kubernetes.io/part-of": "a-0"}},
        }
        one = COLLISIONS[0][0]
        assert shared(one, held) == [facts("PodClique", "a-0-1-x", "a-0")]
        assert not shared(one, {**held, "kind": "ConfigMap"})
        held["metadata"]["labels"] = {"grove.io/podcliqueset": "a"}  # type: ignore[index]  # a manifest of our own
        assert not shared(one, held)
        held["metadata"]["labels"] = {}  # type: ignore[index]  # a manifest of our own
        assert not shared(one, held)

    @pytest.mark.parametrize(("index", "is_ours"), [(0, True), (1, False)])
    def test_only_replicas_beyond_the_minimum_have_gangs(self, index: int, *, is_ours: bool) -> None:
        """The first two are of the gang of the set's replica, so of three there is one more."""
        held = {
            "apiVersion": "scheduler.grove.io/v1alpha1",
            "kind": "PodGang",
            "metadata": {
                "name": f"a-0-g-{index}",
                "namespace": "ml",
                "labels": {"app.kubernetes.io/part-of": "a-0-g"},
            },
        }
        grown = group("g", "x", replicas=3, minAvailable=2)
        found = shared(a_set("a", clique("x"), podCliqueScalingGroups=[grown]), held)
        assert found == ([facts("PodGang", "a-0-g-0", "a-0-g")] if is_ours else [])

    @pytest.mark.req("MS-077")
    def test_a_group_of_two_words_shares_domains_by_all_of_them(self) -> None:
        alone = {"annotations": {"grove.io/mnnvl-enabled": "true", "grove.io/mnnvl-scope": "scalingGroupReplica"}}
        one = a_set("a", clique("x"), podCliqueScalingGroups=[{**group("big-pool", "x"), **alone}])
        other = a_set("a-0-big-pool", clique("y"))
        other["metadata"]["annotations"] = {"grove.io/mnnvl-enabled": "true"}
        configuration = Configuration(MnnvlConfiguration(enabled=True, mode=MnnvlMode.ANNOTATIONS))
        verdict = admit(one, None, index_names_used_by_sets([one, other]), configuration).verdict
        refused = verdict.objections if isinstance(verdict, Deny) else ()
        reported = [dict(found.reason.facts) for found in refused if found.reason.rule is WorkloadDenial.SETS_COLLIDE]
        assert facts("ComputeDomain", "a-0-big-pool-0-cd", "a-0-big-pool") in reported

    @pytest.mark.req("WL-116")
    def test_what_collided_before_a_change_is_no_reason_to_refuse_it(self) -> None:
        one, another = COLLISIONS[0][:2]
        assert not shared(one, another, old=one)
        assert shared(one, another, old=a_set("a", clique("2-x")))

    def test_what_does_not_read_uses_no_names(self) -> None:
        broken = a_set("a-0", clique("x"), replicas=2)
        broken["spec"]["template"]["cliques"] = 5
        assert not shared(COLLISIONS[0][0], broken)
        assert not shared(a_set(""), a_set("", clique("x")))


WORDS: Final = st.lists(st.sampled_from(["a", "0", "1", "all"]), min_size=1, max_size=3).map("-".join)


@st.composite
def small_sets(draw: st.DrawFn, prefix: str) -> Json:
    """Sets without autoscalers, whose names are made of few words."""
    cliques = draw(st.lists(WORDS, min_size=1, max_size=3, unique=True))
    more: dict[str, Any] = {}
    if len(cliques) > 1 and draw(st.booleans()):
        low, high = sorted(draw(st.tuples(st.integers(1, 3), st.integers(1, 3))))
        more["podCliqueScalingGroups"] = [group(draw(WORDS), cliques[0], replicas=high, minAvailable=low)]
    if draw(st.booleans()):
        name, scope = draw(WORDS), draw(st.sampled_from(["AllReplicas", "PerReplica"]))
        more["resourceClaimTemplates"] = [{**CLAIM, "name": name}]
        more["resourceSharing"] = [{"name": name, "scope": scope}]
    made = [clique(name) for name in cliques]
    return a_set(prefix, *made, replicas=draw(st.integers(1, 3)), **more)


def named_by(raw: Json) -> set[tuple[str, str]]:
    """Kind and name of what the planner makes of a set."""
    return {(made["kind"], made["metadata"]["name"]) for made in manifests_of(raw) if made["kind"] in KINDS}


@RARELY
@given(small_sets("a"), st.sampled_from(["a-0", "a-1", "a-0-a", "a-all", "a-0-0", "a-2"]).flatmap(small_sets))
def test_wl117_found_is_what_the_planner_would_make_twice(one: Json, another: Json) -> None:
    both = named_by(one) & named_by(another)
    event(f"kinds in common: {len({kind for kind, _ in both})}")
    lowest = {kind: min(name for held, name in both if held == kind) for kind, _ in both}
    expected = [facts(kind, name, another["metadata"]["name"]) for kind, name in sorted(lowest.items())]
    assert sorted(shared(one, another), key=lambda found: str(found["kind"])) == expected


def test_wl117_the_work_does_not_grow_with_replicas_or_pairs() -> None:
    """Sets of the largest counts there are; comparing each with each, or counting to the end, would never end."""
    few, many = crowd(40), crowd(120)
    once = calls_of(name_collisions, lambda: refused_of(few))
    assert once > len(few)
    assert calls_of(name_collisions, lambda: refused_of(many)) < 4 * once
    assert refused_of(many) == len(many)


def crowd(size: int) -> list[Json]:
    """So many sets, and one whose names lie above those of all others."""
    most = 2**31 - 1
    sets = [a_set(f"a-{index}", clique("w"), replicas=most) for index in range(size)]
    return [*sets, a_set("a", *(clique(f"{index}-w") for index in range(20)), replicas=most)]


def refused_of(sets: list[Json]) -> int:
    index = index_names_used_by_sets(sets)
    return sum(isinstance(admit(raw, None, index).verdict, Deny) for raw in sets)
