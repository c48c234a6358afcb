"""ComputeDomain and ComputeDomainClique: they let pods share GPU memory across nodes, and list the daemons on them.

The entry of a daemon is the same in both, except for the key of its node. Of pods only what registration needs is read.
"""

from collections.abc import Mapping, MutableMapping
from datetime import datetime
from operator import attrgetter
from typing import Final

from grove_core.kernel.frozen import EMPTY, FrozenMap
from grove_core.kernel.refs import Ref
from grove_core.kernel.structs import Struct
from grove_core.resources.api_names import CORE, DOMAIN, DOMAIN_CLIQUE, DOMAIN_CLIQUE_KIND, DOMAIN_KIND, NVIDIA
from grove_core.resources.configuration import ComputeDomainFormatName
from grove_core.resources.json_field_reader import JsonFieldReader
from grove_core.resources.metadata_readers import Resource, read_labels, read_metadata, stored_inner_object
from grove_core.resources.naming_rules import nvlink_clique_in_name
from grove_core.resources.pod import FINISHED_PHASES

READY: Final = "Ready"
NOT_READY: Final = "NotReady"
NO_FABRIC_INDEX: Final = -1
"""What the entry of a node without fabric has for an index (DC-062)."""

_LOWEST: Final = -(2**31)
NODE_NAME: Final = "name"
"""What an entry of ``status.nodes`` calls its node."""
DAEMON_NODE_NAME: Final = "nodeName"
"""What an entry of ``daemons`` calls its node."""


class DaemonEntry(Struct, frozen=True):
    """The entry of one daemon.

    Attributes:
        node: name of the node, by which entries are merged.
        ip: of the daemon's pod; it distinguishes consecutive pods of a node.
        clique: id of its clique; empty where the node has no fabric.
        index: in the clique; None where a writer older than v25.8.0 left it out.
        status: as stored; empty where a writer left it out.
    """

    node: str
    ip: str
    clique: str
    index: int | None = None
    status: str = ""

    @property
    def is_ready(self) -> bool:
        """Whether its status is ready; a missing status is not (DC-084)."""
        return self.status == READY

    def as_json(self, name: str) -> FrozenMap:
        """Return all five fields, with the node under this key; a field that is left out would be released (DC-030)."""
        return FrozenMap(
            {
                name: self.node,
                "ipAddress": self.ip,
                "cliqueID": self.clique,
                **({} if self.index is None else {"index": self.index}),
                "status": self.status,
            }
        )


def read_daemon_entries(part: JsonFieldReader, key: str, name: str) -> tuple[DaemonEntry, ...]:
    """The entries of a list, sorted by node: a merged list has no order of its own (DC-010)."""
    found = [
        DaemonEntry(
            entry.text(name, required=True),
            entry.text("ipAddress"),
            entry.text("cliqueID"),
            entry.integer("index", at_least=_LOWEST),
            entry.text("status"),
        )
        for entry in part.inner_objects(key)
    ]
    return tuple(sorted(found, key=attrgetter("node")))


class NvlinkCliqueSummary(Struct, frozen=True):
    """The summary of one clique of a domain (D18)."""

    id: str
    status: str = ""


class ComputeDomain(Resource, frozen=True, kw_only=True):
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
    cliques: tuple[NvlinkCliqueSummary, ...] = ()
    stored: FrozenMap = EMPTY

    @property
    def daemon_entries(self) -> tuple[DaemonEntry, ...]:
        """The daemons that registered here."""
        return self.nodes


def compute_domain_from_json(
    raw: Mapping[str, object], shared: MutableMapping[str, str] | None = None
) -> ComputeDomain:
    """Read a ComputeDomain of any version; raises MalformedObject with every problem (IN-030)."""
    top = JsonFieldReader(raw, "", [])
    identity = read_metadata(top, str(raw.get("apiVersion") or NVIDIA), DOMAIN_KIND, shared)
    spec, status = top.inner_object("spec"), top.inner_object("status")
    cliques = [
        NvlinkCliqueSummary(part.text("id", required=True), part.text("status"))
        for part in status.inner_objects("cliques")
    ]
    return top.result_or_problems(
        ComputeDomain(
            **identity,
            labels=stored_inner_object(read_labels(top)),
            spec=stored_inner_object(spec),
            num_nodes=spec.integer("numNodes") or 0,
            deleted_at=top.inner_object("metadata").time("deletionTimestamp"),
            readiness=status.text("status"),
            nodes=read_daemon_entries(status, "nodes", NODE_NAME),
            cliques=tuple(sorted(cliques, key=attrgetter("id"))),
            stored=FrozenMap.view_of(raw),
        )
    )


def served_compute_domain_format(channel: Mapping[str, object]) -> ComputeDomainFormatName:
    """In which shape a cluster has ComputeDomains, by the properties that its schema of ``spec.channel`` has."""
    return ComputeDomainFormatName.NVIDIA if "resourceClaimTemplate" in channel else ComputeDomainFormatName.DESIGN


class ComputeDomainClique(Resource, frozen=True, kw_only=True):
    """The fields of a ComputeDomainClique that decisions use.

    Attributes:
        domain_uid: from its label; empty where there is none.
        clique: its id, from its label, else from its name.
        owners: uids of all its owners, sorted; these are the pods of its daemons.
        daemons: sorted by node.
        stored: the whole object, for writers that replace it as a whole.
    """

    domain_uid: str = ""
    clique: str = ""
    owners: tuple[str, ...] = ()
    daemons: tuple[DaemonEntry, ...] = ()
    stored: FrozenMap = EMPTY

    @property
    def daemon_entries(self) -> tuple[DaemonEntry, ...]:
        """The daemons that registered here."""
        return self.daemons


def domain_clique_from_json(raw: Mapping[str, object]) -> ComputeDomainClique:
    """Read a ComputeDomainClique; raises MalformedObject with every problem (IN-030)."""
    top = JsonFieldReader(raw, "", [])
    identity = read_metadata(top, NVIDIA, DOMAIN_CLIQUE_KIND, None)
    labels = read_labels(top)
    domain_uid = labels.text(DOMAIN)
    return top.result_or_problems(
        ComputeDomainClique(
            **identity,
            domain_uid=domain_uid,
            clique=labels.text(DOMAIN_CLIQUE) or nvlink_clique_in_name(domain_uid, identity["ref"].name),
            owners=tuple(
                sorted(owner.text("uid") for owner in top.inner_object("metadata").inner_objects("ownerReferences"))
            ),
            daemons=read_daemon_entries(top, "daemons", DAEMON_NODE_NAME),
            stored=FrozenMap.view_of(raw),
        )
    )


class DaemonPod(Struct, frozen=True, kw_only=True):
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


def daemon_pod_from_json(raw: Mapping[str, object]) -> DaemonPod:
    """Project a daemon's pod as the API writes it. Raises MalformedObject with every problem (IN-030)."""
    top = JsonFieldReader(raw, "", [])
    identity = read_metadata(top, CORE, "Pod", None)
    labels, status = read_labels(top), top.inner_object("status")
    return top.result_or_problems(
        DaemonPod(
            ref=identity["ref"],
            uid=identity["uid"],
            node=top.inner_object("spec").text("nodeName"),
            ip=status.text("podIP"),
            domain_uid=labels.text(DOMAIN),
            clique=labels.text(DOMAIN_CLIQUE) if DOMAIN_CLIQUE in labels else None,
            created=top.inner_object("metadata").time("creationTimestamp"),
            ready=_is_ready(status),
            living=not identity["deleting"] and status.text("phase") not in FINISHED_PHASES,
        )
    )


def _is_ready(status: JsonFieldReader) -> bool:
    """Return whether the condition ``Ready`` is ``True``; other conditions are not read (IN-053)."""
    found = [
        one.text("status", required=True)
        for one in status.inner_objects("conditions")
        if one.raw.get("type") == "Ready"
    ]
    return "True" in found
