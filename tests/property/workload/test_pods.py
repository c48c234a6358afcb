"""What Grove adds to a pod, and the start-up order."""

from datetime import timedelta
from typing import Any, Final

import pytest

from grove_core.areas.workload.template_hash import template_hash_of_clique
from grove_core.kernel.frozen import FrozenDict, FrozenMap, frozen_dict_of_tuples, thaw_json
from grove_core.kernel.steps import Create, Delete
from grove_core.kernel.structs import replace
from grove_core.reconcile import reconcile
from grove_core.resources.api_names import TEMPLATE_HASH
from grove_core.resources.podclique import PodClique
from tests.property.workload.life import Life, with_image
from tests.property.workload.sets import Json, applied, clique_raw, of_kind, pods_of, rounds_of, set_raw
from tests.property.workload.settled_sets import rested, seen_in

IN_ORDER: Final = "CliqueStartupTypeInOrder"
EXPLICIT: Final = "CliqueStartupTypeExplicit"
POOL: Final[Json] = {"name": "pool", "cliqueNames": ["b", "c"], "replicas": 3, "minAvailable": 2}


def three(kind: str, **after: list[str]) -> Json:
    cliques = [clique_raw(name, 2, minAvailable=1, startsAfter=after.get(name, [])) for name in "abc"]
    return set_raw(*cliques, groups=(POOL,), cliqueStartupType=kind)


def waits(raw: Json) -> dict[str, list[str]]:
    """Clique -> what its pods wait for, as passed to the init container; the same stands on the PodClique."""
    found = {}
    for name, item in pods_of(raw).items():
        reported = [arg for one in item["spec"].get("initContainers", []) for arg in one.get("args", [])]
        found[name.rpartition("-")[0]] = [arg.removeprefix("--podcliques=") for arg in reported]
    for name, item in of_kind(raw, "PodClique").items():
        assert [f"{parent}:1" for parent in item["spec"].get("startsAfter", [])] == found[name]
    return found


def test_wl050_any_order() -> None:
    assert set(map(tuple, waits(three("CliqueStartupTypeAnyOrder", b=["a"])).values())) == {()}


def test_wl050_in_order() -> None:
    assert waits(three(IN_ORDER)) == {
        "llm-0-a": [],
        "llm-0-pool-0-b": ["llm-0-a:1"],
        "llm-0-pool-1-b": ["llm-0-a:1"],
        "llm-0-pool-2-b": [],
        "llm-0-pool-0-c": ["llm-0-pool-0-b:1", "llm-0-pool-1-b:1"],
        "llm-0-pool-1-c": ["llm-0-pool-0-b:1", "llm-0-pool-1-b:1"],
        "llm-0-pool-2-c": ["llm-0-pool-2-b:1"],
    }


def test_wl050_explicit_order() -> None:
    found = waits(three(EXPLICIT, a=["c", "ghost"], b=["a", "c"]))
    assert found["llm-0-a"] == ["llm-0-pool-0-c:1", "llm-0-pool-1-c:1"]
    assert found["llm-0-pool-0-b"] == ["llm-0-a:1", "llm-0-pool-0-c:1", "llm-0-pool-1-c:1"]
    assert found["llm-0-pool-2-b"] == ["llm-0-pool-2-c:1"]
    assert found["llm-0-pool-0-c"] == []


def test_wl050_a_scaled_replica_waits_for_no_other_group() -> None:
    groups = (
        {"name": "one", "cliqueNames": ["a"], "replicas": 2},
        {"name": "two", "cliqueNames": ["b"], "replicas": 2},
    )
    raw = set_raw(clique_raw("a"), clique_raw("b"), groups=groups, cliqueStartupType=IN_ORDER)
    assert waits(raw) == {
        "llm-0-one-0-a": [],
        "llm-0-one-1-a": [],
        "llm-0-two-0-b": ["llm-0-one-0-a:1"],
        "llm-0-two-1-b": [],
    }


def test_wl084_the_init_container_comes_last_and_can_see_its_gang() -> None:
    spec = {"containers": [{"name": "main"}], "initContainers": [{"name": "mine"}], "volumes": [{"name": "v"}]}
    pod = pods_of(set_raw(clique_raw("a"), clique_raw("b", pod_spec=spec), cliqueStartupType=IN_ORDER))["llm-0-b-0"]
    assert [one["name"] for one in pod["spec"]["initContainers"]] == ["mine", "grove-initc"]
    volumes = {one["name"]: one for one in pod["spec"]["volumes"]}
    assert list(volumes) == ["v", "sa-token-secret-vol", "pod-info-vol"]
    assert volumes["sa-token-secret-vol"]["secret"]["secretName"] == "llm-ic-sat"
    fields = [one["fieldRef"]["fieldPath"] for one in volumes["pod-info-vol"]["downwardAPI"]["items"]]
    assert fields == ["metadata.namespace", "metadata.labels['grove.io/podgang']"]
    mounted = {one["name"] for one in pod["spec"]["initContainers"][1]["volumeMounts"]}
    assert mounted == {"sa-token-secret-vol", "pod-info-vol"}


def test_wl084_the_init_container_is_confined_whatever_its_pod_is() -> None:
    spec = {"containers": [{"name": "main"}], "securityContext": {"runAsUser": 0, "runAsNonRoot": False}}
    pod = pods_of(set_raw(clique_raw("a"), clique_raw("b", pod_spec=spec), cliqueStartupType=IN_ORDER))["llm-0-b-0"]
    confined = pod["spec"]["initContainers"][0]["securityContext"]
    assert confined["runAsUser"] > 0
    assert confined["runAsNonRoot"]
    assert not confined["allowPrivilegeEscalation"]
    assert confined["capabilities"] == {"drop": ["ALL"]}
    assert confined["seccompProfile"] == {"type": "RuntimeDefault"}
    assert pod["spec"]["securityContext"] == spec["securityContext"]


def variables(item: Json, which: str = "containers") -> dict[str, Any]:
    return {one["name"]: one.get("value", one.get("valueFrom")) for one in item["spec"][which][0].get("env", [])}


def test_wl061_variables_of_a_pod() -> None:
    own = [{"name": "GROVE_PCS_NAME", "value": "mine"}, {"name": "OTHER", "value": "kept"}]
    spec = {"containers": [{"name": "main", "env": own}], "initContainers": [{"name": "first"}]}
    pod = pods_of(set_raw(clique_raw("a", pod_spec=spec)))["llm-0-a-0"]
    index = {"fieldRef": {"fieldPath": "metadata.labels['grove.io/podclique-pod-index']"}}
    grove = {
        "GROVE_PCS_NAME": "llm",
        "GROVE_PCS_INDEX": "0",
        "GROVE_PCLQ_NAME": "llm-0-a",
        "GROVE_HEADLESS_SERVICE": "llm-0.ml.svc.cluster.local",
        "GROVE_PCLQ_POD_INDEX": index,
    }
    assert variables(pod) == {**grove, "OTHER": "kept"}
    assert list(variables(pod)) == [*grove, "OTHER"]
    assert variables(pod, "initContainers") == grove


def test_wl061_variables_of_a_scaling_group_stand_on_its_cliques() -> None:
    raw = set_raw(clique_raw("a"), clique_raw("b", 1), clique_raw("c", 4), groups=(POOL,))
    stored = of_kind(raw, "PodClique")
    (main,) = stored["llm-0-pool-2-c"]["spec"]["podSpec"]["containers"]
    assert [one["name"] for one in main["env"]] == [
        "GROVE_PCSG_NAME",
        "GROVE_PCSG_TEMPLATE_NUM_PODS",
        "GROVE_PCSG_INDEX",
    ]
    assert main["env"][1]["value"] == "5"
    assert "env" not in stored["llm-0-a"]["spec"]["podSpec"]["containers"][0]
    assert "GROVE_PCSG_INDEX" in variables(pods_of(raw)["llm-0-pool-2-c-3"])


@pytest.mark.parametrize("spec", [{}, {"containers": "none"}, {"containers": [5]}, {"containers": [{"env": "none"}]}])
def test_wl061_odd_pod_specs_are_carried_along(spec: Json) -> None:
    pod = pods_of(set_raw(clique_raw("a", pod_spec={"x": 1, **spec})))["llm-0-a-0"]
    assert pod["spec"]["x"] == 1


def claims(pod: Json) -> list[str]:
    named = [one["resourceClaimName"] for one in pod["spec"].get("resourceClaims", []) if "resourceClaimName" in one]
    for container in (*pod["spec"]["containers"], *pod["spec"].get("initContainers", [])):
        assert [one["name"] for one in container.get("resources", {}).get("claims", [])][-len(named) or None :] == named
    return named


def sharing(name: str, scope: str = "AllReplicas", **only: list[str]) -> Json:
    return {"name": name, "scope": scope, **({"filter": only} if only else {})}


def test_wl086_claims_of_all_levels_in_their_order() -> None:
    spec = {
        "containers": [{"name": "main", "resources": {"limits": {}, "claims": [{"name": "own"}]}}],
        "initContainers": [{"name": "first"}],
        "resourceClaims": [{"name": "own"}],
    }
    templates = [{"name": name, "templateSpec": {"spec": {}}} for name in "wxyz"]
    pool = {**POOL, "resourceSharing": [sharing("x", "PerReplica"), sharing("y", childCliqueNames=["c"])]}
    raw = set_raw(
        clique_raw("a", pod_spec=spec),
        clique_raw("b", 2, pod_spec=spec, resourceSharing=[sharing("z", "PerReplica")]),
        clique_raw("c", pod_spec=spec),
        groups=(pool,),
        resourceClaimTemplates=templates,
        resourceSharing=[
            sharing("w", "PerReplica", childScalingGroupNames=["pool"]),
            sharing("z"),
            sharing("y", childCliqueNames=["a"]),
        ],
    )
    pods = pods_of(raw)
    assert claims(pods["llm-0-a-0"]) == ["llm-all-z", "llm-all-y"]
    assert claims(pods["llm-0-pool-1-b-1"]) == ["llm-all-z", "llm-0-w", "llm-0-pool-1-x", "llm-0-pool-1-b-1-z"]
    assert claims(pods["llm-0-pool-2-c-0"]) == ["llm-all-z", "llm-0-w", "llm-0-pool-all-y", "llm-0-pool-2-x"]
    assert of_kind(raw, "ResourceClaim")["llm-all-z"]["spec"] == {}


def test_wl018_a_lower_bound_that_is_not_written_is_the_template_s() -> None:
    metrics = [{"type": "Resource"}]
    raw = set_raw(clique_raw("a", 3, autoScalingConfig={"maxReplicas": 5, "metrics": metrics}))
    bounds = {"minReplicas": 3, "maxReplicas": 5, "metrics": metrics}
    assert of_kind(raw, "PodClique")["llm-0-a"]["spec"]["autoScalingConfig"] == bounds
    target = {"apiVersion": "grove.io/v1alpha1", "kind": "PodClique", "name": "llm-0-a"}
    assert of_kind(raw, "HorizontalPodAutoscaler")["llm-0-a"]["spec"] == {"scaleTargetRef": target, **bounds}


def test_wl019_a_template_of_another_namespace_is_looked_for_there() -> None:
    """A namespace is written only where an object is meant, whatever is inline."""
    templates = [{"name": "x", "templateSpec": {"spec": {"inline": True}}}]
    shared = {"name": "x", "scope": "AllReplicas", "namespace": "elsewhere"}
    start = applied(set_raw(clique_raw("a"), resourceClaimTemplates=templates, resourceSharing=[shared]))
    known = replace(
        start, claim_templates=FrozenDict({("elsewhere", "x"): FrozenMap({"spec": FrozenMap({"inline": False})})})
    )
    (made,) = (step.action for step in reconcile(known).steps if step.target.kind == "ResourceClaim")
    assert isinstance(made, Create)
    assert made.manifest["spec"] == FrozenMap({"inline": False})
    assert not [step for step in reconcile(start).steps if step.target.kind == "ResourceClaim"]


@pytest.mark.parametrize("known", ["", "abc"])
@pytest.mark.parametrize("image", ["", "v2"], ids=["of the present template", "of an older one"])
def test_wl211_a_pod_whose_clique_lost_its_hash_says_of_what_it_is(image: str, known: str) -> None:
    """So that it is distinguished from those that the clique makes once it is of another template."""
    seen = next(seen for seen, _ in rounds_of(applied(set_raw(clique_raw("a")))) if seen.gangs)
    (clique,) = seen.cliques
    held = clique.labels[TEMPLATE_HASH]
    labels = FrozenMap({key: text for key, text in clique.labels.items() if key != TEMPLATE_HASH})
    status = replace(clique.status, current_hash=known)
    bare = replace(clique, template_hash="", labels=labels, status=status)
    root = replace(seen.root, spec=with_image(seen.root.spec, image)) if image else seen.root
    plan = reconcile(replace(seen, root=root, cliques=(bare,), gangs=(), complete=seen.complete - {"PodGang"}))
    pods = [step.action for step in plan.steps if step.target.kind == "Pod" and isinstance(step.action, Create)]
    (found,) = {thaw_json(pod.manifest)["metadata"]["labels"][TEMPLATE_HASH] for pod in pods}
    if known or not image:
        assert found == (known or held)
    else:
        (template,) = root.spec.template.cliques
        assert found not in {"", template_hash_of_clique(template, "")}


@pytest.mark.req("WL-086")
@pytest.mark.req("WL-231")
def test_wl030_a_pod_carries_groves_labels_whatever_became_of_those_of_its_clique() -> None:
    """Nothing else names its owner once its clique is gone, and its set would not wait for it."""

    def labels_of_pods(*, taken: bool) -> dict[str, Json]:
        life = Life(set_raw(*map(clique_raw, "abc"), groups=(POOL,)))
        while len(cliques := [one for one in life.world.items.values() if isinstance(one, PodClique)]) < 7:
            life.round()
        assert not life.all_pods()
        for clique in cliques if taken else ():
            life.world.put_object(replace(clique, template_hash="", labels=FrozenMap({})))
        life.settle()
        return {pod.name: thaw_json(life.world.manifests[pod.ref])["metadata"]["labels"] for pod in life.all_pods()}

    assert labels_of_pods(taken=True) == labels_of_pods(taken=False)


def test_wl030_a_template_cannot_claim_a_foreign_group() -> None:
    """The autoscaler of that group would count its pods."""
    foreign = {"grove.io/podcliquescalinggroup": "llm-0-pool", "grove.io/base-podgang": "llm-0", "team": "red"}
    raw = set_raw(clique_raw("a", labels=foreign), *map(clique_raw, "bc"), groups=(POOL,))
    for found in (of_kind(raw, "PodClique"), pods_of(raw)):
        (labels,) = [one["metadata"]["labels"] for name, one in found.items() if name.startswith("llm-0-a")]
        assert labels["team"] == "red"
        assert not {"grove.io/podcliquescalinggroup", "grove.io/base-podgang"} & labels.keys()


def test_wl019_a_pod_without_an_index_has_no_claim_of_its_own() -> None:
    """A pod whose index was removed; there is no place it could share with a pod that comes after it."""
    template = {"name": "cache", "templateSpec": {"spec": {"devices": {"requests": [{"name": "x"}]}}}}
    shares = [{"name": "cache", "scope": "PerReplica"}]
    life = Life(set_raw(clique_raw("a", 2, resourceSharing=shares), resourceClaimTemplates=[template]))
    life.settle()
    seen = life.look()
    assert seen is not None
    ((uid, (first, *others)),) = seen.pods_of.items()
    claims = {other.ref.name for other in seen.others if other.ref.kind == "ResourceClaim"}
    assert claims == {"llm-0-a-0-cache", "llm-0-a-1-cache"}
    plan = reconcile(replace(seen, pods_of=frozen_dict_of_tuples({uid: (replace(first, index=-1), *others)})))
    assert not [step for step in plan.steps if isinstance(step.action, Create)]


def test_wl086_what_a_container_asks_for_stays_beside_its_claims() -> None:
    gpus = {"limits": {"nvidia.com/gpu": 8}, "claims": [{"name": "own"}]}
    raw = set_raw(
        clique_raw("a", pod_spec={"containers": [{"name": "main", "resources": gpus}]}),
        resourceClaimTemplates=[{"name": "x", "templateSpec": {"spec": {"devices": {}}}}],
        resourceSharing=[{"name": "x", "scope": "AllReplicas"}],
    )
    (pod,) = pods_of(raw).values()
    (container,) = pod["spec"]["containers"]
    assert container["resources"] == {**gpus, "claims": [{"name": "own"}, {"name": "llm-all-x"}]}


def test_wl085_no_pod_is_made_for_a_clique_that_ends_in_the_same_moment() -> None:
    life = rested(set_raw(clique_raw("a", 2), replicas=2, terminationDelay="1m"))
    for pod in life.pods("llm-0-a"):
        life.world.put_pod(replace(pod, ready=False))
    life.round()
    life.now += timedelta(minutes=5)
    life.world.delete_object(life.pods("llm-0-a")[0].ref)
    steps = reconcile(seen_in(life)).steps
    assert [step.target.name for step in steps if isinstance(step.action, Delete)] == ["llm-0-a"]
    assert not [step for step in steps if isinstance(step.action, Create)]
