"""Roles, numbers of pods and quantities, as the admission of the Go operator writes them (WF-160, WF-166, WF-167)."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from grove_core.admit import admit
from grove_core.areas.workload.field.manifest_defaults import manifest_with_go_operator_defaults
from grove_core.kernel.admission import Deny
from grove_core.resources.quantities import canonical_quantity
from grove_core.rule_sets.rule_set_by_name import rule_set
from grove_shell.cli.main import run_command_line
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
    decision = verdict_with_schema_objections(chosen.admission.defaults(raw), admit(raw, rules=chosen))
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
    assert manifest_with_go_operator_defaults(raw) == raw == before


def test_wf160_a_null_is_filled_in() -> None:
    raw = {"spec": {"template": {"cliques": [{"spec": {"roleName": None}}]}}}
    assert manifest_with_go_operator_defaults(raw)["spec"]["template"]["cliques"] == [{"spec": {"roleName": ""}}]


@pytest.mark.parametrize("written", [None, 0, 1, 3, False, 0.0, "0", -1])
def test_wf166_zero_replicas_become_one(written: object) -> None:
    raw = set_with_roles("a", "b")
    raw["spec"]["template"]["cliques"][1]["spec"]["replicas"] = written
    filled = manifest_with_go_operator_defaults(raw)
    is_zero = written == 0 and type(written) is int
    assert filled["spec"]["template"]["cliques"][1]["spec"]["replicas"] == (1 if is_zero else written)
    by_field, by_design = (admit(raw, rules=rule_set(rules)).verdict for rules in ("field", "design"))
    warned = [(one.path, one.reason.rule.requirement) for one in by_field.warnings]
    place = "spec.template.cliques[1].spec.replicas"
    assert ((place, "WF-166") in warned) is is_zero
    if is_zero:
        assert not isinstance(by_field, Deny)
        assert isinstance(by_design, Deny)


def test_wf166_an_edit_to_zero_is_planned_as_one_and_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As with an edit that sets the replicas of a clique to zero because it is not needed."""
    there, edit = set_with_roles("a", "b"), set_with_roles("a", "b")
    there["metadata"] |= {"uid": "u", "resourceVersion": "7", "generation": 1}
    for clique in there["spec"]["template"]["cliques"]:
        clique["spec"] |= {"replicas": 2, "minAvailable": 1}
    edit["spec"]["template"]["cliques"][1]["spec"]["replicas"] = 0
    for name, raw in (("there.json", there), ("edit.json", edit)):
        (tmp_path / name).write_text(json.dumps(raw), encoding="utf-8")
    files = ["-f", str(tmp_path / "there.json"), "-f", str(tmp_path / "edit.json")]
    assert (
        run_command_line(["plan", *files, "--rules", "field", "--complete", "pcs,pcsg,pclq,podgangs,pods"], "grove")
        == 0
    )
    page = capsys.readouterr().out
    assert "cliques[1].spec.replicas: the Go operator stores 1 in its place" in page
    assert "creates 2 pods" in page
    assert run_command_line(["plan", *files, "--rules", "design"], "grove") == 1


def test_wf167_quantities_of_pods_are_canonical() -> None:
    raw = set_with_roles("a")
    (clique,) = raw["spec"]["template"]["cliques"]
    amounts = {"limits": {"cpu": "1000m", "memory": "2048Mi"}, "requests": {"cpu": 1, "note": "1000m of cpu"}}
    divisor = {"name": "MEMORY", "valueFrom": {"resourceFieldRef": {"resource": "limits.memory", "divisor": "1024Ki"}}}
    pod = clique["spec"]["podSpec"]
    pod["containers"][0] |= {"resources": amounts, "env": [divisor, {"name": "CPU", "value": "1000m"}]}
    pod["volumes"] = [{"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "1024Mi"}}]
    (stored,) = manifest_with_go_operator_defaults(raw)["spec"]["template"]["cliques"]
    (container,) = stored["spec"]["podSpec"]["containers"]
    assert container["resources"] == {
        "limits": {"cpu": "1", "memory": "2Gi"},
        "requests": {"cpu": "1", "note": "1000m of cpu"},
    }
    assert container["env"][0]["valueFrom"]["resourceFieldRef"]["divisor"] == "1Mi"
    assert container["env"][1]["value"] == "1000m"
    assert stored["spec"]["podSpec"]["volumes"][0]["emptyDir"]["sizeLimit"] == "1Gi"


@pytest.mark.parametrize(
    ("written", "stored"),
    [
        *(("1", "1"), ("1000m", "1"), ("1500m", "1500m"), ("0.5", "500m"), ("1000", "1k"), ("1500", "1500")),
        *(("1000k", "1M"), ("1024", "1024"), ("1024Ki", "1Mi"), ("1024Mi", "1Gi"), ("1000Mi", "1000Mi")),
        *(("0.5Gi", "512Mi"), ("1.5Gi", "1536Mi"), ("1e3", "1e3"), ("1E3", "1E3"), ("0", "0"), ("0Gi", "0")),
        *(("-1000m", "-1"), ("0.1m", "100u"), ("0.1n", "0.1n"), ("0.5Ki", "512"), ("0.3Mi", "314572800m")),
        *(("2E", "2E"), ("2Ei", "2Ei"), ("1.0Gi", "1Gi"), ("1048576Ki", "1Gi"), ("0.001Ki", "1024m")),
        *((1, "1"), (0, "0"), (True, True), (None, None), ("a lot", "a lot")),
    ],
)
def test_wf167_forms_of_quantities(written: Any, stored: Any) -> None:
    """The forms are those that resource.Quantity of Kubernetes prints."""
    assert canonical_quantity(written) == stored
