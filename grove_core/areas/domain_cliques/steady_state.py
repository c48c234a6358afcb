"""What a settled daemon does: the fabric daemon beside it is looked after, then the word of its entry on that."""

from datetime import datetime

from grove_core.areas.domain_cliques.clique_view import CliqueView, choose_index, clique_view_of
from grove_core.areas.domain_cliques.daemon_context import DaemonContext
from grove_core.areas.domain_cliques.other_registry import clean_or_reread, next_read, read_other_registry
from grove_core.areas.domain_cliques.registration import register_index, withdraw_entry, write_entry
from grove_core.areas.domain_cliques.rules import Why
from grove_core.areas.domain_cliques.verdicts import DaemonAction, Idle, PushPeers, RestartFabric, StartFabric, Wait
from grove_core.kernel.decisions import Decision
from grove_core.kernel.times import format_time
from grove_core.resources.compute_domain_clique import ComputeDomainClique
from grove_core.resources.daemon_entry import NOT_READY, READY, DaemonEntry


def maintain(context: DaemonContext, view: CliqueView, mine: DaemonEntry, index: int) -> Decision[DaemonAction]:
    """It has an index for itself: the fabric daemon is looked after, then the entry's word on it."""
    identity, settings, state = context.identity, context.settings, context.state
    if state.contested_since is not None:
        moved = _contested(context, view, mine, index, state.contested_since)
        if moved is not None:
            return moved
    if settings.reads_other_registry and state.other_read_at is None:
        return read_other_registry(context)
    shared = view.duplicate_index()
    if shared is None:
        action = _fabric(context, view, index)
        if action is not None:
            return action
    status = (
        READY if context.fabric is not None and context.fabric.ready and context.fabric.index == index else NOT_READY
    )
    entry = DaemonEntry(identity.node, identity.ip, identity.clique, index, status)
    if mine.status != status:
        return write_entry(
            context,
            entry,
            Why.READINESS_CHANGED.because(identity.pod_ref, before=mine.status or "nothing", after=status),
        )
    if isinstance(context.registry, ComputeDomainClique) and identity.pod_uid not in context.registry.owners:
        return write_entry(context, entry, Why.REFERENCE_MISSING.because(identity.pod_ref))
    elsewhere = clean_or_reread(context, view)
    if elsewhere is not None:
        return elsewhere
    until = next_read(context)
    if shared is not None:
        return _held_up(context, view, index, shared, until)
    peers = len(view.peers(settings.limit).addresses)
    because = (Why.CONVERGED.because(identity.pod_ref, index=index, peers=peers),)
    return Decision(Idle() if until is None else Wait(until), because)


def _contested(
    context: DaemonContext, view: CliqueView, mine: DaemonEntry, index: int, since: datetime
) -> Decision[DaemonAction] | None:
    """Somebody else has the index it settled on; None while that one is expected to move.

    Where the other stands in the object of the other gate, neither can have seen the other in its own answer, so who
    has not started moves (DC-068). Who does not move within the patience never will; then the last by name does.
    """
    identity, settings, holders = context.identity, context.settings, view.holders(index)
    apart = context.fabric is None and not clique_view_of(identity, context.registry).rival(index)
    last = all(node < identity.node for node in holders) and context.now >= since + settings.rival_timeout
    free = choose_index(view, settings.limit)
    if not holders or not (apart or last):
        return None
    if free is None:
        return withdraw_entry(context, view, mine)
    rival = view.rival(index)
    reason = Why.CONTESTED_ELSEWHERE.because(identity.pod_ref, rival=rival, before=index, index=free)
    if not apart:
        facts = {"rival": rival, "since": format_time(since)}
        reason = Why.STALEMATE_ENDED.because(identity.pod_ref, **facts, before=index, index=free)
    return register_index(context, free, reason)


def _held_up(
    context: DaemonContext, view: CliqueView, index: int, shared: int, again: datetime | None
) -> Decision[DaemonAction]:
    """Some index has two holders; the rival of its own one is awaited no longer than the patience lasts."""
    ref, since = context.identity.pod_ref, context.state.contested_since
    if since is not None:
        because = Why.RIVAL_AWAITED.because(ref, index=index, rival=view.rival(index))
        patient = since + context.settings.rival_timeout
        moments = [moment for moment in (patient, again) if moment is not None and moment > context.now]
        return Decision(Wait(min(moments, default=None)), (because,))
    nodes = ", ".join(view.holders(shared))
    return Decision(Wait(again), (Why.DUPLICATE_VISIBLE.because(ref, index=shared, nodes=nodes),))


def _fabric(context: DaemonContext, view: CliqueView, index: int) -> Decision[DaemonAction] | None:
    ref, fabric = context.identity.pod_ref, context.fabric
    peers = view.peers(context.settings.limit)
    count = len(peers.addresses)
    if fabric is None:
        return Decision(StartFabric(index, peers), (Why.FIRST_MAP.because(ref, index=index, peers=count),))
    if fabric.index != index:
        return Decision(
            RestartFabric(index, peers), (Why.INDEX_CHANGED.because(ref, before=fabric.index, index=index),)
        )
    if fabric.peers != peers:
        return Decision(PushPeers(index, peers), (Why.MAP_CHANGED.because(ref, peers=count),))
    return None
