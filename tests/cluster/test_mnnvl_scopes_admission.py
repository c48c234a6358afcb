"""PodCliques in the hands of a real API server that calls the webhooks over TLS: what is there before they are."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial
from typing import Final

import pytest

from grove_shell.client.rbac_rules import webhook_domain_sharing_access
from tests.cluster.api import APPLY, ApiError, Json, wait_until
from tests.cluster.fabrics import domains, runs, users
from tests.cluster.nvidia_objects import claim_of, domain
from tests.cluster.operators import Operator
from tests.cluster.scenes import Scene, clique, light
from tests.cluster.sharing import (
    ADOPTED,
    CLAIM,
    CLAIMS,
    KINDS,
    Joining,
    claims_of,
    dry,
    enabled,
    lone,
    owners,
    pairs,
    says,
    see_one_each,
    shares,
)

MANY: Final = 20
OF_THE_CERTIFICATE: Final = {
    ("get", kind) for kind in ("secrets", "mutatingwebhookconfigurations", "validatingwebhookconfigurations")
}
"""What webhooks ask now and then to keep their certificate, and to have it known."""


def version(found: Json) -> int:
    """When an object was written last, among all of a server's writes."""
    return int(found["metadata"]["resourceVersion"])


def new_set(scene: Scene) -> Json:
    """A set that is stored and known to the webhooks, and that no operator reconciles."""
    root = scene.api.create(enabled(scene.set_of(clique("a"))))

    def is_known() -> bool:
        try:
            return bool(dry(scene, lone(root, "tried")))
        except ApiError as refusal:
            if "(MS-039)" not in refusal.message:
                raise
            return False

    wait_until(is_known, bool, "the webhooks know the set")
    return root


@pytest.mark.req("MS-031")
@pytest.mark.req("MS-032")
@pytest.mark.req("MS-040")
@pytest.mark.req("MS-020")
def test_ms090_domain_and_claim_are_there_before_the_clique(scene: Scene, joining: Joining) -> None:
    root = new_set(scene)
    manifest = lone(root, "a")
    plain = {"name": "side", "image": "example.com/side:1"}
    manifest["spec"]["podSpec"]["containers"].append(plain)
    stored = scene.api.create(manifest)
    made = [scene.get(kind, f"llama-0{suffix}") for kind, suffix in KINDS.items()]
    assert version(root) < version(made[0]) < version(made[1]) < version(stored)
    assert owners(scene) == dict.fromkeys(pairs("llama-0"), ("PodCliqueSet", "llama"))
    assert {each["metadata"]["ownerReferences"][0]["uid"] for each in made} == {root["metadata"]["uid"]}
    see_one_each(scene, "llama-0")
    assert made[0]["spec"]["channel"]["resourceClaimTemplate"]["name"] == "llama-0-mnnvl-rct"
    assert stored["spec"]["podSpec"]["resourceClaims"] == [{"name": CLAIM, "resourceClaimName": "llama-0-mnnvl-claim"}]
    assert users({"spec": stored["spec"]["podSpec"]}) == {"main": [CLAIM], "side": []}
    assert joining.made() == ["secrets", "computedomains", "resourceclaims"]


@pytest.mark.req("MS-032")
def test_ms090_twenty_cliques_at_once_make_each_once(scene: Scene, joining: Joining) -> None:
    root = new_set(scene)
    manifests = [lone(root, f"c{number}") for number in range(MANY)]
    with ThreadPoolExecutor(MANY) as threads:
        stored = list(threads.map(scene.api.create, manifests))
    assert {tuple(claims_of(each)) for each in stored} == {("llama-0-mnnvl-claim",)}
    see_one_each(scene, "llama-0")
    assert joining.made() == ["secrets", "computedomains", "resourceclaims"]
    moment = datetime.now(UTC)
    again = {**stored[0], "metadata": {**manifests[0]["metadata"], "name": "llama-0-more"}}
    assert scene.api.create(again)["spec"] == stored[0]["spec"], "what an admission led to is left as it is"
    asked = [(verb, kind) for verb, kind, _ in joining.installed.asked(moment) if verb in {"create", "get"}]
    assert set(asked) <= OF_THE_CERTIFICATE, "that is looked after whatever comes"


@pytest.mark.parametrize("way", ["create", "apply"])
def test_ms090_a_dry_run_makes_nothing_and_says_what_would_be(scene: Scene, joining: Joining, way: str) -> None:
    root = new_set(scene)
    before, manifest = scene.dump(), lone(root, "a")

    def applied(**query: str) -> Json:
        return scene.api.patch(
            "podcliques", "llama-0-a", scene.namespace, patch=manifest, media=APPLY, fieldManager="me", **query
        )

    said = dry(scene, manifest) if way == "create" else applied(dryRun="All")
    assert claims_of(said) == ["llama-0-mnnvl-claim"]
    assert scene.dump() == before
    assert joining.made() == ["secrets"]
    stored = scene.api.create(manifest) if way == "create" else applied()
    assert stored["spec"] == said["spec"]
    see_one_each(scene, "llama-0")


@pytest.mark.req("MS-036")
def test_ms090_a_dry_run_is_refused_where_the_creation_would_be(scene: Scene, joining: Joining) -> None:
    """A domain of that name serves another; both are reported."""
    assert joining.runs
    root = new_set(scene)
    named = {"app.kubernetes.io/part-of": "other", "grove.io/podcliqueset-replica-index": "0"}
    labels = {**named, "grove.io/mnnvl-managed": "true"}
    scene.api.create(domain("llama-0-cd", labels=labels), scene.namespace)
    before, refusals = scene.dump(), []
    for attempt in (partial(dry, scene), scene.api.create):
        with pytest.raises(ApiError, match="MS-039") as refused:
            attempt(lone(root, "a"))
        refusals.append((refused.value.code, refused.value.message))
    assert refusals[0] == refusals[1]
    assert "ComputeDomain llama-0-cd serves replica 0 of other, and is needed for" in refusals[0][1]
    assert scene.dump() == before


@pytest.mark.req("MS-036")
def test_wh010_the_design_s_table_is_enough_and_what_is_asked(scene: Scene, joining: Joining) -> None:
    """A claim made by hand is in no copy of ours: it shows when ours is made, and is read then."""
    root = new_set(scene)
    theirs = scene.api.create(claim_of("llama-0-mnnvl-claim"), scene.namespace)
    with pytest.raises(ApiError, match="MS-090") as refused:
        scene.api.create(lone(root, "a"))
    assert refused.value.code == 409
    assert "it serves another user (it has no label with the name)" in refused.value.message
    assert scene.get(CLAIMS, "llama-0-mnnvl-claim") == theirs
    scene.api.create(lone(root, "b", enabled="true", scope="clique"))
    joining.stop()
    shared = {"computedomains", CLAIMS}
    asked = {(resource, verb) for verb, resource, _ in joining.installed.asked() if resource in shared}
    declared = {
        (one.resource, verb) for one in webhook_domain_sharing_access() for verb in one.verbs if not one.unrequested
    }
    assert declared - asked == {("computedomains", "get")}, "they follow all domains, so none is unknown to them"
    assert not asked - declared


@pytest.mark.req("MS-003")
def test_ms079_what_is_odd_is_let_through(scene: Scene, joining: Joining) -> None:
    root = new_set(scene)
    stored = scene.api.create(lone(root, "a", enabled="yes"))
    assert not claims_of(stored)
    assert not domains(scene)
    assert joining.made() == ["secrets"]


@pytest.mark.req("WH-010")
class TestAWebhookThatIsDownBlocksOnlyWhatItServes:
    """A PodClique whose ``grove.io/mnnvl-enabled`` is absent or ``"false"``, and a PodGang, MUST be stored whether a
    webhook responds or not.

    Webhooks that are down: only sharing objects wait for them, and nothing that runs is touched.
    """

    @pytest.mark.req("MS-030")
    @pytest.mark.req("MS-044")
    def test_wh010_only_sharing_cliques_wait_without_them(
        self, scene: Scene, joining: Joining, sharing: Operator
    ) -> None:
        quiet, worker = light("router"), clique("worker")
        quiet["annotations"], worker["annotations"] = says(enabled="false"), shares("clique")
        sharing.start()
        scene.api.create(scene.set_of(quiet, light("plain"), worker))
        scene.await_ready(3)
        sharing.await_rest()
        before = runs(scene)

        joining.stop()
        scene.scale("podcliquesets", "llama", 2)
        for name in ("llama-1-plain", "llama-1-router"):
            scene.await_object("podcliques", name, bool, "it is stored all the same")
        wait_until(
            lambda: [line["detail"] for line in sharing.said("create PodClique: refused")], bool, "the third is refused"
        )
        assert not scene.find("podcliques", "llama-1-worker")
        gang = scene.get("podgangs", "llama-0")
        by_hand = {**{key: gang[key] for key in ("apiVersion", "kind", "spec")}, "metadata": {"name": "by-hand"}}
        assert ADOPTED not in dry(scene, by_hand)["metadata"].get("annotations", {})
        with pytest.raises(ApiError, match=r'failed calling webhook "defaulting.podcliquesets') as refused:
            scene.api.create(scene.set_of(clique("a"), name="other"))
        assert refused.value.code == 500
        assert before.items() <= runs(scene).items()

        joining.start()
        assert dry(scene, by_hand)["metadata"]["annotations"][ADOPTED] == "true"
        scene.await_ready(6, seconds=90)
        assert claims_of(scene.get("podcliques", "llama-1-worker")) == ["llama-1-worker-mnnvl-claim"]
        wait_until(
            lambda: set(owners(scene).values()),
            lambda found: found == {("PodGang", "llama-0"), ("PodGang", "llama-1")},
            "they are adopted",
        )
        sharing.await_rest()
        assert before.items() <= runs(scene).items()
