"""Where a command reads from, as the user said it."""

from dataclasses import dataclass
from datetime import datetime


class ClusterUnavailable(Exception):
    """Nothing can be learned from the cluster. The message says what was tried, and what to try next."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveCluster:
    """Which cluster, as the user said it.

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
    """Where to read from, as the user said it."""

    filenames: tuple[str, ...] = ()
    live: LiveCluster | None = None
    namespace: str | None = None
    now: datetime | None = None
    attempts: str | None = None
    config: str | None = None
    keep_going: bool = False
