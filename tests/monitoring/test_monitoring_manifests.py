"""The manifests of alerts, dashboard and PodMonitor: printed on request, and the same in the Helm chart."""

import json
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from grove_shell.actions.manifests import PARTS, installation_objects
from grove_shell.cli.main import run_command_line
from grove_shell.manifests.installation import InstallationOptions
from grove_shell.monitoring.alert_settings import parse_alert_options
from grove_shell.monitoring.dashboard import grafana_dashboard
from grove_shell.monitoring.monitoring_manifests import MONITORING_PARTS
from tests.manifests.chart_rendering import documents
from tests.manifests.chart_values import VALUES
from tests.manifests.test_installation import of_kind

Json = dict[str, Any]
HERE: Final = Path(__file__).parent
KINDS: Final = {"alerts": "PrometheusRule", "dashboard": "ConfigMap", "pod-monitor": "PodMonitor"}
VALUE_OF: Final = {"alerts": "alerts", "dashboard": "dashboards", "pod-monitor": "podMonitor"}


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> list[Json]:
    assert run_command_line(["manifests", "-o", "json", *words], "grove") == 0
    found: list[Json] = json.loads(capsys.readouterr().out)["items"]
    return found


@pytest.mark.parametrize("part", MONITORING_PARTS)
def test_al013_a_part_is_printed_on_request_only(part: str, capsys: pytest.CaptureFixture[str]) -> None:
    alone = printed(capsys, "--only", part)
    assert [one["kind"] for one in alone] == [KINDS[part]]
    assert alone[0]["metadata"]["namespace"] == "grove-system"
    rest = printed(capsys)
    assert printed(capsys, "--with", part) == [*rest, *alone]
    assert alone[0] not in rest
    elsewhere = printed(capsys, "--only", part, "-n", "ml", "--system-namespace", "ops")
    assert elsewhere[0]["metadata"]["namespace"] == "ops"


def test_al013_the_preview_stays_the_last(capsys: pytest.CaptureFixture[str]) -> None:
    found = printed(capsys, "--only", "preview", "--only", "alerts")
    assert found[-1]["kind"] == "ValidatingWebhookConfiguration"
    assert of_kind(found, "PrometheusRule")


def test_al013_the_go_operators_file_is_no_obstacle(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its topology has no levels, which only the programs need."""
    file = tmp_path / "config.yaml"
    said = {
        "apiVersion": "operator.config.grove.io/v1alpha1",
        "kind": "OperatorConfiguration",
        "runtimeClientConnection": {"qps": 100, "burst": 150},
        "topologyAwareScheduling": {"enabled": True},
    }
    file.write_text(json.dumps(said), encoding="utf-8")
    assert printed(capsys, "--only", "alerts", "--only", "dashboard", "--config", str(file))
    assert (
        run_command_line(["manifests", "--only", "alerts", "--only", "operator", "--config", str(file)], "grove") == 1
    )


def test_al013_the_dashboard_is_a_file_for_the_sidecar(capsys: pytest.CaptureFixture[str]) -> None:
    (found,) = printed(capsys, "--only", "dashboard")
    assert found["metadata"]["labels"]["grafana_dashboard"] == "1"
    assert {name: json.loads(text) for name, text in found["data"].items()} == {"grove.json": grafana_dashboard()}


def test_al013_the_chart_has_all_of_them_off() -> None:
    assert not {one["kind"] for one in documents(VALUES)} & {"PrometheusRule", "PodMonitor"}
    assert not [one for one in documents(VALUES) if one["metadata"]["name"] == "grove-dashboard"]


@pytest.mark.parametrize("part", MONITORING_PARTS)
def test_al013_the_chart_renders_what_is_printed(part: str) -> None:
    value = VALUE_OF[part]
    on = {**VALUES, value: {**VALUES[value], "enabled": True}}
    rest = tuple(name for name in PARTS if name != "crds")
    expected = installation_objects(InstallationOptions(home="elsewhere"), (*rest, part))
    assert documents(on, "elsewhere") == [one for one in expected if one["kind"] != "Namespace"]


@pytest.mark.req("AL-010")
def test_al012_values_of_the_chart_are_those_of_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["queueDeep.above=200", "writeRefused.for=1h", "predictionFailed.window=30m", "apiServerSlow.severity=page"]
    options = [word for each in words for word in ("--alert", each)]
    (expected,) = printed(capsys, "--only", "alerts", "--runbooks", "https://wiki.example.com/grove", *options)
    alerts = {**VALUES["alerts"], "enabled": True, "runbooks": "https://wiki.example.com/grove"}
    for key, fields in parse_alert_options(words).values.items():
        alerts[key] = dict(fields)
    (found,) = of_kind(documents({**VALUES, "alerts": alerts}), "PrometheusRule")
    assert found == expected


def test_al012_a_label_that_a_prometheus_selects_by_is_a_value() -> None:
    labels = {**VALUES["alerts"]["labels"], "release": "kube-prometheus-stack"}
    (found,) = of_kind(
        documents({**VALUES, "alerts": {**VALUES["alerts"], "enabled": True, "labels": labels}}), "PrometheusRule"
    )
    assert found["metadata"]["labels"] == labels


def test_al014_pods_of_all_programs_are_scraped_at_their_port(capsys: pytest.CaptureFixture[str]) -> None:
    (monitor,) = printed(capsys, "--only", "pod-monitor")
    (selected,) = monitor["spec"]["selector"]["matchExpressions"]
    (endpoint,) = monitor["spec"]["podMetricsEndpoints"]
    assert endpoint["honorLabels"] is True
    programs = of_kind(printed(capsys, "--with", "preview"), "Deployment")
    assert len(programs) == 3
    for program in programs:
        template = program["spec"]["template"]
        assert template["metadata"]["labels"][selected["key"]] in selected["values"]
        (container,) = template["spec"]["containers"]
        assert endpoint["port"] in {port["name"] for port in container["ports"]}
    assert len(selected["values"]) == len(programs)


def test_al013_the_alerts_are_as_blessed(capsys: pytest.CaptureFixture[str], *, bless: bool) -> None:
    assert run_command_line(["manifests", "--only", "alerts"], "grove") == 0
    text = capsys.readouterr().out
    path = HERE / "alerts.yaml"
    if bless:
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text
    assert [one["kind"] for one in yaml.load_all(text, yaml.CSafeLoader)] == ["PrometheusRule"]
