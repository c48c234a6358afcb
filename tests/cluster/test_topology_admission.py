"""A real API server asks the webhooks about topologies and sets that use them; ``grove validate`` says the same."""

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from grove_core.resources.cluster_topology import DEFAULT_TOPOLOGY
from grove_shell.client.rbac_rules import webhook_topology_access
from grove_shell.settings.webhook_settings import GUARDING, PATHS, VALIDATION
from tests.cluster.api import Json, wait_until
from tests.cluster.guarding import BLOCKS, PLACING, RACKS, TOPOLOGIES, Guarded, bound, guarding, now, topology
from tests.cluster.installing import apply
from tests.cluster.operators import is_served
from tests.cluster.plane import ControlPlane
from tests.cluster.scenes import Scene
from tests.cluster.webhooks import Installed

KEPT: Final = "grove.io/clustertopology"
DEFAULT: Final = PLACING.levels
BINDINGS: Final = "clustertopologybindings"


@pytest.fixture
def prepared(grove_plane: ControlPlane, no_other_sets: None, scene: Scene, tmp_path: Path) -> Iterator[Guarded]:
    """Webhooks that have yet to be started."""
    with guarding(grove_plane, scene, tmp_path) as guarded:
        yield guarded


@pytest.fixture
def guarded(prepared: Guarded) -> Guarded:
    """Webhooks that run, and three topologies: the default one, a shallow one and a deep one."""
    prepared.start()
    for one in (topology(DEFAULT_TOPOLOGY, *DEFAULT), topology("h100"), topology("gb200", *BLOCKS)):
        assert prepared.applied(one).code in {200, 201}
    settled(prepared, DEFAULT_TOPOLOGY, "h100", "gb200")
    return prepared


def settled(guarded: Guarded, *names: str) -> None:
    """Wait until the copies show these topologies: a review that names another one lists the known ones."""
    probe = guarded.racked("probe", "nowhere")
    known = f"known: {', '.join(sorted(names))}, got"
    wait_until(lambda: guarded.dry(probe).words, lambda words: known in words, f"{names} are known")


@pytest.mark.req("TP-060")
@pytest.mark.req("TP-063")
@pytest.mark.req("TP-065")
@pytest.mark.req("TP-066")
@pytest.mark.req("TP-074")
def test_wh005_a_new_set_is_judged_as_validate_does(guarded: Guarded, capsys: pytest.CaptureFixture[str]) -> None:
    liked = guarded.set_of("liked", topologyConstraint={"pack": {"required": "rack", "preferred": "zone"}})
    liked["spec"]["template"]["clusterTopologyName"] = "h100"
    wider = guarded.racked("wider", "gb200")
    wider["spec"]["template"]["cliques"][0]["topologyConstraint"] = {"packDomain": "block"}
    table: tuple[tuple[Json, set[str]], ...] = (
        (guarded.racked("a", "h100"), set()),
        (guarded.racked("b", "gb200", "block"), set()),
        (guarded.racked("c", "", "host"), set()),
        (liked, set()),
        (guarded.racked("d", "gb20"), {"TP-060"}),
        (guarded.set_of("e", clusterTopologyName="h100"), {"TP-063"}),
        (guarded.racked("f", "h100", "block"), {"TP-065"}),
        (guarded.racked("g", "", "rack"), {"TP-065"}),
        (wider, {"TP-066"}),
    )
    for manifest, expected in table:
        assert guarded.agree(manifest, capsys) == expected, manifest["metadata"]["name"]
    unknown = guarded.dry(table[4][0])
    assert unknown.words.endswith('did you mean gb200?, got "gb20" (TP-060)')
    assert any("TP-074" in words for words in guarded.dry(liked).warnings)
    assert not guarded.program.said("fault of ours")


@pytest.mark.req("TP-060")
@pytest.mark.req("TP-062")
@pytest.mark.req("TP-069")
def test_wh005_another_topology_while_pending_and_none_once_a_pod_is_bound(
    guarded: Guarded, capsys: pytest.CaptureFixture[str]
) -> None:
    """Story 3 of the design."""
    assert guarded.applied(guarded.racked("llama", "h100")).code == 201
    guarded.bind("llama", 0)
    for name in ("gb200", "h100"):
        assert guarded.agree(guarded.racked("llama", name), capsys) == set()
        assert guarded.applied(guarded.racked("llama", name)).code == 200
    assert guarded.agree(guarded.racked("llama", "tpu"), capsys) == {"TP-060"}
    assert guarded.agree(guarded.racked("llama", "h100", "host"), capsys) == {"TP-069"}
    bound(guarded, "llama", 1)
    for name in ("gb200", ""):
        assert "TP-062" in guarded.agree(guarded.racked("llama", name), capsys)
    scaled = guarded.racked("llama", "h100")
    scaled["spec"]["replicas"] = 3
    assert guarded.agree(scaled, capsys) == set()
    bound(guarded, "llama", 0)
    assert guarded.agree(guarded.racked("llama", "gb200"), capsys) == set()
    assert guarded.applied(guarded.racked("llama", "gb200")).code == 200


@pytest.mark.req("TP-084")
@pytest.mark.req("TP-085")
@pytest.mark.req("TP-088")
@pytest.mark.req("TP-002")
def test_wh005_levels_stay_under_pods_that_are_placed(guarded: Guarded, capsys: pytest.CaptureFixture[str]) -> None:
    assert guarded.applied(guarded.racked("llama", "h100")).code == 201
    assert guarded.applied(guarded.racked("plain", domain="host")).code == 201
    guarded.bind("llama", 0)  # a dump without any PodClique does not show the placed pods, and a list of none does
    shorter = topology("h100", *RACKS[:2])
    assert guarded.agree(shorter, capsys) == set(), "no pod is placed by it yet"
    bound(guarded, "llama", 2)
    assert guarded.agree(shorter, capsys) == {"TP-084"}
    assert guarded.dry(shorter).code == 409
    assert f"{guarded.scene.namespace}/llama" in guarded.applied(shorter, dry=True).words
    assert guarded.agree(topology("gb200", *RACKS), capsys) == set()
    reported = topology("h100", labels={"team": "a"}, annotations={"note": "b"})
    assert guarded.agree(reported, capsys) == set()
    assert guarded.applied(reported).code == 200

    odd = topology(DEFAULT_TOPOLOGY, *DEFAULT[:1])
    assert guarded.agree(odd, capsys) == {"TP-085"}
    bound(guarded, "plain", 2)
    assert guarded.agree(odd, capsys) == {"TP-084", "TP-085"}
    bound(guarded, "llama", None)
    assert guarded.applied(shorter).code == 200


@pytest.mark.req("TP-080")
def test_wh005_new_levels_are_sound_for_the_server_and_for_us(guarded: Guarded) -> None:
    """What the definition says comes first; a topology that passes it has nothing to fear from the webhooks."""
    for levels in ((RACKS[1], RACKS[0]), (RACKS[0], RACKS[0])):
        said = guarded.dry(topology("odd", *levels))
        assert (said.code, said.by) == (422, "")
        assert "TP-080" in said.rules
    doubled = guarded.dry(topology("odd", ("zone", "a..b/zone")))
    assert (doubled.code, doubled.by, doubled.rules) == (422, GUARDING[0], {"TP-080"})
    assert guarded.dry(topology("sound", *BLOCKS)).code == 201


@pytest.mark.req("TP-061")
@pytest.mark.req("TP-088")
def test_tp086_a_used_topology_may_be_deleted_and_waits(guarded: Guarded, capsys: pytest.CaptureFixture[str]) -> None:
    used = topology("h100", finalizers=[KEPT])
    assert guarded.applied(used).code == 200
    assert guarded.applied(guarded.racked("llama", "h100")).code == 201
    wait_until(
        lambda: guarded.deleted(used, dry=True).warnings,
        lambda words: any("/llama" in one for one in words),
        "its users are known",
    )
    said = guarded.deleted(used)
    assert said.code == 200
    (warning,) = said.warnings
    assert f"{guarded.scene.namespace}/llama" in warning
    assert warning.endswith("(TP-086)")
    assert guarded.api.get(TOPOLOGIES, "h100")["metadata"]["deletionTimestamp"]
    late = guarded.racked("late", "h100")
    wait_until(lambda: guarded.dry(late).rules, lambda rules: rules == {"TP-061"}, "it is known to leave")
    assert guarded.agree(late, capsys) == {"TP-061"}
    assert guarded.applied(guarded.racked("llama", "h100")).code == 200, "its users may be changed otherwise"
    assert guarded.deleted(topology("gb200")).warnings == ()
    assert guarded.patched(used, {"metadata": {"finalizers": None}}).code == 200
    assert guarded.api.find(TOPOLOGIES, "h100") is None


@pytest.mark.req("WH-005")
class TestFreshReadOfATopology:
    """A topology that was created a moment ago is found by webhooks whose watch never reports it."""

    @pytest.fixture
    def lagging(self, prepared: Guarded) -> Guarded:
        """Webhooks that may list topologies and not watch them."""
        for one in prepared.installed.objects:
            for rule in one.get("rules", ()) if one["kind"] == "ClusterRole" else ():
                if TOPOLOGIES in rule["resources"]:
                    rule["verbs"].remove("watch")
        apply(prepared.api, prepared.installed.objects)
        prepared.start()
        return prepared

    def test_wh005_it_is_asked_for_by_name(self, lagging: Guarded) -> None:
        (trouble,) = [line for line in lagging.program.said("cannot follow") if line["kind"] == "ClusterTopology"]
        assert "cannot watch" in trouble["error"]
        begun = now()
        for number in range(3):
            assert lagging.create(topology(f"new-{number}")).code == 201
            said = lagging.create(lagging.racked(f"set-{number}", f"new-{number}"))
            assert (said.code, said.warnings) == (201, ())
        assert lagging.dry(lagging.racked("odd", "new-0", "block")).rules == {"TP-065"}
        assert lagging.dry(lagging.racked("odd", "new-9")).rules == {"TP-060"}
        assert lagging.deleted(topology("new-1")).code == 200
        assert lagging.dry(lagging.racked("odd", "new-1")).rules == {"TP-060"}
        asked = wait_until(
            lambda: [(what, code) for verb, what, code in lagging.asked(begun) if verb == "get" and "topolog" in what],
            lambda found: len(found) >= 8,
            "it is written down",
        )
        assert asked == [*[(TOPOLOGIES, 200)] * 4, *[(TOPOLOGIES, 404), (BINDINGS, 404)] * 2]


@pytest.mark.req("WH-005")
@pytest.mark.req("MF-020")
def test_wh005_admitted_pods_are_not_reviewed_again(guarded: Guarded) -> None:
    """And what is asked, from the start on, is what is declared."""
    begun = now()
    for number in range(5):
        assert guarded.create(guarded.racked(f"set-{number}", "h100")).code == 201
    assert guarded.dry(guarded.racked("last", "nowhere")).rules == {"TP-060"}
    asked = wait_until(
        lambda: [what for verb, what, _ in guarded.asked(begun) if verb == "get" and "topolog" in what],
        bool,
        "the last one is written down",
    )
    assert set(asked) <= {TOPOLOGIES, BINDINGS}
    assert len(asked) <= 2
    every = wait_until(
        lambda: guarded.asked(begun), lambda found: ("get", BINDINGS, 404) in found, "the other kind too"
    )
    assert 403 not in {code for _, _, code in every}
    resources = {one.resource for one in webhook_topology_access()}
    declared = {(verb, one.resource) for one in webhook_topology_access() for verb in one.verbs}
    whole = {(verb, what) for verb, what, _ in guarded.asked(guarded.begun) if what in resources}
    assert declared - whole == {("watch", BINDINGS)}, "of which there are none to be watched"
    assert whole <= declared


@pytest.mark.req("TP-088")
@pytest.mark.req("TP-086")
@pytest.mark.req("OP-033")
def test_wh010_while_they_are_down_levels_wait_and_nothing_else_does(guarded: Guarded) -> None:
    assert guarded.applied(guarded.racked("llama", "h100")).code == 201
    guarded.stop()
    for said in (guarded.applied(topology("h100", *BLOCKS)), guarded.create(topology("other"))):
        assert (said.code, said.by) == (500, "")
        assert f'failed calling webhook "{GUARDING[0]}"' in said.words
    assert guarded.patched(topology("h100"), {"metadata": {"finalizers": [KEPT], "labels": {"a": "b"}}}).code == 200
    assert guarded.applied(topology("h100", labels={"c": "d"})).code == 200
    assert guarded.deleted(topology("h100")).code == 200
    assert guarded.patched(topology("h100"), {"metadata": {"finalizers": None}}).code == 200
    assert guarded.api.find(TOPOLOGIES, "h100") is None
    guarded.start()
    assert guarded.applied(topology("other")).code == 201
    assert guarded.dry(guarded.racked("late", "h100")).rules == {"TP-060"}
    assert guarded.applied(guarded.racked("llama", "h100"), dry=True).code == 200, "it outlived its topology"


@pytest.mark.req("WH-025")
def test_wh010_all_of_them_are_trusted_and_called_at_their_places(guarded: Guarded) -> None:
    found = {
        one["name"]: one for one in guarded.api.get("validatingwebhookconfigurations", "grove-validation")["webhooks"]
    }
    assert set(found) == {VALIDATION, *GUARDING}
    bundles = {one["clientConfig"]["caBundle"] for one in found.values()}
    assert len(bundles) == 1
    assert base64.b64decode(bundles.pop()).startswith(b"-----BEGIN CERTIFICATE-----")
    for name, one in found.items():
        assert one["clientConfig"]["url"].endswith(PATHS[name])
    changed = guarded.api.get("validatingwebhookconfigurations", "grove-validation")
    for one in changed["webhooks"]:
        one["clientConfig"]["caBundle"] = ""
    guarded.api.replace(changed)
    wait_until(
        lambda: guarded.api.get("validatingwebhookconfigurations", "grove-validation")["webhooks"],
        lambda webhooks: all(one["clientConfig"].get("caBundle") for one in webhooks),
        "they are put right",
    )


@pytest.mark.req("TP-049")
def test_wh005_a_binding_counts_and_is_not_reviewed(guarded: Guarded) -> None:
    """The newer kind comes to a cluster whose webhooks run, and goes again."""
    definition = binding_definition(guarded)
    binding = {**topology("newer"), "kind": "ClusterTopologyBinding"}
    apply(guarded.api, [definition])
    try:
        wait_until(lambda: is_served(guarded.api, BINDINGS), bool, "bindings are served")
        assert guarded.dry(guarded.racked("a", "newer")).rules == {"TP-060"}
        assert guarded.create(binding).code == 201
        assert guarded.create(guarded.racked("a", "newer")).code == 201
        assert guarded.patched(binding, {"spec": topology("newer", *BLOCKS)["spec"]}).code == 200
        guarded.api.delete(BINDINGS, "newer")
    finally:
        guarded.api.delete("customresourcedefinitions", definition["metadata"]["name"])
        wait_until(lambda: is_served(guarded.api, BINDINGS), lambda served: not served, "they are gone")


def binding_definition(guarded: Guarded) -> Json:
    """As a newer cluster has it: the definition of our kind under another name."""
    found = guarded.api.get("customresourcedefinitions", "clustertopologies.grove.io")
    spec: dict[str, Any] = json.loads(json.dumps(found["spec"]))
    spec["names"] = {
        "kind": "ClusterTopologyBinding",
        "listKind": "ClusterTopologyBindingList",
        "plural": BINDINGS,
        "singular": "clustertopologybinding",
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{BINDINGS}.grove.io"},
        "spec": spec,
    }


@pytest.mark.req("WH-025")
@pytest.mark.req("WH-010")
def test_wh010_switched_off_it_delays_nothing(guarded: Guarded, grove_plane: ControlPlane, tmp_path: Path) -> None:
    """First the webhooks alone, then the registration; what is printed for it is applied over what is there."""
    scene, name = guarded.scene, "grove-validation"
    off = Installed(grove_plane, scene.namespace, tmp_path, everywhere=True)
    assert guarded.applied(guarded.racked("llama", "h100")).code == 201
    bound(guarded, "llama", 1)
    assert guarded.applied(topology("h100", *BLOCKS)).rules == {"TP-084"}
    guarded.stop()
    program = off.program("off")
    with program.running() as process:
        program.await_ready(process)
        off.is_called()
        assert guarded.applied(topology("h100", *BLOCKS)).code == 200, "a webhook that is still called allows"
        assert guarded.deleted(topology("gb200")).warnings == ()
    assert f'failed calling webhook "{GUARDING[0]}"' in guarded.applied(topology("h100", *RACKS)).words

    apply(guarded.api, off.objects)
    stored = {one["name"]: one for one in guarded.api.get("validatingwebhookconfigurations", name)["webhooks"]}
    assert {which for which, one in stored.items() if one.get("rules")} == {VALIDATION}
    assert all(stored[which]["clientConfig"]["caBundle"] for which in GUARDING), "which is why they cannot go"
    for levels in (RACKS, BLOCKS):
        forgotten = wait_until(
            lambda levels=levels: guarded.applied(topology("h100", *levels)),  # type: ignore[misc]  # mypy infers no type for a default of a lambda
            lambda said: said.code == 200,
            "no webhook is called about levels, and none would answer",
        )
        assert forgotten.warnings == ()
    again = off.program("again")
    with again.running() as process:
        again.await_ready(process)
        off.is_called()
        assert guarded.create(guarded.racked("new")).code == 201
        apply(guarded.api, guarded.installed.objects)
    guarded.start()
    assert guarded.applied(topology("h100", *RACKS)).rules == {"TP-084"}, "and on again"
