"""The pods of daemons, as far as registration needs them: node, clique and creation time."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from grove_core.kernel.refs import Ref
from grove_core.resources.api_names import CORE, DOMAIN, DOMAIN_CLIQUE
from grove_core.resources.json_field_reader import JsonFieldReader
from grove_core.resources.meta import read_labels, read_metadata
from grove_core.resources.pod import FINISHED_PHASES


@dataclass(frozen=True, slots=True, kw_only=True)
class DaemonPod:
    """A daemon's pod.

    Attributes:
        domain_uid: of its domain, from its label; empty where there is none.
        clique: from its label; None where it has none yet, empty where its node has no fabric.
        created: None for a pod that no cluster has stored.
        ready: whether its condition ``Ready`` is ``True``.
        living: whether it has neither finished nor been deleted.
    """

    ref: Ref
    uid: str
    node: str = ""
    ip: str = ""
    domain_uid: str = ""
    clique: str | None = None
    created: datetime | None = None
    ready: bool = False
    living: bool = True

    @property
    def creation_order(self) -> tuple[bool, datetime | None, str]:
        """A sort key that is larger for the newer pod; of two created in one second, for the larger uid (D45)."""
        return (self.created is not None, self.created, self.uid)


def daemon_pod_from_json(raw: Mapping[str, Any]) -> DaemonPod:
    """Project a daemon's pod as the API writes it. Raises MalformedObject with every problem (IN-030)."""
    top = JsonFieldReader(raw, "", [])
    identity = read_metadata(top, CORE, "Pod", None)
    labels, status = read_labels(top), top.part("status")
    return top.checked(
        DaemonPod(
            ref=identity["ref"],
            uid=identity["uid"],
            node=top.part("spec").text("nodeName"),
            ip=status.text("podIP"),
            domain_uid=labels.text(DOMAIN),
            clique=labels.text(DOMAIN_CLIQUE) if DOMAIN_CLIQUE in labels else None,
            created=top.part("metadata").time("creationTimestamp"),
            ready=_is_ready(status),
            living=not identity["deleting"] and status.text("phase") not in FINISHED_PHASES,
        )
    )


def _is_ready(status: JsonFieldReader) -> bool:
    """Return whether the condition ``Ready`` is ``True``; other conditions are not read (IN-053)."""
    found = [one.text("status", required=True) for one in status.parts("conditions") if one.raw.get("type") == "Ready"]
    return "True" in found
