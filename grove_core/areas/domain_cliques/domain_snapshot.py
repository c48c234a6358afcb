"""What the controller of one ComputeDomain can see at one moment; its plan is a function of this value alone."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Final

from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Attempt
from grove_core.resources.compute_domain import ComputeDomain
from grove_core.resources.compute_domain_clique import CLIQUE_KIND, ComputeDomainClique
from grove_core.resources.daemon_pod import DaemonPod
from grove_core.resources.names import listed

_NONE: Final[Mapping[Ref, str]] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class DomainSnapshot:
    """A domain, the cliques of it, and the pods of its daemons.

    Attributes:
        cliques: those whose label carries the uid of the domain, sorted by name (DC-082).
        pods: those whose label carries it, ended and deleted ones as long as they are there.
        pods_version: of the list or the event that the pods are known from; the whole view is as new as that.
        unread_pods, unread_cliques: those of the domain, or perhaps of it, that cannot be read, as a sentence lists
            them; empty where all can (DC-076, DC-089).
        attempts: what was tried and is not seen yet; the controller judges each look anew.
        now: aware UTC.
    """

    domain: ComputeDomain
    cliques: tuple[ComputeDomainClique, ...] = ()
    pods: tuple[DaemonPod, ...] = ()
    pods_version: int = 0
    unreadable_pods: str = ""
    unreadable_cliques: str = ""
    attempts: tuple[Attempt, ...] = ()
    now: datetime

    @property
    def root_ref(self) -> Ref:
        """Of the domain."""
        return self.domain.ref

    @property
    def root_uid(self) -> str:
        """Of the domain."""
        return self.domain.uid


def domain_snapshot_of(
    domain: ComputeDomain,
    cliques: Iterable[ComputeDomainClique],
    pods: Iterable[DaemonPod],
    *,
    pods_version: int,
    unreadable: Mapping[Ref, str] = _NONE,
    now: datetime,
) -> DomainSnapshot:
    """The moment of one domain, out of whatever cliques and pods there are; their order does not matter.

    Args:
        domain, cliques, pods, pods_version, now: as in :class:`DomainSnapshot`, of all domains.
        unreadable: address of each pod and clique that cannot be read -> the uid on its label; empty where it has none.
    """
    obscured = [ref for ref, uid in unreadable.items() if uid in {"", domain.uid}]
    return DomainSnapshot(
        domain=domain,
        cliques=tuple(
            sorted((one for one in cliques if one.domain_uid == domain.uid), key=lambda one: one.ref.sort_key)
        ),
        pods=tuple(sorted((pod for pod in pods if pod.domain_uid == domain.uid), key=lambda pod: pod.ref.sort_key)),
        pods_version=pods_version,
        unreadable_pods=_unread("Pod", obscured),
        unreadable_cliques=_unread(CLIQUE_KIND, obscured),
        now=now,
    )


def _unread(kind: str, obscured: Iterable[Ref]) -> str:
    names = [f"{ref.namespace}/{ref.name}" for ref in obscured if ref.kind == kind]
    return listed(names) if names else ""
