"""What is told about an installation, and what all its objects have in common."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from grove_core.resources.configuration import Mnnvl, MnnvlMode, TopologyAware
from grove_core.version import IMAGE
from grove_shell.manifests.schemas import Json

OPERATOR: Final = "grove-operator"
WEBHOOKS: Final = "grove-webhooks"
SYSTEM: Final = "grove-system"
REPLICAS: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """Where Grove runs, and for whom.

    Attributes:
        home: the namespace it runs in.
        watched: the one namespace it looks after; empty for all.
        image: of its containers.
        mnnvl, topology: what operator and webhooks are told of both; what they are not told they do by default.
        operator: the operator's whole configuration as it was written; empty for no more than that.
    """

    home: str = SYSTEM
    watched: str = ""
    image: str = IMAGE
    mnnvl: Mnnvl = Mnnvl()  # noqa: RUF009 - it is frozen
    topology: TopologyAware = TopologyAware()  # noqa: RUF009 - as above
    operator: Mapping[str, Any] = field(default_factory=dict)

    @property
    def suffix(self) -> str:
        """What the names of objects outside all namespaces end with, so that two installations do not share them."""
        return f"-{self.watched}" if self.watched else ""

    @property
    def is_shared(self) -> bool:
        """Whether PodCliques share ComputeDomains by annotation (MS-095)."""
        return self.mnnvl.in_mode(MnnvlMode.ANNOTATIONS)

    @property
    def is_guarded(self) -> bool:
        """Whether topologies are judged: their users show only to who sees all namespaces (TP-094)."""
        return self.topology.enabled and not self.watched

    def configures(self, program: str) -> bool:
        """Whether a program is told anything."""
        return self.mnnvl.enabled or self.topology.enabled or (program == OPERATOR and bool(self.operator))

    @property
    def where(self) -> Json:
        """The namespace as metadata has it."""
        return {"namespace": self.home}


def labels_of(name: str) -> Json:
    """Of every object of one program; its pods are found by them."""
    return {"app.kubernetes.io/name": name}


def program_object(
    api_version: str,
    kind: str,
    name: str,
    program: str,
    where: Json | None = None,
    **fields: Any,  # noqa: ANN401 - parts of a manifest, of any shape
) -> Json:
    """One object of a program.

    Args:
        api_version, kind, name: as they are written.
        program: whose it is.
        where: its namespace, as metadata has it; None for none.
        fields: the rest of it.
    """
    metadata = {"name": name, **(where or {}), "labels": labels_of(program)}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **fields}
