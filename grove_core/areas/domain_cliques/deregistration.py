"""How a daemon stops: it takes away what is its own, aimed at what it saw, and nothing else (DC-053 to DC-057)."""

from grove_core.areas.domain_cliques.daemon_context import DaemonContext
from grove_core.areas.domain_cliques.entry_requests import removal_request
from grove_core.areas.domain_cliques.rules import Why
from grove_core.areas.domain_cliques.verdicts import DaemonAction, Stopped
from grove_core.kernel.decisions import Decision
from grove_core.kernel.times import format_time


def deregister(context: DaemonContext) -> Decision[DaemonAction]:
    """Take the own entry away while there is time; an entry with another address is the successor's."""
    identity, registry, ref = context.identity, context.registry, context.identity.pod_ref
    own = registry is not None and any(
        entry.node == identity.node and entry.ip == identity.ip for entry in registry.entries
    )
    if registry is None or not own or context.is_other_domain:
        return Decision(Stopped(), (Why.NOTHING_LEFT.because(ref, ip=identity.ip),))
    if context.stop_deadline is not None and context.now >= context.stop_deadline:
        return Decision(
            Stopped(entry_remains=True), (Why.OUT_OF_TIME.because(ref, until=format_time(context.stop_deadline)),)
        )
    why = Why.ENTRY_REMAINS if context.state.removes_by_put else Why.LEAVING
    return Decision(removal_request(context, registry), (why.because(ref),))
