"""What is read from a PodClique, and from the labels and names of all families in the field."""

from typing import Any, Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from grove_core.kernel.errors import MalformedObject
from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.refs import Guard, Ref
from grove_core.resources.api_names import GROVE
from grove_core.resources.api_names import MIN_AVAILABLE_BREACHED as OWN
from grove_core.resources.labels import GROUP_REPLICA, SET_REPLICA, LabelKeys
from grove_core.resources.podclique import CliqueStatus, PodClique, podclique_from_json
from grove_core.resources.scaling_group import scaling_group_from_json
from tests.property.resources.manifests import (
    SINCE,
    Json,
    almost,
    any_json,
    clique,
    condition,
    is_there,
    meta,
    outcome,
    owner,
)

META: Final[dict[str, Any]] = {
    "name": "llm-0-a",
    "namespace": "ml",
    "uid": "u",
    "resourceVersion": "1",
    "generation": 3,
}
LABELS: Final = {"app.kubernetes.io/part-of": "llm", "grove.io/podcliqueset-replica-index": "0"}
OWNED: Final = [{"kind": "PodCliqueSet", "name": "llm", "uid": "s", "controller": True}]

GROUP: Final = owner("uid-pool", kind="PodCliqueScalingGroup", name="llm-0-pool")
ENDED: Final = {"updateStartedAt": SINCE, "updateEndedAt": SINCE, "podTemplateHash": "h2"}
RUNNING: Final = {"updateStartedAt": SINCE, "podTemplateHash": "h2"}
SOUND: Final = clique(
    labels={
        "app.kubernetes.io/part-of": "llm",
        "grove.io/podcliqueset-replica-index": "0",
        "grove.io/pod-template-hash": "h1",
    },
    replicas=3,
    readyReplicas=2,
    scheduledReplicas=3,
    scheduleGatedReplicas=0,
    updatedReplicas=1,
    wasAvailable=True,
    updateProgress=RUNNING,
    currentPodTemplateHash="h0",
    conditions=[condition("MinAvailableBreached", "False")],
)


def member(name: str = "llm-0-pool-1-worker", **labels: str) -> Json:
    return clique(name, owned_by=GROUP, labels=labels)


def paths_of(raw: Any) -> list[str]:
    with pytest.raises(MalformedObject) as caught:
        podclique_from_json(raw)
    return [problem.path for problem in caught.value.problems]


class TestFields:
    """A PodClique is read as far as decisions look at it."""

    def test_every_fact_is_read(self) -> None:
        known = podclique_from_json(SOUND)
        assert known.ref == known.ref == Ref("grove.io/v1alpha1", "PodClique", "ml", "llm-0-router")
        assert known.guard == Guard("uid-llm-0-router", "7")
        assert (known.owner_uid, known.owner_kind, known.owner_name) == (
            "uid-llm",
            "PodCliqueSet",
            "llm",
        )
        assert (known.replica_index, known.group_replica_index) == (0, -1)
        assert (known.replicas, known.min_available, known.template_hash) == (3, 2, "h1")
        assert known.status == CliqueStatus(
            recorded=True,
            replicas=3,
            ready=2,
            scheduled=3,
            gated=0,
            updated=1,
            was_available=True,
            updating=True,
            update_hash="h2",
            progress=FrozenMap(RUNNING),
            current_hash="h0",
            conditions=known.status.conditions,
        )
        assert [stored.type for stored in known.status.conditions] == ["MinAvailableBreached"]

    @pytest.mark.parametrize("status", [None, {}])
    def test_gt016_no_status_is_no_record(self, status: Json | None) -> None:
        assert podclique_from_json({**clique(), "status": status}).status == CliqueStatus()

    @pytest.mark.parametrize("written", [True, False, None])
    def test_gt015_a_status_without_was_available_stays_without_it(self, written: bool | None) -> None:
        status = podclique_from_json(clique(replicas=0, wasAvailable=written)).status
        assert status == CliqueStatus(recorded=True, replicas=0, was_available=written)

    def test_gt023_a_deletion_that_was_accepted_is_seen(self) -> None:
        raw = {**clique(), "metadata": {**clique()["metadata"], "deletionTimestamp": SINCE}}
        assert podclique_from_json(raw).deleting
        assert not podclique_from_json(clique()).deleting

    @pytest.mark.parametrize(
        ("spec", "replicas", "needed"),
        [
            ({"replicas": 4, "minAvailable": 1}, 4, 1),
            ({"replicas": 4, "minAvailable": None}, 4, 4),
            ({"replicas": None, "minAvailable": None}, 1, 1),
            ({"replicas": None, "minAvailable": 1}, 1, 1),
            ({"replicas": 0, "minAvailable": 2}, 0, 2),
            ({"replicas": 1, "minAvailable": 3}, 1, 3),
        ],
    )
    def test_gt025_a_threshold_that_is_not_written_is_the_replicas(
        self, spec: Json, replicas: int, needed: int
    ) -> None:
        known = podclique_from_json(clique(spec=spec))
        assert (known.replicas, known.min_available) == (replicas, needed)

    @pytest.mark.parametrize(
        ("progress", "label", "current", "target"),
        [
            (RUNNING, "h1", "h0", "h2"),
            (ENDED, "h1", "h0", "h2"),
            ({"updateStartedAt": SINCE}, "h1", "h0", "h1"),
            (None, "h1", "h0", "h1"),
            (None, None, "h0", "h0"),
            (None, None, None, ""),
        ],
    )
    def test_gt002_the_target_is_that_of_the_update_else_the_label_else_the_stored_one(
        self, progress: Json | None, label: str | None, current: str | None, target: str
    ) -> None:
        labels = {"grove.io/pod-template-hash": label}
        known = podclique_from_json(clique(labels=labels, updateProgress=progress, currentPodTemplateHash=current))
        assert known.target_template_hash == target


class TestGT018:
    """An update of a PodClique or scaling group MUST count as running while its ``status.updateProgress`` (or its older
    name ``rollingUpdateProgress``) is present without ``updateEndedAt``. An update of the set changes no verdict on a
    breach or termination.
    """

    @pytest.mark.parametrize("key", ["updateProgress", "rollingUpdateProgress"])
    @pytest.mark.parametrize(
        ("progress", "runs"),
        [(RUNNING, True), ({}, True), (ENDED, False), ({**ENDED, "updateEndedAt": None}, True), (None, False)],
        ids=["running", "empty", "ended", "end is null", "null"],
    )
    def test_both_spellings_are_read(self, key: str, progress: Json | None, runs: bool) -> None:
        status: Json = {key: progress}
        assert podclique_from_json(clique(**status)).status.updating is runs

    def test_without_progress_nothing_runs(self) -> None:
        assert not podclique_from_json(clique(replicas=3)).status.updating

    @pytest.mark.parametrize(("newer", "older", "runs"), [(ENDED, RUNNING, False), (RUNNING, ENDED, True)])
    def test_the_newer_spelling_wins(self, newer: Json, older: Json, runs: bool) -> None:
        status = podclique_from_json(clique(updateProgress=newer, rollingUpdateProgress=older)).status
        assert status.updating is runs

    def test_an_absent_newer_spelling_leaves_it_to_the_older(self) -> None:
        status = podclique_from_json(clique(updateProgress=None, rollingUpdateProgress=RUNNING)).status
        assert (status.updating, status.update_hash) == (True, "h2")

    @pytest.mark.parametrize("key", ["updateProgress", "rollingUpdateProgress"])
    def test_its_faults_are_reported_where_they_are(self, key: str) -> None:
        whole: Json = {key: "soon"}
        parts: Json = {key: {"updateEndedAt": "soon", "podTemplateHash": 5}}
        assert paths_of(clique(**whole)) == [f"status.{key}"]
        assert paths_of(clique(**parts)) == [
            f"status.{key}.updateEndedAt",
            f"status.{key}.podTemplateHash",
        ]


@pytest.mark.req("GT-026")
class TestPlaces:
    """Which set, which replica of it, which replica of a scaling group."""

    @pytest.mark.parametrize("key", SET_REPLICA.keys)
    def test_the_replica_is_read_from_a_label_of_any_family(self, key: str) -> None:
        assert podclique_from_json(clique("router", labels={key: "12"})).replica_index == 12
        assert podclique_from_json(member(**{key: "12"})).replica_index == 12

    @pytest.mark.parametrize("key", GROUP_REPLICA.keys)
    def test_the_replica_of_the_group_is_read_from_a_label_of_any_family(self, key: str) -> None:
        assert podclique_from_json(member("worker", **{key: "12"})).group_replica_index == 12
        assert podclique_from_json(clique(labels={key: "12"})).group_replica_index == -1

    @pytest.mark.parametrize(
        ("label", "field"), [(SET_REPLICA, "replica_index"), (GROUP_REPLICA, "group_replica_index")]
    )
    def test_the_first_label_that_says_something_wins(self, label: LabelKeys, field: str) -> None:
        elsewhere = {GROUP_REPLICA.keys[-1]: "7"}  # its name carries no index
        labels = {key: str(number) for number, key in enumerate(label.keys)}
        known, skipped = (
            podclique_from_json(member("worker", **{**elsewhere, **given}))
            for given in (labels, {**labels, label.primary: ""})
        )
        assert (getattr(known, field), getattr(skipped, field)) == (0, 1)

    def test_without_labels_a_standalone_clique_is_placed_by_its_name(self) -> None:
        known = podclique_from_json(clique("llm-7-router"))
        assert (known.replica_index, known.group_replica_index) == (7, -1)

    def test_without_labels_a_member_is_placed_by_its_name(self) -> None:
        known = podclique_from_json(member("llm-0-pool-4-worker"))
        assert (known.replica_index, known.group_replica_index) == (-1, 4)

    def test_the_name_wins_over_a_label(self) -> None:
        """A label can be edited."""
        assert podclique_from_json(clique("llm-7-router", labels={SET_REPLICA.primary: "3"})).replica_index == 7
        assert (
            podclique_from_json(member("llm-0-pool-4-worker", **{GROUP_REPLICA.primary: "3"})).group_replica_index == 4
        )

    @pytest.mark.parametrize(
        "name", ["other-0-router", "llm-router", "llm-x-router", "llm-0", "llm-", "llm", "llm0-1-r"]
    )
    def test_a_name_that_says_no_replica_needs_a_label(self, name: str) -> None:
        assert paths_of(clique(name)) == [f"metadata.labels[{SET_REPLICA.primary}]"]
        assert podclique_from_json(clique(name, labels={SET_REPLICA.design: "3"})).replica_index == 3

    def test_without_owner_and_label_nothing_says_the_replica(self) -> None:
        assert paths_of({"metadata": meta("llm-0-router")}) == [f"metadata.labels[{SET_REPLICA.primary}]"]

    @pytest.mark.parametrize(
        "text",
        ["-1", "+1", "1.0", "one", " 1", "1 ", "0x1", "\N{SUPERSCRIPT TWO}", "\N{ARABIC-INDIC DIGIT TWO}", "9" * 5_000],
    )
    def test_an_index_is_a_number_from_zero_on(self, text: str) -> None:
        assert paths_of(clique(labels={SET_REPLICA.keys[2]: text})) == [f"metadata.labels[{SET_REPLICA.primary}]"]
        assert paths_of(member(**{GROUP_REPLICA.design: text})) == [f"metadata.labels[{GROUP_REPLICA.primary}]"]

    def test_an_endless_number_in_a_name_is_no_index(self) -> None:
        assert paths_of(clique(f"llm-{'9' * 5_000}-router")) == [f"metadata.labels[{SET_REPLICA.primary}]"]

    @given(st.integers(0, 10**6), st.integers(0, 10**6))
    def test_names_are_read_back(self, replica: int, group_replica: int) -> None:
        assert podclique_from_json(clique(f"llm-{replica}-router")).replica_index == replica
        assert podclique_from_json(member(f"llm-0-pool-{group_replica}-worker")).group_replica_index == group_replica


class TestFaults:
    """A PodClique that does not read is refused, with every fault and where it is."""

    @pytest.mark.parametrize(
        ("raw", "paths"),
        [
            ([], ["", "metadata.name", f"metadata.labels[{SET_REPLICA.primary}]"]),
            ({"metadata": 5}, ["metadata", "metadata.name", f"metadata.labels[{SET_REPLICA.primary}]"]),
            (clique(labels={"grove.io/pod-template-hash": 5}), ["metadata.labels.grove.io/pod-template-hash"]),
            (clique(spec={"replicas": -1}), ["spec.replicas"]),
            (clique(spec={"replicas": 2**31}), ["spec.replicas"]),
            (clique(spec={"replicas": 2.0}), ["spec.replicas"]),
            (clique(spec={"replicas": True}), ["spec.replicas"]),
            (clique(spec={"minAvailable": 0}), ["spec.minAvailable"]),
            (clique(spec={"minAvailable": "two"}), ["spec.minAvailable"]),
            ({**clique(), "spec": []}, ["spec"]),
            ({**clique(), "status": "up"}, ["status"]),
            (clique(wasAvailable="true"), ["status.wasAvailable"]),
            (clique(currentPodTemplateHash=5), ["status.currentPodTemplateHash"]),
            (clique(replicas=-1), ["status.replicas"]),
            (clique(readyReplicas="2"), ["status.readyReplicas"]),
            (clique(scheduledReplicas=1.5), ["status.scheduledReplicas"]),
            (clique(scheduleGatedReplicas=False), ["status.scheduleGatedReplicas"]),
            (clique(updatedReplicas={}), ["status.updatedReplicas"]),
            (
                clique(owned_by=owner() | {"uid": ""}),
                ["metadata.ownerReferences[0].uid", f"metadata.labels[{SET_REPLICA.primary}]"],
            ),
        ],
        ids=lambda value: " ".join(value) if isinstance(value, list) and value else "",
    )
    def test_a_fault_has_its_path(self, raw: Any, paths: list[str]) -> None:
        assert paths_of(raw) == paths

    def test_all_faults_are_reported_at_once(self) -> None:
        raw = clique("router", spec={"replicas": "3", "minAvailable": -1}, wasAvailable=1, conditions=[{"type": OWN}])
        assert set(paths_of(raw)) == {
            "spec.replicas",
            "spec.minAvailable",
            f"metadata.labels[{SET_REPLICA.primary}]",
            "status.conditions[0].status",
            "status.conditions[0].lastTransitionTime",
            "status.wasAvailable",
        }

    @given(any_json() | almost(SOUND))
    @example(raw=SOUND)
    def test_any_json_is_a_clique_or_malformed(self, raw: Any) -> None:
        known = outcome(podclique_from_json, raw)
        assert outcome(podclique_from_json, raw) == known
        if isinstance(known, PodClique):
            assert known.ref.name
            assert known.min_available >= 1
            assert known.replica_index >= -1
            return
        assert known
        assert len(set(known)) == len(known)
        for problem in known:
            assert is_there(raw, problem.path, {other.path for other in known}), problem


@given(st.integers(0, 12), st.sampled_from(["0", "7", None]), st.sampled_from(["llm", "other", None]))
def test_gt026_a_member_is_of_the_replica_that_its_group_is_called_after(
    index: int, label: str | None, set_name: str | None
) -> None:
    """Also where the group is gone and cannot be read; the label counts where the name carries no index."""
    said = {"grove.io/podcliqueset-replica-index": label, "grove.io/podcliqueset": set_name}
    labels = {"grove.io/podcliquescalinggroup-replica-index": "0"} | {key: text for key, text in said.items() if text}
    owner = {"apiVersion": GROVE, "kind": "PodCliqueScalingGroup", "name": f"llm-{index}-g", "uid": "g"}
    meta = {"name": f"llm-{index}-g-0-b", "labels": labels, "ownerReferences": [{**owner, "controller": True}]}
    clique = podclique_from_json({"metadata": meta, "spec": {"podSpec": {}}})
    assert clique.replica_index == (index if set_name == "llm" else int(label or -1))


def test_gt052_what_was_read_of_parts_has_its_generation_and_base_gang() -> None:
    labels = {**LABELS, "grove.io/base-podgang": "llm-0"}
    meta = {**META, "labels": labels, "ownerReferences": OWNED}
    clique = podclique_from_json({"metadata": meta, "spec": {"podSpec": {}}})
    group = scaling_group_from_json({"metadata": meta, "spec": {"cliqueNames": ["a"]}})
    assert (clique.generation, clique.base_gang, group.generation) == (3, "llm-0", 3)
