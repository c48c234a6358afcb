"""What the Go operator writes into the objects of a set, rule by rule (WF-101 to WF-155)."""

from typing import Any

import pytest
from hypothesis import given

from grove_core.areas.topology.verdicts import PlacingTopology
from grove_core.areas.workload.field.objects.pods import pod_manifest_by_go_operator
from grove_core.areas.workload.field.releases import BEFORE_ALPHA_12, FROM_ALPHA_12, MAIN_BRANCH
from grove_core.kernel.frozen import FrozenDict, thaw_json
from grove_core.kernel.steps import Create
from grove_core.kernel.structs import replace
from grove_core.reconcile import reconcile
from grove_core.resources.labels import CLIQUE, GROUP, GROUP_REPLICA, SET, SET_REPLICA
from grove_core.rule_sets.go_operator import NEWEST, OF_MAIN_BRANCH
from grove_core.snapshot.expected_replicas import ExpectedSetReplicas
from tests.property.few_examples import RARELY
from tests.property.workload.sets import clique_raw, raw_sets, set_raw
from tests.property.workload_field.expansion import Expansion, root_of
from tests.property.workload_field.healthy_sets import healthy

Json = dict[str, Any]
GPUS: Json = {"containers": [{"name": "main", "resources": {"limits": {"nvidia.com/gpu": 8}}}, {"name": "side"}]}
ANOTHER_FAMILY = {
    key for label in (SET, SET_REPLICA, GROUP, GROUP_REPLICA, CLIQUE) for key in label.keys if key != label.primary
}


def expanded(raw: Json, **more: Any) -> dict[str, Json]:
    """Kind and name -> object; pods by host name."""
    return {
        f"{item['kind']}/{item['spec']['hostname'] if item['kind'] == 'Pod' else item['metadata']['name']}": item
        for item in Expansion(root_of(raw), **more).manifests
    }


@RARELY
@given(raw_sets())
def test_wf101_a_label_has_one_key(raw: Json) -> None:
    for name, item in expanded(raw).items():
        labels = item["metadata"]["labels"]
        assert not ANOTHER_FAMILY & labels.keys(), name
        assert labels["app.kubernetes.io/managed-by"] == "grove-operator"
        assert labels["app.kubernetes.io/part-of"] == "llm"
        has_name = item["kind"] not in {"PodGang", "ResourceClaim"}
        assert ("app.kubernetes.io/name" in labels) is has_name
        assert "app.kubernetes.io/component" in labels


def test_wf103_names_of_pods_begin_with_that_of_their_clique() -> None:
    pod = expanded(set_raw(clique_raw("a")))["Pod/llm-0-a-0"]
    assert pod["metadata"]["generateName"] == "llm-0-a-"
    assert pod["metadata"]["name"].startswith("llm-0-a-")


class TestWF110:
    """A PodClique MUST be made from the first template with whose name its own name ends. If that is another clique's
    template, a reason names both.
    """

    def test_wf110_the_later_clique_gets_the_template_of_the_first(self) -> None:
        raw = set_raw(clique_raw("worker", 1), clique_raw("decode-worker", 2))
        wants = {want.target.short: want for want in Expansion(root_of(raw)).wants}
        alike = wants["PodClique/llm-0-decode-worker"]
        assert [reason.rule.requirement for reason in alike.because] == ["WL-013", "WF-110"]
        assert [reason.rule.requirement for reason in wants["PodClique/llm-0-worker"].because] == ["WL-013"]
        found = expanded(raw)
        assert found["PodClique/llm-0-decode-worker"]["spec"] == found["PodClique/llm-0-worker"]["spec"]
        assert "Pod/llm-0-decode-worker-1" not in found

    def test_wf110_in_the_other_order_each_has_its_own(self) -> None:
        found = expanded(set_raw(clique_raw("decode-worker", 2), clique_raw("worker", 1)))
        assert found["PodClique/llm-0-decode-worker"]["spec"]["roleName"] == "decode-worker"
        assert found["PodClique/llm-0-worker"]["spec"]["roleName"] == "worker"


def test_wf111_parents_have_their_full_names_and_variables_of_a_group_are_the_last_ones() -> None:
    spec: Json = {"containers": [{"name": "main", "env": [{"name": "A"}, {"name": "GROVE_PCSG_INDEX", "value": "9"}]}]}
    group = {"name": "g", "cliqueNames": ["l", "w"], "replicas": 2, "minAvailable": 1}
    raw = set_raw(
        clique_raw("a"),
        clique_raw("l"),
        clique_raw("w", pod_spec=spec),
        groups=(group,),
        cliqueStartupType="CliqueStartupTypeInOrder",
    )
    found, by_main = expanded(raw), expanded(raw, release=MAIN_BRANCH)
    assert "startsAfter" not in found["PodClique/llm-0-a"]["spec"]
    assert found["PodClique/llm-0-g-0-l"]["spec"]["startsAfter"] == ["llm-0-a"]
    assert "startsAfter" not in found["PodClique/llm-0-g-1-l"]["spec"]
    worker = found["PodClique/llm-0-g-1-w"]["spec"]
    assert worker["startsAfter"] == ["llm-0-g-1-l"]
    of_group = ["GROVE_PCSG_NAME", "GROVE_PCSG_TEMPLATE_NUM_PODS", "GROVE_PCSG_INDEX"]
    assert names_of_variables(worker) == ["A", "GROVE_PCSG_INDEX", *of_group]
    assert names_of_variables(by_main["PodClique/llm-0-g-1-w"]["spec"]) == [*of_group, "A"]


def names_of_variables(clique_spec: Json) -> list[str]:
    return [one["name"] for one in clique_spec["podSpec"]["containers"][0]["env"]]


def test_wf112_the_priority_class_of_a_set_stays_on_its_gangs() -> None:
    own = {"containers": [{"name": "main"}], "priorityClassName": "own"}
    found = expanded(set_raw(clique_raw("a"), clique_raw("b", pod_spec=own), priorityClassName="high"))
    assert found["PodGang/llm-0"]["spec"]["priorityClassName"] == "high"
    assert "priorityClassName" not in found["PodClique/llm-0-a"]["spec"]["podSpec"]
    assert "priorityClassName" not in found["Pod/llm-0-a-0"]["spec"]
    assert found["Pod/llm-0-b-0"]["spec"]["priorityClassName"] == "own"


def test_wf113_texts_of_a_podclique_are_the_template_s_and_the_operator_s() -> None:
    labels = {"team": "ml", "grove.io/podgang": "mine", "grove.io/base-podgang": "mine"}
    annotations = {"note": "n", "grove.io/topology-name": "t", "grove.io/x": "y"}
    clique = expanded(set_raw(clique_raw("a", labels=labels, annotations=annotations)))["PodClique/llm-0-a"]["metadata"]
    assert clique["annotations"] == {"note": "n", "grove.io/x": "y"}
    assert (clique["labels"]["team"], clique["labels"]["grove.io/podgang"]) == ("ml", "llm-0")
    assert clique["labels"]["grove.io/base-podgang"] == "mine"
    assert clique["finalizers"] == ["grove.io/podclique.grove.io"]


@pytest.mark.parametrize(
    ("of_set", "of_group", "of_clique", "template"),
    [
        ({}, {}, {}, ""),
        ({"grove.io/mnnvl-group": "fast"}, {}, {}, "llm-0-fast"),
        ({"grove.io/mnnvl-group": "fast"}, {"grove.io/mnnvl-group": "slow"}, {}, "llm-0-slow"),
        ({"grove.io/mnnvl-group": "fast"}, {}, {"grove.io/mnnvl-group": "own"}, "llm-0-own"),
        ({"grove.io/mnnvl-group": "fast"}, {}, {"grove.io/mnnvl-group": "none"}, ""),
    ],
)
@pytest.mark.req("WF-120")
def test_wf115_the_nearest_mnnvl_group_counts(of_set: Json, of_group: Json, of_clique: Json, template: str) -> None:
    group = {"name": "g", "cliqueNames": ["w"], "annotations": of_group}
    raw = set_raw(clique_raw("w", pod_spec=GPUS, annotations=of_clique), groups=(group,), meta={"annotations": of_set})
    found = expanded(raw)
    own = found["PodCliqueScalingGroup/llm-0-g"]["metadata"].get("annotations", {})
    assert own == of_set | of_group
    spec = found["PodClique/llm-0-g-0-w"]["spec"]["podSpec"]
    claim = {"name": "mnnvl-claim", "resourceClaimTemplateName": template}
    assert spec.get("resourceClaims", []) == ([claim] if template else [])
    assert [one["resources"].get("claims") for one in spec["containers"] if "resources" in one] == [
        [{"name": "mnnvl-claim"}] if template else None
    ]
    assert found["Pod/llm-0-g-0-w-0"]["spec"].get("resourceClaims", []) == spec.get("resourceClaims", [])


def test_wf115_a_claim_of_that_name_stays() -> None:
    spec = {**GPUS, "resourceClaims": [{"name": "mnnvl-claim", "resourceClaimName": "mine"}]}
    raw = set_raw(clique_raw("a", pod_spec=spec), meta={"annotations": {"grove.io/mnnvl-group": "fast"}})
    assert expanded(raw)["PodClique/llm-0-a"]["spec"]["podSpec"]["resourceClaims"] == spec["resourceClaims"]


def test_wf120_a_scaling_group_has_the_annotations_of_its_template() -> None:
    group = {"name": "g", "cliqueNames": ["w"], "annotations": {"owner": "ml"}, "replicas": 3, "minAvailable": 2}
    found = expanded(set_raw(clique_raw("w"), groups=(group,)))["PodCliqueScalingGroup/llm-0-g"]
    assert found["metadata"]["annotations"] == {"owner": "ml"}
    assert found["spec"] == {"replicas": 3, "minAvailable": 2, "cliqueNames": ["w"]}


def test_wf130_a_gang_has_the_texts_of_its_set() -> None:
    meta = {"labels": {"team": "ml", "grove.io/x": "1"}, "annotations": {"queue": "q", "grove.io/y": "1"}}
    raw = set_raw(clique_raw("a"), clique_raw("b", pod_spec={"schedulerName": "kai-scheduler"}), meta=meta)
    gang = expanded(raw)["PodGang/llm-0"]["metadata"]
    assert gang["annotations"] == {"queue": "q"}
    assert gang["labels"] == {
        "app.kubernetes.io/component": "podgang",
        "app.kubernetes.io/managed-by": "grove-operator",
        "app.kubernetes.io/part-of": "llm",
        "grove.io/scheduler-name": "kai-scheduler",
        "team": "ml",
    }
    plain = expanded(set_raw(clique_raw("a")), scheduler="volcano")["PodGang/llm-0"]["metadata"]
    assert plain["labels"]["grove.io/scheduler-name"] == "volcano"


@pytest.mark.parametrize(
    ("keys", "named"),
    [({"zone": "z", "rack": "r"}, True), ({"zone": "z"}, True), ({"rack": "r"}, True), ({"host": "h"}, False)],
)
def test_wf131_domains_that_the_topology_lacks_are_left_out(keys: dict[str, str], *, named: bool) -> None:
    rack = {"topologyConstraint": {"topologyName": "t", "pack": {"required": "rack"}}}
    groups = tuple({"name": name, "cliqueNames": [name], "replicas": 2, "minAvailable": 2, **rack} for name in "wv")
    raw = set_raw(
        {**clique_raw("a"), **rack},
        clique_raw("v"),
        clique_raw("w"),
        groups=groups,
        topologyConstraint={"topologyName": "t", "pack": {"required": "zone"}},
    )
    gang = expanded(raw, topology=PlacingTopology("t", FrozenDict(keys)))["PodGang/llm-0"]
    assert ("annotations" in gang["metadata"]) is named
    of_rack = {"topologyConstraint": {"packConstraint": {"required": "r"}}} if "rack" in keys else {}
    assert gang["spec"]["topologyConstraintGroupConfigs"] == [
        {"name": f"llm-0-{name}-{index}", "podGroupNames": [f"llm-0-{name}-{index}-{name}"], **of_rack}
        for name in "wv"
        for index in range(2)
    ]
    assert gang["spec"].get("topologyConstraint") == ({"packConstraint": {"required": "z"}} if "zone" in keys else None)
    assert gang["spec"]["podgroups"][0] == {"name": "llm-0-a", "minReplicas": 1, "podReferences": [], **of_rack}


@pytest.mark.parametrize("published", [True, False])
def test_wf140_false_is_left_out_of_a_service(*, published: bool) -> None:
    raw = set_raw(clique_raw("a"), headlessServiceConfig={"publishNotReadyAddresses": published})
    service = expanded(raw)["Service/llm-0"]
    shown = {"publishNotReadyAddresses": True} if published else {}
    selector = {
        "app.kubernetes.io/managed-by": "grove-operator",
        "app.kubernetes.io/part-of": "llm",
        "grove.io/podcliqueset-replica-index": "0",
    }
    assert service["spec"] == {"clusterIP": "None", "selector": selector, **shown}


def test_wf141_objects_for_the_init_container() -> None:
    found = expanded(set_raw(clique_raw("a")))
    assert found["Role/grove.io:pcs:llm"]["metadata"]["labels"]["app.kubernetes.io/name"] == "grove.io-pcs-llm"
    assert found["Secret/llm-ic-sat"]["metadata"]["annotations"] == {"kubernetes.io/service-account.name": "llm"}
    assert {"ServiceAccount/llm", "RoleBinding/grove.io:pcs:llm"} <= found.keys()


def test_wf142_autoscalers_of_cliques_and_groups() -> None:
    group = {"name": "g", "cliqueNames": ["w"], "replicas": 2, "scaleConfig": {"maxReplicas": 4}}
    found = expanded(set_raw(clique_raw("a", autoScalingConfig={"maxReplicas": 3}), clique_raw("w"), groups=(group,)))
    assert found["HorizontalPodAutoscaler/llm-0-a"]["spec"]["maxReplicas"] == 3
    assert found["HorizontalPodAutoscaler/llm-0-g"]["spec"]["minReplicas"] == 2


def test_wf143_claims_have_the_label_of_their_owner() -> None:
    both = [{"name": "x", "scope": scope} for scope in ("AllReplicas", "PerReplica")]
    group = {"name": "g", "cliqueNames": ["w"], "resourceSharing": both}
    raw = set_raw(
        clique_raw("w", 2, resourceSharing=both),
        groups=(group,),
        resourceSharing=[*both, {"name": "elsewhere", "scope": "AllReplicas"}],
        resourceClaimTemplates=[{"name": "x", "templateSpec": {"spec": {"devices": {}}}}],
    )
    common = {"app.kubernetes.io/managed-by", "app.kubernetes.io/part-of", "app.kubernetes.io/component"}
    found = {
        name.partition("/")[2]: {key: text for key, text in item["metadata"]["labels"].items() if key not in common}
        for name, item in expanded(raw).items()
        if item["kind"] == "ResourceClaim"
    }
    of_group = {"grove.io/podcliquescalinggroup": "llm-0-g"}
    of_clique = {"grove.io/podclique": "llm-0-g-0-w"}
    assert found == {
        "llm-all-x": {},
        "llm-0-x": {"grove.io/podcliqueset-replica-index": "0"},
        "llm-0-g-all-x": of_group,
        "llm-0-g-0-x": {**of_group, "grove.io/podcliquescalinggroup-replica-index": "0"},
        "llm-0-g-0-w-all-x": of_clique,
        "llm-0-g-0-w-0-x": {**of_clique, "grove.io/podclique-pod-index": "0"},
        "llm-0-g-0-w-1-x": {**of_clique, "grove.io/podclique-pod-index": "1"},
    }


@pytest.mark.req("WF-151")
def test_wf150_a_pod_is_made_from_its_podclique() -> None:
    spec = {"containers": [{"name": "main"}], "schedulingGates": [{"name": "mine"}], "hostname": "mine"}
    raw = set_raw(clique_raw("a", pod_spec=spec, labels={"team": "ml", "grove.io/podclique": "mine"}))
    pod = expanded(raw)["Pod/llm-0-a-0"]
    assert pod["metadata"]["labels"]["team"] == "ml"
    assert pod["metadata"]["labels"]["grove.io/podclique"] == "llm-0-a"
    assert pod["metadata"]["labels"]["grove.io/podclique-pod-index"] == "0"
    assert pod["spec"]["schedulingGates"] == [{"name": "grove.io/podgang-pending-creation"}]
    assert (pod["spec"]["hostname"], pod["spec"]["subdomain"]) == ("llm-0-a-0", "llm-0")


@pytest.mark.parametrize(
    ("named", "default", "texts"),
    [
        ("", "", {}),
        ("lpx-scheduler", "kai-scheduler", {}),
        ("kai-scheduler", "", {}),
        ("", "kai-scheduler", {}),
        (
            "volcano",
            "",
            {"scheduling.volcano.sh/group-name": "llm-0", "scheduling.k8s.io/group-name": "llm-0"},
        ),
    ],
)
def test_wf152_schedulers_find_the_gang_by_texts_of_the_pod(named: str, default: str, texts: dict[str, str]) -> None:
    spec = {"containers": [{"name": "main"}], **({"schedulerName": named} if named else {})}
    pod = expanded(set_raw(clique_raw("a", pod_spec=spec)), scheduler=default)["Pod/llm-0-a-0"]
    assert pod["spec"]["schedulerName"] == (named or default or "default-scheduler")
    assert pod["metadata"].get("annotations", {}) == texts
    assert "kai.scheduler/subgroup-name" not in pod["metadata"]["labels"]


@pytest.mark.parametrize(("named", "default"), [("kai-scheduler", ""), ("", "kai-scheduler")])
def test_wf152_the_main_branch_names_the_gang_to_kai(named: str, default: str) -> None:
    spec = {"containers": [{"name": "main"}], **({"schedulerName": named} if named else {})}
    raw = set_raw(clique_raw("a", pod_spec=spec))
    metadata = expanded(raw, scheduler=default, release=MAIN_BRANCH)["Pod/llm-0-a-0"]["metadata"]
    assert metadata["annotations"] == {"kai.scheduler/skip-podgrouper": "true", "pod-group-name": "llm-0"}
    assert metadata["labels"]["kai.scheduler/subgroup-name"] == "llm-0-a"


def test_wf141_the_token_secret_has_a_longer_name_before_alpha_12() -> None:
    later = clique_raw("b", startsAfter=["a"])
    raw = set_raw(clique_raw("a"), later, cliqueStartupType="CliqueStartupTypeExplicit")
    old, new = expanded(raw, release=BEFORE_ALPHA_12), expanded(raw)
    assert "Secret/llm-initc-sa-token-secret" in old
    assert "Secret/llm-ic-sat" in new
    for found, name in ((old, "llm-initc-sa-token-secret"), (new, "llm-ic-sat")):
        sources = found["Pod/llm-0-b-0"]["spec"]["volumes"]
        assert name in {volume.get("secret", {}).get("secretName") for volume in sources}


def test_wf153_the_init_container_comes_after_all_others() -> None:
    spec = {"containers": [{"name": "main"}], "initContainers": [{"name": "load"}], "volumes": [{"name": "own"}]}
    raw = set_raw(
        clique_raw("a", 3, minAvailable=2),
        clique_raw("b"),
        clique_raw("c", pod_spec=spec, startsAfter=["a", "b"]),
        cliqueStartupType="CliqueStartupTypeExplicit",
    )
    pod = expanded(raw)["Pod/llm-0-c-0"]["spec"]
    assert [one["name"] for one in pod["initContainers"]] == ["load", "grove-initc"]
    container = pod["initContainers"][1]
    assert container["args"] == ["--podcliques=llm-0-a:2", "--podcliques=llm-0-b:1"]
    assert container.keys() == {"name", "image", "args", "volumeMounts"}
    assert [one["name"] for one in pod["volumes"]] == ["own", "sa-token-secret-vol", "pod-info-vol"]


def test_wf153_a_parent_that_no_template_fits_is_left_out() -> None:
    expansion = Expansion(root_of(set_raw(clique_raw("a"))))
    (part,) = ExpectedSetReplicas(expansion.root.ref.name, expansion.root.spec).replica(0).cliques
    clique = replace(expansion.clique(expansion.root, part), starts_after=("llm-0-gone",))
    pod = pod_manifest_by_go_operator(expansion.context, clique, part, 0, "llm-0-a-bcdfg", FROM_ALPHA_12)
    assert thaw_json(pod.manifest)["spec"]["initContainers"][0]["args"] == []


def test_wf154_variables_and_claims_of_pods_are_those_of_the_design() -> None:
    raw = set_raw(
        clique_raw("a"),
        resourceSharing=[{"name": "x", "scope": "AllReplicas"}],
        resourceClaimTemplates=[{"name": "x", "templateSpec": {"spec": {"devices": {}}}}],
    )
    pod = expanded(raw)["Pod/llm-0-a-0"]["spec"]
    assert pod["resourceClaims"] == [{"name": "llm-all-x", "resourceClaimName": "llm-all-x"}]
    assert [one["name"] for one in pod["containers"][0]["env"]] == [
        *("GROVE_PCS_NAME", "GROVE_PCS_INDEX", "GROVE_PCLQ_NAME", "GROVE_HEADLESS_SERVICE", "GROVE_PCLQ_POD_INDEX")
    ]


def test_wf155_pods_of_the_main_branch_are_followed_by_such_pods() -> None:
    """A pod of a scaling group is lost; the new one has its variables where the others have them."""
    for rules in (NEWEST, OF_MAIN_BRANCH):
        seen = healthy(rules=rules)
        (clique,) = (one for one in seen.cliques if one.ref.name == "llm-0-pool-0-worker")
        left = seen.pods_of[clique.uid][1:]
        fewer = replace(seen, pods_of=FrozenDict({**seen.pods_of, clique.uid: left}))
        (made,) = (step.action for step in reconcile(fewer, NEWEST).steps if isinstance(step.action, Create))
        first = thaw_json(made.manifest)["spec"]["containers"][0]["env"][0]["name"]
        assert first == ("GROVE_PCS_NAME" if rules is OF_MAIN_BRANCH else "GROVE_PCSG_NAME")
