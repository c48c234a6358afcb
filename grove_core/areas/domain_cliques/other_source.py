"""The object of the other gate: read and not watched, for as long as daemons of the clique may be in it (DC-065)."""

from datetime import datetime

from grove_core.areas.domain_cliques.clique_view import CliqueView
from grove_core.areas.domain_cliques.rules import Why
from grove_core.areas.domain_cliques.situation import Situation
from grove_core.areas.domain_cliques.verdicts import Deed, Read
from grove_core.areas.domain_cliques.writing import entry_cleared
from grove_core.kernel.decisions import Decision


def reading(situation: Situation) -> Decision[Deed]:
    """Get the object of the other gate once (DC-065)."""
    target = situation.other_ref
    return Decision(Read(target), (Why.OTHER_SOURCE_UNREAD.because(situation.me.pod_ref, register=target.short),))


def attending(situation: Situation, view: CliqueView) -> Decision[Deed] | None:
    """Take away what a predecessor left there under this very address (DC-067), or look again when it is time."""
    other, left = situation.memory.other, view.elsewhere
    if other is not None and left is not None and left.ip == situation.me.ip:
        because = Why.LEFT_BEHIND.because(situation.me.pod_ref, register=other.ref.short)
        return Decision(entry_cleared(situation, other), (because,))
    again = next_reading(situation)
    return reading(situation) if again is not None and situation.now >= again else None


def next_reading(situation: Situation) -> datetime | None:
    """When the other object is to be read again: as long as daemons of the clique are in it (DC-065)."""
    memory, me = situation.memory, situation.me
    if not situation.setup.reads_both or memory.other is None or memory.other_read_at is None:
        return None
    others = any(entry.clique == me.clique for entry in memory.other.entries)
    return memory.other_read_at + situation.setup.recheck if others else None
