"""``grove daemon`` and ``grove domain-controller`` as processes against a real API server."""

import subprocess

import pytest

from tests.cluster.api import Api, Json, wait_until
from tests.cluster.daemons import GROVE, NAME, Domains
from tests.cluster.nvidia.definitions import DOMAINS


def put_entries(api: Api, namespace: str, entries: list[Json], manager: str = "compute-domain-daemon") -> None:
    """Entries in the domain, as an older daemon left them."""
    body = {"status": {"nodes": entries}}
    api.patch(DOMAINS, NAME, namespace, patch=body, subresource="status", fieldManager=manager)


@pytest.mark.parametrize("protocol", ["rmw", "ssa", "sharded", "sharded-rmw"])
@pytest.mark.req("DC-022")
@pytest.mark.req("DC-124")
def test_dc090_killed_daemon_keeps_its_index_and_stopped_one_leaves(domains: Domains, protocol: str) -> None:
    domains.make(3)
    first, second, third = domains.add(3, protocol)
    for daemon in (first, second, third):
        daemon.launch()
    domains.await_converged()
    before = {daemon: domains.index_of(daemon) for daemon in domains.daemons}
    assert sorted(index for index in before.values() if index is not None) == [0, 1, 2]
    second.kill()
    wait_until(second.peers.exists, lambda there: not there, "its fabric daemon ended with it")
    second.replace_pod()
    second.start()
    domains.await_converged()
    assert domains.index_of(second) == before[second]
    assert first.stop() == 0
    assert "DC-053" in first.rules
    assert not first.peers.exists()
    domains.daemons.remove(first)
    domains.await_converged()


@pytest.mark.req("DC-070")
@pytest.mark.req("DC-132")
def test_dc090_controller_removes_stale_entries(domains: Domains) -> None:
    domains.make(2)
    domains.start_controller()
    one, two = domains.add(2, "sharded", ["rack.1", "rack.2"])
    one.start()
    two.start()
    domains.await_converged()
    domains.await_status(status="Ready", cliques={"rack.1": "Ready", "rack.2": "Ready"})
    two.kill()
    two.replace_pod()
    domains.daemons.remove(two)
    domains.await_converged()
    domains.await_status(status="NotReady", cliques={"rack.1": "Ready"})


@pytest.mark.req("DC-024")
@pytest.mark.req("DC-032")
def test_dc090_entries_of_older_daemons_are_taken_over_or_removed(domains: Domains) -> None:
    """Two nodes with one index, one without any, one without a pod."""
    domains.make(3)
    one, two, three = domains.add(3, "ssa")
    left = [
        {"name": daemon.node, "ipAddress": f"10.9.9.{at}", "cliqueID": "rack.1", **more}
        for at, (daemon, more) in enumerate([(one, {"index": 0}), (two, {"index": 0}), (three, {})])
    ]
    gone = {"name": "gone", "ipAddress": "10.9.9.9", "cliqueID": "rack.1", "index": 1}
    put_entries(domains.api, domains.namespace, [*left, gone])
    domains.start_controller()
    for daemon in domains.daemons:
        daemon.launch()
    domains.await_converged()
    reported = {rule for daemon in domains.daemons for rule in daemon.rules}
    assert reported >= {"DC-051", "DC-022", "DC-040"}
    forced = [line for daemon in domains.daemons for line in daemon.lines if len(line.get("because", [])) > 1]
    assert {reason["requirement"] for line in forced for reason in line["because"]} >= {"DC-032"}


def test_cl005_one_report_of_all_problems(domains: Domains) -> None:
    domains.make(1)
    pod = domains.add_pod(f"{domains.namespace}-0")
    config = str(domains.plane.kubeconfig(domains.user))
    place = domains.namespace
    words = ["--domain", f"{place}/other", "--clique", "Rack_1.", "--pod", f"{place}/{pod}", "--ip", "10.0.0.300"]
    more = ["--protocol", "csa", "--limit", "0", "--node", "elsewhere", "--kubeconfig", config]
    found = subprocess.run([*GROVE, "daemon", *words, *more], capture_output=True, text=True, check=False)
    assert found.returncode == 1
    assert found.stderr.splitlines()[0] == "8 problems on the command line"
    for reported in (
        'command line: --protocol: expected one of rmw, ssa, sharded, sharded-rmw, got "csa"',
        "command line: --limit: expected an integer from 1 to 10000, got 0",
        "command line: --clique: expected an id of at most 63 lowercase letters",
        'command line: --ip: expected an IP address, got "10.0.0.300"',
        "command line: --peers: expected a file for the peer map, or a --fabric program that reads it, got none",
        "command line: --domain: expected an existing ComputeDomain, got none of that name",
        f'command line: --node: expected what the pod {place}/{pod} has, "{place}-0", got "elsewhere"',
    ):
        assert reported in found.stderr
