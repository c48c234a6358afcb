"""MNNVL on the command line: a configuration beside the input, the preflight, and explaining a ComputeDomain."""

import json
from pathlib import Path

import pytest

from grove_core.areas.topology.admit import NOTHING_KNOWN
from grove_core.kernel.admission import Deny
from grove_core.resources.configuration import DEFAULT_CONFIGURATION
from grove_core.rule_sets.rule_set_by_name import rule_set
from grove_shell.cli.main import run_command_line
from grove_shell.simulator.cluster.simulated_admission import simulated_admission_for_rules

MANIFEST = {
    "apiVersion": "grove.io/v1alpha1",
    "kind": "PodCliqueSet",
    "metadata": {"name": "llm", "annotations": {"grove.io/mnnvl-scope": "clique"}},
    "spec": {
        "replicas": 2,
        "template": {
            "cliques": [
                {
                    "name": "a",
                    "spec": {
                        "roleName": "a",
                        "podSpec": {
                            "containers": [
                                {"name": "m", "image": "x", "resources": {"limits": {"nvidia.com/gpu": "8"}}}
                            ]
                        },
                    },
                }
            ]
        },
    },
}


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("on.yaml").write_text("mnnvl: {enabled: true}", encoding="utf-8")
    Path("off.yaml").write_text("mnnvl: {enabled: false}", encoding="utf-8")
    Path("wrong.yaml").write_text("mnnvl: {enabled: 1, mode: x}", encoding="utf-8")
    Path("pcs.json").write_text(json.dumps(MANIFEST), encoding="utf-8")
    for name, offers in (("with", "nvidia"), ("without", "none")):
        taken = {
            "apiVersion": "snapshot.grove.io/v1",
            "kind": "Snapshot",
            "metadata": {"name": "snapshot"},
            "takenAt": "2026-11-20T09:00:00Z",
            "server": "https://there",
            "offers": {"computeDomains": offers},
        }
        Path(f"{name}.json").write_text(json.dumps(taken), encoding="utf-8")
    return tmp_path


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("config", "cluster", "code", "words"),
    [
        ("on.yaml", "with.json", 0, "would start"),
        ("on.yaml", "without.json", 1, "would not start: mnnvl is enabled and the server has no ComputeDomains"),
        ("on.yaml", "pcs.json", 1, "unknown"),
        ("off.yaml", "without.json", 0, "would start"),
        ("off.yaml", "pcs.json", 0, "would start"),
    ],
)
@pytest.mark.req("MN-061")
def test_cl032_the_start_is_judged_before(
    capsys: pytest.CaptureFixture[str], config: str, cluster: str, code: int, words: str
) -> None:
    assert run_command_line(["validate", "--preflight", "--config", config, "-f", cluster], "grove") == code
    assert capsys.readouterr().out.startswith(words)


@pytest.mark.usefixtures("files")
def test_cl032_a_configuration_that_does_not_read_is_reported_in_full(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["validate", "--preflight", "--config", "wrong.yaml", "-f", "with.json"], "grove") == 1
    reported = capsys.readouterr().err
    assert "mnnvl.enabled" in reported
    assert "mnnvl.mode" in reported


@pytest.mark.usefixtures("files")
def test_cl032_without_a_configuration_the_default_one_is_checked(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["validate", "--preflight", "-f", "with.json"], "grove") == 0
    reported = capsys.readouterr()
    assert reported.out.startswith("would start\n")
    assert reported.err.startswith("note: an operator with the default configuration is checked; ")


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    "words",
    [
        ["--preflight"],
        ["--preflight", "-f", "with.json", "--config", "on.yaml", "--old", "nothere.yaml"],
        ["--preflight", "-f", "with.json", "--config", "on.yaml", "-o", "json"],
        ["--preflight", "-f", "with.json", "--config", "on.yaml", "--rules", "field"],
        ["--preflight", "--config", "on.yaml"],
        ["--live", "-f", "pcs.json"],
        [],
    ],
)
def test_cl032_what_belongs_together_is_said(words: list[str]) -> None:
    assert run_command_line(["validate", *words], "grove") == 64


@pytest.mark.usefixtures("files")
def test_mn061_a_plan_for_an_operator_that_would_not_start_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["plan", "--config", "on.yaml", "-f", "pcs.json", "-f", "without.json"], "grove") == 1
    assert "no ComputeDomains" in capsys.readouterr().err
    assert run_command_line(["plan", "--config", "on.yaml", "-f", "pcs.json", "-f", "with.json"], "grove") == 0


@pytest.mark.usefixtures("files")
@pytest.mark.req("MN-074")
def test_cl055_validate_judges_as_configured(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["validate", "-f", "pcs.json", "--config", "on.yaml"], "grove") == 0
    assert "mnnvl.mode: operator" in capsys.readouterr().out
    assert run_command_line(["validate", "-f", "pcs.json"], "grove") == 0
    assert "MNNVL is off" in capsys.readouterr().out


@pytest.mark.usefixtures("files")
@pytest.mark.req("MN-008")
def test_cl015_a_domain_can_be_asked_about(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        run_command_line(["explain", "computedomain/llm-cd-1", "-f", "pcs.json", "--config", "on.yaml"], "grove") == 0
    )
    assert "these cliques ask for GPUs: a" in capsys.readouterr().out
    for other in ("llm-cd-2", "other-cd-0", "llm"):
        assert run_command_line(["explain", f"cd/{other}", "-f", "pcs.json", "--config", "on.yaml"], "grove") == 64


@pytest.mark.parametrize(("classes", "warned"), [((), 0), (("a.example.com",), 0), (("b.example.com",), 1)])
def test_ms084_device_classes_among_the_objects_are_known(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], classes: tuple[str, ...], warned: int
) -> None:
    said = {"grove.io/mnnvl-enabled": "true", "grove.io/mnnvl-device-class": "a.example.com"}
    pod_spec = {"containers": [{"name": "main", "image": "x", "resources": {"limits": {"nvidia.com/gpu": 1}}}]}
    clique = {"name": "a", "spec": {"roleName": "a", "replicas": 1, "podSpec": pod_spec}}
    manifest = {
        "apiVersion": "grove.io/v1alpha1",
        "kind": "PodCliqueSet",
        "metadata": {"name": "llm", "namespace": "ml", "annotations": said},
        "spec": {"replicas": 1, "template": {"cliques": [clique]}},
    }
    kept = [{"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": one}} for one in classes]
    given, config = tmp_path / "given.json", tmp_path / "config.yaml"
    given.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [manifest, *kept]}), encoding="utf-8")
    config.write_text("mnnvl: {enabled: true, mode: annotations}\n", encoding="utf-8")
    assert run_command_line(["validate", "-f", str(given), "--config", str(config)], "grove") == 0
    assert capsys.readouterr().out.count("ClassUnknown") == warned


GROUPED = {
    **MANIFEST,
    "metadata": {"name": "llm", "annotations": {"grove.io/mnnvl-group": "Base"}},
}
GO = "network: {autoMNNVLEnabled: true}"


@pytest.mark.usefixtures("files")
@pytest.mark.req("NF-070")
@pytest.mark.parametrize("command", ["plan", "validate", "explain"])
@pytest.mark.parametrize(("more", "code"), [(["--rules", "field"], 1), ([], 1), (["--rules", "design"], 0)])
def test_in039_the_operator_that_is_planned_admits(
    command: str, more: list[str], code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """A manifest is refused as by the operator of the rule set; without ``--rules`` that of the configuration."""
    Path("grouped.json").write_text(json.dumps(GROUPED), encoding="utf-8")
    Path("go.yaml").write_text(GO, encoding="utf-8")
    target = ["pcs/llm"] if command == "explain" else []
    assert run_command_line([command, *target, "-f", "grouped.json", "--config", "go.yaml", *more], "grove") == code
    printed = capsys.readouterr()
    assert ('"none" or a DNS label' in printed.out + printed.err) == bool(code)


@pytest.mark.usefixtures("files")
@pytest.mark.req("NF-070")
def test_in039_the_first_side_of_a_comparison_admits(capsys: pytest.CaptureFixture[str]) -> None:
    Path("grouped.json").write_text(json.dumps(GROUPED), encoding="utf-8")
    words = ["compare", "-f", "grouped.json"]
    assert run_command_line([*words, "--rules", "field", "--rules", "design"], "grove") == 1
    assert "a DNS label" in capsys.readouterr().err
    assert run_command_line([*words, "--rules", "design", "--rules", "field"], "grove") == 0


@pytest.mark.usefixtures("files")
@pytest.mark.req("NF-072")
def test_in041_an_edit_is_admitted_by_the_operator_of_the_cluster(capsys: pytest.CaptureFixture[str]) -> None:
    """The generation hash of the set shows the Go operator; nothing else names it."""
    stored = {
        **MANIFEST,
        "metadata": {"name": "llm", "namespace": "default", "uid": "u", "resourceVersion": "1", "generation": 1},
        "status": {"currentGenerationHash": "6f7c9d5b8"},
    }
    edit = {**MANIFEST, "metadata": {"name": "llm", "annotations": {"grove.io/mnnvl-group": "base"}}}
    Path("stored.json").write_text(json.dumps(stored), encoding="utf-8")
    Path("edit.json").write_text(json.dumps(edit), encoding="utf-8")
    assert run_command_line(["plan", "-f", "stored.json", "-f", "edit.json"], "grove") == 1
    assert "grove.io/mnnvl-group]: expected it to not change; was absent" in capsys.readouterr().err


@pytest.mark.req("NF-070")
@pytest.mark.parametrize(("rules", "refused"), [("field", True), ("design", False)])
def test_nf070_a_simulated_user_meets_the_admission_of_the_rules(rules: str, *, refused: bool) -> None:
    admission = simulated_admission_for_rules(rule_set(rules))
    verdict = admission.of_set(GROUPED, None, DEFAULT_CONFIGURATION, NOTHING_KNOWN)
    assert isinstance(verdict, Deny) == refused
