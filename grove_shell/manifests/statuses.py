"""The statuses of Grove's kinds.

Conditions are merged by type and what else is a list is replaced as a whole, so that several writers with names of
their own can each apply what is theirs.
"""

from collections.abc import Mapping
from typing import Any, Final

from grove_core.resources.podclique import CliqueStatus
from grove_core.resources.podcliqueset import SetStatus
from grove_core.resources.podgang import GangStatus
from grove_core.resources.scaling_group import GroupStatus
from grove_shell.manifests.structural import Json, fields, many, moment, number, text

_PROGRESS: Final = "updateProgress"
_FLAG: Final[Mapping[str, Any]] = {"type": "boolean"}
_OLDER_PROGRESS: Final = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
"""``updateProgress`` as it was called once, and is still read (GT-018); a server must not drop it."""


def clique_status() -> Json:
    """Of a PodClique."""
    selected = fields({"current": text(), "completed": many(text())}, ("current",))
    progress = {
        **_span(),
        "podCliqueSetGenerationHash": text(),
        "podTemplateHash": text(),
        "readyPodsSelectedToUpdate": selected,
    }
    return _status(CliqueStatus.FIELDS, {_PROGRESS: fields(progress), "wasAvailable": dict(_FLAG)})


def group_status() -> Json:
    """Of a PodCliqueScalingGroup."""
    selected = fields({"current": number(), "completed": many(number())}, ("current",))
    progress = {
        **_span(),
        "podCliqueSetGenerationHash": text(),
        **_counts("PodCliques"),
        "readyReplicaIndicesSelectedToUpdate": selected,
    }
    return _status(GroupStatus.FIELDS, {_PROGRESS: fields(progress)})


def set_status() -> Json:
    """Of a PodCliqueSet."""
    replica = fields({"replicaIndex": number(), **_span()}, ("replicaIndex",))
    progress = {
        **_span(),
        **_counts("PodCliques"),
        **_counts("PodCliqueScalingGroups"),
        "currentlyUpdating": many(replica, "replicaIndex"),
    }
    gang = fields(
        {
            "name": text(),
            "phase": text(enum=["Pending", "Starting", "Running", "Failed", "Succeeded"]),
            "conditions": conditions(),
        },
        ("name", "phase"),
    )
    return _status(SetStatus.FIELDS, {_PROGRESS: fields(progress), "podGangStatuses": many(gang, "name")})


def gang_status() -> Json:
    """Of a PodGang."""
    phase = text(enum=["Pending", "Starting", "Running"])
    return _status(GangStatus.FIELDS, {"phase": phase, "placementScore": {"type": "number", "format": "double"}})


def conditions() -> Json:
    """Conditions as Kubernetes has them everywhere."""
    condition = fields(
        {
            "type": text(maxLength=316),
            "status": text(enum=["True", "False", "Unknown"]),
            "reason": text(maxLength=1024),
            "message": text(maxLength=32768),
            "lastTransitionTime": moment(),
            "observedGeneration": number(64, minimum=0),
        },
        ("type", "status", "reason", "message", "lastTransitionTime"),
    )
    return many(condition, "type")


def _status(stored: Mapping[str, str], special: Mapping[str, Json]) -> Json:
    """A status of the fields that are read from it; what is neither a count nor a text is given."""
    found = {name: special.get(name) or _plain(name) for name in stored}
    error = fields(
        {"code": text(), "description": text(), "observedAt": moment()}, ("code", "description", "observedAt")
    )
    if _PROGRESS in special:
        found |= {"rollingUpdateProgress": dict(_OLDER_PROGRESS), "lastErrors": many(error)}
    return fields(dict(sorted({**found, **special, "conditions": conditions()}.items())))


def _plain(name: str) -> Json:
    if name == "observedGeneration":
        return number(64)
    return number() if name == "replicas" or name.endswith("Replicas") else text()


def _span() -> dict[str, Json]:
    return {"updateStartedAt": moment(), "updateEndedAt": moment()}


def _counts(kind: str) -> dict[str, Json]:
    return {f"{word}{kind}Count": number() for word in ("updated", "total")}
