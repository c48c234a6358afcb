"""How large things are on the wire: compact JSON with node names of 20 characters and clique ids of 42.

Formats give these, not a machine: tests/property/convergence/test_sizes.py encodes what they speak of.
"""

from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from grove_core.areas.domain_cliques.protocols import Protocol

LARGEST_BYTES: Final = 1_572_864
"""1.5 MiB: the largest request that etcd takes by default."""
DOMAIN_BYTES: Final = 700
"""A ComputeDomain, or a clique's object, without entries."""
RECORD_BYTES: Final = 165
"""A clique's record in ``status.cliques``, with its share of managedFields."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """Bytes for each daemon in the object that it registers in.

    Attributes:
        entry: its entry, and where there is one its owner reference.
        managed: its share of managedFields: a record of its own if it applies, else its part of the shared one.
        body: of a request that applies; 0 where the whole object is sent.
    """

    entry: int
    managed: int
    body: int

    def stored(self, entries: int) -> int:
        """The object with so many entries."""
        whole = DOMAIN_BYTES + entries * (self.entry + self.managed)
        if whole > LARGEST_BYTES and not self.body:
            return DOMAIN_BYTES + entries * self.entry  # written whole it is tried again without managedFields
        return whole

    def sent(self, entries: int) -> int:
        """The body of a write to it."""
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
    """Whether an object with so many entries is larger than the store takes."""
    return SIZES[protocol].stored(entries) > LARGEST_BYTES
