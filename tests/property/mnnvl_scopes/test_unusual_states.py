"""Sets with edited or missing labels, and foreign objects with their names."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core.admit import admit
from grove_core.admit_podclique import admit_podclique
from grove_core.areas.mnnvl_scopes.clique_admission import CliqueAdmissionView
from grove_core.document.document_reading import plan_document_from_json
from grove_core.kernel.admission import AdmitWithChanges, Deny
from grove_core.kernel.errors import MalformedObject
from grove_core.kernel.frozen import FrozenDict, FrozenMap
from grove_core.kernel.steps import Delete, Ensure, StepStage
from grove_core.kernel.structs import replace
from grove_core.object_lookup import snapshot_has_object
from grove_core.plan.plan_laws import broken_laws_in_plan
from grove_core.reconcile import reconcile
from grove_core.resources.api_names import COMPONENT, MNNVL_MANAGED, MNNVL_SCOPE
from grove_core.resources.compute_domain import ComputeDomain
from grove_core.resources.configuration import ServedApis
from grove_core.resources.domain_sharing import clique_indices_from_labels
from grove_core.resources.domain_sharing_labels import domain_user_in_labels
from grove_core.resources.labels import GROUP_REPLICA, SET_REPLICA
from grove_core.resources.object_after_write import object_after_merge_patch
from grove_core.resources.podclique import PodClique
from tests.property.mnnvl_scopes.sharing_sets import (
    ENABLED,
    GPUS,
    SCOPED,
    converged_set,
    half_shared,
    with_configuration,
    without,
)
from tests.property.workload.life import Life
from tests.property.workload.sets import applied, clique_raw, set_raw

Json = dict[str, Any]


def test_ms046_the_finding_on_a_clique_follows_its_position() -> None:
    """The label of its group replica was edited."""
    scope = {ENABLED: "true", MNNVL_SCOPE: "scalingGroupReplica"}
    pool = {"name": "pool", "cliqueNames": ["a"], "replicas": 2, "minAvailable": 1, "annotations": scope}
    seen = converged_set(set_raw(clique_raw("a", pod_spec=GPUS, annotations=scope), groups=(pool,)))[1]
    first, second = seen.cliques
    edited = replace(first, labels=FrozenMap({**first.labels, **GROUP_REPLICA.under_every_key("1")}))
    findings = reconcile(replace(seen, cliques=(edited, second))).findings
    (finding,) = (one for one in findings if one.subject == edited.ref and one.question == "computeDomain")
    assert dict(finding.because[0].facts)["domain"] == "llm-0-pool-0-cd"


def test_wl202_an_autoscaler_with_the_name_of_a_claim_is_no_claim() -> None:
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


def test_ms036_an_object_that_serves_another_user_is_reported() -> None:
    seen = half_shared()
    (domain,) = seen.domains
    other = replace(domain, labels=FrozenMap({**domain.labels, **SET_REPLICA.under_every_key("7")}))
    taken = replace(seen, domains=(), named_domains=FrozenDict({("ml", other.ref.name): other}))
    plan = reconcile(taken)
    assert other.ref in {held.target for held in plan.withheld}
    assert not [step for step in plan.steps if step.target == other.ref]


@pytest.mark.parametrize("which", [0, 1])
def test_ms036_an_object_without_the_label_serves_no_user(which: int) -> None:
    """A ResourceClaim of ``resourceSharing`` has the labels of its user, and may have the name."""
    seen = half_shared()
    item = (seen.domains[0], next(iter(seen.named_claims.values())))[which]
    labels = FrozenMap({key: value for key, value in item.labels.items() if key != MNNVL_MANAGED})
    key, other = ("ml", item.ref.name), replace(item, labels=labels)
    if isinstance(other, ComputeDomain):
        seen = replace(seen, domains=(), named_domains=FrozenDict({key: other}))
    else:
        seen = replace(seen, others=(), named_claims=FrozenDict({key: other}))
    plan = reconcile(seen)
    assert "another user" in next(held for held in plan.withheld if held.target == item.ref).because[0].sentence
    assert not [step for step in plan.steps if step.target == item.ref]


def test_cl010_a_domain_that_no_part_of_the_set_shares_is_not_its_own() -> None:
    bare = with_configuration(
        applied(set_raw(clique_raw("a", pod_spec=GPUS, annotations={ENABLED: "true"}), clique_raw("b")))
    )
    assert snapshot_has_object(bare, "ComputeDomain", "llm-0-cd")
    assert not snapshot_has_object(bare, "ComputeDomain", "llm-0-b-cd")


def test_ms005_a_clique_whose_labels_name_no_set_is_admitted_unchanged() -> None:
    view = CliqueAdmissionView(configuration=SCOPED, served=ServedApis(), owner=None, domains={}, claims={})
    said = {"annotations": {ENABLED: "true"}, "labels": {"grove.io/podcliqueset-replica-index": "0"}}
    raw = {"metadata": {"name": "x", "namespace": "ml", **said}, "spec": {"podSpec": GPUS}}
    decision = admit_podclique(raw, view)
    assert isinstance(decision.verdict, AdmitWithChanges)
    assert [(one.path, one.got) for one in decision.verdict.warnings] == [
        (f"metadata.annotations[{ENABLED}]", '"true"')
    ]


def test_ms070_a_set_without_a_name_is_judged() -> None:
    raw = set_raw(clique_raw("a", pod_spec=GPUS, annotations={ENABLED: "yes"}))
    del raw["metadata"]["name"]
    verdict = admit(raw, None, None, SCOPED).verdict
    assert isinstance(verdict, Deny)
    assert {"metadata.name", f"spec.template.cliques[0].annotations[{ENABLED}]"} <= {
        objection.path for objection in verdict.objections
    }


def stored() -> PodClique:
    return half_shared().cliques[0]


@pytest.mark.parametrize(
    ("labels", "replica"),
    [({}, 0), ({"grove.io/pcs-name": "llm"}, -1), ({"grove.io/pcs-name": "llm", "grove.io/pcsg-name": "pool"}, 0)],
)
def test_ms020_labels_without_a_position(labels: Json, replica: int) -> None:
    assert clique_indices_from_labels(replace(stored(), labels=FrozenMap(labels), replica_index=replica)) is None


def test_ms020_labels_that_name_no_user() -> None:
    assert domain_user_in_labels(FrozenMap({"grove.io/pcs-name": "llm"})) is None


def test_pl016_ensured_objects_come_before_the_objects_that_need_them() -> None:
    seen = with_configuration(applied(set_raw(clique_raw("a", pod_spec=GPUS, annotations={ENABLED: "true"}))))
    plan = reconcile(seen)
    assert not broken_laws_in_plan(plan, seen)
    late = [replace(step, stage=StepStage.WORKLOAD) if isinstance(step.action, Ensure) else step for step in plan.steps]
    ordered = replace(plan, steps=tuple(sorted(late, key=lambda step: step.sort_key)))
    assert any(problem.law == "PL-016" for problem in broken_laws_in_plan(ordered, seen))


def test_cl011_an_invalid_configuration_is_refused() -> None:
    reported_so = {"mnnvl": {"enabled": "perhaps", "mode": "operator", "computeDomainShape": "auto"}}
    raw = {"formatVersion": "1.2", "rules": "design", "asOf": "2026-11-20T09:00:00Z", "notCollected": [], "plans": []}
    with pytest.raises(MalformedObject):
        plan_document_from_json({**raw, "configuration": reported_so})


def test_wl025_an_unknown_generation_does_not_change() -> None:
    clique = replace(stored(), generation=None)
    fields = FrozenMap({"spec": FrozenMap({"autoScalingConfig": FrozenMap({"maxReplicas": 9})})})
    changed = object_after_merge_patch(clique, fields)
    assert isinstance(changed, PodClique)
    assert changed.generation is None
    assert changed.auto_scaling["maxReplicas"] == 9


@given(st.sampled_from(["grove.io/mnnvl-managed", *SET_REPLICA.keys]), st.none() | st.sampled_from(["false", "7", "x"]))
def test_mn052_a_claim_stays_with_any_labels(key: str, text: str | None) -> None:
    seen = half_shared()
    (claim,) = (one for one in seen.others if one.ref.kind == "ResourceClaim")
    labels = {name: said for name, said in claim.labels.items() if name != key} | ({key: text} if text else {})
    edited = replace(claim, labels=FrozenMap(labels))
    others = tuple(edited if one is claim else one for one in seen.others)
    plan = reconcile(replace(seen, others=others, named_claims=FrozenDict({("ml", claim.ref.name): edited})))
    assert not [step for step in plan.steps if step.target == claim.ref]


@pytest.mark.parametrize(
    ("component", "goes"), [({}, False), ({"app.kubernetes.io/component": "resource-claim"}, True)]
)
def test_mn052_a_claim_of_resource_sharing_is_recognised_by_its_component(
    component: dict[str, str], *, goes: bool
) -> None:
    """Where no clique shares by annotation its template may have that name too (MS-078)."""
    seen = converged_set(set_raw(clique_raw("b")))[1]
    (service,) = (one for one in seen.others if one.ref.kind == "Service")
    ref = replace(service.ref, api_version="resource.k8s.io/v1", kind="ResourceClaim", name="llm-all-mnnvl-claim")
    claim = replace(service, ref=ref, uid="u", labels=FrozenMap({**without(service.labels, COMPONENT), **component}))
    plan = reconcile(replace(seen, others=(*seen.others, claim)))
    assert any(step.target == ref and isinstance(step.action, Delete) for step in plan.steps) is goes
