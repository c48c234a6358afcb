"""What is read from a PodCliqueScalingGroup."""

from typing import Any, Final

import pytest
from hypothesis import example, given

from grove_core.kernel.errors import MalformedObject
from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.refs import Ref
from grove_core.resources.labels import SET_REPLICA
from grove_core.resources.scaling_group import GroupStatus, ScalingGroup, scaling_group_from_json
from tests.property.resources.manifests import SINCE, Json, almost, any_json, condition, group, is_there, meta, outcome

SOUND: Final = group(
    labels={"grove.io/podcliqueset": "llm", "grove.io/pcs-replica-index": "0"},
    replicas=3,
    scheduledReplicas=3,
    availableReplicas=2,
    rollingUpdateProgress={"updateStartedAt": SINCE},
    conditions=[condition("MinAvailableBreached", "Unknown")],
)


def paths_of(raw: Any) -> list[str]:
    with pytest.raises(MalformedObject) as caught:
        scaling_group_from_json(raw)
    return [problem.path for problem in caught.value.problems]


class TestFields:
    """A scaling group is read as far as decisions look at it."""

    def test_every_fact_is_read(self) -> None:
        known = scaling_group_from_json(SOUND)
        assert known.ref == Ref("grove.io/v1alpha1", "PodCliqueScalingGroup", "ml", "llm-0-pool")
        assert known.replica_index == 0
        assert (known.replicas, known.min_available, known.clique_names) == (3, 2, ("leader", "worker"))
        assert known.status == GroupStatus(
            replicas=3,
            scheduled=3,
            available=2,
            updating=True,
            old_spelling=True,
            progress=FrozenMap({"updateStartedAt": SINCE}),
            conditions=known.status.conditions,
        )
        assert [stored.type for stored in known.status.conditions] == ["MinAvailableBreached"]

    @pytest.mark.parametrize("status", [None, {}])
    def test_without_a_status_nothing_is_stored(self, status: Json | None) -> None:
        assert scaling_group_from_json({**group(), "status": status}).status == GroupStatus()

    @pytest.mark.parametrize(
        ("spec", "replicas", "needed"),
        [
            ({"replicas": 4, "minAvailable": 2}, 4, 2),
            ({"replicas": 4, "minAvailable": None}, 4, 1),
            ({"replicas": None, "minAvailable": None}, 1, 1),
            ({"replicas": 0, "minAvailable": None}, 0, 1),
        ],
    )
    def test_gt025_a_threshold_that_is_not_written_is_one(self, spec: Json, replicas: int, needed: int) -> None:
        known = scaling_group_from_json(group(spec=spec))
        assert (known.replicas, known.min_available) == (replicas, needed)

    @pytest.mark.parametrize("key", ["updateProgress", "rollingUpdateProgress"])
    @pytest.mark.parametrize("ended", [None, SINCE])
    def test_gt018_both_spellings_are_read(self, key: str, ended: str | None) -> None:
        status: Json = {key: {"updateStartedAt": SINCE, "updateEndedAt": ended}}
        assert scaling_group_from_json(group(**status)).status.updating is (ended is None)

    @pytest.mark.parametrize("key", SET_REPLICA.keys)
    def test_the_replica_is_read_from_a_label_of_any_family(self, key: str) -> None:
        assert scaling_group_from_json(group("pool", labels={key: "12"})).replica_index == 12
        assert scaling_group_from_json(group("llm-5-pool", labels={key: "12"})).replica_index == 5

    def test_without_labels_owner_and_name_say_both(self) -> None:
        known = scaling_group_from_json(group("llm-5-pool"))
        assert known.replica_index == 5


class TestFaults:
    """A scaling group that does not read is refused, with every fault and where it is."""

    @pytest.mark.parametrize(
        ("raw", "paths"),
        [
            ([], ["", "metadata.name", f"metadata.labels[{SET_REPLICA.primary}]"]),
            (group("pool"), [f"metadata.labels[{SET_REPLICA.primary}]"]),
            ({"metadata": meta("llm-0-pool")}, [f"metadata.labels[{SET_REPLICA.primary}]"]),
            (group(labels={SET_REPLICA.design: "-1"}), [f"metadata.labels[{SET_REPLICA.primary}]"]),
            (group(spec={"replicas": -1}), ["spec.replicas"]),
            (group(spec={"minAvailable": 0}), ["spec.minAvailable"]),
            (group(spec={"cliqueNames": "leader"}), ["spec.cliqueNames"]),
            (group(spec={"cliqueNames": ["leader", 5, None]}), ["spec.cliqueNames[1]", "spec.cliqueNames[2]"]),
            (group(updateProgress={"updateEndedAt": "soon"}), ["status.updateProgress.updateEndedAt"]),
            (group(availableReplicas="2"), ["status.availableReplicas"]),
            (group(scheduledReplicas=-1), ["status.scheduledReplicas"]),
            (group(replicas=True), ["status.replicas"]),
        ],
        ids=lambda value: " ".join(value) if isinstance(value, list) and value else "",
    )
    def test_a_fault_has_its_path(self, raw: Any, paths: list[str]) -> None:
        assert paths_of(raw) == paths

    @given(any_json() | almost(SOUND))
    @example(raw=SOUND)
    def test_any_json_is_a_group_or_malformed(self, raw: Any) -> None:
        known = outcome(scaling_group_from_json, raw)
        assert outcome(scaling_group_from_json, raw) == known
        if isinstance(known, ScalingGroup):
            assert known.ref.name
            assert known.min_available >= 1
            assert known.replica_index >= 0
            return
        assert known
        for problem in known:
            assert is_there(raw, problem.path, {other.path for other in known}), problem
