"""The functions of the core that a small cluster calls; a mutant replaces one of them by a mistake."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from grove_core.areas.domain_cliques.daemon_context import DaemonInput, RegistrationState
from grove_core.areas.domain_cliques.domain_snapshot import DomainSnapshot
from grove_core.areas.domain_cliques.judge import next_action
from grove_core.areas.domain_cliques.state_updates import state_after_event, state_after_result
from grove_core.areas.domain_cliques.verdicts import DaemonAction
from grove_core.kernel.decisions import Decision
from grove_core.plan.plan import Plan
from grove_core.reconcile_domain import reconcile_domain


@dataclass(frozen=True)
class CoreFunctions:
    """The functions of the core, or of a mutant.

    Attributes:
        rewrite: changes a request body on its way to the server; only mutants do.
    """

    next_action: Callable[[DaemonInput], Decision[DaemonAction]] = next_action
    after_event: Callable[..., RegistrationState] = state_after_event
    after_result: Callable[..., RegistrationState] = state_after_result
    reconcile: Callable[[DomainSnapshot], Plan] = reconcile_domain
    rewrite: Callable[[dict[str, Any]], dict[str, Any]] = dict
