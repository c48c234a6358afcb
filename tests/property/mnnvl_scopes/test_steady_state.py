"""Laws of MNNVL by annotation for any set: the converged state, also after disturbances."""

import json
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core.admit_podclique import admit_podclique
from grove_core.areas.mnnvl_scopes.clique_admission import CliqueAdmissionView
from grove_core.document.document_reading import plan_document_from_json
from grove_core.document.document_writing import plan_document_as_json
from grove_core.document.plan_document import PlanDocument
from grove_core.in_memory.in_memory_cluster import InMemoryCluster
from grove_core.kernel.admission import AdmitWithChanges
from grove_core.kernel.frozen import thaw_json
from grove_core.kernel.steps import Attempt, Create, Ensure
from grove_core.kernel.structs import replace
from grove_core.plan.forecast import one_round_forecast
from grove_core.plan.step_batches import execute_steps_sequentially
from grove_core.reconcile import reconcile
from grove_core.resources.compute_domain import ComputeDomain
from grove_core.resources.configuration import DEFAULT_CONFIGURATION, ServedApis
from grove_core.resources.domain_sharing import shared_claim_entry
from grove_core.resources.owned_object import OwnedObject
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.snapshot.snapshot import Snapshot
from tests.property.few_examples import RARELY
from tests.property.mnnvl_scopes.sharing_sets import (
    CLASS,
    ENABLED,
    SCOPE,
    SCOPED,
    Json,
    annotated_sets,
    converged,
    converged_set,
    shared_in,
    with_configuration,
)
from tests.property.workload.sets import NOW, ROUNDS, applied, rounds_of
from tests.webhooks.reviews import patched


class Expected(NamedTuple):
    """The domain and claim of one PodClique by the design's tables; None where it shares nothing."""

    domain: str
    claim: str
    device_class: str


def expected_of(raw: Json, clique: PodClique) -> Expected | None:
    """The expectation by the design document, from the manifest of the set and the labels of the PodClique."""
    template, labels = raw["spec"]["template"], clique.labels
    replica, group_name = labels["grove.io/pcs-replica-index"], labels.get("grove.io/pcsg-name")
    said = dict(raw["metadata"]["annotations"])
    groups = [one for one in template["podCliqueScalingGroups"] if f"llm-{replica}-{one['name']}" == group_name]
    short = clique.ref.name.rpartition("-")[2]
    own = next(one for one in template["cliques"] if one["name"] == short)["annotations"]
    said = {**own, **groups[0]["annotations"]} if groups else {**said, **own}
    if said.get(ENABLED) != "true":
        return None
    stem = {
        "replica": f"llm-{replica}",
        "clique": clique.ref.name,
        "scalingGroupReplica": f"{group_name}-{labels.get('grove.io/pcsg-replica-index')}",
    }[said.get(SCOPE, "replica")]
    return Expected(f"{stem}-cd", f"{stem}-mnnvl-claim", said.get(CLASS, "compute-domain.nvidia.com"))


def check_that_all_is_well(raw: Json, world: InMemoryCluster, seen: Snapshot) -> None:
    """Check the invariants of a converged set (MS-010 to MS-020, MS-040 to MS-043)."""
    gangs = {gang.ref.name: gang for gang in seen.gangs}
    wanted: dict[tuple[str, str], str] = {}
    for clique in seen.cliques:
        expected, claim = expected_of(raw, clique), shared_claim_entry(clique.pod_spec)
        assert (claim is None) is (expected is None), clique.ref.name
        if expected is None or claim is None:
            continue
        assert claim["resourceClaimName"] == expected.claim
        gang = str(clique.labels["grove.io/podgang"])
        if expected.domain.count("-") == "llm-0-cd".count("-"):
            gang = expected.domain.removesuffix("-cd")
        wanted["ComputeDomain", expected.domain] = wanted["ResourceClaim", expected.claim] = gang
    found = shared_in(world)
    assert set(found) == set(wanted)
    for key, gang in wanted.items():
        assert (found[key].owner_kind, found[key].owner_uid) == ("PodGang", gangs[gang].uid), key
        assert gangs[gang].annotations["grove.io/mnnvl-resources-adopted"] == "true"


@RARELY
@given(annotated_sets())
@pytest.mark.req("MS-020")
@pytest.mark.req("MS-030")
@pytest.mark.req("MS-031")
@pytest.mark.req("MS-032")
@pytest.mark.req("MS-041")
@pytest.mark.req("MS-044")
@pytest.mark.req("PL-016")
def test_ms010_any_set_converges_to_the_state_of_the_design(raw: Json) -> None:
    world, seen = converged_set(raw)
    check_that_all_is_well(raw, world, seen)
    again = reconcile(seen)
    assert not again.steps


@RARELY
@given(annotated_sets(), st.data())
@pytest.mark.req("MS-043")
@pytest.mark.req("MS-050")
@pytest.mark.req("MS-060")
def test_ms052_a_disturbed_set_converges_again(raw: Json, data: st.DataObject) -> None:
    """Deleted domains, claims, gangs and cliques, scaling, switches; in any order."""
    world, seen = converged_set(raw)
    ref = seen.root.ref
    for _ in range(data.draw(st.integers(1, 4))):
        what = data.draw(st.sampled_from(["shared", "gang", "clique", "scale", "scale group", "switch"]))
        if what == "shared" and (found := sorted(shared_in(world))):
            kind, name = data.draw(st.sampled_from(found))
            world.delete_object(shared_in(world)[kind, name].ref)
        elif what == "gang" and seen.gangs:
            world.delete_object(data.draw(st.sampled_from([gang.ref for gang in seen.gangs])))
        elif what == "clique" and seen.cliques:
            world.delete_object(data.draw(st.sampled_from([clique.ref for clique in seen.cliques])))
        elif what == "scale":
            root = world.items[ref]
            assert isinstance(root, PodCliqueSet)
            raw["spec"]["replicas"] = data.draw(st.integers(0, 3))
            spec = root.spec.model_copy(update={"replicas": raw["spec"]["replicas"]})
            world.put_object(replace(root, spec=spec))
        elif what == "scale group" and seen.groups:
            group = world.items[data.draw(st.sampled_from([group.ref for group in seen.groups]))]
            assert isinstance(group, ScalingGroup)
            world.put_object(replace(group, replicas=data.draw(st.integers(group.min_available, 4))))
        elif what == "switch":
            seen = converged(world, ref)
            before = {item: item.resource_version for item in world.items.values()}
            converged(world, ref, DEFAULT_CONFIGURATION)
            assert {item: item.resource_version for item in world.items.values()} == before
        if data.draw(st.booleans()):
            seen = converged(world, ref)
    seen = converged(world, ref)
    check_that_all_is_well(raw, world, seen)


@RARELY
@given(annotated_sets())
def test_cl011_plans_that_ensure_read_back(raw: Json) -> None:
    for seen, plan in rounds_of(with_configuration(applied(raw))):
        reported_for = (one_round_forecast(plan, NOW),)
        document = PlanDocument(
            rules=plan.rules, as_of=NOW, not_collected=(), forecasts=reported_for, configuration=seen.configuration
        )
        text = json.dumps(plan_document_as_json(document, decisions=True))
        assert plan_document_from_json(json.loads(text)) == document


def admission_view(world: InMemoryCluster, seen: Snapshot) -> CliqueAdmissionView:
    return CliqueAdmissionView(
        configuration=SCOPED,
        served=ServedApis(),
        owner=seen.root,
        domains={
            (ref.namespace, ref.name): item for ref, item in world.items.items() if isinstance(item, ComputeDomain)
        },
        claims={(ref.namespace, ref.name): item for ref, item in world.items.items() if isinstance(item, OwnedObject)},
    )


def bare(manifest: Json) -> Json:
    """A PodClique as a client without injection would create it."""
    raw: Json = json.loads(json.dumps(manifest))
    pod_spec = raw["spec"]["podSpec"]
    kept = [one for one in pod_spec.get("resourceClaims", ()) if one["name"] != "mnnvl"]
    pod_spec.pop("resourceClaims", None)
    if kept:
        pod_spec["resourceClaims"] = kept
    for container in pod_spec["containers"]:
        container.get("resources", {}).pop("claims", None)
    return raw


@RARELY
@given(annotated_sets())
@pytest.mark.req("MS-031")
def test_ms032_webhook_and_operator_agree(raw: Json) -> None:
    """The webhook leaves PodCliques of the operator unchanged, and amends others to what the operator writes."""
    start = with_configuration(applied(raw))
    world = InMemoryCluster((start,))
    seen = start
    attempts: tuple[Attempt, ...] = ()
    for _ in range(ROUNDS):
        plan = reconcile(seen)
        if not plan.steps:
            break
        made = [step for step in plan.steps if isinstance(step.action, Create) and step.target.kind == "PodClique"]
        wanted = {step.target.name for step in plan.steps if isinstance(step.action, Ensure)}
        ensured = set[str]()
        for step in made:
            assert isinstance(step.action, Create)
            manifest = thaw_json(step.action.manifest)
            verdict = admit_podclique(bare(manifest), admission_view(world, seen)).verdict
            assert isinstance(verdict, AdmitWithChanges)
            ensured |= {one.target.name for one in verdict.ensures}
            assert patched(bare(manifest), [*map(thaw_json, verdict.patch)]) == manifest
        assert ensured == wanted
        attempts = execute_steps_sequentially(world.attempt_step, plan.steps)
        for step in made:
            assert isinstance(step.action, Create)
            after = admit_podclique(thaw_json(step.action.manifest), admission_view(world, seen)).verdict
            assert after == AdmitWithChanges(warnings=after.warnings)
        observed = world.snapshot_of_set(seen.root.ref, NOW, attempts)
        assert observed is not None
        seen = observed
