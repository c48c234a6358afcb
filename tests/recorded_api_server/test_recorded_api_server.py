"""The in-memory server against what a real API server did with the same requests, as it was recorded."""

from collections import Counter
from functools import cache

import pytest

from grove_core.kernel.steps import AttemptOutcome
from tests.recorded_api_server.comparing import Played
from tests.recorded_api_server.memory import play
from tests.recorded_api_server.moves import What
from tests.recorded_api_server.mutants import MUTANTS
from tests.recorded_api_server.record import RECORDED, recorded
from tests.recorded_api_server.transcripts import Transcript, difference, follows


@cache
def record() -> tuple[Played, ...]:
    return tuple(recorded())


@pytest.mark.req("SM-080")
def test_sm080_the_world_in_memory_does_as_the_server_did() -> None:
    assert [one.seed for one in record()] == list(RECORDED)
    for one in record():
        parted = difference(play(one.moves), one.server)
        assert parted is None, f"seed {one.seed}\n{parted.reported(one.moves)}"


def test_sm080_the_record_shows_what_servers_do() -> None:
    outcomes = Counter(
        (move.what, frame.outcome) for one in record() for move, frame in zip(one.moves, one.server.frames, strict=True)
    )
    steps = (What.CREATE, What.APPLY, What.STATUS, What.DELETE, What.RELEASE)
    for step in steps:
        for outcome in (AttemptOutcome.DONE, AttemptOutcome.CONFLICT):
            assert outcomes[step, outcome.value] >= 10, (step, outcome)
    assert outcomes[What.CREATE, AttemptOutcome.REFUSED.value] >= 10
    for deed in set(What) - set(steps):
        assert outcomes[deed, ""] >= 5, deed


@pytest.mark.parametrize("mutant", list(MUTANTS))
def test_sm080_every_wrong_world_is_found(mutant: str) -> None:
    assert any(difference(play(one.moves, MUTANTS[mutant]), one.server) is not None for one in record())


@pytest.mark.parametrize(
    ("model", "server", "holds"),
    [
        (["a", "b"], ["a", "b"], True),
        (["a", "c"], ["a", "b", "c"], True),
        (["b", "a"], ["a", "b"], False),
        (["a"], ["a", "b"], False),
        (["a", "x"], ["a", "b", "x", "y"], False),
        ([], [], True),
        ([], ["a"], False),
    ],
)
def test_sm080_a_watcher_is_reported_a_part_in_order(model: list[str], server: list[str], *, holds: bool) -> None:
    assert follows(model, server) is holds
    reported = (Transcript(reported={"pod 1": list(words)}) for words in (model, server))
    assert (difference(*reported) is None) is holds
