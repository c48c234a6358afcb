"""``grove validate`` and ``grove plan`` of topologies and of sets that use them, as people call them."""

import json
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from grove_shell.cli.main import run_command_line

Json = dict[str, Any]
CASES: Final = Path(__file__).parents[1] / "golden" / "topology"
PLACED: Final = CASES / "tp026_levels_that_changed_under_placed_pods"
CONFIG: Final = str(PLACED / "operator.yaml")


def written(path: Path, *items: Json) -> str:
    path.write_text(yaml.safe_dump_all(items), encoding="utf-8")
    return str(path)


def judged(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, set[str]]]:
    """The exit code; object -> numbers of its objections."""
    code = run_command_line(["validate", *words, "-o", "json"], "grove")
    verdicts = json.loads(capsys.readouterr().out)["verdicts"]
    return code, {one["object"]: {found["requirement"] for found in one["objections"]} for one in verdicts}


def given(kind: str, **template: Any) -> Json:
    """An object of the golden case, as a user would write it; a set with other words in its template."""
    items = yaml.load((PLACED / "given.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader)["items"]
    found: Json = next(item for item in items if item["kind"] == kind)
    for key in ("uid", "resourceVersion", "generation", "finalizers"):
        found["metadata"].pop(key, None)
    if kind == "PodCliqueSet":
        found["spec"]["template"] |= template
    return found


def cluster(path: Path) -> str:
    """What kubectl printed of the case, with pods that are bound by their clique's status too."""
    items = yaml.load((PLACED / "given.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader)["items"]
    for item in items:
        if item["kind"] == "PodClique":
            item["status"] = {"replicas": 2, "readyReplicas": 2, "scheduledReplicas": 2}
    return written(path, *items)


def test_tp084_a_change_of_levels_is_judged_by_the_sets_that_use_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    topology = given("ClusterTopology")
    topology["spec"]["levels"] = topology["spec"]["levels"][:1]
    new = written(tmp_path / "new.yaml", topology)
    old = cluster(tmp_path / "old.yaml")
    assert judged(capsys, "-f", new, "--old", old, "--config", CONFIG) == (1, {"ClusterTopology aws-p5": {"TP-084"}})
    assert judged(capsys, "-f", new, "--config", CONFIG) == (0, {"ClusterTopology aws-p5": set()})


@pytest.mark.parametrize(
    ("kind", "spec"), [("PodClique", {"replicas": "x"}), ("PodCliqueSet", {"template": {"cliques": "none"}})]
)
def test_tp076_an_object_that_cannot_be_read_may_be_placed(
    kind: str, spec: Json, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As through the webhooks: placed pods lead to a refusal, and unknown ones to a warning."""
    topology, broken = given("ClusterTopology"), given(kind)
    topology["spec"]["levels"] = topology["spec"]["levels"][:2]
    broken["metadata"]["name"], broken["spec"] = "broken", spec
    new = written(tmp_path / "new.yaml", topology)
    old = written(tmp_path / "old.yaml", given("ClusterTopology"), given("PodClique"), broken)
    run_command_line(["validate", "-f", new, "--old", old, "--config", CONFIG], "grove")
    page = capsys.readouterr().out
    assert "admitted, 1 warning" in page
    assert "TP-076" in page
    assert judged(capsys, "-f", new, "--old", cluster(tmp_path / "all.yaml"), "--config", CONFIG)[0] == 1


def test_tp062_another_name_is_judged_by_what_is_placed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    new = written(tmp_path / "new.yaml", given("PodCliqueSet", clusterTopologyName="grove-topology"))
    words = ("-f", new, "--old", cluster(tmp_path / "old.yaml"), "--config", CONFIG)
    assert judged(capsys, *words) == (1, {"PodCliqueSet ml/train": {"TP-062"}})
    run_command_line(["validate", *words], "grove")
    assert "must not change while pods of the set are bound; was aws-p5, bound pods: 2" in capsys.readouterr().out


def test_tp060_a_plan_of_a_set_that_would_be_refused_says_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    new = written(tmp_path / "new.yaml", given("ClusterTopology"), given("PodCliqueSet", clusterTopologyName="aws-p4"))
    assert run_command_line(["plan", "-f", new, "--config", CONFIG], "grove") == 1
    assert "did you mean that?" in " ".join(capsys.readouterr().err.split())


@pytest.mark.req("IN-030")
def test_tp080_two_topologies_of_one_name_are_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, other = given("ClusterTopology"), given("ClusterTopology")
    other["spec"]["levels"] = other["spec"]["levels"][:1]
    assert (
        run_command_line(["plan", "-f", written(tmp_path / "two.yaml", one, other, given("PodCliqueSet"))], "grove")
        == 1
    )
    assert "one topology of this name" in capsys.readouterr().err
    other["spec"]["levels"] = [{"domain": 7}]
    assert run_command_line(["plan", "-f", written(tmp_path / "bad.yaml", other, given("PodCliqueSet"))], "grove") == 1
    said = capsys.readouterr().err
    assert "spec.levels[0].domain" in said
    assert "spec.levels[0].key" in said
    assert "Traceback" not in said
