"""``grove topology`` as people call it: what is wrong with an input, exit codes, help, completion, live clusters."""

import json
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from grove_shell.cli.main import run
from tests.operator.listing import ListingServer

Json = dict[str, Any]
ROOT: Final = Path(__file__).parents[2]
HARDWARE: Final = ROOT / "examples/topology/hardware"
CLOUDS: Final = ROOT / "examples/topology/clouds"
CLUSTER: Final = str(CLOUDS / "cluster.yaml")
NODES: Final = str(HARDWARE / "nodes.json")
TOPOLOGIES: Final = str(HARDWARE / "topologies.yaml")
LLAMA: Final = str(HARDWARE / "llama.yaml")


def written(path: Path, *items: Json) -> str:
    path.write_text(yaml.safe_dump_all(items), encoding="utf-8")
    return str(path)


def read(path: Path | str) -> list[Json]:
    items = [item for item in yaml.safe_load_all(Path(path).read_text(encoding="utf-8")) if item]
    return items[0]["items"] if items[0]["kind"] == "List" else items


def topology(name: str = "aws-p5", *levels: tuple[str, str]) -> Json:
    wanted = levels or (("zone", "z"), ("host", "kubernetes.io/hostname"))
    spec = {"levels": [{"domain": domain, "key": key} for domain, key in wanted]}
    return {"apiVersion": "grove.io/v1alpha1", "kind": "ClusterTopology", "metadata": {"name": name}, "spec": spec}


def a_set(**template: Any) -> Json:
    (found,) = read(LLAMA)
    found["spec"]["template"] |= template
    return found


def said(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = run(["topology", *words], "grove")
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def checked(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, Json]:
    code, out, err = said(capsys, "check", *words, "-o", "json")
    assert err == ""
    document: Json = json.loads(out)
    return code, document


@pytest.mark.parametrize(
    ("folder", "words", "code"),
    [(HARDWARE, (), 0), (CLOUDS, ("ml-team/chat",), 3), (CLOUDS, ("ml-team/inference-llama", "training-job-1"), 0)],
)
def test_tp114_only_a_yes_is_success(
    folder: Path, words: tuple[str, ...], code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    found, out, err = said(capsys, "check", "-f", str(folder), *words)
    assert (found, err) == (code, "")
    assert "FITS" in out


def test_tp114_what_is_undecided_is_no_success(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    devices = {"devices": {"requests": [{"name": "d", "exactly": {"deviceClassName": "c"}}]}}
    claims = a_set(resourceClaimTemplates=[{"name": "x", "templateSpec": {"spec": devices}}])
    claims["spec"]["template"]["resourceSharing"] = [{"name": "x", "scope": "AllReplicas"}]
    path = written(tmp_path / "set.yaml", claims)
    code, document = checked(capsys, "-f", path, "-f", NODES, "-f", TOPOLOGIES)
    assert (code, document["sets"][0]["own"]["verdict"]) == (3, "NotDecided")
    assert "resource claims" in document["sets"][0]["own"]["gangs"][0]["because"][0]["sentence"]


@pytest.mark.req("CL-009")
@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("impact", "aws-p4", "-f", CLUSTER), 64, "known: aws-p5, gcp-a3, grove-topology, did you mean aws-p5?"),
        (("check", "-f", NODES), 1, "no PodCliqueSet in the input"),
        (("check", "-f", LLAMA, "-f", TOPOLOGIES), 1, "no Node in the input"),
        (("check", "-f", str(HARDWARE), "ml/lama"), 64, "not in the input: PodCliqueSet ml/lama"),
        (("list",), 64, "nothing to read"),
        (("list", "-f", CLUSTER, "--context", "x"), 64, "add --live"),
        (("list", "-f", "no-such-file.yaml"), 1, "expected a file that can be read"),
        (("impact", "aws-p5", "-f", "no-such-file.yaml"), 1, "expected a file that can be read"),
        (("check", "-f", "no-such-file.yaml"), 1, "expected a file that can be read"),
        (("impact", "aws-p5", "-f", CLUSTER, "--changed", "gone.yaml"), 1, "gone.yaml"),
        (("impact", "aws-p5", "-f", CLUSTER, "--changed", TOPOLOGIES), 1, "expected ClusterTopology aws-p5, once"),
    ],
)
def test_cl001_what_is_wrong_is_told(
    words: tuple[str, ...], code: int, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found, out, err = said(capsys, *words)
    assert (found, out) == (code, "")
    assert told in err


class TestTP126:
    """Two of one name, unsound levels and unsound nodes are faults of the input, each with its place."""

    def test_two_topologies_of_one_name_are_told_with_both_places(
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

    @pytest.mark.req("TP-004")
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
        ("levels", "told"),
        [
            ((("rack", "r"), ("zone", "z")), "spec.levels[1].domain: expected levels from broad to narrow"),
            ((("rack", "r"), ("rack", "s")), "spec.levels[1].domain: expected another one than level 0"),
            ((("zone", "r"), ("rack", "r")), "spec.levels[1].key: expected another one than level 0"),
            ((("Zone", "z"),), "spec.levels[0].domain: expected small letters"),
        ],
    )
    def test_levels_that_are_not_sound(
        self, levels: tuple[tuple[str, str], ...], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        path = written(tmp_path / "levels.yaml", topology("aws-p5", *levels))
        for words in (("list", "-f", path), ("check", "-f", path, "-f", LLAMA, "-f", NODES)):
            code, out, err = said(capsys, *words)
            assert (code, out) == (1, "")
            assert told in err
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
def test_tp111_a_topology_that_is_missing_is_told_and_the_others_are_tried(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path / "set.yaml", a_set(clusterTopologyName="dgx-h10"))
    code, document = checked(capsys, "-f", path, "-f", NODES, "-f", TOPOLOGIES)
    own, others = document["sets"][0]["own"], document["sets"][0]["others"]
    assert (code, own["verdict"], own["because"][0]["facts"]["meant"]) == (3, "CannotFit", ", did you mean dgx-h100?")
    assert [(one["topology"], one["verdict"]) for one in others] == [("dgx-h100", "Fits"), ("gb200-nvl72", "CannotFit")]
    assert "did you mean dgx-h100?" in said(capsys, "check", "-f", path, "-f", NODES, "-f", TOPOLOGIES)[1]


@pytest.mark.req("TP-061")
def test_tp111_nobody_comes_to_what_leaves(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    leaving = read(TOPOLOGIES)[1]
    leaving["metadata"] |= {"deletionTimestamp": "2026-11-20T09:00:00Z"}
    path = written(tmp_path / "t.yaml", read(TOPOLOGIES)[0], leaving)
    _, document = checked(capsys, "-f", path, "-f", LLAMA, "-f", NODES)
    assert [one["requirement"] for one in document["sets"][0]["others"][0]["against"]] == ["TP-061"]


@pytest.mark.req("WL-024")
def test_tp111_a_set_of_millions_is_told_and_left(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    raw = a_set()
    raw["spec"]["replicas"] = 2_000_000
    path = written(tmp_path / "set.yaml", raw)
    code, document = checked(capsys, "-f", path, "-f", NODES, "-f", TOPOLOGIES)
    assert (code, document["sets"][0]["own"]["because"][0]["requirement"]) == (3, "WL-024")
    code, out, _ = said(capsys, "impact", "dgx-h100", "-f", path, "-f", TOPOLOGIES, "--changed", TOPOLOGIES)
    assert code == 0
    assert "UNKNOWN  llama" in out


@pytest.mark.req("TP-003")
def test_tp111_without_a_constraint_no_topology_applies(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    raw = a_set()
    del raw["spec"]["template"]["topologyConstraint"], raw["spec"]["template"]["clusterTopologyName"]
    del raw["spec"]["template"]["podCliqueScalingGroups"][0]["topologyConstraint"]
    code, document = checked(capsys, "-f", written(tmp_path / "set.yaml", raw), "-f", NODES, "-f", TOPOLOGIES)
    found = document["sets"][0]
    assert (code, found["own"]["topology"], found["own"]["verdict"], found["others"]) == (0, None, "Fits", [])
    assert "by no topology: FITS" in said(capsys, "check", "-f", str(tmp_path / "set.yaml"), "-f", NODES)[1]


@pytest.mark.req("TP-103")
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


class TestTP125:
    """Without a configuration scheduling is on, and the default topology as configured as it is."""

    def test_a_configuration_says_otherwise(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        raw = a_set()
        raw["metadata"]["uid"] = "u1"
        raw["metadata"]["resourceVersion"] = "1"
        off = {"apiVersion": "operator.config.grove.io/v1alpha1", "kind": "OperatorConfiguration"}
        config = written(tmp_path / "off.yaml", off)
        words = ("-f", written(tmp_path / "set.yaml", raw), "-f", NODES, "-f", TOPOLOGIES)
        code, document = checked(capsys, *words, "--config", config)
        assert (code, document["sets"][0]["own"]["topology"]) == (0, None)
        assert document["sets"][0]["own"]["because"][0]["requirement"] == "TP-007"
        code, document = checked(capsys, *words)
        assert (code, document["sets"][0]["own"]["topology"]) == (0, "dgx-h100")

    def test_configured_levels_stand_for_a_topology_that_is_not_collected(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        on = {
            "enabled": True,
            "levels": topology("x", ("zone", "z"), ("rack", "example.com/h100-rack"))["spec"]["levels"],
        }
        on["levels"][0]["key"] = "topology.kubernetes.io/zone"
        on["levels"].append({"domain": "host", "key": "kubernetes.io/hostname"})
        head = {"apiVersion": "operator.config.grove.io/v1alpha1", "kind": "OperatorConfiguration"}
        config = written(tmp_path / "on.yaml", head | {"topologyAwareScheduling": on})
        raw = a_set()
        del raw["spec"]["template"]["clusterTopologyName"]
        words = ("-f", written(tmp_path / "set.yaml", raw), "-f", NODES)
        code, document = checked(capsys, *words, "--config", config)
        assert (code, document["sets"][0]["own"]["verdict"]) == (0, "Fits")
        code, document = checked(capsys, *words)
        assert (code, document["sets"][0]["own"]["because"][0]["requirement"]) == (3, "TP-013")

    def test_the_default_keeps_the_levels_it_has(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        changed = written(tmp_path / "t.yaml", topology("grove-topology"))
        code, out, _ = said(capsys, "impact", "grove-topology", "-f", CLUSTER, "--changed", changed, "-o", "json")
        assert (code, [one["requirement"] for one in json.loads(out)["objections"]]) == (1, ["TP-085"])
        same = next(item for item in read(CLUSTER) if item["metadata"]["name"] == "grove-topology")
        code, out, _ = said(
            capsys, "impact", "grove-topology", "-f", CLUSTER, "--changed", written(tmp_path / "s", same)
        )
        assert code == 0
        assert "with the levels that it has: admitted" in out


class TestTP123:
    """Admission is asked before, in its own words."""

    def test_who_uses_it_is_not_known(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        known = [one for one in read(CLUSTER) if one["kind"] in {"ClusterTopology", "PodCliqueSet"}]
        path, changed = written(tmp_path / "c.yaml", *known), written(tmp_path / "t.yaml", topology())
        code, out, _ = said(capsys, "impact", "aws-p5", "-f", path, "--changed", changed)
        assert code == 0
        assert "NotChecked TP-072" in out
        assert "bound pods not known" in out
        assert "UNKNOWN  inference-llama-0, inference-llama-1" in out
        assert "not known: PodCliques were not collected" in said(capsys, "list", "-f", path)[1]

    def test_what_does_not_read_is_refused_with_every_problem(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        bad = topology() | {"spec": {"levels": [{"domain": 7}]}}
        code, out, _ = said(capsys, "impact", "aws-p5", "-f", CLUSTER, "--changed", written(tmp_path / "b.yaml", bad))
        assert code == 1
        assert out.startswith("aws-p5 changed: refused\n")
        assert {"spec.levels[0].domain", "spec.levels[0].key"} <= {
            line.split(":")[0].strip() for line in out.split("\n")
        }

    def test_a_missing_one_that_is_made_and_a_free_one_that_goes(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        levels = (("zone", "topology.kubernetes.io/zone"), ("rack", "example.com/h100-rack"), ("host", "h"))
        new = written(tmp_path / "t.yaml", topology("dgx-h100", *levels))
        code, out, _ = said(capsys, "impact", "dgx-h100", "-f", LLAMA, "--changed", new)
        assert code == 0
        assert "dgx-h100 made: admitted" in out
        assert "MADE     llama-0, llama-1" in out
        code, out, _ = said(capsys, "impact", "dgx-h100", "-f", new)
        assert (code, out.splitlines()[-1]) == (0, "  it goes at once")
        assert "no PodCliqueSet uses it" in said(capsys, "impact", "dgx-h100", "-f", new, "--changed", new)[1]
        assert said(capsys, "impact", "dgx-h100", "-f", LLAMA)[0] == 64
        default = written(tmp_path / "d.yaml", topology("grove-topology"))
        out = said(capsys, "impact", "grove-topology", "-f", default)[1]
        assert out.splitlines()[-1] == "  it goes at once, and the operator makes it again as configured"

    def test_two_of_the_name_in_the_file_of_changes(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        changed = written(tmp_path / "t.yaml", topology(), {"kind": "Other"}, topology())
        code, _, err = said(capsys, "impact", "aws-p5", "-f", CLUSTER, "--changed", changed)
        assert code == 1
        assert "expected one topology of this name, got another one before" in err


def test_tp121_sets_without_any_topology(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = said(capsys, "list", "-f", TOPOLOGIES)
    assert out.startswith("no PodCliqueSet uses a topology\n")
    held = said(capsys, "list", "-f", LLAMA, "-f", TOPOLOGIES)[1]
    assert "it has no finalizer grove.io/clustertopology yet: a deletion would not wait" in held


@pytest.mark.req("TP-110")
@pytest.mark.req("TP-109")
def test_tp100_the_page_of_a_set_that_does_not_fit_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    raw = a_set()
    raw["spec"]["replicas"] = 9
    words = ("-f", written(tmp_path / "set.yaml", raw), "-f", NODES, "-f", TOPOLOGIES)
    code, out, _ = said(capsys, "check", *words, "-v")
    assert code == 0
    assert "FITS, each gang for itself; all at once CANNOT FIT" in out
    assert "h100-0000: 3 pods of llama-0-prefill-0-worker" in out
    assert said(capsys, "check", *words) == said(capsys, "check", *words[4:], *words[2:4], *words[:2])


def test_tp121_a_live_cluster_is_asked_for_all_its_namespaces(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with ListingServer(read(CLUSTER)) as server:
        live = ("--live", "--kubeconfig", str(server.kubeconfig(tmp_path)))
        assert said(capsys, "list", *live) == said(capsys, "list", "-f", CLUSTER)
        assert said(capsys, "impact", "aws-p5", *live) == said(capsys, "impact", "aws-p5", "-f", CLUSTER)
        assert "/namespaces/" not in next(one for one in server.asked if "podcliquesets" in one)


def test_tp121_a_cluster_that_does_not_answer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with ListingServer([]) as server:
        kubeconfig = str(server.kubeconfig(tmp_path))
    for words in (("list",), ("impact", "aws-p5")):
        code, out, err = said(capsys, *words, "--live", "--kubeconfig", kubeconfig)
        assert (code, out) == (1, "")
        assert "Traceback" not in err
        assert err


@pytest.mark.parametrize("words", [(), ("list",), ("impact",), ("check",)])
def test_cl003_help_teaches_with_an_example(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = said(capsys, *words, "--help")
    assert code == 0
    assert "grove topology " in out.partition("Examples:")[2]
