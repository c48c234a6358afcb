"""Points of all kinds, drawn by seeds; and small ones for a closer look."""

import random
from typing import Any

from grove_core.areas.domain_cliques.daemon.registration_protocols import RegistrationProtocol
from grove_shell.converge.model.convergence_model_run import ConvergenceModelFactory, ConvergenceModelRun
from grove_shell.converge.model.server_costs import ModelServerCosts, default_model_server_costs
from grove_shell.converge.run_parameters_and_results import ConvergenceRun, ConvergenceRunParameters

PROTOCOLS = list(RegistrationProtocol)


def point(
    protocol: RegistrationProtocol = RegistrationProtocol.SHARDED, nodes: int = 18, **others: Any
) -> ConvergenceRunParameters:
    return ConvergenceRunParameters(protocol=protocol, nodes=nodes, **others)


def expected_watch_events(protocol: RegistrationProtocol, nodes: int, clique_size: int) -> int:
    """The watch events of all N daemons: 2 N^2 + 2 N for one object, 2 K for each daemon in cliques of K.

    Each daemon writes twice, and the controller writes the status of the one object twice.
    """
    if not protocol.sharded:
        return nodes * (2 * nodes + 2)
    whole, rest = divmod(nodes, clique_size)
    return 2 * (whole * clique_size**2 + rest**2)


def run_of(
    one: ConvergenceRunParameters, costs: ModelServerCosts | None = None, parts: ConvergenceModelFactory | None = None
) -> ConvergenceRun:
    return ConvergenceModelRun(one, costs or default_model_server_costs(), parts).run()


def costs_with(**others: Any) -> ModelServerCosts:
    return default_model_server_costs().model_copy(update=others)


def drawn(seed: int) -> tuple[ConvergenceRunParameters, ModelServerCosts]:
    """A small point, mostly with an overloaded server, so that every event occurs."""
    chance = random.Random(seed)
    costs = costs_with(
        merge_ns_per_byte=chance.choice([50.0, 250.0, 5_000.0, 40_000.0]),
        put_ns_per_byte=chance.choice([60.0, 2_000.0]),
        stale_ns_per_byte=chance.choice([60.0, 500.0]),
        commit_us=chance.choice([2_000.0, 20_000.0]),
        seats=chance.choice([200, 3]),
        seat_wait_ms=chance.choice([15_000, 200]),
        request_limit_ms=chance.choice([60_000, 800]),
    )
    return (
        ConvergenceRunParameters(
            protocol=PROTOCOLS[seed % len(PROTOCOLS)],
            nodes=chance.choice([1, 2, 5, 9, 18, 27, 36]),
            clique_size=chance.choice([3, 6, 9, 18]),
            seed=seed,
            arrival_s=chance.choice([0.0, 0.5, 2.0]),
            readiness_s=chance.choice([0.0, 1.0]),
            rate=chance.choice([5.0, 5.0, 0.0]),
            server_cores=chance.choice([None, 1, 2]),
            run_limit_s=120.0,
        ),
        costs,
    )


def slow(seed: int) -> tuple[ConvergenceRunParameters, ModelServerCosts]:
    """A small world on a server so slow that daemons lose their patience, and move though they have started."""
    chance = random.Random(seed)
    costs = costs_with(
        merge_ns_per_byte=chance.choice([100_000.0, 300_000.0, 30_000.0]),
        seats=chance.choice([200, 6]),
        request_limit_ms=chance.choice([60_000, 20_000, 400_000]),
    )
    return (
        ConvergenceRunParameters(
            protocol=chance.choice([RegistrationProtocol.SSA, RegistrationProtocol.SHARDED]),
            nodes=chance.choice([6, 9, 12]),
            clique_size=chance.choice([3, 6, 12]),
            seed=seed,
            server_cores=chance.choice([1, 2, 4]),
            run_limit_s=900.0,
        ),
        costs,
    )
