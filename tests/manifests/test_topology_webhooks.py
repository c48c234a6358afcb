"""What `grove manifests` prints for webhooks that judge topologies (WH-010, TP-045)."""

import json
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from grove_core.resources.cluster_topology import TopologyLevel
from grove_core.resources.configuration import MnnvlConfiguration, MnnvlMode, TopologyAwareSettings
from grove_shell.actions.manifests import installation_objects
from grove_shell.cli.main import run_command_line
from grove_shell.manifests.installation import InstallationOptions
from grove_shell.settings.webhook_settings import GUARDING, LEAVING, PATHS, TOPOLOGIES, parse_webhook_settings
from tests.manifests.registrations import registered

Json = dict[str, Any]
LEVELS: Final = ({"domain": "zone", "key": "z"}, {"domain": "host", "key": "h"})
ON: Final = TopologyAwareSettings(enabled=True, levels=(TopologyLevel("zone", "z"), TopologyLevel("host", "h")))


def printed(path: Path, capsys: pytest.CaptureFixture[str], *words: str) -> list[Json]:
    head = {"apiVersion": "operator.config.grove.io/v1alpha1", "kind": "OperatorConfiguration"}
    configured = {**head, "topologyAwareScheduling": {"enabled": True, "levels": LEVELS}}
    path.write_text(json.dumps(configured), encoding="utf-8")
    assert run_command_line(["manifests", "--config", str(path), *words], "grove") == 0
    return list(yaml.load_all(capsys.readouterr().out, yaml.CSafeLoader))


@pytest.mark.req("CL-055")
@pytest.mark.req("MF-025")
def test_wh010_levels_wait_for_us_and_deletions_do_not(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    objects = printed(tmp_path / "operator.yaml", capsys)
    found = registered(objects)
    assert set(found) == {"defaulting.podcliquesets.grove.io", "validation.podcliquesets.grove.io", *GUARDING}
    levels, leaving = found[TOPOLOGIES], found[LEAVING]
    rule = {
        "apiGroups": ["grove.io"],
        "apiVersions": ["v1alpha1"],
        "operations": ["CREATE", "UPDATE"],
        "resources": ["clustertopologies"],
        "scope": "Cluster",
    }
    assert levels["rules"] == [rule]
    assert leaving["rules"] == [{**rule, "operations": ["DELETE"]}]
    assert (levels["failurePolicy"], leaving["failurePolicy"]) == ("Fail", "Ignore")
    (condition,) = levels["matchConditions"]
    assert condition["expression"].endswith("object.spec != oldObject.spec")
    assert "matchConditions" not in leaving
    for name in GUARDING:
        assert (found[name]["sideEffects"], found[name]["timeoutSeconds"]) == ("None", 10)
        assert found[name]["clientConfig"]["service"]["path"] == PATHS[name]
        assert "namespaceSelector" not in found[name]
    (text,) = next(one["data"] for one in objects if one["metadata"]["name"] == "grove-webhooks-config").values()
    settings, problems = parse_webhook_settings(json.loads(text))
    assert (settings.configuration.topology, problems) == (ON, ())


def test_tp045_webhooks_of_one_namespace_judge_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = registered(printed(tmp_path / "operator.yaml", capsys, "-n", "ml"))
    assert set(found) == {"defaulting.podcliquesets.grove.io", "validation.podcliquesets.grove.io"}


@pytest.mark.parametrize(
    "installation",
    [
        InstallationOptions(),
        InstallationOptions(topology=TopologyAwareSettings(levels=ON.levels)),
        InstallationOptions(mnnvl=MnnvlConfiguration(True, MnnvlMode.ANNOTATIONS)),
        InstallationOptions(watched="ml", topology=ON),
    ],
)
def test_wh010_elsewhere_nothing_of_topologies_is_registered(installation: InstallationOptions) -> None:
    rules = [rule for one in registered(installation_objects(installation)).values() for rule in one["rules"]]
    assert not [name for rule in rules for name in rule["resources"] if "topolog" in name]


@pytest.mark.parametrize(
    "installation",
    [
        InstallationOptions(topology=ON),
        InstallationOptions(mnnvl=MnnvlConfiguration(True, MnnvlMode.ANNOTATIONS), topology=ON),
    ],
)
def test_wh010_bindings_and_subresources_of_topologies_are_not_reviewed(installation: InstallationOptions) -> None:
    rules = [rule for one in registered(installation_objects(installation)).values() for rule in one["rules"]]
    names = {name for rule in rules for name in rule["resources"] if "topolog" in name}
    assert names == {"clustertopologies"}
