"""What the snapshot of a set contains: its objects, with the replica of each, and nothing of others."""

from typing import Any

from grove_core.kernel.frozen import FrozenDict, frozen_dict_of_tuples
from grove_core.kernel.structs import replace
from grove_core.snapshot.cluster_index import index_cluster
from grove_core.snapshot.snapshot import Snapshot, trim_snapshot
from tests.property.mnnvl_scopes.sharing_sets import ENABLED, GPUS, SCOPE, converged_set
from tests.property.workload.life import Life
from tests.property.workload.sets import NOW, clique_raw, set_raw

GROUP: dict[str, Any] = {"name": "pool", "cliqueNames": ["b"], "replicas": 3, "minAvailable": 2}


def look(life: Life) -> Snapshot:
    seen = life.look()
    assert seen is not None
    return seen


def sharing() -> Snapshot:
    _, seen = converged_set(set_raw(clique_raw("a", 2, pod_spec=GPUS, annotations={ENABLED: "true", SCOPE: "clique"})))
    return seen


def test_ms043_only_what_a_set_or_a_gang_owned_is_adrift() -> None:
    seen = sharing()
    (domain,) = seen.domains

    def found(kind: str) -> list[str]:
        lost = replace(domain, owner_uid="gone", owner_kind=kind)
        cluster = index_cluster(sets=(seen.root,), cliques=seen.cliques, gangs=seen.gangs, others=(), pods=())
        cluster = replace(cluster, shared_of=FrozenDict({(seen.root.ref.namespace, seen.root.ref.name): (lost,)}))
        return [one.ref.name for one in cluster.snapshot_of(seen.root, NOW).domains]

    assert (found("PodGang"), found("PodCliqueSet"), found("Deployment")) == ([domain.ref.name],) * 2 + ([],)


def test_gt026_a_clique_is_of_the_replica_that_its_group_is_of() -> None:
    life = Life(set_raw(clique_raw("b", 1), groups=(GROUP,), replicas=2))
    life.settle()
    seen = look(life)
    group = next(one for one in seen.groups if one.replica_index == 1)
    first, second = (one for one in seen.cliques if one.owner_uid == group.uid and one.group_replica_index < 2)
    cliques = (replace(first, replica_index=0), replace(second, replica_index=-1))
    cluster = index_cluster(sets=(seen.root,), groups=(group,), cliques=cliques)
    assert sorted(one.replica_index for one in cluster.cliques_of[group.uid]) == [1, 1]


def test_mn051_a_decision_sees_nothing_of_other_namespaces_and_sets() -> None:
    """But pods of the set whose clique is gone."""
    seen = sharing()
    elsewhere = {("other", name): item for (_, name), item in seen.named_domains.items()}
    (pods,) = (pods for pods in seen.pods_of.values() if pods)
    crowd = {**seen.pods_of, "gone": pods, "else": [replace(pod, gang="chat-0", set_name="chat") for pod in pods]}
    whole = replace(
        seen, pods_of=frozen_dict_of_tuples(crowd), named_domains=FrozenDict({**seen.named_domains, **elsewhere})
    )
    near = trim_snapshot(whole)
    assert near.pods_of.keys() == {*seen.pods_of, "gone"}
    assert near.named_domains == seen.named_domains
