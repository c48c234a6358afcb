"""One root to rest: plan, try every step, observe, plan again; and through time, where that is asked for."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime

from grove_core.areas.gang_termination.rulesets import RuleSet
from grove_core.kernel.steps import Attempt
from grove_core.plan.forecast import Forecast, Round, forecast_of
from grove_core.reconcile import reconcile
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.world.memory import MemoryWorld
from grove_shell.world.protocol import World


def forecasts(
    snapshots: Iterable[Snapshot], rules: RuleSet, *, limit: int | None, until: datetime | None
) -> Iterator[Forecast]:
    """What will happen to each root if every write succeeds and nobody else acts; in the order given."""
    for snapshot in snapshots:
        plan = reconcile(snapshot, rules)
        if plan.settled and (until is None or plan.wake_at is None or plan.wake_at > until):
            yield forecast_of(plan, snapshot.now)
        else:
            yield run_to_rest(MemoryWorld((snapshot,)), snapshot, rules, limit=limit, until=until)


def run_to_rest(
    world: World, start: Snapshot, rules: RuleSet, *, limit: int | None, until: datetime | None
) -> Forecast:
    """Play rounds in a world until nothing is left to do, no delay ends before ``until``, or the limit is reached.

    Args:
        world: holds what ``start`` shows; it is changed.
        start: the first look; its attempts and its clock count.
        rules: by which to judge.
        limit: at most that many rounds with steps; None for as many as it takes.
        until: let time pass to this moment; None to stop at the first rest.
    """
    first = plan = reconcile(start, rules)
    now, rounds = start.now, [Round(1, start.now, plan.steps, plan.withheld)]
    while True:
        if plan.steps:
            if limit is not None and len(rounds) >= limit:
                return _told(first_of=forecast_of(first, start.now), rounds=rounds, wake_at=plan.wake_at, complete=False)
            attempts: tuple[Attempt, ...] = tuple(world.attempt(step) for step in plan.steps)
        elif plan.wake_at is not None and until is not None and now < plan.wake_at <= until:
            now, attempts = plan.wake_at, ()
        else:
            return _told(first_of=forecast_of(first, start.now), rounds=rounds, wake_at=plan.wake_at, complete=True)
        seen = world.observe(start.root.ref, now, attempts)
        if seen is None:
            return _told(first_of=forecast_of(first, start.now), rounds=rounds, wake_at=None, complete=True)
        plan = reconcile(seen, rules)
        if plan.steps:
            rounds.append(Round(len(rounds) + 1, now, plan.steps, plan.withheld))


def _told(*, first_of: Forecast, rounds: list[Round], wake_at: datetime | None, complete: bool) -> Forecast:
    return replace(first_of, rounds=tuple(rounds), wake_at=wake_at, complete=complete)

