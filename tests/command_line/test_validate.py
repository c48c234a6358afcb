"""``grove validate``: verdicts, objections and warnings of manifests in files."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from grove_shell.cli.main import run
from tests.property.workload.verdicts import FULL, Place, changed

POD: Place = ("spec", "template", "cliques", 0, "spec", "podSpec")


def validate(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    code = run(["validate", *words], "grove")
    return code, capsys.readouterr().out


def new(name: str = "llm", **more: object) -> Any:
    """A set that no cluster has seen."""
    spec = {"roleName": "a", "podSpec": {"containers": [{"name": "main", "image": "x"}]}}
    return {
        "apiVersion": "grove.io/v1alpha1",
        "kind": "PodCliqueSet",
        "metadata": {"name": name},
        "spec": {"template": {"cliques": [{"name": "a", "spec": spec}], **more}},
    }


def written(path: Path, raw: object) -> str:
    path.write_text(yaml.safe_dump(raw), encoding="utf-8")
    return str(path)


@pytest.mark.req("WL-180")
def test_wl183_warnings_are_printed_and_do_not_fail(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path / "new.yaml", changed((*POD, "restartPolicy"), "Never"))
    code, page = validate(capsys, "-f", path)
    assert code == 0
    first, second = page.splitlines()
    assert first.endswith("PodCliqueSet ml/llm: admitted, 1 warning")
    assert second.startswith("  warning: spec.template.cliques[0].spec.podSpec.restartPolicy: ")
    assert second.endswith("WL-180")


@pytest.mark.parametrize("output", ["json", "yaml"])
def test_wl183_documents_carry_them(output: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path / "new.yaml", changed(("spec", "replicas"), -1, changed((*POD, "restartPolicy"), "Never")))
    code, text = validate(capsys, "-f", path, "-o", output)
    assert code == 1
    document: Any = json.loads(text) if output == "json" else yaml.safe_load(text)
    (verdict,) = document["verdicts"]
    assert verdict["verdict"] == "Deny"
    assert [found["requirement"] for found in verdict["objections"]] == ["GT-096"]
    assert [found["requirement"] for found in verdict["warnings"]] == ["WL-180"]
    assert verdict["warnings"][0]["got"] == '"Never"'


def test_wl157_a_change_and_a_mistake_are_one_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    new = changed(("spec", "template", "cliques", 1, "spec", "roleName"), "router")
    new = changed(("spec", "template", "podCliqueScalingGroups", 0, "cliqueNames"), ["leader", 5], new)
    old = written(tmp_path / "old.yaml", FULL)
    code, page = validate(capsys, "-f", written(tmp_path / "new.yaml", new), "--old", old)
    assert code == 1
    first, *rest = page.splitlines()
    assert first.endswith("refused, 3 problems")
    assert [line.split()[-1] for line in rest] == ["WL-128", "WL-150", "GT-103"]
    assert validate(capsys, "-f", old, "--old", old)[0] == 0


@pytest.mark.parametrize("file", ["real-cluster.yaml", "degraded.yaml", "manifests/disaggregated.yaml"])
def test_wl157_sets_that_run_are_admitted_as_they_are(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(Path(__file__).parent.parent.parent / "examples" / file)
    code, text = validate(capsys, "-f", path, "--old", path, "-o", "json")
    assert code == 0
    verdicts = json.loads(text)["verdicts"]
    assert verdicts
    assert {verdict["verdict"] for verdict in verdicts} == {"Admit"}
    assert [verdict["warnings"] for verdict in verdicts] == [[]] * len(verdicts)


def test_wl190_what_is_left_out_is_judged_by_its_default(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, page = validate(capsys, "-f", written(tmp_path / "new.yaml", new()))
    assert code == 0
    assert page.endswith("PodCliqueSet default/llm: admitted\n")
