"""Manifests that are read beside a cluster: new sets, edits of those there are, and what they say twice."""

import io
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from grove_shell.cli.main import run_command_line
from grove_shell.reading.cluster_reading import load_input_files
from grove_shell.reading.input_completeness import LoadedInput
from tests.kubectl_yaml import items_in
from tests.reading.dump_edits import EXAMPLE, NOW, Json, loaded, named, pods_of, write


class TestIN040:
    """A kind MUST count as completely collected in a namespace where a server listed it or the input has objects of it.
    It counts as missing where other objects refer to some of it. Pods that a selector left out are named above the
    plan.
    """

    def test_what_is_there_is_complete(self, tmp_path: Path, items: list[Json]) -> None:
        kinds = {item["kind"] for item in items}
        assert loaded(tmp_path / "c.json", items).cluster.complete == {(kind, "inference") for kind in kinds}
        (root, *_) = loaded(tmp_path / "c.json", items).cluster.sets
        snapshot = loaded(tmp_path / "c.json", items).cluster.snapshot_of(root, datetime(2026, 11, 20, tzinfo=UTC))
        assert snapshot.complete == kinds

    def test_a_foreign_service_shows_that_services_were_listed(self, tmp_path: Path, items: list[Json]) -> None:
        service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "dns", "namespace": "inference"}}
        found = loaded(tmp_path / "c.json", [*items, service])
        assert ("Service", "inference") in found.cluster.complete
        assert dict(found.ignored) == {"Service": 1}

    def test_a_broken_object_makes_its_kind_incomplete(self, tmp_path: Path, items: list[Json]) -> None:
        broken = json.loads(json.dumps(pods_of(items, "gemma-0-router")[0]))
        broken["metadata"]["uid"] = 5
        others = [item for item in items if item["metadata"].get("name") != broken["metadata"]["name"]]
        complete = loaded(tmp_path / "c.json", [*others, broken]).cluster.complete
        assert ("Pod", "inference") not in complete
        assert ("PodClique", "inference") in complete

    def test_what_was_left_out_is_not_complete(self, tmp_path: Path, items: list[Json]) -> None:
        found = loaded(tmp_path / "c.json", [item for item in items if item["kind"] != "Pod"])
        assert "Pod" not in {kind for kind, _ in found.cluster.complete}


def manifest_of(items: list[Json], name: str) -> Json:
    """What its user wrote of a set in a dump."""
    (found,) = (item for item in items if item["kind"] == "PodCliqueSet" and item["metadata"]["name"] == name)
    meta = {"name": name, "namespace": found["metadata"]["namespace"]}
    return json.loads(json.dumps({**{key: found[key] for key in ("apiVersion", "kind", "spec")}, "metadata": meta}))  # type: ignore[no-any-return]  # JSON in, JSON out


def changes_in(capsys: pytest.CaptureFixture[str], *paths: str) -> list[tuple[str, str]]:
    """Whatever a plan writes besides statuses, in order."""
    files = [word for path in paths for word in ("-f", path)]
    assert run_command_line(["plan", *files, "--now", "2026-11-21T09:40:15Z", "-o", "json"], "grove") == 0
    rounds = [one for plan in json.loads(capsys.readouterr().out)["plans"] for one in plan["rounds"]]
    written = [(step["action"], step["target"]["name"]) for one in rounds for step in one["steps"]]
    return [(action, name) for action, name in written if action != "setStatus"]


class TestIN041:
    """A PodCliqueSet without ``uid`` MUST be admitted as an update of the stored set with its namespace and name, or of
    the only stored set with its name. That set is planned as if the manifest had just been applied.
    """

    @pytest.mark.parametrize("dump", ["degraded.yaml", "real-cluster.yaml"])
    def test_what_runs_applied_again_changes_nothing(
        self, dump: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """The dumps that we ship have what a server stores, so a manifest that says the same restarts nothing."""
        path = EXAMPLE.parent / dump
        sets = [item for item in items_in(path) if item["kind"] == "PodCliqueSet"]
        again = write(tmp_path / "again.json", [manifest_of(sets, one["metadata"]["name"]) for one in sets])
        assert changes_in(capsys, str(path), again) == changes_in(capsys, str(path))

    def test_the_set_is_planned_as_if_it_had_been_applied(self, tmp_path: Path, items: list[Json]) -> None:
        manifest = manifest_of(items, "gemma")
        manifest["spec"]["replicas"] = 5
        manifest["metadata"]["labels"] = {"team": "x"}
        for namespace in ("inference", None):
            manifest["metadata"]["namespace"] = namespace
            found = loaded(tmp_path / "c.json", [manifest, *items])
            assert (found.faults, found.edited) == ((), ("inference/gemma",))
            (root,) = (root for root in found.cluster.sets if root.ref.name == "gemma")
            before = next(item for item in items if item["metadata"]["name"] == "gemma")["metadata"]
            assert (root.spec.replicas, root.labels["team"], root.uid) == (5, "x", before["uid"])
            assert root.generation == before["generation"] + 1
            assert root.resource_version != before["resourceVersion"]

    def test_what_admission_would_warn_of_is_reported(
        self, tmp_path: Path, items: list[Json], capsys: pytest.CaptureFixture[str]
    ) -> None:
        manifest = manifest_of(items, "gemma")
        manifest["spec"]["template"]["cliques"][0]["spec"]["replicas"] += 3
        path, more = write(tmp_path / "c.json", items), write(tmp_path / "m.json", [manifest])
        assert run_command_line(["plan", "-f", path, "-f", more, *NOW, "gemma"], "grove") == 0
        words = "warning: PodCliqueSet inference/gemma: spec.template.cliques[0].spec.replicas"
        assert words in capsys.readouterr().out

    def test_an_update_that_is_refused_is_a_fault(self, tmp_path: Path, items: list[Json]) -> None:
        manifest = manifest_of(items, "gemma")
        manifest["spec"]["template"]["cliques"][0]["name"] = "another"
        found = loaded(tmp_path / "c.json", [*items, manifest])
        assert [fault.path for fault in found.faults] == ["spec.template.cliques"]
        assert found.edited == ()

    def test_two_manifests_of_one_set_are_one_too_many(self, tmp_path: Path, items: list[Json]) -> None:
        manifest = manifest_of(items, "gemma")
        other = {**manifest, "metadata": {**manifest["metadata"], "labels": {"team": "x"}}}
        found = loaded(tmp_path / "c.json", [*items, manifest, other])
        assert [(fault.path, fault.got) for fault in found.faults] == [("metadata.name", "2 that differ")] * 2
        assert found.edited == ()

    @pytest.mark.req("IN-032")
    def test_the_same_manifest_twice_is_one(self, tmp_path: Path, items: list[Json]) -> None:
        manifest = manifest_of(items, "gemma")
        found = loaded(tmp_path / "c.json", [*items, manifest, manifest])
        assert (found.faults, found.edited) == ((), ("inference/gemma",))
        alone = loaded(tmp_path / "d.json", [manifest, manifest])
        assert (alone.faults, len(alone.cluster.sets)) == ((), 1)

    def test_a_manifest_of_a_set_of_which_two_stand_there_is_no_new_set(
        self, tmp_path: Path, items: list[Json]
    ) -> None:
        """The object it edits is unknown; the fault is that of the sets."""
        other = json.loads(json.dumps(named(items, "PodCliqueSet", "gemma")))
        other["metadata"]["resourceVersion"] = "another"
        found = loaded(tmp_path / "c.json", [*items, other, manifest_of(items, "gemma")])
        assert [fault.got for fault in found.faults] == ["a second one that differs"]
        assert "gemma" not in {root.ref.name for root in found.cluster.sets}

    def test_a_set_of_another_namespace_is_another_set(self, tmp_path: Path, items: list[Json]) -> None:
        manifest = manifest_of(items, "gemma")
        manifest["metadata"]["namespace"] = "elsewhere"
        found = loaded(tmp_path / "c.json", [*items, manifest])
        assert (found.faults, found.edited) == ((), ())
        assert [root.uid for root in found.cluster.sets if root.ref.namespace == "elsewhere"] == [""]

    def test_the_page_says_what_an_edit_restarts(
        self, tmp_path: Path, items: list[Json], capsys: pytest.CaptureFixture[str]
    ) -> None:
        manifest = manifest_of(items, "gemma")
        manifest["spec"]["template"]["cliques"][0]["spec"]["podSpec"]["containers"][0]["image"] = "another:2"
        path = write(tmp_path / "c.json", items)
        assert (
            run_command_line(["plan", "-f", path, "-f", write(tmp_path / "m.json", [manifest]), *NOW, "gemma"], "grove")
            == 0
        )
        said = capsys.readouterr().out
        assert "as if the manifest in the input had just been applied to inference/gemma" in said
        assert said.startswith("restarts 1 pod, one at a time; ")


@pytest.mark.req("IN-039")
class TestNamespaceOfManifests:
    """Manifests without a namespace, with ``-n``."""

    @pytest.mark.parametrize(
        ("named", "asked", "planned"),
        [(None, "inference", "inference/new"), ("", "ml", "ml/new"), ("inference", "inference", "inference/new")],
    )
    def test_a_new_set(
        self,
        named: str | None,
        asked: str,
        planned: str,
        tmp_path: Path,
        items: list[Json],
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        manifest = manifest_of(items, "gemma")
        manifest["metadata"] = {"name": "new", "namespace": named}
        path, more = write(tmp_path / "c.json", items), write(tmp_path / "m.json", [manifest])
        assert run_command_line(["plan", "-f", path, "-f", more, *NOW, "-n", asked], "grove") == 0
        assert f"\n{planned}  0 of 1 replica available\n" in capsys.readouterr().out

    def test_what_names_another_one_stays_there(self, tmp_path: Path, items: list[Json]) -> None:
        manifest = manifest_of(items, "gemma")
        manifest["metadata"] = {"name": "new", "namespace": "elsewhere"}
        path = write(tmp_path / "m.json", [manifest])
        (root,) = load_input_files([path], io.BytesIO(), namespace="inference").cluster.sets
        assert root.ref.namespace == "elsewhere"

    def test_its_templates_go_with_it(self, tmp_path: Path) -> None:
        template = {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceClaimTemplate",
            "metadata": {"name": "cache"},
            "spec": {"spec": {}},
        }
        found = load_input_files([write(tmp_path / "t.json", [template])], io.BytesIO(), namespace="ml")
        assert list(found.cluster.claim_templates) == [("ml", "cache")]

    def test_a_set_of_that_name_elsewhere_is_another_one(self, tmp_path: Path, items: list[Json]) -> None:
        manifest = manifest_of(items, "gemma")
        del manifest["metadata"]["namespace"]
        path = write(tmp_path / "m.json", [manifest, *items])
        assert load_input_files([path], io.BytesIO(), namespace="inference").edited == ("inference/gemma",)
        assert load_input_files([path], io.BytesIO(), namespace="ml").edited == ()


class TestIN039:
    """A PodCliqueSet without ``uid`` MUST be read in the namespace of ``-n``, with defaults, and be judged as strictly
    as by an API server, claim templates included. Every objection is reported. A set with a ``uid`` is stored, and
    judged only as an update.
    """

    def bare(self, **clique: object) -> Json:
        spec = {"roleName": "a", "podSpec": {"containers": [{"name": "main"}]}, **clique}
        cliques = [{"name": "a", "spec": spec}]
        return {
            "apiVersion": "grove.io/v1alpha1",
            "kind": "PodCliqueSet",
            "metadata": {"name": "llm"},
            "spec": {"replicas": 1, "template": {"cliques": cliques}},
        }

    def read(self, tmp_path: Path, raw: Json) -> LoadedInput:
        path = tmp_path / "set.json"
        path.write_text(json.dumps(raw), encoding="utf-8")
        return load_input_files([str(path)], io.BytesIO(), raising=False)

    def test_with_its_defaults(self, tmp_path: Path) -> None:
        (root,) = self.read(tmp_path, self.bare()).cluster.sets
        (clique,) = root.spec.template.cliques
        assert (root.ref.namespace, clique.spec.replicas, clique.spec.min_available) == ("default", 1, 1)
        assert clique.spec.pod_spec["restartPolicy"] == "Always"

    def test_with_every_objection_to_it(self, tmp_path: Path) -> None:
        raw = self.bare(replicas=2, minAvailable=3, startsAfter=["ghost"])
        raw["spec"]["template"] |= {"cliqueStartupType": "CliqueStartupTypeExplicit"}
        raw["spec"]["template"]["podCliqueScalingGroups"] = [
            {"name": "g", "cliqueNames": ["a"], "terminationDelay": "1h"}
        ]
        found = self.read(tmp_path, raw)
        assert found.cluster.sets == ()
        assert {fault.path: fault.expected.split()[0] for fault in found.faults} == {
            "spec.template.cliques[0].spec.minAvailable": "between",
            "spec.template.cliques[0].spec.startsAfter[0]": "it",
            "spec.template.podCliqueScalingGroups[0].terminationDelay": "may",
        }

    def test_not_where_a_cluster_has_it(self, tmp_path: Path) -> None:
        raw = self.bare(replicas=2, minAvailable=3)
        raw["metadata"] |= {"uid": "u", "resourceVersion": "1"}
        found = self.read(tmp_path, raw)
        assert (len(found.cluster.sets), found.faults) == (1, ())


def sharing(name: str, **more: Any) -> Json:
    """A new set whose only clique shares a claim."""
    container = {"name": "main", "image": "x"}
    clique: Json = {"name": "a", "spec": {"roleName": "a", "replicas": 1, "podSpec": {"containers": [container]}}}
    clique["resourceSharing"] = [{"name": name, "scope": "AllReplicas", **more}]
    meta = {"name": "new", "namespace": "inference"}
    spec = {"replicas": 1, "template": {"cliques": [clique]}}
    return {"apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet", "metadata": meta, "spec": spec}


@pytest.mark.req("IN-039")
class TestSharedClaims:
    """Shared claims have a template, inline or in the input."""

    def test_a_template_that_is_nowhere_is_reported(self, tmp_path: Path) -> None:
        found = loaded(tmp_path / "c.json", [sharing("cache")])
        (fault,) = found.faults
        assert fault.path == "spec.template.cliques[0].resourceSharing[0].name"
        assert "inference/cache" in fault.expected
        assert found.cluster.sets == ()

    @pytest.mark.parametrize("namespace", ["", "inference", "elsewhere"])
    def test_one_that_is_in_the_input_is_found_by_its_namespace(self, tmp_path: Path, namespace: str) -> None:
        template = {
            "apiVersion": "resource.k8s.io/v1beta1",
            "kind": "ResourceClaimTemplate",
            "metadata": {"name": "cache", "namespace": namespace or "inference"},
            "spec": {"spec": {"devices": {}}},
        }
        more = {"namespace": namespace} if namespace else {}
        found = loaded(tmp_path / "c.json", [template, sharing("cache", **more)])
        assert found.faults == ()
        other = {**template, "metadata": {"name": "cache", "namespace": "a-third"}}
        assert loaded(tmp_path / "d.json", [other, sharing("cache", **more)]).faults


@pytest.mark.req("IN-032")
@pytest.mark.parametrize("kind", [[], {}, 7, None])
def test_a_kind_that_is_no_text_is_a_problem(kind: object, tmp_path: Path) -> None:
    path = tmp_path / "odd.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": kind, "metadata": {"name": "a"}}))
    (fault,) = load_input_files([str(path)], io.BytesIO(), namespace="ml", raising=False).faults
    assert (fault.path, fault.expected) == ("kind", "a string")
