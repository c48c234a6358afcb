"""Where a command reads its input from."""

from dataclasses import dataclass
from datetime import datetime


class ClusterUnavailable(Exception):
    """The cluster cannot be read. The message says what was tried, and what to try next."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveCluster:
    """The live cluster to read.

    Attributes:
        everywhere: all namespaces, not only one.
        namespace: None for that of the context.
    """

    kubeconfig: str | None = None
    context: str | None = None
    namespace: str | None = None
    everywhere: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class InputSource:
    """The input options of a command."""

    filenames: tuple[str, ...] = ()
    live: LiveCluster | None = None
    namespace: str | None = None
    now: datetime | None = None
    attempts: str | None = None
    config: str | None = None
    keep_going: bool = False
