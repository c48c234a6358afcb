"""What an explanation makes of verdicts and steps: nothing is reported as withheld that was not withheld (CL-010)."""

from datetime import timedelta
from typing import get_args

from grove_core.areas.gang_termination.verdicts import GroupFate, ReplicaFate
from grove_core.explain import explanation_of_forecast
from grove_core.forecast_explanation import URGENCY_BY_VERDICT, EntryUrgency
from grove_core.kernel.steps import Attempt, AttemptOutcome
from grove_core.kernel.structs import replace
from grove_core.plan.forecast import one_round_forecast
from grove_core.reconcile import reconcile
from grove_core.rule_sets.rule_set_by_name import rule_set
from grove_core.snapshot.snapshot import Snapshot
from tests.property.breached_sets import broken_set

FIELD = rule_set("field")


def tones_of_replica_0(seen: Snapshot) -> list[EntryUrgency]:
    reported = explanation_of_forecast(one_round_forecast(reconcile(seen, FIELD), seen.now))
    return [entry.urgency for entry in reported.entries if entry.subject == seen.root.ref.at_replica(0)]


def due() -> Snapshot:
    """A set whose replica 0 ends in this round, by the rules of the Go operator."""
    seen = broken_set(["0-a"], [], name=FIELD.name)
    return replace(seen, now=seen.now + timedelta(hours=24))


def test_gf029_an_end_of_cliques_that_are_all_leaving_is_not_held_back() -> None:
    seen = due()
    assert tones_of_replica_0(seen) == [EntryUrgency.TERMINATES]
    leaving = tuple(replace(one, deleting=True) if one.replica_index == 0 else one for one in seen.cliques)
    seen = replace(seen, cliques=leaving)
    assert not reconcile(seen, FIELD).withheld
    assert tones_of_replica_0(seen) == [EntryUrgency.TERMINATES]


def test_pl012_an_end_that_was_refused_is_held_back() -> None:
    seen = due()
    refused = tuple(Attempt(step, AttemptOutcome.REFUSED, "no") for step in reconcile(seen, FIELD).steps)
    assert tones_of_replica_0(replace(seen, attempts=refused)) == [EntryUrgency.HELD]


def test_every_fate_has_its_tone() -> None:
    fates = {*get_args(ReplicaFate), *get_args(GroupFate)}
    assert {kind.__name__ for kind in fates} | {"Unknown"} == set(URGENCY_BY_VERDICT)


def test_an_unknown_verdict_is_not_reported_as_kept() -> None:
    """A saved plan may have been made by a later version."""
    reported = one_round_forecast(reconcile(due(), FIELD), due().now)
    strange = replace(
        reported,
        findings=tuple(one._replace(verdict="Perhaps") for one in reported.findings if one.question == "termination"),
    )
    assert {entry.urgency for entry in explanation_of_forecast(strange).entries} == {EntryUrgency.UNKNOWN}
