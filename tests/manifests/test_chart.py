"""The Helm chart: made of what is printed, for every configuration; each value is described and changes something."""

import itertools
import json
import re
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from jsonschema import Draft7Validator

from grove_core.version import VERSION
from grove_shell.actions.manifests import PARTS, PREVIEW_PART, installation_objects
from grove_shell.cli.main import run_command_line
from grove_shell.manifests.crd_definitions import grove_crd_manifests
from grove_shell.manifests.installation import InstallationOptions
from grove_shell.settings.shared_settings import API_VERSION
from grove_shell.settings.webhook_settings import parse_webhook_settings
from tests.manifests.chart import BY_HAND, CHART, files_of
from tests.manifests.chart_cases import ALL_ON, ANOTHER, CONFIGURATIONS, HARMFUL, REFUSED
from tests.manifests.chart_rendering import by_name, documents, nested, with_values
from tests.manifests.chart_values import PROGRAMS, VALUES, leaves
from tests.manifests.go_templates import Fail
from tests.manifests.test_installation import of_kind

Json = dict[str, Any]
REST: Final = tuple(part for part in PARTS if part != "crds")
SWITCHES: Final[dict[str, set[str]]] = {
    "operator": {"Deployment/grove-operator", "ClusterRole/grove-operator", "NetworkPolicy/grove-operator"},
    "webhooks": {
        "Deployment/grove-webhooks",
        "ValidatingWebhookConfiguration/grove-validation",
        "Role/grove-webhooks-home",
    },
    "preview": {
        "Deployment/grove-preview",
        "ValidatingWebhookConfiguration/grove-preview",
        "ConfigMap/grove-preview-config",
    },
    "podDisruptionBudget": {f"PodDisruptionBudget/grove-{name}" for name in PROGRAMS},
    "networkPolicy": {f"NetworkPolicy/grove-{name}" for name in PROGRAMS},
    "alerts": {"PrometheusRule/grove-alerts"},
    "dashboards": {"ConfigMap/grove-dashboard"},
    "podMonitor": {"PodMonitor/grove"},
    "serviceMonitor": {"ServiceMonitor/grove", *(f"Service/grove-{name}-metrics" for name in PROGRAMS)},
}


@cache
def everything_on() -> list[Json]:
    """Return what the chart renders to with all parts and the defaults of everything else."""
    return documents(ALL_ON)


def test_mf027_the_chart_is_what_is_generated() -> None:
    made = files_of()
    there = {path.relative_to(CHART).as_posix() for path in CHART.rglob("*") if path.is_file()}
    assert there == {*made, *BY_HAND}, "python -m tests.manifests.chart --write"
    for name, text in made.items():
        assert (CHART / name).read_text(encoding="utf-8") == text, "python -m tests.manifests.chart --write"
    assert yaml.load((CHART / "values.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader) == VALUES
    assert yaml.load((CHART / "Chart.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader)["appVersion"] == VERSION


def test_mf027_the_chart_renders_to_what_is_printed() -> None:
    expected = [one for one in installation_objects(InstallationOptions(), REST) if one["kind"] != "Namespace"]
    assert documents() == expected
    found = documents({"image": "example.com/x", "operator": {"replicas": 3}}, "elsewhere")
    assert "grove-system" not in json.dumps(found)
    assert [one["spec"]["replicas"] for one in of_kind(found, "Deployment")] == [3, 2]


def test_mf030_the_chart_renders_the_preview_alone_or_beside_the_rest() -> None:
    on = {"preview": {"enabled": True}}
    off = {name: {"enabled": False} for name in ("operator", "webhooks")}
    printed = by_name(installation_objects(InstallationOptions(), (PREVIEW_PART,)))
    alone, both = by_name(documents({**on, **off})), by_name(documents(on))
    assert alone == printed
    assert both == {**by_name(documents()), **printed}
    limited = {"preview": {"settings": {"rules": "field", "denyAbove": {"gpus": 16}}}}
    file = by_name(documents(with_values({**on, **off}, limited)))["ConfigMap", "grove-preview-config"]["data"]
    settings, problems = parse_webhook_settings(file["config.json"])
    assert (settings.preview.deny_above.gpus, settings.preview.mode, problems) == (16, "warn", ())


def test_mf032_the_chart_marks_the_pods_with_the_settings() -> None:
    def marks(**values: Any) -> dict[str, str]:
        found = of_kind(documents(with_values({"preview": {"enabled": True}}, values)), "Deployment")
        marked = [(one["metadata"]["name"], one["spec"]["template"]["metadata"]) for one in found]
        return {name: each["annotations"]["checksum/config"] for name, each in marked if "annotations" in each}

    default, limited = marks(), marks(preview={"settings": {"denyAbove": {"gpus": 64}}})
    assert default.keys() == {"grove-preview"}
    assert re.fullmatch("[0-9a-f]{64}", default["grove-preview"])
    assert default == marks(image="example.com/other", preview={"podAnnotations": {"a": "b"}})
    assert default["grove-preview"] != limited["grove-preview"]
    first, second = marks(config={"workers": 3}), marks(config={"workers": 4})
    assert first.keys() == {"grove-operator", "grove-preview"}
    assert {name for name, mark in first.items() if mark != second[name]} == {"grove-operator"}
    shared = marks(config={"workers": 3, "scheduling": {"backend": "podgang"}})
    assert shared.keys() == {"grove-operator", "grove-webhooks", "grove-preview"}
    assert not set(first.values()) & set(shared.values())


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_mf035_a_configuration_renders_to_what_is_printed(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = {"apiVersion": API_VERSION, "kind": "OperatorConfiguration", **CONFIGURATIONS[name]}
    file = tmp_path / "operator.json"
    file.write_text(json.dumps(said), encoding="utf-8")
    words = ["manifests", "-o", "json", *(word for part in REST for word in ("--only", part)), "--with", "preview"]
    words += ["--config", str(file)] if CONFIGURATIONS[name] else []
    assert run_command_line(words, "grove") == 0
    printed = by_name(json.loads(capsys.readouterr().out)["items"])
    rules = printed["ConfigMap", "grove-preview-config"]["data"]["config.json"]["preview"]["rules"]
    values = {"config": CONFIGURATIONS[name], "preview": {"enabled": True, "settings": {"rules": rules}}}
    rendered = by_name(documents(values))
    for one in (printed, rendered):
        annotations = one["Deployment", "grove-operator"]["spec"]["template"]["metadata"].pop("annotations", {})
        assert ("checksum/config" in annotations) == bool(CONFIGURATIONS[name])  # the chart leaves out defaults
        if CONFIGURATIONS[name]:
            text = one["ConfigMap", "grove-operator-config"]["data"]["config.json"]
            assert text == said
    assert rendered == printed


def test_mf036_every_value_is_described_and_has_another_in_a_test() -> None:
    assert leaves().keys() == ANOTHER.keys()
    lines = (CHART / "values.yaml").read_text(encoding="utf-8").splitlines()
    for name, schema in leaves().items():
        assert schema["description"].endswith(".")
        last = name.rpartition(".")[2]
        assert any(
            line.strip().startswith(f"{last}:") and before.strip() == f"# {schema['description']}"
            for before, line in itertools.pairwise(lines)
        ), name


@pytest.mark.parametrize("name", ANOTHER)
def test_mf036_every_value_changes_what_is_rendered(name: str) -> None:
    assert documents(with_values(ALL_ON, nested(name, ANOTHER[name]))) != everything_on()


def test_mf036_templates_read_no_value_that_is_not_there() -> None:
    """A template that reads a misspelled value would render nothing in its place."""
    read: set[str] = set()
    for path in (CHART / "templates").iterdir():
        read |= set(re.findall(r"\.Values\.([A-Za-z.]+[A-Za-z])", path.read_text(encoding="utf-8")))
    for name in read:
        found: Any = VALUES
        for step in name.split("."):
            assert step in found, name
            found = found[step]


def test_mf038_the_chart_has_the_printed_definitions() -> None:
    found = [yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader) for path in (CHART / "crds").iterdir()]
    printed = by_name(json.loads(json.dumps(list(grove_crd_manifests()))))
    assert by_name(found) == printed
    together = "".join(path.read_text(encoding="utf-8") for path in (CHART / "crds").iterdir())
    names = {one["metadata"]["name"] for one in yaml.load_all(together, yaml.CSafeLoader) if one is not None}
    assert names == {name for _, name in printed}


def test_mf037_the_schema_has_the_defaults_and_refuses_others() -> None:
    schema = Draft7Validator(json.loads((CHART / "values.schema.json").read_text(encoding="utf-8")))
    schema.validate(VALUES)
    for name, value in ANOTHER.items():
        schema.validate(with_values(VALUES, nested(name, value)))
    for config in CONFIGURATIONS.values():
        schema.validate(with_values(VALUES, {"config": config}))
    for setting in REFUSED:
        name, _, text = setting.partition("=")
        value = yaml.load(text, yaml.CSafeLoader) if text else ""
        assert not schema.is_valid(with_values(VALUES, nested(name, value))), setting


@pytest.mark.parametrize("name", HARMFUL)
def test_mf041_a_harmful_combination_is_refused(name: str) -> None:
    values, words = HARMFUL[name]
    with pytest.raises(Fail) as refused:
        documents(values)
    assert str(refused.value) == words


def test_mf041_one_operator_without_election_is_rendered() -> None:
    assert documents({"config": {"leaderElection": {"enabled": False}}, "operator": {"replicas": 1}})


def test_mf044_programs_reach_the_api_server_and_are_reached_at_their_ports() -> None:
    on = with_values(ALL_ON, {"config": {"serving": {"port": 9090}}})
    found = documents(on)
    policies = {one["metadata"]["name"]: one["spec"] for one in of_kind(found, "NetworkPolicy")}
    for program in of_kind(found, "Deployment"):
        spec = policies.pop(program["metadata"]["name"])
        pods = program["spec"]["template"]
        assert spec["podSelector"]["matchLabels"].items() <= pods["metadata"]["labels"].items()
        assert spec["policyTypes"] == ["Ingress", "Egress"]
        (container,) = pods["spec"]["containers"]
        opened = {port["port"] for rule in spec["ingress"] for port in rule["ports"]}
        assert opened == {port["name"] for port in container["ports"]}
        assert not any("from" in rule for rule in spec["ingress"])
        assert spec["egress"] == [{"ports": [{"port": port, "protocol": "TCP"} for port in (443, 6443)]}]
    assert not policies
    limits = {"apiServerPorts": [6443], "apiServerCidrs": ["192.0.2.1/32"], "metricsFrom": [{"podSelector": {}}]}
    (first, *_) = of_kind(documents(with_values(on, {"networkPolicy": limits})), "NetworkPolicy")
    assert first["spec"]["egress"] == [
        {"ports": [{"port": 6443, "protocol": "TCP"}], "to": [{"ipBlock": {"cidr": "192.0.2.1/32"}}]}
    ]
    assert first["spec"]["ingress"][-1]["from"] == [{"podSelector": {}}]


@pytest.mark.parametrize("switch", SWITCHES)
def test_mf046_a_switch_adds_exactly_its_objects(switch: str) -> None:
    on = {f"{one['kind']}/{one['metadata']['name']}": one for one in everything_on()}
    off = {
        f"{one['kind']}/{one['metadata']['name']}": one
        for one in documents(with_values(ALL_ON, {switch: {"enabled": False}}))
    }
    assert SWITCHES[switch] <= on.keys() - off.keys()
    assert off.items() <= on.items()
    gone = {on[name]["metadata"]["labels"].get("app.kubernetes.io/name") for name in on.keys() - off.keys()}
    if switch in PROGRAMS:
        assert gone == {f"grove-{switch}"}
    else:
        assert on.keys() - off.keys() == SWITCHES[switch]


def test_mf046_services_of_the_monitor_are_those_of_all_programs() -> None:
    found = documents(ALL_ON)
    (monitor,) = of_kind(found, "ServiceMonitor")
    (endpoint,) = monitor["spec"]["endpoints"]
    assert (endpoint["port"], endpoint["path"], endpoint["honorLabels"]) == ("http", "/metrics", True)
    wanted = monitor["spec"]["selector"]["matchLabels"].items()
    selected = [one for one in of_kind(found, "Service") if wanted <= one["metadata"]["labels"].items()]
    assert [one["spec"]["selector"]["app.kubernetes.io/name"] for one in selected] == [
        f"grove-{name}" for name in PROGRAMS
    ]
    assert all(one["spec"]["ports"][0]["targetPort"] == "http" for one in selected)
