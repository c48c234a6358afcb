"""Which component a request came from, by its user and its user agent (AF-006)."""

from collections.abc import Mapping
from enum import Enum, unique
from typing import Final

from grove_shell.reading.audited_write import Writer


@unique
class WriterRole(Enum):
    """The component behind a request.

    Attributes:
        words: what its deletions are, on a page; ``{user}`` is its user.
    """

    OPERATOR = "operator", "the operator"
    GARBAGE_COLLECTOR = "garbageCollector", "the garbage collector"
    NAMESPACE = "namespaceController", "its namespace was deleted"
    NODE = "nodeController", "its node was tainted, did not answer or was removed"
    SCHEDULER = "scheduler", "the scheduler made room for another pod (preemption)"
    KUBELET = "kubelet", "the kubelet of its node"
    EVICTION = "eviction", "an eviction"
    CONTROLLER = "controller", "a controller of Kubernetes"
    CLIENT = "client", "a client that is not the operator"

    def __init__(self, code: str, words: str) -> None:
        self.code = code
        self.words = words


_CONTROLLERS: Final[Mapping[str, WriterRole]] = {
    "generic-garbage-collector": WriterRole.GARBAGE_COLLECTOR,
    "namespace-controller": WriterRole.NAMESPACE,
    "node-controller": WriterRole.NODE,
    "node-lifecycle-controller": WriterRole.NODE,
    "taint-eviction-controller": WriterRole.NODE,
    "pod-garbage-collector": WriterRole.NODE,
    "kube-scheduler": WriterRole.SCHEDULER,
    "scheduler": WriterRole.SCHEDULER,
    "kubelet": WriterRole.KUBELET,
    "kwok": WriterRole.KUBELET,
}
_NODES: Final = "system:node:"
_OPERATOR: Final = "grove-operator"
_MANAGER: Final = "kube-controller-manager"


def role_of_writer(writer: Writer) -> WriterRole | None:
    """Return the component of Kubernetes that a request came from; None for any other client, of which one operates."""
    names = (
        writer.user.rpartition(":")[2],
        writer.agent.rpartition("/")[2].rpartition(":")[2],
        program_of_user_agent(writer),
    )
    for name in names:
        if name in _CONTROLLERS:
            return _CONTROLLERS[name]
    if writer.user.startswith(_NODES):
        return WriterRole.KUBELET
    return (
        WriterRole.CONTROLLER if _MANAGER in {writer.user.rpartition(":")[2], program_of_user_agent(writer)} else None
    )


def program_of_user_agent(writer: Writer) -> str:
    """Return the name of the program that a user agent begins with."""
    return writer.agent.partition("/")[0]


class OperatorWriters:
    """The operator among the writers: those that write statuses of PodCliques, and those of its name (AF-006)."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str], None] = {}

    def add(self, writer: Writer) -> None:
        """Record that a writer wrote the status of a PodClique."""
        if role_of_writer(writer) is None:
            self._seen[writer.user, program_of_user_agent(writer)] = None

    def __contains__(self, writer: Writer) -> bool:
        named = _OPERATOR in {program_of_user_agent(writer), writer.user.rpartition(":")[2]}
        return role_of_writer(writer) is None and (named or (writer.user, program_of_user_agent(writer)) in self._seen)

    @property
    def users(self) -> tuple[str, ...]:
        """The users that operate, in the order in which they were seen."""
        return tuple(dict.fromkeys(user for user, _ in self._seen))
