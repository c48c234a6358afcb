"""A page stays readable, however many replicas share a fate (CL-010)."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Final

import pytest

from grove_core.kernel.time_formats import format_time, parse_time
from tests.command_line.process import grove
from tests.property.resources.manifests import Json, clique, condition, group, meta, owner, pod

REPLICAS: Final = 50
CLIQUES: Final = ("leader", *(f"worker{number}" for number in range(12)))


def crowd(*, since: str, step: timedelta) -> Json:
    """A set of 50 replicas; each has a lost router, and a group of one replica with 13 lost cliques."""
    start = parse_time(since)
    assert start is not None
    templates = [
        {"name": name, "spec": {"replicas": 3, "minAvailable": 2, "podSpec": {}}} for name in ("router", *CLIQUES)
    ]
    pool = {"name": "pool", "cliqueNames": list(CLIQUES), "replicas": 1, "minAvailable": 1}
    template = {"cliques": templates, "podCliqueScalingGroups": [pool], "terminationDelay": "1h"}
    items = [kind("PodCliqueSet", {"metadata": meta("llm"), "spec": {"replicas": REPLICAS, "template": template}})]
    for index in range(REPLICAS):
        lost = condition("MinAvailableBreached", lastTransitionTime=format_time(start + index * step))
        name = f"llm-{index}-pool"
        spec = {"replicas": 1, "minAvailable": 1, "cliqueNames": list(CLIQUES)}
        items.append(kind("PodCliqueScalingGroup", group(name, spec=spec, conditions=[lost])))
        items += _clique_and_pod(clique(f"llm-{index}-router", wasAvailable=True, conditions=[lost]))
        of_group = owner(f"uid-{name}", kind="PodCliqueScalingGroup", name=name)
        for short in CLIQUES:
            member = clique(f"{name}-0-{short}", owned_by=of_group, wasAvailable=True, conditions=[lost])
            items += _clique_and_pod(member)
    return {"apiVersion": "v1", "kind": "List", "items": items}


def kind(name: str, raw: Json) -> Json:
    return {"apiVersion": "grove.io/v1alpha1", "kind": name, **raw}


def _clique_and_pod(raw: Json) -> list[Json]:
    name = raw["metadata"]["name"]
    metadata = meta(f"{name}-a", ownerReferences=[owner(f"uid-{name}")])
    return [kind("PodClique", raw), {**pod(condition("Ready", "False")), "metadata": metadata}]


@pytest.fixture(scope="module")
def waiting(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("crowd") / "cluster.json"
    path.write_text(json.dumps(crowd(since="2026-11-20T09:00:00Z", step=timedelta(seconds=10))), encoding="utf-8")
    return path


@pytest.mark.req("CL-010")
class TestLongLists:
    """Long lists are shortened without ``--verbose``."""

    def test_replicas_that_share_a_fate_are_counted_after_twenty(self, waiting: Path) -> None:
        page = grove("plan", "-f", str(waiting), "--now", "2026-11-20T09:30:00Z").stdout.decode()
        heads = [line for line in page.splitlines() if line.startswith("  WAIT")]
        assert len(heads) == 21
        assert heads[-1] == "  WAIT       and 30 more replicas, the last until 10:08:10Z (in 38m10s) (-v lists all)"
        assert page.startswith("50 replicas will be terminated unless they recover, the first at 10:00:00Z")

    def test_breached_cliques_behind_a_cause_are_counted_after_eight(self, waiting: Path) -> None:
        page = grove("plan", "-f", str(waiting), "--now", "2026-11-20T09:30:00Z").stdout.decode()
        first = page.partition("  WAIT ")[2].partition("  WAIT ")[0].splitlines()
        assert sum("ready, at least 2 needed" in line for line in first) == 1 + 8
        assert "and 5 more such PodCliques" in "\n".join(first)

    def test_what_ends_is_counted_with_its_cliques(self, waiting: Path) -> None:
        page = grove("plan", "-f", str(waiting), "--now", "2026-11-20T10:30:00Z").stdout.decode()
        heads = [line for line in page.splitlines() if line.startswith("  TERMINATE")]
        assert len(heads) == 21
        assert heads[-1] == "  TERMINATE  and 30 more replicas, with 420 PodCliques (-v lists all)"

    def test_verbose_lists_all(self, waiting: Path) -> None:
        page = grove("plan", "-f", str(waiting), "--now", "2026-11-20T10:30:00Z", "-v").stdout.decode()
        story = page.partition("  round 1")[0]
        assert sum(line.startswith("  TERMINATE") for line in story.splitlines()) == 50
        assert "lists all" not in story
        assert "more such" not in story
        assert "llm-49-pool-0-worker11" in story


class TestCL115:
    """The page of a plan MUST order sets by their most urgent entry: terminations now, then delays by their end, then
    the rest; equal ones by name. The JSON document is ordered by name.
    """

    def test_pages(self, tmp_path: Path) -> None:
        recorded = Path(__file__).parents[2] / "examples/real-cluster.yaml"
        shown = grove("plan", "-f", str(recorded), "--until", "30m")
        lines = [line for line in shown.stdout.decode().splitlines() if line.startswith("llm-serving/")]
        assert [line.split()[0] for line in lines] == ["llm-serving/qwen", "llm-serving/deepseek"]
        page = tmp_path / "plan.html"
        assert grove("plan", "-f", str(recorded), "--until", "30m", "--html", str(page)).returncode == 0
        text = page.read_text(encoding="utf-8")
        assert text.index('id="qwen"') < text.index('id="deepseek"')
        document = json.loads(grove("plan", "-f", str(recorded), "-o", "json").stdout)
        assert [plan["root"]["name"] for plan in document["plans"]] == ["deepseek", "embed", "qwen"]
