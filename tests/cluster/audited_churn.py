"""``python -m tests.cluster.audited_churn FOLDER``: random churn with ``grove operator`` and an audit log.

The folder gets the audit log of the API server, the decision log, a dump of the cluster from before the churn, its
Events at the end, and what was played. ``grove why`` reads them; ``tests.cluster.recorded_causes`` compares its causes
with the decision log.
"""

import argparse
import json
import random
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from tests.beside.audit import RULES
from tests.beside.churn import Player
from tests.beside.churn_events import Churn
from tests.beside.churn_sets import SHAPES
from tests.beside.go_operator import EVICTION, TOKENS
from tests.beside.stage import NAME, Stage, fresh_namespace
from tests.cluster import binaries
from tests.cluster.api import Json
from tests.cluster.binaries import CONTROLLERS
from tests.cluster.operators import GROVE, Operator, install_definitions, let
from tests.cluster.plane import ControlPlane

REST_SECONDS: Final = 30.0


class ChurnedOperator(Operator):
    """An operator that events of the churn kill and start again."""

    @property
    def is_running(self) -> bool:
        """Whether its process lives."""
        return bool(self.name) and self.code is None


def play(
    folder: Path, minutes: float, seed: int, pause: float, *, rest_seconds: float = REST_SECONDS, pace: float = 1
) -> Mapping[str, Any]:
    """Play events for so long; what was played is returned by its name, with how often.

    Args:
        rest_seconds: how long the operator works on after the last event.
        pace: what termination delays, and how long events last, are multiplied by.
    """
    folder.mkdir(parents=True, exist_ok=True)
    chance = random.Random(seed)
    plane = ControlPlane(binaries.find(), folder=folder, audit_rules=RULES, more_controllers=[TOKENS, EVICTION])
    with plane, (folder / "played.jsonl").open("w", encoding="utf-8") as log:
        api = plane.api()
        install_definitions(api)
        plane.restart(CONTROLLERS)  # the garbage collector looks for new kinds when it begins
        let(api, "operator")
        operator = ChurnedOperator(plane, options=("--decision-log", str(folder / "decisions.jsonl")))
        operator.start()
        stages = {shape: _stage(plane, operator, shape) for shape in SHAPES}
        churn = Churn(stages, chance, pace)
        churn.make_all()
        for stage in stages.values():
            size = stage.get("podcliquesets", NAME)["spec"]["replicas"]
            stage.await_status(NAME, availableReplicas=size)
        _grove(plane, "snapshot", "-A", "--whole", "--out", str(folder / "before.json"))
        player = Player(churn, chance, log, pause)
        player.play(minutes * 60)
        time.sleep(rest_seconds)
        with suppress(AssertionError):
            operator.stop()
        events: Json = api.request("GET", "/api/v1/events")
        (folder / "events.json").write_text(json.dumps(events), encoding="utf-8")
        _grove(plane, "snapshot", "-A", "--whole", "--out", str(folder / "after.json"))
    return dict(player.played)


def _grove(plane: ControlPlane, *arguments: str) -> None:
    argv = [*GROVE, *arguments, "--kubeconfig", str(plane.kubeconfig())]
    subprocess.run(argv, check=True)


def _stage(plane: ControlPlane, operator: Operator, shape: str) -> Stage:
    api, namespace = plane.api(), fresh_namespace(shape)
    api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
    return Stage(api, namespace, operator)  # type: ignore[arg-type]  # events kill and start it alone


if __name__ == "__main__":
    _parser = argparse.ArgumentParser(prog="python -m tests.cluster.audited_churn", description=__doc__)
    _parser.add_argument("folder", type=Path, help="gets the logs")
    _parser.add_argument("--minutes", type=float, default=60, help="how long events are played")
    _parser.add_argument("--seed", type=int, default=1, help="of what is random")
    _parser.add_argument("--pause", type=float, default=5, help="mean seconds between two events")
    _args = _parser.parse_args()
    sys.stdout.write(f"{json.dumps(play(_args.folder, _args.minutes, _args.seed, _args.pause))}\n")
