"""``grove validate``: verdicts, objections and warnings of manifests in files."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from grove_shell.cli.main import run_command_line
from tests.property.workload.admission_examples import FULL, Place, changed

POD: Place = ("spec", "template", "cliques", 0, "spec", "podSpec")


def validate(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    code = run_command_line(["validate", *words], "grove")
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
def test_wl157_warnings_are_printed_and_do_not_fail(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path / "new.yaml", changed((*POD, "restartPolicy"), "Never"))
    code, page = validate(capsys, "-f", path)
    assert code == 0
    first, second = page.splitlines()
    assert first.endswith("PodCliqueSet ml/llm: admitted, 1 warning")
    assert second.startswith("  warning: spec.template.cliques[0].spec.podSpec.restartPolicy: ")
    assert "WL-180" in second


@pytest.mark.parametrize("output", ["json", "yaml"])
def test_wl157_documents_carry_them(output: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path / "new.yaml", changed(("spec", "replicas"), -1, changed((*POD, "restartPolicy"), "Never")))
    code, text = validate(capsys, "-f", path, "-o", output)
    assert code == 1
    document: Any = json.loads(text) if output == "json" else yaml.load(text, yaml.CSafeLoader)
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
    assert [line.split()[-3] for line in rest] == ["WL-128", "WL-150", "GT-103"]
    assert validate(capsys, "-f", old, "--old", old)[0] == 0


@pytest.mark.parametrize("file", ["real-cluster.yaml", "degraded.yaml", "manifests/disaggregated.yaml"])
def test_wl157_sets_that_run_are_admitted_as_they_are(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(Path(__file__).parent.parent.parent / "examples" / file)
    code, text = validate(capsys, "-f", path, "--old", path, "-o", "json", "--rules", "design")
    assert code == 0
    verdicts = json.loads(text)["verdicts"]
    assert verdicts
    assert {verdict["verdict"] for verdict in verdicts} == {"Admit"}
    assert [verdict["warnings"] for verdict in verdicts] == [[]] * len(verdicts)


def test_wl190_what_is_left_out_is_judged_by_its_default(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, page = validate(capsys, "-f", written(tmp_path / "new.yaml", new()))
    assert code == 0
    assert page.endswith("PodCliqueSet default/llm: admitted\n")


def test_in039_a_slip_in_a_manifest_is_refused_and_one_in_a_dump_is_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    raw = new()
    raw["spec"]["template"]["cliques"][0]["spec"]["minAvailabe"] = 1
    code, page = validate(capsys, "-f", written(tmp_path / "new.yaml", raw))
    assert code == 1
    assert "spec.template.cliques[0].spec.minAvailabe: unknown field; did you mean minAvailable?  FieldUnknown" in page
    assert "FieldUnknown WL-158" in page.splitlines()[-1]
    raw["metadata"] |= {"uid": "u", "resourceVersion": "1"}
    assert validate(capsys, "-f", written(tmp_path / "stored.yaml", raw))[0] == 0


def test_in030_a_slip_in_a_configuration(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    head = {"apiVersion": "operator.config.grove.io/v1alpha1", "kind": "OperatorConfiguration"}
    levels = [{"domain": "rack", "keys": "example.com/rack"}]
    slips = {"worker": 3, "leaderElection": {"leaseDuratio": "15s"}, "topologyAwareScheduling": {"levels": levels}}
    config = written(tmp_path / "config.yaml", {**head, **slips, "zzz": 1})
    assert run_command_line(["validate", "-f", written(tmp_path / "new.yaml", new()), "--config", config], "grove") == 1
    said = capsys.readouterr().err
    assert "worker: unknown field; did you mean workers?\n" in said
    assert "leaderElection.leaseDuratio: unknown field; did you mean leaseDuration?\n" in said
    assert "topologyAwareScheduling.levels.0.keys: unknown field; did you mean key?\n" in said
    assert "topologyAwareScheduling.levels.0.key: is required\n" in said
    assert "zzz: unknown field\n" in said


def test_cl056_what_cannot_be_read_is_not_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "broken.yaml").write_text("kind: [", encoding="utf-8")
    assert run_command_line(["validate", "-f", str(tmp_path / "broken.yaml")], "grove") == 1
    shown = capsys.readouterr()
    assert (shown.out, shown.err.splitlines()[-1]) == ("", "Nothing was checked.")


def test_in039_a_plan_refuses_it_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    raw = new()
    raw["spec"]["template"]["cliques"][0]["spec"]["podSpec"]["nodeName"] = True
    raw["spec"]["template"]["clique"] = []
    assert run_command_line(["plan", "-f", written(tmp_path / "new.yaml", raw)], "grove") == 1
    said = capsys.readouterr().err
    assert "spec.template.cliques[0].spec.podSpec.nodeName: expected a string, got true" in said
    assert "spec.template.clique: unknown field; did you mean cliques?\n" in said


@pytest.mark.parametrize(
    ("head", "place", "expected"),
    [
        ({"apiVersion": "grove.io/v1"}, "apiVersion", "grove.io/v1alpha1"),
        ({"apiVersion": "grov.io/v1alpha1"}, "apiVersion", "grove.io/v1alpha1"),
        ({"apiVersion": "core.grove.ai/v1alpha1"}, "apiVersion", "grove.io/v1alpha1"),
        ({"apiVersion": "v1"}, "apiVersion", "grove.io/v1alpha1"),
        ({"kind": "PodCliqeSet"}, "kind", "PodCliqueSet"),
        ({"kind": "podcliqueset"}, "kind", "PodCliqueSet"),
        ({"kind": "PodCliqueSets", "apiVersion": "apps/v1"}, "kind", "PodCliqueSet"),
        ({"kind": "ClusterTopolgy"}, "kind", "ClusterTopology"),
        ({"kind": "ClusterTopology", "apiVersion": "grove.io/v1beta1"}, "apiVersion", "grove.io/v1alpha1"),
        ({"kind": "ClusterTopologyBinding", "apiVersion": "grove.io/v1beta1"}, "apiVersion", "grove.io/v1alpha1"),
        (
            {"kind": "Workload"},
            "kind",
            "one of ClusterTopology, ClusterTopologyBinding, PodClique, PodCliqueScalingGroup, PodCliqueSet, PodGang",
        ),
    ],
)
def test_in032_nearly_one_of_ours(
    head: dict[str, str], place: str, expected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    raw = {**new(), **head}
    path = written(tmp_path / "new.yaml", raw)
    reported = f"{place}: expected {expected}, got"
    for command in ("validate", "plan"):
        assert run_command_line([command, "-f", path], "grove") == 1
        assert reported in capsys.readouterr().err
    raw["metadata"]["uid"] = "u"
    run_command_line(["validate", "-f", written(tmp_path / "stored.yaml", raw)], "grove")
    assert reported not in capsys.readouterr().err


@pytest.mark.req("IN-032")
@pytest.mark.parametrize(
    ("version", "kind"),
    [
        ("apps/v1", "Deployment"),
        ("scheduling.run.ai/v2alpha2", "PodGroup"),
        ("serving.knative.dev/v1", "PodClique"),
        ("example.com/v1", "PodCliqueSet"),
        ("grove.io/v1alpha1", "ClusterTopologyBinding"),
        ("apps/v1", "ReplicaSet"),
    ],
)
def test_cl056_others_are_counted_and_nothing_judged_is_no_yes(
    version: str, kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = written(tmp_path / "other.yaml", {"apiVersion": version, "kind": kind, "metadata": {"name": "x"}})
    code, page = validate(capsys, "-f", other)
    assert (code, page) == (1, f"nothing was checked: no PodCliqueSet in the input\nnot checked: 1 {kind}\n")
    both = ("-f", other, "-f", written(tmp_path / "new.yaml", new()))
    code, page = validate(capsys, *both)
    assert (code, page.splitlines()[-1]) == (0, f"not checked: 1 {kind}")
    assert json.loads(validate(capsys, *both, "-o", "json")[1])["notJudged"] == {kind: 1}


@pytest.mark.req("IN-032")
def test_cl056_an_object_of_no_kind_is_a_fault(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["validate", "-f", written(tmp_path / "values.yaml", {"replicas": 3})], "grove") == 1
    assert "kind: expected a string, got nothing" in capsys.readouterr().err


def test_wl117_two_manifests_of_one_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = new("a"), new("a-0")
    first["spec"]["template"]["cliques"][0]["name"] = "0-a"
    first["spec"]["replicas"] = second["spec"]["replicas"] = 1
    one, two = written(tmp_path / "1.yaml", first), written(tmp_path / "2.yaml", second)
    code, page = validate(capsys, "-f", one, "-f", two)
    assert code == 1
    assert "its PodClique a-0-0-a would be one of PodCliqueSet a-0 too" in page
    assert "its PodClique a-0-0-a would be one of PodCliqueSet a too" in page
    code, page = validate(capsys, "-f", two, "--old", one)
    assert code == 1
    assert "PodCliqueSet default/a-0: refused, 1 problem" in page
    assert validate(capsys, "-f", two)[0] == 0
    second["metadata"]["uid"] = "u"
    assert validate(capsys, "-f", two, "--old", one, "--old", written(tmp_path / "3.yaml", second))[0] == 0


def test_wl117_a_plan_refuses_it_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = new("a"), new("a-0")
    first["spec"]["template"]["cliques"][0]["name"] = "0-a"
    one, two = written(tmp_path / "1.yaml", first), written(tmp_path / "2.yaml", second)
    assert run_command_line(["plan", "-f", one, "-f", two], "grove") == 1
    assert "its PodClique a-0-0-a would be one of PodCliqueSet a too" in capsys.readouterr().err
    second["metadata"] |= {"uid": "u", "resourceVersion": "1"}
    assert run_command_line(["plan", "-f", one, "-f", written(tmp_path / "3.yaml", second)], "grove") == 1
    assert "its PodClique a-0-0-a would be one of PodCliqueSet a-0 too" in capsys.readouterr().err
    assert run_command_line(["plan", "-f", one], "grove") == 0


@pytest.mark.req("IN-030")
def test_wl157_what_no_terminal_can_show_is_escaped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    odd = written(
        tmp_path / "odd.yaml",
        {
            "apiVersion": "grove.io/v1alpha1",
            "kind": "PodCliqueSet",
            "metadata": {"name": "llm", "namespace": "\x1b[31m"},
        },
    )
    assert run_command_line(["validate", "-f", odd, "--old", written(tmp_path / "old.yaml", FULL)], "grove") == 1
    said = capsys.readouterr().err
    assert "no earlier version of \\x1b[31m/llm in --old" in said


@pytest.mark.req("CL-056")
def test_in032_a_set_without_a_version_is_bad_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Beside one that is admitted, too."""
    lacking = {key: value for key, value in new().items() if key != "apiVersion"}
    files = ("-f", written(tmp_path / "good.yaml", new("chat")), "-f", written(tmp_path / "new.yaml", lacking))
    assert run_command_line(["validate", *files], "grove") == 1
    said = capsys.readouterr()
    assert "PodCliqueSet default/chat: admitted" in said.out
    assert "new.yaml: document 1, PodCliqueSet llm, apiVersion: expected a string, got nothing" in said.err


def test_in032_two_that_differ_and_have_one_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of the same manifest twice, or of two namespaces, there is nothing to say; each is judged all the same."""
    first, other = written(tmp_path / "a.yaml", new()), written(tmp_path / "b.yaml", new(terminationDelay="1h"))
    elsewhere = new(terminationDelay="2h")
    elsewhere["metadata"]["namespace"] = "prod"
    assert run_command_line(["validate", "-f", first, "-f", other], "grove") == 1
    said = capsys.readouterr()
    assert said.out.count("PodCliqueSet default/llm: admitted") == 2
    problem = "PodCliqueSet default/llm, metadata.name: expected one manifest of this name, got 2 that differ"
    assert [problem in line for line in said.err.splitlines()] == [False, True, True, False]
    assert run_command_line(["validate", "-f", first, "-f", first], "grove") == 0
    stored = new()
    stored["metadata"] |= {"uid": "u", "resourceVersion": "1"}
    assert run_command_line(["validate", "-f", written(tmp_path / "d.yaml", stored), "-f", other], "grove") == 0, (
        "it and its edit"
    )
    assert run_command_line(["validate", "-f", first, "-f", written(tmp_path / "c.yaml", elsewhere)], "grove") == 0


def test_cl001_standard_input_is_read_once(capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("validate", "plan", "explain"):
        assert run_command_line([command, "-f", "-", "-f", "-"], "grove") == 64
        assert "'-' (standard input) may be given once only" in capsys.readouterr().err
