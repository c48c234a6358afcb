"""Findings name the cliques that share; a claim selects its domain, survives updates, and is never added later."""

from typing import Any

import pytest

from grove_core.areas.mnnvl_scopes.rules import SharedDomainReason
from grove_core.kernel.frozen import thaw_json
from grove_core.kernel.structs import replace
from grove_core.reconcile import reconcile
from grove_core.resources.domain_sharing import shared_claim_entry
from grove_core.resources.podcliqueset import PodCliqueSet
from tests.property.mnnvl_scopes.sharing_sets import CLASS, ENABLED, GPUS, converged, converged_set, with_configuration
from tests.property.workload.life import with_image
from tests.property.workload.sets import applied, clique_raw, set_raw

Json = dict[str, Any]
OF_OURS = "a.example.com"


def mixed(**annotations: str) -> Json:
    """A set of a clique that shares and one that does not."""
    return set_raw(clique_raw("a", pod_spec=GPUS, annotations={ENABLED: "true", **annotations}), clique_raw("b"))


@pytest.mark.req("MS-004")
def test_ms006_cliques_that_share_are_named() -> None:
    plan = reconcile(converged_set(mixed())[1])
    (reason,) = [
        why for found in plan.findings for why in found.because if why.rule is SharedDomainReason.CLIQUES_OPT_IN
    ]
    assert dict(reason.facts)["cliques"] == "a"
    joined = {
        found.subject.name
        for found in plan.findings
        for why in found.because
        if why.rule is SharedDomainReason.OPTED_IN
    }
    assert "llm-0-a" in joined
    assert "llm-0-b" not in joined


@pytest.mark.parametrize(("annotations", "wanted"), [({}, "compute-domain.nvidia.com"), ({CLASS: OF_OURS}, OF_OURS)])
def test_ms023_the_claim_asks_for_one_device_of_its_domain(annotations: dict[str, str], wanted: str) -> None:
    world, seen = converged_set(mixed(**annotations))
    (domain,) = seen.domains
    (claim,) = [thaw_json(raw) for ref, raw in world.manifests.items() if ref.kind == "ResourceClaim"]
    (request,) = claim["spec"]["devices"]["requests"]
    asked = request.get("exactly", request)
    assert (asked["deviceClassName"], asked.get("count", 1)) == (wanted, 1)
    assert domain.ref.name in asked["selectors"][0]["cel"]["expression"]


def test_ms032_another_template_keeps_claim_and_annotations() -> None:
    world, seen = converged_set(mixed())
    before = next(clique for clique in seen.cliques if clique.ref.name == "llm-0-a")
    root = world.items[seen.root.ref]
    assert isinstance(root, PodCliqueSet)
    world.put_object(replace(root, spec=with_image(root.spec, "v2", ()), generation=(root.generation or 0) + 1))
    after = next(clique for clique in converged(world, root.ref).cliques if clique.ref.name == "llm-0-a")
    assert after.template_hash != before.template_hash
    assert shared_claim_entry(after.pod_spec) == shared_claim_entry(before.pod_spec)
    assert shared_claim_entry(after.pod_spec) is not None
    assert after.annotations == before.annotations


def test_ms061_a_clique_stored_without_the_claim_is_reported_and_unchanged() -> None:
    _, seen = converged_set(mixed())
    plain = next(clique for clique in seen.cliques if clique.ref.name == "llm-0-b").pod_spec
    bare = tuple(replace(one, pod_spec=plain) if one.ref.name == "llm-0-a" else one for one in seen.cliques)
    plan = reconcile(replace(seen, cliques=bare))
    verdicts = {
        found.subject.name: found.verdict
        for found in plan.findings
        if found.because[0].rule is SharedDomainReason.CREATED_WITHOUT_CLAIM
    }
    assert verdicts == {"llm-0-a": "LetInWithout"}
    assert "mnnvl" not in str([step.action for step in plan.steps if step.target.name == "llm-0-a"])


@pytest.mark.parametrize(("annotations", "verdict"), [({ENABLED: "true"}, "Wanted"), ({}, "NotWanted")])
def test_ms006_a_finding_of_the_set_says_whether_a_clique_shares(annotations: dict[str, str], verdict: str) -> None:
    start = with_configuration(applied(set_raw(clique_raw("a", pod_spec=GPUS, annotations=annotations))))
    findings = [
        one
        for one in reconcile(start).findings
        if any(why.rule is SharedDomainReason.CLIQUES_OPT_IN for why in one.because)
    ]
    assert [(one.subject.short, one.verdict) for one in findings] == [("PodCliqueSet/llm", verdict)]
    new = [one.verdict for one in reconcile(start).findings if one.subject.short == "PodClique/llm-0-a"]
    assert ("Joins" in new) is bool(annotations)
