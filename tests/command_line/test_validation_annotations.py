"""`grove validate` for code review: lines, annotations of GitHub Actions, SARIF."""

import io
import json
from pathlib import Path
from typing import Any, Final

import pytest

from grove_shell.cli.main import run_command_line
from grove_shell.reading.field_positions import FieldPositions
from grove_shell.reading.input_items import InputItem

MANIFEST: Final = """\
---
# no object
---
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata:
  name: llm
  labels: {example.com/team: a}
spec:
  replicas: 1
  template:
    cliques:
      - name: worker
        spec:
          roleName: worker
          replicas: 2
          minAvailable: 3
          podSpec: {containers: [{name: m, image: i}]}
"""
TABBED: Final = "apiVersion: grove.io/v1alpha1\nkind: PodCliqueSet\nmetadata:\n\tname: x\n"
PATH: Final = "spec.template.cliques[0].spec.minAvailable"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a, b.yaml").write_text(MANIFEST, encoding="utf-8")
    (tmp_path / "tab.yaml").write_text(TABBED, encoding="utf-8")
    return tmp_path


def validated(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = run_command_line(["validate", *words], "grove")
    printed = capsys.readouterr()
    return code, printed.out, printed.err


@pytest.mark.req("CL-086")
class TestGitHub:
    """Workflow commands, one a line."""

    def test_each_problem_has_its_place(self, capsys: pytest.CaptureFixture[str]) -> None:
        code, out, err = validated(capsys, "-f", ".", "-o", "github")
        assert (code, err) == (1, "")
        tab, needed = out.splitlines()
        assert tab.startswith(
            "::error file=tab.yaml,line=4,col=1,title=BadInput IN-030::document 1: a tab for indentation"
        )
        assert "or %25" in tab
        assert needed == (
            "::error file=a%2C b.yaml,line=17,col=11,title=CliqueThresholdOutOfRange GT-094::PodCliqueSet default/llm:"
            f" {PATH}: must be between 1 and the clique's replicas (2), got 3"
        )

    def test_warnings_do_not_fail(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        text = MANIFEST.replace("minAvailable: 3", "minAvailable: 2").replace(
            "image: i}]", "image: i}], restartPolicy: Never"
        )
        (folder / "a, b.yaml").write_text(text, encoding="utf-8")
        code, out, _ = validated(capsys, "-f", "a, b.yaml", "-o", "github")
        assert code == 0
        assert out.startswith("::warning file=a%2C b.yaml,line=18,col=")

    def test_nothing_checked_is_an_error(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (folder / "a, b.yaml").write_text("apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n", encoding="utf-8")
        code, out, _ = validated(capsys, "-f", "a, b.yaml", "-o", "github")
        assert (code, out) == (
            1,
            "::error title=NothingChecked CL-056::nothing was checked: no PodCliqueSet in the input\n",
        )


@pytest.mark.req("CL-086")
def test_cl086_sarif(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = validated(capsys, "-f", "a, b.yaml", "-f", str(folder / "tab.yaml"), "-o", "sarif")
    assert (code, err) == (1, "")
    document = json.loads(out)
    (run,) = document["runs"]
    assert document["version"] == "2.1.0"
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["GT-094", "IN-030"]
    places = {
        result["ruleId"]: result["locations"][0]["physicalLocation"] | {"level": result["level"]}
        for result in run["results"]
    }
    assert places["GT-094"] == {
        "artifactLocation": {"uri": "a%2C%20b.yaml"},
        "region": {"startLine": 17, "startColumn": 11},
        "level": "error",
    }
    assert places["IN-030"]["artifactLocation"]["uri"] == (folder / "tab.yaml").as_uri()


@pytest.mark.req("CL-086")
@pytest.mark.parametrize(("given", "uri"), [("a, b.yaml", "a%2C%20b.yaml"), (".", "."), ("-", "stdin")])
def test_cl086_every_result_of_sarif_has_a_place(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, given: str, uri: str
) -> None:
    """GitHub's code scanning refuses the whole log for one result without a place."""
    text = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n"
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    (folder / "tab.yaml").unlink()
    (folder / "a, b.yaml").write_text(text, encoding="utf-8")
    code, out, _ = validated(capsys, "-f", given, "-o", "sarif")
    (result,) = json.loads(out)["runs"][0]["results"]
    assert (code, result["ruleId"]) == (1, "CL-056")
    assert result["locations"] == [{"physicalLocation": {"artifactLocation": {"uri": uri}}}]


@pytest.mark.req("IN-074")
class TestPlaces:
    """The line and column of a field."""

    @pytest.mark.parametrize(
        ("path", "place"),
        [
            ("spec.replicas", (10, 3)),
            ("spec.template.cliques[0]", (13, 9)),
            (PATH, (17, 11)),
            ("spec.template.cliques[worker].spec.replicas", (16, 11)),
            ("metadata.labels.example.com/team", (8, 12)),
            ("metadata.labels[example.com/team]", (8, 12)),
            ("spec.template.cliques[0].spec.podSpec.volumes[2].name", (18, 11)),
            ("spec.template.cliques[7].spec", (12, 5)),
            ("spec.template.cliques[other].spec", (12, 5)),
            ("status.phase", (4, 1)),
            ("", (4, 1)),
        ],
    )
    def test_of_a_document(self, path: str, place: tuple[int, int]) -> None:
        assert FieldPositions().position_of(InputItem("a, b.yaml", 2, -1, {}), path) == place

    def test_of_an_object_in_a_list(self, folder: Path) -> None:
        items: list[dict[str, Any]] = [{"kind": "A"}, {"kind": "B", "spec": {"x": 1}}]
        text = json.dumps({"kind": "List", "items": items}, indent=1)
        (folder / "list.json").write_text(text, encoding="utf-8")
        line = next(at for at, one in enumerate(text.splitlines(), 1) if '"x"' in one)
        found = FieldPositions().position_of(InputItem("list.json", 1, 1, items[1]), "spec.x")
        assert found is not None
        assert found[0] == line

    @pytest.mark.parametrize("file", ["stdin", "nowhere.yaml", ".", "tab.yaml"])
    def test_there_is_none(self, file: str) -> None:
        assert FieldPositions().position_of(InputItem(file, 1, -1, {}), "spec") is None

    def test_the_page_and_the_document_have_it(self, capsys: pytest.CaptureFixture[str]) -> None:
        _, page, _ = validated(capsys, "-f", "a, b.yaml")
        assert page.splitlines()[1].endswith("CliqueThresholdOutOfRange GT-094  line 17")
        _, text, _ = validated(capsys, "-f", "a, b.yaml", "-o", "json")
        (objection,) = json.loads(text)["verdicts"][0]["objections"]
        assert (objection["line"], objection["column"]) == (17, 11)


def test_gt094_is_not_reported_beside_a_clique_without_pods(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "a, b.yaml").write_text(MANIFEST.replace("replicas: 2", "replicas: 0"), encoding="utf-8")
    _, page, _ = validated(capsys, "-f", "a, b.yaml", "--rules", "design")
    assert page.splitlines()[0].endswith("refused, 1 problem")
    assert "GT-096" in page


def test_wl185_is_not_reported_beside_a_missing_pod_spec(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "a, b.yaml").write_text(MANIFEST.replace("podSpec:", "podspec:"), encoding="utf-8")
    _, page, _ = validated(capsys, "-f", "a, b.yaml")
    assert "podSpec: is required" in page
    assert "WL-185" not in page
