"""What mutants of snapshots lived through until these tests were written (specs/mutants.md)."""

from typing import Any

import pytest

from grove_core.kernel.frozen import FrozenDict, frozen_dict_of_tuples
from grove_core.kernel.steps import Apply, Attempt, AttemptOutcome, Create, Delete, Step, StepStage
from grove_core.kernel.structs import replace
from grove_core.reconcile import reconcile
from grove_core.snapshot.cluster_index import index_cluster
from grove_core.snapshot.expected_replicas import max_object_count_of_set
from grove_core.snapshot.own_writes import possibly_created_cliques, with_own_writes
from grove_core.snapshot.snapshot import Snapshot, trim_snapshot
from tests.property.mnnvl_scopes.sharing_sets import ENABLED, GPUS, SCOPE, converged_set
from tests.property.workload.life import Life
from tests.property.workload.sets import NOW, applied, clique_raw, set_raw

GROUP: dict[str, Any] = {"name": "pool", "cliqueNames": ["b"], "replicas": 3, "minAvailable": 2}


def done(steps: list[Step]) -> tuple[Attempt, ...]:
    return tuple(Attempt(step, AttemptOutcome.DONE) for step in steps)


def look(life: Life) -> Snapshot:
    seen = life.look()
    assert seen is not None
    return seen


def sharing() -> Snapshot:
    _, seen = converged_set(set_raw(clique_raw("a", 2, pod_spec=GPUS, annotations={ENABLED: "true", SCOPE: "clique"})))
    return seen


def test_pl018_what_was_written_of_cliques_counts_before_it_is_listed() -> None:
    life = Life(set_raw(clique_raw("a", 2)))
    life.settle()
    life.on_delete()
    life.new_image("v2")
    seen = look(life)
    steps = [step for step in reconcile(replace(seen, attempts=())).steps if isinstance(step.action, Apply)]
    assert [step.target.short for step in steps] == ["PodClique/llm-0-a"]
    own = with_own_writes(replace(seen, attempts=done(steps)))
    assert own.cliques[0].template_hash != seen.cliques[0].template_hash
    assert own.pods_of is seen.pods_of


def test_pl018_a_claim_that_was_deleted_counts_so_before_it_is_listed() -> None:
    seen = sharing()
    (key, claim), *_ = seen.named_claims.items()
    deletion = Step(StepStage.CLEANUP, claim.ref, Delete(claim.guard), ())
    own = with_own_writes(replace(seen, attempts=done([deletion])))
    assert own.named_claims[key].deleting
    assert all(one.deleting for one in own.others if one.ref == claim.ref)


def test_pl018_a_claim_hides_nothing_of_another_kind_that_has_its_name() -> None:
    seen = sharing()
    (claim,) = seen.named_claims.values()
    service = next(one for one in seen.others if one.ref.kind == "Service")
    named = replace(claim, ref=replace(claim.ref, name=service.ref.name))
    claims = {**seen.named_claims, (named.ref.namespace, named.ref.name): named}
    deletion = Step(StepStage.CLEANUP, claim.ref, Delete(claim.guard), ())
    own = with_own_writes(replace(seen, named_claims=FrozenDict(claims), attempts=done([deletion])))
    assert service in own.others


@pytest.mark.parametrize(("replicas", "size"), [(0, 0), (1, 3 + 3 * 2), (2, 2 * (3 + 3 * 2))])
def test_wl024_the_size_of_a_set(replicas: int, size: int) -> None:
    seen = applied(set_raw(clique_raw("a", 2), clique_raw("b", 1), groups=(GROUP,), replicas=replicas))
    assert max_object_count_of_set(seen) == size


def test_wl024_groups_that_were_scaled_out_count_as_they_are() -> None:
    life = Life(set_raw(clique_raw("b", 1), groups=(GROUP,)))
    life.settle()
    life.scale("llm-0-pool", 50)
    seen = look(life)
    assert max_object_count_of_set(seen) == 50 * 2 + 1


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


@pytest.mark.parametrize("outcome", [AttemptOutcome.DONE, AttemptOutcome.UNREACHABLE])
def test_pl018_a_clique_that_is_listed_is_not_coming_any_more(outcome: AttemptOutcome) -> None:
    life = Life(set_raw(clique_raw("a", 1)))
    steps = [step for _ in range(4) if (plan := life.round()) for step in plan.steps]
    (made,) = [step for step in steps if step.target.kind == "PodClique" and isinstance(step.action, Create)]
    seen = replace(look(life), attempts=(Attempt(made, outcome),))
    assert list(possibly_created_cliques(seen)) == []
    assert [one.ref for one in possibly_created_cliques(replace(seen, cliques=()))] == [made.target]
