"""Namespace, programs and registration: restricted, in order, narrow."""

import json
from pathlib import Path
from typing import Any, Final

import pytest

from grove_shell.actions.manifests import PARTS, installation_objects
from grove_shell.cli.main import run_command_line
from grove_shell.manifests.installation import InstallationOptions
from grove_shell.settings.operator_settings import OperatorSettings
from grove_shell.settings.webhook_settings import PATHS, WebhookSettings
from tests.manifests.chart import CHART

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


@pytest.mark.parametrize(
    "words",
    [
        ["operator", "-n", "Bad NS"],
        ["webhooks", "-n", "x_y"],
        ["webhooks", "--watch-namespace", "ml,prod"],
        ["domain-controller", "-n", "Ml"],
    ],
    ids=str,
)
def test_cl009_programs_refuse_the_same_namespaces(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Otherwise they would watch a namespace that cannot exist, and report that all is well."""
    assert run_command_line([*words, "--kubeconfig", "none"], "grove") == 64
    assert f"{words[-1]!r} is not a namespace name" in capsys.readouterr().err
