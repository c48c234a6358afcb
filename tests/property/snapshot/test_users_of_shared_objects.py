"""Pods that outlived their PodClique: whose they may be does not hang on which of them came first."""

from typing import Final

from hypothesis import given
from hypothesis import strategies as st

from grove_core.resources.pod import Pod
from grove_core.snapshot.cluster_index import index_cluster
from grove_core.snapshot.snapshot import pods_may_belong_to_set, trim_snapshot
from tests.property.workload.sets import NOW, applied, clique_raw, set_raw

ROOT: Final = applied(set_raw(clique_raw("a"))).root


def pod(number: int, owner: str, gang: str) -> Pod:
    where, name, uid = ROOT.ref.namespace, f"p-{number}", f"u-{number}"
    return Pod(where, name, uid, "1", owner, "", gang, "", "Running", "", False, True, False, True)


PODS: Final = st.lists(
    st.tuples(st.sampled_from(("gone", "lost")), st.sampled_from(("", "llm", "llm-0", "llm-0-pool-1", "chat-0"))),
    max_size=5,
).map(lambda drawn: [pod(number, owner, gang) for number, (owner, gang) in enumerate(drawn)])


@given(PODS, st.data())
def test_pl001_no_order_of_pods_hides_one(pods: list[Pod], data: st.DataObject) -> None:
    """All pods of an owner that is gone are looked at: one whose gang bears the name of the set is enough."""
    expected = {one.owner_uid for one in pods if one.gang.startswith("llm-")}
    for several in (pods, data.draw(st.permutations(pods))):
        seen = index_cluster(sets=[ROOT], pods=several).snapshot_of(ROOT, NOW)
        assert set(seen.pods_of) == expected
        assert trim_snapshot(seen).pods_of.keys() == expected
        owned = {uid: [one for one in several if one.owner_uid == uid] for uid in {one.owner_uid for one in several}}
        assert {uid for uid, some in owned.items() if pods_may_belong_to_set(ROOT.ref, some)} == expected
