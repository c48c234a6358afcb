"""PodCliques whose scheduled pods kai-scheduler evicts (WL-257)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core.areas.workload.findings import kai_eviction_findings
from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.structs import replace
from grove_core.resources.pod import FINISHED_PHASES
from grove_core.testing import RandomCluster, clusters
from tests.property.workload.life import Life
from tests.property.workload.sets import clique_raw, set_raw


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
    found = list(kai_eviction_findings(snapshot))
    assert {one.subject for one in found} == expected
    assert len(found) == len(expected)


@pytest.mark.parametrize(("scheduled", "stale"), [(0, False), (1, True), (2, True), (3, False)])
def test_wl257_a_gang_that_loses_pods(scheduled: int, *, stale: bool) -> None:
    spec = {"schedulerName": "kai-scheduler", "containers": [{"name": "main", "image": "busybox"}]}
    life = Life(set_raw(clique_raw("a", 3, pod_spec=spec, minAvailable=3)))
    life.settle()
    for place, pod in enumerate(life.pods("llm-0-a")):
        life.world.put_pod(replace(pod, scheduled=place < scheduled))
    seen = life.look()
    assert seen is not None
    found = [(one.subject.name, one.verdict, one.because[0].facts) for one in kai_eviction_findings(seen)]
    assert found == ([("llm-0-a", "Risk", (("needed", 3), ("scheduled", scheduled)))] if stale else [])
