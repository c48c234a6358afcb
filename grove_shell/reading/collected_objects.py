"""What was asked of a cluster itself, beside or instead of files."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from grove_core.resources.configuration import ServedApis
from grove_core.snapshot.cluster import EVERYWHERE, Gap


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectedObjects:
    """Objects of a cluster.

    Attributes:
        origin: the server, as reports call the place.
        items: as the server wrote them.
        complete: of which kinds there is everything, and in which namespace (IN-046).
        served: what the server offers; None where it was not asked.
        unseen: of which kinds the server showed nothing, and where; in its own words why.
    """

    origin: str
    items: tuple[dict[str, Any], ...] = ()
    complete: frozenset[Gap] = frozenset()
    served: ServedApis | None = None
    unseen: Mapping[Gap, str] = field(default_factory=dict)

    @property
    def is_part(self) -> bool:
        """Whether only some namespaces of the cluster were asked for."""
        return any(where != EVERYWHERE for kind, where in self.complete if kind == "PodCliqueSet")
