"""From items to a cluster: what is wrong is reported whole, and what could not be read is not taken for absent."""

import io
import json
from pathlib import Path

import pytest

from grove_core.resources.api_names import GATE
from grove_shell.cli.main import run_command_line
from grove_shell.reading.cluster_reading import load_input_files
from tests.reading.dump_edits import EXAMPLE, NOW, Json, loaded, named, pods_of, write


def test_in030_every_problem_of_every_object_at_once(tmp_path: Path, items: list[Json]) -> None:
    clique = named(items, "PodClique", "qwen-0-decode")
    clique["spec"]["minAvailable"] = "three"
    clique["status"]["readyReplicas"] = -1
    del clique["status"]["conditions"][0]["lastTransitionTime"]
    clique["metadata"]["labels"]["grove.io/podcliqueset-replica-index"] = "-1"
    root = named(items, "PodCliqueSet", "qwen")
    root["spec"]["template"]["cliques"][0]["spec"]["minAvailable"] = "three"
    root["spec"]["template"]["terminationDelay"] = "1d"
    found = {(fault.object, fault.path) for fault in loaded(tmp_path / "cluster.json", items).faults}
    assert found == {
        ("PodClique inference/qwen-0-decode", "spec.minAvailable"),
        ("PodClique inference/qwen-0-decode", "status.readyReplicas"),
        ("PodClique inference/qwen-0-decode", "status.conditions[0].lastTransitionTime"),
        ("PodClique inference/qwen-0-decode", "metadata.labels[grove.io/podcliqueset-replica-index]"),
        ("PodCliqueSet inference/qwen", "spec.template.cliques[0].spec.minAvailable"),
        ("PodCliqueSet inference/qwen", "spec.template.terminationDelay"),
    }


def test_in030_a_pod_with_two_owners(tmp_path: Path, items: list[Json]) -> None:
    pod = pods_of(items, "qwen-0-decode")[0]
    owners = pod["metadata"]["ownerReferences"]
    owners.append({**owners[0], "uid": "another"})
    (fault,) = loaded(tmp_path / "cluster.json", items).faults
    assert fault.path == "metadata.ownerReferences[1].controller"
    assert fault.object == f"Pod inference/{pod['metadata']['name']}"


def test_in030_a_pod_condition_that_is_a_boolean(tmp_path: Path, items: list[Json]) -> None:
    pods_of(items, "qwen-0-decode")[0]["status"]["conditions"][-1]["status"] = True
    (fault,) = loaded(tmp_path / "cluster.json", items).faults
    assert fault.path.startswith("status.conditions[")
    assert fault.got == "true"


@pytest.mark.parametrize("field", ["kind", "apiVersion"])
def test_in032_an_object_says_what_it_is(tmp_path: Path, items: list[Json], field: str) -> None:
    del items[3][field]
    found = loaded(tmp_path / "cluster.json", items)
    assert field in {fault.path for fault in found.faults}
    assert ("Pod", "") in found.cluster.gaps


class TestIN032:
    """An object MUST have ``kind`` and ``apiVersion``; PodCliques and scaling groups also ``uid`` and
    ``resourceVersion``. A misspelt kind or version, one unknown in an API group of Grove, and different objects of one
    name or ``uid`` are reported. Identical copies count once.
    """

    def test_a_second_one_that_differs(self, tmp_path: Path, items: list[Json]) -> None:
        twin = json.loads(json.dumps(named(items, "PodClique", "qwen-0-decode")))
        twin["metadata"]["uid"] = "another"
        found = loaded(tmp_path / "cluster.json", [*items, twin])
        assert [fault.path for fault in found.faults] == ["metadata.name"]
        assert ("PodClique", "inference") in found.cluster.gaps

    def test_the_same_one_twice_counts_once(self, tmp_path: Path, items: list[Json]) -> None:
        once = loaded(tmp_path / "once.json", items)
        twice = load_input_files([write(tmp_path / "once.json", items), str(EXAMPLE)], io.BytesIO(), raising=False)
        assert twice.faults == ()
        assert twice.cluster == once.cluster


class TestIN033:
    """A PodClique or scaling group whose controller owner is not in the input MUST be reported. In the input of a
    completely listed cluster it is a foreign object instead: a warning names it, it is left alone, and its name stays
    occupied.
    """

    def test_a_clique_whose_set_is_absent(self, tmp_path: Path, items: list[Json]) -> None:
        items.remove(named(items, "PodCliqueSet", "mixtral"))
        found = loaded(tmp_path / "cluster.json", items)
        assert {fault.path for fault in found.faults} == {"metadata.ownerReferences"}
        assert {"PodCliqueSet inference/mixtral in the input"} == {fault.expected for fault in found.faults}

    def test_a_clique_without_an_owner(self, tmp_path: Path, items: list[Json]) -> None:
        del named(items, "PodClique", "qwen-0-decode")["metadata"]["ownerReferences"]
        (fault,) = loaded(tmp_path / "cluster.json", items).faults
        assert (fault.path, fault.got) == ("metadata.ownerReferences", "none")

    def test_a_member_whose_group_is_absent_leaves_its_set_unjudged(self, tmp_path: Path, items: list[Json]) -> None:
        items.remove(named(items, "PodCliqueScalingGroup", "phi-0-pool"))
        found = loaded(tmp_path / "cluster.json", items)
        assert found.faults
        assert ("PodCliqueScalingGroup", "inference") in found.cluster.gaps

    def test_those_on_their_way_out_may_be_alone(self, tmp_path: Path, items: list[Json]) -> None:
        items.remove(named(items, "PodCliqueSet", "mixtral"))
        for item in items:
            if item["kind"] in {"PodClique", "PodCliqueScalingGroup"} and "mixtral" in item["metadata"]["name"]:
                item["metadata"]["deletionTimestamp"] = "2026-11-20T08:59:00Z"
        assert loaded(tmp_path / "cluster.json", items).faults == ()


class TestIN034:
    """An object that is reported as unreadable MUST make its kind count as not collected in its namespace. A file that
    was not read to its end makes every kind that decisions depend on count as not collected everywhere.
    """

    def test_a_broken_pod_is_not_a_lost_pod(
        self, tmp_path: Path, items: list[Json], capsys: pytest.CaptureFixture[str]
    ) -> None:
        pods_of(items, "gemma-0-router")[0]["metadata"]["uid"] = 5
        words = ["plan", "-f", write(tmp_path / "cluster.json", items), *NOW, "-o", "json", "--keep-going"]
        assert run_command_line(words, "grove") == 1
        document = json.loads(capsys.readouterr().out)
        assert document["notCollected"] == ["Pod in inference"]
        assert document["summary"]["delete"] == 0
        assert document["summary"]["withheld"] == 6

    def test_a_file_cut_short_leaves_everything_open(
        self, tmp_path: Path, items: list[Json], capsys: pytest.CaptureFixture[str]
    ) -> None:
        path = Path(write(tmp_path / "cluster.json", items))
        path.write_text(path.read_text(encoding="utf-8")[:-2000], encoding="utf-8")
        assert run_command_line(["plan", "-f", str(path), *NOW, "-o", "json", "--keep-going"], "grove") == 1
        document = json.loads(capsys.readouterr().out)
        assert document["notCollected"] == ["Pod", "PodClique", "PodCliqueScalingGroup"]
        assert document["summary"]["delete"] == 0

    def test_another_namespace_is_not_concerned(
        self, tmp_path: Path, items: list[Json], capsys: pytest.CaptureFixture[str]
    ) -> None:
        foreign = json.loads(json.dumps(pods_of(items, "gemma-0-router")[0]))
        foreign["metadata"].update(namespace="elsewhere", uid=5)
        words = ["plan", "-f", write(tmp_path / "cluster.json", [*items, foreign]), *NOW, "-o", "json", "--keep-going"]
        assert run_command_line(words, "grove") == 1
        assert json.loads(capsys.readouterr().out)["summary"]["delete"] == 9

    def test_a_picture_among_the_files_loses_nothing(
        self, tmp_path: Path, items: list[Json], capsys: pytest.CaptureFixture[str]
    ) -> None:
        write(tmp_path / "cluster.json", items)
        (tmp_path / "shot.json.png").write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00")
        assert run_command_line(["plan", "-f", str(tmp_path), *NOW], "grove") == 1
        said = capsys.readouterr()
        assert said.out == ""
        assert "shot.json.png" in said.err
        assert run_command_line(["plan", "-f", str(tmp_path), *NOW, "-o", "json", "--keep-going"], "grove") == 1
        document = json.loads(capsys.readouterr().out)
        assert (document["notCollected"], document["summary"]["delete"]) == ([], 9)


@pytest.mark.req("IN-040")
class TestMissingKinds:
    """Kinds without objects, although other objects refer to some."""

    @pytest.mark.parametrize(
        ("lacks_kinds", "gaps"),
        [
            ("Pod", {("Pod", "inference")}),
            ("PodCliqueScalingGroup", {("PodCliqueScalingGroup", "inference")}),
            ("PodClique", {("PodClique", "inference")}),
        ],
    )
    def test_left_out(self, tmp_path: Path, items: list[Json], lacks_kinds: str, gaps: set[tuple[str, str]]) -> None:
        found = loaded(tmp_path / "cluster.json", [item for item in items if item["kind"] != lacks_kinds])
        assert found.faults == ()
        assert found.cluster.gaps == gaps

    def test_a_foreign_pod_does_not_show_that_pods_were_listed(self, tmp_path: Path, items: list[Json]) -> None:
        foreign = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "other", "namespace": "inference", "uid": "o"},
        }
        found = loaded(tmp_path / "cluster.json", [*(item for item in items if item["kind"] != "Pod"), foreign])
        assert found.cluster.gaps == {("Pod", "inference")}

    def test_pods_of_one_namespace_do_not_show_that_another_was_listed(self, tmp_path: Path, items: list[Json]) -> None:
        twins = json.loads(json.dumps([item for item in items if item["kind"] != "Pod"]).replace("0-0000-", "1-0000-"))
        for twin in twins:
            meta = twin["metadata"]
            meta["namespace"], meta["uid"] = "elsewhere", f"{meta['uid']}-twin"
            for owner in meta.get("ownerReferences", ()):
                owner["uid"] = f"{owner['uid']}-twin"
        found = loaded(tmp_path / "cluster.json", [*items, *twins])
        assert found.faults == ()
        assert found.cluster.gaps == {("Pod", "elsewhere")}

    def test_one_clique_may_have_lost_all_its_pods(self, tmp_path: Path, items: list[Json]) -> None:
        lost = pods_of(items, "qwen-0-decode")
        assert loaded(tmp_path / "c.json", [i for i in items if i not in lost]).cluster.gaps == frozenset()

    @pytest.mark.parametrize(
        ("change", "is_missed"),
        [
            ({}, True),
            ({"status": {}}, True),
            ({"spec": {"replicas": 0}, "status": {}}, False),
            ({"spec": {"replicas": 0}}, True),
            ({"metadata": {"deletionTimestamp": "2026-11-20T08:00:00Z"}, "status": {}}, False),
        ],
        ids=["as it is", "nothing reported", "nothing wanted", "nothing wanted any more", "going"],
    )
    def test_a_set_that_wants_some_and_is_alone(
        self, tmp_path: Path, items: list[Json], change: dict[str, Json], is_missed: bool
    ) -> None:
        (alone,) = (item for item in items if item["kind"] == "PodCliqueSet" and item["metadata"]["name"] == "gemma")
        assert alone["status"]["availableReplicas"]
        for part, values in change.items():
            alone[part] = {**alone[part], **values} if values else {}
        found = loaded(tmp_path / "cluster.json", [alone])
        assert (("PodClique", "inference") in found.cluster.gaps) is is_missed

    def test_an_edit_says_nothing_of_what_was_collected(self, tmp_path: Path, items: list[Json]) -> None:
        (alone,) = (item for item in items if item["kind"] == "PodCliqueSet" and item["metadata"]["name"] == "gemma")
        alone["spec"]["replicas"], alone["status"] = 0, {}
        meta = {key: alone["metadata"][key] for key in ("name", "namespace")}
        edit = {**alone, "metadata": meta, "spec": {**alone["spec"], "replicas": 2}}
        found = loaded(tmp_path / "cluster.json", [alone, {key: edit[key] for key in edit if key != "status"}])
        assert (found.faults, found.edited, found.cluster.gaps) == ((), ("inference/gemma",), frozenset())

    @pytest.mark.req("WL-235")
    def test_a_pod_that_waits_for_a_gang(self, tmp_path: Path, items: list[Json]) -> None:
        items = [item for item in items if item["kind"] != "PodGang"]
        pod = pods_of(items, "qwen-0-decode")[0]
        assert loaded(tmp_path / "c.json", items).cluster.gaps == frozenset()
        pod["spec"]["schedulingGates"] = [{"name": GATE}]
        assert loaded(tmp_path / "c.json", items).cluster.gaps == {("PodGang", "inference")}
        gang = {"apiVersion": "scheduler.grove.io/v1alpha1", "kind": "PodGang", "spec": {"podgroups": []}}
        owner = {"apiVersion": "v1", "kind": "PodCliqueSet", "name": "x", "uid": "x", "controller": True}
        meta = {"name": "g", "namespace": "inference", "uid": "g", "resourceVersion": "1", "ownerReferences": [owner]}
        assert loaded(tmp_path / "c.json", [*items, {**gang, "metadata": meta}]).cluster.gaps == frozenset()

    def test_no_pods_where_none_are_mentioned(self, tmp_path: Path, items: list[Json]) -> None:
        quiet = [item for item in items if item["kind"] != "Pod"]
        for item in quiet:
            item.pop("status", None)
        assert loaded(tmp_path / "cluster.json", quiet).cluster.gaps == frozenset()


@pytest.mark.req("IN-032")
class TestIdentity:
    """PodCliques and scaling groups have a uid of their own."""

    @pytest.mark.parametrize("field", ["uid", "resourceVersion"])
    def test_without_one_it_is_reported(self, tmp_path: Path, items: list[Json], field: str) -> None:
        del named(items, "PodClique", "qwen-0-decode")["metadata"][field]
        found = loaded(tmp_path / "cluster.json", items)
        assert ("PodClique", "inference") in found.cluster.gaps
        assert "PodClique inference/qwen-0-decode" in {fault.object for fault in found.faults}

    def test_a_uid_belongs_to_one_object(self, tmp_path: Path, items: list[Json]) -> None:
        group = named(items, "PodCliqueScalingGroup", "qwen-0-pool")
        group["metadata"]["uid"] = named(items, "PodCliqueSet", "qwen")["metadata"]["uid"]
        assert "metadata.uid" in {fault.path for fault in loaded(tmp_path / "cluster.json", items).faults}

    def test_an_owner_of_another_namespace_is_none(self, tmp_path: Path, items: list[Json]) -> None:
        clique = named(items, "PodClique", "qwen-0-decode")
        clique["metadata"]["namespace"] = "prod"
        found = loaded(tmp_path / "cluster.json", items)
        assert {fault.path for fault in found.faults} == {"metadata.ownerReferences"}
        owned = [clique.ref for cliques in found.cluster.cliques_of.values() for clique in cliques]
        assert "prod" not in {ref.namespace for ref in owned}

    def test_a_draft_without_uid_owns_nothing(self, tmp_path: Path, items: list[Json]) -> None:
        draft = {"apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet", "metadata": {"name": "draft"}}
        draft["spec"] = named(items, "PodCliqueSet", "qwen")["spec"]
        del named(items, "PodClique", "qwen-0-decode")["metadata"]["ownerReferences"]
        assert len(loaded(tmp_path / "cluster.json", [*items, draft]).faults) == 1


def test_in030_a_controller_flag_that_is_a_text(tmp_path: Path, items: list[Json]) -> None:
    pods_of(items, "qwen-0-decode")[0]["metadata"]["ownerReferences"][0]["controller"] = "true"
    (fault,) = loaded(tmp_path / "cluster.json", items).faults
    assert fault.path == "metadata.ownerReferences[0].controller"


def test_in030_one_report_in_order_of_place(tmp_path: Path, items: list[Json]) -> None:
    for item in items[:4]:
        item["metadata"]["name"] = ""
    found = loaded(tmp_path / "cluster.json", items).faults
    assert len(found) >= 4
    assert list(found) == sorted(found, key=lambda fault: fault.sort_key)
    assert all("\n" not in str(fault) for fault in found)


def test_in053_other_kinds_are_read_past(tmp_path: Path, items: list[Json]) -> None:
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "gpu-1"}}
    knative = {"apiVersion": "serving.knative.dev/v1", "kind": "PodClique", "metadata": {"name": "not-ours"}}
    found = loaded(tmp_path / "cluster.json", [*items, node, knative])
    assert (found.faults, dict(found.ignored)) == ((), {"Node": 1, "PodClique": 1})


def test_cl005_nothing_is_decided_on_bad_input(
    tmp_path: Path, items: list[Json], capsys: pytest.CaptureFixture[str]
) -> None:
    named(items, "PodClique", "qwen-0-decode")["spec"]["replicas"] = "many"
    path = write(tmp_path / "cluster.json", items)
    assert run_command_line(["plan", "-f", path, *NOW], "grove") == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert f"{path}: document 1, PodClique inference/qwen-0-decode, spec.replicas" in said.err
    assert "--keep-going" in said.err


@pytest.mark.req("IN-032")
@pytest.mark.parametrize("uid", ["", "u"])
@pytest.mark.parametrize("command", ["plan", "validate"])
def test_in032_the_earlier_name_of_a_kind_is_reported_with_the_present_one(
    command: str, uid: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    meta = {"name": "llm", "namespace": "ml", **({"uid": uid, "resourceVersion": "1"} if uid else {})}
    old = {"apiVersion": "grove.io/v1alpha1", "kind": "PodGangSet", "metadata": meta, "spec": {}}
    write(tmp_path / "old.json", [old])
    assert run_command_line([command, "-f", str(tmp_path)], "grove") == 1
    expected = 'PodGangSet ml/llm, kind: expected PodCliqueSet, as the kind is called now, got "PodGangSet"\n'
    assert expected in capsys.readouterr().err
    write(tmp_path / "old.json", [{**old, "apiVersion": "example.com/v1"}])
    run_command_line([command, "-f", str(tmp_path)], "grove")
    assert "as the kind is called now" not in capsys.readouterr().err
