"""``python -m tests.beside.churn FOLDER``: random churn with the Go operator, and an observer of ours that keeps score.

The Go operator acts; ``grove operator --observe`` with ``rules: field`` predicts what it terminates (OP-035). At the
end the score of the observer is printed. The folder keeps the logs of all programs, the audit log of the API server,
the decision log of the observer, and what was played with its times.
"""

import argparse
import heapq
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any, Final, TextIO

from tests.beside.audit import RULES
from tests.beside.churn_events import Churn, Undo
from tests.beside.churn_sets import SHAPES
from tests.beside.go_operator import EVICTION, TOKENS, GoOperator, install_definitions, missing
from tests.beside.stage import Stage, fresh_namespace
from tests.cluster import binaries
from tests.cluster.api import ApiError, Json
from tests.cluster.binaries import CONTROLLERS
from tests.cluster.operators import Operator, let
from tests.cluster.plane import INSTALLED, ControlPlane

READER: Final = "reads-everything"
REST_SECONDS: Final = 100.0
"""At the end: what is predicted and does not happen counts a minute after it was due."""
_ONCE_MORE: Final = 2.0
FAULTS: Final = ("the cluster deleted what the plan keeps", "the cluster keeps what the plan deletes")


@contextmanager
def beside(folder: Path) -> Iterator[tuple[GoOperator, Operator]]:
    """A control plane with the Go operator and an observer, as long as the block lasts."""
    plane = ControlPlane(binaries.find(), folder=folder, audit_rules=RULES, more_controllers=[TOKENS, EVICTION])
    with plane:
        install_definitions(plane.api())
        plane.restart(CONTROLLERS)  # the garbage collector looks for new kinds when it begins
        acting = GoOperator(plane).install().start()
        let(plane.api(), INSTALLED, READER)
        decisions = str(folder / "decisions.jsonl")
        observer = Operator(plane, INSTALLED, options=("--observe", "--decision-log", decisions))
        observer.rules = "field"
        yield acting, observer.start()


@dataclass(slots=True)
class Player:
    """Plays events at random times, and what undoes them.

    Attributes:
        churn: chooses and plays the events.
        chance: the source of all that is random.
        log: gets a line for each event.
        pause: mean seconds between two events.
    """

    churn: Churn
    chance: random.Random
    log: TextIO
    pause: float
    played: Counter[str] = field(default_factory=Counter)
    _later: list[tuple[float, int, str, str, Undo]] = field(default_factory=list)
    _number: Iterator[int] = field(default_factory=count)

    def play(self, seconds: float) -> None:
        """Play events for so long; then undo what is still to be undone."""
        end = time.monotonic() + seconds
        upcoming = time.monotonic()
        while (now := time.monotonic()) < end:
            if self._later and self._later[0][0] <= now:
                self._undo()
            elif upcoming <= now:
                self._event()
                upcoming = time.monotonic() + self.chance.expovariate(1 / self.pause)
            else:
                time.sleep(min(0.1, upcoming - now))
        while self._later:
            time.sleep(max(0.0, self._later[0][0] - time.monotonic()))
            self._undo()

    def _event(self) -> None:
        try:
            shape, (said, seconds, undo) = self.churn.play()
        except (ApiError, LookupError, OSError) as fault:
            self._write("", "refused", str(fault)[:200])
            return
        self.played["event"] += 1
        self._write(shape, said)
        if undo is not None:
            heapq.heappush(self._later, (time.monotonic() + seconds, next(self._number), shape, said, undo))

    def _undo(self) -> None:
        _, _, shape, said, undo = heapq.heappop(self._later)
        try:
            undo()
        except LookupError:
            heapq.heappush(self._later, (time.monotonic() + _ONCE_MORE, next(self._number), shape, said, undo))
        except (ApiError, AssertionError, OSError) as fault:
            self._write(shape, f"refused: undone {said}", str(fault)[:200])
        else:
            self._write(shape, f"undone: {said}")

    def _write(self, shape: str, said: str, fault: str = "") -> None:
        line = {"at": datetime.now(UTC).isoformat(), "shape": shape, "what": said} | ({"fault": fault} if fault else {})
        self.log.write(json.dumps(line) + "\n")
        self.log.flush()


def main(folder: Path, minutes: float, seed: int, pause: float) -> int:
    """Play, and print the score."""
    if why := missing():
        sys.stderr.write(f"{why}\n")
        return 1
    folder.mkdir(parents=True, exist_ok=True)
    chance = random.Random(seed)
    with beside(folder) as (acting, observer), (folder / "played.jsonl").open("w", encoding="utf-8") as log:
        stages = {shape: _stage(acting, shape) for shape in SHAPES}
        churn = Churn(stages, chance)
        churn.make_all()
        time.sleep(15)
        player = Player(churn, chance, log, pause)
        player.play(minutes * 60)
        time.sleep(REST_SECONDS)
        (folder / "metrics.txt").write_text(observer.get("/metrics"), encoding="utf-8")
        ended = observer.stop()
        report = _report(observer, player.played["event"], ended)
        (folder / "score.json").write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    sys.stdout.write(json.dumps(report, indent=1) + "\n")
    return 0


def _stage(acting: GoOperator, shape: str) -> Stage:
    api, namespace = acting.plane.api(), fresh_namespace(shape)
    api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
    return Stage(api, namespace, acting)


def _report(observer: Operator, events: int, ended: int) -> Json:
    """The last line of the observer, and each line about a difference."""
    (score,) = observer.said("score")
    wrong: list[Any] = [line for message in FAULTS for line in observer.said(message)]
    return {"events": events, "exit": ended, "score": score, "differences": wrong}


if __name__ == "__main__":
    _parser = argparse.ArgumentParser(prog="python -m tests.beside.churn", description=__doc__)
    _parser.add_argument("folder", type=Path, help="gets the logs")
    _parser.add_argument("--minutes", type=float, default=60, help="how long events are played")
    _parser.add_argument("--seed", type=int, default=1, help="of what is random")
    _parser.add_argument("--pause", type=float, default=5, help="mean seconds between two events")
    _args = _parser.parse_args()
    sys.exit(main(_args.folder, _args.minutes, _args.seed, _args.pause))
