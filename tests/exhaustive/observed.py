"""What the product decides, in the plain values of a specification."""

from typing import Final

from grove_core.areas.gang_termination.termination_result import TerminationResult
from grove_core.areas.gang_termination.verdicts import SetReplicaFates, Terminate, Wait
from grove_core.kernel.frozen import thaw_json
from grove_core.kernel.refs import Ref
from grove_core.kernel.time_formats import parse_time
from grove_core.kernel.wants import StatusToWrite
from tests.exhaustive.decisions import Decision, Fates, Finding, Place
from tests.exhaustive.snapshots import NOW

QUESTIONS: Final = frozenset({"breach", "termination", "scheduled", "availability"})


def decision_of(result: TerminationResult) -> Decision:
    """Return a result of gang termination as a decision."""
    found = Decision()
    for one in result.findings:
        if one.question in QUESTIONS:
            rules = frozenset(reason.rule.requirement for reason in one.because)
            found.findings.add(Finding(_name(one.subject), one.question, one.verdict, rules))
    for deletion in result.deletions:
        found.deletions[deletion.target.name] = frozenset(reason.rule.requirement for reason in deletion.because)
        if deletion.termination is not None and deletion.termination.is_cause:
            found.causes.add(deletion.target.name)
    for status in result.statuses.wants:
        assert isinstance(status, StatusToWrite)
        fields = thaw_json(status.fields)
        for condition in fields.get("conditions", ()):
            since = parse_time(condition["lastTransitionTime"])
            assert since is not None
            age = int((NOW - since).total_seconds())
            found.conditions[status.target.name, condition["type"]] = (condition["status"], age)
        if "wasAvailable" in fields:
            found.available[status.target.name] = fields["wasAvailable"]
        if fields.get("removedConditions"):
            found.removed.add(status.target.name)
    found.terminating = {*result.terminating.replicas, *result.terminating.parts}
    found.wake = None if result.wake_at is None else int((result.wake_at - NOW).total_seconds())
    return found


def fates_of(fates: SetReplicaFates) -> Fates:
    """Return the fates of a rule set as plain values."""
    every: dict[Place, object] = {one.number: one.fate for one in fates.replicas}
    every |= {(group.group.ref.name, index): fate for group in fates.groups for index, fate in group.fates.items()}
    return Fates(
        {place for place, fate in every.items() if isinstance(fate, Terminate)},
        {place: int((fate.until - NOW).total_seconds()) for place, fate in every.items() if isinstance(fate, Wait)},
    )


def _name(ref: Ref) -> str:
    return ref.name if ref.replica is None else f"{ref.name}[{ref.replica}]"
