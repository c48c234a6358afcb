"""Objects listed from a live cluster, or named as collected by a snapshot file."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from grove_core.resources.configuration import ServedApis
from grove_core.snapshot.cluster import EVERYWHERE, Gap


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectedObjects:
    """Objects of a cluster, and which kinds are complete.

    Attributes:
        origin: the server, as reports name it.
        items: as the server returned them.
        complete: kinds that were listed completely, with their namespace (IN-040).
        served: what the server serves; None if that was not requested.
        unseen: kinds that the server did not list, with its message.
    """

    origin: str
    items: tuple[dict[str, Any], ...] = ()
    complete: frozenset[Gap] = frozenset()
    served: ServedApis | None = None
    unseen: Mapping[Gap, str] = field(default_factory=dict)

    @property
    def is_part(self) -> bool:
        """Whether only some namespaces of the cluster were listed."""
        return any(where != EVERYWHERE for kind, where in self.complete if kind == "PodCliqueSet")
