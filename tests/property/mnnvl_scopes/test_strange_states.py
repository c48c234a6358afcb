"""Sets that somebody has meddled with: labels that are gone or name others, and what is left behind beside them."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core.admit import admit
from grove_core.admit_podclique import admit_podclique
from grove_core.areas.mnnvl_scopes.entry import Surroundings
from grove_core.areas.mnnvl_scopes.rules import Why
from grove_core.document.reading import document_from_json
from grove_core.inquiry import has
from grove_core.kernel.admission import Amend, Deny
from grove_core.kernel.errors import MalformedObject
from grove_core.kernel.frozen import FrozenMap, thaw
from grove_core.kernel.steps import Attempt, Delete, Ensure, Outcome, Stage
from grove_core.plan.laws import problems_in
from grove_core.reconcile import reconcile
from grove_core.resources.applied import with_fields
from grove_core.resources.compute_domain import ComputeDomain
from grove_core.resources.configuration import Served
from grove_core.resources.keys import COMPONENT, GROUP_REPLICA, MNNVL_MANAGED, MNNVL_SCOPE, SET_REPLICA
from grove_core.resources.membership import seat_of, user_of
from grove_core.resources.podclique import PodClique
from grove_core.snapshot.indexing import cluster_of
from grove_core.snapshot.snapshot import Snapshot
from tests.property.mnnvl_scopes.worlds import ENABLED, GPUS, SCOPED, brought_up, told
from tests.property.workload.life import Life
from tests.property.workload.sets import applied, clique_raw, set_raw

Json = dict[str, Any]
GANG = "grove.io/podgang"


def shared(replicas: int = 1) -> Snapshot:
    """A set of a clique that shares by replica and one that shares nothing, at rest."""
    cliques = (clique_raw("a", pod_spec=GPUS, annotations={ENABLED: "true"}), clique_raw("b"))
    return brought_up(set_raw(*cliques, replicas=replicas))[1]


def without(labels: FrozenMap, *keys: str) -> FrozenMap:
    return FrozenMap({key: text for key, text in labels.items() if key not in keys})


def test_ms040_the_gang_is_that_of_whoever_says_it() -> None:
    both = set_raw(*(clique_raw(name, pod_spec=GPUS, annotations={ENABLED: "true"}) for name in ("a", "b")))
    seen = brought_up(both)[1]
    first, second = seen.cliques
    silent = replace(seen, cliques=(replace(first, labels=without(first.labels, GANG)), second))
    assert not [step for step in reconcile(silent).steps if step.target.kind in {"ComputeDomain", "ResourceClaim"}]


def test_ms085_what_is_made_again_is_of_the_class_of_the_first() -> None:
    """Of two that share and ask for different classes, as when it was made for the first time."""
    classes = {name: {ENABLED: "true", "grove.io/mnnvl-device-class": f"class-{name}"} for name in ("a", "b")}
    both = set_raw(*(clique_raw(name, pod_spec=GPUS, annotations=told) for name, told in classes.items()))
    seen = brought_up(both)[1]
    (made,) = seen.named_claims.values()
    gone = replace(seen, named_claims={}, others=tuple(one for one in seen.others if one.ref.kind != made.ref.kind))
    (again,) = (step.action for step in reconcile(gone).steps if step.target.kind == made.ref.kind)
    assert isinstance(again, Ensure)
    assert thaw(again.manifest)["spec"] == thaw(made.spec)
    assert "class-a" in str(thaw(made.spec))


def test_ms046_what_is_told_of_a_clique_is_what_its_place_says() -> None:
    """Somebody edited the label of its replica of the group."""
    scope = {ENABLED: "true", MNNVL_SCOPE: "scalingGroupReplica"}
    pool = {"name": "pool", "cliqueNames": ["a"], "replicas": 2, "minAvailable": 1, "annotations": scope}
    seen = brought_up(set_raw(clique_raw("a", pod_spec=GPUS, annotations=scope), groups=(pool,)))[1]
    first, second = seen.cliques
    lying = replace(first, labels=FrozenMap({**first.labels, **dict.fromkeys(GROUP_REPLICA, "1")}))
    findings = reconcile(replace(seen, cliques=(lying, second))).findings
    (told,) = (one for one in findings if one.subject == lying.ref and one.question == "computeDomain")
    assert dict(told.because[0].facts)["domain"] == "llm-0-pool-0-cd"


def test_wl202_an_autoscaler_is_no_claim_whatever_it_is_called() -> None:
    raw = set_raw(clique_raw("mnnvl-claim", autoScalingConfig={"maxReplicas": 4}), replicas=2)
    life = Life(raw)
    life.settle()
    seen = life.look()
    assert seen is not None
    fewer = replace(seen, root=replace(seen.root, spec=seen.root.spec.model_copy(update={"replicas": 1})), attempts=())
    bare = tuple(replace(one, labels=without(one.labels, COMPONENT)) for one in fewer.others)
    gone = {
        step.target.short for step in reconcile(replace(fewer, others=bare)).steps if isinstance(step.action, Delete)
    }
    assert "HorizontalPodAutoscaler/llm-1-mnnvl-claim" in gone


def test_ms046_whose_place_is_known_goes_before_who_only_has_labels() -> None:
    """A PodClique that the template does not know, which says another gang, and comes first."""
    seen = shared()
    placed = next(one for one in seen.cliques if one.ref.name == "llm-0-a")
    labels = {**placed.labels, GANG: "llm-9", "grove.io/base-podgang": "llm-9"}
    stray = replace(placed, ref=replace(placed.ref, name="llm-0-0"), uid="stray", labels=FrozenMap(labels))
    plan = reconcile(replace(seen, cliques=(stray, *seen.cliques)))
    assert not [step for step in plan.steps if step.target.kind in {"ComputeDomain", "ResourceClaim"}]


@pytest.mark.parametrize(("live", "goes"), [(2, True), (3, False)])
def test_ms050_a_group_that_was_scaled_has_as_many_as_it_says(live: int, goes: bool) -> None:
    """What the third replica shares, which a gang of before left to the set; the template says two."""
    scope = {ENABLED: "true", MNNVL_SCOPE: "scalingGroupReplica"}
    pool = {"name": "pool", "cliqueNames": ["a"], "replicas": 2, "minAvailable": 1, "annotations": scope}
    seen = brought_up(set_raw(clique_raw("a", pod_spec=GPUS, annotations=scope), groups=(pool,)))[1]
    domain = next(one for one in seen.domains if one.ref.name == "llm-0-pool-1-cd")
    third = replace(
        domain,
        ref=replace(domain.ref, name="llm-0-pool-2-cd"),
        uid="third",
        owner_uid=seen.root.uid,
        owner_kind="PodCliqueSet",
        labels=FrozenMap({**domain.labels, **dict.fromkeys(GROUP_REPLICA, "2")}),
    )
    groups = tuple(replace(group, replicas=live) for group in seen.groups)
    plan = reconcile(replace(seen, groups=groups, domains=(*seen.domains, third)))
    assert (third.ref in {step.target for step in plan.steps if isinstance(step.action, Delete)}) is goes


def test_ms036_a_name_that_came_to_serve_another_is_told() -> None:
    seen = shared()
    (domain,) = seen.domains
    other = replace(domain, labels=FrozenMap({**domain.labels, **dict.fromkeys(SET_REPLICA, "7")}))
    taken = replace(seen, domains=(), named_domains={("ml", other.ref.name): other})
    plan = reconcile(taken)
    assert other.ref in {held.target for held in plan.withheld}
    assert not [step for step in plan.steps if step.target == other.ref]


@pytest.mark.parametrize("which", [0, 1])
def test_ms036_what_is_not_said_to_be_shared_serves_nobody(which: int) -> None:
    """A ResourceClaim of ``resourceSharing`` has the labels of its user, and may have the name."""
    seen = shared()
    item = (seen.domains[0], next(iter(seen.named_claims.values())))[which]
    labels = FrozenMap({key: value for key, value in item.labels.items() if key != MNNVL_MANAGED})
    key, other = ("ml", item.ref.name), replace(item, labels=labels)
    if isinstance(other, ComputeDomain):
        seen = replace(seen, domains=(), named_domains={key: other})
    else:
        seen = replace(seen, others=(), named_claims={key: other})
    plan = reconcile(seen)
    assert "somebody else" in next(held for held in plan.withheld if held.target == item.ref).because[0].sentence
    assert not [step for step in plan.steps if step.target == item.ref]


def test_ms050_what_is_left_goes_and_what_names_nobody_of_ours_stays() -> None:
    seen = shared(replicas=2)
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
        pods_of={clique.uid: seen.pods_of[clique.uid] for clique in kept},
    )
    gone = {step.target.name for step in reconcile(left).steps if isinstance(step.action, Delete)}
    assert "llm-1-cd" in gone
    strange = [replace(one, labels=FrozenMap({**one.labels, "grove.io/pcs-name": "else"})) for one in orphaned]
    keys = ("grove.io/podcliqueset", "app.kubernetes.io/part-of")
    strange = [replace(one, labels=FrozenMap({**one.labels, **dict.fromkeys(keys, "else")})) for one in strange]
    plan = reconcile(replace(left, domains=tuple(strange)))
    assert not [step for step in plan.steps if step.target.kind == "ComputeDomain" and isinstance(step.action, Delete)]


def test_ms054_what_pods_use_that_outlive_their_clique_stays() -> None:
    seen = shared(replicas=2)
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
    ended = replace(left, pods_of={**there, "else": of_others})
    gone = {step.target.name for step in reconcile(ended).steps if isinstance(step.action, Delete)}
    assert "llm-1-cd" in gone


def test_cl012_a_domain_that_nobody_of_the_set_shares_is_not_of_it() -> None:
    bare = told(applied(set_raw(clique_raw("a", pod_spec=GPUS, annotations={ENABLED: "true"}), clique_raw("b"))))
    assert has(bare, "ComputeDomain", "llm-0-cd")
    assert not has(bare, "ComputeDomain", "llm-0-b-cd")


def test_ms005_a_clique_whose_labels_name_no_set_is_let_through() -> None:
    around = Surroundings(configuration=SCOPED, served=Served(), owner=None, domains={}, claims={})
    said = {"annotations": {ENABLED: "true"}, "labels": {"grove.io/podcliqueset-replica-index": "0"}}
    raw = {"metadata": {"name": "x", "namespace": "ml", **said}, "spec": {"podSpec": GPUS}}
    decision = admit_podclique(raw, around)
    assert isinstance(decision.verdict, Amend)
    assert [(one.path, one.got) for one in decision.verdict.warnings] == [
        (f"metadata.annotations[{ENABLED}]", '"true"')
    ]


def test_ms070_a_set_without_a_name_is_judged_all_the_same() -> None:
    raw = set_raw(clique_raw("a", pod_spec=GPUS, annotations={ENABLED: "yes"}))
    del raw["metadata"]["name"]
    verdict = admit(raw, None, None, SCOPED).verdict
    assert isinstance(verdict, Deny)
    assert {"metadata.name", f"spec.template.cliques[0].annotations[{ENABLED}]"} <= {
        objection.path for objection in verdict.objections
    }


def stored() -> PodClique:
    return shared().cliques[0]


@pytest.mark.parametrize(
    ("labels", "replica"),
    [({}, 0), ({"grove.io/pcs-name": "llm"}, -1), ({"grove.io/pcs-name": "llm", "grove.io/pcsg-name": "pool"}, 0)],
)
def test_ms020_labels_that_do_not_say_where(labels: Json, replica: int) -> None:
    assert seat_of(replace(stored(), labels=FrozenMap(labels), replica_index=replica)) is None


def test_ms022_labels_that_name_nobody() -> None:
    assert user_of(FrozenMap({"grove.io/pcs-name": "llm"})) is None


def test_pl022_what_is_ensured_comes_before_what_stands_on_it() -> None:
    seen = told(applied(set_raw(clique_raw("a", pod_spec=GPUS, annotations={ENABLED: "true"}))))
    plan = reconcile(seen)
    assert not problems_in(plan, seen)
    late = [replace(step, stage=Stage.WORKLOAD) if isinstance(step.action, Ensure) else step for step in plan.steps]
    ordered = replace(plan, steps=tuple(sorted(late, key=lambda step: step.sort_key)))
    assert any("PL-022" in problem.expected for problem in problems_in(ordered, seen))


def test_cl011_a_configuration_that_is_none_is_refused() -> None:
    told_so = {"mnnvl": {"enabled": "perhaps", "mode": "operator", "computeDomainShape": "auto"}}
    raw = {"formatVersion": "1.2", "rules": "design", "asOf": "2026-11-20T09:00:00Z", "notCollected": [], "plans": []}
    with pytest.raises(MalformedObject):
        document_from_json({**raw, "configuration": told_so})


def test_wl025_a_generation_that_nobody_knows_does_not_move() -> None:
    clique = replace(stored(), generation=None)
    fields = FrozenMap({"spec": FrozenMap({"autoScalingConfig": FrozenMap({"maxReplicas": 9})})})
    changed = with_fields(clique, fields)
    assert isinstance(changed, PodClique)
    assert changed.generation is None
    assert changed.auto_scaling["maxReplicas"] == 9


POOL = {"name": "pool", "cliqueNames": ["w"], "replicas": 3, "minAvailable": 1}
SCOPES = [
    (),
    ({**POOL, "annotations": {ENABLED: "true"}},),
    ({**POOL, "annotations": {ENABLED: "true", "grove.io/mnnvl-scope": "scalingGroupReplica"}},),
]


@pytest.mark.parametrize("groups", SCOPES, ids=["replica", "group of a replica", "replica of a group"])
def test_ms052_who_lost_its_labels_uses_its_domain_all_the_same(groups: tuple[Json, ...]) -> None:
    """Its name tells its place, and with it the gang that the domain is of."""
    annotations = {} if groups else {ENABLED: "true"}
    raw = set_raw(clique_raw("w", pod_spec=GPUS, annotations=annotations), groups=groups, replicas=2)
    seen = brought_up(raw)[1]
    bare = replace(seen, cliques=tuple(replace(one, labels=FrozenMap({})) for one in seen.cliques))
    shared_kinds = {"ComputeDomain", "ResourceClaim"}
    assert seen.domains
    assert not [step for step in reconcile(bare).steps if step.target.kind in shared_kinds]
    gone = replace(bare, domains=(), named_domains={}, others=(), named_claims={})
    steps = [step for step in reconcile(gone).steps if step.target.kind in shared_kinds]
    owners = {
        step.target.name: thaw(step.action.manifest)["metadata"]["ownerReferences"][0]["name"]
        for step in steps
        if isinstance(step.action, Ensure)
    }
    held = [*seen.domains, *(one for one in seen.others if one.ref.kind in shared_kinds)]
    assert owners == {one.ref.name: one.owner_name for one in held}


@given(st.data())
def test_ms046_labels_of_a_clique_move_nothing_that_it_shares(data: st.DataObject) -> None:
    """Whatever somebody writes into them: its name tells its place, and with it the gang that the domain is of."""
    groups = data.draw(st.sampled_from(SCOPES))
    annotations = {} if groups else {ENABLED: "true"}
    seen = brought_up(set_raw(clique_raw("w", pod_spec=GPUS, annotations=annotations), groups=groups, replicas=2))[1]
    texts = st.sampled_from(sorted({str(text) for one in seen.cliques for text in one.labels.values()} | {"x", "7"}))
    keys = sorted({key for one in seen.cliques for key in one.labels if key != "grove.io/pod-template-hash"})
    lies = st.dictionaries(st.sampled_from(keys), texts)
    edited = replace(
        seen, cliques=tuple(replace(one, labels=FrozenMap({**one.labels, **data.draw(lies)})) for one in seen.cliques)
    )
    shared_kinds = {"ComputeDomain", "ResourceClaim"}
    assert not [step for step in reconcile(edited).steps if step.target.kind in shared_kinds]


@given(st.sampled_from(["grove.io/mnnvl-managed", *SET_REPLICA]), st.none() | st.sampled_from(["false", "7", "x"]))
def test_ms057_a_claim_stays_whatever_its_labels_say(key: str, text: str | None) -> None:
    seen = shared()
    (claim,) = (one for one in seen.others if one.ref.kind == "ResourceClaim")
    labels = {name: said for name, said in claim.labels.items() if name != key} | ({key: text} if text else {})
    edited = replace(claim, labels=FrozenMap(labels))
    others = tuple(edited if one is claim else one for one in seen.others)
    plan = reconcile(replace(seen, others=others, named_claims={("ml", claim.ref.name): edited}))
    assert not [step for step in plan.steps if step.target == claim.ref]


@pytest.mark.parametrize(
    ("component", "goes"), [({}, False), ({"app.kubernetes.io/component": "resource-claim"}, True)]
)
def test_ms057_a_claim_of_resource_sharing_goes_by_what_it_is(component: dict[str, str], *, goes: bool) -> None:
    """Where nobody shares by annotation its template may be called so, too (MS-078)."""
    seen = brought_up(set_raw(clique_raw("b")))[1]
    (service,) = (one for one in seen.others if one.ref.kind == "Service")
    ref = replace(service.ref, api_version="resource.k8s.io/v1", kind="ResourceClaim", name="llm-all-mnnvl-claim")
    claim = replace(service, ref=ref, uid="u", labels=FrozenMap({**without(service.labels, COMPONENT), **component}))
    plan = reconcile(replace(seen, others=(*seen.others, claim)))
    assert any(step.target == ref and isinstance(step.action, Delete) for step in plan.steps) is goes


@pytest.mark.parametrize("said", ["true", "false"])
def test_ms040_a_claim_that_is_not_its_own_is_no_use(said: str) -> None:
    seen = shared()
    first, second = seen.cliques
    entry = FrozenMap({"name": "mnnvl", "resourceClaimName": "llm-7-mnnvl-claim"})
    odd = replace(
        first,
        annotations=FrozenMap({ENABLED: said}),
        pod_spec=FrozenMap({**first.pod_spec, "resourceClaims": (entry,)}),
    )
    plan = reconcile(replace(seen, cliques=(odd, second)))
    assert not [step for step in plan.steps if isinstance(step.action, Ensure)]


@pytest.mark.parametrize("name", ["a", "cd", "mnnvl-claim"])
def test_ms051_domain_and_claim_stay_together_whatever_the_clique_is_called(name: str) -> None:
    """A name may end in what is hung on to names."""
    own = {ENABLED: "true", "grove.io/mnnvl-scope": "clique"}
    seen = brought_up(set_raw(clique_raw(name, pod_spec=GPUS, annotations=own), replicas=2))[1]
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


@pytest.mark.req("PL-018")
@pytest.mark.parametrize("outcome", Outcome)
def test_ms051_who_was_made_just_now_holds_a_claim_though_no_listing_shows_it(outcome: Outcome) -> None:
    """Made on an old look, or so one must fear; and the set is scaled in before the next one."""
    seen = shared(replicas=2)
    kept = tuple(clique for clique in seen.cliques if clique.replica_index == 0)
    pods_of = {clique.uid: seen.pods_of[clique.uid] for clique in kept}
    listed = replace(seen, cliques=kept, gangs=seen.gangs[:1], pods_of=pods_of)
    made = [step for step in reconcile(listed).steps if step.target.kind == "PodClique"]
    assert {step.target.name for step in made} == {"llm-1-a", "llm-1-b"}
    of_set: Json = {"owner_uid": seen.root.uid, "owner_kind": "PodCliqueSet", "owner_name": "llm"}
    scaled_in = replace(
        listed,
        root=replace(seen.root, spec=seen.root.spec.model_copy(update={"replicas": 1})),
        domains=tuple(replace(one, **of_set) for one in seen.domains),
        others=tuple(replace(one, **of_set) if one.ref.kind == "ResourceClaim" else one for one in seen.others),
        attempts=tuple(Attempt(step, outcome) for step in made),
    )
    gone = {step.target.name for step in reconcile(scaled_in).steps if isinstance(step.action, Delete)}
    is_there = outcome in {Outcome.DONE, Outcome.UNREACHABLE}
    assert ({"llm-1-cd", "llm-1-mnnvl-claim"} <= gone) is not is_there
    assert bool({"llm-1-cd", "llm-1-mnnvl-claim"} & gone) is not is_there


def test_ms051_who_is_seen_without_its_group_holds_a_claim() -> None:
    """What is seen of PodCliques may be older than what is seen of scaling groups."""
    said = {ENABLED: "true"}
    group: Json = {"name": "pool", "cliqueNames": ["b"], "replicas": 1, "annotations": said}
    _, seen = brought_up(set_raw(clique_raw("b", pod_spec=GPUS), groups=(group,), replicas=2))
    root = replace(seen.root, spec=seen.root.spec.model_copy(update={"replicas": 1}))
    of_set: Json = {"owner_uid": root.uid, "owner_kind": "PodCliqueSet", "owner_name": "llm"}
    groups = tuple(one for one in seen.groups if one.replica_index == 0)
    cluster = cluster_of(sets=(root,), groups=groups, cliques=seen.cliques, gangs=seen.gangs[:1])
    known: Json = {"complete": seen.complete, "configuration": seen.configuration, "served": seen.served}
    domains = tuple(replace(one, **of_set) for one in seen.domains)
    left = replace(cluster.snapshot_of(root, seen.now), domains=domains, **known)
    assert [clique.ref.name for clique in left.orphans] == ["llm-1-pool-0-b"]
    (held,) = [one for one in reconcile(left).withheld if one.target.name == "llm-1-cd"]
    assert held.because[0].rule is Why.STILL_SHARED
    gone = [step.target.name for step in reconcile(replace(left, orphans=())).steps if isinstance(step.action, Delete)]
    assert "llm-1-cd" in gone
