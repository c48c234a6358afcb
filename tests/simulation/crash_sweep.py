"""The crash sweep: the operator crashes at each of its writes in turn, and must come to the same end (SM-064)."""

from collections.abc import Iterator
from dataclasses import dataclass

from grove_core.kernel.structs import replace
from grove_shell.simulator.cluster.simulated_cluster import SimulatedCluster
from grove_shell.simulator.scenario.fault_events import CrashOperatorFault
from grove_shell.simulator.scenario.scenario import Scenario
from grove_shell.simulator.scenario.scenario_events import ScenarioEvent
from grove_shell.simulator.simulation import Simulation
from grove_shell.simulator.simulation_run import SimulationResult
from grove_shell.simulator.virtual_time import SECOND
from tests.oracles import checked


@dataclass(frozen=True, slots=True)
class Divergence:
    """A crash that led to another end.

    Attributes:
        write: number of the write at which the operator crashed.
        committed: whether that write took effect.
        missing, extra: objects by which the end differs from that of the run without a crash.
    """

    write: int
    committed: bool
    run: SimulationResult
    missing: tuple[str, ...]
    extra: tuple[str, ...]


def crash_sweep(scenario: Scenario, *, every: int = 1, names: bool = True) -> Iterator[Divergence]:
    """Yield every crash that leads to another end than the run without one, or breaks a promise.

    Args:
        scenario: a scenario that comes to rest.
        every: try only each n-th write.
        names: whether pods must have the same names and uids at the end; not where a user edits a set while the
            operator is down, because some cliques are recreated less often then.
    """
    whole, run = _end_of(scenario, names=names)
    for write in range(1, run.writes + 1, every):
        for committed in (False, True):
            crash = ScenarioEvent(
                at=0, crash_operator=CrashOperatorFault(write=write, committed=committed, down=2 * SECOND)
            )
            end, crashed = _end_of(scenario.with_events((crash, *scenario.spec.events)), names=names)
            missing, extra = whole - end, end - whole
            if missing or extra or crashed.violation is not None:
                yield Divergence(write, committed, crashed, tuple(sorted(missing)), tuple(sorted(extra)))


def _end_of(scenario: Scenario, *, names: bool) -> tuple[frozenset[str], SimulationResult]:
    simulation = Simulation(scenario, checked(counts_only=True))
    run = simulation.run()
    return frozenset(_descriptions(simulation.cluster, names=names)), run


def _descriptions(cluster: SimulatedCluster, *, names: bool) -> Iterator[str]:
    """Yield every object as text without times, versions and nodes."""
    owners = {item.uid: item.ref.short for item in cluster.server.items.values()}
    for item in cluster.server.items.values():
        identity = f"{item.uid} of {item.owner_uid}" if names else owners.get(item.owner_uid, "")
        yield f"{item.ref.short} {identity} deleting={item.deleting} finalizers={','.join(item.finalizers)}"
    for pod in cluster.all_pods():
        bare = replace(pod, resource_version="", node="", trouble="", created="")
        if not names:
            bare = replace(bare, name="", uid="", owner_uid=owners.get(pod.owner_uid, ""))
        yield repr(bare)
