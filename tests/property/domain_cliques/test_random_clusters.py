"""Small clusters keep every invariant; the core with a known mistake does not."""

import pytest

from grove_core.areas.domain_cliques.daemon.registration_protocols import (
    DaemonRegistrationSettings,
    RegistrationProtocol,
)
from tests.property.domain_cliques.core_functions import CoreFunctions
from tests.property.domain_cliques.invariants import InvariantChecker, violations_at_rest
from tests.property.domain_cliques.mutants import MUTANTS, Mutant
from tests.property.domain_cliques.processes import Node
from tests.property.domain_cliques.random_run import FAULTS, RandomRun, RunResult, run_seed
from tests.property.domain_cliques.seed_sweep import lines_of, main
from tests.property.domain_cliques.small_cluster import SmallCluster

WORLDS = 80
ENOUGH = 60
MANY_CLUSTERS = pytest.mark.no_cover  # lines are counted in the other tests, which reach them all


@MANY_CLUSTERS
@pytest.mark.parametrize("part", range(4))
@pytest.mark.req("DC-006")
@pytest.mark.req("DC-010")
@pytest.mark.req("DC-023")
@pytest.mark.req("DC-024")
@pytest.mark.req("DC-025")
@pytest.mark.req("DC-030")
@pytest.mark.req("DC-036")
@pytest.mark.req("DC-037")
@pytest.mark.req("DC-038")
@pytest.mark.req("DC-040")
@pytest.mark.req("DC-041")
@pytest.mark.req("DC-042")
@pytest.mark.req("DC-043")
@pytest.mark.req("DC-054")
@pytest.mark.req("DC-060")
@pytest.mark.req("DC-066")
@pytest.mark.req("DC-086")
@pytest.mark.req("DC-083")
@pytest.mark.req("DC-084")
def test_dc090_small_clusters_keep_every_invariant(part: int) -> None:
    size = WORLDS // 4
    for seed in range(part * size, (part + 1) * size):
        violation = run_seed(seed).violation
        assert violation is None, (
            f"python -m tests.property.domain_cliques.seed_sweep --first {seed} --seeds 1: {violation}"
        )


def test_dc074_removal_is_checked_against_the_controllers_view() -> None:
    """The pod that was registered in the other object ended between decision and write."""
    assert run_seed(15016).violation is None


@MANY_CLUSTERS
@pytest.mark.parametrize("mutant", MUTANTS.values(), ids=MUTANTS)
def test_dc090_every_mutant_is_detected(mutant: Mutant) -> None:
    clusters = (run_seed(seed, mutant.core, mutant.protocol, mutant.faults) for seed in range(ENOUGH))
    assert any(result.violation is not None and result.violation.code in mutant.codes for result in clusters)


@pytest.mark.parametrize("protocol", list(RegistrationProtocol))
def test_small_clusters_are_reproducible(protocol: RegistrationProtocol) -> None:
    first, second = run_seed(7, protocol=protocol), run_seed(7, protocol=protocol)
    assert (first.commits, first.writes, first.fault_counts) == (second.commits, second.writes, second.fault_counts)
    assert first.commits > 0


@MANY_CLUSTERS
def test_every_fault_happens() -> None:
    fault_counts = {what for seed in range(60) for what in run_seed(seed, faults=frozenset(FAULTS)).fault_counts}
    assert fault_counts == set(FAULTS)


def quiet_cluster(protocol: RegistrationProtocol, cliques: dict[str, int], limit: int = 18) -> SmallCluster:
    nodes = tuple(Node(f"{clique}{number:03}", clique) for clique, size in cliques.items() for number in range(size))
    return SmallCluster(0, nodes, protocol, InvariantChecker(), CoreFunctions(), limit=limit)


def settled(cluster: SmallCluster) -> SmallCluster:
    for node in cluster.nodes:
        cluster.start_pod(node)
    RandomRun(cluster, RunResult(0, cluster.protocol)).reach_rest()
    return cluster


@MANY_CLUSTERS
@pytest.mark.parametrize("protocol", list(RegistrationProtocol))
def test_dc090_eighteen_daemons_settle_with_few_writes(protocol: RegistrationProtocol) -> None:
    cluster = settled(quiet_cluster(protocol, {"a": 18}))
    assert list(violations_at_rest(cluster)) == []
    assert max(process.moves for process in cluster.processes) <= 18
    assert sum(process.writes for process in cluster.processes) <= 18 * 18


@pytest.mark.parametrize("protocol", list(RegistrationProtocol))
@pytest.mark.req("DC-021")
def test_dc090_one_daemon_too_many_waits(protocol: RegistrationProtocol) -> None:
    cluster = settled(quiet_cluster(protocol, {"a": 4}, limit=3))
    indices = [process.state.settled_index for process in cluster.processes]
    assert sorted(index for index in indices if index is not None) == [0, 1, 2]
    leaver = next(process for process in cluster.processes if process.state.settled_index == 1)
    cluster.nodes = tuple(node for node in cluster.nodes if node.name != leaver.identity.node)
    cluster.stop(leaver)
    RandomRun(cluster, RunResult(0, protocol)).reach_rest()
    assert sorted(process.state.settled_index or 0 for process in cluster.processes) == [0, 1, 2]


@pytest.mark.parametrize(
    ("protocol", "grows"), [(RegistrationProtocol.SHARDED, False), (RegistrationProtocol.SSA, True)]
)
def test_dc120_sharded_work_does_not_grow_with_the_domain(protocol: RegistrationProtocol, *, grows: bool) -> None:
    def costs(cliques: int) -> tuple[int, int]:
        cluster = settled(quiet_cluster(protocol, {chr(97 + number): 3 for number in range(cliques)}))
        events = [
            sum(
                event.address.name == process.identity.registry_ref(sharded=protocol.sharded).name
                for event in cluster.server.history
            )
            for process in cluster.processes
        ]
        size = max(len(str(body.get("daemons") or body["status"]["nodes"])) for _, body in cluster.stored() if body)
        return max(events), size

    (few, small), (many, large) = costs(2), costs(6)
    assert (many > few + 3, large > small * 2) == (grows, grows)


def test_dc001_all_protocols_have_the_same_limit() -> None:
    assert {DaemonRegistrationSettings(protocol=protocol).limit for protocol in RegistrationProtocol} == {18}


@MANY_CLUSTERS
def test_dc090_sweep_adds_up(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--seeds", "6", "-j", "1"]) == 0
    assert "6 clusters, 0 violations" in capsys.readouterr().out
    assert lines_of.__doc__
