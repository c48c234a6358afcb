"""Warnings at admission about what the Workload API cannot do for a set (SC-040, SC-041)."""

from typing import Any

import pytest

from grove_core.admit import admit
from grove_core.kernel.structs import replace
from grove_core.resources.configuration import Configuration
from grove_core.rule_sets.rule_set_by_name import rule_set
from tests.property.scheduling.grouped_sets import KUBERNETES, LEVELS, PLACED, PODGANG
from tests.property.workload.sets import Json, clique_raw, set_raw

AUTO = replace(PLACED, gang_backend=None)
BOTH = {"topologyConstraint": {"pack": {"required": "zone", "preferred": "rack"}}}


def a_set(*cliques: Json, **more: Any) -> Json:
    raw = set_raw(*cliques, **more)
    raw["apiVersion"], raw["kind"] = "grove.io/v1alpha1", "PodCliqueSet"
    return raw


def warned(raw: Json, configuration: Configuration, rules: str = "design") -> dict[str, list[str]]:
    """Number of a rule -> paths of its warnings."""
    verdict = admit(raw, configuration=configuration, rules=rule_set(rules)).verdict
    found: dict[str, list[str]] = {}
    for one in verdict.warnings:
        if one.reason.rule.requirement.startswith("SC-"):
            found.setdefault(one.reason.rule.requirement, []).append(one.path)
    return found


@pytest.mark.req("SC-040")
@pytest.mark.parametrize(
    ("raw", "configuration", "expected"),
    [
        (a_set(clique_raw("a")), KUBERNETES, {}),
        (a_set(*map(clique_raw, "abcdefghi")), KUBERNETES, {"SC-040": ["spec.template.cliques"]}),
        (a_set(*map(clique_raw, "abcdefghi")), PODGANG, {}),
        (a_set(*map(clique_raw, "abcdefghi")), AUTO, {}),
        (
            a_set(clique_raw("a", pod_spec={"containers": [{"name": "main"}], "schedulerName": "kai-scheduler"})),
            KUBERNETES,
            {"SC-040": ["spec.template.cliques"]},
        ),
    ],
)
def test_sc040_a_set_that_keeps_podgangs_is_warned_of(
    raw: Json, configuration: Configuration, expected: dict[str, list[str]]
) -> None:
    assert warned(raw, configuration) == expected


@pytest.mark.req("SC-041")
def test_sc041_a_preferred_domain_is_warned_of() -> None:
    assert LEVELS[1].domain == "rack"
    raw = a_set(clique_raw("a"), **BOTH)
    assert warned(raw, PLACED) == {"SC-041": ["spec.template.topologyConstraint.pack.preferred"]}
    assert warned(raw, AUTO) == {}
    kai = {"containers": [{"name": "main"}], "schedulerName": "kai-scheduler"}
    assert warned(a_set(clique_raw("a", pod_spec=kai), **BOTH), PLACED) == {"SC-040": ["spec.template.cliques"]}
    required = a_set(clique_raw("a"), topologyConstraint={"pack": {"required": "zone"}})
    assert warned(required, PLACED) == {}


def test_the_go_operator_knows_nothing_of_it() -> None:
    assert warned(a_set(*map(clique_raw, "abcdefghi")), KUBERNETES, "field") == {}
