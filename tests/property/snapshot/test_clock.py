"""The clock of a snapshot is the same moment on every machine."""

from datetime import timedelta, timezone

import pytest

from grove_core.document.document_writing import plan_document_as_json
from grove_core.document.plan_document import PlanDocument
from grove_core.kernel.structs import replace
from grove_core.plan.forecast import one_round_forecast
from grove_core.reconcile import reconcile
from tests.property.workload.sets import NOW, applied, clique_raw, set_raw


def test_pl001_a_clock_without_a_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="now has no time zone: 2026-"):
        replace(applied(set_raw(clique_raw("a"))), now=NOW.replace(tzinfo=None))


def test_pl001_the_zone_of_a_clock_changes_nothing() -> None:
    seen = applied(set_raw(clique_raw("a")))
    elsewhere = replace(seen, now=seen.now.astimezone(timezone(timedelta(hours=-5))))
    reported = [
        PlanDocument(rules="design", as_of=NOW, not_collected=(), forecasts=(one_round_forecast(reconcile(each), NOW),))
        for each in (seen, elsewhere)
    ]
    here, there = (plan_document_as_json(each, decisions=True) for each in reported)
    assert here == there
