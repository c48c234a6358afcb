"""The next action of a daemon.

The order of the questions is the protocol: a change here needs a change in specs/domain_cliques.md first.
"""

from grove_core.areas.domain_cliques.clique_view import clique_view_of
from grove_core.areas.domain_cliques.daemon_context import DaemonContext
from grove_core.areas.domain_cliques.entry_registration import confirm_index, create_entry, take_over_entry
from grove_core.areas.domain_cliques.entry_requests import removal_request
from grove_core.areas.domain_cliques.other_registry import next_read_at, read_other_registry
from grove_core.areas.domain_cliques.rules import Why
from grove_core.areas.domain_cliques.steady_state import maintain
from grove_core.areas.domain_cliques.verdicts import REQUESTS, DaemonAction, Idle, LabelPod, Stopped, Wait
from grove_core.kernel.decisions import Decision
from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.times import format_time
from grove_core.resources.api_names import DOMAIN_CLIQUE


def decide(context: DaemonContext) -> Decision[DaemonAction]:
    """Return the daemon's next action, and why. Pure and total; linear in the entries of its registry.

    A request is deferred during backoff (DC-034) and while the server throttles (DC-035). Actions on the fabric daemon
    are never deferred.
    """
    wanted = _deregister(context) if context.stop_deadline is not None else _next(context)
    if not isinstance(wanted.verdict, REQUESTS):
        return wanted
    state, now, ref = context.state, context.now, context.identity.pod_ref
    if state.throttled_until is not None and now < state.throttled_until:
        until = state.throttled_until
        return Decision(Wait(until), (Why.SERVER_BUSY.because(ref, until=format_time(until)), *wanted.because))
    if state.not_before is not None and now < state.not_before:
        until = state.not_before
        failure = state.failure or "none"
        because = Why.BACKING_OFF.because(ref, failure=failure, until=format_time(until))
        return Decision(Wait(until), (because, *wanted.because))
    return wanted


def _next(context: DaemonContext) -> Decision[DaemonAction]:
    identity, settings, state = context.identity, context.settings, context.state
    precondition = _precondition(context)
    if precondition is not None:
        return precondition
    read_at = next_read_at(context)
    due = state.other_read_at is None or (read_at is not None and context.now >= read_at)
    if settings.reads_other_registry and state.settled_index is None and due:
        return read_other_registry(context)
    view = clique_view_of(identity, context.registry, state.other_registry)
    if view.own is None:
        return create_entry(context, view)
    if view.own.ip != identity.ip:
        return take_over_entry(context, view, view.own)
    if state.settled_index is None:
        return confirm_index(context, view, view.own)
    return maintain(context, view, view.own, state.settled_index)


def _precondition(context: DaemonContext) -> Decision[DaemonAction] | None:
    """Label the pod, and wait for a registry of the right domain; None once entries can be looked at."""
    identity, state, pod, registry = context.identity, context.state, context.pod, context.registry
    unlabelled = pod is None or pod.clique != identity.clique  # a pod that was not observed yet may have no label
    if context.settings.has_pods and unlabelled and not state.pod_labelled:
        labels = FrozenMap({DOMAIN_CLIQUE: identity.clique})
        because = Why.CLIQUE_UNLABELLED.because(identity.pod_ref, clique=identity.clique or "none")
        return Decision(LabelPod(identity.pod_ref, labels), (because,))
    if not identity.clique:
        return Decision(Idle(), (Why.NO_FABRIC.because(identity.pod_ref),))
    if state.observed is None:
        return Decision(Wait(), (Why.NOTHING_SEEN.because(identity.pod_ref, register=context.registry_ref.short),))
    if registry is None and not context.settings.protocol.sharded:
        return Decision(Wait(), (Why.DOMAIN_MISSING.because(identity.pod_ref, register=context.registry_ref.short),))
    if registry is not None and context.is_other_domain:
        because = Why.OTHER_DOMAIN.because(identity.pod_ref, found=registry.uid, wanted=identity.domain_uid)
        return Decision(Wait(), (because,))
    return None


def _deregister(context: DaemonContext) -> Decision[DaemonAction]:
    """Remove the own entry until the deadline; an entry with another IP belongs to a successor (DC-053 to DC-057)."""
    identity, registry, ref = context.identity, context.registry, context.identity.pod_ref
    is_registered = registry is not None and any(
        entry.node == identity.node and entry.ip == identity.ip for entry in registry.entries
    )
    if registry is None or not is_registered or context.is_other_domain:
        return Decision(Stopped(), (Why.NOTHING_LEFT.because(ref, ip=identity.ip),))
    deadline = context.stop_deadline
    if deadline is not None and context.now >= deadline:
        return Decision(Stopped(entry_remains=True), (Why.OUT_OF_TIME.because(ref, until=format_time(deadline)),))
    why = Why.ENTRY_REMAINS if context.state.removes_by_put else Why.LEAVING
    return Decision(removal_request(context, registry), (why.because(ref),))
