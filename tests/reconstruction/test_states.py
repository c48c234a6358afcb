"""States and causes from made-up requests: what ends an object, and which client is the cause."""

from pathlib import Path

import pytest

from grove_shell.reconstruction.deletion_causes import DeletionCauseClass, RecordedDeletion
from grove_shell.reconstruction.happenings import HappeningKind
from grove_shell.reconstruction.recorded_objects import ObjectKey
from grove_shell.reconstruction.writers import WriterRole
from tests.reconstruction.recordings import read, written
from tests.reconstruction.requests import ALICE, COLLECTOR, KUBELET, OPERATOR, START, Json, Requests, deleted

SPEC = {"replicas": 1, "template": {"cliques": [{"name": "a", "spec": {"roleName": "a", "replicas": 1}}]}}
CLIQUE = {"roleName": "a", "replicas": 1}
KEY = ObjectKey("Pod", "ml", "llama-0-a-x")


class Life:
    """A set with a PodClique and a pod."""

    def __init__(self) -> None:
        self.requests = requests = Requests()
        self.root = requests.item("PodCliqueSet", "llama", spec=SPEC)
        self.clique = requests.item("PodClique", "llama-0-a", self.root, spec={"roleName": "a", "replicas": 1})
        self.pod = requests.item("Pod", "llama-0-a-x", self.clique, spec={"nodeName": "gpu-1", "containers": []})
        requests.add("create", self.root, ALICE)
        requests.add("create", self.clique, OPERATOR)
        requests.add("patch", self.clique, OPERATOR, "status")
        requests.add("create", self.pod, OPERATOR)

    def deletions(self, folder: Path) -> dict[str, RecordedDeletion]:
        """What went, by name."""
        found = read([written(folder, "made.log", self.requests.log)]).deletions
        assert len({one.key for one in found}) == len(found), "each once"
        return {one.key.name: one for one in found}

    def newest(self, folder: Path) -> Json | None:
        """The pod as the record shows it in the end."""
        found = read([written(folder, "made.log", self.requests.log)]).objects.newest(KEY)
        return None if found is None else dict(found)


class TestEnds:
    """When an object is gone."""

    def test_af002_a_grace_period_keeps_a_pod(self, tmp_path: Path) -> None:
        life = Life()
        life.requests.add("delete", deleted(life.pod, grace=30), ALICE)
        assert life.newest(tmp_path) is not None
        life.requests.add("delete", deleted(life.pod), KUBELET)
        assert life.newest(tmp_path) is None

    def test_af002_a_finalizer_keeps_an_object_until_it_is_removed(self, tmp_path: Path) -> None:
        life = Life()
        life.requests.add("delete", deleted(life.pod, "example.com/hold"), ALICE)
        assert life.newest(tmp_path) is not None
        life.requests.add("patch", deleted(life.pod), ALICE)
        assert life.newest(tmp_path) is None
        (pod,) = life.deletions(tmp_path).values()
        assert pod.gone is not None
        assert pod.gone > pod.at

    def test_af002_a_status_as_response_ends_an_object(self, tmp_path: Path) -> None:
        life = Life()
        life.requests.add("delete", life.pod, ALICE, responseObject={"kind": "Status", "status": "Success"})
        assert life.newest(tmp_path) is None

    def test_af002_a_new_object_of_the_name_is_another_one(self, tmp_path: Path) -> None:
        life = Life()
        life.requests.add("delete", deleted(life.clique), ALICE)
        again = life.requests.item("PodClique", "llama-0-a", life.root, spec={}, metadata={"uid": "another"})
        life.requests.add("create", again, OPERATOR)
        life.requests.add("delete", deleted(again), ALICE)
        found = read([written(tmp_path, "made.log", life.requests.log)]).deletions
        assert [one.uid for one in found] == ["uid-of-llama-0-a", "another"]


class TestEffects:
    """What a request changes."""

    def test_af001_an_older_version_does_not_come_back(self, tmp_path: Path) -> None:
        life = Life()
        newer = life.requests.item("Pod", "llama-0-a-x", life.clique, status={"phase": "Running"})
        life.requests.add("patch", newer, KUBELET, "status")
        life.requests.add("patch", life.pod, KUBELET, "status")
        found = life.newest(tmp_path)
        assert found is not None
        assert found["status"] == {"phase": "Running"}

    @pytest.mark.parametrize(
        "other",
        [
            {"stage": "RequestReceived"},
            {"responseStatus": {"code": 409}},
            {"responseStatus": {}},
            {"requestURI": "/api/v1/namespaces/ml/pods/llama-0-a-x?dryRun=All"},
            {"requestObject": {"dryRun": ["All"]}},
        ],
        ids=str,
    )
    def test_af001_a_deletion_without_effect_deletes_nothing(self, other: Json, tmp_path: Path) -> None:
        life = Life()
        life.requests.add("delete", deleted(life.pod), ALICE, **other)
        assert life.deletions(tmp_path) == {}
        assert life.newest(tmp_path) == life.pod

    def test_af001_scale_and_binding_change_the_object(self, tmp_path: Path) -> None:
        life = Life()
        scale = {"kind": "Scale", "metadata": {"resourceVersion": "90"}, "spec": {"replicas": 3}}
        life.requests.add("patch", life.root, ALICE, "scale", responseObject=scale)
        bound = {"kind": "Status", "status": "Success"}
        target = {"target": {"kind": "Node", "name": "gpu-7"}}
        life.requests.add("create", life.pod, OPERATOR, "binding", responseObject=bound, requestObject=target)
        record = read([written(tmp_path, "made.log", life.requests.log)])
        root, pod = record.objects.newest(ObjectKey("PodCliqueSet", "ml", "llama")), record.objects.newest(KEY)
        assert root is not None
        assert pod is not None
        assert root["spec"]["replicas"] == 3
        assert pod["spec"]["nodeName"] == "gpu-7"
        assert pod["status"]["conditions"][0]["type"] == "PodScheduled"
        assert not record.writes_without_content

    def test_af001_other_parts_of_objects_change_nothing(self, tmp_path: Path) -> None:
        life = Life()
        life.requests.add("create", life.pod, ALICE, "exec", responseObject=None)
        assert life.newest(tmp_path) == life.pod


class TestWriters:
    """The cause of a deletion is sought by its writer."""

    @pytest.mark.parametrize(
        ("by", "role"),
        [
            (ALICE, WriterRole.CLIENT),
            (("system:serviceaccount:argo:sync", "argocd/v3"), WriterRole.CLIENT),
            (("system:kube-scheduler", "kube-scheduler/v1.35"), WriterRole.SCHEDULER),
            (("system:serviceaccount:kube-system:node-controller", "kube-controller-manager/v1"), WriterRole.NODE),
            (("kcm", "kube-controller-manager/v1 (x) kubernetes/a/taint-eviction-controller"), WriterRole.NODE),
            (("system:serviceaccount:kube-system:namespace-controller", ""), WriterRole.NAMESPACE),
            (("system:serviceaccount:kube-system:job-controller", "kube-controller-manager/v1"), WriterRole.CONTROLLER),
        ],
    )
    def test_af006_another_client_is_the_cause_itself(
        self, by: tuple[str, str], role: WriterRole, tmp_path: Path
    ) -> None:
        life = Life()
        life.requests.add("delete", deleted(life.pod, grace=30), by)
        (pod,) = life.deletions(tmp_path).values()
        assert (pod.cause.kind, pod.role) == (DeletionCauseClass.WRITER, role)

    def test_af006_an_eviction_is_a_deletion(self, tmp_path: Path) -> None:
        life = Life()
        done = {"kind": "Status", "status": "Success"}
        life.requests.add("create", life.pod, ALICE, "eviction", responseObject=done)
        life.requests.add("delete", deleted(life.pod), KUBELET)
        (pod,) = life.deletions(tmp_path).values()
        assert (pod.cause.kind, pod.role) == (DeletionCauseClass.WRITER, WriterRole.EVICTION)
        assert pod.gone is not None

    def test_af006_parts_go_with_their_owner(self, tmp_path: Path) -> None:
        life = Life()
        life.requests.add("delete", deleted(life.root), ALICE)
        life.requests.add("delete", deleted(life.clique), COLLECTOR)
        life.requests.add("delete", deleted(life.pod, grace=30), COLLECTOR)
        found = life.deletions(tmp_path)
        assert found["llama-0-a"].cause.kind is DeletionCauseClass.OWNER
        assert found["llama-0-a-x"].origin is found["llama"]
        assert found["llama"].role is WriterRole.CLIENT

    def test_af006_a_user_is_not_the_operator_although_the_rules_delete_it(self, tmp_path: Path) -> None:
        """The set is scaled to nothing, so the operator would delete the PodClique; alice does it first."""
        life = Life()
        emptied = life.requests.item("PodCliqueSet", "llama", spec={**SPEC, "replicas": 0})
        life.requests.add("patch", emptied, ALICE)
        life.requests.add("delete", deleted(life.clique), ALICE)
        assert life.deletions(tmp_path)["llama-0-a"].cause.kind is DeletionCauseClass.WRITER

    def test_af007_the_operator_scales_in(self, tmp_path: Path) -> None:
        life = Life()
        emptied = life.requests.item("PodCliqueSet", "llama", spec={**SPEC, "replicas": 0})
        life.requests.add("patch", emptied, ALICE)
        life.requests.add("delete", deleted(life.clique), OPERATOR)
        cause = life.deletions(tmp_path)["llama-0-a"].cause
        assert cause.kind is DeletionCauseClass.RULES
        assert cause.reasons is not None
        assert cause.reasons.because[0].rule.code in {"SurplusReplica", "SurplusClique"}

    @pytest.mark.parametrize(
        ("seconds", "kind"), [(1, DeletionCauseClass.RULES), (12, DeletionCauseClass.NOT_EXPLAINED)]
    )
    def test_af007_the_operator_may_act_on_what_has_changed_since(
        self, seconds: int, kind: DeletionCauseClass, tmp_path: Path
    ) -> None:
        """The set is scaled to nothing and back; a while later the operator deletes the PodClique."""
        life = Life()
        for replicas in (0, 1):
            edited = life.requests.item("PodCliqueSet", "llama", spec={**SPEC, "replicas": replicas})
            life.requests.add("patch", edited, ALICE)
        for _ in range(seconds):
            life.requests.add("patch", life.root, ALICE, "status")
        life.requests.add("delete", deleted(life.clique), OPERATOR)
        found = life.deletions(tmp_path)["llama-0-a"]
        assert found.cause.kind is kind
        assert found.cause.decided_on is None or found.cause.decided_on < found.at


class TestOnlyTheEnd:
    """A log of one of several API servers, or one that begins late, has the end of a deletion alone."""

    def test_af016_a_kubelet_only_ends_a_deletion(self, tmp_path: Path) -> None:
        life = Life()
        life.requests.add("delete", deleted(life.pod), KUBELET)
        (pod,) = life.deletions(tmp_path).values()
        assert (pod.cause.kind, pod.role) == (DeletionCauseClass.NOT_KNOWN, WriterRole.KUBELET)
        assert "by the kubelet of its node" in pod.cause.gaps[0][1]
        assert pod.gone is not None

    def test_af016_a_part_whose_owner_is_not_seen_to_go(self, tmp_path: Path) -> None:
        life = Life()
        life.requests.add("delete", deleted(life.pod, grace=30), COLLECTOR)
        (pod,) = life.deletions(tmp_path).values()
        assert (pod.cause.kind, pod.owner) == (DeletionCauseClass.NOT_KNOWN, None)
        assert "PodClique llama-0-a" in pod.cause.gaps[0][1]

    def test_af006_an_owner_whose_deletion_has_no_content(self, tmp_path: Path) -> None:
        life = Life()
        life.requests.add("delete", life.clique, ALICE, responseObject=None)
        life.requests.add("delete", deleted(life.pod, grace=30), COLLECTOR)
        found = life.deletions(tmp_path)
        assert found["llama-0-a-x"].cause.kind is DeletionCauseClass.OWNER
        assert found["llama-0-a-x"].owner is found["llama-0-a"]


class TestEdits:
    """An edit has the user of the request that made it, or none."""

    @pytest.mark.parametrize(
        ("part", "generations", "user"),
        [("", 1, "alice"), ("scale", 1, "alice"), ("status", 1, ""), ("", 2, "")],
        ids=["a write of the spec", "a scaling", "a write of the status", "after an edit that is not on record"],
    )
    def test_af017_a_request_that_can_have_made_it(
        self, part: str, generations: int, user: str, tmp_path: Path
    ) -> None:
        life, edited = Life(), {"roleName": "a", "replicas": 2}
        before = life.requests.item("PodClique", "llama-0-a", life.root, spec=CLIQUE, metadata={"generation": 3})
        life.requests.add("patch", before, OPERATOR, "status")
        metadata = {"generation": 3 + generations}
        after = life.requests.item("PodClique", "llama-0-a", life.root, spec=edited, metadata=metadata)
        life.requests.add("patch", after, ALICE, part, **_response(after, part))
        record = read([written(tmp_path, "made.log", life.requests.log)])
        (edit,) = [one for one in record.happenings if one.kind is HappeningKind.EDITED]
        assert edit.writer == user
        assert edit.text.startswith("edited: spec.replicas 1 -> 2")
        assert ("; that request is not on record" in edit.text) == (not user)


def _response(item: Json, part: str) -> Json:
    """The response to a write: of a scaling it is a Scale."""
    if part != "scale":
        return {}
    replicas = {"replicas": item["spec"]["replicas"]}
    return {"responseObject": {"kind": "Scale", "metadata": item["metadata"], "spec": replicas}}


class TestFirstDeletions:
    """The first request that deletes an object is its deletion."""

    def test_af009_what_ends_a_pod_is_not_its_cause(self, tmp_path: Path) -> None:
        life = Life()
        life.requests.add("delete", deleted(life.pod, grace=30), ALICE)
        life.requests.add("delete", deleted(life.pod), KUBELET)
        (pod,) = life.deletions(tmp_path).values()
        assert pod.role is WriterRole.CLIENT
        assert (pod.at - START).total_seconds() == 4

    def test_af009_also_without_content(self, tmp_path: Path) -> None:
        life = Life()
        for by in (ALICE, KUBELET):
            life.requests.add("delete", life.pod, by, responseObject=None)
        (pod,) = life.deletions(tmp_path).values()
        assert pod.role is WriterRole.CLIENT
        assert pod.gone is not None

    def test_af009_a_collection_is_one_request(self, tmp_path: Path) -> None:
        life = Life()
        items = {"kind": "PodList", "apiVersion": "v1", "items": [life.pod]}
        life.requests.add("deletecollection", life.pod, ALICE, responseObject=items)
        (pod,) = life.deletions(tmp_path).values()
        assert pod.role is WriterRole.CLIENT
        assert pod.gone is None
