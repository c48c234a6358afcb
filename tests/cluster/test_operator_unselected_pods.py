"""A pod whose selector label is removed still runs and is not created again (OP-106)."""

import pytest

from grove_core.resources.api_names import MANAGED_BY, OPERATOR
from tests.cluster.api import wait_until
from tests.cluster.operators import Operator
from tests.cluster.scenes import Scene, clique

HOLD = "example.com/hold"


def replace(scene: Scene) -> None:
    """A pod goes, but only after another was made in its place, whose name therefore is not that of the first."""
    first = scene.pods("llama-0-worker")[0]["metadata"]["name"]
    scene.patch("pods", first, {"metadata": {"finalizers": [HOLD]}})
    scene.api.delete("pods", first, scene.namespace)
    wait_until(scene.pods, lambda pods: len(pods) == 2, "another pod is made")
    scene.patch("pods", first, {"metadata": {"finalizers": None}})
    wait_until(lambda: scene.find("pods", first), lambda found: not found, "the first one is gone")
    scene.await_ready(2)


@pytest.mark.req("OP-018")
@pytest.mark.parametrize("runs", [True, False], ids=["an operator follows it", "no operator follows it"])
def test_op106_it_gets_its_label_back(scene: Scene, operator: Operator, runs: bool) -> None:
    scene.api.create(scene.set_of(clique("worker", 2)))
    scene.await_ready(2)
    replace(scene)
    operator.await_rest()
    before = {pod["metadata"]["uid"] for pod in scene.pods()}
    made = len(operator.writes("pods", "create"))
    if not runs:
        operator.kill()
    for pod in scene.pods():
        scene.patch("pods", pod["metadata"]["name"], {"metadata": {"labels": {MANAGED_BY: None}}})
    if not runs:
        operator.start()
    wait_until(
        scene.pods,
        lambda pods: all(pod["metadata"]["labels"].get(MANAGED_BY) == OPERATOR for pod in pods),
        "they have their labels back",
    )
    operator.await_rest()
    assert {pod["metadata"]["uid"] for pod in scene.pods()} == before
    assert len(operator.writes("pods", "create")) == made
