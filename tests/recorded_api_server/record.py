"""What a real server made of some sequences.

``pytest --cluster --bless tests/cluster/test_in_memory_cluster.py`` records it anew, if the in-memory
server does the same.
"""

import gzip
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from tests.recorded_api_server.comparing import Played
from tests.recorded_api_server.moves import drawn
from tests.recorded_api_server.transcripts import transcript_of

RECORDED: Final = range(200)
_FILE: Final = Path(__file__).with_name("recorded.jsonl.gz")


def write(played: Iterable[Played]) -> None:
    """Record these, by seed."""
    lines = [
        json.dumps({"seed": one.seed, "moves": list(map(str, one.moves)), **one.server.as_json}, sort_keys=True)
        for one in sorted(played, key=lambda one: one.seed)
    ]
    with _FILE.open("wb") as file:
        file.write(gzip.compress(("\n".join(lines) + "\n").encode(), mtime=0))


def recorded() -> Iterator[Played]:
    """Everything that is recorded.

    Raises:
        AssertionError: the sequences are drawn otherwise by now: they have to be recorded anew.
    """
    with gzip.open(_FILE, "rt", encoding="utf-8") as lines:
        for line in lines:
            raw = json.loads(line)
            moves = drawn(raw["seed"])
            assert list(map(str, moves)) == raw["moves"], f"seed {raw['seed']} is another sequence now"
            yield Played(raw["seed"], moves, transcript_of(raw), None)
