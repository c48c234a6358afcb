"""The object in which daemons register with the opposite value of the feature gate (DC-065).

It is read and not watched, for as long as it contains daemons of the clique.
"""

from datetime import datetime

from grove_core.areas.domain_cliques.clique_view import CliqueView
from grove_core.areas.domain_cliques.daemon_context import DaemonContext
from grove_core.areas.domain_cliques.entry_requests import other_entry_removal_request
from grove_core.areas.domain_cliques.rules import Why
from grove_core.areas.domain_cliques.verdicts import DaemonAction, ReadObject
from grove_core.kernel.decisions import Decision


def read_other_registry(context: DaemonContext) -> Decision[DaemonAction]:
    """Return a GET of the other registry (DC-065)."""
    target = context.other_registry_ref
    because = Why.OTHER_SOURCE_UNREAD.because(context.identity.pod_ref, register=target.short)
    return Decision(ReadObject(target), (because,))


def clean_or_reread(context: DaemonContext, view: CliqueView) -> Decision[DaemonAction] | None:
    """Remove the node's entry with the daemon's own IP from the other registry (DC-067), or read it again when due."""
    other, entry = context.state.other_registry, view.own_in_other
    if other is not None and entry is not None and entry.ip == context.identity.ip:
        because = Why.LEFT_BEHIND.because(context.identity.pod_ref, register=other.ref.short)
        return Decision(other_entry_removal_request(context, other), (because,))
    read_at = next_read_at(context)
    return read_other_registry(context) if read_at is not None and context.now >= read_at else None


def next_read_at(context: DaemonContext) -> datetime | None:
    """Return when to read the other registry again; None if it has no daemons of the clique (DC-065)."""
    state, identity = context.state, context.identity
    if not context.settings.reads_other_registry or state.other_registry is None or state.other_read_at is None:
        return None
    has_members = any(entry.clique == identity.clique for entry in state.other_registry.entries)
    return state.other_read_at + context.settings.recheck_interval if has_members else None
