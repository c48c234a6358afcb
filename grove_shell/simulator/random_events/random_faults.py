"""Faults of an operator, of its caches and of a server, drawn for a scenario."""

from collections.abc import Mapping
from random import Random
from typing import Final

from grove_shell.simulator.random_events.draw import Draw, some_pod, span_up_to
from grove_shell.simulator.random_events.targets import Cast
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


def _crash_operator(dice: Random, cast: Cast, at: int) -> list[Event]:
    del cast
    fault = CrashOperator(
        write=dice.randrange(20),
        committed=dice.random() < 0.5,  # noqa: PLR2004 - a coin
        down=dice.choice((100, 5 * SECOND, 90 * SECOND)),
        times=dice.choice((1, 1, 2)),
    )
    return [Event(at=at, crash_operator=fault)]


def _lag_cache(dice: Random, cast: Cast, at: int) -> list[Event]:
    kinds: tuple[Kind, ...] = tuple(dice.sample(cast.kinds, dice.randint(1, 3)))
    return [Event(at=at, lag_cache=LagCache(kinds=kinds, span=span_up_to(dice, MINUTE)))]


def _relist(dice: Random, cast: Cast, at: int) -> list[Event]:
    """Never from the past: an operator that lists does not accept less than it has seen (RS9)."""
    del cast, dice
    return [Event(at=at, relist=Relist())]


def _touch(dice: Random, cast: Cast, at: int) -> list[Event]:
    return [Event(at=at, touch=Touch(kind=dice.choice(cast.kinds), writes=dice.randint(1, 5)))]


def _lose_answers(dice: Random, cast: Cast, at: int) -> list[Event]:
    del cast
    return [Event(at=at, lose_answers=LoseAnswers(writes=dice.randint(1, 10)))]


def _refuse_writes(dice: Random, cast: Cast, at: int) -> list[Event]:
    fault = RefuseWrites(
        code=dice.choice((403, 422, 429, 503)), kind=dice.choice((None, *cast.kinds)), writes=dice.randint(1, 8)
    )
    return [Event(at=at, refuse_writes=fault)]


def _slow_answers(dice: Random, cast: Cast, at: int) -> list[Event]:
    del cast
    delay = dice.choice((200, 2 * SECOND, 10 * SECOND))
    return [Event(at=at, slow_answers=SlowAnswers(delay=delay, span=span_up_to(dice, MINUTE)))]


def _change_hashes(dice: Random, cast: Cast, at: int) -> list[Event]:
    del cast
    return [Event(at=at, change_hashes=ChangeHashes(down=dice.choice((100, 5 * SECOND, 90 * SECOND))))]


def _second_leader(dice: Random, cast: Cast, at: int) -> list[Event]:
    del cast
    leader = SecondLeader(span=span_up_to(dice, 30 * SECOND), every=dice.choice((1000, 3000)))
    return [Event(at=at, second_leader=leader)]


def _jump_clock(dice: Random, cast: Cast, at: int) -> list[Event]:
    del cast
    jump = dice.choice((2 * SECOND, 30 * SECOND, 5 * MINUTE))
    ahead, back = (jump, 0) if dice.random() < 0.5 else (0, jump)  # noqa: PLR2004 - a coin
    return [Event(at=at, jump_clock=JumpClock(ahead=ahead, back=back, span=span_up_to(dice, 2 * MINUTE)))]


def _hold_foreign(dice: Random, cast: Cast, at: int) -> list[Event]:
    name = dice.choice(cast.cliques)
    return [Event(at=at, hold_foreign=HoldForeign(kind="PodClique", name=name, span=span_up_to(dice, MINUTE)))]


def _gate_foreign(dice: Random, cast: Cast, at: int) -> list[Event]:
    pod = some_pod(dice, cast)
    gate = GateForeign(clique=pod.clique, index=pod.index, span=span_up_to(dice, MINUTE))
    return [Event(at=at % (5 * SECOND), gate_foreign=gate)]


def _remove_labels(dice: Random, cast: Cast, at: int) -> list[Event]:
    return [Event(at=at, remove_labels=RemoveLabels(clique=dice.choice(cast.cliques)))]


def _edit_status(dice: Random, cast: Cast, at: int) -> list[Event]:
    return [Event(at=at, edit_status=EditStatus(clique=dice.choice(cast.cliques)))]


def _permute_lists(dice: Random, cast: Cast, at: int) -> list[Event]:
    del cast
    return [Event(at=at, permute_lists=PermuteLists(span=span_up_to(dice, MINUTE), seed=dice.randrange(1000)))]


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
