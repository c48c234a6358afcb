"""PodCliques whose scheduled pods kai-scheduler evicts (WL-257)."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from grove_core.areas.workload.stale_gangs import stale_gang_findings
from grove_core.kernel.frozen import FrozenMap
from grove_core.resources.pod import FINISHED_PHASES
from tests.property.strategies.worlds import RandomCluster, clusters


@given(clusters(), st.sampled_from(["kai-scheduler", "volcano", ""]))
def test_wl257_cliques_of_kai_between_no_pod_and_their_minimum(generated: RandomCluster, scheduler: str) -> None:
    before = generated.snapshot
    spec = FrozenMap({"schedulerName": scheduler})
    snapshot = replace(before, cliques=tuple(replace(clique, pod_spec=spec) for clique in before.cliques))
    expected = set()
    for clique in snapshot.cliques:
        pods = snapshot.pods_of.get(clique.uid, ())
        scheduled = sum(pod.scheduled and not pod.deleting and pod.phase not in FINISHED_PHASES for pod in pods)
        if scheduler == "kai-scheduler" and not clique.deleting and 1 <= scheduled <= clique.min_available - 1:
            expected.add(clique.ref)
    found = list(stale_gang_findings(snapshot))
    assert {one.subject for one in found} == expected
    assert len(found) == len(expected)
    assert not [*stale_gang_findings(before)] or all(
        one.pod_spec.get("schedulerName") == "kai-scheduler" for one in before.cliques
    )
