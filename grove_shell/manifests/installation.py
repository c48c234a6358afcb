"""The options of an installation, and the common parts of its objects."""

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
    """The options of an installation.

    Attributes:
        home: the namespace it runs in.
        watched: the only namespace it manages; empty for all.
        image: of its containers.
        mnnvl, topology: settings of operator and webhooks.
        operator: the operator's whole configuration file; empty for one made of the settings above.
    """

    home: str = SYSTEM
    watched: str = ""
    image: str = IMAGE
    mnnvl: Mnnvl = Mnnvl()  # noqa: RUF009 - it is frozen
    topology: TopologyAware = TopologyAware()  # noqa: RUF009 - as above
    operator: Mapping[str, Any] = field(default_factory=dict)

    @property
    def suffix(self) -> str:
        """Suffix of the names of cluster-scoped objects, so that two installations do not share them."""
        return f"-{self.watched}" if self.watched else ""

    @property
    def is_shared(self) -> bool:
        """Whether PodCliques share ComputeDomains by annotation (MS-094)."""
        return self.mnnvl.in_mode(MnnvlMode.ANNOTATIONS)

    @property
    def is_guarded(self) -> bool:
        """Whether topologies are validated, which needs access to all namespaces (TP-045)."""
        return self.topology.enabled and not self.watched

    def configures(self, program: str) -> bool:
        """Return whether a program gets a configuration file."""
        return self.mnnvl.enabled or self.topology.enabled or (program == OPERATOR and bool(self.operator))

    @property
    def where(self) -> Json:
        """The namespace in the form of metadata."""
        return {"namespace": self.home}


def labels_of(name: str) -> Json:
    """Return the labels of every object of one program, which also select its pods."""
    return {"app.kubernetes.io/name": name}


def program_object(
    api_version: str,
    kind: str,
    name: str,
    program: str,
    where: Json | None = None,
    **fields: Any,  # noqa: ANN401 - parts of a manifest, of any shape
) -> Json:
    """Return one object of a program; ``where`` is its namespace, as metadata has it."""
    metadata = {"name": name, **(where or {}), "labels": labels_of(program)}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **fields}
