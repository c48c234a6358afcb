"""ComputeDomains that a server will not have: the workload runs, the set says so, and they come when they may."""

import random
import time
from collections.abc import Callable
from datetime import datetime

import pytest

from tests.cluster.api import ApiError, Json, wait_until
from tests.cluster.fabrics import ON, annotated, domains, failed, runs, templates, written
from tests.cluster.installing import free_port
from tests.cluster.nvidia.definitions import DOMAINS, GROUP, limit_domains, used_up
from tests.cluster.nvidia.driver import Driver
from tests.cluster.nvidia_objects import domain
from tests.cluster.operators import Operator, grove
from tests.cluster.plane import ControlPlane
from tests.cluster.scenes import Scene, clique, is_ready

REPLICAS = 4
MANY = 60
FEW_SECONDS = 5.0
KILLS = 5
LONGEST_LIFE = 0.4
SAID = "ComputeDomain creation failed for replicas: {}. Error: "
QUOTA = 'computedomains.resource.nvidia.com "llama-cd-{}" is forbidden: exceeded quota: compute-domains'


@pytest.fixture
def mnnvl(installed_operator: Operator, driver: Driver) -> Operator:
    """An operator that makes domains, and has yet to be started."""
    assert driver.daemons_ready
    installed_operator.mnnvl = ON
    return installed_operator


def left_out(scene: Scene) -> list[int]:
    """The replicas without a domain."""
    there = domains(scene)
    return [index for index in range(REPLICAS) if f"llama-cd-{index}" not in there]


def await_message(scene: Scene, holds: Callable[[str], bool], what: str, *, seconds: float = 30) -> str:
    return wait_until(lambda: failed(scene), holds, what, seconds=seconds)


def four(scene: Scene) -> Json:
    return scene.set_of(clique("worker"), replicas=REPLICAS)


class TestMN011:
    """If the creation of a replica's ComputeDomain is refused, the PodCliques and scaling groups of the replica MUST be
    created without the annotation that names a domain.

    A quota that is too small for the domains of a set.
    """

    @pytest.mark.req("MN-012")
    @pytest.mark.req("MN-013")
    @pytest.mark.req("MN-014")
    @pytest.mark.req("OP-023")
    def test_mn011_a_quota_refuses_the_third_of_four(
        self, grove_plane: ControlPlane, scene: Scene, mnnvl: Operator
    ) -> None:
        limit_domains(scene.api, scene.namespace, 2)
        mnnvl.start()
        scene.api.create(four(scene))
        pods = scene.await_ready(REPLICAS)
        failing = left_out(scene)
        assert len(failing) == 2
        self.see_no_waiting(mnnvl, failing)
        said = await_message(scene, bool, "it is reported")
        assert said.startswith(SAID.format(failing) + QUOTA.format(failing[0])), said
        assert annotated(scene) == {
            f"llama-{index}-worker": None if index in failing else f"llama-rct-{index}" for index in range(REPLICAS)
        }
        assert sum(bool(templates(pod)) for pod in pods) == 2
        self.see_explained(grove_plane, scene, mnnvl, failing[0])
        before = runs(scene)

        limit_domains(scene.api, scene.namespace, 3)
        said = await_message(scene, lambda said: f"{failing}" not in said, "one failure less", seconds=90)
        (last,) = left_out(scene)
        assert said.startswith(SAID.format([last])), said

        limit_domains(scene.api, scene.namespace, REPLICAS)
        await_message(scene, lambda said: not said, "nothing fails any more", seconds=90)
        assert not left_out(scene)
        mnnvl.await_rest()
        assert runs(scene) == before

    @pytest.mark.req("OP-023")
    def test_mn011_where_none_may_be_made_the_refusal_alone_requeues_the_set(
        self, scene: Scene, mnnvl: Operator
    ) -> None:
        """However many replicas there are: none waits for the others to be refused one after the other."""
        scene.api.add_nodes([f"{scene.namespace}-big"], {"test": scene.namespace}, **{"nvidia.com/gpu": str(MANY)})
        limit_domains(scene.api, scene.namespace, 0)
        mnnvl.start()
        scene.api.create(scene.set_of(clique("worker"), replicas=MANY))
        pods = scene.await_ready(MANY)
        assert not any(map(templates, pods))
        self.see_no_waiting(mnnvl, [*range(MANY)])
        assert await_message(scene, bool, "it is reported").startswith(SAID.format([*range(MANY)]) + QUOTA.format(0))
        asked = [one["requestReceivedTimestamp"] for one in self.refusals(mnnvl)]
        (last, _) = max(written(mnnvl, "podcliques").values())
        assert (datetime.fromisoformat(last) - datetime.fromisoformat(min(asked))).total_seconds() < FEW_SECONDS
        assert len(asked) < 2 * MANY, "an abandoned step is retried slowly"

    def see_no_waiting(self, operator: Operator, failing: list[int]) -> None:
        """From the refusal of a domain to the creation of its pods it takes no timer."""
        made = written(operator, "podcliques")
        reported: dict[str, str] = {}
        for each in self.refusals(operator):
            reported.setdefault(each["objectRef"]["name"], each["stageTimestamp"])
        for index in failing:
            (asked, _) = made[f"llama-{index}-worker"]
            waited = datetime.fromisoformat(asked) - datetime.fromisoformat(reported[f"llama-cd-{index}"])
            assert 0 < waited.total_seconds() < FEW_SECONDS, waited

    def refusals(self, operator: Operator) -> list[Json]:
        """Creations of domains that were not accepted."""
        return [
            event
            for event in operator.requests
            if (event["verb"], event["objectRef"]["resource"]) == ("create", "computedomains")
            and event["responseStatus"]["code"] >= 400
        ]

    def see_explained(self, plane: ControlPlane, scene: Scene, operator: Operator, index: int) -> None:
        where = ("--live", "-n", scene.namespace, "--config", str(operator.config))
        ran = grove("explain", f"computedomain/llama-cd-{index}", *where, kubeconfig=plane.kubeconfig())
        assert ran.returncode == 0, ran.stderr
        assert "its creation failed before and is retried; parts that run without it stay as they are" in ran.stdout


def unheard(scene: Scene) -> None:
    """A webhook for ComputeDomains of this namespace without a backend; ready when the server calls it."""
    resources = {"apiGroups": [GROUP], "apiVersions": ["*"], "operations": ["CREATE"], "resources": ["computedomains"]}
    url = f"https://127.0.0.1:{free_port()}/judge"
    hook = {
        "name": "domains.example.com",
        "clientConfig": {"url": url},
        "rules": [resources],
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": scene.namespace}},
        "failurePolicy": "Fail",
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }
    metadata = {"name": scene.namespace}
    kind = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration"}
    scene.api.create({**kind, "metadata": metadata, "webhooks": [hook]})

    def refuses() -> str:
        try:
            path = f"/apis/{GROUP}/v1beta1/namespaces/{scene.namespace}/computedomains?dryRun=All"
            scene.api.request("POST", path, domain("probe"))
        except ApiError as refused:
            return refused.message
        return ""

    wait_until(refuses, lambda said: "failed calling webhook" in said, "the webhook is asked")


@pytest.mark.req("OP-011")
class TestMissingWebhook:
    """A webhook without a backend refuses."""

    @pytest.mark.req("MN-011")
    def test_op011_a_webhook_without_a_backend_blocks_nothing(self, scene: Scene, mnnvl: Operator) -> None:
        unheard(scene)
        try:
            mnnvl.start()
            scene.api.create(scene.set_of(clique("worker"), replicas=2))
            pods = scene.await_ready(2)
            assert not any(map(templates, pods))
            said = await_message(scene, bool, "it is reported")
            assert 'failed calling webhook "domains.example.com"' in said
            before = runs(scene)
        finally:
            scene.api.delete("validatingwebhookconfigurations", scene.namespace)
        await_message(scene, lambda said: not said, "nothing fails any more", seconds=90)
        assert sorted(domains(scene)) == ["llama-cd-0", "llama-cd-1"]
        assert runs(scene) == before


class TestMN014:
    """The creation of a ComputeDomain that failed MUST be retried, even after a restart of the operator. The PodCliques
    that run without the domain stay as they are.

    An operator knows nothing but what the cluster says.
    """

    def test_mn014_killed_between_refusal_and_retry(self, scene: Scene, mnnvl: Operator) -> None:
        limit_domains(scene.api, scene.namespace, 2)
        mnnvl.start()
        scene.api.create(four(scene))
        scene.await_ready(REPLICAS)
        await_message(scene, bool, "it is reported")
        mnnvl.kill()
        failing, before = left_out(scene), runs(scene)
        assert len(failing) == 2
        limit_domains(scene.api, scene.namespace, REPLICAS)
        mnnvl.start()
        await_message(scene, lambda said: not said, "nothing fails any more")
        assert not left_out(scene)
        mnnvl.await_rest()
        assert runs(scene) == before

    @pytest.mark.parametrize("seed", [1, 2])
    def test_mn014_killed_at_any_moment(self, scene: Scene, mnnvl: Operator, seed: int) -> None:
        """No replica runs without its domain before the set reports it, or the domain would not be tried again."""
        limit_domains(scene.api, scene.namespace, 2)
        scene.api.create(four(scene))
        draw = random.Random(seed)
        for _ in range(KILLS):
            mnnvl.start()
            time.sleep(draw.uniform(0, LONGEST_LIFE))
            mnnvl.kill()
        mnnvl.start()
        scene.await_ready(REPLICAS)
        wait_until(lambda: used_up(scene.api, scene.namespace), bool, "no further domain is admitted")
        failing = left_out(scene)
        assert len(failing) >= 2
        assert {name for name, template in annotated(scene).items() if template is None} == {
            f"llama-{index}-worker" for index in failing
        }
        before = runs(scene)
        limit_domains(scene.api, scene.namespace, REPLICAS)
        wait_until(lambda: left_out(scene), lambda left: not left, "every replica has its domain", seconds=90)
        await_message(scene, lambda said: not said, "nothing fails any more")
        mnnvl.await_rest()
        assert runs(scene) == before


class TestMN040:
    """If an object of another controller, or of none, has a domain's name, the creation of the domain MUST count as
    refused, with an error that names the controller.

    A name that a foreign object has.
    """

    def test_mn040_a_foreign_domain_is_neither_adopted_nor_deleted(self, scene: Scene, mnnvl: Operator) -> None:
        foreign = scene.api.create(domain("llama-cd-1"), scene.namespace)
        mnnvl.start()
        scene.api.create(scene.set_of(clique("worker"), replicas=2))
        pods = scene.await_ready(2)
        said = await_message(scene, bool, "it is reported")
        reported = "ComputeDomain llama-cd-1 belongs to no controller"
        assert said == SAID.format([1]) + reported
        assert annotated(scene) == {"llama-0-worker": "llama-rct-0", "llama-1-worker": None}
        assert all(is_ready(pod) for pod in pods)
        before = runs(scene)
        self.see_untouched(scene, foreign)

        scene.api.delete(DOMAINS, "llama-cd-1", scene.namespace)
        await_message(scene, lambda said: not said, "nothing fails any more", seconds=90)
        assert domains(scene)["llama-cd-1"] != foreign["metadata"]["uid"]
        mnnvl.await_rest()
        assert runs(scene) == before

    def test_mn052_nor_when_the_set_that_wanted_its_name_is_gone(self, scene: Scene, mnnvl: Operator) -> None:
        """Also one with our labels, of a replica that is not wanted any more."""
        labels = {"app.kubernetes.io/part-of": "llama", "grove.io/podcliqueset-replica-index": "1"}
        foreign = scene.api.create(domain("llama-cd-1", labels=labels), scene.namespace)
        mnnvl.start()
        scene.api.create(scene.set_of(clique("worker"), replicas=2))
        scene.await_ready(2)
        scene.scale("podcliquesets", "llama", 1)
        scene.await_ready(1)
        await_message(scene, lambda said: not said, "nothing fails any more")
        mnnvl.await_rest()
        self.see_untouched(scene, foreign)
        scene.api.delete("podcliquesets", "llama", scene.namespace)
        scene.await_gone(DOMAINS, "llama-cd-0")
        self.see_untouched(scene, foreign)
        assert not written(mnnvl, "computedomains", "delete")

    def see_untouched(self, scene: Scene, foreign: Json) -> None:
        now = scene.get(DOMAINS, foreign["metadata"]["name"])
        assert now["metadata"]["uid"] == foreign["metadata"]["uid"]
        assert now["metadata"].get("labels") == foreign["metadata"].get("labels")
        assert "ownerReferences" not in now["metadata"]
        assert "deletionTimestamp" not in now["metadata"]
        assert now["spec"] == foreign["spec"]
