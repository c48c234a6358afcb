"""The object of the other gate: read and not watched, for as long as daemons of the clique may be in it (DC-065)."""

from datetime import datetime

from grove_core.areas.domain_cliques.clique_view import CliqueView
from grove_core.areas.domain_cliques.daemon_context import DaemonContext
from grove_core.areas.domain_cliques.entry_requests import clear_request
from grove_core.areas.domain_cliques.rules import Why
from grove_core.areas.domain_cliques.verdicts import DaemonAction, ReadObject
from grove_core.kernel.decisions import Decision


def read_other_registry(context: DaemonContext) -> Decision[DaemonAction]:
    """Get the object of the other gate once (DC-065)."""
    target = context.other_registry_ref
    return Decision(
        ReadObject(target), (Why.OTHER_SOURCE_UNREAD.because(context.identity.pod_ref, register=target.short),)
    )


def clean_or_reread(context: DaemonContext, view: CliqueView) -> Decision[DaemonAction] | None:
    """Take away what a predecessor left there under this very address (DC-067), or look again when it is time."""
    other, left = context.state.other_registry, view.own_in_other
    if other is not None and left is not None and left.ip == context.identity.ip:
        because = Why.LEFT_BEHIND.because(context.identity.pod_ref, register=other.ref.short)
        return Decision(clear_request(context, other), (because,))
    again = next_read(context)
    return read_other_registry(context) if again is not None and context.now >= again else None


def next_read(context: DaemonContext) -> datetime | None:
    """When the other object is to be read again: as long as daemons of the clique are in it (DC-065)."""
    state, identity = context.state, context.identity
    if not context.settings.reads_other_registry or state.other_registry is None or state.other_read_at is None:
        return None
    others = any(entry.clique == identity.clique for entry in state.other_registry.entries)
    return state.other_read_at + context.settings.recheck_interval if others else None
