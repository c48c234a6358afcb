"""The result of gang termination by the rules of the released Go operator."""

from grove_core.areas.gang_termination.field.findings import findings_of_field
from grove_core.areas.gang_termination.field.generations import Generation
from grove_core.areas.gang_termination.field.judge import judge_field, terminating_of
from grove_core.areas.gang_termination.field.risks import risks_in
from grove_core.areas.gang_termination.field.wants import wake_of_field, wants_of_field
from grove_core.areas.gang_termination.result import TerminationResult
from grove_core.snapshot.snapshot import Snapshot


def terminate_by_generation(snapshot: Snapshot, generation: Generation) -> TerminationResult:
    """Return the result of gang termination for a set, by the rules of one generation of releases."""
    judgement = judge_field(snapshot, generation)
    stored = judge_field(snapshot, generation, looks=False)
    wants = wants_of_field(snapshot, judgement, generation)
    return TerminationResult(
        statuses=wants.statuses,
        deletions=wants.deletions,
        findings=(*findings_of_field(snapshot, judgement, stored), *risks_in(snapshot, judgement, generation)),
        wake_at=wake_of_field(judgement),
        terminating=terminating_of(judgement),
    )
