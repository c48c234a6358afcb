"""What a hostile reader of a capture looks for is not in it, or is documented to be in it (OP-050)."""

import base64
import json
from typing import Any, Final

import pytest

from grove_core.areas.workload.template_hash import template_hash_of_clique
from grove_core.resources.api_names import TEMPLATE_HASH
from grove_core.resources.podcliqueset import podcliqueset_from_json
from grove_shell.redaction import ObjectRedaction

Json = dict[str, Any]
SECRET: Final = "s3cr3t"  # noqa: S105 - no real password
URL: Final = f"https://me:{SECRET}@example.com/x.git"
CODED: Final = base64.b64encode(SECRET.encode()).decode()
PATH: Final = {"httpGet": {"path": f"/health?token={SECRET}", "port": 1}}
QUOTED: Final = f'Pod is invalid: spec.containers[0].env[0].value: Invalid value: "{SECRET}"'
CONDITIONS: Final = [{"type": "Ready", "status": "False", "reason": "Failed", "message": QUOTED}]


def redacted(*items: Json) -> list[Json]:
    return ObjectRedaction(b"salt").redacted_objects(items)


def pod(status: Json | None = None, meta: Json | None = None, **spec: Any) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", **(meta or {})},
        "spec": spec,
        "status": status or {},
    }


def container(**fields: Any) -> Json:
    return pod(containers=[{"name": "main", "image": "i", **fields}])


HIDDEN: Final[dict[str, Json]] = {
    "a variable": container(env=[{"name": "TOKEN", "value": SECRET}]),
    "a variable in base64": container(env=[{"name": "TOKEN", "value": CODED}]),
    "an argument": container(args=[f"--password={SECRET}"]),
    "the path of a probe": container(startupProbe=PATH),
    "the path of a hook": container(lifecycle={"preStop": PATH}),
    "a volume from a URL": pod(volumes=[{"name": "v", "gitRepo": {"repository": URL}}]),
    "an annotation of Grove": pod(meta={"annotations": {"grove.io/source": URL}}),
    "a ConfigMap in managed fields": pod(meta={"managedFields": [{"fieldsV1": {"f:data": {f"f:{SECRET}": {}}}}]}),
    "what a container wrote at its end": pod(
        {"containerStatuses": [{"lastState": {"terminated": {"exitCode": 1, "message": CODED}}}]}
    ),
    "an error of the Go operator": {
        "apiVersion": "grove.io/v1alpha1",
        "kind": "PodCliqueSet",
        "metadata": {"name": "a"},
        "status": {
            "lastErrors": [{"code": "ERR", "description": QUOTED, "observedAt": "2026-11-20T09:00:00Z"}, QUOTED]
        },
    },
    **{
        f"a condition of a {kind}": {"apiVersion": version, "kind": kind, "status": {"conditions": CONDITIONS}}
        for version, kind in (
            ("autoscaling/v2", "HorizontalPodAutoscaler"),
            ("resource.k8s.io/v1", "ResourceClaim"),
            ("scheduling.k8s.io/v1alpha2", "PodGroup"),
            ("v1", "Service"),
        )
    },
    "data of a Secret": {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"a": SECRET}},
    "the message of a server": {"kind": "Snapshot", "notCollected": [{"kind": "Pod", "why": f"cannot reach {URL}"}]},
}
SHOWN: Final[dict[str, Json]] = {
    "a name": pod(meta={"name": SECRET}),
    "a label": pod(meta={"labels": {"tier": SECRET}}),
    "the name of a pull secret": pod(imagePullSecrets=[{"name": SECRET}]),
    "the name of a variable": container(env=[{"name": SECRET, "value": ""}]),
    "an image": container(image=f"registry.example.com/{SECRET}:1"),
    "a node and an address": pod({"hostIP": "10.0.0.7"}, nodeName=SECRET),
    "an annotation of Grove": pod(meta={"annotations": {"grove.io/note": SECRET}}),
    "a condition that an operator of Grove wrote": {
        "apiVersion": "grove.io/v1alpha1",
        "kind": "PodClique",
        "status": {"conditions": [{"message": SECRET}]},
    },
}


@pytest.mark.parametrize("place", HIDDEN)
def test_op050_what_a_hostile_reader_looks_for_is_hidden(place: str) -> None:
    before, after = json.dumps(HIDDEN[place]), json.dumps(redacted(HIDDEN[place]))
    assert SECRET in before or CODED in before
    assert SECRET not in after
    assert CODED not in after


@pytest.mark.parametrize("place", SHOWN)
def test_op050_what_stays_on_purpose(place: str) -> None:
    """The how-to and the threat model list these; plans, or those who read them, need them."""
    assert redacted(SHOWN[place]) == [SHOWN[place]]


def set_with(password: str) -> Json:
    main = {"name": "main", "image": "i", "env": [{"name": "PIN", "value": password}]}
    clique = {"name": "a", "spec": {"replicas": 1, "roleName": "a", "podSpec": {"containers": [main]}}}
    meta = {"name": "llm", "namespace": "ml", "uid": "u", "resourceVersion": "1"}
    spec = {"replicas": 1, "template": {"cliques": [clique]}}
    return {"apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet", "metadata": meta, "spec": spec}


def hash_of(item: Json) -> str:
    template = podcliqueset_from_json(item).spec.template
    return template_hash_of_clique(template.cliques[0], template.priority_class_name)


def test_op050_a_password_is_not_found_by_trying_template_hashes() -> None:
    """A pod of an earlier template has a label from which a short password of that template could be found."""
    old, new = hash_of(set_with("0001")), hash_of(set_with("0002"))
    assert old != new
    pods = [pod(meta={"labels": {TEMPLATE_HASH: found}}) for found in (old, old, new)]
    for items in ([set_with("0002"), *pods], pods):  # also if the set is not in the capture
        text = json.dumps(shown := redacted(*items))
        assert old not in text
        assert new not in text
        first, second, third = (one["metadata"]["labels"][TEMPLATE_HASH] for one in shown[-3:])
        assert first == second != third
