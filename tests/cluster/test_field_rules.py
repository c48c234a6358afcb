"""The Go operator's rules on a real cluster: one that acts by them, two that keep score, logs that replay."""

import json
import time
from pathlib import Path
from typing import Final

import pytest

from tests.cluster.api import Json, wait_until
from tests.cluster.operators import Operator, Starting, grove
from tests.cluster.scenes import Scene, clique, condition, group

FLAG: Final = "GangTerminationInProgress"
BREACH: Final = "MinAvailableBreached"
FORGOTTEN: Final = 6.0  # seconds; a group that is breached in its first five has no history (GF-044)
ENDED: Final = 5  # cliques: the router, and two of each replica of the group


def the_set(scene: Scene) -> Json:
    pool = group("pool", "leader", "worker", replicas=2)
    cliques = (clique("router"), clique("leader"), clique("worker", 2))
    return scene.set_of(*cliques, podCliqueScalingGroups=[pool], terminationDelay="8s")


def uids(scene: Scene) -> dict[str, str]:
    return {one["metadata"]["name"]: one["metadata"]["uid"] for one in scene.all_of("podcliques")}


def counted(operator: Operator, outcome: str) -> int:
    """How often something became of a prediction so far."""
    begins = f'grove_predictions_total{{outcome="{outcome}"}} '
    return sum(
        int(float(line.split()[-1])) for line in operator.get("/metrics").splitlines() if line.startswith(begins)
    )


def score_of(operator: Operator) -> Json:
    """What became of predictions, as its last line says it."""
    assert operator.stop() == 0
    (line,) = operator.said("score")
    return {key: value for key, value in line.items() if key not in {"ts", "level", "msg"} and value}


def replayed(log: Path, *more: str) -> Json:
    ran = grove("replay", str(log), "-o", "json", *more)
    assert ran.returncode == 0, (ran.returncode, ran.stdout[-2000:], ran.stderr)
    reported: Json = json.loads(ran.stdout)
    assert reported["otherwise"] == []
    assert reported["asRecorded"] == reported["looks"] > 10
    return reported


@pytest.mark.req("GF-092")
@pytest.mark.req("GF-075")
@pytest.mark.req("GF-085")
@pytest.mark.req("OP-035")
@pytest.mark.req("RP-001")
@pytest.mark.req("RP-007")
def test_gf073_it_terminates_completely_for_two_observers_and_every_round_is_reproducible(
    scene: Scene, starting: Starting, tmp_path: Path
) -> None:
    """One that watches by the same rules predicts it, one that watches by the design's does not; an hour in small."""
    logs = [tmp_path / name for name in ("acts.jsonl", "knows.jsonl", "design.jsonl")]
    reported = [("--decision-log", str(log)) for log in logs]
    acts = starting(options=reported[0])
    knows, other = (starting("operator-2", options=("--observe", *words)) for words in reported[1:])
    acts.rules = knows.rules = "field"
    for each in (acts, knows, other):
        each.start()
    scene.api.create(the_set(scene))
    scene.await_ready(7)
    scene.await_status(availableReplicas=1)
    wait_until(
        lambda: condition(scene.get("podcliquescalinggroups", "llama-0-pool"), BREACH).get("status"),
        lambda status: status == "False",
        "the group is healthy",
    )
    time.sleep(FORGOTTEN)
    before = uids(scene)
    for index in range(2):
        scene.annotate_pods(f"llama-0-pool-{index}-worker", not_ready="true")
    scene.await_condition("podcliquescalinggroups", "llama-0-pool", BREACH, "True")
    wait_until(
        lambda: uids(scene),
        lambda now: now.keys() == before.keys() and not set(before.values()) & set(now.values()),
        "all cliques are new ones, also the healthy router",
    )
    scene.await_ready(7)
    scene.await_object(
        "podcliquescalinggroups",
        "llama-0-pool",
        lambda found: condition(found, BREACH).get("status") == "False" and not condition(found, FLAG),
        "it recovered, and its flag is gone",
    )
    acts.kill()
    acts.start()
    scene.scale("podcliquescalinggroups", "llama-0-pool", 3)
    scene.await_ready(10)
    wait_until(
        lambda: counted(knows, "predicted") - counted(knows, "takenBack"),
        lambda still: still == ENDED,
        "the observer saw that a breach while pods start passes by itself",
    )
    scene.api.delete("podcliquesets", "llama", scene.namespace)
    wait_until(lambda: scene.all_of("podcliques"), lambda left: not left, "all is gone")

    score = score_of(knows)
    assert score.pop("predicted") - score.pop("takenBack", 0) == ENDED
    assert score == {"asPredicted": ENDED}
    assert score_of(other)["notPredicted"] == ENDED
    assert acts.stop() == 0
    replayed(logs[0])
    replayed(logs[1])
    parted = replayed(logs[2], "--rules", "field")["parted"]
    assert {one["differences"][0]["change"] for one in parted} == {"ends"}
