"""Topologies on a real control plane: made, held, followed, and reported where they no longer hold."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import pytest

from grove_core.resources.api_names import TOPOLOGY_FINALIZER
from grove_core.resources.cluster_topology import DEFAULT_TOPOLOGY
from grove_core.resources.configuration import TopologyAwareSettings
from grove_shell.manifests.installation import OPERATOR, InstallationOptions
from tests.cluster.api import MERGE, Json, wait_until
from tests.cluster.conftest import denied
from tests.cluster.installing import access_for, apply, remove_cluster_wide
from tests.cluster.operators import SHORT, Starting, grove, install_definitions
from tests.cluster.plane import INSTALLED, ControlPlane
from tests.cluster.scenes import Scene, clique, condition, group
from tests.cluster.topology_scene import KEYS, TOPOLOGIES, Keeping, levels, reported, required

BINDINGS: Final = "clustertopologybindings"
SETS: Final = "podcliquesets"
SYNC: Final = "TopologyInSync"


def topology(name: str, kind: str = "ClusterTopology", **keys: str) -> Json:
    spec = {"levels": levels(**(keys or KEYS))}
    return {"apiVersion": "grove.io/v1alpha1", "kind": kind, "metadata": {"name": name}, "spec": spec}


def near(scene: Scene, domain: str = "rack", named: str = "", **more: Any) -> Json:
    """A set whose pods want to be near each other."""
    manifest = scene.set_of(clique("a", 2), **{"topologyConstraint": {"packDomain": domain}, **more})
    if named:
        manifest["spec"]["template"]["clusterTopologyName"] = named
    return manifest


@pytest.fixture
def keeping(grove_plane: ControlPlane, no_other_sets: None, scene: Scene, starting: Starting) -> Iterator[Keeping]:
    objects = access_for(InstallationOptions(home=scene.namespace), {OPERATOR: INSTALLED})
    apply(scene.api, objects)
    found = Keeping(starting(INSTALLED, namespace=""), scene)
    yield found
    found.operator.kill()
    for kind in (TOPOLOGIES, BINDINGS):
        for one in scene.api.all_of(kind) if kind == TOPOLOGIES else ():
            name = one["metadata"]["name"]
            scene.api.patch(kind, name, patch={"metadata": {"finalizers": None}}, media=MERGE)
            scene.api.delete(kind, name)
    remove_cluster_wide(scene.api, objects)
    assert not denied(grove_plane, INSTALLED, scene.namespace)


@pytest.mark.req("TP-020")
@pytest.mark.req("TP-002")
def test_tp050_the_default_is_made_used_and_held(keeping: Keeping) -> None:
    scene = keeping.scene
    keeping.start()
    made = keeping.await_held(DEFAULT_TOPOLOGY, held=False)
    assert made["spec"]["levels"] == levels(**KEYS)
    assert made["metadata"]["labels"] == {"app.kubernetes.io/managed-by": "grove-operator"}
    scene.api.create(near(scene))
    scene.await_ready(2)
    gang = scene.get("podgangs", "llama-0")
    assert required(gang) == [KEYS["rack"]]
    assert gang["metadata"]["annotations"]["grove.io/topology-name"] == DEFAULT_TOPOLOGY
    keeping.await_held(DEFAULT_TOPOLOGY)
    assert not condition(scene.get(SETS, "llama"), SYNC)
    scene.api.delete(SETS, "llama", scene.namespace)
    scene.await_gone(SETS, "llama")
    keeping.await_held(DEFAULT_TOPOLOGY, held=False)


@pytest.mark.req("TP-040")
@pytest.mark.req("TP-041")
@pytest.mark.req("TP-047")
def test_tp043_one_that_is_deleted_while_used_goes_with_its_last_set(keeping: Keeping) -> None:
    scene = keeping.scene
    name = f"{scene.namespace}-aws"
    keeping.api.create(topology(name))
    keeping.start()
    scene.api.create(near(scene, named=name))
    keeping.await_held(name)
    scene.await_ready(2)
    keeping.api.delete(TOPOLOGIES, name)
    (reported_for,) = wait_until(lambda: keeping.events(name), bool, "the administrator gets an Event")
    assert (reported_for["reason"], reported_for["type"]) == ("UsersStay", "Warning")
    assert (
        f"it is being deleted, and its finalizer holds it while it is used by {scene.namespace}/llama"
        in reported_for["note"]
    )
    assert keeping.ready_page() == f"ok\n{reported_for['note']}\n"
    assert keeping.find(name)["metadata"]["deletionTimestamp"]
    scene.api.delete(SETS, "llama", scene.namespace)
    wait_until(lambda: keeping.find(name), lambda found: not found, "it is gone")
    wait_until(keeping.ready_page, lambda page: page == "ok\n", "nothing is held back any more")


@pytest.mark.req("TP-010")
@pytest.mark.req("TP-025")
@pytest.mark.req("TP-026")
@pytest.mark.req("TP-031")
@pytest.mark.req("TP-046")
def test_tp030_a_gang_follows_while_it_waits_and_stays_once_it_is_bound(keeping: Keeping) -> None:
    """No webhook stops the administrator here: as if a pod was bound between the check and the change (TP5)."""
    scene, name = keeping.scene, f"{keeping.scene.namespace}-aws"
    keeping.start()
    manifest = near(scene, named=name)
    manifest["spec"]["template"]["cliques"][0]["spec"]["podSpec"]["nodeSelector"] = {"test": "nowhere"}
    scene.api.create(manifest)
    missing = scene.await_condition(SETS, "llama", SYNC, "False")
    assert condition(missing, SYNC)["reason"] == "TopologyMissing"
    assert f"topology {name} does not exist" in condition(missing, SYNC)["message"]
    assert not scene.names("podgangs")
    keeping.api.create(topology(name))
    keeping.await_keys("llama-0", KEYS["rack"])
    scene.await_object(SETS, "llama", lambda found: not condition(found, SYNC), "the condition is gone")
    keeping.change(name, zone=KEYS["zone"], rack="example.com/shelf")
    keeping.await_keys("llama-0", "example.com/shelf")

    scene.api.add_nodes([f"{scene.namespace}-late"], {"test": "nowhere"})
    scene.await_ready(2)
    scene.await_status(replicas=1)
    scene.await_counts("podcliques", "llama-0-a", {"scheduledReplicas": 2})
    keeping.change(name, zone=KEYS["zone"], rack="example.com/cabinet")
    said = scene.await_condition(SETS, "llama", SYNC, "False")
    assert condition(said, SYNC)["reason"] == "PlacedOtherwise"
    assert "llama-0" in condition(said, SYNC)["message"]
    assert required(scene.get("podgangs", "llama-0")) == ["example.com/shelf"]
    keeping.change(name, zone=KEYS["zone"], rack="example.com/shelf")
    scene.await_object(SETS, "llama", lambda found: not condition(found, SYNC), "the condition is gone")
    scene.api.request("DELETE", f"/api/v1/nodes/{scene.namespace}-late")


@pytest.mark.req("TP-051")
@pytest.mark.req("TP-053")
@pytest.mark.req("TP-047")
def test_tp052_other_levels_wait_until_no_pod_is_placed(keeping: Keeping) -> None:
    """An operator configured with other levels while the default is in use starts, and reports it (D16)."""
    scene = keeping.scene
    keeping.start()
    scene.api.create(near(scene))
    scene.await_ready(2)
    scene.await_counts("podcliques", "llama-0-a", {"scheduledReplicas": 2})
    keeping.await_held(DEFAULT_TOPOLOGY)
    keeping.operator.kill()

    keeping.start(zone=KEYS["zone"], rack="example.com/cabinet")
    wait_until(
        lambda: [one["reason"] for one in keeping.events(DEFAULT_TOPOLOGY)],
        lambda reported: "DefaultInUse" in reported,
        "reported",
    )
    assert f"placed by them: {scene.namespace}/llama" in keeping.ready_page()
    assert keeping.find(DEFAULT_TOPOLOGY)["spec"]["levels"] == levels(**KEYS)
    scene.api.delete(SETS, "llama", scene.namespace)
    wait_until(
        lambda: keeping.find(DEFAULT_TOPOLOGY)["spec"]["levels"],
        lambda now: now == levels(zone=KEYS["zone"], rack="example.com/cabinet"),
        "the configured levels are there",
    )
    keeping.change(DEFAULT_TOPOLOGY, zone="somebody/elses")
    wait_until(
        lambda: keeping.find(DEFAULT_TOPOLOGY)["spec"]["levels"],
        lambda now: now == levels(zone=KEYS["zone"], rack="example.com/cabinet"),
        "the edit is overwritten",
    )

    scene.api.create(near(scene))
    keeping.await_held(DEFAULT_TOPOLOGY)
    keeping.operator.kill()
    keeping.start(enabled=False)
    keeping.await_held(DEFAULT_TOPOLOGY, held=False)
    assert keeping.find(DEFAULT_TOPOLOGY)["spec"]["levels"]


@pytest.mark.req("TP-020")
@pytest.mark.req("CL-011")
def test_tp047_what_a_plan_says_of_topologies_happens(keeping: Keeping) -> None:
    scene, name = keeping.scene, f"{keeping.scene.namespace}-aws"
    keeping.api.create(topology(name))
    pool = group("pool", "b", topologyConstraint={"packDomain": "host"})
    manifest = scene.set_of(clique("a"), clique("b", 2), podCliqueScalingGroups=[pool], clusterTopologyName=name)
    manifest["spec"]["template"]["topologyConstraint"] = {"pack": {"required": "zone", "preferred": "rack"}}
    scene.api.create(manifest)
    keeping.operator.topology = reported()
    keeping.operator.configure()
    asked = ("plan", "--live", "--all-namespaces", "-o", "json", "--config", str(keeping.operator.config))
    ran = grove(*asked, kubeconfig=keeping.operator.plane.kubeconfig("admin"))
    assert ran.returncode == 0, ran.stderr
    everything = json.loads(ran.stdout)["plans"]
    plans = {plan["root"]["name"]: plan for plan in everything if plan["root"]["namespace"] in {"", scene.namespace}}
    assert [step["object"] for step in plans[name]["rounds"][0]["steps"]] == [
        {"metadata": {"finalizers": [TOPOLOGY_FINALIZER]}}
    ]
    (step,) = plans[DEFAULT_TOPOLOGY]["rounds"][0]["steps"]
    assert step["action"] == "create"
    gangs = [one["object"] for one in steps_of(plans["llama"]) if one["target"]["kind"] == "PodGang"]

    keeping.start()
    keeping.await_held(name)
    assert keeping.await_held(DEFAULT_TOPOLOGY, held=False)["spec"] == step["object"]["spec"]
    scene.await_ready(3)
    stored = scene.get("podgangs", "llama-0")
    (planned,) = [gang for gang in gangs if gang["metadata"]["name"] == "llama-0"]
    for part in ("topologyConstraint", "topologyConstraintGroupConfigs"):
        assert stored["spec"].get(part) == planned["spec"].get(part)
    assert stored["spec"]["topologyConstraint"]["packConstraint"] == {
        "required": KEYS["zone"],
        "preferred": KEYS["rack"],
    }


def steps_of(plan: Json) -> list[Json]:
    return [step for reported in plan["rounds"] for step in reported["steps"] if step["action"] == "create"]


@pytest.mark.req("MF-020")
def test_tp045_an_operator_of_one_namespace_follows_and_keeps_none(
    grove_plane: ControlPlane, scene: Scene, starting: Starting
) -> None:
    name = f"{scene.namespace}-aws"
    installation = InstallationOptions(
        home=scene.namespace, watched=scene.namespace, topology=TopologyAwareSettings(enabled=True)
    )
    objects = access_for(installation, {OPERATOR: INSTALLED})
    apply(scene.api, objects)
    operator = starting(INSTALLED)
    operator.topology = reported()
    operator.start()
    scene.api.create(topology(name))
    scene.api.create(near(scene, named=name))
    scene.await_ready(2)
    assert required(scene.get("podgangs", "llama-0")) == [KEYS["rack"]]
    assert "finalizers" not in scene.api.get(TOPOLOGIES, name)["metadata"]
    assert scene.api.find(TOPOLOGIES, DEFAULT_TOPOLOGY) is None
    scene.api.delete(TOPOLOGIES, name)
    scene.await_condition(SETS, "llama", SYNC, "False")
    operator.kill()
    remove_cluster_wide(scene.api, objects)


@pytest.mark.req("TP-054")
@pytest.mark.req("OP-034")
def test_tp049_where_only_the_newer_kind_is_known(keeping: Keeping) -> None:
    """Its definition belongs to another installation; ours goes while the test lasts."""
    scene, name = keeping.scene, f"{keeping.scene.namespace}-gcp"
    definition = keeping.api.get("customresourcedefinitions", f"{TOPOLOGIES}.grove.io")
    keeping.api.delete("customresourcedefinitions", f"{TOPOLOGIES}.grove.io")
    newer = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{BINDINGS}.grove.io"},
        "spec": {
            **definition["spec"],
            "names": {
                "kind": "ClusterTopologyBinding",
                "listKind": "ClusterTopologyBindingList",
                "plural": BINDINGS,
                "singular": "clustertopologybinding",
            },
        },
    }
    apply(keeping.api, [newer])
    for each in (name, DEFAULT_TOPOLOGY):
        apply(keeping.api, [topology(each, "ClusterTopologyBinding")])
    keeping.start(zone="something/else")
    scene.api.create(near(scene, named=name))
    scene.await_ready(2)
    assert required(scene.get("podgangs", "llama-0")) == [KEYS["rack"]]
    keeping.await_held(name, kind=BINDINGS)
    assert keeping.find(DEFAULT_TOPOLOGY, BINDINGS)["spec"]["levels"] == levels(**KEYS)
    assert "has the name of the default topology" in keeping.ready_page()
    scene.api.delete(SETS, "llama", scene.namespace)
    scene.await_gone(SETS, "llama")
    keeping.await_held(name, held=False, kind=BINDINGS)
    keeping.operator.kill()
    keeping.api.delete("customresourcedefinitions", f"{BINDINGS}.grove.io")
    install_definitions(keeping.api)


@pytest.mark.req("TP-123")
def test_tp121_users_of_a_topology_are_read_from_the_server(
    keeping: Keeping, grove_plane: ControlPlane, tmp_path: Path
) -> None:
    """The table of the design document, and what a change and a deletion would mean, without writing anything."""
    scene, aws = keeping.scene, f"{keeping.scene.namespace}-aws"
    kubeconfig, mine = grove_plane.kubeconfig("admin"), f"{scene.namespace}/"
    keeping.api.create(topology(aws))
    keeping.start()
    for name, named in (("llama", aws), ("mixtral", aws), ("simple", "")):
        scene.api.create(near(scene, named=named, name=name))
    scene.await_ready(6)
    for name in ("llama", "mixtral", "simple"):
        scene.await_counts("podcliques", f"{name}-0-a", {"scheduledReplicas": 2})
    for held in (aws, DEFAULT_TOPOLOGY):
        keeping.await_held(held)

    listed = grove("topology", "list", "--live", kubeconfig=kubeconfig)
    assert (listed.returncode, listed.stderr) == (0, "")
    rows = [" ".join(line.split()) for line in listed.stdout.partition("\n\n")[0].splitlines() if mine in line]
    assert sorted(rows) == sorted(
        [
            f"{aws} {mine}llama 2 pods bound",
            f"{aws} {mine}mixtral 2 pods bound",
            f"{DEFAULT_TOPOLOGY} (default) {mine}simple 2 pods bound",
        ]
    )

    deleted = grove("topology", "impact", aws, "--live", "-o", "json", kubeconfig=kubeconfig)
    found = json.loads(deleted.stdout)
    assert (deleted.returncode, found["verdict"], found["topology"]["state"]) == (0, "Admit", "Held")
    assert found["topology"]["finalizer"] is True
    assert [one["requirement"] for one in found["warnings"]] == ["TP-086"]

    other = tmp_path / "changed.json"
    other.write_text(json.dumps(topology(aws, zone=KEYS["zone"], rack="example.com/shelf")), encoding="utf-8")
    changed = grove("topology", "impact", aws, "--live", "--changed", str(other), "-o", "json", kubeconfig=kubeconfig)
    found = json.loads(changed.stdout)
    assert (changed.returncode, found["verdict"]) == (1, "Deny")
    assert [one["requirement"] for one in found["objections"]] == ["TP-084"]
    assert {gang["name"]: gang["fate"] for one in found["sets"] for gang in one["podGangs"]} == {
        "llama-0": "Stays",
        "mixtral-0": "Stays",
    }
    assert keeping.find(aws)["spec"]["levels"] == levels(**KEYS)


@pytest.mark.req("TP-026")
@pytest.mark.req("TP-046")
def test_tp030_two_operators_and_a_change_that_races_with_a_binding_pod(
    keeping: Keeping, scene: Scene, starting: Starting
) -> None:
    """Levels change while pods are bound, and the leader is killed: in the end the gang fits, or the set reports it."""
    name, racks = f"{scene.namespace}-aws", {"example.com/shelf", "example.com/cabinet"}
    keeping.api.create(topology(name))
    election = {**SHORT, "enabled": True, "namespace": scene.namespace}
    pair = [starting(INSTALLED, namespace="", election=election) for _ in range(2)]
    for each in pair:
        each.topology = reported()
        each.start()
    (leader,) = wait_until(lambda: [one for one in pair if one.said("leads")], bool, "one of them leads")
    for round_, rack in enumerate(sorted(racks)):
        label, key = f"{scene.namespace}-race-{round_}", f"race-{round_}"
        manifest = near(scene, named=name)
        manifest["metadata"]["name"] = key
        manifest["spec"]["template"]["cliques"][0]["spec"]["podSpec"]["nodeSelector"] = {"test": label}
        scene.api.create(manifest)
        scene.await_object("podgangs", f"{key}-0", required, "its gang gets the keys")
        with ThreadPoolExecutor(2) as threads:
            bound = threads.submit(scene.api.add_nodes, [label], {"test": label})
            changed = threads.submit(keeping.change, name, zone=KEYS["zone"], rack=rack)
            bound.result()
            changed.result()
        if round_ == 0:
            leader.kill()
        scene.await_ready(2, f"{key}-0-a", seconds=90)
        before = {pod["metadata"]["uid"] for pod in scene.pods(f"{key}-0-a")}

        def is_honest(found: Json, key: str = key, rack: str = rack) -> bool:
            """Whether the gang says what the topology says, or else the set that it does not."""
            fits = required(scene.get("podgangs", f"{key}-0")) == [rack]
            said = condition(found, SYNC)
            return not said if fits else (said.get("status"), said.get("reason")) == ("False", "PlacedOtherwise")

        scene.await_object(SETS, key, is_honest, "the gang fits, or the set says that it does not", seconds=90)
        assert {pod["metadata"]["uid"] for pod in scene.pods(f"{key}-0-a")} == before, "nothing that runs is touched"
        scene.api.request("DELETE", f"/api/v1/nodes/{label}")
    for each in pair:
        each.kill()
