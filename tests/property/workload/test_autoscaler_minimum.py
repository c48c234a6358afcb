"""``grove validate``: autoscalers that may scale a part below its ``minAvailable`` (WL-250, WL-251)."""

import json
from pathlib import Path
from typing import Any, Final

import pytest

from grove_shell.cli.main import run_command_line
from tests.property.workload.sets import clique_raw, set_raw

Json = dict[str, Any]
POD: Final = {"containers": [{"name": "main", "image": "serve:1"}]}
GROUP: Final = {"name": "pool", "cliqueNames": ["b"], "replicas": 3, "minAvailable": 2}
SET: Final = {
    "apiVersion": "grove.io/v1alpha1",
    "kind": "PodCliqueSet",
    **set_raw(
        clique_raw("a", 4, minAvailable=3, pod_spec=POD),
        clique_raw("b", 2, pod_spec=POD),
        groups=(GROUP,),
        terminationDelay="4h",
    ),
}


def target(kind: str, name: str, version: str = "grove.io/v1alpha1") -> Json:
    return {"apiVersion": version, "kind": kind, "name": name}


def hpa(scaled: Json, name: str = "x", **spec: Any) -> Json:
    meta = {"name": name, "namespace": "ml"}
    spec = {"scaleTargetRef": scaled, "maxReplicas": 9, **spec}
    return {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": meta, "spec": spec}


def keda(scaled: Json, **spec: Any) -> Json:
    meta = {"name": "x", "namespace": "ml"}
    spec = {"scaleTargetRef": scaled, "triggers": [], **spec}
    return {"apiVersion": "keda.sh/v1alpha1", "kind": "ScaledObject", "metadata": meta, "spec": spec}


def validated(tmp_path: Path, capsys: pytest.CaptureFixture[str], *objects: Json) -> tuple[int, list[Json], Json]:
    """Return the exit code, the warnings about autoscalers, and what was not judged."""
    path = tmp_path / "input.json"
    path.write_text(json.dumps(objects), encoding="utf-8")
    code = run_command_line(["validate", "-f", str(path), "-o", "json"], "grove")
    document = json.loads(capsys.readouterr().out)
    others = [one for one in document["verdicts"] if not one["object"].startswith("PodCliqueSet")]
    return code, [{"object": one["object"], **warning} for one in others for warning in one["warnings"]], document


A: Final = target("PodClique", "llm-0-a")
MEMBER: Final = target("PodClique", "llm-0-pool-2-b")


@pytest.mark.parametrize(
    ("autoscaler", "path", "got"),
    [
        (hpa(A, minReplicas=2), "spec.minReplicas", "2"),
        (hpa(A), "spec.minReplicas", "1, which is its default"),
        (hpa(MEMBER, minReplicas=1), "spec.minReplicas", "1"),
        (keda(A), "spec.minReplicaCount", "0, which is its default"),
        (keda(A, minReplicaCount=2), "spec.minReplicaCount", "2"),
        (keda(A, minReplicaCount=3, idleReplicaCount=0), "spec.idleReplicaCount", "0"),
    ],
)
def test_wl250_a_minimum_below_that_of_the_clique_is_warned_of(
    autoscaler: Json, path: str, got: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, (warning,), document = validated(tmp_path, capsys, SET, autoscaler)
    assert (code, warning["requirement"], warning["path"], warning["got"]) == (0, "WL-250", path, got)
    assert warning["object"] == f"{autoscaler['kind']} ml/x"
    assert document["notJudged"] == {}


def test_wl251_a_minimum_below_that_of_the_group_is_warned_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    group = target("PodCliqueScalingGroup", "llm-0-pool")
    _, (warning,), _ = validated(tmp_path, capsys, SET, hpa(group, minReplicas=1))
    assert (warning["requirement"], warning["got"]) == ("WL-251", "1")
    assert not validated(tmp_path, capsys, SET, hpa(group, minReplicas=2))[1]


@pytest.mark.req("WL-251")
@pytest.mark.parametrize(
    ("autoscaler", "is_judged"),
    [
        (hpa(A, minReplicas=3), True),
        (hpa(MEMBER, minReplicas=2), True),
        (keda(A, minReplicaCount=3), True),
        (hpa(target("PodClique", "llm-0-a", "example.com/v1")), False),
        (hpa(target("Deployment", "llm-0-a", "apps/v1")), False),
        (hpa(target("PodClique", "llm-0-other")), False),
        (hpa(target("PodClique", "llm-0-pool-x-b")), False),
        (hpa(target("PodClique", "other")), False),
        (hpa(target("PodCliqueScalingGroup", "llm-0-other")), False),
        (hpa(target("PodCliqueSet", "llm")), False),
        (hpa(A, minReplicas="two"), False),
    ],
)
def test_wl250_other_autoscalers_are_not(
    autoscaler: Json, *, is_judged: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, warnings, document = validated(tmp_path, capsys, SET, autoscaler)
    assert (code, warnings) == (0, [])
    assert document["notJudged"] == ({} if is_judged else {"HorizontalPodAutoscaler": 1})


@pytest.mark.req("WL-251")
def test_wl250_a_stored_part_counts_before_its_template(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A dump has the objects themselves, and their ``minAvailable`` does not change."""
    owner = {"apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet", "name": "llm", "uid": "9", "controller": True}

    def stored(kind: str, name: str, **spec: Any) -> Json:
        meta = {"name": name, "namespace": "ml", "uid": name, "resourceVersion": "1", "ownerReferences": [owner]}
        return {"apiVersion": "grove.io/v1alpha1", "kind": kind, "metadata": meta, "spec": spec}

    clique = stored("PodClique", "llm-0-a", replicas=4, minAvailable=1, podSpec=POD, roleName="a")
    group = stored("PodCliqueScalingGroup", "llm-0-pool", replicas=3, minAvailable=3, cliqueNames=["b"])
    scaled = target("PodCliqueScalingGroup", "llm-0-pool")
    _, warnings, _ = validated(
        tmp_path, capsys, SET, clique, group, hpa(A, "of-clique"), hpa(scaled, "of-group", minReplicas=2)
    )
    assert [one["object"] for one in warnings] == ["HorizontalPodAutoscaler ml/of-group"]


@pytest.mark.req("CL-056")
def test_wl250_the_page_has_them_below_the_sets(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "input.json"
    path.write_text(json.dumps([hpa(A), SET, hpa(target("Deployment", "x", "apps/v1"), "y")]), encoding="utf-8")
    assert run_command_line(["validate", "-f", str(path)], "grove") == 0
    first, second, third, fourth = capsys.readouterr().out.splitlines()
    assert first.endswith("PodCliqueSet ml/llm: admitted")
    assert second.endswith("HorizontalPodAutoscaler ml/x: 1 warning")
    assert third.startswith("  warning: spec.minReplicas: should be at least 3, the minAvailable of llm-0-a: ")
    assert third.endswith("WL-250  line 1")
    assert fourth == "not checked: 1 HorizontalPodAutoscaler"
    path.write_text(json.dumps([hpa(A)]), encoding="utf-8")
    assert run_command_line(["validate", "-f", str(path)], "grove") == 1, "nothing that can be judged"
