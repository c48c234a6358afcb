"""A cause that cannot be deleted: nothing is deleted and created again and again."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from functools import partial
from itertools import count
from typing import Final

import pytest

from grove_core.kernel.frozen import thaw_json
from grove_core.kernel.steps import Attempt, AttemptOutcome, Create, Delete, Step
from grove_core.rule_sets.rule_set_by_name import rule_set
from grove_shell.apply.planned_round import plan_for_root
from grove_shell.operator.reconcile_loop import ReconcileLoop
from tests.operator.test_step_recheck import Cluster
from tests.skipped_time import run_skipping_time

CAUSE: Final = "ml-0-decode"
LONG: Final = 120  # seconds, in which a pause that doubles has become a minute


class Protected(Cluster):
    """Cliques come and go as they are asked to, all but one."""

    def __init__(self, outcome: AttemptOutcome) -> None:
        super().__init__("never")
        self.outcome = outcome
        self.deleted = Counter[str]()
        self.numbers = count(99999999)

    def step_executor(
        self, unless: Callable[[Step], str | None] = lambda _step: None
    ) -> Callable[[Step], Awaitable[Attempt]]:
        async def attempt(step: Step) -> Attempt:
            await asyncio.sleep(0.01)
            ref = step.target
            if isinstance(step.action, Delete) and ref.kind == "PodClique":
                if words := unless(step):
                    return Attempt(step, AttemptOutcome.CONFLICT, words)
                self.deleted[ref.name] += 1
                if ref.name == CAUSE:
                    return Attempt(step, self.outcome, "change freeze")
                gone = {"namespace": ref.namespace, "name": ref.name, "uid": step.action.guard.uid}
                self.cache.drop(ref.kind, {"metadata": gone})
            if isinstance(step.action, Create) and ref.kind == "PodClique":
                raw = thaw_json(step.action.manifest)
                number = str(next(self.numbers))
                raw["metadata"] |= {"uid": number, "resourceVersion": number}
                self.cache.put(ref.kind, raw)
            return Attempt(step, AttemptOutcome.DONE)

        return attempt


@pytest.mark.req("OP-023")
@pytest.mark.req("PL-027")
@pytest.mark.parametrize("rules", ["design", "field"])
@pytest.mark.parametrize("outcome", [AttemptOutcome.REFUSED, AttemptOutcome.UNREACHABLE, AttemptOutcome.CONFLICT])
def test_op103_companions_do_not_go_again_and_again(rules: str, outcome: AttemptOutcome) -> None:
    """By the field's rules they are made anew at once, and the gang is due as before."""
    cluster = Protected(outcome)

    async def scenario() -> None:
        rounds = ReconcileLoop(
            cache=cluster.cache, writer=cluster, decide=partial(plan_for_root, rules=rule_set(rules))
        )
        rounds.start()
        await asyncio.sleep(LONG)
        await rounds.close()

    run_skipping_time(scenario())
    tries = cluster.deleted.pop(CAUSE)
    assert 5 < tries < 13
    assert len(cluster.deleted) == 2
    assert all(times <= tries for times in cluster.deleted.values()), cluster.deleted
