"""The functions of the core that a small cluster calls; a mutant replaces one of them by a mistake."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from grove_core.areas.domain_cliques.daemon.daemon_input import DaemonInput, RegistrationState
from grove_core.areas.domain_cliques.daemon.judge import next_daemon_action
from grove_core.areas.domain_cliques.daemon.registration_state_updates import (
    registration_state_after_event,
    registration_state_after_result,
)
from grove_core.areas.domain_cliques.daemon.verdicts import DaemonAction
from grove_core.areas.domain_cliques.domain_snapshot import ComputeDomainSnapshot
from grove_core.kernel.decisions import Decision
from grove_core.plan.plan import Plan
from grove_core.reconcile_domain import reconcile_compute_domain


@dataclass(frozen=True)
class CoreFunctions:
    """The functions of the core, or of a mutant.

    Attributes:
        rewrite: changes a request body on its way to the server; only mutants do.
    """

    next_action: Callable[[DaemonInput], Decision[DaemonAction]] = next_daemon_action
    after_event: Callable[..., RegistrationState] = registration_state_after_event
    after_result: Callable[..., RegistrationState] = registration_state_after_result
    reconcile: Callable[[ComputeDomainSnapshot], Plan] = reconcile_compute_domain
    rewrite: Callable[[dict[str, Any]], dict[str, Any]] = dict
