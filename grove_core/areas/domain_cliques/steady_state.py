"""What a settled daemon does: it updates the fabric daemon, then the readiness in its entry."""

from datetime import datetime

from grove_core.areas.domain_cliques.clique_view import CliqueView, choose_index, clique_view_of
from grove_core.areas.domain_cliques.daemon_context import DaemonContext
from grove_core.areas.domain_cliques.entry_registration import register_index, withdraw_entry, write_entry
from grove_core.areas.domain_cliques.other_registry import clean_or_reread, next_read_at, read_other_registry
from grove_core.areas.domain_cliques.rules import Why
from grove_core.areas.domain_cliques.verdicts import DaemonAction, Idle, PushPeers, RestartFabric, StartFabric, Wait
from grove_core.kernel.decisions import Decision
from grove_core.kernel.times import format_time
from grove_core.resources.compute_domain_clique import ComputeDomainClique
from grove_core.resources.daemon_entry import NOT_READY, READY, DaemonEntry


def maintain(context: DaemonContext, view: CliqueView, own: DaemonEntry, index: int) -> Decision[DaemonAction]:
    """Return the next action of a daemon that settled on an index.

    Args:
        context: of the daemon.
        view: its clique.
        own: its entry, with its address and this index.
        index: the index it settled on.
    """
    identity, settings, state = context.identity, context.settings, context.state
    if state.contested_since is not None:
        move = _resolve_contest(context, view, own, index, state.contested_since)
        if move is not None:
            return move
    if settings.reads_other_registry and state.other_read_at is None:
        return read_other_registry(context)
    duplicate = view.duplicate_index()
    if duplicate is None:
        action = _update_fabric(context, view, index)
        if action is not None:
            return action
    fabric = context.fabric
    status = READY if fabric is not None and fabric.ready and fabric.index == index else NOT_READY
    entry = DaemonEntry(identity.node, identity.ip, identity.clique, index, status)
    if own.status != status:
        reason = Why.READINESS_CHANGED.because(identity.pod_ref, before=own.status or "nothing", after=status)
        return write_entry(context, entry, reason)
    if isinstance(context.registry, ComputeDomainClique) and identity.pod_uid not in context.registry.owners:
        return write_entry(context, entry, Why.REFERENCE_MISSING.because(identity.pod_ref))
    cleaning = clean_or_reread(context, view)
    if cleaning is not None:
        return cleaning
    until = next_read_at(context)
    if duplicate is not None:
        return _wait_for_unique_indices(context, view, index, duplicate, until)
    peers = len(view.peers(settings.limit).addresses)
    because = (Why.CONVERGED.because(identity.pod_ref, index=index, peers=peers),)
    return Decision(Idle() if until is None else Wait(until), because)


def _resolve_contest(
    context: DaemonContext, view: CliqueView, own: DaemonEntry, index: int, since: datetime
) -> Decision[DaemonAction] | None:
    """Move if another node has the settled index and is not expected to move; None otherwise.

    If the rival is in the other registry only, neither daemon can have seen the other in a response to its own write;
    then a daemon whose fabric daemon has not started moves (DC-068). A rival that does not move within the timeout
    never will; then the last node by name moves (DC-026).
    """
    identity, settings, holders = context.identity, context.settings, view.holders(index)
    only_in_other = context.fabric is None and not clique_view_of(identity, context.registry).rival(index)
    is_last = all(node < identity.node for node in holders) and context.now >= since + settings.rival_timeout
    free = choose_index(view, settings.limit)
    if not holders or not (only_in_other or is_last):
        return None
    if free is None:
        return withdraw_entry(context, view, own)
    rival = view.rival(index)
    reason = Why.CONTESTED_ELSEWHERE.because(identity.pod_ref, rival=rival, before=index, index=free)
    if not only_in_other:
        facts = {"rival": rival, "since": format_time(since)}
        reason = Why.STALEMATE_ENDED.because(identity.pod_ref, **facts, before=index, index=free)
    return register_index(context, free, reason)


def _wait_for_unique_indices(
    context: DaemonContext, view: CliqueView, index: int, duplicate: int, read_at: datetime | None
) -> Decision[DaemonAction]:
    """Wait while two entries share an index; for the own index no longer than the rival timeout."""
    ref, since = context.identity.pod_ref, context.state.contested_since
    if since is not None:
        because = Why.RIVAL_AWAITED.because(ref, index=index, rival=view.rival(index))
        deadline = since + context.settings.rival_timeout
        times = [time for time in (deadline, read_at) if time is not None and time > context.now]
        return Decision(Wait(min(times, default=None)), (because,))
    nodes = ", ".join(view.holders(duplicate))
    return Decision(Wait(read_at), (Why.DUPLICATE_VISIBLE.because(ref, index=duplicate, nodes=nodes),))


def _update_fabric(context: DaemonContext, view: CliqueView, index: int) -> Decision[DaemonAction] | None:
    """Start, restart or update the fabric daemon; None if it runs with this index and the present peer map."""
    ref, fabric = context.identity.pod_ref, context.fabric
    peers = view.peers(context.settings.limit)
    count = len(peers.addresses)
    if fabric is None:
        return Decision(StartFabric(index, peers), (Why.FIRST_MAP.because(ref, index=index, peers=count),))
    if fabric.index != index:
        because = Why.INDEX_CHANGED.because(ref, before=fabric.index, index=index)
        return Decision(RestartFabric(index, peers), (because,))
    if fabric.peers != peers:
        return Decision(PushPeers(index, peers), (Why.MAP_CHANGED.because(ref, peers=count),))
    return None
