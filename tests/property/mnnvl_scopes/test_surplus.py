"""Domains and claims whose user is gone: which are deleted and which stay (MS-050 to MS-055)."""

from typing import Any

import pytest

from grove_core.areas.mnnvl_scopes.judge import judge_shared_domains
from grove_core.areas.mnnvl_scopes.rules import SharedDomainReason
from grove_core.areas.mnnvl_scopes.verdicts import SharedObjectState
from grove_core.kernel.frozen import FrozenDict, FrozenMap, frozen_dict_of_tuples
from grove_core.kernel.steps import Attempt, AttemptOutcome, Delete, Step
from grove_core.kernel.structs import replace
from grove_core.reconcile import reconcile
from grove_core.resources.api_names import MNNVL_SCOPE
from grove_core.resources.labels import GROUP_REPLICA
from grove_core.snapshot.cluster_index import index_cluster
from grove_core.snapshot.snapshot import Snapshot
from tests.property.mnnvl_scopes.sharing_sets import ENABLED, GPUS, SCOPE, converged_set, half_shared
from tests.property.workload.sets import clique_raw, set_raw

Json = dict[str, Any]


def test_ms050_surplus_objects_are_deleted_and_foreign_ones_stay() -> None:
    seen = half_shared(replicas=2)
    fewer = replace(seen.root, spec=seen.root.spec.model_copy(update={"replicas": 1}))
    orphaned = [
        replace(domain, owner_uid=seen.root.uid, owner_kind="PodCliqueSet", owner_name="llm") for domain in seen.domains
    ]
    kept = [clique for clique in seen.cliques if clique.replica_index == 0]
    left = replace(
        seen,
        root=fewer,
        cliques=tuple(kept),
        gangs=seen.gangs[:1],
        domains=tuple(orphaned),
        pods_of=frozen_dict_of_tuples({clique.uid: seen.pods_of[clique.uid] for clique in kept}),
    )
    gone = {step.target.name for step in reconcile(left).steps if isinstance(step.action, Delete)}
    assert "llm-1-cd" in gone
    strange = [replace(one, labels=FrozenMap({**one.labels, "grove.io/pcs-name": "else"})) for one in orphaned]
    keys = ("grove.io/podcliqueset", "app.kubernetes.io/part-of")
    strange = [replace(one, labels=FrozenMap({**one.labels, **dict.fromkeys(keys, "else")})) for one in strange]
    plan = reconcile(replace(left, domains=tuple(strange)))
    assert not [step for step in plan.steps if step.target.kind == "ComputeDomain" and isinstance(step.action, Delete)]


def test_ms054_objects_of_pods_that_outlive_their_clique_stay() -> None:
    seen = half_shared(replicas=2)
    fewer = replace(seen.root, spec=seen.root.spec.model_copy(update={"replicas": 1}))
    ours = [replace(one, owner_uid=seen.root.uid, owner_kind="PodCliqueSet", owner_name="llm") for one in seen.domains]
    left = replace(
        seen,
        root=fewer,
        cliques=tuple(clique for clique in seen.cliques if clique.replica_index == 0),
        gangs=seen.gangs[:1],
        domains=tuple(ours),
    )
    plan = reconcile(left)
    assert "llm-1-cd" in {held.target.name for held in plan.withheld}
    assert "llm-1-cd" not in {step.target.name for step in plan.steps}
    of_first = {clique.uid for clique in left.cliques}
    of_others = [replace(pod, gang="else-0", owner_uid="else") for pods in left.pods_of.values() for pod in pods]
    there = {uid: pods for uid, pods in left.pods_of.items() if uid in of_first}
    ended = replace(left, pods_of=frozen_dict_of_tuples({**there, "else": of_others}))
    gone = {step.target.name for step in reconcile(ended).steps if isinstance(step.action, Delete)}
    assert "llm-1-cd" in gone


@pytest.mark.parametrize("name", ["a", "cd", "mnnvl-claim"])
def test_ms051_domain_and_claim_stay_together_for_any_clique_name(name: str) -> None:
    """A clique's name may itself end in a suffix of domains or claims."""
    own = {ENABLED: "true", "grove.io/mnnvl-scope": "clique"}
    seen = converged_set(set_raw(clique_raw(name, pod_spec=GPUS, annotations=own), replicas=2))[1]
    fewer = replace(seen.root, spec=seen.root.spec.model_copy(update={"replicas": 1}))
    uid = seen.root.uid
    domains = tuple(replace(one, owner_uid=uid, owner_kind="PodCliqueSet", owner_name="llm") for one in seen.domains)
    claims = [one for one in seen.others if one.ref.kind == "ResourceClaim"]
    others = tuple(replace(one, owner_uid=uid, owner_kind="PodCliqueSet", owner_name="llm") for one in claims)
    left = replace(seen, root=fewer, domains=domains, others=others)
    shared = {f"llm-1-{name}-cd", f"llm-1-{name}-mnnvl-claim"}
    plan = reconcile(left)
    assert shared <= {held.target.name for held in plan.withheld}
    assert not shared & {step.target.name for step in plan.steps}


def scaled_in(seen: Snapshot) -> tuple[Snapshot, list[Step]]:
    """A set of two replicas, scaled in to one, as a snapshot from before the second replica was created shows it.

    The set owns the domains and claims. The steps are those that created the PodCliques of the second replica.
    """
    kept = tuple(clique for clique in seen.cliques if clique.replica_index == 0)
    pods_of = {clique.uid: seen.pods_of[clique.uid] for clique in kept}
    listed = replace(seen, cliques=kept, gangs=seen.gangs[:1], pods_of=frozen_dict_of_tuples(pods_of))
    made = [step for step in reconcile(listed).steps if step.target.kind == "PodClique"]
    assert {step.target.name for step in made} == {"llm-1-a", "llm-1-b"}
    of_set: Json = {"owner_uid": seen.root.uid, "owner_kind": "PodCliqueSet", "owner_name": "llm"}
    domains = tuple(replace(one, **of_set) for one in seen.domains)
    others = tuple(replace(one, **of_set) if one.ref.kind == "ResourceClaim" else one for one in seen.others)
    after = replace(
        listed,
        root=replace(seen.root, spec=seen.root.spec.model_copy(update={"replicas": 1})),
        domains=domains,
        named_domains=FrozenDict({(one.ref.namespace, one.ref.name): one for one in domains}),
        others=others,
        named_claims=FrozenDict(
            {(one.ref.namespace, one.ref.name): one for one in others if one.ref.kind == "ResourceClaim"}
        ),
    )
    return after, made


@pytest.mark.req("PL-018")
@pytest.mark.parametrize("outcome", AttemptOutcome)
def test_ms051_an_unlisted_new_clique_holds_its_claim(outcome: AttemptOutcome) -> None:
    """It was created from an old snapshot, and the set is scaled in before the next one."""
    after, made = scaled_in(half_shared(replicas=2))
    plan = reconcile(replace(after, attempts=tuple(Attempt(step, outcome) for step in made)))
    gone = {step.target.name for step in plan.steps if isinstance(step.action, Delete)}
    shared = {"llm-1-cd", "llm-1-mnnvl-claim"}
    is_there = outcome in {AttemptOutcome.DONE, AttemptOutcome.UNREACHABLE}
    assert shared & gone == (set() if is_there else shared)
    assert shared & {held.target.name for held in plan.withheld} == (shared if is_there else set())


def test_ms051_a_new_clique_is_counted() -> None:
    both = (clique_raw(name, pod_spec=GPUS, annotations={ENABLED: "true"}) for name in "ab")
    after, made = scaled_in(converged_set(set_raw(*both, replicas=2))[1])
    plan = reconcile(replace(after, attempts=tuple(Attempt(step, AttemptOutcome.DONE) for step in made)))
    (held,) = [one for one in plan.withheld if one.target.name == "llm-1-cd"]
    assert (held.because[0].rule, dict(held.because[0].facts)["cliques"]) == (SharedDomainReason.STILL_SHARED, 2)


def test_ms051_a_clique_without_its_group_in_the_input_holds_its_claim() -> None:
    """The cache of PodCliques may lag behind that of scaling groups."""
    said = {ENABLED: "true"}
    group: Json = {"name": "pool", "cliqueNames": ["b"], "replicas": 1, "annotations": said}
    _, seen = converged_set(set_raw(clique_raw("b", pod_spec=GPUS), groups=(group,), replicas=2))
    root = replace(seen.root, spec=seen.root.spec.model_copy(update={"replicas": 1}))
    of_set: Json = {"owner_uid": root.uid, "owner_kind": "PodCliqueSet", "owner_name": "llm"}
    groups = tuple(one for one in seen.groups if one.replica_index == 0)
    cluster = index_cluster(sets=(root,), groups=groups, cliques=seen.cliques, gangs=seen.gangs[:1])
    known: Json = {"complete": seen.complete, "configuration": seen.configuration, "served": seen.served}
    domains = tuple(replace(one, **of_set) for one in seen.domains)
    left = replace(cluster.snapshot_of(root, seen.now), domains=domains, **known)
    assert [clique.ref.name for clique in left.orphans] == ["llm-1-pool-0-b"]
    (held,) = [one for one in reconcile(left).withheld if one.target.name == "llm-1-cd"]
    assert held.because[0].rule is SharedDomainReason.STILL_SHARED
    gone = [step.target.name for step in reconcile(replace(left, orphans=())).steps if isinstance(step.action, Delete)]
    assert "llm-1-cd" in gone


@pytest.mark.parametrize(("there", "goes"), [("scaled", {4}), ("unseen", {2, 3, 4}), ("gone", {0, 1, 2, 3, 4})])
def test_ms050_the_group_then_the_template_decide_the_number_of_replicas(there: str, goes: set[int]) -> None:
    """Objects of five replicas: the group has four, the template two, or the group is gone."""
    scope = {ENABLED: "true", MNNVL_SCOPE: "scalingGroupReplica"}
    pool: Json = {"name": "pool", "cliqueNames": ["b"], "replicas": 2, "minAvailable": 1, "annotations": scope}
    seen = converged_set(set_raw(clique_raw("a"), clique_raw("b", pod_spec=GPUS), groups=(pool,)))[1]
    first = next(one for one in seen.domains if one.ref.name == "llm-0-pool-0-cd")
    of_set: Json = {"owner_uid": seen.root.uid, "owner_kind": "PodCliqueSet", "owner_name": "llm"}
    domains = tuple(
        replace(
            first,
            ref=replace(first.ref, name=f"llm-0-pool-{index}-cd"),
            uid=f"domain-{index}",
            labels=FrozenMap({**first.labels, **GROUP_REPLICA.under_every_key(str(index))}),
            **of_set,
        )
        for index in range(5)
    )
    cliques = tuple(clique for clique in seen.cliques if clique.ref.name == "llm-0-a")
    pods_of = {clique.uid: seen.pods_of[clique.uid] for clique in cliques}
    groups = tuple(replace(group, replicas=4) for group in seen.groups) if there == "scaled" else ()
    left = replace(seen, cliques=cliques, pods_of=frozen_dict_of_tuples(pods_of), groups=groups, domains=domains)
    if there == "gone":
        template = seen.root.spec.template.model_copy(update={"pod_clique_scaling_groups": ()})
        left = replace(left, root=replace(seen.root, spec=seen.root.spec.model_copy(update={"template": template})))
    of_surplus = {SharedObjectState.SURPLUS, SharedObjectState.KEPT}
    found = [one for one in judge_shared_domains(left).verdicts if one.state in of_surplus]
    states = {one.because.subject.name: one.state for one in found}
    assert states == {f"llm-0-pool-{index}-cd": SharedObjectState.SURPLUS for index in goes}


def owned_by_the_set(seen: Snapshot) -> Snapshot:
    """The snapshot with all shared objects owned by the set."""
    own = [replace(one, owner_uid=seen.root.uid, owner_kind="PodCliqueSet", owner_name="llm") for one in seen.domains]
    return replace(seen, domains=tuple(own))


def test_ms051_cliques_that_still_share_are_counted() -> None:
    said = {ENABLED: "true", SCOPE: "replica"}
    cliques = [clique_raw(name, pod_spec=GPUS, annotations=said) for name in "ab"]
    _, seen = converged_set(set_raw(*cliques, replicas=2))
    fewer = replace(seen.root, spec=seen.root.spec.model_copy(update={"replicas": 1}))
    (held,) = [one for one in reconcile(replace(owned_by_the_set(seen), root=fewer)).withheld if one.because]
    assert (held.target.name, dict(held.because[0].facts)["cliques"]) == ("llm-1-cd", 2)


def test_ms050_the_domain_of_a_removed_clique_is_deleted() -> None:
    alone = {ENABLED: "true", SCOPE: "clique"}
    _, seen = converged_set(set_raw(*(clique_raw(name, pod_spec=GPUS, annotations=alone) for name in "ab")))
    template = seen.root.spec.template
    less = template.model_copy(update={"cliques": template.cliques[:1]})
    root = replace(seen.root, spec=seen.root.spec.model_copy(update={"template": less}))
    left = seen.cliques[0]
    without = replace(
        owned_by_the_set(seen),
        root=root,
        cliques=(left,),
        pods_of=frozen_dict_of_tuples({left.uid: seen.pods_of[left.uid]}),
    )
    gone = [step.target.name for step in reconcile(without).steps if isinstance(step.action, Delete)]
    assert gone == ["llm-0-b-cd"]
