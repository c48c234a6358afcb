"""The commands about topologies, but for the check: what they print, and what they find wrong."""

import json
from pathlib import Path
from typing import Final

import pytest

from grove_shell.cli.main import run_command_line
from tests.command_line.topology_words import (
    CLUSTER,
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
from tests.operator.list_server import ListingServer

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


def with_finalizers(*names: str) -> Json:
    found = topology()
    found["metadata"] |= {"finalizers": list(names), "uid": "u", "resourceVersion": "1"}
    return found


def configured(tmp_path: Path) -> str:
    """A configuration with topology-aware scheduling on."""
    settings = {"enabled": True, "levels": topology()["spec"]["levels"]}
    return written(tmp_path / "on.yaml", CONFIGURATION | {"topologyAwareScheduling": settings})


@pytest.mark.req("TP-121")
class TestWithoutAConfiguration:
    """Without a configuration these commands MUST assume that TAS is on and that the default topology is configured as
    it is.
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
    """``grove topology impact`` MUST print what admission says of a change, and which PodGangs would follow, stay or be
    withheld. It exits with 1 if admission refuses, and with 3 if the affected sets are unknown.
    """

    def test_its_users_are_unknown(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        known = [one for one in read(CLUSTER) if one["kind"] in {"ClusterTopology", "PodCliqueSet"}]
        path, changed = written(tmp_path / "c.yaml", *known), written(tmp_path / "t.yaml", topology())
        code, out, _ = said(capsys, "impact", "aws-p5", "-f", path, "--changed", changed)
        assert code == 3
        assert "could not be checked without knowing which sets use it" in out
        assert "which sets have bound pods is not known" in out
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
        assert "dgx-h100 created: admitted" in out
        assert "MADE     llama-0, llama-1" in out
        alone = ("-f", new, "-f", written(tmp_path / "all.yaml", EVERYTHING))
        code, out, _ = said(capsys, "impact", "dgx-h100", *alone)
        assert (code, out.splitlines()[-1]) == (0, "  it is deleted at once")
        code, out, _ = said(capsys, "impact", "dgx-h100", *alone, "--changed", new)
        assert (code, out.splitlines()[-1]) == (0, "  no PodCliqueSet uses it")
        assert said(capsys, "impact", "dgx-h100", "-f", LLAMA)[0] == 64
        default = written(tmp_path / "d.yaml", topology("grove-topology"))
        out = said(capsys, "impact", "grove-topology", "-f", default, *alone[2:])[1]
        assert out.splitlines()[-1] == "  it is deleted at once, and the operator creates it again as configured"

    def test_two_of_the_name_in_the_file_of_changes(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        changed = written(tmp_path / "t.yaml", topology(), {"kind": "Other"}, topology())
        code, _, err = said(capsys, "impact", "aws-p5", "-f", CLUSTER, "--changed", changed)
        assert code == 1
        assert "expected one topology of this name, got another one before" in err


@pytest.mark.req("TP-121")
class TestHeldAndLockedWithReasons:
    """For each topology the commands MUST report whether it is held and whether its levels are locked, with the reason,
    and report as unknown what depends on objects that were not collected; from manifests alone nothing of the
    cluster is known.
    """

    def test_manifests_alone_say_nothing_about_a_cluster(self, capsys: pytest.CaptureFixture[str]) -> None:
        code, out, _ = said(capsys, "list", "-f", "examples/topology/hardware")
        assert code == 0
        assert out.splitlines()[:2] == ["dgx-h100     ml/llama  a manifest", "gb200-nvl72  ml/moe    a manifest"]
        assert out.count("not known: only manifests were read, nothing of a cluster") == 2
        assert "were not collected" not in out

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
        ("finalizers", "reported"),
        [((HOLD,), "whether it is deleted is not known"), ((), "which sets would lose it is not known: add those")],
    )
    def test_no_deletion_is_reported_without_impact(
        self, finalizers: tuple[str, ...], reported: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        code, out, _ = said(capsys, "impact", "aws-p5", "-f", written(tmp_path / "t", with_finalizers(*finalizers)))
        assert code == 3
        assert "could not be checked without knowing which sets use it" in out
        assert reported in out
        assert ("it is deleted at once" in out) is (not finalizers)

    @pytest.mark.req("TP-123")
    def test_no_change_is(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        path, changed = written(tmp_path / "t", topology()), written(tmp_path / "n", topology("aws-p5", ("rack", "r")))
        code, out, _ = said(capsys, "impact", "aws-p5", "-f", path, "--changed", changed)
        assert code == 3
        assert "which sets use it is not known" in out
        assert "no PodCliqueSet uses it" not in out

    def test_a_topology_may_be_there_that_is_not_in_the_input(self, capsys: pytest.CaptureFixture[str]) -> None:
        code, out, _ = said(capsys, "list", "-f", LLAMA)
        assert code == 0
        assert "dgx-h100  not known" in out
        assert "TopologyNotCollected TP-013" in out

    @pytest.mark.req("TP-042")
    @pytest.mark.req("TP-047")
    def test_no_plan_lets_go_of_it(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        path, config = written(tmp_path / "t", with_finalizers(HOLD)), configured(tmp_path)
        assert run_command_line(["plan", "-f", path, "--config", config], "grove") == 0
        assert "no PodCliqueSet uses it" not in capsys.readouterr().out
        every = written(tmp_path / "all.yaml", EVERYTHING)
        assert run_command_line(["plan", "-f", path, "-f", every, "--config", config], "grove") == 0
        assert "no PodCliqueSet uses it" in capsys.readouterr().out


class TestTP127:
    """For a ClusterTopologyBinding the commands MUST report that no webhook of Grove validates it. They still report
    the impact of a change gang by gang.
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
        assert out.startswith("aws-p5 changed: not validated\n")
        assert "BindingNotGuarded TP-127" in out
        assert "LevelsInUse" not in out
        assert "STAYS    inference-llama-0, inference-llama-1" in out
        reported = json.loads(said(capsys, "impact", "aws-p5", "-f", path, "--changed", changed, "-o", "json")[1])
        assert (reported["verdict"], reported["objections"], reported["topology"]["locked"]) == (None, [], False)
        assert "LevelsInUse" not in said(capsys, "list", "-f", path)[1]

    @pytest.mark.req("TP-053")
    @pytest.mark.req("TP-130")
    def test_topologies_while_scheduling_by_them_is_off(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        off = ("--config", written(tmp_path / "off.yaml", CONFIGURATION))
        code, out, _ = said(capsys, "impact", "grove-topology", "-f", CLUSTER, *off)
        assert code == 0
        assert out.startswith("grove-topology deleted: not validated\n")
        assert "it is deleted at once\n" in out
        assert "stays until" not in out
        named = said(capsys, "impact", "aws-p5", "-f", CLUSTER, *off)[1]
        assert "it stays until the last of these sets is deleted" in named
        changed = written(tmp_path / "t.yaml", topology())
        assert said(capsys, "impact", "aws-p5", "-f", CLUSTER, *off, "--changed", changed)[0] == 0


class TestTP089:
    """The deletion of a topology that sets use, and that does not have the finalizer, MUST be admitted with a warning
    that the deletion does not wait.
    """

    def test_without_it_a_deletion_does_not_wait(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        items = read(CLUSTER)
        for item in items:
            item["metadata"].pop("finalizers", None)
        code, out, _ = said(capsys, "impact", "aws-p5", "-f", written(tmp_path / "c.yaml", *items))
        assert code == 0
        assert "UsedAndNotHeld TP-089" in out
        assert "it is deleted at once\n" in out
        assert "so the deletion does not wait" in out
        assert "ml-team/inference-llama  by name" in out
        assert "stays until" not in out

    def test_others_may_hold_it_too(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        path = written(tmp_path / "t.yaml", with_finalizers("example.com/b", "example.com/a"), EVERYTHING)
        assert (
            "it is deleted once its finalizers are removed (example.com/a, example.com/b)"
            in said(capsys, "impact", "aws-p5", "-f", path)[1]
        )


def test_tp121_sets_without_any_topology(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = said(capsys, "list", "-f", TOPOLOGIES, "-f", written(tmp_path / "all.yaml", EVERYTHING))
    assert out.startswith("no PodCliqueSet uses a topology\n")
    held = said(capsys, "list", "-f", LLAMA, "-f", TOPOLOGIES)[1]
    assert "it has no finalizer grove.io/clustertopology yet: a deletion would not wait" in held


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
