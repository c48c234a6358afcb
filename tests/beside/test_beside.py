"""The Go operator acts on a real control plane, and what it did is compared with what was predicted."""

from pathlib import Path

from tests.beside.recorder import Recorder
from tests.beside.score import scores_of
from tests.beside.situations import FIRST


def test_a_set_scaled_in_is_predicted(recorded: Path) -> None:
    name = "08a-clique-in"
    with Recorder(recorded) as recorder:
        assert recorder.record(name, FIRST[name])
    for score in scores_of(recorded / name):
        assert score.only_predicted.total() == score.only_happened.total() == 0
        assert score.both.total() > 0
