"""The statuses of Grove's kinds.

Conditions are merged by type and what else is a list is replaced as a whole, so that several writers with names of
their own can each apply what is theirs.
"""

from collections.abc import Mapping
from typing import Any, Final

from grove_core.resources.podclique import CliqueStatus
from grove_core.resources.podcliqueset import PodCliqueSetStatus
from grove_core.resources.podgang import GangStatus
from grove_core.resources.scaling_group import GroupStatus
from grove_shell.manifests.schemas import (
    Json,
    array_schema,
    integer_schema,
    schema_of_fields,
    string_schema,
    timestamp_schema,
)

_PROGRESS: Final = "updateProgress"
_FLAG: Final[Mapping[str, Any]] = {"type": "boolean"}
_OLDER_PROGRESS: Final = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
"""``updateProgress`` as it was called once, and is still read (GT-018); a server must not drop it."""


def clique_status_schema() -> Json:
    """Of a PodClique."""
    selected = schema_of_fields({"current": string_schema(), "completed": array_schema(string_schema())}, ("current",))
    progress = {
        **_span(),
        "podCliqueSetGenerationHash": string_schema(),
        "podTemplateHash": string_schema(),
        "readyPodsSelectedToUpdate": selected,
    }
    return _status(CliqueStatus.FIELDS, {_PROGRESS: schema_of_fields(progress), "wasAvailable": dict(_FLAG)})


def scaling_group_status_schema() -> Json:
    """Of a PodCliqueScalingGroup."""
    selected = schema_of_fields(
        {"current": integer_schema(), "completed": array_schema(integer_schema())}, ("current",)
    )
    progress = {
        **_span(),
        "podCliqueSetGenerationHash": string_schema(),
        **_counts("PodCliques"),
        "readyReplicaIndicesSelectedToUpdate": selected,
    }
    return _status(GroupStatus.FIELDS, {_PROGRESS: schema_of_fields(progress)})


def podcliqueset_status_schema() -> Json:
    """Of a PodCliqueSet."""
    replica = schema_of_fields({"replicaIndex": integer_schema(), **_span()}, ("replicaIndex",))
    progress = {
        **_span(),
        **_counts("PodCliques"),
        **_counts("PodCliqueScalingGroups"),
        "currentlyUpdating": array_schema(replica, "replicaIndex"),
    }
    gang = schema_of_fields(
        {
            "name": string_schema(),
            "phase": string_schema(enum=["Pending", "Starting", "Running", "Failed", "Succeeded"]),
            "conditions": conditions_schema(),
        },
        ("name", "phase"),
    )
    return _status(
        PodCliqueSetStatus.FIELDS,
        {_PROGRESS: schema_of_fields(progress), "podGangStatuses": array_schema(gang, "name")},
    )


def gang_status_schema() -> Json:
    """Of a PodGang."""
    phase = string_schema(enum=["Pending", "Starting", "Running"])
    return _status(GangStatus.FIELDS, {"phase": phase, "placementScore": {"type": "number", "format": "double"}})


def conditions_schema() -> Json:
    """Conditions as Kubernetes has them everywhere."""
    condition = schema_of_fields(
        {
            "type": string_schema(maxLength=316),
            "status": string_schema(enum=["True", "False", "Unknown"]),
            "reason": string_schema(maxLength=1024),
            "message": string_schema(maxLength=32768),
            "lastTransitionTime": timestamp_schema(),
            "observedGeneration": integer_schema(64, minimum=0),
        },
        ("type", "status", "reason", "message", "lastTransitionTime"),
    )
    return array_schema(condition, "type")


def _status(stored: Mapping[str, str], special: Mapping[str, Json]) -> Json:
    """A status of the fields that are read from it; what is neither a count nor a text is given."""
    found = {name: special.get(name) or _plain(name) for name in stored}
    error = schema_of_fields(
        {"code": string_schema(), "description": string_schema(), "observedAt": timestamp_schema()},
        ("code", "description", "observedAt"),
    )
    if _PROGRESS in special:
        found |= {"rollingUpdateProgress": dict(_OLDER_PROGRESS), "lastErrors": array_schema(error)}
    return schema_of_fields(dict(sorted({**found, **special, "conditions": conditions_schema()}.items())))


def _plain(name: str) -> Json:
    if name == "observedGeneration":
        return integer_schema(64)
    return integer_schema() if name == "replicas" or name.endswith("Replicas") else string_schema()


def _span() -> dict[str, Json]:
    return {"updateStartedAt": timestamp_schema(), "updateEndedAt": timestamp_schema()}


def _counts(kind: str) -> dict[str, Json]:
    return {f"{word}{kind}Count": integer_schema() for word in ("updated", "total")}
