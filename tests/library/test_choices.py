"""Names of rule sets, the time of a cluster, comparisons in loops, removed parts, lines (LB-013, LB-017 to LB-021)."""

import asyncio
import json
import subprocess
import sys
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Final

import pytest
import yaml

import grove_core
import grove_shell as grove
from grove_shell.reading.input_completeness import CollectedObjects, snapshot_header_item
from tests.library.installed_packages import install, install_example
from tests.library.test_reading import EXAMPLES, RECORDED, objects
from tests.library.test_wrong_arguments import NO_CLUSTER

AT: Final = datetime(2026, 11, 21, 9, 40, tzinfo=UTC)
TAKEN: Final = AT + timedelta(seconds=10)


class TestLB013:
    """``rule_set_names`` MUST return every rule set that ``rules`` takes by its full name: the built-in ones, and entry
    points that no built-in name hides.
    """

    def test_read_takes_each_of_them(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        assert grove.rule_set_names() == grove_core.rule_set_names()
        install_example(tmp_path / "site", monkeypatch)
        points = {"field": "my_rules:careful", "field@alpha.99": "my_rules:careful"}
        install(tmp_path / "other", monkeypatch, {}, points, "hidden-rules")
        assert grove.rule_set_names() == (*grove_core.rule_set_names(), "careful")
        for name in grove.rule_set_names():
            assert grove.read(RECORDED, rules=name).rules.name in grove.rule_set_names()


class TestLB017:
    """A cluster MUST state where its time is from: ``given``, ``input`` as in ``asOfFrom`` of the JSON plan,
    ``snapshot``, or ``clock``.
    """

    def test_each_of_them(self) -> None:
        assert grove.read(RECORDED).now_from == "input"
        assert grove.read(RECORDED, now="dump").now_from == "input"
        assert grove.plan(grove.read(RECORDED)).to_dict()["asOfFrom"] == "input"
        assert grove.read(RECORDED, now="clock").now_from == "clock"
        assert grove.read(RECORDED, now=AT).now_from == "given"
        assert grove.read(EXAMPLES / "edits" / "qwen-new-image.yaml").now_from == "clock"

    def test_of_a_snapshot(self, tmp_path: Path) -> None:
        path = tmp_path / "snapshot.yaml"
        header = snapshot_header_item(CollectedObjects(origin="", items=(), complete=frozenset()), TAKEN)
        path.write_text(yaml.safe_dump_all([header, *objects()]), encoding="utf-8")
        cluster = grove.read(path)
        assert (cluster.now_from, cluster.now) == ("snapshot", TAKEN)
        assert grove.read(path, now="clock").now_from == "clock"

    def test_a_time_is_kept_in_utc(self) -> None:
        found = grove.read(RECORDED, now=AT.astimezone(timezone(timedelta(hours=2)))).now
        assert (found, found.utcoffset()) == (AT, timedelta(0))


class TestLB018:
    """Among the parts that serve during an edit MUST be those that the edit removes, with none wanted and none at its
    end.
    """

    def test_a_replica_that_is_removed(self) -> None:
        root = next(one for one in objects() if one["kind"] == "PodCliqueSet" and one["metadata"]["name"] == "qwen")
        manifest = {key: root[key] for key in ("apiVersion", "kind", "spec")}
        manifest["metadata"] = {"name": "qwen", "namespace": "llm-serving"}
        manifest["spec"] = {**root["spec"], "replicas": 1}
        (edit,) = grove.plan(grove.read(RECORDED, manifest)).edits
        serving = {one.name: one for one in edit.serving}
        router, worker = serving["qwen-1-router"], serving["qwen-1-worker"]
        assert (router.wanted, router.needed, router.before, router.lowest, router.after) == (0, 0, 1, 0, 0)
        assert (worker.wanted, worker.before, worker.after) == (0, 2, 0)
        assert serving["qwen-0-worker"].after == 4
        assert edit.removes is not None
        assert edit.removes.pods == 5


class TestLB019:
    """A comparison of a rule set with itself MUST have no difference, also where one of them is that of the cluster."""

    def test_a_loop_over_rule_sets_meets_that_of_the_cluster(self) -> None:
        cluster = grove.read(RECORDED)
        found = {name: grove.compare(cluster, "auto", name, until="6h") for name in ("design", "field", "auto")}
        assert {name: len(one.differences) for name, one in found.items()} == {"design": 2, "field": 0, "auto": 0}
        assert found["field"].rules == ("field@v0.1.0-alpha.12-rc1", "field@v0.1.0-alpha.12-rc1")
        assert {one.change for one in found["design"].differences} == {"SPARED"}


class TestLB021:
    """A remark of a validation MUST have the line that ``grove validate`` prints."""

    def test_every_remark_has_it(self) -> None:
        folder = EXAMPLES / "topology"
        command = [sys.executable, "-m", "grove_shell", "validate", "-f", str(folder), "-o", "json"]
        document = json.loads(subprocess.run(command, capture_output=True, check=False).stdout)
        found = grove.validate(folder)
        expected = [
            (verdict["file"], remark["line"], remark["path"])
            for verdict in document["verdicts"]
            for remark in verdict["objections"]
        ]
        assert expected
        refusals = [one for verdict in found.refused for one in verdict.problems]
        assert [(one.file, one.line, one.path) for one in refusals] == expected
        text = Path(refusals[0].file).read_text(encoding="utf-8").splitlines()
        assert refusals[0].path.rpartition(".")[2].rstrip("]0123456789[") in text[(refusals[0].line or 0) - 1]

    def test_of_a_file_that_cannot_be_read(self, tmp_path: Path) -> None:
        path = tmp_path / "cut.yaml"
        path.write_text("kind: PodCliqueSet\nspec: [\n", encoding="utf-8")
        (problem,) = grove.validate(path).problems
        assert (problem.file, problem.line) == (str(path), 3)
        assert grove.validate("missing.yaml").problems[0].line is None


class TestLB024:
    """``read_live`` MUST read a cluster also where an event loop runs in the thread of the caller."""

    def test_the_error_is_that_of_the_connection(self, tmp_path: Path) -> None:
        path = tmp_path / "kubeconfig"
        path.write_text(NO_CLUSTER, encoding="utf-8")

        async def in_a_notebook() -> grove.Cluster:
            return grove.read_live(kubeconfig=path)

        with pytest.raises(grove.BadInput, match=r"is it up, and is context= the one you mean"):
            asyncio.run(in_a_notebook())
        assert asyncio.run(read_in_a_loop()).now_from == "input"


async def read_in_a_loop() -> grove.Cluster:
    return grove.read(RECORDED)
