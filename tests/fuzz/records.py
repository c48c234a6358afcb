"""Records of ``grove why``: damaged lines of audit logs, and damaged Events."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Final

from tests.fuzz import mutations
from tests.fuzz.commands import kept
from tests.fuzz.fuzz_target import FuzzTarget
from tests.reconstruction.recordings import lines, text_of

_FILE: Final = "FILE"
_LONGEST: Final = 60_000
_SET: Final = ("pcs/llama", "-n", "three-replicas-0c70")
ASKED: Final[dict[str, tuple[str, ...]]] = {
    "audit": ("why", *_SET, "--audit", _FILE),
    "audit, all": ("why", "--audit", _FILE, "--keep-going", "-v"),
    "audit, json": ("why", "--audit", _FILE, "--keep-going", "-o", "json"),
    "events": ("why", *_SET, "--events", _FILE, "--keep-going"),
}


@contextmanager
def records(folder: Path) -> Iterator[FuzzTarget]:
    """Audit logs and Events, by the options of ``grove why``."""
    path = folder / "record"

    def feed(way: str, data: bytes) -> str:
        path.write_bytes(data)
        return kept(*(str(path) if word == _FILE else word for word in ASKED[way]))

    yield FuzzTarget(tuple(ASKED), _record, feed)


@cache
def _texts() -> tuple[str, ...]:
    """Lines of the recorded audit log that are not long."""
    return tuple(text for line in lines() if len(text := line.decode().strip()) < _LONGEST // 10)


def _record(chance: random.Random, way: str) -> bytes:
    if way == "events":
        return mutations.made([text_of("events.json").decode()], chance, mutations.as_json)
    begin = chance.randrange(len(_texts()) - 1)
    chosen, size = list[str](), 0
    for text in _texts()[begin:]:
        size += len(text)
        if size > _LONGEST:
            break
        chosen.append(text)
    written = [text.encode() for text in chosen]
    for at in chance.sample(range(len(written)), min(chance.choice((1, 1, 2, 6)), len(written))):
        written[at] = mutations.as_json(mutations.wounded([chosen[at]], chance))
    if chance.random() < 0.2:
        chance.shuffle(written)
    whole = b"\n".join(written)
    return mutations.damaged([whole], chance) if chance.random() < 0.1 else whole[: mutations.LONGEST]
