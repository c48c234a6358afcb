"""The input of the controller of one ComputeDomain: the domain, its cliques and the pods of its daemons."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Final

from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Attempt
from grove_core.kernel.structs import Struct
from grove_core.resources.api_names import DOMAIN_CLIQUE_KIND
from grove_core.resources.compute_domain import ComputeDomain, ComputeDomainClique, DaemonPod
from grove_core.resources.naming_rules import name_list_text

_NONE: Final[Mapping[Ref, str]] = MappingProxyType({})


class ComputeDomainSnapshot(Struct, frozen=True, kw_only=True):
    """A domain, its cliques, and the pods of its daemons at one time.

    Attributes:
        cliques: those whose label contains the uid of the domain, sorted by name (DC-082).
        pods: those whose label contains it, including terminated and terminating pods until they are deleted.
        pods_version: of the list or event that the pods are known from; all pods are at least as new.
        unreadable_pods, unreadable_cliques: objects that belong, or may belong, to the domain and cannot be parsed, as
            a sentence lists them; empty if there are none (DC-076, DC-089).
        attempts: always empty, since no earlier write matters to a decision.
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
        """The domain."""
        return self.domain.ref

    @property
    def root_uid(self) -> str:
        """The uid of the domain."""
        return self.domain.uid


def compute_domain_snapshot_of(
    domain: ComputeDomain,
    cliques: Iterable[ComputeDomainClique],
    pods: Iterable[DaemonPod],
    *,
    pods_version: int,
    unreadable: Mapping[Ref, str] = _NONE,
    now: datetime,
) -> ComputeDomainSnapshot:
    """Select the cliques and pods of one domain.

    Args:
        unreadable: pods and cliques that cannot be parsed -> the domain uid of their label; empty without a label.
    """
    possible = [ref for ref, uid in unreadable.items() if uid in {"", domain.uid}]
    return ComputeDomainSnapshot(
        domain=domain,
        cliques=tuple(
            sorted((one for one in cliques if one.domain_uid == domain.uid), key=lambda one: one.ref.sort_key)
        ),
        pods=tuple(sorted((pod for pod in pods if pod.domain_uid == domain.uid), key=lambda pod: pod.ref.sort_key)),
        pods_version=pods_version,
        unreadable_pods=_listed("Pod", possible),
        unreadable_cliques=_listed(DOMAIN_CLIQUE_KIND, possible),
        now=now,
    )


def _listed(kind: str, refs: Iterable[Ref]) -> str:
    names = [f"{ref.namespace}/{ref.name}" for ref in refs if ref.kind == kind]
    return name_list_text(names) if names else ""
