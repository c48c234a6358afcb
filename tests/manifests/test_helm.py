"""The chart by Helm itself, without a cluster: lint, template, refused values, and the package in a registry."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from tests.manifests.chart import CHART
from tests.manifests.chart_cases import ALL_ON, CONFIGURATIONS, HARMFUL, REFUSED, all_changed
from tests.manifests.chart_registry import pushed_chart
from tests.manifests.chart_rendering import (
    by_name,
    documents,
    helm,
    helm_documents,
    needs_helm,
    with_values,
)

Json = dict[str, Any]
ON_PURPOSE: Final = (
    "CPU limit is not set",
    "ImagePullPolicy is not set to Always",
    "does not have a matching NetworkPolicy",
    "does not have a host podAntiAffinity set",
)
"""What kube-score finds in the chart with its default values; docs/how-to/install-the-operator.md says why."""

pytestmark = needs_helm


CASES: Final[dict[str, Json]] = {
    "defaults": {},
    "all on": ALL_ON,
    "all changed": all_changed(),
    **{name: {"config": one, "preview": {"enabled": True}} for name, one in CONFIGURATIONS.items() if one},
    "alone": {"operator": {"enabled": False}, "webhooks": {"enabled": False}, "preview": {"enabled": True}},
}


@pytest.mark.req("MF-035")
@pytest.mark.req("MF-036")
@pytest.mark.req("AL-013")
@pytest.mark.parametrize("case", CASES)
def test_mf027_helm_renders_what_is_rendered_without_it(case: str) -> None:
    assert by_name(helm_documents(CASES[case])) == by_name(documents(CASES[case]))


@pytest.mark.parametrize("case", ["defaults", "all on", "all changed", "alone"])
def test_mf036_helm_finds_no_fault(case: str, tmp_path: Path) -> None:
    file = tmp_path / "values.json"
    file.write_text(json.dumps(CASES[case]), encoding="utf-8")
    said = helm("lint", "--strict", str(CHART), "-f", str(file), folder=tmp_path).stdout
    assert "0 chart(s) failed" in said
    assert "WARNING" not in said


@pytest.mark.parametrize("setting", REFUSED)
def test_mf037_helm_refuses_other_values(setting: str, tmp_path: Path) -> None:
    said = helm("template", "grove", str(CHART), "--set", setting, folder=tmp_path, code=1).stderr
    assert REFUSED[setting] in said


def test_mf037_a_refused_value_is_shown_as_in_the_how_to(tmp_path: Path) -> None:
    said = helm("template", "grove", str(CHART), "--set", "config.wrokers=32", folder=tmp_path, code=1).stderr
    page = (CHART.parents[2] / "docs" / "how-to" / "install-the-operator.md").read_text(encoding="utf-8")
    assert said.removeprefix("Error: ").strip() in page


@pytest.mark.parametrize("name", HARMFUL)
def test_mf041_helm_refuses_a_harmful_combination(name: str, tmp_path: Path) -> None:
    values, words = HARMFUL[name]
    file = tmp_path / "values.json"
    file.write_text(json.dumps(values), encoding="utf-8")
    said = helm("template", "grove", str(CHART), "-f", str(file), folder=tmp_path, code=1).stderr
    assert words in said


def test_mf045_a_registry_has_the_same_chart(tmp_path: Path) -> None:
    with pushed_chart(tmp_path) as (chart, *version):
        rendered = helm("template", "grove", chart, *version, folder=tmp_path).stdout
        definitions = helm("show", "crds", chart, *version, folder=tmp_path).stdout
    found = [one for one in yaml.load_all(rendered, yaml.CSafeLoader) if one is not None]
    assert by_name(found) == by_name(documents(namespace="default"))
    names = {one["metadata"]["name"] for one in yaml.load_all(definitions, yaml.CSafeLoader) if one}
    assert names == {path.stem for path in (CHART / "crds").iterdir()}


@pytest.mark.skipif(shutil.which("kube-score") is None, reason="needs kube-score")
@pytest.mark.req("MF-044")
def test_mf023_kube_score_finds_what_is_on_purpose(tmp_path: Path) -> None:
    def score(values: Json) -> set[str]:
        """Return what it finds, without the name of the object."""
        file = tmp_path / "all.yaml"
        file.write_text("---\n".join(yaml.safe_dump(one) for one in helm_documents(values)), encoding="utf-8")
        ran = subprocess.run(
            ["kube-score", "score", "-o", "ci", str(file)], capture_output=True, text=True, check=False
        )
        return {line for line in ran.stdout.splitlines() if line.startswith(("[CRITICAL]", "[WARNING]"))}

    found = score({})
    assert {words for words in ON_PURPOSE if any(line.endswith(words) for line in found)} == set(ON_PURPOSE)
    assert [line for line in found if not line.endswith(ON_PURPOSE)] == []
    limits = {"resources": {"limits": {"cpu": "1"}}}
    strict = {"imagePullPolicy": "Always", **dict.fromkeys(("operator", "webhooks", "preview"), limits)}
    assert {line.partition(": ")[2] for line in score(with_values(ALL_ON, strict))} == {
        "Deployment does not have a host podAntiAffinity set"
    }
