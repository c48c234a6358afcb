"""Who plays in a world: the decisions and folds of the core; a mutant has one of them replaced by a mistake."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from grove_core.areas.domain_cliques.judge import decide
from grove_core.areas.domain_cliques.memory import after_answer, after_event
from grove_core.areas.domain_cliques.moment import DomainMoment
from grove_core.areas.domain_cliques.situation import Memory, Situation
from grove_core.areas.domain_cliques.verdicts import Deed
from grove_core.kernel.decisions import Decision
from grove_core.plan.plan import Plan
from grove_core.reconcile_domain import reconcile_domain


@dataclass(frozen=True)
class Players:
    """The core, or something that differs from it in one point.

    Attributes:
        rewrite: what becomes of a request body on its way to the server; nothing, but for a mutant.
    """

    decide: Callable[[Situation], Decision[Deed]] = decide
    after_event: Callable[..., Memory] = after_event
    after_answer: Callable[..., Memory] = after_answer
    reconcile: Callable[[DomainMoment], Plan] = reconcile_domain
    rewrite: Callable[[dict[str, Any]], dict[str, Any]] = dict
