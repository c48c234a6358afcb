"""Random events about ComputeDomains and claims."""

from collections.abc import Mapping
from random import Random
from typing import Final

from grove_shell.settings.features import MnnvlSettings
from grove_shell.simulator.random_events.draw import Draw, random_span
from grove_shell.simulator.random_events.random_user_events import outage, scale
from grove_shell.simulator.random_events.targets import Targets
from grove_shell.simulator.scenario.events import Event
from grove_shell.simulator.scenario.fault_events import (
    ForeignDomain,
    LimitDomains,
    Reconfigure,
)
from grove_shell.simulator.scenario.user_events import (
    ClaimTarget,
    DomainTarget,
)
from grove_shell.simulator.virtual_time import MINUTE, SECOND


def _delete_domain(rng: Random, targets: Targets, at: int) -> list[Event]:
    return [Event(at=at, delete_domain=DomainTarget(name=rng.choice(targets.domains)))]


def _delete_claim(rng: Random, targets: Targets, at: int) -> list[Event]:
    return [Event(at=at, delete_claim=ClaimTarget(name=rng.choice(targets.claims)))]


def _foreign_domain(rng: Random, targets: Targets, at: int) -> list[Event]:
    """Return a foreign ComputeDomain, often of an earlier set of the same name."""
    earlier = f"PodCliqueSet/{targets.sets[0]['metadata']['name']}" if targets.sets else None
    owner = rng.choice((None, "Deployment/other", earlier))
    fault = ForeignDomain(name=rng.choice(targets.domains), owner=owner, span=random_span(rng, 3 * MINUTE))
    return [Event(at=at, foreign_domain=fault)]


def _limit_domains(rng: Random, targets: Targets, at: int) -> list[Event]:
    most = rng.randrange(len(targets.domains) + 1)
    return [Event(at=at, limit_domains=LimitDomains(most=most, span=random_span(rng, 3 * MINUTE)))]


def _reconfigure(rng: Random, targets: Targets, at: int) -> list[Event]:
    settings = MnnvlSettings(enabled=rng.random() < 0.5, mode="annotations" if targets.claims else "operator")  # noqa: PLR2004 - a coin
    return [Event(at=at, reconfigure=Reconfigure(mnnvl=settings, down=rng.choice((100, 5 * SECOND, 90 * SECOND))))]


def late_domains(rng: Random, targets: Targets, horizon: int, kinds: list[str]) -> list[Event]:
    """Return events by which replicas start without a ComputeDomain, and get one later when parts are recreated."""
    most = rng.randrange(len(targets.domains))
    late = Event(at=0, limit_domains=LimitDomains(most=most, span=rng.choice((SECOND, 5 * SECOND, 30 * SECOND))))
    then = rng.randrange(15 * SECOND, 15 * SECOND + horizon, 100)
    if "scale" in kinds and rng.random() < 0.5:  # noqa: PLR2004 - a coin
        return [late, *scale(rng, targets, then)]
    return [late, *(outage(rng, targets, horizon) if "crash_pod" in kinds else ())]


DOMAIN_DRAWS: Final[Mapping[str, Draw]] = {
    "delete_domain": _delete_domain,
    "delete_claim": _delete_claim,
    "foreign_domain": _foreign_domain,
    "limit_domains": _limit_domains,
    "reconfigure": _reconfigure,
}
