"""The next action of a daemon.

The order of the questions is the protocol: a change here needs a change in specs/domain_cliques.md first.
"""

from datetime import datetime

from grove_core.areas.domain_cliques.daemon.daemon_entry_requests import (
    daemon_entry_removal_request,
    next_other_registry_read_time,
    other_registry_cleanup_request,
    other_registry_read_request,
)
from grove_core.areas.domain_cliques.daemon.daemon_input import (
    DaemonInput,
    NvlinkCliqueDaemons,
    choose_daemon_index,
    nvlink_clique_daemons_of,
)
from grove_core.areas.domain_cliques.daemon.daemon_registration import (
    confirm_daemon_index,
    register_daemon_of_new_node,
    register_daemon_with_index,
    take_over_daemon_entry,
    withdraw_daemon_entry,
    write_daemon_entry,
)
from grove_core.areas.domain_cliques.daemon.verdicts import (
    REQUEST_TYPES,
    DaemonAction,
    IdleAction,
    LabelPodRequest,
    PushPeersAction,
    RestartFabricAction,
    StartFabricAction,
    StoppedAction,
    WaitAction,
)
from grove_core.areas.domain_cliques.rules import ComputeDomainReason
from grove_core.kernel.decisions import Decision
from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.reasons import Fact
from grove_core.kernel.time_formats import format_time
from grove_core.resources.api_names import DOMAIN_CLIQUE
from grove_core.resources.compute_domain import NOT_READY, READY, ComputeDomainClique, DaemonEntry


def next_daemon_action(context: DaemonInput) -> Decision[DaemonAction]:
    """Return the daemon's next action, and why. Pure and total; linear in the entries of its registry.

    A request is deferred during backoff (DC-034) and while the server throttles (DC-035). Actions on the fabric daemon
    are never deferred.
    """
    wanted = _deregister(context) if context.stop_deadline is not None else _next(context)
    if not isinstance(wanted.verdict, REQUEST_TYPES):
        return wanted
    state, now, ref = context.state, context.now, context.identity.pod_ref
    if state.throttled_until is not None and now < state.throttled_until:
        until = state.throttled_until
        return Decision(
            WaitAction(until),
            (ComputeDomainReason.SERVER_BUSY.because(ref, until=format_time(until)), *wanted.because),
        )
    if state.not_before is not None and now < state.not_before:
        until = state.not_before
        failure = state.failure or "none"
        because = ComputeDomainReason.BACKING_OFF.because(ref, failure=failure, until=format_time(until))
        return Decision(WaitAction(until, after_failure=True), (because, *wanted.because))
    return wanted


def _next(context: DaemonInput) -> Decision[DaemonAction]:
    identity, settings, state = context.identity, context.settings, context.state
    precondition = _precondition(context)
    if precondition is not None:
        return precondition
    read_at = next_other_registry_read_time(context)
    due = state.other_read_at is None or (read_at is not None and context.now >= read_at)
    if settings.reads_other_registry and state.settled_index is None and due:
        return other_registry_read_request(context)
    view = nvlink_clique_daemons_of(identity, context.registry, state.other_registry)
    if view.own is None:
        return register_daemon_of_new_node(context, view)
    if view.own.ip != identity.ip:
        return take_over_daemon_entry(context, view, view.own)
    if state.settled_index is None:
        return confirm_daemon_index(context, view, view.own)
    return next_settled_daemon_action(context, view, view.own, state.settled_index)


def _precondition(context: DaemonInput) -> Decision[DaemonAction] | None:
    """Label the pod, and wait for a registry of the right domain; None once entries can be looked at."""
    identity, state, pod, registry = context.identity, context.state, context.pod, context.registry
    unlabelled = pod is None or pod.clique != identity.clique  # a pod that was not observed yet may have no label
    if context.settings.has_pods and unlabelled and not state.pod_labelled:
        labels = FrozenMap({DOMAIN_CLIQUE: identity.clique})
        return context.decision_for_action(
            LabelPodRequest(identity.pod_ref, labels),
            ComputeDomainReason.CLIQUE_UNLABELLED,
            clique=identity.clique or "none",
        )
    if not identity.clique:
        return context.decision_for_action(IdleAction(), ComputeDomainReason.NO_FABRIC)
    if state.observed is None:
        return context.decision_for_action(
            WaitAction(), ComputeDomainReason.NOTHING_SEEN, register=context.registry_ref.short
        )
    if registry is None and not context.settings.protocol.sharded:
        return context.decision_for_action(
            WaitAction(), ComputeDomainReason.DOMAIN_MISSING, register=context.registry_ref.short
        )
    if registry is not None and context.domain_was_recreated:
        return context.decision_for_action(
            WaitAction(), ComputeDomainReason.OTHER_DOMAIN, found=registry.uid, wanted=identity.domain_uid
        )
    return None


def _deregister(context: DaemonInput) -> Decision[DaemonAction]:
    """Remove the own entry until the deadline; an entry with another IP belongs to a successor (DC-053 to DC-057)."""
    identity, registry = context.identity, context.registry
    is_registered = registry is not None and any(
        entry.node == identity.node and entry.ip == identity.ip for entry in registry.daemon_entries
    )
    if registry is None or not is_registered or context.domain_was_recreated:
        return context.decision_for_action(StoppedAction(), ComputeDomainReason.NOTHING_LEFT, ip=identity.ip)
    deadline = context.stop_deadline
    if deadline is not None and context.now >= deadline:
        return context.decision_for_action(
            StoppedAction(entry_remains=True), ComputeDomainReason.OUT_OF_TIME, until=format_time(deadline)
        )
    why = ComputeDomainReason.ENTRY_REMAINS if context.state.removes_by_put else ComputeDomainReason.LEAVING
    return context.decision_for_action(daemon_entry_removal_request(context, registry), why)


def next_settled_daemon_action(
    context: DaemonInput, view: NvlinkCliqueDaemons, own: DaemonEntry, index: int
) -> Decision[DaemonAction]:
    """Return the next action of a daemon that settled on an index.

    Args:
        view: the entries of its clique, in both registries.
        own: the entry of the daemon's node in its registry.
        index: that it settled on; the entry may have another one.
    """
    identity, settings, state = context.identity, context.settings, context.state
    if state.contested_since is not None:
        move = _resolve_contest(context, view, own, index, state.contested_since)
        if move is not None:
            return move
    if settings.reads_other_registry and state.other_read_at is None:
        return other_registry_read_request(context)
    duplicate = view.duplicate_index()
    if duplicate is None:
        action = _update_fabric(context, view, index)
        if action is not None:
            return action
    fabric = context.fabric
    status = READY if fabric is not None and fabric.ready and fabric.index == index else NOT_READY
    entry = DaemonEntry(identity.node, identity.ip, identity.clique, index, status)
    if own.status != status:
        reason = ComputeDomainReason.READINESS_CHANGED.because(
            identity.pod_ref, before=own.status or "nothing", after=status
        )
        return write_daemon_entry(context, entry, reason)
    if isinstance(context.registry, ComputeDomainClique) and identity.pod_uid not in context.registry.owners:
        return write_daemon_entry(context, entry, ComputeDomainReason.REFERENCE_MISSING.because(identity.pod_ref))
    cleaning = other_registry_cleanup_request(context, view)
    if cleaning is not None:
        return cleaning
    until = next_other_registry_read_time(context)
    if duplicate is not None:
        return _wait_for_unique_indices(context, view, index, duplicate, until)
    peers = len(view.peer_map(settings.limit).addresses)
    at_rest = IdleAction() if until is None else WaitAction(until)
    return context.decision_for_action(at_rest, ComputeDomainReason.CONVERGED, index=index, peers=peers)


def _resolve_contest(
    context: DaemonInput, view: NvlinkCliqueDaemons, own: DaemonEntry, index: int, since: datetime
) -> Decision[DaemonAction] | None:
    """Move if another node has the settled index and is not expected to move; None otherwise.

    If the rival is in the other registry only, neither daemon can have seen the other in a response to its own write;
    then a daemon whose fabric daemon has not started moves (DC-068). A rival that does not move within the timeout
    never will; then the last node by name moves (DC-026).
    """
    identity, settings, holders = context.identity, context.settings, view.other_nodes_with_index(index)
    only_in_other = context.fabric is None and not nvlink_clique_daemons_of(
        identity, context.registry
    ).other_node_with_index(index)
    is_last = all(node < identity.node for node in holders) and context.now >= since + settings.rival_timeout
    free = choose_daemon_index(view, settings.limit)
    if not holders or not (only_in_other or is_last):
        return None
    if free is None:
        return withdraw_daemon_entry(context, view, own)
    facts: dict[str, Fact] = {"rival": view.other_node_with_index(index), "before": index, "index": free}
    if only_in_other:
        reason = ComputeDomainReason.CONTESTED_ELSEWHERE.because(identity.pod_ref, **facts)
    else:
        reason = ComputeDomainReason.STALEMATE_ENDED.because(identity.pod_ref, since=format_time(since), **facts)
    return register_daemon_with_index(context, free, reason)


def _wait_for_unique_indices(
    context: DaemonInput, view: NvlinkCliqueDaemons, index: int, duplicate: int, read_at: datetime | None
) -> Decision[DaemonAction]:
    """Wait while two entries share an index; for the own index no longer than the rival timeout."""
    since = context.state.contested_since
    if since is not None:
        deadline = since + context.settings.rival_timeout
        times = [time for time in (deadline, read_at) if time is not None and time > context.now]
        action = WaitAction(min(times, default=None))
        return context.decision_for_action(
            action, ComputeDomainReason.RIVAL_AWAITED, index=index, rival=view.other_node_with_index(index)
        )
    nodes = ", ".join(view.other_nodes_with_index(duplicate))
    return context.decision_for_action(
        WaitAction(read_at), ComputeDomainReason.DUPLICATE_VISIBLE, index=duplicate, nodes=nodes
    )


def _update_fabric(context: DaemonInput, view: NvlinkCliqueDaemons, index: int) -> Decision[DaemonAction] | None:
    """Start, restart or update the fabric daemon; None if it runs with this index and the present peer map."""
    fabric = context.fabric
    peers = view.peer_map(context.settings.limit)
    count = len(peers.addresses)
    if fabric is None:
        return context.decision_for_action(
            StartFabricAction(index, peers), ComputeDomainReason.FIRST_MAP, index=index, peers=count
        )
    if fabric.index != index:
        return context.decision_for_action(
            RestartFabricAction(index, peers), ComputeDomainReason.INDEX_CHANGED, before=fabric.index, index=index
        )
    if fabric.peers != peers:
        return context.decision_for_action(PushPeersAction(index, peers), ComputeDomainReason.MAP_CHANGED, peers=count)
    return None
