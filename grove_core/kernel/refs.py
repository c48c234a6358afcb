"""Which object, and which version of it."""

from dataclasses import dataclass
from typing import Final

_INVENTED: Final = "(uid of "


@dataclass(frozen=True, slots=True)
class Ref:
    """The address of an object; ``replica`` narrows it to one replica of that object (0-based)."""

    api_version: str
    kind: str
    namespace: str
    name: str
    replica: int | None = None

    @property
    def sort_key(self) -> tuple[str, str, str, int]:
        """Order by kind, namespace, name, then replica (the object itself first)."""
        return (self.kind, self.namespace, self.name, -1 if self.replica is None else self.replica)

    @property
    def short(self) -> str:
        """``Kind/name``, with ``[replica]`` where one is meant; for sentences in which the namespace is known."""
        return f"{self.kind}/{self.name}" if self.replica is None else f"{self.kind}/{self.name}[{self.replica}]"

    @property
    def whole(self) -> "Ref":
        """The object itself, none of its replicas."""
        return Ref(self.api_version, self.kind, self.namespace, self.name)

    def at_replica(self, replica: int) -> "Ref":
        """The same object, one of its replicas."""
        return Ref(self.api_version, self.kind, self.namespace, self.name, replica)


@dataclass(frozen=True, slots=True)
class Guard:
    """The incarnation and the state of an object that a write was decided on (PL-004)."""

    uid: str
    resource_version: str


def placeholder_uid(ref: Ref, serial: int = 1) -> str:
    """The uid of an object that no cluster has seen.

    Args:
        ref: its address.
        serial: how many of its kind and name were invented, itself included.
    """
    return f"{_INVENTED}{ref.short}{f' no. {serial}' if serial > 1 else ''})"


def is_placeholder(uid: str) -> bool:
    """Whether a uid is none that an API server gave."""
    return uid.startswith(_INVENTED)
