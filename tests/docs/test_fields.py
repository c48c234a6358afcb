"""The page of fields has every field, and says of each what the definitions and admission say."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

import grove_core.areas
from docs.generator.fields import (
    additions,
    anchor_of,
    fields_of_kind,
    fields_page,
    looked_up,
    meaning_of,
    rules_of,
    section_of,
    set_by,
)
from grove_core.areas.workload.admission.manifest_defaults import podcliqueset_with_defaults
from grove_core.kernel.reasons import Rule
from grove_shell.catalogue.specification_rules import specification_rules_by_number

KINDS: Final = ("PodCliqueSet", "PodClique", "PodCliqueScalingGroup", "ClusterTopology")
WRITTEN: Final = ("PodCliqueSet", "ClusterTopology")
EVERY: Final = [(kind, field) for kind in KINDS for field in fields_of_kind(kind)]
PATHS: Final = tuple(field.path for _, field in EVERY)
NUMBER: Final = re.compile(r"[A-Z]{2}-\d{3}")
LAST: Final = re.compile(r"\.([A-Za-z]+)(?:\[[^\]]*\])?$")


def cited() -> set[str]:
    """Every rule that a field or an annotation has."""
    rows = [*additions()["rules"].values(), *(rules for *_, rules in additions()["annotations"])]
    return {number for row in rows for number in row}


def test_every_field_has_a_meaning_and_a_place() -> None:
    for kind, field in EVERY:
        if field.path in {"metadata", "spec", "status"}:
            continue
        assert meaning_of(kind, field), field.path
        name = field.path.rpartition(".")[2]
        section = section_of(kind, field.path)
        if section:
            row = "" if _heading(kind, field.path) in fields_page() else f"| `{_below(section, field.path)}` |"
            table = fields_page().partition(_heading(kind, section))[2].partition("\n###")[0]
            assert table, section
            assert row in table, field.path
        else:  # several places have it, and it is shown at one of them
            assert any(path.endswith(f".{name}") and section_of(kind, path) for path in PATHS), field.path
        assert looked_up("meanings", field.path) is None or not field.schema.get("description"), field.path


def _heading(kind: str, section: str) -> str:
    return f"### {section} {{ #{anchor_of(kind, section)} }}\n"


def _below(section: str, path: str) -> str:
    return path.removeprefix(section).removeprefix("[]").removeprefix(".")


def test_every_admission_rule_is_at_a_field_or_has_none() -> None:
    known = specification_rules_by_number()
    elsewhere = set(additions()["elsewhere"])
    assert not cited() - known.keys()
    assert not (cited() & elsewhere)
    admission = {number for number, rule in known.items() if rule.rule_kind == "admission"}
    assert admission - cited() - elsewhere == set()
    assert elsewhere <= known.keys()


@pytest.mark.parametrize("part", ["rules", "meanings", "defaults"])
def test_no_line_is_about_a_field_that_does_not_exist(part: str) -> None:
    paths = {path for kind, field in EVERY for path in (field.path, f"{kind} {field.path}")}
    for key in additions()[part]:
        assert key in paths or (key[0] == "*" and any(path.endswith(key[1:]) for path in paths)), key


def test_the_rules_that_an_api_server_checks_itself_are_there() -> None:
    for kind, field in EVERY:
        below = (
            {one.path for one in fields_of_kind(kind) if one.path.startswith(field.path)} if kind in WRITTEN else set()
        )
        there = {number for path in below for number in rules_of(kind, path)}
        for check in (*_checks(field.schema), *_checks(field.schema.get("items", {}))):
            assert set(NUMBER.findall(check["message"])) <= there or kind not in WRITTEN, (field.path, check)


def _checks(schema: Any) -> Iterator[Any]:
    yield from schema.get("x-kubernetes-validations", ())


def test_a_field_is_fixed_where_the_definition_compares_it_with_its_old_value() -> None:
    fixed = {field.path for kind, field in EVERY for one in _checks(field.schema) if one["rule"] == "self == oldSelf"}
    assert len(fixed) >= 4
    assert {set_by("PodCliqueSet", path) for path in fixed} == {"user; fixed"}
    assert set_by("PodCliqueSet", "spec.template.resourceSharing[].scope") == "user; fixed"
    assert set_by("PodCliqueSet", "spec.template.cliques") == "user; members fixed"
    assert set_by("PodCliqueSet", "spec.template.terminationDelay") == "user"
    assert set_by("ClusterTopology", "spec.levels[].key") == "user; fixed while bound"
    assert set_by("PodClique", "spec.replicas") == "operator; user, autoscaler"


def test_admission_judges_a_field_by_the_rules_that_it_has() -> None:
    members = _rules_by_member_name()
    judged = list(_judged_fields())
    assert len(judged) > 40
    for name, member in judged:
        of_field = {
            number for kind, field in EVERY for number in rules_of(kind, field.path) if field.path.endswith(f".{name}")
        }
        of_pods = set(rules_of("PodCliqueSet", "spec.template.cliques[].spec.podSpec"))
        assert members[member] & (of_field | of_pods), (name, member)


def _rules_by_member_name() -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for family in Rule.__subclasses__():
        for member in family:
            found.setdefault(member.name, set()).add(member.requirement)
    return found


def _judged_fields() -> Iterator[tuple[str, str]]:
    """Yield field and rule of each ``BadField`` in the core whose path ends in the name of a field."""
    for path in Path(grove_core.areas.__path__[0]).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "BadField":
                place = LAST.search(ast.unparse(node.args[0]).strip("f'\""))
                rules = [one.attr for one in node.args if isinstance(one, ast.Attribute) and one.attr.isupper()]
                if place and rules and place[1] not in {"path", "requests"}:
                    yield place[1], rules[0]


def test_defaults_are_those_that_admission_fills_in() -> None:
    clique = {"name": "a", "spec": {"roleName": "a", "replicas": 3, "autoScalingConfig": {"maxReplicas": 5}}}
    group = {"name": "g", "cliqueNames": ["a"], "replicas": 2, "scaleConfig": {"maxReplicas": 5}}
    template = {"cliques": [clique], "podCliqueScalingGroups": [group]}
    made = podcliqueset_with_defaults({"spec": {"updateStrategy": {}, "template": template}})["spec"]
    (filled,), (grouped,) = made["template"]["cliques"], made["template"]["podCliqueScalingGroups"]
    assert filled["spec"]["minAvailable"] == filled["spec"]["autoScalingConfig"]["minReplicas"] == 3
    assert grouped["scaleConfig"]["minReplicas"] == 2
    page = fields_page()
    for path, default in (
        ("replicas", made["replicas"]),
        ("updateStrategy.type", made["updateStrategy"]["type"]),
        ("cliqueStartupType", made["template"]["cliqueStartupType"]),
        ("minAvailable", "replicas"),
        ("autoScalingConfig.minReplicas", "replicas"),
        ("scaleConfig.minReplicas", "replicas"),
        ("minAvailable", grouped["minAvailable"]),
    ):
        assert re.search(rf"^\| `{re.escape(path)}` \| [^|]+ \| `{default}` \| user", page, re.MULTILINE), path


def test_the_pod_spec_is_a_link_and_not_repeated() -> None:
    assert "[PodSpec of Kubernetes](https://kubernetes.io/" in fields_page()
    assert not [field.path for _, field in EVERY if ".podSpec." in field.path]
