"""A deletion lists the gangs that end with it, and its reasons name the same ones (PL-019)."""

from collections.abc import Iterator

import pytest
from hypothesis import event, given

from grove_core.areas.gang_termination.rules import TerminationReason
from grove_core.document.document_reading import plan_document_from_json
from grove_core.document.document_writing import plan_document_as_json
from grove_core.document.plan_document import PlanDocument
from grove_core.kernel.errors import BrokenInvariant
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Attempt, AttemptOutcome, Delete, Step, gangs_terminated_by
from grove_core.kernel.structs import replace
from grove_core.kernel.time_formats import format_time
from grove_core.plan.forecast import one_round_forecast
from grove_core.reconcile import reconcile
from grove_core.resources.api_names import GROVE
from grove_core.rule_sets.rule_set_by_name import rule_set
from grove_core.testing import RandomCluster, cluster_of, storms
from tests.property.gang_termination_field.worlds import field_storms
from tests.property.terminating_sets import ENDING


def gangs_in(root: Ref, because: tuple[Reason, ...]) -> Iterator[tuple[Ref, str, str]]:
    """Replica, trigger and deadline as the sentences of the reasons name them."""
    for reason, delay in zip(because[::2], because[1::2], strict=False):
        facts, until = dict(reason.facts), str(dict(delay.facts).get("until"))
        if reason.rule.code == TerminationReason.GANG_TERMINATED.code:
            yield root.at_replica(int(facts["replica"])), str(facts["cause"]), until
        elif reason.rule.code == TerminationReason.GROUP_REPLICA_TERMINATED.code:
            kind, _, name = str(facts["group"]).partition("/")
            yield Ref(GROVE, kind, root.namespace, name, int(facts["replica"])), str(facts["cause"]), until


def problem_free(steps: tuple[Step, ...], root: Ref) -> None:
    for step in steps:
        listed = [(one.replica, one.trigger.short, format_time(one.deadline)) for one in gangs_terminated_by(step)]
        named = list(gangs_in(root, step.because)) if isinstance(step.action, Delete) else []
        assert listed == named


@given(
    storms().map(lambda generated: ("design", generated)) | field_storms().map(lambda generated: ("field", generated))
)
def test_pl019_values_and_reasons_agree(case: tuple[str, RandomCluster]) -> None:
    name, generated = case
    snapshot = generated.snapshot
    plan = reconcile(snapshot, rule_set(name))
    problem_free(plan.steps, snapshot.root.ref)
    attempts = tuple(Attempt(step, AttemptOutcome.REFUSED, "no") for step in plan.steps if gangs_terminated_by(step))
    refused = reconcile(replace(snapshot, attempts=attempts), rule_set(name))
    problem_free(refused.steps, snapshot.root.ref)
    ended = {one.replica for attempt in attempts for one in gangs_terminated_by(attempt.step)}
    assert {one.replica for held in refused.withheld for one in held.terminates} <= ended
    event(f"{min(len(ended), 3)} gangs end")
    for one in (plan, refused):
        reported = PlanDocument(
            rules=name, as_of=snapshot.now, not_collected=(), forecasts=(one_round_forecast(one, snapshot.now),)
        )
        assert plan_document_from_json(plan_document_as_json(reported, decisions=True)) == reported


@pytest.mark.parametrize("lacks", ["causes", "gangs"])
def test_pl019_a_termination_without_causes_or_gangs_cannot_be_made(lacks: str) -> None:
    (first, *_) = [one for one in reconcile(cluster_of(ENDING).snapshot).steps if gangs_terminated_by(one)]
    assert isinstance(first.action, Delete)
    assert first.action.basis is not None
    with pytest.raises(BrokenInvariant, match=r"^PL-019: a termination of "):
        replace(first.action.basis, **{lacks: ()})
