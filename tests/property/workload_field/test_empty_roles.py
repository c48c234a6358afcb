"""Cliques without a role, as the admission of the Go operator fills them in."""

import copy
from typing import Any

import pytest

from grove_core.admit import admit
from grove_core.areas.workload.admission.empty_roles import manifest_with_empty_roles
from grove_core.kernel.admission import Deny
from grove_core.rule_sets.named import rule_set
from grove_shell.manifests.schema_validation import verdict_with_schema_objections

Json = dict[str, Any]


def set_with_roles(*roles: str | None) -> Json:
    pod = {"containers": [{"name": "main", "image": "example.com/a:1"}]}
    cliques = [
        {"name": f"c{index}", "spec": {"podSpec": pod, **({} if role is None else {"roleName": role})}}
        for index, role in enumerate(roles)
    ]
    metadata = {"name": "chat", "namespace": "ml"}
    spec = {"replicas": 1, "template": {"cliques": cliques}}
    return {"apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet", "metadata": metadata, "spec": spec}


def refused_paths(raw: Json, rules: str) -> list[str]:
    chosen = rule_set(rules)
    decision = verdict_with_schema_objections(raw, admit(raw, rules=chosen), fills_roles=chosen.fills_roles)
    verdict = decision.verdict
    return [one.path.rpartition("cliques")[2] for one in verdict.objections] if isinstance(verdict, Deny) else []


@pytest.mark.parametrize(
    ("roles", "by_field", "by_design"),
    [
        (("a",), [], []),
        ((None,), [], ["[0].spec.roleName"]),
        (("a", None), [], ["[1].spec.roleName"]),
        ((None, "a", None), ["[2].spec.roleName"], ["[0].spec.roleName", "[2].spec.roleName"]),
        ((None, "", None), ["[1].spec.roleName", "[2].spec.roleName"], ["[0].spec.roleName", "[2].spec.roleName"]),
    ],
)
def test_wf160_one_clique_may_be_without_a_role(
    roles: tuple[str | None, ...], by_field: list[str], by_design: list[str]
) -> None:
    raw = set_with_roles(*roles)
    assert refused_paths(raw, "field") == by_field
    assert refused_paths(raw, "design") == by_design


@pytest.mark.parametrize(
    "raw",
    [
        {},
        {"spec": 1},
        {"spec": {"template": []}},
        {"spec": {"template": {"cliques": {}}}},
        {"spec": {"template": {"cliques": [1, {"name": "a"}, {"spec": 5}, {"spec": {"roleName": "a"}}]}}},
    ],
)
def test_wf160_nothing_else_is_filled_in(raw: Json) -> None:
    before = copy.deepcopy(raw)
    assert manifest_with_empty_roles(raw) == raw == before


def test_wf160_a_null_is_filled_in() -> None:
    raw = {"spec": {"template": {"cliques": [{"spec": {"roleName": None}}]}}}
    assert manifest_with_empty_roles(raw)["spec"]["template"]["cliques"] == [{"spec": {"roleName": ""}}]
