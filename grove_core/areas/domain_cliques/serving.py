"""What a settled daemon does: the fabric daemon beside it is looked after, then the word of its entry on that."""

from datetime import datetime

from grove_core.areas.domain_cliques.clique_view import CliqueView, chosen, view_of
from grove_core.areas.domain_cliques.other_source import attending, next_reading, reading
from grove_core.areas.domain_cliques.registering import registered, withdraw, written
from grove_core.areas.domain_cliques.rules import Why
from grove_core.areas.domain_cliques.situation import Situation
from grove_core.areas.domain_cliques.verdicts import Deed, Push, Rest, Restart, Start, Wait
from grove_core.kernel.decisions import Decision
from grove_core.kernel.times import format_time
from grove_core.resources.compute_domain_clique import ComputeDomainClique
from grove_core.resources.daemon_entry import NOT_READY, READY, DaemonEntry


def serve(situation: Situation, view: CliqueView, mine: DaemonEntry, index: int) -> Decision[Deed]:
    """It has an index for itself: the fabric daemon is looked after, then the entry's word on it."""
    me, setup, memory = situation.me, situation.setup, situation.memory
    if memory.contested_since is not None:
        moved = _contested(situation, view, mine, index, memory.contested_since)
        if moved is not None:
            return moved
    if setup.reads_both and memory.other_read_at is None:
        return reading(situation)
    shared = view.shared_index()
    if shared is None:
        deed = _fabric(situation, view, index)
        if deed is not None:
            return deed
    status = (
        READY
        if situation.fabric is not None and situation.fabric.ready and situation.fabric.index == index
        else NOT_READY
    )
    entry = DaemonEntry(me.node, me.ip, me.clique, index, status)
    if mine.status != status:
        return written(
            situation, entry, Why.READINESS_CHANGED.because(me.pod_ref, before=mine.status or "nothing", after=status)
        )
    if isinstance(situation.register, ComputeDomainClique) and me.pod_uid not in situation.register.owners:
        return written(situation, entry, Why.REFERENCE_MISSING.because(me.pod_ref))
    elsewhere = attending(situation, view)
    if elsewhere is not None:
        return elsewhere
    until = next_reading(situation)
    if shared is not None:
        return _held_up(situation, view, index, shared, until)
    peers = len(view.peers(setup.limit).addresses)
    because = (Why.CONVERGED.because(me.pod_ref, index=index, peers=peers),)
    return Decision(Rest() if until is None else Wait(until), because)


def _contested(
    situation: Situation, view: CliqueView, mine: DaemonEntry, index: int, since: datetime
) -> Decision[Deed] | None:
    """Somebody else has the index it settled on; None while that one is expected to move.

    Where the other stands in the object of the other gate, neither can have seen the other in its own answer, so who
    has not started moves (DC-068). Who does not move within the patience never will; then the last by name does.
    """
    me, setup, holders = situation.me, situation.setup, view.holders(index)
    apart = situation.fabric is None and not view_of(me, situation.register).rival(index)
    last = all(node < me.node for node in holders) and situation.now >= since + setup.patience
    free = chosen(view, setup.limit)
    if not holders or not (apart or last):
        return None
    if free is None:
        return withdraw(situation, view, mine)
    rival = view.rival(index)
    reason = Why.CONTESTED_ELSEWHERE.because(me.pod_ref, rival=rival, before=index, index=free)
    if not apart:
        facts = {"rival": rival, "since": format_time(since)}
        reason = Why.STALEMATE_ENDED.because(me.pod_ref, **facts, before=index, index=free)
    return registered(situation, free, reason)


def _held_up(situation: Situation, view: CliqueView, index: int, shared: int, again: datetime | None) -> Decision[Deed]:
    """Some index has two holders; the rival of its own one is awaited no longer than the patience lasts."""
    ref, since = situation.me.pod_ref, situation.memory.contested_since
    if since is not None:
        because = Why.RIVAL_AWAITED.because(ref, index=index, rival=view.rival(index))
        patient = since + situation.setup.patience
        moments = [moment for moment in (patient, again) if moment is not None and moment > situation.now]
        return Decision(Wait(min(moments, default=None)), (because,))
    nodes = ", ".join(view.holders(shared))
    return Decision(Wait(again), (Why.DUPLICATE_VISIBLE.because(ref, index=shared, nodes=nodes),))


def _fabric(situation: Situation, view: CliqueView, index: int) -> Decision[Deed] | None:
    ref, fabric = situation.me.pod_ref, situation.fabric
    peers = view.peers(situation.setup.limit)
    count = len(peers.addresses)
    if fabric is None:
        return Decision(Start(index, peers), (Why.FIRST_MAP.because(ref, index=index, peers=count),))
    if fabric.index != index:
        return Decision(Restart(index, peers), (Why.INDEX_CHANGED.because(ref, before=fabric.index, index=index),))
    if fabric.peers != peers:
        return Decision(Push(index, peers), (Why.MAP_CHANGED.because(ref, peers=count),))
    return None
