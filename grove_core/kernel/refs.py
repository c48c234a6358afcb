"""Which object, and which version of it."""

from dataclasses import dataclass


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

    def at_replica(self, replica: int) -> "Ref":
        """The same object, one of its replicas."""
        return Ref(self.api_version, self.kind, self.namespace, self.name, replica)


@dataclass(frozen=True, slots=True)
class Guard:
    """The incarnation and the state of an object that a write was decided on (PL-004)."""

    uid: str
    resource_version: str
