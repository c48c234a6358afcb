"""The wanted statuses: counts, availability, conditions; only where they differ from the stored ones (PL-011)."""

from collections.abc import Iterator

from grove_core.areas.gang_termination.design.counts import SetCounts, UsableReplicas, because_of_availability
from grove_core.areas.gang_termination.design.group import because_of_breach
from grove_core.areas.gang_termination.statuses import counts_of_group, status_if_other
from grove_core.areas.gang_termination.verdicts import CliqueJudgement, GroupJudgement, Judgement
from grove_core.kernel.conditions import Condition, Truth, condition_of, transition_time
from grove_core.kernel.decisions import Decision
from grove_core.kernel.wants import Status
from grove_core.resources.api_names import CLIQUE_SCHEDULED, MIN_AVAILABLE_BREACHED
from grove_core.snapshot.snapshot import Snapshot


def conditions_of(judged: CliqueJudgement, placement: Decision[Truth], snapshot: Snapshot) -> tuple[Condition, ...]:
    """Return the two conditions that a judged clique should have (GT-011 to GT-022)."""
    (placed,) = placement.because
    stored = condition_of(judged.clique.status.conditions, CLIQUE_SCHEDULED)
    since = transition_time(stored, placement.verdict, snapshot.now)
    return (
        Condition(MIN_AVAILABLE_BREACHED, judged.breach, judged.why.code, judged.reason.sentence, judged.since),
        Condition(CLIQUE_SCHEDULED, placement.verdict, placed.rule.code, placed.sentence, since),
    )


def statuses_of(snapshot: Snapshot, judgement: Judgement, tally: SetCounts) -> Iterator[Status]:
    """Yield every wanted status that differs from the stored one."""
    for judged in judgement.cliques:
        yield from _clique_status(judged, tally, snapshot)
    for group in judgement.groups:
        yield from _group_status(group, tally.usable[group.group.ref.name])
    root = snapshot.root
    if root.uid and not root.deleting:
        because = because_of_availability(root, tally.availability)
        yield from status_if_other(root, tally.availability.fields, (), because)


def _clique_status(judged: CliqueJudgement, tally: SetCounts, snapshot: Snapshot) -> Iterator[Status]:
    wanted, placement = tally.counts[judged.clique.ref].fields, tally.placements[judged.clique.ref]
    if judged.was_available is not None:
        wanted["wasAvailable"] = judged.was_available
    conditions = conditions_of(judged, placement, snapshot)
    because = (judged.reason, *placement.because)
    yield from status_if_other(judged.clique, wanted, conditions, because)


def _group_status(judged: GroupJudgement, usable: UsableReplicas) -> Iterator[Status]:
    wanted = counts_of_group(judged.group, scheduled=usable.scheduled, available=usable.available)
    because = because_of_breach(judged)
    first = because[0]
    condition = Condition(MIN_AVAILABLE_BREACHED, judged.breach, first.rule.code, first.sentence, judged.since)
    yield from status_if_other(judged.group, wanted, (condition,), because)
