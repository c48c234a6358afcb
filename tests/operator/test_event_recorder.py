"""Kubernetes Events about a plan (OP-042, OP-004)."""

import asyncio
import re
from collections.abc import Mapping
from typing import Any, Final

import pytest
from aiohttp import web
from hypothesis import event, given
from hypothesis import strategies as st

from grove_core.kernel.steps import Attempt, AttemptOutcome, Create, termination_causes
from grove_core.kernel.structs import replace
from grove_core.plan.plan import Plan
from grove_core.reconcile import reconcile
from grove_core.resources.api_names import DOMAIN_KIND, SET_FINALIZER
from grove_core.resources.configuration import Configuration, MnnvlConfiguration
from grove_core.rule_sets.rule_set_by_name import rule_set
from grove_core.snapshot.snapshot import EVERY_KIND, Snapshot
from grove_core.testing import RandomCluster, storms
from grove_shell.apply.planned_round import PlannedReconcileRound
from grove_shell.operator.event_recorder import EventRecorder, EventToWrite, kubernetes_events_of_plan
from grove_shell.operator.step_check_before_send import attempt_of_deferred_termination
from tests.operator.stub_server import api_with
from tests.property.strategies.worlds import is_termination
from tests.property.workload.sets import applied, clique_raw, set_raw

GPU: Final = {"containers": [{"name": "main", "resources": {"limits": {"nvidia.com/gpu": 1}}}]}
REFUSED: Final = "computedomains.resource.nvidia.com is forbidden"


def without(kind: str, snapshot: Snapshot) -> Snapshot:
    """The same where nothing is known of a kind."""
    return replace(snapshot, not_collected=frozenset({kind}), complete=EVERY_KIND - {kind})


def reported(snapshot: Snapshot, lost: Mapping[str, str]) -> list[EventToWrite]:
    return list(kubernetes_events_of_plan(reconcile(snapshot), lost))


@pytest.mark.parametrize("lost", [{DOMAIN_KIND: REFUSED}, {}])
def test_op004_replicas_that_wait_for_unread_domains_are_reported_together(lost: Mapping[str, str]) -> None:
    start = applied(set_raw(clique_raw("a", pod_spec=GPU), replicas=3))
    blind = without(DOMAIN_KIND, replace(start, configuration=Configuration(mnnvl=MnnvlConfiguration(enabled=True))))
    (found,) = reported(blind, lost)
    assert (found.about, found.reason) == (start.root.ref, "DomainsNotCollected")
    assert found.note.startswith("ComputeDomain/llm-cd-0, and 5 more: withheld until ComputeDomains can be read: ")
    assert found.note.endswith(lost.get(DOMAIN_KIND, "not all of them can be read"))
    assert reported(blind, lost) == [found], "the next look says the same, so it is one Event"
    assert not reported(replace(blind, configuration=Configuration()), lost), "with MNNVL off no PodClique waits"


def test_op004_a_set_that_cannot_be_let_go_is_reported() -> None:
    start = applied(set_raw(clique_raw("a")))
    root = replace(start.root, deleting=True, finalizers=(SET_FINALIZER,))
    (found,) = reported(without("PodClique", replace(start, root=root)), {"PodClique": "503"})
    assert (found.reason, found.note) == (
        "PartsNotCollected",
        "PodCliqueSet/llm: withheld until PodCliques can be read: 503",
    )


@given(storms(), st.sampled_from(["design", "field"]), st.integers(min_value=1, max_value=8))
def test_op042_a_process_that_continues_a_termination_does_not_announce_it_again(
    generated: RandomCluster, rules: str, gone: int
) -> None:
    """Each prefix of the deletions is where a process may have been killed, and the next one looks."""
    start = generated.snapshot
    plan = reconcile(start, rule_set(rules))
    deletions = [step.target for step in plan.steps if is_termination(step)]
    left = tuple(clique for clique in start.cliques if clique.ref not in deletions[:gone])
    rest = reconcile(replace(start, cliques=left), rule_set(rules))
    announced, again = (
        {one.key for one in kubernetes_events_of_plan(look) if one.reason == "GangTerminated"} for look in (plan, rest)
    )
    ends = {key.rpartition(" ")[0] for key in announced}
    event(f"an end goes on: {bool(deletions and again)}")
    assert {key for key in again if key.rpartition(" ")[0] in ends} <= announced


@pytest.mark.req("OP-013")
@given(storms(), st.sampled_from(["design", "field"]))
def test_op042_an_end_that_is_put_off_is_not_announced(generated: RandomCluster, rules: str) -> None:
    """Unlisted ones are reported as before."""
    start = generated.snapshot
    plan = reconcile(start, rule_set(rules))
    attempts = attempt_of_deferred_termination(plan.steps, "away")
    causes = {ref for step in plan.steps if attempts for ref in termination_causes(step.action)}
    later = reconcile(replace(start, attempts=attempts), rule_set(rules))
    announced = [reported for reported in kubernetes_events_of_plan(later) if reported.reason == "GangTerminated"]
    event(f"an end is put off: {bool(attempts)}")
    assert not any(is_termination(step) for step in later.steps)
    assert not [reported for reported in announced if any(f"{ref.short}: " in reported.note for ref in causes)]
    assert {reported.reason for reported in kubernetes_events_of_plan(later)}.issuperset(
        {"FreshReadFailed"} if attempts else ()
    )


def written(plan: Plan, instance: str = "we") -> list[dict[str, Any]]:
    """The Events of a look, as a server gets them."""
    got: list[dict[str, Any]] = []

    async def answer(request: web.Request) -> web.Response:
        got.append(await request.json())
        return web.json_response(got[-1], status=201)

    async def scenario() -> None:
        async with api_with(answer) as api:
            events = EventRecorder(api, instance)
            running = asyncio.create_task(events.run())
            seen = applied(set_raw(clique_raw("a")))  # Events are about the plan
            events.on_round_planned(
                PlannedReconcileRound(
                    root_key=("ml", "llm"), plan_name="a plan", observation=seen, plan=plan, planning_seconds=0.0
                )
            )
            await events.wait_until_written()
            assert not running.done(), running
            running.cancel()

    asyncio.run(scenario())
    return got


def refused(words: str) -> Plan:
    """Of a set one of whose objects was refused with these words."""
    start = applied(set_raw(clique_raw("a")))
    step = next(step for step in reconcile(start).steps if isinstance(step.action, Create))
    return reconcile(replace(start, attempts=(Attempt(step, AttemptOutcome.REFUSED, words),)))


@pytest.mark.parametrize("words", ["a" * 2000, "é" * 2000, "镜像仓库" * 500, "a" + "镜像仓库" * 500, "🌳" * 500])
def test_op042_a_note_is_as_long_as_a_server_takes(words: str) -> None:
    (event_,) = written(refused(words))
    note = event_["note"]
    assert 1020 < len(note.encode()) <= 1024
    assert "\ufffd" not in note, "no character is cut in two"


def test_op042_words_that_are_no_text_end_nothing() -> None:
    (event_,) = written(refused("half a character: \ud83c"))
    assert "half a character: " in event_["note"]


def test_op042_a_long_name_of_a_process_and_of_what_it_is_about() -> None:
    plan = refused("no")
    long = replace(plan, root=replace(plan.root, name=f"{'a' * 235}-{'b' * 17}"))
    (event_,) = written(long, instance="é" * 100)
    assert event_["reportingInstance"] == "é" * 64
    name = event_["metadata"]["name"]
    assert len(name) <= 253
    assert re.fullmatch(r"[a-z0-9]+(?:[-.][a-z0-9]+)*", name), "a server takes no other names"
    assert event_["regarding"]["name"] == long.root.name
