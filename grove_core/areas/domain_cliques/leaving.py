"""How a daemon stops: it takes away what is its own, aimed at what it saw, and nothing else (DC-053 to DC-057)."""

from grove_core.areas.domain_cliques.rules import Why
from grove_core.areas.domain_cliques.situation import Situation
from grove_core.areas.domain_cliques.verdicts import Deed, Done
from grove_core.areas.domain_cliques.writing import entry_removed
from grove_core.kernel.decisions import Decision
from grove_core.kernel.times import format_time


def leave(situation: Situation) -> Decision[Deed]:
    """Take the own entry away while there is time; an entry with another address is the successor's."""
    me, register, ref = situation.me, situation.register, situation.me.pod_ref
    own = register is not None and any(entry.node == me.node and entry.ip == me.ip for entry in register.entries)
    if register is None or not own or situation.is_foreign:
        return Decision(Done(), (Why.NOTHING_LEFT.because(ref, ip=me.ip),))
    if situation.stop_by is not None and situation.now >= situation.stop_by:
        return Decision(Done(entry_remains=True), (Why.OUT_OF_TIME.because(ref, until=format_time(situation.stop_by)),))
    why = Why.ENTRY_REMAINS if situation.memory.by_put else Why.LEAVING
    return Decision(entry_removed(situation, register), (why.because(ref),))
