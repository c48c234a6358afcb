"""Admission of the topology of a set, and of topologies (TP-060 to TP-088); tables from the design documents."""

import copy
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core.admit import admit
from grove_core.admit_cluster_topology import (
    admit_topology,
    admit_topology_deletion,
    topology_admission_view_of,
    topology_used_by_set,
)
from grove_core.areas.topology.admit import NOTHING_KNOWN, KnownTopologiesForAdmission
from grove_core.areas.topology.rules import TopologyWarning
from grove_core.kernel.admission import Admit, Deny
from grove_core.resources.api_names import TOPOLOGY_FINALIZER
from grove_core.resources.cluster_topology import DEFAULT_TOPOLOGY, TopologyLevel
from grove_core.resources.configuration import DEFAULT_CONFIGURATION, Configuration, TopologyAwareSettings
from grove_core.resources.podclique import podclique_from_json
from grove_core.resources.topology_usage import TopologyUser
from grove_shell.settings.operator_settings import parse_operator_settings
from tests.property.topology.sets_to_admit import (
    CREATED,
    NAME,
    OF_CLIQUE,
    OF_GROUP,
    TOP,
    Found,
    Json,
    a_set,
    raw_topology,
)
from tests.property.topology.sets_with_constraints import ON, topology
from tests.property.workload.sets import set_raw

KNOWN: Final = {
    one.ref.name: one
    for one in (
        topology(DEFAULT_TOPOLOGY),
        topology("aws-p5", ("zone", "z"), ("block", "b"), ("rack", "r"), ("host", "h")),
        topology("flat", ("host", "h")),
        topology("leaving", deletionTimestamp="2026-11-20T09:00:00Z"),
    )
}
PENDING: Final = KnownTopologiesForAdmission(KNOWN, {}, {})
PLACED: Final = KnownTopologiesForAdmission(KNOWN, {("ml", "llm"): 3}, {})


def refusals(
    new: Json, old: Json | None = None, view: KnownTopologiesForAdmission = PENDING, configuration: Configuration = ON
) -> Found:
    """Path and rule id of each objection."""
    verdict = admit(new, old, None, configuration, None, view).verdict
    return (
        {(one.path, one.reason.rule.requirement) for one in verdict.objections} if isinstance(verdict, Deny) else set()
    )


def warnings(
    new: Json, old: Json | None = None, view: KnownTopologiesForAdmission = PENDING, configuration: Configuration = ON
) -> Found:
    verdict = admit(new, old, None, configuration, None, view).verdict
    found = {(one.path, one.reason.rule.requirement) for one in verdict.warnings}
    return {(path, number) for path, number in found if number.startswith("TP")}


@pytest.mark.parametrize(("raw", "expected"), CREATED)
@pytest.mark.req("TP-061")
@pytest.mark.req("TP-063")
@pytest.mark.req("TP-065")
@pytest.mark.req("TP-066")
@pytest.mark.req("TP-067")
@pytest.mark.req("TP-068")
@pytest.mark.req("TP-070")
def test_tp060_a_new_set(raw: Json, expected: Found) -> None:
    assert refusals(raw) == expected


def test_tp060_the_objection_lists_known_topologies_and_suggests_one() -> None:
    verdict = admit(a_set("aws-p4", "rack"), None, None, ON, None, PENDING).verdict
    assert isinstance(verdict, Deny)
    words = verdict.objections[0].reason.sentence
    assert "known: aws-p5, flat, grove-topology, leaving, did you mean aws-p5?" in words


@pytest.mark.parametrize("name", ["aws-p5", DEFAULT_TOPOLOGY])
def test_tp064_no_name_while_off(name: str) -> None:
    assert refusals(a_set(name, "rack"), configuration=DEFAULT_CONFIGURATION) == {(NAME, "TP-064")}
    assert refusals(a_set("", "rack"), configuration=DEFAULT_CONFIGURATION) == set()
    named = a_set(name, "rack")
    edited = copy.deepcopy(named)
    edited["spec"]["template"]["priorityClassName"] = "high"
    assert refusals(edited, named, configuration=DEFAULT_CONFIGURATION) == set()


CHANGES: Final = (("", "aws-p5"), ("aws-p5", ""), ("aws-p5", DEFAULT_TOPOLOGY), ("", DEFAULT_TOPOLOGY))


@pytest.mark.parametrize(("before", "after"), CHANGES)
def test_tp062_a_name_may_be_set_cleared_and_replaced_until_a_pod_is_bound(before: str, after: str) -> None:
    old, new = a_set(before, "rack"), a_set(after, "rack")
    assert refusals(new, old) == set()
    assert refusals(new, old, PLACED) == {(NAME, "TP-062")}
    assert refusals(old, old, PLACED) == set()


def test_tp060_a_set_that_outlived_its_topology_may_be_changed_otherwise() -> None:
    gone = a_set("gone", "rack")
    edited = copy.deepcopy(gone)
    edited["spec"]["template"]["priorityClassName"] = "high"
    assert refusals(edited, gone, PLACED) == set()
    assert refusals(a_set("gone", "rack"), a_set("aws-p5", "rack")) == {(NAME, "TP-060")}


def test_tp065_no_switch_to_a_topology_without_the_domain() -> None:
    assert refusals(a_set("flat", "rack"), a_set("aws-p5", "rack")) == {(f"{TOP}.packDomain", "TP-065")}


LEVEL: Final = st.sampled_from(["", "zone", "rack", "host"])


@given(LEVEL, LEVEL, LEVEL, LEVEL)
def test_tp069_requested_domains_are_immutable_in_either_spelling(was: str, liked: str, now: str, likes: str) -> None:
    def constraint(required: str, preferred: str, *, old_way: bool) -> Any:
        pack = {key: text for key, text in (("required", required), ("preferred", preferred)) if text}
        if old_way and required:
            return {"packDomain": required, "pack": {key: text for key, text in pack.items() if key == "preferred"}}
        return {"pack": pack} if pack else None

    old = a_set("", constraint(was, liked, old_way=True))
    new = a_set("", constraint(now, likes, old_way=False))
    found = {number for _, number in refusals(new, old, PLACED)}
    assert ("TP-069" in found) is ((was, liked) != (now, likes))


def test_tp069_at_every_level() -> None:
    old = a_set("", "zone", "rack", "host")
    assert refusals(a_set("", "zone"), old) == {(OF_GROUP, "TP-069"), (OF_CLIQUE, "TP-069")}
    assert refusals(old, a_set("", "zone")) == {(OF_GROUP, "TP-069"), (OF_CLIQUE, "TP-069")}


def test_tp063_an_update_is_not_refused_for_an_old_violation() -> None:
    odd = a_set("aws-p5")
    assert refusals(odd, odd) == set()
    assert refusals(a_set("flat"), odd) == {(NAME, "TP-063")}


def test_tp072_a_missing_comparison_causes_a_warning() -> None:
    assert warnings(a_set("aws-p5", "rack"), view=NOTHING_KNOWN) == {(NAME, "TP-072")}
    assert warnings(a_set("aws-p5", "rack"), a_set("flat", "rack"), NOTHING_KNOWN) == {(NAME, "TP-072")}
    assert warnings(a_set("aws-p5", "rack")) == set()
    assert warnings(a_set("", "rack"), view=NOTHING_KNOWN) == set()


@pytest.mark.req("TP-074")
def test_tp073_constraints_without_effect_cause_a_warning() -> None:
    assert warnings(a_set("", "rack"), configuration=DEFAULT_CONFIGURATION) == {(TOP, "TP-073")}
    assert warnings(a_set("", {"pack": {"required": "rack", "preferred": "zone"}})) == {
        (f"{TOP}.pack.preferred", "TP-074")
    }


@pytest.mark.parametrize("scheduler", [None, "default-scheduler"])
def test_tp075_a_scheduler_without_gangs_causes_a_warning(scheduler: str | None) -> None:
    place = "spec.template.cliques[0].spec.podSpec.schedulerName"
    for raw, said in ((a_set("", "rack"), {(place, "TP-075")}), (a_set("", None, None, "host"), {(place, "TP-075")})):
        for clique in raw["spec"]["template"]["cliques"]:
            spec: Json = {"containers": [{"name": "main"}]}
            clique["spec"]["podSpec"] = spec
            if scheduler:
                spec["schedulerName"] = scheduler
        assert warnings(raw) == said
        raw["spec"]["template"]["cliques"][0]["spec"]["podSpec"]["schedulerName"] = "kai-scheduler"
        assert warnings(raw) == set(), "the others are sent there too (WL-181)"
    assert warnings(a_set()) == set()


@pytest.mark.req("GT-100")
@pytest.mark.req("TP-075")
def test_wh001_a_template_without_cliques_is_refused_for_that_alone() -> None:
    raw = a_set()
    raw["spec"]["template"]["cliques"] = []
    assert warnings(raw) == set()


BROKEN: Final[tuple[Any, ...]] = (
    ("spec.template.topologyConstraint", ("topologyConstraint",), 7),
    (f"{TOP}.pack", ("topologyConstraint", "pack"), "rack"),
    (f"{TOP}.packDomain", ("topologyConstraint", "packDomain"), 7),
    (NAME, ("clusterTopologyName",), ["aws-p5"]),
)


@pytest.mark.parametrize(("path", "steps", "value"), BROKEN)
def test_wh005_an_unparsable_field_affects_no_other_verdict(path: str, steps: tuple[str, ...], value: Any) -> None:
    raw = a_set("aws-p5", {"packDomain": "rack"})
    place: Any = raw["spec"]["template"]
    for step in steps[:-1]:
        place = place[step]
    place[steps[-1]] = value
    assert {one for one, _ in refusals(raw)} == {path}


@given(st.sampled_from([raw for raw, _ in CREATED]), st.sampled_from([None, *(raw for raw, _ in CREATED)]))
def test_wh005_equal_input_gives_an_equal_verdict(new: Json, old: Json | None) -> None:
    def answer() -> Any:
        return admit(copy.deepcopy(new), copy.deepcopy(old), None, ON, None, PLACED)

    assert answer() == answer()


def levels_refused(
    new: Json, old: Json | None = None, view: KnownTopologiesForAdmission = PENDING, configuration: Configuration = ON
) -> Found:
    verdict = admit_topology(new, old, view, configuration).verdict
    return (
        {(one.path, one.reason.rule.requirement) for one in verdict.objections} if isinstance(verdict, Deny) else set()
    )


SOUND: Final = (("zone", "z"), ("rack", "r"))


@pytest.mark.parametrize(
    ("levels", "paths"),
    [
        (SOUND, set()),
        ((("pod", "example.com/pod"), ("rack", "r"), ("shelf", "s")), set()),
        ((), {""}),
        (tuple((f"d{index}", f"k{index}") for index in range(17)), {""}),
        ((("zone", "z"), ("zone", "y")), {"[1].domain"}),
        ((("zone", "z"), ("rack", "z")), {"[1].key"}),
        ((("host", "h"), ("odd", "o"), ("zone", "z")), {"[2].domain"}),
        ((("Zone", "z"), ("rack", "a b")), {"[0].domain", "[1].key"}),
        ((("zone", "k" * 64),), {"[0].key"}),
    ],
)
def test_tp080_levels_are_valid(levels: Any, paths: set[str]) -> None:
    expected = {(f"spec.levels{path}", "TP-080") for path in paths}
    assert levels_refused(raw_topology("t", *levels)) == expected


USED: Final = KnownTopologiesForAdmission(
    KNOWN, {}, {"t": (TopologyUser("ml", "llm", 2), TopologyUser("ml", "waits", 0))}
)
WAITED_FOR: Final = KnownTopologiesForAdmission(KNOWN, {}, {"t": (TopologyUser("ml", "waits", 0),)})


def test_tp084_levels_stay_while_pods_are_placed_by_them() -> None:
    old, new = raw_topology("t", *SOUND), raw_topology("t", ("zone", "z"))
    assert levels_refused(new, old, USED) == {("spec.levels", "TP-084")}
    assert levels_refused(new, old, WAITED_FOR) == set()
    assert levels_refused(raw_topology("t", *SOUND[::-1]), old, USED) > {("spec.levels", "TP-084")}
    verdict = admit_topology(new, old, USED, ON).verdict
    assert isinstance(verdict, Deny)
    assert verdict.objections[0].reason.sentence.endswith("ml/llm")


def test_tp088_metadata_always_passes() -> None:
    for levels in (SOUND, (), (("Bad", " "),)):
        old = raw_topology(DEFAULT_TOPOLOGY, *levels)
        new = raw_topology(DEFAULT_TOPOLOGY, *levels, labels={"x": "y"}, annotations={"a": "b"})
        assert levels_refused(new, old, USED) == set()


def test_tp085_the_default_has_the_configured_levels_for_every_client() -> None:
    configuration = Configuration(
        topology=TopologyAwareSettings(True, (TopologyLevel("zone", "z"), TopologyLevel("rack", "r")))
    )
    other = raw_topology(DEFAULT_TOPOLOGY, ("zone", "z"))
    assert levels_refused(other, configuration=configuration) == {("spec.levels", "TP-085")}
    assert levels_refused(other, raw_topology(DEFAULT_TOPOLOGY, *SOUND), configuration=configuration) == {
        ("spec.levels", "TP-085")
    }
    assert levels_refused(raw_topology(DEFAULT_TOPOLOGY, *SOUND), configuration=configuration) == set()
    assert levels_refused(other, configuration=DEFAULT_CONFIGURATION) == set()
    users = KnownTopologiesForAdmission(KNOWN, {}, {DEFAULT_TOPOLOGY: (TopologyUser("ml", "llm", 1),)})
    assert levels_refused(raw_topology(DEFAULT_TOPOLOGY, *SOUND), other, users, configuration) == {
        ("spec.levels", "TP-084")
    }


@pytest.mark.req("TP-089")
def test_tp086_a_deletion_is_admitted_and_names_the_users_it_waits_for() -> None:
    for finalizers, rule in (
        ([], TopologyWarning.USED_AND_NOT_HELD),
        ([TOPOLOGY_FINALIZER], TopologyWarning.STILL_USED),
    ):
        verdict = admit_topology_deletion(raw_topology("t", *SOUND, finalizers=finalizers), USED).verdict
        assert isinstance(verdict, Admit)
        assert verdict.warnings[0].reason.rule is rule
        assert "ml/llm, ml/waits" in verdict.warnings[0].reason.sentence
    assert admit_topology_deletion(raw_topology("u", *SOUND), USED).verdict == Admit()


@pytest.mark.parametrize("spec", [None, 7, {"levels": 7}, {"levels": [None]}, {"levels": [{"domain": 3, "key": []}]}])
def test_tp087_an_unparsable_topology_is_refused_and_nothing_is_raised(spec: Any) -> None:
    raw = {"kind": "ClusterTopology", "metadata": {"name": "t"}, "spec": spec}
    assert levels_refused(raw)
    assert levels_refused(raw_topology("t", *SOUND), raw) == set()


def test_tp076_unknown_users_cause_a_warning() -> None:
    decision = admit_topology(raw_topology("t", *SOUND), raw_topology("t", ("zone", "z")), NOTHING_KNOWN, ON)
    assert [one.reason.rule for one in decision.verdict.warnings] == [TopologyWarning.USERS_NOT_KNOWN]
    deleted = admit_topology_deletion(raw_topology("t", *SOUND), NOTHING_KNOWN)
    assert [one.reason.rule for one in deleted.verdict.warnings] == [TopologyWarning.USERS_NOT_KNOWN]


def test_tp080_a_configuration_is_refused_with_all_violations() -> None:
    def written(*levels: tuple[str, str]) -> Json:
        raw = [{"domain": domain, "key": key} for domain, key in levels]
        return {"topologyAwareScheduling": {"enabled": True, "levels": raw}}

    settings, problems = parse_operator_settings(written(*SOUND))
    assert (problems, settings.configuration.topology.levels) == (
        (),
        (TopologyLevel("zone", "z"), TopologyLevel("rack", "r")),
    )
    problems = parse_operator_settings(written(("host", "h"), ("zone", "h")))[1]
    assert [(one.path.removeprefix("topologyAwareScheduling."), one.expected, one.got) for one in problems] == [
        ("levels.1.key", "another one than level 0", '"h"'),
        ("levels.1.domain", "levels from broad to narrow: zone is broader than host", '"zone"'),
    ]
    assert parse_operator_settings(written())[1]
    assert {one.path for one in parse_operator_settings({"topologyAwareScheduling": {"on": True, "levels": 7}})[1]} == {
        "topologyAwareScheduling.on",
        "topologyAwareScheduling.levels",
    }


@pytest.mark.req("TP-072")
def test_tp087_the_content_of_an_unparsable_topology_is_unknown() -> None:
    broken = {"kind": "ClusterTopology", "metadata": {"name": "broken"}, "spec": {"levels": "none"}}
    sound = raw_topology("sound", ("zone", "z"))
    view = topology_admission_view_of([broken, sound], [], ())
    assert set(view.topologies or ()) == {"sound"}
    assert view.incomplete_kinds == frozenset()
    assert view.unreadable == {"broken"}
    verdict = admit(a_set("broken", "rack"), None, None, ON, None, view).verdict
    assert isinstance(verdict, Admit)
    assert [one.reason.rule.requirement for one in verdict.warnings] == ["TP-072"]
    assert refusals(a_set("other", "rack"), view=view) == {(NAME, "TP-060")}
    binding = {**raw_topology("sound", ("host", "h")), "kind": "ClusterTopologyBinding", "spec": {"levels": 7}}
    assert not topology_admission_view_of([binding, sound], [], ()).unreadable, "the other one counts"


@pytest.mark.req("TP-072")
@pytest.mark.req("TP-062")
@pytest.mark.parametrize("unread", ["PodClique", "PodCliqueSet"])
def test_tp084_an_unparsable_object_may_be_placed(unread: str) -> None:
    """One user that is known to be placed is enough for a refusal."""
    broken = [{"metadata": {"name": "broken"}, "spec": "none"}] if unread == "PodCliqueSet" else []
    partial = [unread] if unread == "PodClique" else []
    old, less = raw_topology("aws-p5", ("zone", "z"), ("host", "h")), raw_topology("aws-p5", ("zone", "z"))
    for bound, refused, warned in ((0, set(), ["TP-076"]), (2, {"TP-084"}, ["TP-076"])):
        clique = copy.deepcopy(BOUND)
        clique["metadata"]["labels"]["app.kubernetes.io/part-of"] = "llm"
        clique["status"] = {"scheduledReplicas": bound}
        view = topology_admission_view_of(
            [], [a_set("aws-p5", "rack"), *broken], [podclique_from_json(clique)], partial
        )
        verdict = admit_topology(less, old, view, ON).verdict
        objections = verdict.objections if isinstance(verdict, Deny) else ()
        assert {one.reason.rule.requirement for one in objections} == refused
        assert [one.reason.rule.requirement for one in verdict.warnings] == warned
    for kinds, bound, expected in (({"PodClique"}, 0, {"TP-072"}), ({"PodClique"}, 2, set()), ({unread}, 2, set())):
        view = KnownTopologiesForAdmission(KNOWN, {("ml", "llm"): bound}, incomplete_kinds=frozenset(kinds))
        verdict = admit(a_set("", "rack"), a_set("aws-p5", "rack"), None, ON, None, view).verdict
        assert isinstance(verdict, Deny) == bool(bound)
        assert {one.reason.rule.requirement for one in verdict.warnings} == expected


def test_tp060_the_configured_default_counts_as_existing() -> None:
    others = KnownTopologiesForAdmission({name: one for name, one in KNOWN.items() if name != DEFAULT_TOPOLOGY}, {}, {})
    assert not refusals(a_set(DEFAULT_TOPOLOGY, "rack"), view=others)


_JSON: Final = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda part: (
        st.lists(part, max_size=2)
        | st.dictionaries(
            st.sampled_from(["spec", "template", "clusterTopologyName", "topologyConstraint", "cliques", "name"]),
            part,
            max_size=4,
        )
    ),
)


@given(st.dictionaries(st.sampled_from(["spec", "metadata"]), _JSON, max_size=2))
def test_tp001_every_set_uses_one_topology_or_none(raw: Json) -> None:
    assert isinstance(topology_used_by_set(raw), str | None)


BOUND: Final[Json] = {
    "apiVersion": "grove.io/v1alpha1",
    "kind": "PodClique",
    "metadata": {"name": "x", "namespace": "ml", "labels": {"grove.io/podcliqueset-replica-index": "0"}},
    "spec": {"roleName": "a", "replicas": 1, "minAvailable": 1, "podSpec": {}},
}


@given(st.sampled_from([raw for raw, _ in CREATED]))
def test_tp001_users_of_one_topology_are_those_among_all(raw: Json) -> None:
    users = topology_admission_view_of([], [raw], [podclique_from_json(BOUND)]).users
    assert users is not None
    used = topology_used_by_set(raw)
    assert set(users) == ({used} if used else set())


def test_tp075_a_set_without_cliques_is_judged_too() -> None:
    raw = set_raw(topologyConstraint={"packDomain": "zone"})
    found = admit({"kind": "PodCliqueSet", "apiVersion": "grove.io/v1alpha1", **raw}, configuration=ON).verdict
    assert isinstance(found, Deny)
