"""A forecast stops at a repetition, and only there (PL-024)."""

import io
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core.areas.gang_termination.field.rules import GoOperatorReason
from grove_core.areas.gang_termination.termination_deletions import termination_deletions_by_replica
from grove_core.document.document_reading import plan_document_from_json
from grove_core.document.document_writing import plan_document_as_json
from grove_core.document.plan_document import PlanDocument
from grove_core.in_memory.forecasts import forecast_until_settled
from grove_core.in_memory.in_memory_cluster import InMemoryCluster
from grove_core.kernel.decisions import Finding
from grove_core.kernel.errors import MalformedObject
from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Create, Step, StepStage
from grove_core.kernel.time_formats import format_time
from grove_core.plan.forecast import Cycle, Forecast, round_fingerprint, shortest_repeating_period
from grove_core.plan.plan import Plan
from grove_core.resources.api_names import GROVE
from grove_core.rule_sets.rule_set_by_name import rule_set
from grove_core.snapshot.snapshot import Snapshot
from grove_core.testing.cluster_builder import START
from grove_shell.reading.cluster_reading import load_input_files

TESTS: Final = Path(__file__).parents[1]
FIELD: Final = rule_set("field")
ENDLESS: Final = {
    "snapshots/s9a-termination-without-capacity.yaml": datetime.fromisoformat("2026-11-21T09:49:39.161+00:00"),
    "golden/gang_termination_field/gf086_again_and_again/given.yaml": datetime.fromisoformat("2026-11-20T09:00:00Z"),
}
PIECE: Final = timedelta(seconds=47)
"""Shorter than a lap, so that nothing is seen to come again."""
SET: Final = Ref(GROVE, "PodCliqueSet", "ml", "llm")
laps: Final = st.lists(st.integers(0, 2).map(lambda sort: (timedelta(seconds=60), (sort,))), max_size=12)


def endless(name: str) -> Snapshot:
    """The set of a dump that is ended again and again."""
    cluster = load_input_files([str(TESTS / name)], io.BytesIO()).cluster
    (root,) = (one for one in cluster.sets if one.ref.name in {"deepseek", "ml"})
    return cluster.snapshot_of(root, ENDLESS[name])


def ends_in(forecast: Forecast, until: datetime) -> Iterator[tuple[datetime, Ref]]:
    """When which clique ends for a breach, what comes again included."""
    for round_ in forecast.rounds:
        for number in range(forecast.round_occurrence_count(round_)):
            at = round_.at + number * forecast.again.every if forecast.again is not None else round_.at
            assert at <= until
            for steps in termination_deletions_by_replica(round_.steps).values():
                yield from ((at, step.target) for step in steps)


def ends_piecemeal(start: Snapshot, until: datetime) -> Iterator[tuple[datetime, Ref]]:
    """The same, for a reader that waits a moment at a time."""
    generated, at = InMemoryCluster((start,)), start.now
    seen: Snapshot | None = start
    while seen is not None and at < until:
        at = min(at + PIECE, until)
        forecast = forecast_until_settled(generated, seen, FIELD, limit=None, until=at)
        assert forecast.again is None
        yield from ends_in(forecast, at)
        seen = generated.snapshot_of_set(start.root.ref, at, ())


@pytest.mark.req("GF-086")
@pytest.mark.parametrize("name", ENDLESS)
@pytest.mark.parametrize("minutes", [3, 7, 11.9])
def test_pl024_what_comes_again_is_what_comes(name: str, minutes: float) -> None:
    start = endless(name)
    until = start.now + timedelta(minutes=minutes)
    forecast = forecast_until_settled(InMemoryCluster((start,)), start, FIELD, limit=None, until=until)
    assert sorted(set(ends_in(forecast, until)), key=str) == sorted(set(ends_piecemeal(start, until)), key=str)
    assert (forecast.again is not None) == (minutes > 4)


@pytest.mark.parametrize("name", ENDLESS)
def test_pl024_a_year_is_as_short_as_an_hour(name: str) -> None:
    start = endless(name)
    hour, year = (
        forecast_until_settled(
            InMemoryCluster((start,)), start, FIELD, limit=None, until=start.now + timedelta(days=days)
        )
        for days in (1 / 24, 365)
    )
    assert hour.rounds == year.rounds
    assert hour.again is not None
    assert year.again is not None
    assert hour.again.every == year.again.every == timedelta(minutes=1)
    reported = PlanDocument(rules=FIELD.name, as_of=start.now, not_collected=(), forecasts=(year,))
    raw = plan_document_as_json(reported, decisions=True)
    assert plan_document_from_json(raw) == reported
    for wrong in ({"every": "0s"}, {"every": "often"}, {"sinceRound": "2"}):
        plan = {**raw["plans"][0], "again": {**raw["plans"][0]["again"], **wrong}}
        with pytest.raises(MalformedObject, match=r"instead of an int(erval|eger)"):
            plan_document_from_json({**raw, "plans": [plan]})


@given(laps, laps)
def test_pl024_two_like_each_other_and_the_fewest(before: list[Cycle], circle: list[Cycle]) -> None:
    found = shortest_repeating_period([*before, *circle, *circle])
    assert (found == 0) == (not circle and shortest_repeating_period(before) == 0)
    assert found <= len(circle) or not circle
    whole = [*before, *circle, *circle]
    assert whole[len(whole) - 2 * found : len(whole) - found] == whole[len(whole) - found :]
    fewer = range(1, found)
    assert all(whole[-2 * count : -count] != whole[-count:] for count in fewer)


def a_round(at: datetime, since: timedelta, ends: timedelta, pod: str) -> Plan:
    """One finding with a moment that was and one that will be, and a pod that is made."""
    why = GoOperatorReason.DELAY_RUNNING.because(
        SET, since=format_time(at - since), delay="1h", until=format_time(at + ends)
    )
    made = Step(StepStage.WORKLOAD, Ref("v1", "Pod", "ml", pod), Create(FrozenMap({})), (why,))
    return Plan(
        root=SET,
        root_uid="r",
        rules="any",
        steps=(made,),
        wake_at=at + ends,
        findings=(Finding(SET.at_replica(0), "termination", "Waits", (why,)),),
    )


spans: Final = st.integers(1, 7200).map(lambda seconds: timedelta(seconds=seconds))


@given(spans, spans, spans, spans)
def test_pl024_alike_is_as_long_before_and_after(
    since: timedelta, ends: timedelta, later: timedelta, age: timedelta
) -> None:
    now, then, begun = START, START + later, START - age
    first = round_fingerprint(a_round(now, since, ends, "llm-0-a-abcde"), now, begun)
    shifted = round_fingerprint(a_round(then, since, ends, "llm-0-a-fghij"), then, begun)
    unmoved = round_fingerprint(a_round(then, since + later, ends, "llm-0-a-abcde"), then, begun)
    once = round_fingerprint(a_round(then, since, ends - later, "llm-0-a-abcde"), then, begun)
    is_old = now - since <= begun
    assert (first == shifted) == (not is_old), "the same distances"
    assert (first == unmoved) == is_old, "what was before the first look never changes"
    assert first != once, "a delay that ends once"
