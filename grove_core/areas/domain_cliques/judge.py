"""What a daemon does next: one question after the other, the first that has an answer speaks.

Rule for this file: the order is the protocol. Whoever changes it reads specs/domain_cliques.md first.
"""

from grove_core.areas.domain_cliques.clique_view import clique_view_of
from grove_core.areas.domain_cliques.daemon_context import DaemonContext
from grove_core.areas.domain_cliques.deregistration import deregister
from grove_core.areas.domain_cliques.other_registry import next_read, read_other_registry
from grove_core.areas.domain_cliques.registration import confirm_index, create_entry, take_over_entry
from grove_core.areas.domain_cliques.rules import Why
from grove_core.areas.domain_cliques.steady_state import maintain
from grove_core.areas.domain_cliques.verdicts import REQUESTS, DaemonAction, Idle, LabelPod, Wait
from grove_core.kernel.decisions import Decision
from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.times import format_time
from grove_core.resources.api_names import DOMAIN_CLIQUE


def decide(context: DaemonContext) -> Decision[DaemonAction]:
    """What the daemon does now, and why. Pure and total; linear in the entries of its register.

    A request is put off while the daemon backs off (DC-034) or the server asked for patience (DC-035); what concerns
    only the fabric daemon beside it never is.
    """
    wanted = deregister(context) if context.stop_deadline is not None else _next(context)
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
    before = _before_all(context)
    if before is not None:
        return before
    again = next_read(context)
    due = state.other_read_at is None or (again is not None and context.now >= again)
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


def _before_all(context: DaemonContext) -> Decision[DaemonAction] | None:
    """What comes before a look at any entry: the label of the pod, and whether there is anything to register in."""
    identity, state, pod, registry = context.identity, context.state, context.pod, context.registry
    unlabelled = pod is None or pod.clique != identity.clique  # a pod that is not seen yet may have no label
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
