"""Closed lists, roles, pods, autoscalers and shared claims (WL-120 to WL-149): each rule, and the smallest change."""

from typing import Final

import pytest

from grove_core.admit import admit
from grove_core.areas.workload.admission.manifest_defaults import podcliqueset_with_defaults
from grove_core.areas.workload.admission.template_warnings import partial_start_warnings
from grove_core.areas.workload.rules import WorkloadDenial, WorkloadWarning
from grove_core.kernel.admission import AdmissionWarning
from grove_core.kernel.reasons import Rule
from grove_core.kernel.refs import Ref
from grove_core.resources.podcliqueset_spec import read_podcliqueset_spec
from tests.property.resources.manifests import Json, clique_set, clique_template, group_template
from tests.property.workload.admission_examples import (
    CLAIMS,
    FULL,
    LEADER,
    POOL,
    ROUTER,
    TEMPLATE,
    Found,
    Place,
    changed,
    facts,
    objections,
    path_of,
    warnings,
)

POD: Final[Place] = (*LEADER, "spec", "podSpec")
ENV: Final[Place] = (*POD, "containers", 0, "env")
INIT: Final[Place] = (*POD, "initContainers", 0, "env")
SHARING: Final[Place] = (*TEMPLATE, "resourceSharing")
POOL_SHARING: Final[Place] = (*POOL, "resourceSharing", 0)
SCALING: Final[Place] = (*ROUTER, "spec", "autoScalingConfig")
POOL_SCALING: Final[Place] = (*POOL, "scaleConfig")
FILTER: Final = {"childCliqueNames": ["leader"]}

ROWS: Final[list[tuple[Place, object, object, str, Rule, str]]] = [
    (
        (*TEMPLATE, "cliqueStartupType"),
        "Explicit",
        "CliqueStartupTypeExplicit",
        "",
        WorkloadDenial.STARTUP_TYPE_UNKNOWN,
        '"Explicit"',
    ),
    (
        ("spec", "updateStrategy", "type"),
        "Recreate",
        "RollingRecreate",
        "",
        WorkloadDenial.UPDATE_STRATEGY_UNKNOWN,
        '"Recreate"',
    ),
    (
        ("spec", "updateStrategy", "type"),
        "Coherent",
        "RollingRecreate",
        "",
        WorkloadDenial.OF_A_NEWER_RELEASE,
        '"Coherent"',
    ),
    (("spec", "updateStrategy", "type"), "", "OnDelete", "", WorkloadDenial.UPDATE_STRATEGY_UNKNOWN, '""'),
    ((*LEADER, "spec", "roleName"), "router", "route", "", WorkloadDenial.ROLE_REPEATED, '"router"'),
    ((*POD, "schedulerName"), "volcano", "kai-scheduler", "", WorkloadDenial.SCHEDULERS_DIFFER, '"volcano"'),
    ((*POD, "topologySpreadConstraints"), [{}], [], "", WorkloadDenial.SPREAD_CONSTRAINTS, "a list of 1"),
    ((*POD, "nodeName"), "node-1", "", "", WorkloadDenial.NODE_NAME, '"node-1"'),
    (ENV, [{"name": "1A"}], [{"name": "A1"}], "[0].name", WorkloadDenial.VARIABLE_NAME_INVALID, '"1A"'),
    (ENV, [{"name": "A=B"}], [{"name": "A.B"}], "[0].name", WorkloadDenial.VARIABLE_NAME_INVALID, '"A=B"'),
    (ENV, [{"name": ".."}], [{"name": "._."}], "[0].name", WorkloadDenial.VARIABLE_NAME_INVALID, '".."'),
    (ENV, [{"name": "."}], [{"name": "_"}], "[0].name", WorkloadDenial.VARIABLE_NAME_INVALID, '"."'),
    (INIT, [{"name": ""}], [{"name": "a"}], "[0].name", WorkloadDenial.VARIABLE_NAME_INVALID, "nothing"),
    (INIT, [{}], [], "[0].name", WorkloadDenial.VARIABLE_NAME_INVALID, "nothing"),
    (ENV, [{"name": "A"}] * 2, [{"name": "A"}, {"name": "a"}], "[1].name", WorkloadDenial.VARIABLE_REPEATED, '"A"'),
    (INIT, [{"name": "A"}] * 2, [{"name": "A"}, {"name": "MODE"}], "[1].name", WorkloadDenial.VARIABLE_REPEATED, '"A"'),
    ((*SCALING, "minReplicas"), 1, 2, "", WorkloadDenial.FLOOR_BELOW_THRESHOLD, "1"),
    ((*POOL_SCALING, "minReplicas"), 1, 2, "", WorkloadDenial.FLOOR_BELOW_THRESHOLD, "1"),
    ((*SCALING, "maxReplicas"), 2, 3, "", WorkloadDenial.CEILING_TOO_LOW, "2"),
    (
        SCALING,
        {"minReplicas": 5, "maxReplicas": 4},
        {"minReplicas": 5, "maxReplicas": 5},
        ".maxReplicas",
        WorkloadDenial.CEILING_TOO_LOW,
        "4",
    ),
    (SCALING, {"maxReplicas": 2}, {"maxReplicas": 3}, ".maxReplicas", WorkloadDenial.CEILING_TOO_LOW, "2"),
    (POOL_SCALING, {"maxReplicas": 2}, {"maxReplicas": 3}, ".maxReplicas", WorkloadDenial.GROUP_CEILING_TOO_LOW, "2"),
    (
        POOL_SCALING,
        {"minReplicas": 2, "maxReplicas": 1},
        {"minReplicas": 2, "maxReplicas": 2},
        ".maxReplicas",
        WorkloadDenial.GROUP_CEILING_TOO_LOW,
        "1",
    ),
    (
        (*LEADER, "spec", "autoScalingConfig"),
        {"maxReplicas": 5},
        None,
        "",
        WorkloadDenial.MEMBER_SCALES_ITSELF,
        "an object with 2 keys",
    ),
    (
        (*CLAIMS, 1, "templateSpec"),
        {},
        FULL["spec"]["template"]["resourceClaimTemplates"][0]["templateSpec"],
        ".spec.devices.requests",
        WorkloadDenial.CLAIM_TEMPLATE_EMPTY,
        "a list of 0",
    ),
    ((*SHARING, 1, "name"), "", "other", "", WorkloadDenial.SHARING_NAMELESS, '""'),
    ((*SHARING, 0, "namespace"), "ml", "", "", WorkloadDenial.SHARING_NAMESPACE, '"ml"'),
    ((*POOL_SHARING, "namespace"), "shared", None, "", WorkloadDenial.SHARING_NAMESPACE, '"shared"'),
    ((*SHARING, 0, "scope"), "All", "PerReplica", "", WorkloadDenial.SCOPE_UNKNOWN, '"All"'),
    ((*POOL_SHARING, "scope"), "", "AllReplicas", "", WorkloadDenial.SCOPE_UNKNOWN, '""'),
    (
        (*LEADER, "resourceSharing", 0, "scope"),
        "perReplica",
        "PerReplica",
        "",
        WorkloadDenial.SCOPE_UNKNOWN,
        '"perReplica"',
    ),
    ((*SHARING, 0, "filter"), {}, None, "", WorkloadDenial.FILTER_EMPTY, "an object with 0 keys"),
    (
        (*SHARING, 0, "filter"),
        {"childCliqueNames": []},
        {"childScalingGroupNames": ["pool"]},
        "",
        WorkloadDenial.FILTER_EMPTY,
        "an object with 1 key",
    ),
    ((*POOL_SHARING, "filter"), {}, None, "", WorkloadDenial.FILTER_EMPTY, "an object with 0 keys"),
    (
        (*SHARING, 0, "filter"),
        {"childCliqueNames": ["pool"]},
        FILTER,
        ".childCliqueNames[0]",
        WorkloadDenial.FILTER_NAME_UNKNOWN,
        '"pool"',
    ),
    (
        (*SHARING, 1, "filter", "childScalingGroupNames"),
        ["leader"],
        ["pool"],
        "[0]",
        WorkloadDenial.FILTER_NAME_UNKNOWN,
        '"leader"',
    ),
    (
        (*POOL_SHARING, "filter", "childCliqueNames"),
        ["leader", "router"],
        ["leader", "worker"],
        "[1]",
        WorkloadDenial.FILTER_NAME_UNKNOWN,
        '"router"',
    ),
    (
        (*LEADER, "resourceSharing", 0, "filter"),
        FILTER,
        None,
        "",
        WorkloadDenial.FILTER_OUT_OF_PLACE,
        "an object with 1 key",
    ),
    (
        (*POOL_SHARING, "filter"),
        {"childScalingGroupNames": ["pool"]},
        FILTER,
        ".childScalingGroupNames",
        WorkloadDenial.FILTER_OUT_OF_PLACE,
        "a list of 1",
    ),
]


@pytest.mark.req(
    "WL-126", "WL-128", "WL-129", "WL-130", "WL-131", "WL-132", "WL-133", "WL-135", "WL-136", "WL-137", "WL-138"
)
@pytest.mark.req("WL-142", "WL-143", "WL-145", "WL-146", "WL-147", "WL-148", "WL-149")
@pytest.mark.parametrize(
    ("place", "bad", "fine", "below", "rule", "got"),
    ROWS,
    ids=lambda value: value.name if isinstance(value, Rule) else "",
)
def test_wl120_each_rule_has_a_smallest_change(
    place: Place, bad: object, fine: object, below: str, rule: Rule, got: str
) -> None:
    assert objections(changed(place, bad)) == [Found(path_of(place) + below, rule, got)]
    assert objections(changed(place, fine)) == []


def test_wl128_an_absent_role_belongs_to_no_other_clique() -> None:
    assert (
        objections(
            clique_set(cliques=[clique_template("a"), clique_template("b", roleName="")], podCliqueScalingGroups=[])
        )
        == []
    )


@pytest.mark.req("WL-131")
def test_wl130_what_a_set_has_already_may_stay_and_come() -> None:
    for place, value in (((*POD, "topologySpreadConstraints"), [{}]), ((*POD, "nodeName"), "node-1")):
        assert objections(changed(place, value), FULL) == []


def test_wl136_the_least_ceiling_is_reported() -> None:
    for scaling, least in (({"minReplicas": 5, "maxReplicas": 4}, 5), ({"minReplicas": 2, "maxReplicas": 1}, 3)):
        assert facts(changed(SCALING, scaling)) == [{"least": least}]


def test_wl135_a_floor_that_follows_the_replicas_is_not_to_blame() -> None:
    cliques = [clique_template("a", replicas=2, minAvailable=3, autoScalingConfig={"maxReplicas": 5})]
    groups = [group_template("g", replicas=1, minAvailable=2, scaleConfig={"maxReplicas": 5})]
    found = objections(clique_set(cliques=cliques, podCliqueScalingGroups=groups))
    assert [rule.requirement for _, rule, _ in found] == ["GT-094", "GT-095"]


class TestWL140:
    """An entry of ``resourceClaimTemplates`` without a name MUST be refused."""

    def test_no_name(self) -> None:
        place = (*CLAIMS, 1, "name")
        new = changed(place, "", changed((*LEADER, "resourceSharing"), []))
        assert objections(new) == [Found(path_of(place), WorkloadDenial.CLAIM_TEMPLATE_NAMELESS, '""')]

    @pytest.mark.req("WL-141")
    def test_a_name_twice(self) -> None:
        place = (*CLAIMS, 1, "name")
        assert objections(changed(place, "cache")) == [
            Found(path_of(place), WorkloadDenial.CLAIM_TEMPLATE_REPEATED, '"cache"')
        ]
        assert objections(changed(place, "disc")) == []

    @pytest.mark.req("WL-144")
    @pytest.mark.parametrize("owner", [TEMPLATE, LEADER, POOL])
    def test_a_claim_shared_twice(self, owner: Place) -> None:
        entry, other = {"name": "disk", "scope": "AllReplicas"}, {"name": "disc", "scope": "AllReplicas"}
        place = (*owner, "resourceSharing")
        assert objections(changed(place, [other, entry])) == []
        assert objections(changed(place, [entry, other, entry])) == [
            Found(f"{path_of(place)}[2].name", WorkloadDenial.SHARING_REPEATED, '"disk"')
        ]

    @pytest.mark.req("WL-143")
    def test_two_without_a_name_are_each_without_a_name(self) -> None:
        place = (*LEADER, "resourceSharing")
        entry = {"name": "", "scope": "AllReplicas"}
        assert [found.rule for found in objections(changed(place, [entry, entry]))] == [
            WorkloadDenial.SHARING_NAMELESS
        ] * 2


@pytest.mark.parametrize("value", [5, ["x"], {"spec": {"devices": {"requests": "x"}}}])
@pytest.mark.req("GT-103")
def test_wl142_requests_that_do_not_read_are_reported_as_such(value: object) -> None:
    (found,) = objections(changed((*CLAIMS, 0, "templateSpec"), value))
    assert found.rule.requirement == "GT-103"


@pytest.mark.parametrize(
    ("field", "value", "below"),
    [
        ("schedulerName", 5, ""),
        ("nodeName", ["a"], ""),
        ("restartPolicy", {}, ""),
        ("topologySpreadConstraints", {}, ""),
        ("containers", "main", ""),
        ("containers", [None], "[0]"),
        ("initContainers", [{"env": {}}], "[0].env"),
        ("containers", [{"env": [{"name": 5}]}], "[0].env[0].name"),
    ],
)
def test_wl132_what_does_not_read_in_a_pod_is_reported_once(field: str, value: object, below: str) -> None:
    ((path, rule, _),) = objections(changed((*POD, field), value))
    assert (path, rule.requirement) == (f"{path_of(POD)}.{field}{below}", "GT-103")


def _able(name: str) -> Json:
    """A clique whose pods can be made (WL-185)."""
    return clique_template(name, podSpec={"containers": [{"name": "main", "image": "main:1"}]})


def partial_starts(raw: Json) -> list[AdmissionWarning]:
    spec, _ = read_podcliqueset_spec(podcliqueset_with_defaults(raw)["spec"])
    assert spec is not None
    return [*partial_start_warnings(Ref("", "PodCliqueSet", "ml", "llm"), spec)]


class TestWarnings:
    """What is admitted and probably not meant."""

    def test_wl180_only_fields_that_were_written(self) -> None:
        place = (*POD, "restartPolicy")
        for policy in ("Never", "OnFailure"):
            new = changed(place, policy)
            assert objections(new) == []
            assert warnings(new) == [Found(path_of(place), WorkloadWarning.RESTART_POLICY_NOT_ALWAYS, f'"{policy}"')]
        for silent in ("Always", "", None):
            assert warnings(changed(place, silent)) == []

    def test_wl181_a_scheduler_left_out_beside_one(self) -> None:
        place = (*POD, "schedulerName")
        new = changed(place, None)
        assert objections(new) == []
        assert warnings(new) == [Found(path_of(place), WorkloadWarning.SCHEDULER_LEFT_OUT, "nothing")]
        (reported,) = (dict(one.reason.facts) for one in admit(new).verdict.warnings)
        assert reported == {"other": "kai-scheduler", "clique": "router"}
        none_is_named = clique_set(cliques=[_able("router"), _able("leader"), _able("worker")])
        assert warnings(none_is_named) == []

    def test_wl182_a_list_without_a_reader(self) -> None:
        place = (*TEMPLATE, "cliqueStartupType")
        expected = [f"{path_of(clique)}.spec.startsAfter" for clique in (ROUTER, (*TEMPLATE, "cliques", 2))]
        for kind in ("CliqueStartupTypeInOrder", "CliqueStartupTypeAnyOrder", ...):
            new = changed(place, kind)
            assert objections(new) == []
            assert [(found.path, found.rule) for found in warnings(new)] == [
                (path, WorkloadWarning.STARTS_AFTER_UNUSED) for path in expected
            ]
        assert warnings(changed(place, "Explicit")) == []

    def test_wl184_counts_that_reach_nothing(self) -> None:
        for place in (
            (*TEMPLATE, "cliques", 0, "spec", "replicas"),
            (*TEMPLATE, "podCliqueScalingGroups", 0, "replicas"),
        ):
            new = changed(place, 50)
            verdict = admit(new, FULL).verdict
            assert [
                (found.path, found.reason.rule) for found in verdict.warnings if found.reason.rule in WorkloadWarning
            ] == [(path_of(place), WorkloadWarning.REPLICAS_UNUSED)]
            assert not [
                found
                for found in admit(FULL, FULL).verdict.warnings
                if found.reason.rule is WorkloadWarning.REPLICAS_UNUSED
            ]

    @pytest.mark.parametrize("nothing", [[], None, ...])
    def test_wl185_a_pod_that_cannot_be_created(self, nothing: object) -> None:
        place = (*POD, "containers")
        new = changed((*POD, "initContainers"), [{"name": "main", "image": "main:1"}], changed(place, nothing))
        assert objections(new) == []
        assert warnings(new) == [Found(path_of(place), WorkloadWarning.CONTAINERS_MISSING, "nothing")]
        assert warnings(changed(place, [{"name": "main", "image": "main:1"}], new)) == []

    @pytest.mark.parametrize(
        ("replicas", "least", "more", "started"),
        [
            (3, 1, {}, 2),
            (3, 2, {}, None),
            (2, 1, {}, None),
            (1, 1, {}, None),
            (9, ..., {}, None),
            (3, 1, {"autoScalingConfig": {"maxReplicas": 5}}, None),
        ],
    )
    def test_wl186_a_worker_that_starts_in_part(
        self, replicas: int, least: object, more: Json, started: int | None
    ) -> None:
        least_of = {} if least is ... else {"minAvailable": least}
        leader, worker = _able("ldr"), _able("wkr")
        leader["spec"] |= {"replicas": 1, "minAvailable": 1}
        worker["spec"] |= {"replicas": replicas, **least_of, **more}
        group = {"name": "multinode", "cliqueNames": ["ldr", "wkr", "unknown"]}
        new = clique_set(cliques=[leader, worker], podCliqueScalingGroups=[group])
        found = [one.reason for one in partial_starts(new)]
        facts = {"group": "multinode", "pods": replicas + 1, "replicas": replicas, "started": started}
        assert [dict(one.facts) for one in found] == ([] if started is None else [facts])
        alone = clique_set(cliques=[worker], podCliqueScalingGroups=[{"name": "one", "cliqueNames": ["wkr"]}])
        assert not partial_starts(alone)

    def test_wl157_a_refusal_comes_with_the_warnings(self) -> None:
        new: Json = changed((*POD, "restartPolicy"), "Never", changed(("spec", "replicas"), -1))
        assert [found.rule.requirement for found in objections(new)] == ["GT-096"]
        assert [found.rule for found in warnings(new)] == [WorkloadWarning.RESTART_POLICY_NOT_ALWAYS]


def test_wl148_the_known_names_are_reported_but_not_thousands_of_them() -> None:
    place = (*SHARING, 0, "filter")
    assert facts(changed(place, {"childCliqueNames": ["x"]})) == [{"known": "leader, router, worker"}]
    many = [clique_template(f"c{number:04}") for number in range(1000)]
    new = changed(
        place,
        {"childCliqueNames": ["x"]},
        changed((*TEMPLATE, "cliques"), [*FULL["spec"]["template"]["cliques"], *many]),
    )
    ((_, known),) = facts(new)[0].items()
    assert str(known).endswith("c0018, c0019 and 983 more")
