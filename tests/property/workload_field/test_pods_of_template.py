"""Which pods are of a template again after an edit was taken back (WF-001)."""

from collections.abc import Callable
from typing import Any, Final

import pytest

from grove_core.areas.workload.field.present_templates import is_pod_of_template
from grove_core.areas.workload.template_hash import has_own_template_hash_form
from grove_core.kernel.frozen import frozen, frozen_dict_of_tuples
from grove_core.kernel.steps import Delete
from grove_core.kernel.structs import replace
from grove_core.reconcile import reconcile
from grove_core.resources.pod import Pod, pod_from_json
from grove_core.rule_sets.go_operator import NEWEST
from grove_core.snapshot.expected_replicas import ExpectedClique, expected_set_of
from grove_core.snapshot.snapshot import Snapshot
from tests.property.workload.sets import applied, clique_raw, set_raw
from tests.property.workload_field.healthy_sets import edited, healthy, raw_set
from tests.property.workload_field.test_templates import by_go, hashes_of

Json = dict[str, Any]
TEMPLATE: Final[Json] = {
    "containers": [
        {
            "name": "main",
            "image": "a:1",
            "args": ["--port", "80"],
            "env": [{"name": "MODE", "value": "fast"}],
            "resources": {"limits": {"cpu": "1"}},
            "ports": [{"containerPort": 80}],
        }
    ],
    "volumes": [{"name": "data", "emptyDir": {}}],
    "tolerations": [{"key": "gpu", "operator": "Exists"}],
    "hostname": "mine",
}
OLD: Final = "5c76dd7fb85ccd56946"


def part() -> ExpectedClique:
    raw = clique_raw("router", 1, pod_spec=TEMPLATE)
    raw["labels"], raw["annotations"] = {"team": "blue"}, {"note": "x"}
    (replica,) = expected_set_of(applied(set_raw(raw))).replicas
    return replica.cliques[0]


def stored() -> Json:
    """The pod as it is in the cluster, with what the operator, the API server and admission added."""
    main: Json = {
        **TEMPLATE["containers"][0],
        "env": [{"name": "GROVE_PCS_NAME", "value": "llm"}, {"name": "MODE", "value": "fast"}],
        "resources": {"limits": {"cpu": "1000m"}, "requests": {"cpu": "1000m"}},
        "ports": [{"containerPort": 80, "protocol": "TCP"}],
        "volumeMounts": [{"name": "kube-api-access", "mountPath": "/var/run/secrets"}],
        "imagePullPolicy": "IfNotPresent",
    }
    return {
        "labels": {"team": "blue", "grove.io/podgang": "llm-0"},
        "annotations": {"note": "x", "cni": "y"},
        "spec": {
            **TEMPLATE,
            "containers": [main],
            "initContainers": [{"name": "grove-initc", "image": "initc:1"}],
            "volumes": [{"name": "kube-api-access", "projected": {}}, {"name": "data", "emptyDir": {}}],
            "tolerations": [{"key": "node", "operator": "Exists"}, {"key": "gpu", "operator": "Exists"}],
            "hostname": "llm-0-router-0",
            "nodeName": "n1",
        },
    }


def test_wf001_what_others_added_to_a_pod_does_not_count() -> None:
    assert is_pod_of_template(frozen(stored()), part())


def in_main(**changes: Any) -> Callable[[Json], object]:
    return lambda pod: pod["spec"]["containers"][0].update(changes)


@pytest.mark.parametrize(
    "change",
    [
        in_main(image="a:2"),
        in_main(args=["--port", "81"]),
        in_main(env=[{"name": "MODE", "value": "slow"}]),
        in_main(env=[{"name": "MODE", "value": "fast"}, {"name": "MORE", "value": "1"}]),
        in_main(env=[]),
        in_main(env=None),
        in_main(resources={"limits": {"cpu": "2"}}),
        in_main(resources="none"),
        lambda pod: pod["spec"]["containers"].append({"name": "side", "image": "s"}),
        lambda pod: pod["spec"].update(volumes=[]),
        lambda pod: pod["spec"].update(tolerations=[{"key": "gpu", "operator": "Equal"}]),
        lambda pod: pod["labels"].update(team="red"),
        lambda pod: pod["labels"].pop("team"),
        lambda pod: pod["annotations"].update(note="y"),
    ],
)
def test_wf001_a_pod_of_another_template(change: Callable[[Json], object]) -> None:
    pod = stored()
    change(pod)
    assert not is_pod_of_template(frozen(pod), part())


def stuck(seen: Snapshot, *, keeps_manifest: bool = True, image: str = "a:1") -> Snapshot:
    """An update to ``a:2`` of the standalone clique has begun: one pod is new and pending, two are old and ready."""
    seen = edited(by_go(seen), raw_set(image="a:1"))
    (clique,) = (one for one in seen.cliques if one.ref.name == "llm-0-router")
    spec = frozen({"containers": [{"name": "main", "image": "a:2"}]})
    newer = replace(clique, pod_spec=spec, template_hash="new")
    old = frozen({"labels": {}, "annotations": {}, "spec": {"containers": [{"name": "main", "image": image}]}})

    def renamed(index: int, pod: Pod) -> Pod:
        if not index:
            return replace(pod, template_hash="new", ready=False, phase="Pending", manifest=None)
        return replace(pod, template_hash=OLD, manifest=old if keeps_manifest and index == 1 else None)

    pods = tuple(renamed(index, pod) for index, pod in enumerate(seen.pods_of[clique.uid]))
    cliques = tuple(newer if one is clique else one for one in seen.cliques)
    return replace(seen, cliques=cliques, pods_of=frozen_dict_of_tuples({**seen.pods_of, clique.uid: pods}))


def test_wf001_pods_of_a_template_that_the_set_has_again_stay() -> None:
    seen = stuck(healthy())
    assert OLD in hashes_of(seen)
    assert not any(map(has_own_template_hash_form, hashes_of(seen)))
    deleted = [step.target.name for step in reconcile(seen, NEWEST).steps if isinstance(step.action, Delete)]
    assert not deleted


def test_wf001_pods_whose_manifest_is_not_known_count_as_old() -> None:
    seen = stuck(healthy(), keeps_manifest=False)
    assert any(map(has_own_template_hash_form, hashes_of(seen)))


def test_wf001_the_manifest_may_be_kept_of_a_pod_of_another_clique() -> None:
    """Cliques of equal templates have one hash, and one manifest is kept of it in the whole set."""
    seen = stuck(healthy(), keeps_manifest=False)
    (router,) = (one for one in seen.cliques if one.ref.name == "llm-0-router")
    (other, *_) = (one for one in seen.cliques if one.ref.name != router.ref.name)
    content = frozen({"labels": {}, "annotations": {}, "spec": {"containers": [{"name": "main", "image": "a:1"}]}})
    first, *rest = seen.pods_of[other.uid]
    pods = (replace(first, template_hash=OLD, manifest=content), *rest)
    seen = replace(seen, pods_of=frozen_dict_of_tuples({**seen.pods_of, other.uid: pods}))
    assert OLD in hashes_of(seen)
    deleted = [step.target.name for step in reconcile(seen, NEWEST).steps if isinstance(step.action, Delete)]
    assert not deleted


def test_wf001_pods_of_a_third_template_count_as_old() -> None:
    seen = stuck(healthy(), image="a:0")
    assert any(map(has_own_template_hash_form, hashes_of(seen)))


def test_wf001_one_manifest_is_kept_of_each_template_of_a_set() -> None:
    shared: dict[str, str] = {}

    def read(name: str, template_hash: str, of_set: str = "llm") -> Pod:
        labels = {"app.kubernetes.io/part-of": of_set, "grove.io/pod-template-hash": template_hash}
        return pod_from_json({"metadata": {"name": name, "labels": labels}, "spec": {"containers": []}}, shared)

    kept = [read(*words).manifest for words in (("a", "x"), ("b", "x"), ("c", "y"), ("d", "x", "other"), ("a", "x"))]
    assert [one is not None for one in kept] == [True, False, True, True, True]
    assert read("e", "").manifest is None
