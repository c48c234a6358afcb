"""What `grove manifests` prints for an operator of mode `annotations` (WH-010)."""

import json
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from grove_core.kernel.structs import replace
from grove_core.resources.configuration import MnnvlConfiguration, MnnvlMode, TopologyAwareSettings
from grove_shell.actions.manifests import installation_objects
from grove_shell.cli.main import run_command_line
from grove_shell.manifests.installation import InstallationOptions
from grove_shell.settings.operator_settings import parse_operator_settings as operator_settings
from grove_shell.settings.webhook_settings import DEFAULTING, GUARDING, PATHS, PREVIEW, VALIDATION
from grove_shell.settings.webhook_settings import parse_webhook_settings as webhook_settings
from tests.manifests.registrations import entries, registered

SCOPED: Final = {"mnnvl": {"enabled": True, "mode": "annotations"}}
EVERY_MODE: Final = tuple(
    InstallationOptions(mnnvl=mnnvl, topology=topology)
    for mnnvl in (
        MnnvlConfiguration(),
        MnnvlConfiguration(enabled=True),
        MnnvlConfiguration(True, MnnvlMode.ANNOTATIONS),
    )
    for topology in (TopologyAwareSettings(), TopologyAwareSettings(enabled=True))
)


@pytest.mark.parametrize("watched", ["", "ml"])
def test_wh010_every_configuration_prints_the_same_entries(watched: str) -> None:
    """What is off has no rules, so that applying it anew is enough to be called no more."""
    printed = [installation_objects(replace(reported, watched=watched), ("webhooks",)) for reported in EVERY_MODE]
    names = [
        {one["metadata"]["name"]: [webhook["name"] for webhook in one["webhooks"]] for one in objects[-2:]}
        for objects in printed
    ]
    assert all(found == names[0] for found in names)
    assert set(names[0]) == {f"grove-{kind}{'-ml' * bool(watched)}" for kind in ("defaulting", "validation")}
    every = {name for found in names[0].values() for name in found}
    assert every == set(PATHS) - {PREVIEW} - (set(GUARDING) if watched else set())
    for objects in printed:
        for name, webhook in entries(objects).items():
            assert webhook["clientConfig"]["service"]["path"] == PATHS[name]
    called = [set(registered(objects)) for objects in printed]
    assert len({frozenset(names) for names in called}) == (2 if watched else 4)
    assert called[0] == {DEFAULTING, VALIDATION}
    assert called[-1] == every


@pytest.mark.parametrize(
    "configured",
    [MnnvlConfiguration(), MnnvlConfiguration(enabled=True), MnnvlConfiguration(mode=MnnvlMode.ANNOTATIONS)],
)
def test_wh010_elsewhere_sets_alone_are_registered(configured: MnnvlConfiguration) -> None:
    rules = [
        rule
        for one in registered(installation_objects(InstallationOptions(mnnvl=configured))).values()
        for rule in one["rules"]
    ]
    assert {name for rule in rules for name in rule["resources"]} == {"podcliquesets"}


@pytest.mark.req("MS-090")
@pytest.mark.req("CL-055")
def test_wh010_podcliques_and_podgangs_are_registered(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "operator.yaml"
    head = {"apiVersion": "operator.config.grove.io/v1alpha1", "kind": "OperatorConfiguration"}
    path.write_text(json.dumps({**head, **SCOPED}), encoding="utf-8")
    assert run_command_line(["manifests", "--config", str(path), "-n", "ml"], "grove") == 0
    objects = list(yaml.load_all(capsys.readouterr().out, yaml.CSafeLoader))
    found = registered(objects)
    assert set(found) == {
        "defaulting.podcliquesets.grove.io",
        "joining.podcliques.grove.io",
        "stamping.podgangs.scheduler.grove.io",
        "validation.podcliquesets.grove.io",
    }
    joining, stamping = found["joining.podcliques.grove.io"], found["stamping.podgangs.scheduler.grove.io"]
    (rule,) = joining["rules"]
    assert (rule["operations"], rule["resources"], rule["apiGroups"]) == (["CREATE"], ["podcliques"], ["grove.io"])
    assert (joining["sideEffects"], joining["failurePolicy"]) == ("NoneOnDryRun", "Fail")
    (condition,) = joining["matchConditions"]
    assert "'grove.io/mnnvl-enabled' in object.metadata.annotations" in condition["expression"]
    assert condition["expression"].endswith("object.metadata.annotations['grove.io/mnnvl-enabled'] != 'false'")
    (rule,) = stamping["rules"]
    assert (rule["resources"], rule["apiGroups"]) == (["podgangs"], ["scheduler.grove.io"])
    assert (stamping["sideEffects"], stamping["failurePolicy"]) == ("None", "Ignore")
    for webhook in (joining, stamping):
        assert webhook["namespaceSelector"] == {"matchLabels": {"kubernetes.io/metadata.name": "ml"}}


def test_wh010_both_programs_are_reported() -> None:
    objects = installation_objects(InstallationOptions(mnnvl=MnnvlConfiguration(True, MnnvlMode.ANNOTATIONS)))
    files = {one["metadata"]["name"]: one["data"] for one in objects if one["kind"] == "ConfigMap"}
    for program, read in (("grove-operator", operator_settings), ("grove-webhooks", webhook_settings)):
        ((name, text),) = files[f"{program}-config"].items()
        settings, problems = read(json.loads(text))
        assert not problems
        mnnvl = settings.configuration.mnnvl
        assert (mnnvl.enabled, mnnvl.mode) == (True, MnnvlMode.ANNOTATIONS)
        (pod,) = [
            one["spec"]["template"]["spec"]
            for one in objects
            if one["kind"] == "Deployment" and one["metadata"]["name"] == program
        ]
        (container,) = pod["containers"]
        (mounted,) = [one["mountPath"] for one in container["volumeMounts"] if one["name"] == "config"]
        assert f"--config={mounted}/{name}" in container["args"]
        assert {"name": "config", "configMap": {"name": f"{program}-config"}} in pod["volumes"]


@pytest.mark.parametrize(
    "said",
    [
        {"rules": "field@v0.1.0-alpha.11"},
        {"workers": 3, "client": {"timeout": "7s"}, "serving": {"port": 9090}, "startup": {"image": "example.com/i:1"}},
        {"network": {"autoMNNVLEnabled": True}, "leaderElection": {"name": "another"}},
        SCOPED,
    ],
)
def test_mf027_an_operator_gets_the_configuration_written_for_it(
    said: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    head = {"apiVersion": "operator.config.grove.io/v1alpha1", "kind": "OperatorConfiguration"}
    path = tmp_path / "operator.yaml"
    path.write_text(json.dumps({**head, **said}), encoding="utf-8")
    assert run_command_line(["manifests", "--config", str(path), "-o", "json"], "grove") == 0
    objects = json.loads(capsys.readouterr().out)["items"]
    files = {one["metadata"]["name"]: one["data"] for one in objects if one["kind"] == "ConfigMap"}
    ((name, text),) = files["grove-operator-config"].items()
    assert operator_settings(json.loads(text)) == operator_settings({**head, **said})
    (container,) = (
        one["spec"]["template"]["spec"]["containers"][0]
        for one in objects
        if one["kind"] == "Deployment" and one["metadata"]["name"] == "grove-operator"
    )
    assert container["args"][-1].endswith(f"/{name}")
    assert container["ports"][0]["containerPort"] == operator_settings(said)[0].serving.port
    features = operator_settings(said)[0].configuration
    assert ("grove-webhooks-config" in files) == (features.mnnvl.enabled or features.topology.enabled)


def test_cl055_a_bad_configuration_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "operator.yaml"
    path.write_text("mnnvl: {enabled: maybe}\n", encoding="utf-8")
    assert run_command_line(["manifests", "--config", str(path)], "grove") == 1
    said = capsys.readouterr()
    assert not said.out
    assert "mnnvl.enabled" in said.err
