"""How a daemon gets an entry with an index that no other daemon has; until then it is not settled (D42)."""

from grove_core.areas.domain_cliques.daemon.daemon_entry_requests import (
    daemon_entry_removal_request,
    daemon_entry_write_request,
    next_other_registry_read_time,
)
from grove_core.areas.domain_cliques.daemon.daemon_input import DaemonInput, NvlinkCliqueDaemons, choose_daemon_index
from grove_core.areas.domain_cliques.daemon.verdicts import DaemonAction, ListPodsRequest, StopFabricAction, WaitAction
from grove_core.areas.domain_cliques.rules import ComputeDomainReason
from grove_core.kernel.decisions import Decision
from grove_core.kernel.reasons import Reason
from grove_core.kernel.time_formats import format_time
from grove_core.resources.compute_domain import NOT_READY, DaemonEntry, DaemonPod


def register_daemon_of_new_node(context: DaemonInput, view: NvlinkCliqueDaemons) -> Decision[DaemonAction]:
    """Register a node that has no entry."""
    running = context.running_index
    elsewhere = view.own_in_other.index if view.own_in_other is not None else None
    index = choose_daemon_index(view, context.settings.limit, running, elsewhere)
    return register_daemon_with_index(context, index, _reason_for(context, running, index))


def _reason_for(context: DaemonInput, running: int | None, index: int | None) -> Reason | None:
    """Why an entry is created: for the first time, or again after its removal (D43); None without an index."""
    ref = context.identity.pod_ref
    if index is None:
        return None
    if running is None:
        return ComputeDomainReason.INDEX_CHOSEN.because(ref, index=index)
    if running == index:
        return ComputeDomainReason.INDEX_KEPT.because(ref, index=index)
    return ComputeDomainReason.INDEX_LOST.because(ref, before=running, index=index)


def take_over_daemon_entry(context: DaemonInput, view: NvlinkCliqueDaemons, own: DaemonEntry) -> Decision[DaemonAction]:
    """Replace the node's entry with another address, unless a newer pod on the node owns it (D45)."""
    identity, settings, state = context.identity, context.settings, context.state
    if settings.has_pods:
        listed_at = state.pods_listed_at
        expired = listed_at is None or context.now >= listed_at + settings.recheck_interval
        if listed_at is None or expired or state.pods_listed_for != own.ip:
            return context.decision_for_action(
                ListPodsRequest(own.ip), ComputeDomainReason.OTHER_ADDRESS_ON_NODE, ip=own.ip
            )
        newer = newer_daemon_pod(state.pods, identity.pod_uid, own.ip)
        if newer is not None:
            until = listed_at + settings.recheck_interval
            return context.decision_for_action(
                StopFabricAction(until), ComputeDomainReason.SUPERSEDED, pod=newer.ref.name, until=format_time(until)
            )
    running = context.running_index
    sticky = own.index if own.clique == identity.clique else None
    index = choose_daemon_index(view, settings.limit, running, sticky)
    if index is None and sticky is not None and view.other_node_with_index(sticky):
        return withdraw_daemon_entry(context, view, own)
    if running is not None:
        return register_daemon_with_index(context, index, _reason_for(context, running, index))
    reason = (
        None
        if index is None
        else ComputeDomainReason.PREDECESSOR_REPLACED.because(identity.pod_ref, ip=own.ip, index=index)
    )
    return register_daemon_with_index(context, index, reason)


def newer_daemon_pod(pods: tuple[DaemonPod, ...], own_uid: str, ip: str) -> DaemonPod | None:
    """Return the living pod with this IP if it is newer than the daemon's own pod, or the own one is terminating (D45).

    Args:
        ip: of the node's entry.
    """
    other = next((pod for pod in pods if pod.ip == ip and pod.living and pod.uid != own_uid), None)
    own = next((pod for pod in pods if pod.uid == own_uid and pod.living), None)
    if other is None or own is None:
        return other
    return other if other.creation_order > own.creation_order else None


def confirm_daemon_index(context: DaemonInput, view: NvlinkCliqueDaemons, own: DaemonEntry) -> Decision[DaemonAction]:
    """Write the own entry of an unsettled daemon again, with another index if a rival has the present one (D42)."""
    running, limit = context.running_index, context.settings.limit
    index = choose_daemon_index(view, limit, running, own.index)
    if index is None:
        return withdraw_daemon_entry(context, view, own)
    if index == own.index:
        return register_daemon_with_index(
            context, index, ComputeDomainReason.INDEX_UNCONFIRMED.because(context.identity.pod_ref, index=index)
        )
    if running is None and own.index is not None and (rival := view.other_node_with_index(own.index)):
        reason = ComputeDomainReason.INDEX_CONTESTED.because(
            context.identity.pod_ref, rival=rival, before=own.index, index=index
        )
        return register_daemon_with_index(context, index, reason)
    return register_daemon_with_index(context, index, _reason_for(context, running, index))


def withdraw_daemon_entry(context: DaemonInput, view: NvlinkCliqueDaemons, own: DaemonEntry) -> Decision[DaemonAction]:
    """Remove the own entry if no index is free: no daemon pushes while two entries share an index (DC-029)."""
    registry, limit = context.registry, context.settings.limit
    action = WaitAction() if registry is None else daemon_entry_removal_request(context, registry)
    if own.index is not None and (rival := view.other_node_with_index(own.index)):
        return context.decision_for_action(
            action, ComputeDomainReason.WITHDRAWN, rival=rival, before=own.index, limit=limit
        )
    return context.decision_for_action(action, ComputeDomainReason.CLIQUE_FULL, limit=limit)


def register_daemon_with_index(
    context: DaemonInput, index: int | None, reason: Reason | None
) -> Decision[DaemonAction]:
    """Register with an index as NotReady (DC-037); without an index, wait for a free one."""
    identity = context.identity
    if index is None or reason is None:
        until = context.now + context.settings.recheck_interval
        action = (
            WaitAction(next_other_registry_read_time(context)) if context.fabric is None else StopFabricAction(until)
        )
        return context.decision_for_action(action, ComputeDomainReason.CLIQUE_FULL, limit=context.settings.limit)
    return write_daemon_entry(
        context, DaemonEntry(identity.node, identity.ip, identity.clique, index, NOT_READY), reason
    )


def write_daemon_entry(context: DaemonInput, entry: DaemonEntry, reason: Reason) -> Decision[DaemonAction]:
    """Write the own entry; with force after a conflict with another field manager (DC-032)."""
    force = context.state.must_force
    forced = (ComputeDomainReason.OWNED_BY_ANOTHER.because(context.identity.pod_ref),) if force else ()
    return Decision(daemon_entry_write_request(context, entry, force=force), (reason, *forced))
