"""ComputeDomain: lets the pods of one workload share GPU memory across nodes; its status lists the daemons."""

from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any, ClassVar, Final

from grove_core.kernel.errors import MalformedObject, Problem
from grove_core.kernel.frozen import EMPTY, FrozenMap
from grove_core.resources.api_names import NVIDIA
from grove_core.resources.configuration import DomainShape
from grove_core.resources.daemon_entry import DaemonEntry, read_entries
from grove_core.resources.fields import Fields
from grove_core.resources.meta import Resource, read_identity, read_labels, view_of

DOMAIN_KIND: Final = "ComputeDomain"
NODE_NAME: Final = "name"
"""What an entry of ``status.nodes`` calls its node."""


@dataclass(frozen=True, slots=True)
class CliqueInfo:
    """The summary of one clique of a domain (D18)."""

    FIELDS: ClassVar[Mapping[str, str]] = MappingProxyType({"id": "id", "status": "status"})

    id: str
    status: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComputeDomain(Resource):
    """The fields of a ComputeDomain that decisions use.

    Attributes:
        labels, spec: as stored.
        num_nodes: the number of daemons that the domain waits for; 0 where absent.
        deleted_at: when its deletion was accepted.
        readiness: the global status; empty where none was written.
        nodes: ``status.nodes``, sorted by node.
        cliques: ``status.cliques``, sorted by id.
        stored: the whole object, for writers that replace it as a whole.
    """

    labels: FrozenMap = EMPTY
    spec: FrozenMap = EMPTY
    num_nodes: int = 0
    deleted_at: datetime | None = None
    readiness: str = ""
    nodes: tuple[DaemonEntry, ...] = ()
    cliques: tuple[CliqueInfo, ...] = ()
    stored: FrozenMap = EMPTY

    @property
    def entries(self) -> tuple[DaemonEntry, ...]:
        """The daemons that registered here."""
        return self.nodes


def compute_domain_of(raw: Mapping[str, Any], shared: MutableMapping[str, str] | None = None) -> ComputeDomain:
    """Project a ComputeDomain of any version; unknown fields are ignored, missing ones have defaults.

    Raises:
        MalformedObject: with every problem (IN-030).
    """
    problems: list[Problem] = []
    top = Fields(raw, "", problems)
    identity = read_identity(top, str(raw.get("apiVersion") or NVIDIA), DOMAIN_KIND, shared)
    spec, status = top.part("spec"), top.part("status")
    cliques = [CliqueInfo(part.text("id", required=True), part.text("status")) for part in status.parts("cliques")]
    domain = ComputeDomain(
        **identity,
        labels=view_of(read_labels(top)),
        spec=view_of(spec),
        num_nodes=spec.integer("numNodes") or 0,
        deleted_at=top.part("metadata").time("deletionTimestamp"),
        readiness=status.text("status"),
        nodes=read_entries(status, "nodes", NODE_NAME),
        cliques=tuple(sorted(cliques, key=_by_id)),
        stored=FrozenMap.over(raw),
    )
    if problems:
        raise MalformedObject(tuple(problems))
    return domain


def shape_of(channel: Mapping[str, Any]) -> DomainShape:
    """In which shape a cluster has ComputeDomains, by the properties that its schema of ``spec.channel`` has."""
    return DomainShape.NVIDIA if "resourceClaimTemplate" in channel else DomainShape.DESIGN


def _by_id(clique: CliqueInfo) -> str:
    return clique.id
