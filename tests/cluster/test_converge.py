"""``grove converge --world cluster``: real daemons, and a server that has counted the same."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.converge.__main__ import store_of
from grove_core.areas.domain_cliques.daemon.registration_protocols import RegistrationProtocol
from grove_shell.converge.cluster.cluster_run_engine import convergence_engine_from_kubeconfig
from grove_shell.converge.run_parameters_and_results import ConvergenceRunOutcome, ConvergenceRunParameters
from grove_shell.manifests.crd_definitions import compute_domain_crd_manifests
from tests.cluster.daemons import GROVE
from tests.cluster.nvidia.definitions import CLIQUES, DOMAINS, install
from tests.cluster.plane import STORE, ControlPlane


@pytest.fixture(scope="module")
def bare_plane(api_server: ControlPlane, programs: dict[str, Path]) -> Iterator[ControlPlane]:
    """Another one without a garbage collector, since the pods that own cliques are not there."""
    with ControlPlane(programs, parts=STORE) as plane:
        install(plane.api(), *compute_domain_crd_manifests())
        yield plane


@pytest.mark.parametrize("protocol", list(RegistrationProtocol))
@pytest.mark.req("CV-060")
@pytest.mark.req("CV-012")
def test_cv060_daemons_and_server_count_the_same(bare_plane: ControlPlane, protocol: RegistrationProtocol) -> None:
    point = ConvergenceRunParameters(
        protocol=protocol, nodes=8, clique_size=4, arrival_s=0.2, readiness_s=0.1, run_limit_s=30
    )
    measured = convergence_engine_from_kubeconfig(
        str(bare_plane.kubeconfig()), store_of(bare_plane)
    ).run_and_measure_server(point)
    run, server = measured.run, measured.server
    assert (run.outcome, measured.refused) == (ConvergenceRunOutcome.CONVERGED, ())
    assert run.t_all_s is not None
    assert run.t_global_s is not None
    assert 0.1 < run.t_all_s < 20
    assert len(run.t_views_s) == 8
    assert run.conflicts + measured.controller_conflicts == server.conflicts
    assert run.writes + run.controller_writes == server.good
    assert run.watch_events + measured.monitor_events == server.watch_events
    assert run.watch_bytes < server.watch_bytes
    assert measured.decoded < run.watch_events
    assert run.cpu_server_s > 0
    assert run.cpu_store_s > 0
    assert not bare_plane.api().all_of(DOMAINS)
    assert not bare_plane.api().all_of(CLIQUES)


def test_cl005_a_cluster_without_the_kinds(api_server: ControlPlane, tmp_path: Path) -> None:
    words = ["converge", "--world", "cluster", "--nodes", "2", "--kubeconfig", str(api_server.kubeconfig())]
    found = subprocess.run([*GROVE, *words], capture_output=True, text=True, check=False)
    assert (found.returncode, found.stdout) == (1, "")
    assert "ComputeDomain: 404 page not found; grove manifests --only crds --with compute-domains" in found.stderr
    away = subprocess.run([*GROVE, *words[:-1], str(tmp_path / "none")], capture_output=True, text=True, check=False)
    assert (away.returncode, len(away.stderr.splitlines())) == (1, 1)
