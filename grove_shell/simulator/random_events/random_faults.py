"""Random faults of the operator, of its caches and of the API server."""

from collections.abc import Mapping
from random import Random
from typing import Final

from grove_shell.simulator.random_events.draw import Draw, random_pod, random_span
from grove_shell.simulator.random_events.targets import Targets
from grove_shell.simulator.scenario.events import Event
from grove_shell.simulator.scenario.fault_events import (
    ChangeHashes,
    CrashOperator,
    EditStatus,
    GateForeign,
    HoldForeign,
    JumpClock,
    LagCache,
    LoseAnswers,
    PermuteLists,
    RefuseWrites,
    Relist,
    RemoveLabels,
    SecondLeader,
    SlowAnswers,
    Touch,
)
from grove_shell.simulator.scenario.field_types import Kind
from grove_shell.simulator.virtual_time import MINUTE, SECOND


def _crash_operator(rng: Random, targets: Targets, at: int) -> list[Event]:
    del targets
    fault = CrashOperator(
        write=rng.randrange(20),
        committed=rng.random() < 0.5,  # noqa: PLR2004 - a coin
        down=rng.choice((100, 5 * SECOND, 90 * SECOND)),
        times=rng.choice((1, 1, 2)),
    )
    return [Event(at=at, crash_operator=fault)]


def _lag_cache(rng: Random, targets: Targets, at: int) -> list[Event]:
    kinds: tuple[Kind, ...] = tuple(rng.sample(targets.kinds, rng.randint(1, 3)))
    return [Event(at=at, lag_cache=LagCache(kinds=kinds, span=random_span(rng, MINUTE)))]


def _relist(rng: Random, targets: Targets, at: int) -> list[Event]:
    """Return a relist of the present: an operator never accepts an older list than it has seen (RS9)."""
    del targets, rng
    return [Event(at=at, relist=Relist())]


def _touch(rng: Random, targets: Targets, at: int) -> list[Event]:
    return [Event(at=at, touch=Touch(kind=rng.choice(targets.kinds), writes=rng.randint(1, 5)))]


def _lose_answers(rng: Random, targets: Targets, at: int) -> list[Event]:
    del targets
    return [Event(at=at, lose_answers=LoseAnswers(writes=rng.randint(1, 10)))]


def _refuse_writes(rng: Random, targets: Targets, at: int) -> list[Event]:
    fault = RefuseWrites(
        code=rng.choice((403, 422, 429, 503)), kind=rng.choice((None, *targets.kinds)), writes=rng.randint(1, 8)
    )
    return [Event(at=at, refuse_writes=fault)]


def _slow_answers(rng: Random, targets: Targets, at: int) -> list[Event]:
    del targets
    delay = rng.choice((200, 2 * SECOND, 10 * SECOND))
    return [Event(at=at, slow_answers=SlowAnswers(delay=delay, span=random_span(rng, MINUTE)))]


def _change_hashes(rng: Random, targets: Targets, at: int) -> list[Event]:
    del targets
    return [Event(at=at, change_hashes=ChangeHashes(down=rng.choice((100, 5 * SECOND, 90 * SECOND))))]


def _second_leader(rng: Random, targets: Targets, at: int) -> list[Event]:
    del targets
    leader = SecondLeader(span=random_span(rng, 30 * SECOND), every=rng.choice((1000, 3000)))
    return [Event(at=at, second_leader=leader)]


def _jump_clock(rng: Random, targets: Targets, at: int) -> list[Event]:
    del targets
    jump = rng.choice((2 * SECOND, 30 * SECOND, 5 * MINUTE))
    ahead, back = (jump, 0) if rng.random() < 0.5 else (0, jump)  # noqa: PLR2004 - a coin
    return [Event(at=at, jump_clock=JumpClock(ahead=ahead, back=back, span=random_span(rng, 2 * MINUTE)))]


def _hold_foreign(rng: Random, targets: Targets, at: int) -> list[Event]:
    name = rng.choice(targets.cliques)
    return [Event(at=at, hold_foreign=HoldForeign(kind="PodClique", name=name, span=random_span(rng, MINUTE)))]


def _gate_foreign(rng: Random, targets: Targets, at: int) -> list[Event]:
    pod = random_pod(rng, targets)
    gate = GateForeign(clique=pod.clique, index=pod.index, span=random_span(rng, MINUTE))
    return [Event(at=at % (5 * SECOND), gate_foreign=gate)]


def _remove_labels(rng: Random, targets: Targets, at: int) -> list[Event]:
    return [Event(at=at, remove_labels=RemoveLabels(clique=rng.choice(targets.cliques)))]


def _edit_status(rng: Random, targets: Targets, at: int) -> list[Event]:
    return [Event(at=at, edit_status=EditStatus(clique=rng.choice(targets.cliques)))]


def _permute_lists(rng: Random, targets: Targets, at: int) -> list[Event]:
    del targets
    return [Event(at=at, permute_lists=PermuteLists(span=random_span(rng, MINUTE), seed=rng.randrange(1000)))]


FAULT_DRAWS: Final[Mapping[str, Draw]] = {
    "crash_operator": _crash_operator,
    "lag_cache": _lag_cache,
    "relist": _relist,
    "touch": _touch,
    "lose_answers": _lose_answers,
    "refuse_writes": _refuse_writes,
    "slow_answers": _slow_answers,
    "change_hashes": _change_hashes,
    "second_leader": _second_leader,
    "jump_clock": _jump_clock,
    "hold_foreign": _hold_foreign,
    "gate_foreign": _gate_foreign,
    "edit_status": _edit_status,
    "remove_labels": _remove_labels,
    "permute_lists": _permute_lists,
}
