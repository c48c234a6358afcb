"""Refused changes of an update (WL-150 to WL-157)."""

from copy import deepcopy
from typing import Any, Final

import pytest

from grove_core.areas.workload.rules import WorkloadDenial
from grove_core.kernel.reasons import Rule
from tests.property.resources.manifests import clique_set, clique_template
from tests.property.workload.admission_examples import (
    CLAIMS,
    CLIQUES,
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
)

OTHER: Final = [{"name": "disk", "scope": "PerReplica"}]
ROWS: Final[list[tuple[Place, object, str, Rule, str, object]]] = [
    ((*LEADER, "spec", "roleName"), "boss", "", WorkloadDenial.ROLE_IMMUTABLE, '"boss"', '"leader"'),
    ((*LEADER, "spec", "roleName"), ..., "", WorkloadDenial.ROLE_IMMUTABLE, '""', '"leader"'),
    ((*LEADER, "spec", "startsAfter"), ["x"], "", WorkloadDenial.STARTS_AFTER_IMMUTABLE, '"x"', "none"),
    (
        (*ROUTER, "spec", "startsAfter"),
        ["worker", "leader"],
        "",
        WorkloadDenial.STARTS_AFTER_IMMUTABLE,
        '"worker, leader"',
        "worker",
    ),
    ((*ROUTER, "spec", "startsAfter"), [], "", WorkloadDenial.STARTS_AFTER_IMMUTABLE, '"none"', "worker"),
    (
        (*LEADER, "spec", "podSpec", "schedulerName"),
        "",
        "",
        WorkloadDenial.SCHEDULER_IMMUTABLE,
        '""',
        '"kai-scheduler"',
    ),
    ((*LEADER, "spec", "podSpec"), {}, ".schedulerName", WorkloadDenial.SCHEDULER_IMMUTABLE, '""', '"kai-scheduler"'),
    ((*TEMPLATE, "resourceSharing"), [], "", WorkloadDenial.SHARING_IMMUTABLE, "a list of 0", "cache, elsewhere"),
    (
        (*TEMPLATE, "resourceSharing", 0, "scope"),
        "PerReplica",
        "",
        WorkloadDenial.SHARING_IMMUTABLE,
        "a list of 2",
        "cache, elsewhere",
    ),
    ((*LEADER, "resourceSharing"), OTHER, "", WorkloadDenial.SHARING_IMMUTABLE, "a list of 1", "disk"),
    ((*POOL, "resourceSharing"), OTHER, "", WorkloadDenial.SHARING_IMMUTABLE, "a list of 1", "cache"),
    ((*POOL, "resourceSharing", 0, "filter"), None, "", WorkloadDenial.SHARING_IMMUTABLE, "a list of 1", "cache"),
    (
        (*CLAIMS, 0, "templateSpec", "spec", "devices", "requests", 0, "name"),
        "g",
        "",
        WorkloadDenial.CLAIM_TEMPLATES_IMMUTABLE,
        "a list of 2",
        "cache, disk",
    ),
    (CLAIMS, [], "", WorkloadDenial.CLAIM_TEMPLATES_IMMUTABLE, "a list of 0", "cache, disk"),
    (
        (*TEMPLATE, "cliqueStartupType"),
        "CliqueStartupTypeInOrder",
        "",
        WorkloadDenial.STARTUP_TYPE_IMMUTABLE,
        '"CliqueStartupTypeInOrder"',
        "CliqueStartupTypeExplicit",
    ),
]


@pytest.mark.req("WL-151", "WL-152", "WL-153", "WL-154", "WL-155", "WL-157")
@pytest.mark.parametrize(
    ("place", "value", "below", "rule", "got", "before"),
    ROWS,
    ids=lambda value: value.name if isinstance(value, Rule) else "",
)
def test_wl150_what_does_not_change(
    place: Place, value: object, below: str, rule: Rule, got: str, before: object
) -> None:
    new = changed(place, value)
    path = path_of(place).partition(".resourceSharing[")
    path = path_of(place).partition(".resourceClaimTemplates[") if not path[1] else path
    expected = Found(path[0] + path[1].rstrip("[") + below, rule, got)
    position = objections(new, FULL).index(expected)
    assert facts(new, FULL)[position] == {"before": before}
    assert objections(new, FULL).count(expected) == 1
    assert rule not in {found.rule for found in objections(new)}
    assert rule not in {found.rule for found in objections(new, new)}


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("spec", "replicas"), 5),
        (("spec", "updateStrategy"), None),
        ((*TEMPLATE, "priorityClassName"), "high"),
        ((*TEMPLATE, "headlessServiceConfig"), {"publishNotReadyAddresses": False}),
        ((*TEMPLATE, "terminationDelay"), "4h"),
        ((*LEADER, "labels"), {"tier": "two"}),
        ((*LEADER, "annotations"), None),
        ((*LEADER, "spec", "replicas"), 5),
        ((*LEADER, "spec", "podSpec"), {"schedulerName": "kai-scheduler", "hostNetwork": True}),
        ((*ROUTER, "spec", "autoScalingConfig"), None),
        ((*POOL, "replicas"), 5),
        ((*POOL, "annotations"), {}),
        ((*POOL, "scaleConfig", "maxReplicas"), 20),
        (("metadata", "labels"), {}),
    ],
    ids=lambda value: path_of(value) if isinstance(value, tuple) else "",
)
def test_wl150_the_rest_may_change(place: Place, value: object) -> None:
    assert objections(changed(place, value), FULL) == []


class TestWL156:
    """An update that changes the order of the cliques of a set that starts in order or explicitly MUST be refused."""

    @staticmethod
    def ordered(kind: str, *names: str) -> dict[str, Any]:
        cliques = [clique_template(name) for name in names]
        return clique_set(cliqueStartupType=kind, cliques=cliques, podCliqueScalingGroups=[])

    @pytest.mark.parametrize("kind", ["CliqueStartupTypeInOrder", "CliqueStartupTypeExplicit"])
    def test_it_stays_in_order(self, kind: str) -> None:
        new, old = self.ordered(kind, "b", "a", "c"), self.ordered(kind, "a", "b", "c")
        assert objections(new, old) == [Found(path_of(CLIQUES), WorkloadDenial.CLIQUE_ORDER_IMMUTABLE, '"b, a, c"')]
        assert facts(new, old) == [{"before": "a, b, c"}]

    def test_it_does_not_matter_otherwise(self) -> None:
        kind = "CliqueStartupTypeAnyOrder"
        assert objections(self.ordered(kind, "b", "a"), self.ordered(kind, "a", "b")) == []

    def test_an_object_that_comes_and_goes_is_reported_once(self) -> None:
        kind = "CliqueStartupTypeInOrder"
        found = objections(self.ordered(kind, "d", "a", "c"), self.ordered(kind, "a", "b", "c"))
        assert [rule.requirement for _, rule, _ in found] == ["GT-101"]

    def test_a_long_order_is_quoted_short(self) -> None:
        names = [f"c{number:02}" for number in range(30)]
        kind = "CliqueStartupTypeInOrder"
        (quoted,) = facts(self.ordered(kind, *reversed(names)), self.ordered(kind, *names))
        assert str(quoted["before"]).endswith("c08, c09 and 20 more")


def test_wl157_a_change_is_found_beside_other_faults() -> None:
    new = deepcopy(FULL)
    template = new["spec"]["template"]
    template["cliques"][0]["spec"].update(roleName="gate", replicas="three", podSpec={"nodeName": "node-1"})
    template["cliques"][1]["spec"]["minAvailable"] = 9
    template["podCliqueScalingGroups"][0]["cliqueNames"].append(5)
    del template["cliqueStartupType"]
    assert [(found.path, found.rule.requirement) for found in objections(new, FULL)] == [
        ("spec.template.cliqueStartupType", "WL-155"),
        ("spec.template.cliques[0].spec.podSpec.schedulerName", "WL-152"),
        ("spec.template.cliques[0].spec.replicas", "GT-103"),
        ("spec.template.cliques[0].spec.roleName", "WL-150"),
        ("spec.template.cliques[1].spec.minAvailable", "GT-094"),
        ("spec.template.cliques[1].spec.minAvailable", "GT-101"),
        ("spec.template.podCliqueScalingGroups[0].cliqueNames[2]", "GT-103"),
    ]
