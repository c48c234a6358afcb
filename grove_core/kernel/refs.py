"""References to objects, and guards: the uid and resource version that a write was decided on."""

from typing import Final

from grove_core.kernel.structs import Struct

_PLACEHOLDER: Final = "(uid of "


class Ref(Struct, frozen=True):
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
        """``Kind/name``, with ``[replica]`` for a replica; for sentences in which the namespace is known."""
        return f"{self.kind}/{self.name}" if self.replica is None else f"{self.kind}/{self.name}[{self.replica}]"

    @property
    def without_replica(self) -> "Ref":
        """The reference without a replica."""
        return Ref(self.api_version, self.kind, self.namespace, self.name)

    def at_replica(self, replica: int) -> "Ref":
        """Return the reference to one replica of the object."""
        return Ref(self.api_version, self.kind, self.namespace, self.name, replica)


class Guard(Struct, frozen=True):
    """The uid and resource version of the object that a write was decided on (PL-004)."""

    uid: str
    resource_version: str


def placeholder_uid(ref: Ref, serial: int = 1) -> str:
    """Return a placeholder uid for an object that is in no cluster yet.

    Args:
        serial: the number of this object among those of its kind and name, from 1.
    """
    return f"{_PLACEHOLDER}{ref.short}{f' no. {serial}' if serial > 1 else ''})"


def is_placeholder_uid(uid: str) -> bool:
    """Whether a uid is a placeholder and not the uid of an API server."""
    return uid.startswith(_PLACEHOLDER)
