"""The object of the other gate: read and not watched, for as long as daemons of the clique may be in it (DC-065)."""

from datetime import datetime

from grove_core.areas.domain_cliques.rules import Why
from grove_core.areas.domain_cliques.situation import Situation
from grove_core.areas.domain_cliques.verdicts import Deed, Read
from grove_core.kernel.decisions import Decision


def reading(situation: Situation) -> Decision[Deed]:
    """Get the object of the other gate once (DC-065)."""
    target = situation.other_ref
    return Decision(Read(target), (Why.OTHER_SOURCE_UNREAD.because(situation.me.pod_ref, register=target.short),))


def next_reading(situation: Situation) -> datetime | None:
    """When the other object is to be read again: as long as daemons of the clique are in it (DC-065)."""
    memory, me = situation.memory, situation.me
    if not situation.setup.reads_both or memory.other is None or memory.other_read_at is None:
        return None
    others = any(entry.clique == me.clique for entry in memory.other.entries)
    return memory.other_read_at + situation.setup.recheck if others else None
