"""ComputeDomainClique: the daemons of one NVLink clique of a ComputeDomain."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from grove_core.kernel.errors import MalformedObject, Problem
from grove_core.kernel.frozen import EMPTY, FrozenMap
from grove_core.resources.api_names import DOMAIN, DOMAIN_CLIQUE, NVIDIA
from grove_core.resources.daemon_entry import DaemonEntry, read_entries
from grove_core.resources.fields import Fields
from grove_core.resources.meta import Resource, read_identity, read_labels
from grove_core.resources.names import clique_of_name

CLIQUE_KIND: Final = "ComputeDomainClique"
DAEMON_NODE_NAME: Final = "nodeName"
"""What an entry of ``daemons`` calls its node."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComputeDomainClique(Resource):
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
    def entries(self) -> tuple[DaemonEntry, ...]:
        """The daemons that registered here."""
        return self.daemons


def compute_domain_clique_of(raw: Mapping[str, Any]) -> ComputeDomainClique:
    """Project a ComputeDomainClique as the API writes it; unknown fields are ignored, missing ones have defaults.

    Raises:
        MalformedObject: with every problem (IN-030).
    """
    problems: list[Problem] = []
    top = Fields(raw, "", problems)
    identity = read_identity(top, NVIDIA, CLIQUE_KIND, None)
    labels = read_labels(top)
    domain_uid = labels.text(DOMAIN)
    clique = ComputeDomainClique(
        **identity,
        domain_uid=domain_uid,
        clique=labels.text(DOMAIN_CLIQUE) or clique_of_name(domain_uid, identity["ref"].name),
        owners=tuple(sorted(owner.text("uid") for owner in top.part("metadata").parts("ownerReferences"))),
        daemons=read_entries(top, "daemons", DAEMON_NODE_NAME),
        stored=FrozenMap.over(raw),
    )
    if problems:
        raise MalformedObject(tuple(problems))
    return clique
