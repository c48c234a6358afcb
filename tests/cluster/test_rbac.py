"""The printed role is enough for the operator, and nothing in it is idle: the audit log of a real API server."""

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from grove_core.resources.api_names import SET_FINALIZER
from grove_shell.actions.manifests import installation_objects
from grove_shell.client.rbac_rules import operator_resource_access
from grove_shell.manifests.installation import InstallationOptions
from tests.cluster.api import Api, Json, wait_until
from tests.cluster.binaries import serve_groups
from tests.cluster.installing import Program, access_for, apply, clique, grove_set, remove_cluster_wide
from tests.cluster.nvidia.driver import Driver
from tests.cluster.plane import ControlPlane
from tests.cluster.scenes import is_living, is_ready
from tests.cluster.sharing import shares

USER: Final = "operator"
NO_RIGHTS: Final = "nobody"
"""A user without any rights but those that a test grants."""
SETS: Final = "podcliquesets"
DEVICES: Final[Json] = {"name": "x", "templateSpec": {"spec": {"devices": {}}}}

_LOST: Final = "asked for by name only where the answer to a creation was lost, or the name is somebody else's"
_HEALED: Final = "changed only where somebody else, or an update, makes it differ from the template"
_HANDED_OVER: Final = "handed over to gangs in mode `annotations` alone"
_GATED: Final = "gates are set, and opened, where nothing can be placed at first: played in mode `annotations`"
_COLLECTED: Final = "in mode `annotations` they go with their gang"
_IN_PODGANGS: Final = "sets that share domains or claims have PodGangs; a set without them is played in mode `operator`"
_OF_GROUPS: Final = frozenset({"workloads", "podgroups", "compositepodgroups"})
IDLE: Final = {
    **{
        (resource, "get"): _LOST
        for resource in (
            "computedomains",
            "horizontalpodautoscalers",
            "podgangs",
            "workloads",
            "compositepodgroups",
            "podgroups",
            "resourceclaims",
            "rolebindings",
            "roles",
            "secrets",
            "serviceaccounts",
            "services",
        )
    },
    ("pods", "get"): "asked for only where a pod went, or lost its labels, in the moment before a gang is ended",
    ("podcliquescalinggroups", "get"): "asked for only where a whole scaling group is the cause of an end",
    ("horizontalpodautoscalers", "patch"): _HEALED,
    ("services", "patch"): _HEALED,
    ("podgroups", "patch"): _HEALED,
    ("workloads", "delete"): _HEALED,
}
"""What this one life of a set does not show in any mode; tests/manifests/test_access.py has it asked for."""
IDLE_IN: Final = {
    "operator": {
        ("computedomains", "patch"): _HANDED_OVER,
        ("resourceclaims", "patch"): _HANDED_OVER,
        ("pods", "patch"): _GATED,
    },
    "annotations": {
        ("computedomains", "delete"): _COLLECTED,
        **{
            (resource, verb): _IN_PODGANGS
            for resource in ("workloads", "compositepodgroups", "podgroups")
            for verb in ("create", "delete")
        },
    },
}


class Life:
    """A set and its operator, in one mode of MNNVL."""

    def __init__(self, plane: ControlPlane, namespace: str, folder: Path, mode: str) -> None:
        self.api: Api = plane.api()
        self.plane = plane
        self.namespace = namespace
        self.mode = mode
        words = ["operator", "--kubeconfig", str(plane.kubeconfig(USER)), "-n", namespace]
        config = {
            "kind": "OperatorConfiguration",
            "leaderElection": {"namespace": namespace},
            "mnnvl": {"enabled": True, "mode": mode},
        }
        self.program = Program(words, config, folder / "operator.log")

    def set(self) -> Json:
        return self.api.find(SETS, "llm", self.namespace) or {}

    def pods(self) -> list[Json]:
        return self.api.all_of("pods", self.namespace)

    def await_ready(self, count: int) -> list[str]:
        """Wait until so many pods are ready and stay, and give their names."""

        def ready() -> list[str]:
            return [pod["metadata"]["name"] for pod in self.pods() if is_living(pod) and is_ready(pod)]

        return wait_until(ready, lambda names: len(names) == count, f"{count} pods are ready", seconds=60)

    def scale(self, resource: str, name: str, replicas: int) -> None:
        self.api.patch(resource, name, self.namespace, patch={"spec": {"replicas": replicas}})

    def cordon(self, *, closed: bool = True) -> None:
        """Let nothing new come to the node of the test, or let it come again."""
        self.api.patch("nodes", f"{self.namespace}-0", patch={"spec": {"unschedulable": closed}})

    def asked(self) -> list[Json]:
        events = self.plane.audit(USER)
        return [event for event in events if f"/namespaces/{self.namespace}/" in event["requestURI"]]


@pytest.fixture(params=IDLE_IN)
def life(request: pytest.FixtureRequest, nvidia_plane: ControlPlane, namespace: str, tmp_path: Path) -> Iterator[Life]:
    found = Life(nvidia_plane, namespace, tmp_path, request.param)
    apply(found.api, installation_objects(InstallationOptions(), ("crds",)))
    objects = access_for(InstallationOptions(home=namespace, watched=namespace), {"grove-operator": USER})
    apply(found.api, objects)
    # One node: Kubernetes 1.35 fails to score several for a pod with a new claim beside an allocated, shared one.
    found.api.add_nodes([f"{namespace}-0"], {"test": namespace}, **{"nvidia.com/gpu": "16"})
    with Driver(nvidia_plane, namespace, channels=16, shared=found.mode == "annotations"):
        yield found
    remove_cluster_wide(found.api, objects)
    found.api.request("DELETE", f"/api/v1/nodes?labelSelector=test%3D{namespace}")


def manifest(namespace: str) -> Json:
    """A set with something of every kind in it; whatever is made for it has an owner that waits for its end."""
    gpus = {"limits": {"nvidia.com/gpu": "1"}}
    container = {"name": "main", "image": "example.com/main", "resources": gpus}
    pod = {"nodeSelector": {"test": namespace}, "containers": [container]}
    cliques = [
        clique("lone", 3, minAvailable=2, pod=pod, autoScalingConfig={"maxReplicas": 4, "minReplicas": 2}),
        clique("member", 1, pod=pod),
    ]
    reported = {"annotations": shares()}
    group = {"name": "pool", "cliqueNames": ["member"], "replicas": 2, "minAvailable": 1, **reported}
    sharing = [{"name": "x", "scope": "PerReplica"}]
    whole = grove_set(
        "llm",
        namespace,
        *cliques,
        podCliqueScalingGroups=[group],
        terminationDelay="3s",
        resourceClaimTemplates=[DEVICES],
        resourceSharing=sharing,
    )
    whole["metadata"] |= {"finalizers": [SET_FINALIZER], **reported}
    return whole


def play_in_groups(life: Life) -> None:
    """A set that shares nothing is ready, scaled out and in, and gone."""
    container = {"name": "main", "image": "example.com/main"}
    pod = {"nodeSelector": {"test": life.namespace}, "containers": [container]}
    life.api.create(grove_set("plain", life.namespace, clique("solo", 1, pod=pod)))
    for count in (1, 2, 1):
        life.scale(SETS, "plain", count)
        life.await_ready(count)
    life.api.delete(SETS, "plain", life.namespace)
    wait_until(lambda: life.api.find(SETS, "plain", life.namespace), lambda found: not found, "it is gone", seconds=60)


def play(life: Life) -> None:
    """Ready, out, in, ended once, and gone; in one mode nothing can be placed at first, one begins with groups."""
    if life.mode == "operator":
        play_in_groups(life)
    if life.mode == "annotations":
        life.cordon()
    life.api.create(manifest(life.namespace))
    if life.mode == "annotations":
        gated = "pods wait for the base gang"
        wait_until(lambda: [pod for pod in life.pods() if pod["spec"].get("schedulingGates")], bool, gated)
        life.cordon(closed=False)
    life.await_ready(5)
    life.scale(SETS, "llm", 2)
    life.await_ready(10)
    life.scale(SETS, "llm", 1)
    life.await_ready(5)
    life.scale("podcliques", "llm-0-lone", 2)
    victim = next(name for name in life.await_ready(4) if "-lone" in name)
    before = {pod["metadata"]["uid"] for pod in life.pods()}
    life.api.annotate("pods", victim, life.namespace, not_ready="true")
    wait_until(
        lambda: [pod["metadata"]["uid"] for pod in life.pods()],
        lambda uids: not before.intersection(uids),
        "the gang was ended and made anew",
        seconds=60,
    )
    life.await_ready(5)
    life.scale("podcliquescalinggroups", "llm-0-pool", 1)
    life.await_ready(4)
    life.api.delete(SETS, "llm", life.namespace)
    wait_until(life.set, lambda found: not found, "the set is gone", seconds=60)


def test_mf020_the_printed_role_is_enough_and_nothing_in_it_is_idle(life: Life) -> None:
    with life.program.running() as process:
        life.program.await_ready(process)
        play(life)
        wait_until(
            lambda: [event["verb"] for event in life.asked()], lambda verbs: "delete" in verbs, "it is written down"
        )
    asked = life.asked()
    refused = [event["requestURI"] for event in asked if event["responseStatus"]["code"] == 403]
    assert not refused, refused[:5]
    seen = set()
    for event in asked:
        ref = event["objectRef"]
        part = f"/{ref['subresource']}" if ref.get("subresource") else ""
        seen.add((ref.get("apiGroup", ""), f"{ref['resource']}{part}", event["verb"]))
    declared = {
        (one.group, one.resource, verb)
        for one in operator_resource_access(everywhere=False)
        for verb in one.verbs
        if not one.unrequested and (one.resource, verb) not in {**IDLE, **IDLE_IN[life.mode]}
        if serve_groups() or one.resource not in _OF_GROUPS
    }
    assert (
        seen
        - {(one.group, one.resource, verb) for one in operator_resource_access(everywhere=False) for verb in one.verbs}
        == set()
    )
    assert declared - seen == set()


@pytest.mark.req("MF-023")
def test_mf025_everything_is_applied_in_one_go(bare_plane: ControlPlane) -> None:
    """In a cluster of its own, for the webhooks that are registered at the end have no backend."""
    api = bare_plane.api()
    for reported in (InstallationOptions(), InstallationOptions(home="ml", watched="ml")):
        if reported.watched:
            api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ml"}})
        objects = installation_objects(reported)
        applied = apply(api, objects)
        assert [one["kind"] for one in applied] == [one["kind"] for one in objects]
        for made, one in itertools.product(applied, objects):
            if made["kind"] == one["kind"] == "ClusterRole" and made["metadata"]["name"] == one["metadata"]["name"]:
                assert made["rules"] == one["rules"]
        again = apply(api, objects)
        for first, second in zip(applied, again, strict=True):
            key = "generation" if first["kind"] == "CustomResourceDefinition" else "resourceVersion"
            assert first["metadata"][key] == second["metadata"][key], "applied again, nothing changes"


def test_mf047_the_operator_takes_the_configured_lease(
    api_server: ControlPlane, namespace: str, tmp_path: Path
) -> None:
    """Of another name, in another namespace, with nothing but the printed roles."""
    api: Api = api_server.api()
    elsewhere, lease = "kube-public", f"{namespace}-lease"
    apply(api, installation_objects(InstallationOptions(), ("crds",)))
    installation = InstallationOptions(home=namespace, watched=namespace, lease=lease, lease_home=elsewhere)
    objects = access_for(installation, {"grove-operator": NO_RIGHTS})
    apply(api, objects)
    words = ["operator", "--kubeconfig", str(api_server.kubeconfig(NO_RIGHTS)), "-n", namespace]
    config = {"kind": "OperatorConfiguration", "leaderElection": {"name": lease, "namespace": elsewhere}}
    program = Program(words, config, tmp_path / "operator.log")
    try:
        with program.running() as process:
            program.await_ready(process)
            held = wait_until(
                lambda: api.find("leases", lease, elsewhere),
                bool,
                "the Lease is taken",
                seconds=60,
            )
            assert held is not None
            assert held["spec"]["holderIdentity"]
        api.delete("leases", lease, elsewhere)
    finally:
        for one in objects:
            if one["metadata"].get("namespace") == elsewhere:
                api.delete(one["kind"], one["metadata"]["name"], elsewhere)
        remove_cluster_wide(api, objects)
