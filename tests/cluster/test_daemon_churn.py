"""Daemons and their controller while everything is killed, flipped and restarted: the end is always the same."""

import random

from tests.cluster.binaries import APISERVER
from tests.cluster.daemons import Domains


def test_dc090_killed_at_random_with_the_gate_flipped_and_the_server_restarted(domains: Domains) -> None:
    """Every daemon runs in an old pod or a new one, by the old gate or the new one; then everything ends well."""
    chance = random.Random(8)
    domains.make(5)
    domains.start_controller()
    for daemon in domains.add(5, "sharded"):
        daemon.launch()
    domains.await_converged()
    for gate in ("ssa", "sharded"):
        order = chance.sample(domains.daemons, len(domains.daemons))
        for at, daemon in enumerate(order):
            if chance.random() < 0.5:
                daemon.kill()
            else:
                assert daemon.stop() == 0
            daemon.replace_pod()
            daemon.protocol = gate
            daemon.start()
            if at == 1:
                domains.plane.restart(APISERVER)
            if at == 3:
                domains.kill_controller()
                domains.start_controller()
            unlucky = chance.choice(order)
            unlucky.kill()
            unlucky.start()
        domains.await_converged()
    domains.await_status(status="Ready", cliques={"rack.1": "Ready"})
