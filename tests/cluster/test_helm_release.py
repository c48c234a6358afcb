"""The whole chart on a control plane of its own: installed, upgraded, rolled back and uninstalled by Helm."""

import json
import os
import secrets
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest
import yaml

from grove_core.version import VERSION
from tests.cluster.api import ApiError, Json, wait_until
from tests.cluster.binaries import CONTROLLERS
from tests.cluster.installing import apply
from tests.cluster.operators import grove, is_served
from tests.cluster.plane import ControlPlane
from tests.cluster.releasing import Release, Running, documented_commands
from tests.cluster.scenes import PARTS_OF_SETS, Scene, clique
from tests.manifests.chart import CHART
from tests.manifests.chart_cases import all_changed
from tests.manifests.chart_registry import pushed_chart
from tests.manifests.chart_rendering import documents, helm_program, needs_helm
from tests.manifests.test_installation import of_kind

PAGE: Final = CHART.parents[2] / "docs" / "how-to" / "install-the-operator.md"
SETS: Final = "podcliquesets"
OLD: Final = "podcliquesets.grove.io"
ADDED: Final = "clustertopologies.grove.io"
"""A definition that the earlier chart did not have."""
FIELD: Final = "headlessServiceConfig"
"""Of a template: a field that the old definition does not have."""
ADDRESS: Final = "CHART"
"""How the page and the notes write the address of the chart."""

pytestmark = [needs_helm, pytest.mark.skipif(shutil.which("kubectl") is None, reason="needs kubectl")]


@pytest.fixture(scope="module")
def helm_plane(programs: dict[str, Path]) -> Iterator[ControlPlane]:
    """A control plane without any definition of Grove, for releases that manage all of it."""
    with ControlPlane(programs) as plane:
        yield plane


@pytest.fixture
def release(helm_plane: ControlPlane, tmp_path: Path) -> Iterator[Release]:
    found = Release(helm_plane, "grove", "grove-system", tmp_path, ("--set", "image=example.com/grove:1"))
    yield found
    if "grove" in found.helm("list", "-q"):
        found.uninstall()


@pytest.fixture
def scene(release: Release) -> Iterator[Scene]:
    """Nodes, and a namespace for sets."""
    name = f"ml-{secrets.token_hex(4)}"
    release.api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    scene = Scene(release.api, name)
    yield scene
    scene.close()
    release.api.delete("namespaces", name)


@pytest.fixture
def run(release: Release) -> Iterator[Callable[[], Running]]:
    """Makes the programs of the release run; those that a failed test leaves are ended."""
    made: list[Running] = []

    def start() -> Running:
        made.append(Running(release))
        return made[-1]

    yield start
    for each in made:
        each.stop()


def shell(release: Release, lines: list[str], namespace: str) -> str:
    """Run documented commands as the administrator; the chart is the one of this checkout."""
    text = "\n".join(lines).replace(ADDRESS, str(CHART)).replace("-n ml", f"-n {namespace}")
    path = f"{Path(helm_program() or '').parent}{os.pathsep}{os.environ['PATH']}"
    env = {"KUBECONFIG": str(release.plane.kubeconfig()), "PATH": path, "HOME": str(release.folder)}
    ran = subprocess.run(["sh", "-ec", text], capture_output=True, text=True, check=False, timeout=60, env=env)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def uids(scene: Scene) -> dict[str, str]:
    return {pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in scene.pods()}


@pytest.mark.req("MF-032")
@pytest.mark.req("MF-038")
@pytest.mark.req("MF-043")
def test_mf042_a_release_lives_and_ends_without_a_restart(
    release: Release, scene: Scene, run: Callable[[], Running]
) -> None:
    """Its configuration changes and comes back; what it leaves is taken away by the documented commands."""
    before = release.cluster_wide()
    said = release.upgrade("--set", "config.workers=4")
    assert "the operator, by the rules design" in said
    assert "WARNING" not in said
    release.plane.restart(CONTROLLERS)  # the garbage collector looks for new kinds when it begins, then every 30 s
    running = run()
    with pytest.raises(ApiError) as refused:
        scene.api.create(scene.set_of(clique("Not-A-Label")))
    assert "(WL-107)" in refused.value.message
    later = clique("worker", 3, minimum=2, startsAfter=["leader"])  # its pods have the operator's image
    scene.api.create(scene.set_of(clique("leader"), later, cliqueStartupType="CliqueStartupTypeExplicit"))
    scene.await_ready(4)
    running.stop()
    assert "forbidden" not in running.operator.log.read_text(encoding="utf-8")
    pods, first = uids(scene), release.pod_template("grove-operator")

    release.upgrade("--set", "config.workers=4")
    assert release.pod_template("grove-operator") == first
    release.upgrade("--set", "config.workers=5,operator.replicas=3,image=example.com/grove:2")
    second = release.pod_template("grove-operator")
    assert second != first
    running = run()
    assert (
        json.loads(release.api.get("configmaps", "grove-operator-config", release.home)["data"]["config.json"])[
            "workers"
        ]
        == 5
    )
    scene.scale("podcliques", "llama-0-worker", 4)
    scene.await_ready(5)
    running.stop()
    assert pods.items() <= uids(scene).items()
    pods = uids(scene)

    definitions = {one["metadata"]["name"]: one["metadata"]["generation"] for one in definitions_of(release)}
    release.helm("rollback", "grove", "2")
    assert release.pod_template("grove-operator") == first
    assert {one["metadata"]["name"]: one["metadata"]["generation"] for one in definitions_of(release)} == definitions
    running = run()
    wait_until(running.operator.ready, lambda words: words == "ok", "the operator is ready")
    running.stop()
    assert uids(scene) == pods

    release.uninstall()
    left = release.cluster_wide() - before
    assert left == {("customresourcedefinitions", name) for name in definitions}
    assert scene.names(SETS) == ["llama"]
    assert uids(scene) == pods
    scene.api.delete(SETS, "llama", scene.namespace)
    wait_until(
        lambda: scene.get("podcliques", "llama-0-worker"),
        lambda one: one["metadata"].get("deletionTimestamp"),
        "the set takes its cliques along",
    )
    assert uids(scene) == pods  # a finalizer keeps the clique, and the clique its pods
    shell(release, documented_commands(PAGE, "### A set was deleted after the operator"), scene.namespace)
    wait_until(lambda: (scene.names("podcliques"), scene.pods()), lambda found: found == ([], []), "all is gone")


def printed(said: str) -> str:
    """Return the notes of a release."""
    return said.partition("NOTES:\n")[2].strip()


def definitions_of(release: Release) -> list[Json]:
    return [one for one in release.api.all_of("customresourcedefinitions") if "grove.io" in one["metadata"]["name"]]


def test_mf039_old_definitions_are_reported_and_replaced(release: Release, scene: Scene) -> None:
    release.upgrade("--set", "webhooks.enabled=false")
    current = release.api.get("customresourcedefinitions", OLD)
    fields = template_fields(current)
    del fields[FIELD]
    current["metadata"].pop("managedFields")
    release.api.replace(current)
    release.api.delete("customresourcedefinitions", ADDED)
    manifest = scene.set_of(clique("worker", 1))
    manifest["spec"]["template"][FIELD] = {"publishNotReadyAddresses": True}

    def stored(name: str) -> bool:
        manifest["metadata"]["name"] = name
        return FIELD in scene.api.create(manifest)["spec"]["template"]

    counted = iter(range(100))
    wait_until(lambda: stored(f"old-{next(counted)}"), lambda kept: not kept, "the old definition is in force")
    said = release.upgrade("--set", "webhooks.enabled=false")
    warning = said.partition("WARNING: these definitions")[2].partition("Replace them:")
    assert [line.strip() for line in warning[0].splitlines() if line.startswith("  ")] == [f"{ADDED} (missing)", OLD]
    assert FIELD not in template_fields(release.api.get("customresourcedefinitions", OLD))
    release.uninstall()
    assert warning[0] in release.upgrade("--skip-crds", "--set", "webhooks.enabled=false")
    (command,) = documented_commands(PAGE, "### Replace the definitions")
    assert command.split(" | ")[1] in warning[2]
    assert f"WARNING: these definitions{warning[0]}" in PAGE.read_text(encoding="utf-8")
    shell(release, [command], scene.namespace)
    assert release.api.find("customresourcedefinitions", ADDED)
    wait_until(lambda: stored(f"new-{next(counted)}"), bool, "the new definition is in force")
    assert "these definitions" not in release.upgrade("--set", "webhooks.enabled=false")
    wait_until(lambda: all(is_served(scene.api, kind) for kind in PARTS_OF_SETS), bool, "all kinds are served")


def template_fields(definition: Json) -> Json:
    """Return the fields of the template of a set."""
    schema = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]
    found: Json = schema["spec"]["properties"]["template"]["properties"]
    return found


def test_mf040_two_operators_are_reported_or_refused(release: Release, tmp_path: Path) -> None:
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "rules": []}
    release.api.create({**role, "metadata": {"name": "grove:system:grove-operator"}})
    warned = "WARNING: the Go operator of Grove is installed in this cluster."
    assert warned in release.upgrade()
    alone = ("--set", "operator.enabled=false,webhooks.enabled=false,preview.enabled=true")
    assert "WARNING" not in release.upgrade(*alone)
    release.api.delete("clusterroles", "grove:system:grove-operator")
    assert "WARNING" not in release.upgrade()
    other = Release(release.plane, "second", "other", tmp_path)
    assert 'ClusterRole "grove-operator"' in other.helm("install", "second", str(CHART), "--create-namespace", code=1)


@pytest.fixture
def monitoring(helm_plane: ControlPlane) -> Iterator[None]:
    """The kinds of the Prometheus operator, whose objects may have any fields here."""
    api = helm_plane.api()
    made: list[Json] = []
    for kind in ("PrometheusRule", "PodMonitor", "ServiceMonitor"):
        plural = f"{kind.lower()}s"
        schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
        made.append(
            {
                "apiVersion": "apiextensions.k8s.io/v1",
                "kind": "CustomResourceDefinition",
                "metadata": {"name": f"{plural}.monitoring.coreos.com"},
                "spec": {
                    "group": "monitoring.coreos.com",
                    "scope": "Namespaced",
                    "names": {"plural": plural, "kind": kind},
                    "versions": [{"name": "v1", "served": True, "storage": True, "schema": schema}],
                },
            }
        )
    apply(api, made)
    yield
    for one in made:
        api.delete("customresourcedefinitions", one["metadata"]["name"])


@pytest.mark.req("MF-036")
@pytest.mark.usefixtures("monitoring")
def test_mf046_a_server_takes_every_part_and_every_value(release: Release, tmp_path: Path) -> None:
    def there() -> set[tuple[str, str]]:
        """Return kind and name of what the release has."""
        return {
            (one["kind"], one["metadata"]["name"]) for one in documents_of(release.helm("get", "manifest", "grove"))
        }

    file = tmp_path / "values.json"
    file.write_text(json.dumps(all_changed()), encoding="utf-8")
    release.upgrade("-f", str(file))
    everything = {(one["kind"], one["metadata"]["name"]) for one in documents(all_changed(), release.home)}
    assert there() == everything
    spec = release.api.get("deployments", "grove-operator", release.home)["spec"]["template"]["spec"]
    assert (spec["nodeSelector"], spec["priorityClassName"]) == ({"pool": "system"}, "system-cluster-critical")
    assert spec["containers"][0]["imagePullPolicy"] == "Always"
    release.upgrade("--set", "podDisruptionBudget.enabled=false")
    gone = everything - there()
    kinds = {"PodDisruptionBudget", "NetworkPolicy", "PrometheusRule", "PodMonitor", "ServiceMonitor"}
    assert {kind for kind, _ in gone} >= kinds
    for kind, name in gone:
        wait_until(lambda kind=kind, name=name: is_gone(release, kind, name), bool, f"{kind} {name} is gone")  # type: ignore[misc]  # mypy infers no type for a default of a lambda


def is_gone(release: Release, kind: str, name: str) -> bool:
    """Return whether an object is gone; a kind that is new answers 429 for a moment."""
    try:
        return release.api.find(kind, name, release.home) is None
    except ApiError:
        return False


def documents_of(text: str) -> list[Json]:
    """Return the objects in a text."""
    return [one for one in yaml.load_all(text, yaml.CSafeLoader) if one is not None]


@pytest.mark.req("MF-045")
def test_mf038_one_command_prepares_a_cluster(release: Release, tmp_path: Path) -> None:
    """The chart comes from a registry; the commands of its notes find an operator that would start."""
    image = ("--set", f"image=example.com/grove:{VERSION}")
    with pushed_chart(tmp_path) as chart:
        said = release.helm("install", "grove", *chart, "--create-namespace", *image)
    assert printed(said) in PAGE.read_text(encoding="utf-8")
    said = release.upgrade("--set", "config.workers=4")
    commands = [line.strip() for line in said.partition("Next:")[2].splitlines()]
    (fetched,) = (line.partition(" > ")[0] for line in commands if "get configmap" in line)
    file = tmp_path / "operator.json"
    file.write_text(shell(release, [fetched], release.home), encoding="utf-8")
    (checked,) = (line.partition("#")[0].split()[1:] for line in commands if "--preflight" in line)
    ran = grove(*checked[:-1], str(file), kubeconfig=release.plane.kubeconfig())
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stdout.startswith("would start")
    found = release.api.everything_in(release.home)
    assert {one["metadata"]["name"] for one in of_kind(found, "Deployment")} == {"grove-operator", "grove-webhooks"}
