"""Results have the words and the numbers of the command line (LB-005)."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import pytest

import grove_shell as grove
from grove_core import reconcile, rule_set
from grove_core.compare import TerminationChangeKind
from grove_core.kernel.time_formats import parse_time
from tests.library.test_reading import EXAMPLES, RECORDED, objects, printed

DEGRADED: Final = EXAMPLES / "degraded.yaml"
GIVEN: Final = EXAMPLES.parent / "tests" / "golden" / "workload"
AT: Final = datetime(2026, 11, 20, 9, tzinfo=UTC)


class TestLB005:
    """Terminations of a result MUST be those of the plan document: time, replica, cause, PodCliques, pods, ready pods
    and GPUs. Where pods are not known the counts are None, never 0.
    """

    @pytest.mark.parametrize(
        ("file", "more", "until"), [(RECORDED, (), "6h"), (DEGRADED, ("--now", "2026-11-20T09:00:00Z"), "12h")]
    )
    def test_terminations_are_those_of_the_document(self, file: Path, more: tuple[str, ...], until: str) -> None:
        document = printed("plan", "-f", str(file), *more, "--until", until)
        expected = {
            (step["target"]["name"], parse_time(round_["at"]))
            for plan in document["plans"]
            for round_ in plan["rounds"]
            for step in round_["steps"]
            if step.get("terminates")
        }
        found = grove.forecast(grove.read(file, now=AT if more else "dump"), until=until)
        shown = {(clique, one.at) for one in found.terminations for clique in one.cliques}
        assert shown == {(name, at) for name, at in expected if any(name in one.cliques for one in found.terminations)}
        assert shown
        assert found.to_dict()["summary"] == document["summary"]
        assert sum(one.gpus or 0 for one in found.terminations) > 0

    def test_now_and_later(self) -> None:
        cluster = grove.read(DEGRADED, now=AT)
        now, later = grove.plan(cluster), grove.forecast(cluster, until=timedelta(hours=6))
        assert [one.replica for one in now.terminations] == ["deepseek-0-decode replica 1", "llama-70b replica 0"]
        assert {one.at for one in now.terminations} == {AT}
        assert {one.replica for one in later.terminations} > {one.replica for one in now.terminations}
        (waiting,) = now.waiting
        assert waiting.until == datetime(2026, 11, 20, 10, 15, tzinfo=UTC)
        assert now.until is None
        assert later.until == AT + timedelta(hours=6)
        assert now.verdict.startswith("2 replicas to terminate now, with 12 pods (6 ready) and 11 GPUs")
        assert now.rules == cluster.rules.name == "design"
        assert {step.action for step in now.steps if step.round == 1} == {"delete", "setStatus"}
        assert now.now == AT

    def test_what_averts_a_termination(self) -> None:
        first, _ = grove.plan(grove.read(RECORDED)).waiting
        assert first.pods_needed == {"qwen-1-worker": 1}
        assert "the delay of 30s ends" in first.because

    def test_pods_that_are_not_known_are_none(self, tmp_path: Path) -> None:
        found = objects()
        path = tmp_path / "without-pods.json"
        kept = [one for one in found if one["kind"] != "Pod"]
        path.write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": kept}))
        cluster = grove.read(path, rules="design", now="2027-01-01T00:00:00Z", faults="return")
        assert {one.pods for one in grove.forecast(cluster, until="24h").terminations} <= {None}
        assert grove.plan(cluster).unknown

    def test_pods_that_the_input_lacks_are_said_to_count_as_lost(self) -> None:
        """A dump collected with ``-l``: the page has a note, and a check that reads ``unknown`` must not pass."""
        kept = [
            one
            for one in objects()
            if one["kind"] != "Pod" or not one["metadata"]["name"].startswith("deepseek-0-decode")
        ]
        found = grove.plan(grove.read(kept, now="dump"))
        assert any("llm-serving/deepseek-0-decode-0-dw: its status counts Pods" in one for one in found.unknown)
        assert not grove.plan(grove.read(kept, now="dump"), sets="qwen").unknown

    def test_sets_are_chosen_by_name_or_as_they_are(self) -> None:
        cluster = grove.read(RECORDED)
        chosen = [one for one in cluster.sets if one.name == "qwen"]
        for sets in ("qwen", "llm-serving/qwen", chosen, chosen[0], ["qwen"]):
            assert [one.set for one in grove.plan(cluster, sets=sets).waiting] == ["llm-serving/qwen"]

    def test_sets_with_their_parts(self) -> None:
        deepseek, embed, qwen = grove.read(RECORDED).sets
        assert (deepseek.namespace, deepseek.name, deepseek.available, deepseek.wanted) == (
            "llm-serving",
            "deepseek",
            1,
            1,
        )
        assert deepseek.groups == ("deepseek-0-decode", "deepseek-0-prefill")
        assert len(deepseek.pods) == 16
        assert {one.verdict for one in embed.replicas} == {"KEEP"}
        (worker,) = (one for one in qwen.cliques if one.name == "qwen-1-worker")
        assert (worker.replica, worker.group, worker.group_replica) == (1, "", None)
        assert worker.is_below_minimum
        assert {pod.clique for pod in worker.pods} == {"qwen-1-worker"}

    def test_a_name_in_two_namespaces(self) -> None:
        found = objects()
        copies = json.loads(json.dumps(found).replace('"llm-serving"', '"other"').replace('"uid": "', '"uid": "x'))
        cluster = grove.read(found, copies, now="dump")
        with pytest.raises(ValueError, match="in the namespaces llm-serving, other: say namespace='llm-serving'"):
            grove.explain(cluster, "pclq/qwen-1-worker")
        assert grove.explain(cluster, "pclq/qwen-1-worker", namespace="other").answers

    def test_a_manifest_without_an_earlier_version_is_named(self) -> None:
        qwen, engine = (EXAMPLES / "edits" / name for name in ("qwen-new-image.yaml", "disaggregated-new-engine.yaml"))
        assert grove.validate(qwen, engine, old=qwen).judged_as_new == ("inference/llama",)
        assert grove.validate(qwen, engine).judged_as_new == ()

    def test_the_pods_of_an_edit_go_stage_by_stage(self) -> None:
        (edit,) = grove.plan(grove.read(RECORDED, EXAMPLES / "edits" / "qwen-new-image.yaml")).edits
        assert [len(stage) for stage in edit.stages] == [2, 2, 1, 1, 1, 1]
        assert tuple(name for stage in edit.stages for name in stage) == edit.pods

    def test_what_a_configuration_is_read_for_is_a_warning(self, tmp_path: Path) -> None:
        path = tmp_path / "operator.yaml"
        path.write_text(
            "apiVersion: operator.config.grove.io/v1alpha1\nkind: OperatorConfiguration\nlogLevel: debug\n"
            "controllers: {podCliqueSet: {concurrentSyncs: 3}}\n"
        )
        (note,) = grove.read(RECORDED, config=path).warnings
        assert note.startswith(f"{path}: the Go operator's configuration; not used: ")

    def test_an_explanation(self) -> None:
        cluster = grove.read(RECORDED)
        found = grove.explain(cluster, "pclq/qwen-1-worker")
        assert found.to_dict() == printed("explain", "-f", str(RECORDED), "pclq/qwen-1-worker")
        assert ("breach", "True") in {(one.question, one.verdict) for one in found.answers}
        assert "2 scheduled, at least 3 needed" in str(found)
        assert json.loads(found.to_json()) == found.to_dict()

    def test_a_comparison(self) -> None:
        found = grove.compare(grove.read(RECORDED), "design", "field", until="6h")
        expected = printed("compare", "-f", str(RECORDED), "--rules", "design", "--rules", "field", "--until", "6h")
        assert found.to_dict() == expected
        assert {one.change for one in found.differences} == {"ENDS"}
        assert not found.unknown
        assert json.loads(found.to_json()) == expected

    def test_the_words_of_a_difference_are_those_of_the_command(self) -> None:
        words = {one.value for one in TerminationChangeKind}
        assert all(f"``{word}``" in (grove.Difference.__doc__ or "") for word in words)
        (first, _) = grove.compare(grove.read(RECORDED), "design", "field", until="6h").differences
        assert first.change in words
        assert "the delay of 1m ended" in first.because
        assert "no record says that it ever had that many" in first.because
        assert (first.before, first.pods, first.ready, first.gpus) == (None, 4, 2, 16)

    def test_an_upgrade_that_replaces_pods_is_in_the_comparison(self) -> None:
        """Two releases terminate alike, and the newer one hashes templates otherwise: every pod is replaced."""
        found = grove.compare(grove.read(RECORDED), "field@alpha.9", "field@alpha.10")
        assert found.differences == ()
        assert [(one.set, one.strategy, one.pods, one.gpus) for one in found.upgrades][1:] == [
            ("llm-serving/embed", "RollingRecreate", 3, 3),
            ("llm-serving/qwen", "RollingRecreate", 10, 12),
        ]
        assert "pods that the upgrade replaces" in found._repr_html_()

    def test_a_validation(self) -> None:
        found = grove.validate(EXAMPLES)
        assert 0 < len(found.refused) < len(found.manifests)
        assert not found.ok
        assert {one.object for one in found.problems} > {one.object for one in found.refused}
        assert any("one manifest of this name" in one.message for one in found.problems)
        assert json.loads(found.to_json()) == found.to_dict()
        assert all(one.rule and one.path for verdict in found.refused for one in verdict.problems)
        assert all(one.file.startswith(str(EXAMPLES)) for one in found.warnings)
        assert grove.validate(EXAMPLES / "edits").ok


class TestLB023:
    """The gated pods of a plan MUST be the pods with a scheduling gate, each with the reasons for which the gate stays
    or is removed.
    """

    @pytest.mark.parametrize(
        ("case", "opens", "because"),
        [
            (
                "wl092_a_gang_that_lacks_a_pod",
                {False},
                "its gang chat-0 is not complete; the gang refers to 2 of its pods and needs 3",
            ),
            ("wl246_the_gate_of_another_product", {False}, "kueue.x-k8s.io/admission"),
        ],
    )
    def test_each_pod_with_a_gate(self, case: str, opens: set[bool], because: str) -> None:
        cluster = grove.read(GIVEN / case / "given.yaml", rules="design", now=AT)
        found = grove.plan(cluster).gated
        pods = [pod for one in cluster.sets for pod in one.pods]
        assert {(one.pod, one.clique, one.gang, one.gates) for one in found} == {
            (pod.name, pod.clique, pod.gang, pod.gates) for pod in pods if pod.gates
        }
        assert found
        assert {one.opens for one in found} == opens
        assert all(because in one.because for one in found)

    def test_a_gate_that_the_plan_removes(self) -> None:
        cluster = grove.read(GIVEN / "wl092_a_gang_that_lacks_a_pod" / "given.yaml", rules="field", now=AT)
        assert {(one.opens, one.because) for one in grove.plan(cluster).gated} == {
            (True, "its gang chat-0 refers to it")
        }
        assert not grove.plan(grove.read(RECORDED)).gated


@pytest.mark.req("LB-025")
class TestFromAClusterToTheCore:
    def test_the_snapshots_are_those_of_its_sets(self) -> None:
        cluster = grove.read(RECORDED)
        assert [one.root.ref.name for one in cluster.snapshots] == [one.name for one in cluster.sets]
        planned = [reconcile(one, rule_set("field")) for one in cluster.snapshots]
        steps = [step.target.name for plan in planned for step in plan.steps]
        assert steps == [
            step.target.name for one in grove.plan(cluster).internals.document.forecasts for step in one.rounds[0].steps
        ]

    def test_rules_of_another_operator_are_named(self) -> None:
        (note,) = grove.read(RECORDED, rules="design").warnings
        assert note.startswith("the Go operator runs there")
        assert note.endswith("rules='field@v0.1.0-alpha.12-rc1' predicts it")
        assert grove.read(RECORDED).warnings == ()


class TestLB026:
    """A termination MUST say why it is not known whether its gangs find room again, wherever that is not known."""

    def test_without_nodes_and_later(self) -> None:
        cluster = grove.read(DEGRADED, now=AT)
        plan = grove.plan(cluster)
        found = {one.room_unknown for one in plan.terminations} | {one.room_unknown for one in plan.waiting}
        assert found == {"the input lacks Nodes, or requests of a pod on them cannot be read"}

    def test_terminations_again_and_later(self) -> None:
        again = EXAMPLES.parent / "tests/snapshots/s9a-termination-without-capacity.yaml"
        later = grove.forecast(grove.read(again, now="dump"), until="6h").terminations
        repeated = "it is known only for the first termination of what is due now or waits now"
        assert [one.room_unknown == repeated for one in later] == [False, True, True]

    def test_with_nodes(self) -> None:
        """Nodes with pods of gangs alone, and then with one of another product each."""
        given = objects()
        names = {one["spec"]["nodeName"] for one in given if one["kind"] == "Pod" and one["spec"].get("nodeName")}
        plenty = {"nvidia.com/gpu": "64", "cpu": "999", "memory": "9Ti", "pods": "500"}
        nodes = [
            {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": {"allocatable": plenty}}
            for name in sorted(names)
        ]
        daemons = [_daemon(name) for name in names]
        partly = grove.plan(grove.read([*given, *nodes], now="dump")).waiting
        whole = grove.plan(grove.read([*given, *nodes, *daemons], now="dump")).waiting
        of_set, of_group = (one.replica for one in partly)
        assert (of_set, of_group) == ("qwen replica 1", "deepseek-0-prefill replica 0")  # the latter has no gang alone
        part = "its pods are a part of a gang whose other pods stay; places for a part are not searched"
        lacking = "the input lacks pods: a node of it has none outside of gangs"
        assert [(one.finds_room, one.room_unknown) for one in partly] == [(None, lacking), (None, part)]
        assert [(one.finds_room, one.room_unknown) for one in whole] == [(True, ""), (None, part)]


def _daemon(node: str) -> dict[str, object]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": f"daemon-{node}", "namespace": "kube-system"},
        "spec": {"nodeName": node, "containers": [{"name": "main", "image": "daemon"}]},
        "status": {"phase": "Running"},
    }


class TestLB027:
    """A validation MUST be a problem where no manifest of the input was judged, and name the files with a problem of
    the input.
    """

    def test_other_objects_alone(self, tmp_path: Path) -> None:
        path = tmp_path / "config.yaml"
        path.write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n")
        found = grove.validate(path)
        (problem,) = found.problems
        assert (problem.file, problem.got) == (str(path), "1 ConfigMap")
        assert problem.message == "nothing was judged: expected a PodCliqueSet or a ClusterTopology"
        assert not found.ok
        assert found.faulty_files == ()

    def test_a_file_that_cannot_be_read(self, tmp_path: Path) -> None:
        path = tmp_path / "bad.yaml"
        path.write_text("kind: [\n")
        found = grove.validate(path, EXAMPLES / "edits")
        assert found.faulty_files == (str(path),)
        assert not found.ok
        assert found.refused == ()
        assert len(found.problems) == 1


class TestLB028:
    """A plan MUST say where it ends before the operator does, a sentence for each set, as the page says it."""

    def test_an_update_that_waits_for_pods(self) -> None:
        updating = grove.read(EXAMPLES.parent / "tests/snapshots/s5a-rolling-update-early.yaml", now="dump")
        (why,) = grove.forecast(updating, until="2h").unfinished
        assert why == "llm-serving/qwen: its update waits for new pods to become ready, which a plan never makes"
        assert grove.forecast(grove.read(RECORDED), until="2h").unfinished == ()


class TestLB029:
    """A termination MUST name the pods that are deleted with it and are there now; a difference the replica, and how
    often each rule set terminates it.
    """

    def test_pods_of_terminations(self) -> None:
        cluster = grove.read(RECORDED)
        found = grove.forecast(cluster, until="6h").terminations
        pods = {pod.name: pod for one in cluster.sets for pod in one.pods}
        assert [(one.pods, len(one.pod_names)) for one in found] == [(5, 5), (4, 4)]
        assert all(name in pods for one in found for name in one.pod_names)

    def test_replicas_and_counts_of_differences(self) -> None:
        found = grove.compare(grove.read(RECORDED), "design", "field", until="6h").differences
        assert {(one.replica, one.times_before, one.times_after) for one in found} == {
            ("qwen replica 1", 0, 1),
            ("deepseek-0-prefill replica 0", 0, 1),
        }

    def test_nothing_to_compare(self) -> None:
        empty = grove.read({"apiVersion": "v1", "kind": "List", "items": []}, faults="return")
        with pytest.raises(grove.BadInput, match="nothing was decided"):
            grove.compare(empty, "design", "field")
