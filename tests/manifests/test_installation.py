"""Namespace, programs and registration: restricted, in order, narrow, and the same in the Helm chart."""

import hashlib
import json
import re
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from grove_core.version import VERSION
from grove_shell.actions.manifests import PARTS, PREVIEW_PART, installation_objects
from grove_shell.cli.main import run_command_line
from grove_shell.manifests.installation import InstallationOptions
from grove_shell.settings.operator_settings import OperatorSettings
from grove_shell.settings.webhook_settings import PATHS, WebhookSettings, parse_webhook_settings
from tests.manifests.chart import CHART, VALUES, files_of

Json = dict[str, Any]
HERE: Final = Path(__file__).parent
REST: Final = tuple(part for part in PARTS if part != "crds")
EVERY: Final = (
    InstallationOptions(),
    InstallationOptions(watched="ml", home="ml"),
    InstallationOptions(watched="ml", home="ops"),
)


def of_kind(objects: list[Json], kind: str) -> list[Json]:
    return [one for one in objects if one["kind"] == kind]


@pytest.mark.parametrize("installation", EVERY)
def test_mf023_pods_are_restricted(installation: InstallationOptions) -> None:
    found = of_kind(installation_objects(installation), "Deployment")
    assert len(found) == 2
    for one in found:
        assert one["spec"]["replicas"] == 2
        pod = one["spec"]["template"]["spec"]
        assert pod["securityContext"]["runAsNonRoot"]
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert {key for volume in pod["volumes"] for key in volume} == {"name", "emptyDir"}
        for container in pod["containers"]:
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "capabilities": {"drop": ["ALL"]},
                "readOnlyRootFilesystem": True,
            }
            assert {"cpu", "memory"} <= container["resources"]["requests"].keys()
            ports = {port["name"]: port["containerPort"] for port in container["ports"]}
            assert ports["http"] == OperatorSettings().serving.port == WebhookSettings().serving.port
            for probe, path in (("livenessProbe", "/healthz"), ("readinessProbe", "/readyz")):
                assert container[probe]["httpGet"] == {"path": path, "port": "http"}


@pytest.mark.parametrize("installation", EVERY)
def test_mf025_each_object_comes_after_what_it_needs(installation: InstallationOptions) -> None:
    objects = installation_objects(installation)
    seen: set[tuple[str, str]] = set()
    for one in objects:
        namespace = one["metadata"].get("namespace")
        if installation.home != installation.watched and namespace == installation.home:
            assert ("Namespace", installation.home) in seen
        if one["kind"] in {"RoleBinding", "ClusterRoleBinding"}:
            assert (one["roleRef"]["kind"], one["roleRef"]["name"]) in seen
            assert all(("ServiceAccount", subject["name"]) in seen for subject in one["subjects"])
        if one["kind"] == "Deployment":
            assert ("ServiceAccount", one["spec"]["template"]["spec"]["serviceAccountName"]) in seen
        seen.add((one["kind"], one["metadata"]["name"]))
    assert len({(one["kind"], one["metadata"].get("namespace"), one["metadata"]["name"]) for one in objects}) == len(
        objects
    )
    assert [one["kind"] for one in objects[-2:]] == ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"]
    assert ("Namespace", "ml") not in seen


@pytest.mark.parametrize("installation", EVERY)
def test_mf025_the_registration_is_narrow(installation: InstallationOptions) -> None:
    objects = installation_objects(installation, ("webhooks",))
    (service,) = of_kind(objects, "Service")
    (deployment,) = of_kind(objects, "Deployment")
    assert service["spec"]["selector"].items() <= deployment["spec"]["template"]["metadata"]["labels"].items()
    for one in objects[-2:]:
        webhook, *others = one["webhooks"]
        assert not any(other.get("rules") for other in others), "they are there for when a feature is on"
        assert webhook["rules"] == [
            {
                "apiGroups": ["grove.io"],
                "apiVersions": ["v1alpha1"],
                "operations": ["CREATE", "UPDATE"],
                "resources": ["podcliquesets"],
                "scope": "Namespaced",
            }
        ]
        assert (webhook["failurePolicy"], webhook["sideEffects"], webhook["timeoutSeconds"]) == ("Fail", "None", 10)
        assert webhook["clientConfig"]["service"] == {
            "name": service["metadata"]["name"],
            "namespace": installation.home,
            "path": PATHS[webhook["name"]],
            "port": service["spec"]["ports"][0]["port"],
        }
        assert one["metadata"]["name"].endswith("-ml") == bool(installation.watched)
        assert ("namespaceSelector" in webhook) == bool(installation.watched)


@pytest.mark.req("MF-020")
def test_mf025_options_reach_every_object(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--image", "example.com/grove:9", "-n", "ml", "--system-namespace", "ops", "-o", "json"]
    assert run_command_line(["manifests", *words], "grove") == 0
    objects = json.loads(capsys.readouterr().out)["items"]
    assert objects == installation_objects(InstallationOptions(home="ops", watched="ml", image="example.com/grove:9"))
    images = [one["spec"]["template"]["spec"]["containers"][0]["image"] for one in of_kind(objects, "Deployment")]
    assert images == ["example.com/grove:9"] * 2
    assert "--namespace=ml" in json.dumps(of_kind(objects, "Deployment")[0])
    assert run_command_line(["manifests", "-n", "ml", "--only", "operator", "-o", "json"], "grove") == 0
    alone = json.loads(capsys.readouterr().out)["items"]
    assert {one["metadata"]["namespace"] for one in alone} == {"ml"}


@pytest.mark.parametrize(("name", "words"), [("installation", ()), ("one_namespace", ("-n", "ml"))])
def test_mf020_the_installation_is_as_blessed(
    capsys: pytest.CaptureFixture[str], name: str, words: tuple[str, ...], *, bless: bool
) -> None:
    parts = [word for part in REST for word in ("--only", part)]
    assert run_command_line(["manifests", *parts, *words, "--image", "example.com/grove"], "grove") == 0
    text = capsys.readouterr().out
    path = HERE / f"{name}.yaml"
    if bless:
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text


def rendered(text: str, values: Json, namespace: str) -> str:
    """A template of ours as Helm renders it: values, some of them as JSON, the namespace, and what is switched off."""

    def at(path: str) -> Any:
        found: Any = {"Values": values, "Release": {"Namespace": namespace}}
        for step in path.split(".")[1:]:
            found = found[step]
        return found

    def value(match: re.Match[str]) -> str:
        return json.dumps(at(match[2])) if match[1] else str(at(match[2]))

    def file(match: re.Match[str]) -> str:
        return json.dumps((CHART / match[1]).read_text(encoding="utf-8"))

    def dictionary(match: re.Match[str]) -> str:
        words = match[1].split()
        pairs = zip(words[::2], words[1::2], strict=True)
        found = {json.loads(key): at(word) if word.startswith(".") else json.loads(word) for key, word in pairs}
        said = json.dumps(found, sort_keys=True, separators=(",", ":"))
        return json.dumps(hashlib.sha256(said.encode()).hexdigest() if match[2] else said)

    shown = re.compile(r"\s*\{\{- if (\S+) \}\}(.*?)\s*\{\{- end \}\}", re.DOTALL)
    text = shown.sub(lambda match: match[2] if at(match[1]) else "", text)
    text = re.sub(r"\{\{ dict (.+) \| toJson (\| sha256sum )?\| quote \}\}", dictionary, text)
    text = re.sub(r'\{\{ \.Files\.Get "([^"]+)" \| toJson \}\}', file, text)
    text = re.sub(r"\{\{ (toJson )?(\.[A-Za-z.]+) \}\}", value, text)
    assert "{{ ." not in text
    return re.sub(r"\{\{`(.*?)`\}\}", r"\1", text, flags=re.DOTALL)


def documents(values: Json, namespace: str = "grove-system") -> list[Json]:
    """Everything that the chart renders to."""
    templates = sorted((CHART / "templates").glob("*.yaml"))
    text = "\n".join(rendered(path.read_text(encoding="utf-8"), values, namespace) for path in templates)
    return [one for one in yaml.load_all(text, yaml.CSafeLoader) if one is not None]


def test_mf027_the_chart_is_what_is_generated() -> None:
    made = files_of()
    there = {path.relative_to(CHART).as_posix() for path in CHART.rglob("*") if path.is_file()}
    assert there == set(made), "python -m tests.manifests.chart --write"
    for name, text in made.items():
        assert (CHART / name).read_text(encoding="utf-8") == text, "python -m tests.manifests.chart --write"


def test_mf027_the_chart_renders_to_what_is_printed() -> None:
    values = yaml.load((CHART / "values.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader)
    assert values == VALUES
    expected = [one for one in installation_objects(InstallationOptions(), REST) if one["kind"] != "Namespace"]
    assert documents(values) == expected
    other = {**values, "image": "example.com/x", "operator": {**values["operator"], "replicas": 3}}
    found = documents(other, "elsewhere")
    assert "grove-system" not in json.dumps(found)
    assert [one["spec"]["replicas"] for one in of_kind(found, "Deployment")] == [3, 2]
    assert yaml.load((CHART / "Chart.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader)["appVersion"] == VERSION


def test_mf030_the_chart_renders_the_preview_alone_or_beside_the_rest() -> None:
    def with_file_read(objects: list[Json]) -> list[Json]:
        """The printed file is indented, that of the chart is not."""
        for one in of_kind(objects, "ConfigMap"):
            one["data"] = {name: json.loads(text) for name, text in one["data"].items()}
        return [one for one in objects if one["kind"] != "Namespace"]

    off = {name: {**VALUES[name], "enabled": False} for name in ("operator", "webhooks")}
    on = {"preview": {**VALUES["preview"], "enabled": True}}
    printed = with_file_read(installation_objects(InstallationOptions(), (PREVIEW_PART,)))
    assert with_file_read(documents({**VALUES, **off, **on})) == printed
    both = with_file_read(documents({**VALUES, **on}))
    assert both[-len(printed) :] == printed
    assert both[: -len(printed)] == documents(VALUES)
    limited = {**VALUES["preview"], "enabled": True, "settings": {"rules": "field", "denyAbove": {"gpus": 16}}}
    (file,) = of_kind(with_file_read(documents({**VALUES, **off, "preview": limited})), "ConfigMap")
    settings, problems = parse_webhook_settings(file["data"]["config.json"])
    assert (settings.preview.deny_above.gpus, settings.preview.mode, problems) == (16, "warn", ())


def test_mf032_a_changed_configuration_replaces_the_pods(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    def checksums(rules: str, *words: str) -> dict[str, str]:
        """The annotation of each program with a file that these rules are written into."""
        file = tmp_path / "operator.yaml"
        said = {"apiVersion": "operator.config.grove.io/v1alpha1", "kind": "OperatorConfiguration", "rules": rules}
        file.write_text(json.dumps(said), encoding="utf-8")
        assert run_command_line(["manifests", "--config", str(file), "-o", "json", *words], "grove") == 0
        found = of_kind(json.loads(capsys.readouterr().out)["items"], "Deployment")
        marked = [(one["metadata"]["name"], one["spec"]["template"]["metadata"]) for one in found]
        return {name: each["annotations"]["checksum/config"] for name, each in marked if "annotations" in each}

    words = ("--only", "operator", "--only", "webhooks", "--with", "preview")
    first, second = checksums("field@alpha.11", *words), checksums("field@alpha.10", *words)
    assert set(first) == set(second) == {"grove-operator", "grove-preview"}  # webhooks have no file here
    assert all(first[name] != second[name] for name in first)
    assert first == checksums("field@alpha.11", *words, "--image", "example.com/other")


def test_mf032_the_chart_marks_the_pods_with_the_settings() -> None:
    def mark(settings: Json, **more: Any) -> str:
        preview = {**VALUES["preview"], "enabled": True, "settings": settings}
        found = of_kind(documents({**VALUES, "preview": preview, **more}), "Deployment")
        (marked,) = (one["spec"]["template"]["metadata"] for one in found if "preview" in one["metadata"]["name"])
        return str(marked["annotations"]["checksum/config"])

    default, limited = VALUES["preview"]["settings"], {**VALUES["preview"]["settings"], "denyAbove": {"gpus": 64}}
    assert re.fullmatch("[0-9a-f]{64}", mark(default))
    assert mark(default) == mark(default, image="example.com/other") != mark(limited)


def test_mf023_the_image_runs_as_any_user() -> None:
    lines = (CHART.parents[1] / "Dockerfile").read_text(encoding="utf-8").splitlines()
    (pod,) = {
        one["spec"]["template"]["spec"]["securityContext"]["runAsUser"]
        for one in of_kind(installation_objects(InstallationOptions()), "Deployment")
    }
    assert f"USER {pod}:{pod}" in lines
    assert lines[-1] == 'ENTRYPOINT ["grove"]'


@pytest.mark.parametrize(
    "words", [("-n", "Bad NS"), ("--system-namespace", "x_y"), ("-n", ""), ("--image", "a b"), ("--image", "")], ids=str
)
def test_mf025_what_no_server_takes_is_not_printed(words: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["manifests", *words], "grove") == 64
    said = capsys.readouterr()
    assert (said.out, repr(words[1]) in said.err) == ("", True)
