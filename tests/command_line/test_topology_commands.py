"""``grove topology`` as people call it: what is wrong with an input, exit codes, help, completion, live clusters."""

import json
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from grove_shell.cli.main import run
from tests.operator.listing import ListingServer

Json = dict[str, Any]
HOLD: Final = "grove.io/clustertopology"
CONFIGURATION: Final[Json] = {"apiVersion": "operator.config.grove.io/v1alpha1", "kind": "OperatorConfiguration"}
EVERYTHING: Final[Json] = {
    "apiVersion": "snapshot.grove.io/v1",
    "kind": "Snapshot",
    "metadata": {"name": "snapshot"},
    "takenAt": "2026-11-20T09:00:00Z",
    "collected": [{"kind": kind, "namespace": ""} for kind in ("PodClique", "PodCliqueSet")],
}
"""A capture that says: these are all sets and cliques of the cluster."""
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


def with_finalizers(*names: str) -> Json:
    found = topology()
    found["metadata"] |= {"finalizers": list(names), "uid": "u", "resourceVersion": "1"}
    return found


def configured(tmp_path: Path) -> str:
    """A configuration with topology-aware scheduling on."""
    told = {"enabled": True, "levels": topology()["spec"]["levels"]}
    return written(tmp_path / "on.yaml", CONFIGURATION | {"topologyAwareScheduling": told})


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
    """Two topologies or nodes of one name that differ, levels that are not sound, and nodes that do not read MUST be
    faults of the input, each with its place.
    """

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

    def test_in_one_list_they_are_told_apart(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        items = [a_set(), topology(), topology("aws-p5", ("rack", "r"))]
        path = written(tmp_path / "list.yaml", {"apiVersion": "v1", "kind": "List", "items": items})
        err = said(capsys, "list", "-f", path)[2]
        assert "got another one in document 1, items[1]; this is items[2]" in err

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


def test_tp103_how_many_pods_take_something_in_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pod: Json = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": []}}
    words = ("check", "-f", LLAMA, "-f", NODES, "-f", TOPOLOGIES, "-f")
    out = said(capsys, *words, written(tmp_path / "pending.yaml", pod))[1]
    assert out.startswith("84 nodes, with nothing on them: no pod in the input takes room on a node\n")
    bound = pod | {"spec": {"containers": [], "nodeName": "h100-0000"}}
    out = said(capsys, *words, written(tmp_path / "bound.yaml", bound))[1]
    assert out.startswith("84 nodes, less what 1 pod on them takes\n")


class TestTP125:
    """Without a configuration these commands MUST take topology-aware scheduling for on, and the default topology for
    configured as it is.
    """

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
    """``grove topology impact`` MUST tell what admission says to the change or the deletion in its own words, and leave
    with 1 where it refuses, and with 3 where whom it concerns is not known.
    """

    def test_who_uses_it_is_not_known(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        known = [one for one in read(CLUSTER) if one["kind"] in {"ClusterTopology", "PodCliqueSet"}]
        path, changed = written(tmp_path / "c.yaml", *known), written(tmp_path / "t.yaml", topology())
        code, out, _ = said(capsys, "impact", "aws-p5", "-f", path, "--changed", changed)
        assert code == 3
        assert "was not compared with who uses it: that is not known" in out
        assert "whose pods are bound is not known" in out
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
        alone = ("-f", new, "-f", written(tmp_path / "all.yaml", EVERYTHING))
        code, out, _ = said(capsys, "impact", "dgx-h100", *alone)
        assert (code, out.splitlines()[-1]) == (0, "  it goes at once")
        code, out, _ = said(capsys, "impact", "dgx-h100", *alone, "--changed", new)
        assert (code, out.splitlines()[-1]) == (0, "  no PodCliqueSet uses it")
        assert said(capsys, "impact", "dgx-h100", "-f", LLAMA)[0] == 64
        default = written(tmp_path / "d.yaml", topology("grove-topology"))
        out = said(capsys, "impact", "grove-topology", "-f", default, *alone[2:])[1]
        assert out.splitlines()[-1] == "  it goes at once, and the operator makes it again as configured"

    def test_two_of_the_name_in_the_file_of_changes(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        changed = written(tmp_path / "t.yaml", topology(), {"kind": "Other"}, topology())
        code, _, err = said(capsys, "impact", "aws-p5", "-f", CLUSTER, "--changed", changed)
        assert code == 1
        assert "expected one topology of this name, got another one before" in err


class TestTP122:
    """For each topology MUST be told whether it is held, and whether its levels are locked, with the reason; what was
    not collected is not known, and a topology whose users are not known is neither free nor goes at once.
    """

    @pytest.mark.parametrize("held", [False, True])
    def test_no_topology_is_free(self, held: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        path = written(tmp_path / "t.yaml", with_finalizers(*[HOLD] * held))
        code, out, _ = said(capsys, "list", "-f", path)
        assert code == 0
        assert out.startswith("which PodCliqueSets use a topology is not known: add those of all namespaces")
        assert "aws-p5  not known" in out
        assert "whether its levels are locked is not known: PodCliqueSets were not collected" in out
        (one,) = json.loads(said(capsys, "list", "-f", path, "-o", "json")[1])["topologies"]
        assert (one["state"], one["locked"], one["notCollected"]) == ("NotKnown", None, ["PodCliqueSet"])

    @pytest.mark.req("TP-123")
    @pytest.mark.parametrize(
        ("finalizers", "told"),
        [((HOLD,), "whether it goes is not known"), ((), "who would be without it is not known: add those")],
    )
    def test_no_deletion_is_promised_to_concern_nobody(
        self, finalizers: tuple[str, ...], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        code, out, _ = said(capsys, "impact", "aws-p5", "-f", written(tmp_path / "t", with_finalizers(*finalizers)))
        assert code == 3
        assert "was not compared with who uses it: that is not known" in out
        assert told in out
        assert ("it goes at once" in out) is (not finalizers)

    @pytest.mark.req("TP-123")
    def test_no_change_is(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        path, changed = written(tmp_path / "t", topology()), written(tmp_path / "n", topology("aws-p5", ("rack", "r")))
        code, out, _ = said(capsys, "impact", "aws-p5", "-f", path, "--changed", changed)
        assert code == 3
        assert "who uses it is not known" in out
        assert "no PodCliqueSet uses it" not in out

    def test_a_topology_may_be_there_that_is_not_in_the_input(self, capsys: pytest.CaptureFixture[str]) -> None:
        code, out, _ = said(capsys, "list", "-f", LLAMA)
        assert code == 0
        assert "dgx-h100  not known" in out
        assert "TopologyNotCollected TP-013" in out

    @pytest.mark.req("TP-042")
    @pytest.mark.req("TP-048")
    def test_no_plan_lets_go_of_it(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        path, config = written(tmp_path / "t", with_finalizers(HOLD)), configured(tmp_path)
        assert run(["plan", "-f", path, "--config", config], "grove") == 0
        assert "no PodCliqueSet uses it" not in capsys.readouterr().out
        every = written(tmp_path / "all.yaml", EVERYTHING)
        assert run(["plan", "-f", path, "-f", every, "--config", config], "grove") == 0
        assert "no PodCliqueSet uses it" in capsys.readouterr().out


class TestTP127:
    """Of a ClusterTopologyBinding MUST be told that no admission judges it, and a change of it MUST be told gang by
    gang all the same.
    """

    BINDING: Final = {"kind": "ClusterTopologyBinding"}

    def cluster(self, tmp_path: Path) -> str:
        """Pods are placed by aws-p5, which is a ClusterTopologyBinding."""
        items = [item | self.BINDING if item["kind"] == "ClusterTopology" else item for item in read(CLUSTER)]
        return written(tmp_path / "cluster.yaml", *items)

    @pytest.mark.req("TP-026")
    def test_a_binding_under_placed_pods(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        path, changed = self.cluster(tmp_path), written(tmp_path / "t.yaml", topology() | self.BINDING)
        code, out, _ = said(capsys, "impact", "aws-p5", "-f", path, "--changed", changed)
        assert code == 0
        assert out.startswith("aws-p5 changed: judged by nobody\n")
        assert "BindingNotGuarded TP-127" in out
        assert "LevelsInUse" not in out
        assert "STAYS    inference-llama-0, inference-llama-1" in out
        told = json.loads(said(capsys, "impact", "aws-p5", "-f", path, "--changed", changed, "-o", "json")[1])
        assert (told["verdict"], told["objections"], told["topology"]["locked"]) == (None, [], False)
        assert "LevelsInUse" not in said(capsys, "list", "-f", path)[1]

    @pytest.mark.req("TP-053")
    @pytest.mark.req("TP-130")
    def test_topologies_while_scheduling_by_them_is_off(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        off = ("--config", written(tmp_path / "off.yaml", CONFIGURATION))
        code, out, _ = said(capsys, "impact", "grove-topology", "-f", CLUSTER, *off)
        assert code == 0
        assert out.startswith("grove-topology deleted: judged by nobody\n")
        assert "it goes at once\n" in out
        assert "stays until" not in out
        named = said(capsys, "impact", "aws-p5", "-f", CLUSTER, *off)[1]
        assert "it stays until the last of these is gone" in named
        changed = written(tmp_path / "t.yaml", topology())
        assert said(capsys, "impact", "aws-p5", "-f", CLUSTER, *off, "--changed", changed)[0] == 0


class TestTP089:
    """The deletion of a topology that is used and does not have the finalizer MUST be admitted with a warning that it
    does not wait.
    """

    def test_without_it_a_deletion_does_not_wait(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        items = read(CLUSTER)
        for item in items:
            item["metadata"].pop("finalizers", None)
        code, out, _ = said(capsys, "impact", "aws-p5", "-f", written(tmp_path / "c.yaml", *items))
        assert code == 0
        assert "UsedAndNotHeld TP-089" in out
        assert "it goes at once\n" in out
        assert "so nothing waits" in out
        assert "ml-team/inference-llama  by name" in out
        assert "stays until" not in out

    def test_others_may_hold_it_too(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        path = written(tmp_path / "t.yaml", with_finalizers("example.com/b", "example.com/a"), EVERYTHING)
        assert (
            "it goes once example.com/a, example.com/b let go of it" in said(capsys, "impact", "aws-p5", "-f", path)[1]
        )


def test_tp121_sets_without_any_topology(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = said(capsys, "list", "-f", TOPOLOGIES, "-f", written(tmp_path / "all.yaml", EVERYTHING))
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
