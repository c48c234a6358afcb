"""Terminations that the first round waits for, and that its own steps avert (PL-025)."""

from datetime import datetime
from typing import Final

import pytest
from hypothesis import event, example, given
from hypothesis import strategies as st

from grove_core.areas.gang_termination.forecast_terminations import (
    averted_termination_findings,
    findings_after_predicted_steps,
)
from grove_core.areas.gang_termination.termination_deletions import termination_deletions_by_replica
from grove_core.areas.gang_termination.verdicts import TERMINATES, WAITS
from grove_core.document.document_reading import plan_document_from_json
from grove_core.document.document_writing import plan_document_as_json
from grove_core.document.plan_document import PlanDocument
from grove_core.document.termination_totals import termination_totals
from grove_core.explain import explanation_of_forecast
from grove_core.forecast_explanation import EntryUrgency
from grove_core.in_memory.forecasts import forecast_until_settled
from grove_core.in_memory.in_memory_cluster import InMemoryCluster
from grove_core.kernel.decisions import Finding
from grove_core.kernel.questions import BREACH, PREDICTION, TERMINATION
from grove_core.kernel.refs import Ref
from grove_core.kernel.structs import replace
from grove_core.kernel.time_formats import parse_time
from grove_core.plan.forecast import Forecast
from grove_core.reconcile import reconcile
from grove_core.rule_sets.rule_set_by_name import rule_set
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.styled_text_page import StyledTextPage
from grove_shell.views.plan.plan_entry_lines import add_replica_outcome_lines
from tests.property.breached_sets import broken_set
from tests.property.few_examples import RARELY

RULES: Final = (rule_set("design"), rule_set("field"))


def forecast_for(seen: Snapshot, until: datetime | None = None, name: str = "design") -> Forecast:
    return forecast_until_settled(InMemoryCluster((seen,)), seen, rule_set(name), limit=None, until=until)


def deadline_of(forecast: Forecast, subject: Ref) -> datetime:
    """When the first round expects a termination."""
    (fate,) = (one for one in forecast.findings if (one.subject, one.question) == (subject, TERMINATION))
    assert fate.verdict == "Wait"
    moments = (parse_time(str(dict(reason.facts)["until"])) for reason in fate.because if "until" in dict(reason.facts))
    return min(moment for moment in moments if moment is not None)


def comes_at(forecast: Forecast, subject: Ref) -> datetime | None:
    """The time of the first round that terminates a replica; None where none does."""
    rounds = (one for one in forecast.rounds if subject in termination_deletions_by_replica(one.steps))
    return next((one.at for one in rounds), None)


CLIQUES: Final = ("0-a", "0-b", "0-pool-0-c", "0-pool-1-c", "1-a", "1-pool-0-c", "1-pool-1-c")
some: Final = st.sets(st.sampled_from(CLIQUES), max_size=3)


@pytest.mark.req("GF-133")
@RARELY
@given(some, some, st.sampled_from([rules.name for rules in RULES]))
@example({"0-pool-0-c", "0-pool-1-c"}, {"0-pool-0-c"}, "field")  # the new PodCliques are breached anew
def test_pl025_what_is_averted_does_not_come(lost: set[str], changed: set[str], name: str) -> None:
    seen = broken_set(lost, changed, name=name)
    forecast = forecast_for(seen, name=name)
    is_predicted = all(one.question != PREDICTION for one in forecast.findings)  # other steps avert nothing (GF-133)
    averted = {one.subject for one in forecast.averted if one.question == TERMINATION and is_predicted}
    entries = explanation_of_forecast(forecast).entries
    waiting = {
        entry.subject: entry.until
        for entry in entries
        if entry.urgency is EntryUrgency.WAITS and entry.until is not None
    }
    event(f"averted {bool(averted)}, postponed {bool(averted & waiting.keys())}")
    deadlines = {subject: deadline_of(forecast, subject) for subject in (*averted, *waiting)}
    assert {entry.subject: entry.averted for entry in entries if entry.averted is not None} == {
        subject: deadlines[subject] for subject in averted & {entry.subject for entry in entries}
    }
    totals = termination_totals([forecast])
    assert (totals.waiting, totals.first_deadline) == (len(waiting), min(waiting.values(), default=None))
    later = {until: forecast_for(seen, until, name) for until in {*deadlines.values(), *waiting.values()}}
    for subject, until in deadlines.items() if is_predicted else ():
        event("what is waited for comes" if subject in waiting else "what is averted does not")
        assert comes_at(later[until], subject) == (until if waiting.get(subject) == until else None)
        if subject in waiting:
            assert comes_at(later[waiting[subject]], subject) == waiting[subject]


def test_pl025_an_update_averts_an_end_and_the_page_says_so() -> None:
    waits, updates = (forecast_for(broken_set(["0-a"], changed)) for changed in ([], ["0-a"]))
    replica = waits.root.at_replica(0)
    assert deadline_of(waits, replica) == deadline_of(updates, replica)
    assert waits.averted == ()
    assert [(one.question, one.verdict) for one in updates.averted] == [
        (TERMINATION, "Keep"),
        (BREACH, "Unknown"),
    ]
    (waiting,) = (entry for entry in explanation_of_forecast(waits).entries if entry.subject == replica)
    (kept,) = (entry for entry in explanation_of_forecast(updates).entries if entry.subject == replica)
    assert (waiting.urgency, kept.urgency) == (EntryUrgency.WAITS, EntryUrgency.KEEPS)
    assert [cause.subject.name for cause in kept.degraded] == ["llm-0-a"]
    reported = PlanDocument(rules="design", as_of=broken_set([], []).now, not_collected=(), forecasts=(updates,))
    assert plan_document_from_json(plan_document_as_json(reported, decisions=True)) == reported


def test_pl025_a_page_names_both_times_of_a_termination_that_is_postponed() -> None:
    seen = broken_set(["0-pool-0-c", "0-pool-1-c"], ["0-pool-0-c"], name="field")
    entries = explanation_of_forecast(forecast_for(seen, name="field")).entries
    (waiting,) = (entry for entry in entries if entry.urgency is EntryUrgency.WAITS)
    assert waiting.hints is None
    page = StyledTextPage()
    add_replica_outcome_lines(page, waiting, seen.now, full=False)
    shown = str(page).splitlines()
    assert "until 10:03:20Z (in 1h), then it is terminated; without the steps below at 10:02:20Z" in shown[0]
    assert any("breached since 2026-11-20T09:03:20Z" in line for line in shown)


def test_pl025_the_deadline_is_that_of_the_termination_whatever_else_is_found_about_the_replica() -> None:
    forecast = forecast_for(broken_set(["0-a"], ["0-a"]))
    replica = forecast.root.at_replica(0)
    (termination,) = (one for one in forecast.findings if (one.subject, one.question) == (replica, TERMINATION))
    other = termination._replace(question="mnnvl", deadline=None)
    for findings in ((*forecast.findings, other), (other, *forecast.findings)):
        explained = explanation_of_forecast(replace(forecast, findings=findings))
        (kept,) = (entry for entry in explained.entries if entry.subject == replica)
        assert kept.averted == deadline_of(forecast, replica)


def test_pl025_a_replica_of_a_group_of_which_nothing_is_said_any_more_has_the_fate_of_the_group() -> None:
    why = reconcile(broken_set([], [])).findings[0].because
    group = Ref("grove.io/v1alpha1", "PodCliqueScalingGroup", "ml", "llm-0-pool")
    waits = Finding(group.at_replica(1), TERMINATION, "Wait", why)
    kept = Finding(group, TERMINATION, "Keep", why)
    assert averted_termination_findings((waits,), (kept,)) == (Finding(group.at_replica(1), TERMINATION, "Keep", why),)
    assert averted_termination_findings((waits,), ()) == ()
    assert averted_termination_findings((waits,), (waits._replace(because=why),)) == ()
    assert averted_termination_findings((kept,), ()) == ()


def test_pl025_what_ends_keeps_its_reasons() -> None:
    """One clique ends its replica now, another one is waited for; only the latter's outcome is reported."""
    why = reconcile(broken_set([], [])).findings[0].because[0].rule
    rest = Ref("grove.io/v1alpha1", "PodCliqueScalingGroup", "ml", "llm-0-pool")
    clique, group = replace(rest, kind="PodClique", name="llm-0-a"), rest
    facts = dict.fromkeys(why.fact_names, "x")

    def said(subject: Ref, question: str, verdict: str, *of: Ref) -> Finding:
        causes = of if question == TERMINATION else of[1:]  # a breach has its own reason first
        return Finding(subject, question, verdict, tuple(why.because(one, **facts) for one in of), causes=causes)

    member = replace(clique, name="llm-0-pool-1-c")
    first = (
        said(
            Ref("grove.io/v1alpha1", "PodCliqueSet", "ml", "llm").at_replica(0),
            TERMINATION,
            TERMINATES,
            clique,
        ),
        said(group.at_replica(1), TERMINATION, WAITS, group, clique),
        *(said(one, BREACH, "True", one, *of) for one, of in ((clique, ()), (group, (member,)), (member, ()))),
        said(replace(clique, name="llm-0-b"), BREACH, "True", clique),
    )
    after = tuple(one._replace(verdict="False") for one in first if one.question == BREACH)
    kept = said(group, TERMINATION, "Keep", group)
    reported = averted_termination_findings(first, (kept, *after))
    assert [(one.subject.name, one.question) for one in reported] == [
        ("llm-0-pool", TERMINATION),
        ("llm-0-pool", BREACH),
        ("llm-0-pool-1-c", BREACH),
    ]
    assert averted_termination_findings(first, after) == ()


def test_pl025_the_breaches_behind_every_averted_termination_are_reported() -> None:
    (why, *_) = reconcile(broken_set([], [])).findings[0].because
    root = Ref("grove.io/v1alpha1", "PodCliqueSet", "ml", "llm")
    cliques = [replace(root, kind="PodClique", name=f"llm-{replica}-a") for replica in (0, 1)]

    def found(verdict: str, breach: str) -> tuple[Finding, ...]:
        ends = (
            Finding(root.at_replica(replica), TERMINATION, verdict, (why,), causes=(clique,))
            for replica, clique in enumerate(cliques)
        )
        return (*ends, *(Finding(clique, BREACH, breach, (why,)) for clique in cliques))

    reported = averted_termination_findings(found(WAITS, "True"), found("Keep", "Unknown"))
    assert [(one.subject, one.verdict) for one in reported] == [
        (root.at_replica(0), "Keep"),
        (root.at_replica(1), "Keep"),
        (cliques[0], "Unknown"),
        (cliques[1], "Unknown"),
    ]


def test_gf133_steps_that_are_not_predicted_avert_nothing() -> None:
    forecast = forecast_for(broken_set(["0-a"], ["0-a"]))
    assert findings_after_predicted_steps(forecast.findings, forecast.averted) == forecast.averted != ()
    unpredicted = forecast.findings[0]._replace(question=PREDICTION)
    assert findings_after_predicted_steps((*forecast.findings, unpredicted), forecast.averted) == ()
