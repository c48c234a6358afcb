"""Owners of shared domains and claims, also with edited labels (MS-040 to MS-046)."""

from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core.areas.mnnvl_scopes.judge import judge_shared_domains, shared_domain_ref
from grove_core.areas.mnnvl_scopes.verdicts import SharedObjectState
from grove_core.kernel.frozen import FrozenDict, FrozenMap, thaw_json
from grove_core.kernel.steps import Ensure
from grove_core.kernel.structs import replace
from grove_core.reconcile import reconcile
from grove_core.resources.configuration import Configuration
from grove_core.resources.labels import SET
from grove_core.snapshot.snapshot import Snapshot
from tests.property.mnnvl_scopes.sharing_sets import ENABLED, GPUS, SCOPE, SHARED, converged_set, half_shared, without
from tests.property.workload.sets import clique_raw, set_raw

Json = dict[str, Any]
GROUP: Json = {
    "name": "pool",
    "cliqueNames": ["b"],
    "replicas": 3,
    "minAvailable": 1,
    "scaleConfig": {"maxReplicas": 5},
}

GANG = "grove.io/podgang"


def test_ms040_the_gang_is_that_of_the_clique_that_decides() -> None:
    both = set_raw(*(clique_raw(name, pod_spec=GPUS, annotations={ENABLED: "true"}) for name in ("a", "b")))
    seen = converged_set(both)[1]
    first, second = seen.cliques
    silent = replace(seen, cliques=(replace(first, labels=without(first.labels, GANG)), second))
    assert not [step for step in reconcile(silent).steps if step.target.kind in SHARED]


def test_ms085_a_restored_claim_has_the_class_of_the_first_clique() -> None:
    """Of two PodCliques that share and ask for different classes the first decides, as at the first creation."""
    classes = {name: {ENABLED: "true", "grove.io/mnnvl-device-class": f"class-{name}"} for name in ("a", "b")}
    both = set_raw(*(clique_raw(name, pod_spec=GPUS, annotations=reported) for name, reported in classes.items()))
    seen = converged_set(both)[1]
    (made,) = seen.named_claims.values()
    gone = replace(
        seen, named_claims=FrozenDict(), others=tuple(one for one in seen.others if one.ref.kind != made.ref.kind)
    )
    (again,) = (step.action for step in reconcile(gone).steps if step.target.kind == made.ref.kind)
    assert isinstance(again, Ensure)
    assert thaw_json(again.manifest)["spec"] == thaw_json(made.spec)
    assert "class-a" in str(thaw_json(made.spec))


def test_ms046_a_known_position_takes_precedence_over_labels() -> None:
    """A PodClique that is not in the template, has labels of another gang, and comes first."""
    seen = half_shared()
    placed = next(one for one in seen.cliques if one.ref.name == "llm-0-a")
    labels = {**placed.labels, GANG: "llm-9", "grove.io/base-podgang": "llm-9"}
    stray = replace(placed, ref=replace(placed.ref, name="llm-0-0"), uid="stray", labels=FrozenMap(labels))
    plan = reconcile(replace(seen, cliques=(stray, *seen.cliques)))
    assert not [step for step in plan.steps if step.target.kind in SHARED]


POOL = {"name": "pool", "cliqueNames": ["w"], "replicas": 3, "minAvailable": 1}
SCOPES = [
    (),
    ({**POOL, "annotations": {ENABLED: "true"}},),
    ({**POOL, "annotations": {ENABLED: "true", "grove.io/mnnvl-scope": "scalingGroupReplica"}},),
]


@pytest.mark.parametrize("groups", SCOPES, ids=["replica", "group of a replica", "replica of a group"])
def test_ms052_a_clique_without_labels_still_uses_its_domain(groups: tuple[Json, ...]) -> None:
    """Its name decides its position, and with it the gang that owns the domain."""
    annotations = {} if groups else {ENABLED: "true"}
    raw = set_raw(clique_raw("w", pod_spec=GPUS, annotations=annotations), groups=groups, replicas=2)
    seen = converged_set(raw)[1]
    bare = replace(seen, cliques=tuple(replace(one, labels=FrozenMap({})) for one in seen.cliques))
    assert seen.domains
    assert not [step for step in reconcile(bare).steps if step.target.kind in SHARED]
    gone = replace(bare, domains=(), named_domains=FrozenDict(), others=(), named_claims=FrozenDict())
    steps = [step for step in reconcile(gone).steps if step.target.kind in SHARED]
    owners = {
        step.target.name: thaw_json(step.action.manifest)["metadata"]["ownerReferences"][0]["name"]
        for step in steps
        if isinstance(step.action, Ensure)
    }
    held = [*seen.domains, *(one for one in seen.others if one.ref.kind in SHARED)]
    assert owners == {one.ref.name: one.owner_name for one in held}


@cache
def at_rest(scope: int) -> Snapshot:
    """A set with one of these scopes, once all is made."""
    groups = SCOPES[scope]
    annotations = {} if groups else {ENABLED: "true"}
    return converged_set(set_raw(clique_raw("w", pod_spec=GPUS, annotations=annotations), groups=groups, replicas=2))[1]


@given(st.data())
def test_ms046_edited_labels_do_not_change_what_a_clique_shares(data: st.DataObject) -> None:
    """Its name decides its position, and with it the gang that owns the domain."""
    seen = at_rest(data.draw(st.integers(0, len(SCOPES) - 1)))
    texts = st.sampled_from(sorted({str(text) for one in seen.cliques for text in one.labels.values()} | {"x", "7"}))
    keys = sorted({key for one in seen.cliques for key in one.labels if key != "grove.io/pod-template-hash"})
    lies = st.dictionaries(st.sampled_from(keys), texts)
    edited = replace(
        seen, cliques=tuple(replace(one, labels=FrozenMap({**one.labels, **data.draw(lies)})) for one in seen.cliques)
    )
    assert not [step for step in reconcile(edited).steps if step.target.kind in SHARED]


@pytest.mark.parametrize("said", ["true", "false"])
def test_ms040_a_claim_of_another_user_is_not_a_use(said: str) -> None:
    seen = half_shared()
    first, second = seen.cliques
    entry = FrozenMap({"name": "mnnvl", "resourceClaimName": "llm-7-mnnvl-claim"})
    odd = replace(
        first,
        annotations=FrozenMap({ENABLED: said}),
        pod_spec=FrozenMap({**first.pod_spec, "resourceClaims": (entry,)}),
    )
    plan = reconcile(replace(seen, cliques=(odd, second)))
    assert not [step for step in plan.steps if isinstance(step.action, Ensure)]


OWN: Json = {ENABLED: "true", SCOPE: "scalingGroupReplica"}


def owners_of_made(seen: Snapshot) -> dict[str, str]:
    """Domain -> its owner, where all domains and claims are gone and restored."""
    others = tuple(one for one in seen.others if one.ref.kind not in SHARED)
    gone = replace(seen, domains=(), named_domains=FrozenDict(), others=others, named_claims=FrozenDict())
    return {
        step.target.name: thaw_json(step.action.manifest)["metadata"]["ownerReferences"][0]["name"]
        for step in reconcile(gone).steps
        if isinstance(step.action, Ensure) and step.target.kind == "ComputeDomain"
    }


def with_template_of(seen: Snapshot, replicas: int) -> Snapshot:
    """The snapshot with another number of replicas in the group of the template."""
    template = seen.root.spec.template
    (group,) = template.pod_clique_scaling_groups
    fewer = template.model_copy(
        update={"pod_clique_scaling_groups": (group.model_copy(update={"replicas": replicas}),)}
    )
    return replace(seen, root=replace(seen.root, spec=seen.root.spec.model_copy(update={"template": fewer})))


@pytest.mark.req("MS-041", "MS-052")
@pytest.mark.parametrize("sees_groups", [True, False])
def test_ms046_the_group_decides_its_number_of_replicas(*, sees_groups: bool) -> None:
    """Without the group in the input the template decides; labels decide for a PodClique beyond it."""
    raw = set_raw(clique_raw("w", pod_spec=GPUS), groups=({**POOL, "annotations": OWN},))
    seen = with_template_of(converged_set(raw)[1], 2)
    bare = tuple(replace(one, labels=without(one.labels, GANG)) for one in seen.cliques)
    of_gangs = {"llm-0-pool-0-cd": "llm-0", "llm-0-pool-1-cd": "llm-0-pool-0"}
    last = "llm-0-pool-1" if sees_groups else "llm"
    shown = replace(seen, cliques=bare, groups=seen.groups if sees_groups else ())
    assert owners_of_made(shown) == {**of_gangs, "llm-0-pool-2-cd": last}


@pytest.mark.req("MS-041", "MS-041")
@pytest.mark.parametrize(("said", "owners"), [(OWN, {"llm-0-pool-1-cd": "llm-0-pool-0"}), ({}, {"llm-0-cd": "llm-0"})])
def test_ms046_labels_name_the_gang_of_a_clique_without_a_position(said: Json, owners: dict[str, str]) -> None:
    """The group was scaled in to one replica; the PodClique of the second one still uses the domain."""
    pool = {**POOL, "replicas": 2, "annotations": said or {ENABLED: "true"}}
    seen = converged_set(set_raw(clique_raw("w", pod_spec=GPUS), groups=(pool,)))[1]
    fewer = tuple(replace(group, replicas=1) for group in seen.groups)
    beyond = tuple(clique for clique in seen.cliques if clique.base_gang)
    assert len(beyond) == 1
    assert owners.items() <= owners_of_made(replace(seen, groups=fewer, cliques=beyond)).items()


@pytest.mark.parametrize("whose", ["llm", "7"])
def test_ms046_nothing_is_created_for_the_name_of_another_set(whose: str) -> None:
    """The labels of a surplus PodClique name another set; a domain created for that name would never be deleted."""
    seen = half_shared()
    none = seen.root.spec.model_copy(update={"replicas": 0})
    clique, other = seen.cliques
    clique = replace(clique, labels=FrozenMap({**clique.labels, **SET.under_every_key(whose)}))
    found = replace(seen, root=replace(seen.root, spec=none), cliques=(clique, other))
    assert owners_of_made(found) == ({"llm-0-cd": "llm-0"} if whose == "llm" else {})


def test_ms040_a_gang_that_is_being_deleted_owns_nothing_new() -> None:
    seen = half_shared()
    assert owners_of_made(seen) == {"llm-0-cd": "llm-0"}
    (gang,) = seen.gangs
    assert owners_of_made(replace(seen, gangs=(replace(gang, deleting=True),))) == {"llm-0-cd": "llm"}


def test_ms043_no_handover_while_gangs_are_not_collected() -> None:
    seen = half_shared()
    unseen = replace(seen, gangs=(), complete=seen.complete - {"PodGang"})
    assert not [step for step in reconcile(unseen).steps if step.target.kind in SHARED]
    assert [step for step in reconcile(replace(seen, gangs=())).steps if step.target.kind in SHARED]


def test_ms040_a_clique_that_shares_nothing_does_not_hide_others() -> None:
    """The first of two has a claim that does not belong to its position."""
    both = set_raw(*(clique_raw(name, pod_spec=GPUS, annotations={ENABLED: "true"}) for name in ("a", "b")))
    seen = converged_set(both)[1]
    first, second = seen.cliques
    entry = FrozenMap({"name": "mnnvl", "resourceClaimName": "llm-7-mnnvl-claim"})
    odd = replace(first, pod_spec=FrozenMap({**first.pod_spec, "resourceClaims": (entry,)}))
    assert owners_of_made(replace(seen, cliques=(odd, second))) == {"llm-0-cd": "llm-0"}


@pytest.mark.parametrize("there", [True, False])
def test_ms060_objects_in_use_stay_where_annotations_are_off(*, there: bool) -> None:
    seen = replace(half_shared(), configuration=Configuration())
    gone = replace(seen, domains=(), named_domains=FrozenDict(), others=(), named_claims=FrozenDict())
    verdicts = judge_shared_domains(seen if there else gone).verdicts
    assert {(one.because.subject.kind, one.state, one.because.subject.name) for one in verdicts} == {
        ("ComputeDomain", SharedObjectState.LEFT_ALONE, "llm-0-cd"),
        ("ResourceClaim", SharedObjectState.LEFT_ALONE, "llm-0-mnnvl-claim"),
    }


@pytest.mark.parametrize("change", [{"deleting": True}, {"uid": ""}], ids=["goes", "is not stored"])
def test_mn052_a_deleted_or_unstored_set_is_not_judged(change: Json) -> None:
    seen = half_shared()
    assert judge_shared_domains(seen).verdicts
    assert not judge_shared_domains(replace(seen, root=replace(seen.root, **change))).verdicts


def test_wl024_uses_of_a_set_that_is_too_large_are_not_counted() -> None:
    seen = half_shared()
    huge = replace(seen, root=replace(seen.root, spec=seen.root.spec.model_copy(update={"replicas": 10**15})))
    assert not judge_shared_domains(huge).positions


def test_cl010_a_domain_of_the_set_is_found_by_its_name() -> None:
    """Not another domain, and not a foreign one of that name."""
    seen = half_shared(replicas=2)
    assert [shared_domain_ref(seen, one.ref.name) for one in seen.domains] == [one.ref for one in seen.domains]
    foreign = replace(seen.domains[0], ref=replace(seen.domains[0].ref, name="else"), labels=FrozenMap({}))
    assert shared_domain_ref(replace(seen, domains=(foreign, *seen.domains)), "else") is None


def test_ms041_the_base_gang_owns_what_a_scaled_gang_shares_with_it() -> None:
    """The scaled gang may be deleted before the others that share the domain."""
    said = {ENABLED: "true", SCOPE: "replica"}
    raw = set_raw(clique_raw("b", pod_spec=GPUS, annotations=said), groups=({**GROUP, "replicas": 2},))
    _, seen = converged_set(raw)
    scaled = tuple(clique for clique in seen.cliques if clique.base_gang)
    assert scaled
    assert [(one.ref.name, one.owner_name) for one in seen.domains] == [("llm-0-cd", "llm-0")]
    steps = reconcile(replace(seen, cliques=scaled)).steps
    assert not [step for step in steps if step.target.kind in {"ComputeDomain", "ResourceClaim"}]
