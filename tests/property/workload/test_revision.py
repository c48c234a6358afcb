"""Hashes, ours and other operators': what counts as the present template."""

from typing import Any, Final

import pytest

from grove_core.areas.workload.template_hash import has_own_template_hash_form
from grove_core.areas.workload.template_revision import TemplateRevision, normalized_pod_spec
from grove_core.kernel.frozen import FrozenMap, freeze, thaw_json
from grove_core.kernel.structs import replace
from grove_core.reconcile import reconcile
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset import PodCliqueSet, podcliqueset_from_json
from grove_core.resources.scaling_group import ScalingGroup
from tests.property.workload.life import Life, with_image
from tests.property.workload.sets import clique_raw, set_raw

CONTAINER: Final = {"name": "main", "image": "v1", "env": [{"name": "A", "value": "1"}]}
RAW: Final = set_raw(
    clique_raw("a", 2, pod_spec={"containers": [CONTAINER]}, labels={"team": "x"}, annotations={"note": "y"}),
    clique_raw("b", 1, pod_spec={"containers": [CONTAINER]}),
    groups=({"name": "pool", "cliqueNames": ["b"]},),
)
THEIRS: Final = "6fd8b9c47d95cb8f4"


def foreign(raw: dict[str, Any] = RAW, **changes: Any) -> Life:
    """A set at rest, as if another operator had run it: its hashes stand everywhere."""
    life = Life(raw)
    life.settle()
    for item in list(life.world.items.values()):
        if isinstance(item, PodClique):
            labels = FrozenMap({**item.labels, "grove.io/pod-template-hash": THEIRS})
            status = replace(item.status, current_hash=THEIRS, set_hash=THEIRS)
            life.world.put_object(replace(item, template_hash=THEIRS, labels=labels, status=status, **changes))
            life.world.pods[item.uid] = [replace(pod, template_hash=THEIRS) for pod in life.world.pods[item.uid]]
    for item in list(life.world.items.values()):
        if isinstance(item, ScalingGroup):
            life.world.put_object(replace(item, status=replace(item.status, set_hash=THEIRS)))
    life.world.put_object(replace(life.root, status=replace(life.root.status, current_hash=THEIRS)))
    life.attempts = ()
    return life


def generation_hash(root: PodCliqueSet) -> str:
    return TemplateRevision(root).generation_hash(is_reached=False)


def is_rolled(life: Life) -> bool:
    before = {pod.uid for pod in life.all_pods()}
    life.settle()
    return {pod.uid for pod in life.all_pods()} != before


def test_wl043_taking_over_a_cluster_writes_nothing() -> None:
    """Adoption: another operator's hashes stay where everything is as the template says."""
    life = foreign()
    seen = life.look()
    assert seen is not None
    assert reconcile(seen).steps == ()
    assert life.root.status.current_hash == THEIRS


def test_wl043_a_pod_made_after_that_carries_their_hash_too() -> None:
    life = foreign()
    life.world.delete_object(life.pods("llm-0-a")[0].ref)
    life.settle()
    assert {pod.template_hash for pod in life.all_pods()} == {THEIRS}


def test_wl043_an_edit_made_without_an_operator_is_rolled() -> None:
    life = foreign()
    life.new_image("v2", "a")
    assert is_rolled(life)
    assert {life.image_of(pod) for pod in life.pods("llm-0-a")} == {"v2"}
    assert has_own_template_hash_form(life.clique("llm-0-a").template_hash)
    assert has_own_template_hash_form(life.root.status.current_hash)
    assert life.clique("llm-0-pool-0-b").template_hash == THEIRS


ADDED: Final[tuple[dict[str, Any], ...]] = (
    {},
    {"resourceClaims": [{"name": "mnnvl-claim", "resourceClaimTemplateName": "llm-0-rct"}]},
)


@pytest.mark.parametrize("added", ADDED)
def test_wl043_what_operators_of_grove_put_into_the_pod_spec_is_no_difference(added: dict[str, Any]) -> None:
    claims = {"resources": {"claims": [{"name": "mnnvl-claim"}]}} if added else {}
    variables = [{"name": "GROVE_SOMETHING", "value": "1"}, *CONTAINER["env"]]
    spec = freeze({"containers": [{**CONTAINER, "env": variables, **claims}], **added})
    assert isinstance(spec, FrozenMap)
    assert not is_rolled(foreign(pod_spec=spec))


OWN: Final = {"name": "nic", "resourceClaimTemplateName": "nics"}


@pytest.mark.parametrize(("own", "same"), [("nic", True), ("nic-2", False)])
def test_wl043_claims_of_the_user_stay_beside_what_is_put_in(own: str, *, same: bool) -> None:
    """Only the claim of the fabric is no difference; a claim of the user's own is."""

    def spec(name: str, *more: dict[str, Any]) -> dict[str, Any]:
        claims = [{"name": name}, *({"name": one["name"]} for one in more)]
        return {
            "containers": [{**CONTAINER, "resources": {"claims": claims}}],
            "resourceClaims": [{**OWN, "name": name}, *more],
        }

    put_in = {"name": "mnnvl-claim", "resourceClaimTemplateName": "llm-0-rct"}
    stored = freeze(spec("nic", put_in))
    assert isinstance(stored, FrozenMap)
    assert is_rolled(foreign(set_raw(clique_raw("a", 2, pod_spec=spec(own))), pod_spec=stored)) is not same


def test_wl043_added_labels_are_no_difference() -> None:
    life = foreign()
    clique = life.clique("llm-0-a")
    life.world.put_object(replace(clique, labels=FrozenMap({**clique.labels, "cost-centre": "7"})))
    assert not is_rolled(life)


def test_wl043_a_clique_without_its_pod_spec_says_nothing() -> None:
    assert not is_rolled(foreign(pod_spec=FrozenMap({})))


def test_wl040_the_order_of_cliques_says_nothing() -> None:
    one, other = (
        podcliqueset_from_json(
            set_raw(*(clique_raw(name, 1, pod_spec={"containers": [{"name": name}]}) for name in names))
        )
        for names in ("ab", "ba")
    )
    assert generation_hash(one) == generation_hash(other)
    changed = replace(one, spec=with_image(one.spec, "v2", ("a",)))
    assert generation_hash(changed) != generation_hash(one)
    assert has_own_template_hash_form(generation_hash(one))
    assert not has_own_template_hash_form(THEIRS)
    assert not has_own_template_hash_form("")


def test_wl043_replicas_and_thresholds_are_no_template() -> None:
    life = Life(RAW)
    life.settle()
    before = generation_hash(life.root)
    template = life.root.spec.template
    cliques = tuple(
        clique.model_copy(update={"spec": clique.spec.model_copy(update={"replicas": 9})})
        for clique in template.cliques
    )
    life.edit(template=template.model_copy(update={"cliques": cliques}))
    assert generation_hash(life.root) == before
    assert not is_rolled(life)
    assert isinstance(life.root, PodCliqueSet)


def test_wl213_what_the_template_dropped_is_dropped_and_what_grove_wrote_stays() -> None:
    life = Life(RAW)
    life.settle()
    clique = life.clique("llm-0-a")
    life.world.put_object(
        replace(clique, annotations=FrozenMap({**clique.annotations, "grove.io/compute-domain-rct": "x"}))
    )
    template = life.root.spec.template
    bare = tuple(
        one.model_copy(update={"annotations": FrozenMap({}), "labels": FrozenMap({})}) for one in template.cliques
    )
    life.edit(template=template.model_copy(update={"cliques": bare}))
    life.settle()
    found = life.clique("llm-0-a")
    assert thaw_json(found.annotations) == {"grove.io/compute-domain-rct": "x"}
    assert "team" not in found.labels
    assert found.labels["grove.io/podgang"] == "llm-0"
    assert all("team" not in life.world.manifests[pod.ref]["metadata"]["labels"] for pod in life.pods("llm-0-a"))  # type: ignore[index, call-overload, operator]  # a manifest of our own


TYPED: Final[tuple[tuple[dict[str, Any], dict[str, Any]], ...]] = (
    (
        {"resources": {"limits": {"nvidia.com/gpu": 1, "cpu": "2000m"}}},
        {"resources": {"limits": {"nvidia.com/gpu": "1", "cpu": "2"}}},
    ),
    ({"ports": [{"containerPort": 80}]}, {"ports": [{"containerPort": 80, "protocol": "TCP"}]}),
    ({"securityContext": {}, "args": [], "workingDir": ""}, {}),
    ({"env": [{"name": "A", "value": ""}]}, {"env": [{"name": "A"}]}),
    (
        {"readinessProbe": {"tcpSocket": {"port": 80}, "initialDelaySeconds": 0}},
        {"readinessProbe": {"tcpSocket": {"port": 80}}},
    ),
    ({"volumeMounts": [{"name": "v", "readOnly": False}]}, {"volumeMounts": [{"name": "v"}]}),
    ({"hostNetwork": False, "stdin": False, "tty": False}, {}),
    ({"volumes": [{"emptyDir": {"sizeLimit": "1024Mi"}}]}, {"volumes": [{"emptyDir": {"sizeLimit": "1Gi"}}]}),
    (
        {"env": [{"valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}}]},
        {"env": [{"valueFrom": {"resourceFieldRef": {"resource": "limits.cpu", "divisor": "0"}}}]},
    ),
)
OTHER: Final[tuple[tuple[dict[str, Any], dict[str, Any]], ...]] = (
    ({"resources": {"limits": {"nvidia.com/gpu": 1}}}, {"resources": {"limits": {"nvidia.com/gpu": 2}}}),
    ({"ports": [{"containerPort": 80, "protocol": "UDP"}]}, {"ports": [{"containerPort": 80}]}),
    ({"args": ["a"]}, {}),
    ({"securityContext": {"allowPrivilegeEscalation": False}}, {}),
    ({"terminationGracePeriodSeconds": 0}, {}),
    ({"readinessProbe": {"initialDelaySeconds": 5}}, {"readinessProbe": {}}),
    ({"volumes": [{"emptyDir": {"sizeLimit": "1Gi"}}]}, {"volumes": [{"emptyDir": {"sizeLimit": "2Gi"}}]}),
)


@pytest.mark.parametrize(
    ("written", "stored", "same"), [*((*pair, True) for pair in TYPED), *((*pair, False) for pair in OTHER)]
)
def test_wl043_what_a_typed_client_makes_of_a_pod_spec_is_no_difference(
    written: dict[str, Any], stored: dict[str, Any], *, same: bool
) -> None:
    one, other = (
        normalized_pod_spec(FrozenMap({"containers": (freeze({"name": "main", **spec}),)}))
        for spec in (written, stored)
    )
    assert (one == other) is same


def test_wl043_taking_over_a_set_written_by_hand_rolls_nothing() -> None:
    raw = set_raw(
        clique_raw("a", 2, pod_spec={"containers": [{"name": "main", "resources": {"limits": {"nvidia.com/gpu": 1}}}]})
    )
    life = Life(raw)
    life.settle()
    for item in list(life.world.items.values()):
        if isinstance(item, PodClique):
            limits = FrozenMap({"limits": FrozenMap({"nvidia.com/gpu": "1"})})
            spec = FrozenMap({"containers": (FrozenMap({"name": "main", "resources": limits}),)})
            life.world.put_object(replace(item, template_hash=THEIRS, pod_spec=spec))
            life.world.pods[item.uid] = [replace(pod, template_hash=THEIRS) for pod in life.world.pods[item.uid]]
    assert not is_rolled(life)


def test_wl043_a_label_of_the_template_that_the_clique_lacks_is_a_difference() -> None:
    life = foreign()
    clique = life.clique("llm-0-a")
    life.world.put_object(replace(clique, labels=FrozenMap({**clique.labels, "team": "another"})))
    assert is_rolled(life)


@pytest.mark.req("WL-211")
def test_wl043_cliques_that_have_lost_their_hash_are_not_alike() -> None:
    """In the middle of an update each is what it holds; one that holds the old template does not get the new hash."""
    life = Life(set_raw(clique_raw("a", pod_spec={"containers": [CONTAINER]}), replicas=2))
    life.settle()
    life.on_delete()
    life.settle()
    life.new_image("v2")
    new = freeze({"containers": [{"name": "main", "image": "v2"}]})
    for name, spec in (("llm-0-a", new), ("llm-1-a", life.clique("llm-1-a").pod_spec)):
        clique = life.clique(name)
        labels = {key: text for key, text in clique.labels.items() if key != "grove.io/pod-template-hash"}
        life.world.put_object(replace(clique, labels=FrozenMap(labels), template_hash="", pod_spec=spec))  # type: ignore[arg-type]  # a frozen map
    seen = life.look()
    assert seen is not None
    steps = (step for step in reconcile(seen).steps if step.target.kind == "PodClique")
    assert {step.target.name: step.because[0].rule.code for step in steps} == {
        "llm-0-a": "HashMissing",
        "llm-1-a": "OnDelete",
    }
