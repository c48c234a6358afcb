"""The rule sets of the existing operator, one for each release (GF-100)."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from grove_core.areas.gang_termination.field.findings import findings_of_field
from grove_core.areas.gang_termination.field.generations import RELEASES, Generation
from grove_core.areas.gang_termination.field.judge import judge_field, terminating_of
from grove_core.areas.gang_termination.field.risks import risks_in
from grove_core.areas.gang_termination.field.unpredicted import unpredicted_in
from grove_core.areas.gang_termination.field.wants import wake_of_field, wants_of_field
from grove_core.areas.gang_termination.ruling import RuleSet, Ruling
from grove_core.kernel.decisions import Finding
from grove_core.snapshot.snapshot import Snapshot

FIELD: Final = "field"


def _ruling_of(generation: Generation) -> Callable[[Snapshot], Ruling]:
    def rule(snapshot: Snapshot) -> Ruling:
        judgement = judge_field(snapshot, generation)
        stored = judge_field(snapshot, generation, looks=False)
        wants = wants_of_field(snapshot, judgement, generation)
        return Ruling(
            desired=wants.statuses,
            ends=wants.ends,
            findings=(
                *findings_of_field(snapshot, judgement, stored),
                *risks_in(snapshot, judgement, generation),
            ),
            wake_at=wake_of_field(judgement),
            ending=terminating_of(judgement),
        )

    return rule


def _unpredicted(snapshot: Snapshot, lags: bool) -> tuple[Finding, ...]:  # noqa: FBT001 - as a rule set has it
    return unpredicted_in(snapshot, lags=lags)


BY_RELEASE: Final[Mapping[str, RuleSet]] = MappingProxyType(
    {
        release: RuleSet(f"{FIELD}@{release}", _ruling_of(generation), generation.default_delay, _unpredicted)
        for release, generation in RELEASES.items()
    }
)
NEWEST: Final = BY_RELEASE[list(RELEASES)[-1]]
_NAMED: Final = tuple((rules.name, rules) for rules in BY_RELEASE.values())
BY_NAME: Final[Mapping[str, RuleSet]] = MappingProxyType(dict(((FIELD, NEWEST), *_NAMED)))
"""By what a user calls it; ``field`` alone is the newest release, and a plan names it with its release."""
