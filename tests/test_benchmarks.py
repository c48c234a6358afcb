"""The benchmarks run, and their clusters are what they claim to be; how fast anything is, is not asked here."""

import io
import json
from pathlib import Path

import pytest

from benchmarks.__main__ import main
from benchmarks.cluster.runs import exponent
from benchmarks.cluster.workloads import many_replicas, pods_made_of
from benchmarks.data.cast import NOW, PODS_PER_SET
from benchmarks.data.facts import owner_facts, pod_facts
from benchmarks.data.lists import Form, texts_of_pods, write_list
from benchmarks.nodes import nodes, text_of
from benchmarks.rows import ROWS
from benchmarks.samples import Row
from grove_core.kernel.structs import replace
from grove_core.reconcile import reconcile
from grove_core.snapshot.cluster import EVERYWHERE
from grove_core.snapshot.cluster_index import index_cluster
from grove_shell.reading.cluster_reading import load_input_files

SETS = 2
PODS = SETS * PODS_PER_SET


def test_a_table_with_every_row_comes_out(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--tiny", "--plain"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert {line.split(" | ")[0].removeprefix("| ") for line in lines if line.startswith(("| P", "| W"))} == set(ROWS)


@pytest.mark.parametrize(
    ("value", "more_is_better", "verdict"),
    [
        (8, False, "meets goal"),
        (8.1, False, "within fail bound"),
        (12.1, False, "over"),
        (12.1, True, "meets goal"),
        (9, True, "within fail bound"),
        (7.9, True, "over"),
    ],
)
def test_a_value_is_held_against_both_bounds(value: float, more_is_better: bool, verdict: str) -> None:
    bounds = (12, 8) if more_is_better else (8, 12)
    row = Row(id="P", what="", candidate="", value=value, unit="x", bounds=bounds, more_is_better=more_is_better, n=1)
    assert row.verdict == verdict


@pytest.mark.parametrize("form", Form)
def test_facts_and_every_form_of_text_are_one_cluster(form: Form, tmp_path: Path) -> None:
    path = tmp_path / f"cluster{form.value}"
    write_list(path, form, PODS, owners=True)
    loaded = load_input_files([str(path)], io.BytesIO())
    owners, facts = owner_facts(PODS, {}), pod_facts(PODS, {})
    gaps = frozenset({("PodGang", "inference")})  # some pods are gated, and the clusters have no gangs
    expected = index_cluster(sets=owners.sets, groups=owners.groups, cliques=owners.cliques, pods=facts, gaps=gaps)
    assert loaded.faults == ()
    assert replace(loaded.cluster, complete=frozenset()) == expected
    kinds = {"PodCliqueSet", "PodCliqueScalingGroup", "PodClique", "Pod"}
    assert {kind for kind, _ in loaded.cluster.complete} == kinds
    assert len(facts) == PODS


def test_the_clusters_are_at_rest() -> None:
    owners = owner_facts(PODS, {})
    cluster = index_cluster(
        sets=owners.sets,
        groups=owners.groups,
        cliques=owners.cliques,
        pods=pod_facts(PODS, {}),
        complete=frozenset((kind, EVERYWHERE) for kind in ("Pod", "PodClique", "PodCliqueScalingGroup")),
    )
    assert all(reconcile(cluster.snapshot_of(root, NOW)).settled for root in cluster.sets)


def test_a_pod_is_as_long_as_one_that_kubectl_prints() -> None:
    lengths = [len(text) for text in texts_of_pods(PODS)]
    assert 3000 < sum(lengths) / PODS < 3500


def test_a_pretty_list_is_what_the_standard_library_prints(tmp_path: Path) -> None:
    path = tmp_path / "pods.json"
    write_list(path, Form.PRETTY, PODS, owners=True)
    text = path.read_text(encoding="utf-8")
    assert text == json.dumps(json.loads(text), indent=4) + "\n"


def test_the_pods_of_a_bare_loop_are_those_of_the_workload() -> None:
    pods = pods_made_of(many_replicas(40))
    assert len({pod["metadata"]["name"] for pod in pods}) == len(pods) == 40
    assert not any("schedulingGates" in pod["spec"] or "ownerReferences" in pod["metadata"] for pod in pods)
    assert {pod["metadata"]["labels"]["grove.io/podclique-pod-index"] for pod in pods} == {"0", "1", "2", "3"}


@pytest.mark.parametrize(
    ("folder", "counts"), [("hardware", {"h100": 12, "gb200": 72}), ("clouds", {"p5": 8, "a3": 16})]
)
def test_the_nodes_of_the_examples_are_printed_like_those_that_are_measured(
    folder: str, counts: dict[str, int]
) -> None:
    example = Path(__file__).parents[1] / "examples" / "topology" / folder / "nodes.json"
    assert text_of(nodes(**counts)) == example.read_text(encoding="utf-8")


@pytest.mark.parametrize("power", [0.5, 1, 2])
def test_growth_is_the_slope_of_the_logarithms(power: float) -> None:
    assert exponent([(pods, 3 * pods**power) for pods in (100, 300, 1000)]) == pytest.approx(power)
