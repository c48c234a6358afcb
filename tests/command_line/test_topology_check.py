"""`grove topology check`: what counts as success, and what it prints otherwise."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.command_line.topology_words import (
    CLOUDS,
    CLUSTER,
    HARDWARE,
    LLAMA,
    NODES,
    TOPOLOGIES,
    Json,
    a_set,
    checked,
    read,
    said,
    topology,
    written,
)


@pytest.mark.parametrize(
    ("folder", "words", "code"),
    [(HARDWARE, (), 0), (CLOUDS, ("ml-team/chat",), 3), (CLOUDS, ("ml-team/inference-llama", "training-job-1"), 0)],
)
def test_tp111_only_a_yes_is_success(
    folder: Path, words: tuple[str, ...], code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    found, out, err = said(capsys, "check", "-f", str(folder), *words)
    assert (found, err) == (code, "")
    assert "FITS" in out


def test_tp111_what_is_undecided_is_no_success(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    devices = {"devices": {"requests": [{"name": "d", "exactly": {"deviceClassName": "c"}}]}}
    claims = a_set(resourceClaimTemplates=[{"name": "x", "templateSpec": {"spec": devices}}])
    claims["spec"]["template"]["resourceSharing"] = [{"name": "x", "scope": "AllReplicas"}]
    path = written(tmp_path / "set.yaml", claims)
    code, document = checked(capsys, "-f", path, "-f", NODES, "-f", TOPOLOGIES)
    assert (code, document["sets"][0]["own"]["verdict"]) == (3, "NotDecided")
    assert "resource claims" in document["sets"][0]["own"]["gangs"][0]["because"][0]["sentence"]


@pytest.mark.req("CL-009")
@pytest.mark.parametrize(
    ("words", "code", "reported"),
    [
        (("impact", "aws-p4", "-f", CLUSTER), 64, "known: aws-p5, gcp-a3, grove-topology, did you mean aws-p5?"),
        (("check", "-f", NODES), 1, "no PodCliqueSet in the input"),
        (("check", "-f", LLAMA, "-f", TOPOLOGIES), 1, "no Node in the input"),
        (("check", "-f", str(HARDWARE), "ml/lama"), 64, "not in the input: PodCliqueSet ml/lama"),
        (("list",), 64, "nothing to read"),
        (("list", "-f", CLUSTER, "--context", "x"), 64, "add --live"),
        (("list", "-f", "no-such-file.yaml"), 1, "no-such-file.yaml: no such file"),
        (("impact", "aws-p5", "-f", "no-such-file.yaml"), 1, "no-such-file.yaml: no such file"),
        (("check", "-f", "no-such-file.yaml"), 1, "no-such-file.yaml: no such file"),
        (("impact", "aws-p5", "-f", CLUSTER, "--changed", "gone.yaml"), 1, "gone.yaml"),
        (("impact", "aws-p5", "-f", CLUSTER, "--changed", TOPOLOGIES), 1, "expected ClusterTopology aws-p5, once"),
    ],
)
def test_cl001_what_is_wrong_is_reported(
    words: tuple[str, ...], code: int, reported: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found, out, err = said(capsys, *words)
    assert (found, out) == (code, "")
    assert reported in err


@pytest.mark.req("IN-032")
class TestInvalidTopologiesAndNodesInTheInput:
    """Two different topologies or nodes of one name, invalid levels, and nodes that cannot be parsed MUST be faults of
    the input, each with its place.
    """

    def test_two_topologies_of_one_name_are_reported_with_both_places(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        one = written(tmp_path / "one.yaml", topology("spare"), topology())
        other = written(tmp_path / "other.yaml", topology("aws-p5", ("rack", "r")))
        code, _, err = said(capsys, "list", "-f", one, "-f", other)
        assert code == 1
        assert "1 problem in the input" in err
        assert f"{other}: document 1, ClusterTopology aws-p5, metadata.name: " in err
        assert f"another one in {one}, document 2" in err
        assert said(capsys, "list", "-f", one, "-f", one)[0] == 0

    def test_in_one_list_they_are_distinguished(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        items = [a_set(), topology(), topology("aws-p5", ("rack", "r"))]
        path = written(tmp_path / "list.yaml", {"apiVersion": "v1", "kind": "List", "items": items})
        err = said(capsys, "list", "-f", path)[2]
        assert "got another one in document 1, items[1]; this is items[2]" in err

    @pytest.mark.req("TP-049")
    def test_a_binding_of_the_name_is_no_second_one(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        binding = topology("aws-p5", ("rack", "r")) | {"kind": "ClusterTopologyBinding"}
        code, out, _ = said(capsys, "list", "-f", written(tmp_path / "both.yaml", binding, topology()), "-o", "json")
        (found,) = json.loads(out)["topologies"]
        assert (code, found["kind"], [one["domain"] for one in found["levels"]]) == (
            0,
            "ClusterTopology",
            ["zone", "host"],
        )

    @pytest.mark.parametrize(
        ("levels", "reported"),
        [
            ((("rack", "r"), ("zone", "z")), "spec.levels[1].domain: expected levels from broad to narrow"),
            ((("rack", "r"), ("rack", "s")), "spec.levels[1].domain: expected another one than level 0"),
            ((("zone", "r"), ("rack", "r")), "spec.levels[1].key: expected another one than level 0"),
            ((("Zone", "z"),), "spec.levels[0].domain: expected small letters"),
        ],
    )
    def test_levels_that_are_not_sound(
        self, levels: tuple[tuple[str, str], ...], reported: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        path = written(tmp_path / "levels.yaml", topology("aws-p5", *levels))
        for words in (("list", "-f", path), ("check", "-f", path, "-f", LLAMA, "-f", NODES)):
            code, out, err = said(capsys, *words)
            assert (code, out) == (1, "")
            assert reported in err
        assert said(capsys, "list", "-f", path, "--keep-going")[1] != ""

    def test_nodes_and_pods_that_are_not_sound(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        node, other = read(NODES)[:2]
        node["status"]["allocatable"]["cpu"] = "plenty"
        twin = json.loads(json.dumps(other))
        twin["metadata"]["labels"]["example.com/h100-rack"] = "elsewhere"
        asking = {"containers": [{"resources": {"requests": {"cpu": "many"}}}], "nodeName": "h100-0001"}
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": asking}
        path = written(tmp_path / "bad.yaml", node, other, twin, pod, topology() | {"spec": {"levels": [7]}})
        code, _, err = said(capsys, "check", "-f", path, "-f", LLAMA)
        assert code == 1
        assert 'status.allocatable.cpu: expected an amount such as 8, 500m or 64Gi, got "plenty"' in err
        assert "Node h100-0001, metadata.name: expected one node of this name" in err
        assert "spec.containers[0].resources.requests.cpu: expected an amount" in err
        assert "spec.levels[0]" in err


@pytest.mark.req("TP-010")
def test_tp111_a_topology_that_is_missing_is_reported_and_the_others_are_tried(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path / "set.yaml", a_set(clusterTopologyName="dgx-h10"))
    code, document = checked(capsys, "-f", path, "-f", NODES, "-f", TOPOLOGIES)
    own, others = document["sets"][0]["own"], document["sets"][0]["others"]
    assert (code, own["verdict"], own["because"][0]["facts"]["meant"]) == (3, "CannotFit", ", did you mean dgx-h100?")
    assert [(one["topology"], one["verdict"]) for one in others] == [("dgx-h100", "Fits"), ("gb200-nvl72", "CannotFit")]
    assert "did you mean dgx-h100?" in said(capsys, "check", "-f", path, "-f", NODES, "-f", TOPOLOGIES)[1]


@pytest.mark.req("TP-061")
def test_tp111_a_draining_node_gets_no_pod(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    leaving = read(TOPOLOGIES)[1]
    leaving["metadata"] |= {"deletionTimestamp": "2026-11-20T09:00:00Z"}
    path = written(tmp_path / "t.yaml", read(TOPOLOGIES)[0], leaving)
    _, document = checked(capsys, "-f", path, "-f", LLAMA, "-f", NODES)
    assert [one["requirement"] for one in document["sets"][0]["others"][0]["against"]] == ["TP-061"]


@pytest.mark.req("WL-024")
def test_tp111_a_set_of_millions_is_reported_and_left(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    raw = a_set()
    raw["spec"]["replicas"] = 2_000_000
    path = written(tmp_path / "set.yaml", raw)
    code, document = checked(capsys, "-f", path, "-f", NODES, "-f", TOPOLOGIES)
    assert (code, document["sets"][0]["own"]["because"][0]["requirement"]) == (3, "WL-024")
    code, out, _ = said(capsys, "impact", "dgx-h100", "-f", path, "-f", TOPOLOGIES, "--changed", TOPOLOGIES)
    assert code == 3, "its other users are unknown"
    assert "UNKNOWN  llama" in out


@pytest.mark.req("TP-003")
def test_tp111_without_a_constraint_no_topology_applies(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    raw = a_set()
    del raw["spec"]["template"]["topologyConstraint"], raw["spec"]["template"]["clusterTopologyName"]
    del raw["spec"]["template"]["podCliqueScalingGroups"][0]["topologyConstraint"]
    code, document = checked(capsys, "-f", written(tmp_path / "set.yaml", raw), "-f", NODES, "-f", TOPOLOGIES)
    found = document["sets"][0]
    assert (code, found["own"]["topology"], found["own"]["verdict"], found["others"]) == (0, None, "Fits", [])
    assert "under no topology: FITS" in said(capsys, "check", "-f", str(tmp_path / "set.yaml"), "-f", NODES)[1]


def test_tp103_ended_pods_and_those_on_no_node_take_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def pod(name: str, phase: str, **spec: Any) -> Json:
        asks = {"limits": {"nvidia.com/gpu": "8"}}
        containers = [{"name": "c", "resources": asks}]
        meta = {"name": name, "namespace": "other", "uid": name}
        head = {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "status": {"phase": phase}}
        return {**head, "spec": {"containers": containers, **spec}}

    pods = [pod("ended", "Succeeded", nodeName="h100-0000"), pod("waits", "Pending")]
    words = ("-f", LLAMA, "-f", NODES, "-f", TOPOLOGIES, "-f")
    _, before = checked(capsys, *words, written(tmp_path / "a.yaml", *pods))
    assert before["podsOnNodes"] == 0
    assert before["sets"][0]["own"]["gangs"][0]["domain"] == "zone-a/h000"
    running = [pod(f"runs-{number}", "Running", nodeName=f"h100-{number:04}") for number in range(12)]
    code, after = checked(capsys, *words, written(tmp_path / "b.yaml", *running))
    assert (code, after["podsOnNodes"], after["sets"][0]["own"]["verdict"]) == (3, 12, "CannotFit")


def test_tp103_how_many_pods_take_something_in_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pod: Json = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": []}}
    words = ("check", "-f", LLAMA, "-f", NODES, "-f", TOPOLOGIES, "-f")
    out = said(capsys, *words, written(tmp_path / "pending.yaml", pod))[1]
    assert out.startswith("84 nodes, all empty: no pod in the input requests resources on a node\n")
    bound = pod | {"spec": {"containers": [], "nodeName": "h100-0000"}}
    out = said(capsys, *words, written(tmp_path / "bound.yaml", bound))[1]
    assert out.startswith("84 nodes, minus the requests of 1 pod on them\n")
    elsewhere = bound | {"metadata": {"name": "q"}, "spec": {"containers": [], "nodeName": "another-cluster-7"}}
    both = (*words, str(tmp_path / "bound.yaml"), "-f", written(tmp_path / "elsewhere.yaml", elsewhere))
    out = said(capsys, *both)[1]
    assert out.startswith("84 nodes, minus the requests of 1 pod on them; 1 pod on nodes that the input lacks\n")
    assert checked(capsys, *both[1:])[1]["podsOnNodes"] == 1


@pytest.mark.req("TP-109")
def test_tp100_the_page_of_a_set_that_does_not_fit_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    raw = a_set()
    raw["spec"]["replicas"] = 9
    words = ("-f", written(tmp_path / "set.yaml", raw), "-f", NODES, "-f", TOPOLOGIES)
    code, out, _ = said(capsys, "check", *words, "-v")
    assert code == 0
    assert "FITS, each gang alone; all together CANNOT FIT" in out
    assert "h100-0000: 3 pods of llama-0-prefill-0-worker" in out
    assert said(capsys, "check", *words) == said(capsys, "check", *words[4:], *words[2:4], *words[:2])
