"""Generations of the Go operator's rules: their releases, and their marks in statuses (GF-100, GF-111)."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from enum import Enum
from itertools import chain
from types import MappingProxyType
from typing import Final, assert_never

from grove_core.areas.gang_termination.field.rules import GoOperatorReason
from grove_core.kernel.conditions import Condition, condition_of, is_condition_true
from grove_core.resources.api_names import TERMINATION_IN_PROGRESS
from grove_core.resources.podclique import PodClique
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.resources.status_comparison import breach_condition_of

DEFAULT_DELAY: Final = timedelta(hours=4)
"""Stored with a new set that has no delay (GF-001)."""
_WHOLE: Final = "PCSG replicas not in breach"
_SUPPRESSED: Final = "suppress"


class GoOperatorRuleGeneration(Enum):
    """Releases with the same rules (GF-100)."""

    F2 = "F2"
    F3 = "F3"

    @property
    def requires_breach_history(self) -> bool:
        """Whether a breach counts only after a time without one, and a terminated replica gets a flag (GF-101)."""
        match self:
            case GoOperatorRuleGeneration.F2:
                return False
            case GoOperatorRuleGeneration.F3:
                return True
            case _:
                assert_never(self)

    @property
    def breaches_without_scheduled_pods(self) -> bool:
        """Whether a clique with too few scheduled pods is breached even if it has none at all (GF-025, GF-107)."""
        match self:
            case GoOperatorRuleGeneration.F2:
                return False
            case GoOperatorRuleGeneration.F3:
                return True
            case _:
                assert_never(self)

    @property
    def counts_scheduled_group_replicas(self) -> bool:
        """Whether a group's breach depends on how many of its replicas are scheduled (GF-104, GF-105, GF-108)."""
        match self:
            case GoOperatorRuleGeneration.F2:
                return True
            case GoOperatorRuleGeneration.F3:
                return False
            case _:
                assert_never(self)


RELEASES: Final[Mapping[str, GoOperatorRuleGeneration]] = MappingProxyType(
    {
        "v0.1.0-alpha.9": GoOperatorRuleGeneration.F2,
        "v0.1.0-alpha.10": GoOperatorRuleGeneration.F2,
        "v0.1.0-alpha.11": GoOperatorRuleGeneration.F2,
        "v0.1.0-alpha.12-rc1": GoOperatorRuleGeneration.F3,
    }
)
"""Generation by release, oldest first; ``field`` is the last one."""
MAIN: Final = "main"
"""The name of the main branch at fcc3b3bb, of 2026-08-19, which is in no release; its generation is the newest."""


def generation_of_release(release: str) -> GoOperatorRuleGeneration:
    """Return the generation of a release, or of the main branch. Raises KeyError for an unknown one."""
    return RELEASES[release_or_newest_for_main(release)]


def release_or_newest_for_main(release: str) -> str:
    """Return a release as it is, and the newest one for the main branch."""
    return list(RELEASES)[-1] if release == MAIN else release


def releases_matching_statuses(cliques: Iterable[PodClique], groups: Iterable[ScalingGroup]) -> tuple[str, ...]:
    """Return the releases that can have written the statuses of a cluster, oldest first (GF-111).

    All of them where the statuses show none; none of them where they show an older release (GF-136).
    """
    of_groups, written = list(groups), [clique for clique in cliques if clique.status.recorded]
    breaches = [(clique, breach_condition_of(clique.status)) for clique in written]
    group_breaches = [breach_condition_of(group.status) for group in of_groups]
    if (
        any(condition_of(group.status.conditions, TERMINATION_IN_PROGRESS) is not None for group in of_groups)
        or any(breach is not None and breach.message.startswith(_WHOLE) for breach in group_breaches)
        or any(_is_below(breach) and not clique.status.scheduled for clique, breach in breaches)
    ):
        return _releases_of(GoOperatorRuleGeneration.F3)
    spared = [one for _, one in breaches if one is not None and one.reason == GoOperatorReason.NOTHING_SCHEDULED.code]
    is_below = any(_is_below(breach) for breach in chain((breach for _, breach in breaches), group_breaches))
    if spared and (is_below or any(_SUPPRESSED in breach.message for breach in spared)):
        return _releases_of(GoOperatorRuleGeneration.F2)
    updated: Sequence[PodClique | ScalingGroup] = [*written, *of_groups]
    is_older = not is_below and (spared or any(one.status.old_spelling for one in updated))
    return () if is_older else tuple(RELEASES)


def _releases_of(generation: GoOperatorRuleGeneration) -> tuple[str, ...]:
    return tuple(release for release, found in RELEASES.items() if found is generation)


def _is_below(breach: Condition | None) -> bool:
    return is_condition_true(breach) and breach.reason == GoOperatorReason.SCHEDULED_REPLICAS_BELOW_MIN_AVAILABLE.code
