"""Sets that share ComputeDomains by annotation, with operator, webhooks and pods: made, adopted, given up."""

from typing import Final

import pytest

from tests.cluster.api import Json, wait_until
from tests.cluster.fabrics import OFF, domains, runs, users, written
from tests.cluster.nvidia.definitions import DOMAINS, limit_domains
from tests.cluster.nvidia.devices import DRIVER
from tests.cluster.operators import Operator
from tests.cluster.scenes import Scene, clique, group, light
from tests.cluster.sharing import (
    ADOPTED,
    CLAIM,
    CLAIMS,
    Joining,
    claims_of,
    enabled,
    lone,
    owners,
    pairs,
    see_one_each,
    shares,
)

GANG: Final = "PodGang"


def sharing_set(scene: Scene, replicas: int = 1, members: int = 2) -> Json:
    """A replica has a domain for its worker and its router, one for its lone clique, one for each group replica."""
    alone = clique("lone")
    alone["annotations"] = shares("clique")
    pool = group("pool", "leader", replicas=members, annotations=shares("scalingGroupReplica"))
    cliques = (clique("worker", 2), light("router"), alone, clique("leader"))
    return enabled(scene.set_of(*cliques, replicas=replicas, podCliqueScalingGroups=[pool]))


def stems(replica: int, members: int = 2) -> list[str]:
    """What domains and claims of one replica of such a set are named after."""
    base = f"llama-{replica}"
    return [base, f"{base}-lone", *(f"{base}-pool-{index}" for index in range(members))]


def belongings(replica: int, members: int = 2) -> dict[str, tuple[str, str]]:
    """Whose they are in the end: of the base gang, but for group replicas above the minimum, which is 1."""
    base = f"llama-{replica}"
    found = dict.fromkeys(pairs(*stems(replica, 1)), (GANG, base))
    for index in range(1, members):
        found |= dict.fromkeys(pairs(f"{base}-pool-{index}"), (GANG, f"{base}-pool-{index - 1}"))
    return found


def await_owners(scene: Scene, wanted: dict[str, tuple[str, str]], *, seconds: float = 60) -> None:
    wait_until(lambda: owners(scene), lambda found: found == wanted, "everything belongs to its gang", seconds=seconds)


class TestMS041:
    """Once the PodGang of the PodCliques that use them has a uid, domain and claim MUST be handed over to it. It is the
    PodGang that their label ``grove.io/podgang`` names, and for scope ``replica`` the base gang.

    From the set to the gang, and with it.
    """

    @pytest.mark.req("MS-020")
    @pytest.mark.req("MS-032")
    @pytest.mark.req("MS-044")
    def test_ms041_a_set_comes_up_in_its_domains(self, scene: Scene, sharing: Operator) -> None:
        sharing.start()
        scene.api.create(sharing_set(scene))
        scene.await_ready(6)
        see_one_each(scene, *stems(0))
        await_owners(scene, belongings(0))
        for name in domains(scene):
            found = scene.get(DOMAINS, name)["metadata"]
            gang = scene.get("podgangs", found["ownerReferences"][0]["name"])["metadata"]
            assert found["ownerReferences"][0]["uid"] == gang["uid"]
            assert gang["annotations"][ADOPTED] == "true"
        self.see_order(scene, sharing)
        self.see_pods(scene)
        sharing.await_rest()
        assert not written(sharing, "computedomains", "delete")

    def see_order(self, scene: Scene, operator: Operator) -> None:
        """No PodClique is asked for before its domain and its claim are there."""
        there = written(operator, "computedomains") | written(operator, "resourceclaims")
        made = written(operator, "podcliques")
        assert len(made) == 5
        for each in scene.all_of("podcliques"):
            (claim,) = claims_of(each)
            begin, _ = made[each["metadata"]["name"]]
            for name in pairs(claim.removesuffix("-mnnvl-claim")):
                assert there[name][1] < begin

    def see_pods(self, scene: Scene) -> None:
        """Every pod holds the claim of its PodClique, and the claim is allocated and reserved for exactly them."""
        holders: dict[str, set[str]] = {}
        for pod in scene.pods():
            (name,) = claims_of(pod)
            holders.setdefault(name, set()).add(pod["metadata"]["uid"])
            has_gpus = "-router-" not in pod["metadata"]["name"]
            assert users(pod) == {"main": [CLAIM] if has_gpus else []}
        assert sorted(holders) == sorted(f"{stem}-mnnvl-claim" for stem in stems(0))
        for name, pods in holders.items():
            status = scene.get(CLAIMS, name)["status"]
            (result,) = status["allocation"]["devices"]["results"]
            domain = scene.get(DOMAINS, name.removesuffix("-mnnvl-claim") + "-cd")["metadata"]
            assert (result["driver"], result["pool"]) == (DRIVER, domain["uid"])
            assert {each["uid"] for each in status["reservedFor"]} == pods
        assert len(holders["llama-0-mnnvl-claim"]) == 3

    @pytest.mark.req("MS-040")
    def test_ms041_what_the_webhook_made_for_a_clique_made_by_hand_is_handed_to_the_gang(
        self, scene: Scene, sharing: Operator
    ) -> None:
        root = scene.api.create(enabled(scene.set_of(clique("worker"))))
        by_hand = lone(root, "worker")
        by_hand["spec"]["podSpec"]["nodeSelector"] = {"test": scene.namespace}
        made = scene.api.create(by_hand)
        assert owners(scene) == dict.fromkeys(pairs("llama-0"), ("PodCliqueSet", "llama"))
        there = domains(scene)
        sharing.start()
        await_owners(scene, dict.fromkeys(pairs("llama-0"), (GANG, "llama-0")))
        scene.await_ready(1)
        sharing.await_rest()
        assert domains(scene) == there
        assert scene.get("podcliques", "llama-0-worker")["metadata"]["uid"] == made["metadata"]["uid"]
        assert not written(sharing, "computedomains"), "it was there already"


class TestMS037:
    """A PodClique MUST wait while the API server refuses to create the domain or claim that it needs.

    A domain that the server will not have.
    """

    @pytest.mark.req("PL-016")
    def test_ms037_only_its_cliques_wait_untried(self, scene: Scene, sharing: Operator) -> None:
        limit_domains(scene.api, scene.namespace, 1)
        sharing.start()
        scene.api.create(enabled(scene.set_of(clique("worker"), replicas=2)))
        scene.await_ready(1)
        (there,) = domains(scene)
        waits = f"llama-{1 if there == 'llama-0-cd' else 0}-worker"
        held = sharing.await_line("withheld", target=f"PodClique/{waits}")
        assert held["because"][0]["requirement"] == "MS-037"
        assert "exceeded quota: compute-domains" in held["because"][0]["sentence"]
        assert waits not in scene.names("podcliques")
        tried = [each for each in sharing.requests if each["objectRef"]["resource"] == "podcliques"]
        assert waits not in {each["objectRef"].get("name") for each in tried if each["verb"] == "create"}

        limit_domains(scene.api, scene.namespace, 2)
        scene.await_ready(2, seconds=90)
        await_owners(
            scene, {name: (GANG, f"llama-{replica}") for replica in range(2) for name in pairs(f"llama-{replica}")}
        )
        sharing.await_rest()


@pytest.mark.req("MN-052")
class TestWhatIsNotDeleted:
    """The operator MUST NOT delete an object that a PodGang owns, any object of a set that is being deleted, or a claim
    that is shared by annotation as one of ``resourceSharing`` (WL-202), whatever its labels say.

    No operator deletes them: they go with their gang, as the garbage collector finds it gone.
    """

    @pytest.mark.req("MS-041")
    def test_mn052_what_is_scaled_in_leaves_nothing_and_a_deleted_set_neither(
        self, scene: Scene, sharing: Operator
    ) -> None:
        scene.api.add_nodes([f"{scene.namespace}-more"], {"test": scene.namespace})
        sharing.start()
        before = scene.dump()
        scene.api.create(sharing_set(scene, replicas=2))
        scene.await_ready(12)
        await_owners(scene, belongings(0) | belongings(1))
        sharing.await_rest()
        kept = domains(scene)

        scene.scale("podcliquescalinggroups", "llama-0-pool", 1)
        await_owners(scene, belongings(0, 1) | belongings(1), seconds=90)
        scene.scale("podcliquesets", "llama", 1)
        await_owners(scene, belongings(0, 1), seconds=90)
        scene.await_ready(5)
        sharing.await_rest()
        left = domains(scene)
        assert left == {name: uid for name, uid in kept.items() if name in left}, "what is used stayed as it was"

        scene.api.delete("podcliquesets", "llama", scene.namespace)
        wait_until(scene.dump, lambda now: now == before, "nothing is left", seconds=90)
        assert not written(sharing, "computedomains", "delete")
        assert not written(sharing, "resourceclaims", "delete")


class TestMS052:
    """A domain or claim that is in use and gone MUST be created again. The PodCliques that use it stay as they are.

    What a user deletes, and what is switched off.
    """

    @pytest.mark.req("MS-060")
    def test_ms052_a_domain_comes_back_and_the_switch_touches_nothing(
        self, scene: Scene, sharing: Operator, joining: Joining
    ) -> None:
        sharing.start()
        scene.api.create(enabled(scene.set_of(clique("worker", 2))))
        scene.await_ready(2)
        await_owners(scene, dict.fromkeys(pairs("llama-0"), (GANG, "llama-0")))
        sharing.await_rest()
        before, there = runs(scene), domains(scene)
        scene.api.delete(DOMAINS, "llama-0-cd", scene.namespace)
        wait_until(
            lambda: domains(scene).get("llama-0-cd"), lambda uid: uid not in {None, there["llama-0-cd"]}, "it is back"
        )
        await_owners(scene, dict.fromkeys(pairs("llama-0"), (GANG, "llama-0")))
        sharing.await_rest()
        assert runs(scene) == before
        sharing.stop()

        there, writes = domains(scene), len(sharing.writes())
        sharing.mnnvl = OFF
        sharing.start().await_rest()
        assert (runs(scene), domains(scene)) == (before, there)
        assert not sharing.writes()[writes:]
        assert joining.made() == ["secrets"], "the operator had made everything before"
