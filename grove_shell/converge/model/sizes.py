"""Sizes of objects and requests as compact JSON, with node names of 20 characters and clique ids of 42.

They follow from the formats: tests/property/convergence/test_sizes.py compares them with encoded objects.
"""

from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from grove_core.areas.domain_cliques.protocols import Protocol

LARGEST_BYTES: Final = 1_572_864
"""1.5 MiB: the largest request that etcd accepts by default."""
DOMAIN_BYTES: Final = 700
"""A ComputeDomain or a ComputeDomainClique without entries."""
RECORD_BYTES: Final = 165
"""The record of a clique in ``status.cliques``, with its share of managedFields."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """Bytes of each daemon in the object it registers in.

    Attributes:
        entry: its entry, and its owner reference in a clique.
        managed: its share of managedFields: a record of its own with server-side apply, else its part of a shared one.
        body: of a server-side apply; 0 if the whole object is sent.
    """

    entry: int
    managed: int
    body: int

    def stored(self, entries: int) -> int:
        """Return the bytes of an object with this number of entries."""
        whole = DOMAIN_BYTES + entries * (self.entry + self.managed)
        if whole > LARGEST_BYTES and not self.body:
            return (
                DOMAIN_BYTES + entries * self.entry
            )  # etcd refuses it, and the API server retries without managedFields
        return whole

    def sent(self, entries: int) -> int:
        """Return the bytes of the body of a write to such an object."""
        return self.body or self.stored(entries)


SIZES: Final = MappingProxyType(
    {
        Protocol.RMW: Sizes(entry=138, managed=118, body=0),
        Protocol.SSA: Sizes(entry=138, managed=344, body=278),
        Protocol.SHARDED: Sizes(entry=142 + 151, managed=517, body=752),
        Protocol.SHARDED_RMW: Sizes(entry=142 + 151, managed=118, body=0),
    }
)


def too_large(protocol: Protocol, entries: int) -> bool:
    """Return whether the store refuses an object with this number of entries."""
    return SIZES[protocol].stored(entries) > LARGEST_BYTES
