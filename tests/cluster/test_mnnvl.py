"""ComputeDomains by the operator: before cliques, in running pods, for as long as their replica, and never anew."""

import json
from datetime import UTC, datetime

import pytest

from tests.cluster.api import Json, wait_until
from tests.cluster.fabrics import (
    CLAIM,
    OFF,
    ON,
    REPLICA,
    annotated,
    domains,
    failed,
    runs,
    templates,
    users,
    written,
)
from tests.cluster.nvidia.definitions import DOMAINS
from tests.cluster.nvidia.devices import DRIVER
from tests.cluster.nvidia.driver import TEMPLATES, Driver
from tests.cluster.operators import Operator, grove
from tests.cluster.plane import ControlPlane
from tests.cluster.predicting import done, predicted
from tests.cluster.scenes import Scene, clique, group, light


@pytest.fixture
def wide(scene: Scene) -> Scene:
    """With ten nodes, for a node has one channel."""
    scene.api.add_nodes([f"{scene.namespace}-more-{number}" for number in range(8)], {"test": scene.namespace})
    return scene


@pytest.fixture
def mnnvl(installed_operator: Operator, driver: Driver) -> Operator:
    """An operator that makes domains, and has yet to be started."""
    assert driver.daemons_ready
    installed_operator.mnnvl = ON
    return installed_operator


def the_set(scene: Scene, replicas: int = 2) -> Json:
    """Four pods for each replica: one without a GPU, one with one, and a group of two."""
    pool = group("pool", "leader", "worker")
    cliques = (light("router"), clique("lone"), clique("leader"), clique("worker"))
    return scene.set_of(*cliques, podCliqueScalingGroups=[pool], replicas=replicas)


class TestMN010:
    """The PodCliques and scaling groups of a replica MUST be withheld while its ComputeDomain has yet to be created and
    no creation was refused.

    The domain first, then the objects that name it, then pods that hold its channels.
    """

    @pytest.mark.req("MN-004")
    @pytest.mark.req("MN-005")
    @pytest.mark.req("MN-020")
    @pytest.mark.req("MN-030")
    def test_mn010_a_set_comes_up_in_its_domains(self, grove_plane: ControlPlane, wide: Scene, mnnvl: Operator) -> None:
        mnnvl.start()
        root = wide.api.create(the_set(wide))
        pods = wide.await_ready(8)
        wide.await_status(availableReplicas=2)
        assert sorted(domains(wide)) == ["llama-cd-0", "llama-cd-1"]
        self.see_domains(wide, root)
        self.see_order(mnnvl)
        for name, template in annotated(wide).items():
            assert template == f"llama-rct-{name.split('-')[1]}"
        assert len(annotated(wide)) == 2 * 5
        self.see_pods(wide, pods)
        assert not failed(wide)
        mnnvl.await_rest()

    @pytest.mark.groups
    @pytest.mark.req("SC-028")
    def test_mn030_pods_in_groups_hold_channels_as_well(self, wide: Scene, mnnvl: Operator) -> None:
        mnnvl.backend = "kubernetes"
        mnnvl.start()
        wide.api.create(the_set(wide, replicas=1))
        pods = wide.await_ready(4)
        assert {pod["spec"]["schedulingGroup"]["podGroupName"] for pod in pods} == set(wide.names("podgroups"))
        claims = {claim["name"] for pod in pods for claim in pod["spec"].get("resourceClaims", ())}
        assert claims == {CLAIM}
        assert wide.names("podgangs") == []

    def see_domains(self, scene: Scene, root: Json) -> None:
        for index in range(2):
            found = scene.get(DOMAINS, f"llama-cd-{index}")
            (owner,) = found["metadata"]["ownerReferences"]
            assert (owner["uid"], owner["controller"]) == (root["metadata"]["uid"], True)
            assert found["metadata"]["labels"][REPLICA] == str(index)
            assert found["spec"]["channel"]["resourceClaimTemplate"]["name"] == f"llama-rct-{index}"
            scene.await_object(
                DOMAINS,
                f"llama-cd-{index}",
                lambda found: len(found.get("status", {}).get("nodes", [])) == 4,
                "the nodes of its pods are in the domain",
            )

    def see_order(self, operator: Operator) -> None:
        """No clique of a replica is asked for before its domain was answered."""
        made = {**written(operator, "podcliques"), **written(operator, "podcliquescalinggroups")}
        for name, (_, answered) in written(operator, "computedomains").items():
            index = name.rpartition("-")[2]
            asked = [begin for part, (begin, _) in made.items() if part.startswith(f"llama-{index}-")]
            assert len(asked) == 5
            assert answered < min(asked)

    def see_pods(self, scene: Scene, pods: list[Json]) -> None:
        claims = {each["metadata"]["name"]: each for each in scene.all_of("resourceclaims")}
        assert len({pod["spec"]["nodeName"] for pod in pods}) == 8, "a node has one channel"
        for pod in pods:
            assert templates(pod) == [f"llama-rct-{pod['metadata']['labels'][REPLICA]}"]
            has_gpus = "-router-" not in pod["metadata"]["name"]
            assert users(pod) == {"main": [CLAIM] if has_gpus else []}
            (reported,) = pod["status"]["resourceClaimStatuses"]
            status = claims[reported["resourceClaimName"]]["status"]
            (result,) = status["allocation"]["devices"]["results"]
            assert (result["driver"], result["pool"]) == (DRIVER, pod["spec"]["nodeName"])
            assert [each["uid"] for each in status["reservedFor"]] == [pod["metadata"]["uid"]]


class TestMN043:
    """A domain that is gone, and that annotated parts of its replica need, MUST be created again. These parts stay as
    they are.

    What a user deletes comes back.
    """

    def test_mn043_a_domain_deleted_by_hand_is_made_again_and_nothing_else(self, scene: Scene, mnnvl: Operator) -> None:
        mnnvl.start()
        scene.api.create(scene.set_of(clique("worker"), replicas=2))
        scene.await_ready(2)
        mnnvl.await_rest()
        before, there = runs(scene), domains(scene)
        writes = len(mnnvl.writes())
        scene.api.delete(DOMAINS, "llama-cd-1", scene.namespace)
        wait_until(
            lambda: domains(scene).get("llama-cd-1"), lambda uid: uid not in {None, there["llama-cd-1"]}, "it is back"
        )
        scene.await_object(TEMPLATES, "llama-rct-1", bool, "its template is back")
        mnnvl.await_rest()
        assert runs(scene) == before
        assert domains(scene)["llama-cd-0"] == there["llama-cd-0"]
        (made,) = mnnvl.writes()[writes:]
        assert (made["verb"], made["objectRef"]["resource"]) == ("create", "computedomains")


class TestMN050:
    """A ComputeDomain of the set MUST be deleted, even with the feature off, if the replica index in its name is not
    below the set's ``replicas``.

    Domains end with their replica, or with their set.
    """

    @pytest.mark.req("MN-051")
    def test_mn050_a_replica_that_is_not_wanted_keeps_its_domain_to_its_last_pod(
        self, scene: Scene, mnnvl: Operator
    ) -> None:
        manifest = scene.set_of(light("router"), clique("worker"), replicas=2)
        scene.api.add_nodes([f"{scene.namespace}-more-{number}" for number in range(2)], {"test": scene.namespace})
        mnnvl.start()
        scene.api.create(manifest)
        scene.await_ready(4)
        mnnvl.await_rest()
        kept = domains(scene)["llama-cd-0"]
        scene.annotate_pods("llama-1-router", delete_after="3s")
        began = datetime.now(UTC)
        scene.scale("podcliquesets", "llama", 1)

        def look() -> tuple[bool, list[str]]:
            there = "llama-cd-1" in domains(scene)  # first: pods only become fewer
            return there, [name for name in scene.names("pods") if name.startswith("llama-1-")]

        there, pods = wait_until(look, lambda seen: not seen[0], "the domain goes")
        assert (there, pods) == (False, [])
        assert (datetime.now(UTC) - began).total_seconds() > 2.5
        scene.await_gone(DOMAINS, "llama-cd-1")
        assert domains(scene) == {"llama-cd-0": kept}
        mnnvl.await_rest()
        assert set(written(mnnvl, "computedomains", "delete")) == {"llama-cd-1"}

    def test_mn052_of_a_set_that_is_deleted_nothing_is_left(self, scene: Scene, mnnvl: Operator) -> None:
        mnnvl.start()
        before = scene.dump()
        scene.api.create(scene.set_of(clique("worker"), replicas=2))
        scene.await_ready(2)
        mnnvl.await_rest()
        scene.api.delete("podcliquesets", "llama", scene.namespace)
        wait_until(scene.dump, lambda now: now == before, "nothing is left", seconds=90)
        assert not written(mnnvl, "computedomains", "delete"), "the garbage collector does it"
        assert len(written(mnnvl, "computedomains")) == 2, "none was made again"


class TestMN060:
    """With the feature off, or in mode `annotations`, domains of existing replicas and everything that uses them MUST
    stay. A domain that is gone, and that annotated parts of its replica need, is reported and not created.

    The switch is for what comes, not for what runs.
    """

    @pytest.mark.req("MN-024")
    def test_mn060_switching_on_and_off_touches_nothing_that_runs(self, scene: Scene, mnnvl: Operator) -> None:
        mnnvl.mnnvl = OFF
        mnnvl.start()
        scene.api.create(scene.set_of(clique("worker"), replicas=2))
        scene.await_ready(2)
        mnnvl.await_rest()
        mnnvl.stop()
        before, writes = runs(scene), len(mnnvl.writes())
        assert set(annotated(scene).values()) == {None}

        mnnvl.mnnvl = ON
        mnnvl.start().await_rest()
        assert runs(scene) == before
        assert not mnnvl.writes()[writes:]
        assert not domains(scene)

        scene.scale("podcliquesets", "llama", 3)
        scene.await_ready(3)
        mnnvl.await_rest()
        assert list(domains(scene)) == ["llama-cd-2"]
        assert annotated(scene) == {
            "llama-0-worker": None,
            "llama-1-worker": None,
            "llama-2-worker": "llama-rct-2",
        }
        (pod,) = scene.pods("llama-2-worker")
        assert templates(pod) == ["llama-rct-2"]
        assert before.items() <= runs(scene).items()
        mnnvl.stop()

        before, there, writes = runs(scene), domains(scene), len(mnnvl.writes())
        mnnvl.mnnvl = OFF
        mnnvl.start().await_rest()
        assert (runs(scene), domains(scene)) == (before, there)
        assert not mnnvl.writes()[writes:]


class TestPlan:
    """What is said before is what happens, and why can be asked."""

    @pytest.mark.req("CL-011")
    @pytest.mark.req("CL-055")
    def test_mn008_a_plan_with_the_configuration_is_what_then_happens(
        self, grove_plane: ControlPlane, wide: Scene, mnnvl: Operator
    ) -> None:
        mnnvl.start()
        manifest = grove_plane.folder / f"{wide.namespace}.json"
        manifest.write_text(json.dumps(the_set(wide)), encoding="utf-8")
        edits = ("-f", str(manifest))
        without = predicted(grove_plane, wide, *edits)
        plan = predicted(grove_plane, wide, *edits, "--config", str(mnnvl.config))
        assert {name for _, kind, name in plan - without if kind == "ComputeDomain"} == {"llama-cd-0", "llama-cd-1"}
        wide.api.create(the_set(wide))
        wide.await_ready(8)
        wide.await_status(availableReplicas=2)
        mnnvl.await_rest()
        names = {each.split(".")[0] for each in (DOMAINS,)} | {
            each["objectRef"]["resource"] for each in mnnvl.writes() if each["verb"] in {"create", "delete"}
        }
        assert done(mnnvl, {name: wide.api.resource(name).kind for name in names}) == plan

    @pytest.mark.req("MN-003")
    def test_mn008_explain_says_which_criterion_decided(
        self, grove_plane: ControlPlane, scene: Scene, mnnvl: Operator
    ) -> None:
        mnnvl.start()
        scene.api.create(scene.set_of(clique("worker")))
        scene.api.create(scene.set_of(light("router"), name="plain"))
        scene.await_ready(2)
        mnnvl.await_rest()
        assert list(domains(scene)) == ["llama-cd-0"]
        where = ("--live", "-n", scene.namespace, "--config", str(mnnvl.config))

        def explained(target: str) -> str:
            ran = grove("explain", target, *where, kubeconfig=grove_plane.kubeconfig())
            assert ran.returncode == 0, ran.stderr
            return ran.stdout

        assert "ComputeDomain llama-cd-0 exists" in explained("computedomain/llama-cd-0")
        assert "these cliques ask for GPUs: worker" in explained("pcs/llama")
        assert "none of its cliques asks for nvidia.com/gpu" in explained("pcs/plain")
