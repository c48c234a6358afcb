"""A settled set causes no requests."""

import time

import pytest

from tests.cluster.api import wait_until
from tests.cluster.operators import SHORT, Starting
from tests.cluster.scenes import Scene, clique, group

SECONDS = 10.0
STATUSES_WAIT = 5.5


@pytest.mark.req("OP-024")
def test_op020_at_rest_there_is_no_write_no_list_and_no_round(scene: Scene, starting: Starting) -> None:
    """One set is well, one has pods that are never ready, one has a gang that waits for its end."""
    operator = starting(election=SHORT).start()
    pool = group("pool", "worker", replicas=2)
    scene.api.create(scene.set_of(clique("router"), clique("worker", 2), podCliqueScalingGroups=[pool]))
    never = scene.set_of(clique("router"), name="never")
    never["spec"]["template"]["cliques"][0]["annotations"] = {"kubelet.grove.test/never-ready": "true"}
    scene.api.create(never)
    scene.api.create(scene.set_of(clique("router"), name="broken", terminationDelay="1h"))
    scene.await_status(availableReplicas=1)
    scene.await_status("broken", availableReplicas=1)
    scene.await_counts("podcliques", "never-0-router", {"scheduledReplicas": 1})
    scene.annotate_pods("broken-0-router", not_ready="true")
    scene.await_condition("podcliques", "broken-0-router", "MinAvailableBreached", "True")
    operator.await_rest()
    rounds = [(time.monotonic(), _rounds(operator.get("/metrics")))]

    def quiet() -> bool:
        """Whether the last round is over for longer than statuses may wait."""
        seen = _rounds(operator.get("/metrics"))
        if seen != rounds[-1][1]:
            rounds.append((time.monotonic(), seen))
        return time.monotonic() - rounds[-1][0] > STATUSES_WAIT

    wait_until(quiet, bool, "no look any more")

    before, looked = len(operator.requests), _rounds(operator.get("/metrics"))
    assert looked
    time.sleep(SECONDS)
    assert [event["requestURI"] for event in operator.requests[before:]] == []
    assert _rounds(operator.get("/metrics")) == looked


def _rounds(page: str) -> list[str]:
    return [line for line in page.splitlines() if line.startswith("controller_runtime_reconcile_total{")]
