"""Control planes as fixtures. Without ``--cluster`` whatever asks for one is skipped."""

import contextlib
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from grove_shell.manifests.crd_definitions import compute_domain_crd_manifests
from grove_shell.manifests.installation import OPERATOR, InstallationOptions, daemon_rbac_roles
from tests.cluster import binaries
from tests.cluster.api import ApiError, wait_until
from tests.cluster.binaries import APISERVER, CONTROLLERS, ETCD
from tests.cluster.daemons import Domains
from tests.cluster.installing import access_for, apply, remove_cluster_wide
from tests.cluster.nvidia.definitions import installed, released
from tests.cluster.nvidia.devices import device_classes
from tests.cluster.nvidia.driver import Driver
from tests.cluster.operators import Operator, Starting, install_definitions, let
from tests.cluster.plane import EVERYTHING, INSTALLED, OPERATORS, REVIEWER, STORE, ControlPlane
from tests.cluster.racks import LEVELS, Racks
from tests.cluster.scenes import PARTS_OF_SETS, Scene
from tests.cluster.sharing import REPORTED, SHARED, Joining
from tests.cluster.webhooks import Installed

DAEMONS: Final = "viewer"
QUIET: Final = (ETCD, APISERVER, CONTROLLERS)
NEEDS: Final = {
    "api_server": STORE,
    "bare_plane": STORE,
    "calling_plane": STORE,
    "control_plane": EVERYTHING,
    "helm_plane": EVERYTHING,
    "quiet_plane": QUIET,
}


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what cannot run here. Said in this one place, it becomes one line of the summary."""
    asked = set(getattr(item, "fixturenames", ()))
    needed = {program for fixture, programs in NEEDS.items() if fixture in asked for program in programs}
    if needed and not item.config.getoption("--cluster"):
        pytest.skip("needs a control plane: nox -s cluster, or pytest --cluster tests/cluster")
    missing = [program for program in EVERYTHING if program not in binaries.find()]
    if needed.intersection(missing):
        pytest.skip(f"{', '.join(missing)} not found: {binaries.COMMAND}")
    if item.get_closest_marker("groups") and not binaries.serve_groups():
        pytest.skip("needs a control plane that places gangs by the Workload API")


@pytest.fixture(scope="session")
def programs() -> dict[str, Path]:
    """Path of each program that is there."""
    return binaries.find()


@pytest.fixture(scope="session")
def api_server(programs: dict[str, Path]) -> Iterator[ControlPlane]:
    """For tests that need only the API server: the shared control plane, with as many other programs as there are."""
    with ControlPlane(programs, parts=programs.keys()) as plane:
        yield plane


@pytest.fixture(scope="session")
def control_plane(api_server: ControlPlane) -> ControlPlane:
    """The whole control plane that all tests share; each keeps to a namespace and nodes of its own."""
    return api_server


@pytest.fixture(scope="module")
def quiet_plane(programs: dict[str, Path]) -> Iterator[ControlPlane]:
    """Another one with Grove's definitions and a garbage collector, with no other writer."""
    with ControlPlane(programs, parts=QUIET) as plane:
        install_definitions(plane.api())
        plane.restart(CONTROLLERS)  # the garbage collector looks for new kinds when it begins, then every 30 s
        yield plane


@pytest.fixture
def bare_plane(programs: dict[str, Path]) -> Iterator[ControlPlane]:
    """One for this test alone, without any definition, and without controllers, scheduler and kubelet."""
    with ControlPlane(programs, parts=STORE) as plane:
        let(plane.api(), "operator")
        let(plane.api(), REVIEWER)
        yield plane


@pytest.fixture
def namespace(api_server: ControlPlane) -> Iterator[str]:
    """A namespace of this test alone, in the shared control plane."""
    name = f"test-{secrets.token_hex(4)}"
    api = api_server.api()
    api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    yield name
    api.delete("namespaces", name)


@pytest.fixture(scope="session")
def grove_plane(control_plane: ControlPlane) -> ControlPlane:
    """The shared control plane, with Grove's definitions, and operators with all rights."""
    api = control_plane.api()
    install_definitions(api)
    control_plane.restart(CONTROLLERS)  # the garbage collector looks for new kinds when it begins, then every 30 s
    for user in OPERATORS:
        let(api, user)
    return control_plane


@pytest.fixture(scope="module")
def nvidia_plane(control_plane: ControlPlane) -> Iterator[ControlPlane]:
    """The shared control plane, until the module ends with NVIDIA's kinds as released, and its device classes."""
    with installed(control_plane, *released()), device_classes(control_plane.api()):
        yield control_plane


@pytest.fixture
def driver(nvidia_plane: ControlPlane, namespace: str) -> Iterator[Driver]:
    """NVIDIA's driver for the namespace of the test and the nodes with its label."""
    with Driver(nvidia_plane, namespace) as driver:
        yield driver


@pytest.fixture(scope="module")
def domain_plane(control_plane: ControlPlane) -> Iterator[ControlPlane]:
    """The shared control plane with our definitions of both kinds, and a user with exactly the printed roles."""
    api = control_plane.api()
    with installed(control_plane, *compute_domain_crd_manifests()):
        for role in daemon_rbac_roles():
            api.create(role)
            let(api, DAEMONS, role["metadata"]["name"])
        yield control_plane
        for name in ("grove-daemon", "grove-domain-controller"):
            api.delete("clusterrolebindings", f"{DAEMONS}-{name}")
            api.delete("clusterroles", name)


@pytest.fixture
def domains(domain_plane: ControlPlane, namespace: str, tmp_path: Path) -> Iterator[Domains]:
    made = Domains(domain_plane, namespace, DAEMONS, tmp_path)
    yield made
    made.close()


@pytest.fixture
def scene(grove_plane: ControlPlane, namespace: str) -> Iterator[Scene]:
    """Where sets of this test live."""
    scene = Scene(grove_plane.api(), namespace)
    yield scene
    scene.close()


@pytest.fixture
def no_other_sets(grove_plane: ControlPlane) -> None:
    """Nothing is left of the sets of earlier tests: the users of a topology are counted in all namespaces."""
    api = grove_plane.api()

    def left() -> list[str]:
        found = [(kind, one["metadata"]) for kind in PARTS_OF_SETS for one in api.all_of(kind)]
        for kind, metadata in found:
            where = (metadata["name"], metadata["namespace"])
            with contextlib.suppress(ApiError):  # gone meanwhile
                api.delete(kind, *where)
                api.patch(kind, *where, patch={"metadata": {"finalizers": None}})
        return [metadata["name"] for _, metadata in found]

    wait_until(left, lambda names: not names, "no set is left", seconds=90)


@pytest.fixture
def starting(grove_plane: ControlPlane, scene: Scene) -> Iterator[Starting]:
    """Makes operators of the namespace of the test; whichever still runs is killed in the end."""
    made: list[Operator] = []

    def start(user: str = "operator", **more: Any) -> Operator:
        made.append(Operator(grove_plane, user, **{"namespace": scene.namespace, **more}))
        return made[-1]

    yield start
    for each in made:
        each.kill()


@pytest.fixture
def installed_operator(grove_plane: ControlPlane, scene: Scene, starting: Starting) -> Iterator[Operator]:
    """An operator that has yet to be started, and may do in the namespace of the test what the printed roles say."""
    objects = access_for(InstallationOptions(home=scene.namespace, watched=scene.namespace), {OPERATOR: INSTALLED})
    apply(scene.api, objects)
    yield starting(INSTALLED)
    remove_cluster_wide(scene.api, objects)
    assert not denied(grove_plane, INSTALLED, scene.namespace)


def denied(plane: ControlPlane, user: str, namespace: str) -> list[str]:
    """What the roles of a user did not allow in this namespace; a quota forbids with the same code."""
    return [
        event["requestURI"]
        for event in plane.audit(user)
        if event.get("annotations", {}).get("authorization.k8s.io/decision") == "forbid"
        if event.get("objectRef", {}).get("namespace") == namespace
    ]


@pytest.fixture
def fabric(nvidia_plane: ControlPlane, namespace: str) -> Iterator[Driver]:
    """NVIDIA's driver as the design of MNNVL by annotation has it: pods on many nodes share the device of a domain."""
    with Driver(nvidia_plane, namespace, shared=True) as driver:
        yield driver


@pytest.fixture
def joining(nvidia_plane: ControlPlane, grove_plane: ControlPlane, scene: Scene, tmp_path: Path) -> Iterator[Joining]:
    """Webhooks that are called about the PodCliques of the namespace of the test; nothing may be denied to them."""
    assert nvidia_plane is grove_plane
    installed = Installed(grove_plane, scene.namespace, tmp_path, SHARED)
    apply(scene.api, installed.objects)
    found = Joining(installed, scene).start()
    yield found
    found.stop()
    remove_cluster_wide(scene.api, installed.objects)
    assert not denied(grove_plane, REVIEWER, scene.namespace)


@pytest.fixture
def sharing(installed_operator: Operator, fabric: Driver, joining: Joining) -> Operator:
    """An operator beside these webhooks with the same configuration, not started yet."""
    assert fabric.daemons_ready
    assert joining.runs
    installed_operator.mnnvl = REPORTED
    return installed_operator


@pytest.fixture
def operator(starting: Starting) -> Operator:
    """An operator that runs, alone in the namespace of the test."""
    return starting().start()


@pytest.fixture
def grouping(starting: Starting) -> Operator:
    """An operator that runs, with groups of the Workload API and a topology of zones and racks."""
    operator = starting()
    operator.backend, operator.topology = "kubernetes", {"enabled": True, "levels": list(LEVELS)}
    return operator.start()


@pytest.fixture
def racks(scene: Scene) -> Iterator[Racks]:
    """Racks of nodes for the namespace of the test."""
    racks = Racks(scene)
    yield racks
    racks.close()
