"""``grove plan --live --watch``: a breach is seen when it begins, counts down, and its end is seen."""

import signal
import time
from contextlib import ExitStack

import pytest

from tests.cluster.operators import Operator
from tests.cluster.plane import ControlPlane
from tests.cluster.proxy import Proxy
from tests.cluster.scenes import Scene, clique
from tests.cluster.test_watch import kubeconfig_by
from tests.command_line.watching import watching


@pytest.mark.req("CL-101")
def test_cl098_a_breach_runs_down(scene: Scene, control_plane: ControlPlane, operator: Operator) -> None:
    """The connection is lost afterwards: that is reported, and nothing is planned before it is there again."""
    scene.api.create(scene.set_of(clique("worker", 1), clique("router", 1), terminationDelay="10s"))
    scene.await_ready(2)
    operator.await_rest()
    words = ("--live", "-n", scene.namespace, "--rules", "design")
    with ExitStack() as ending:
        with Proxy(control_plane) as proxy:
            kubeconfig = str(kubeconfig_by(proxy, control_plane))
            found = ending.enter_context(watching(*words, terminal=True, KUBECONFIG=kubeconfig))
            found.until("no termination pending", "no termination ahead; waiting for changes")
            begun = time.monotonic()
            scene.annotate_pods("llama-0-worker", not_ready="true")
            found.until("no termination pending", "WAIT", "replica 0 until", "next termination in ")
            assert time.monotonic() - begun < 8
            text = found.until("WAIT", "next termination in 1s", "---", "nothing to terminate", "no termination ahead")
            assert f"{scene.namespace}/llama replica 0 (Ctrl-C ends)" in text
            assert {asked.method for asked, _ in proxy.asked} == {"GET"}
        lost = found.until("CONNECTION LOST at ")
        with Proxy(control_plane, port=proxy.port):
            known = found.until("CONNECTION LOST at ", "\n--- 20", " ---\n")
            assert known.count("\n--- 20") == lost.count("\n--- 20") + 1
            assert found.stop(signal.SIGINT) == 0
        assert "Traceback" not in found.text
