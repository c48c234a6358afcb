"""Cases that mutation testing of MNNVL by annotation found to be untested (specs/mutants.md)."""

from typing import Any

import pytest

from grove_core.admit import admit
from grove_core.admit_podclique import admit_podclique
from grove_core.areas.mnnvl_scopes.admit import domain_sharing_groups_of
from grove_core.areas.mnnvl_scopes.clique_admission import (
    CliqueAdmissionDeferred,
    CliqueAdmissionView,
    CliqueAdmittedToDomain,
    judge_clique_admission,
)
from grove_core.areas.mnnvl_scopes.rules import SharedDomainReason
from grove_core.kernel.admission import Deny
from grove_core.kernel.frozen import frozen_dict_of_tuples
from grove_core.kernel.steps import Delete
from grove_core.kernel.structs import replace
from grove_core.reconcile import reconcile
from grove_core.resources.configuration import ServedApis
from grove_core.resources.podcliqueset_manifest import read_podcliqueset_manifest
from grove_core.snapshot.snapshot import Snapshot
from tests.property.mnnvl_scopes.sharing_sets import (
    CLASS,
    ENABLED,
    GPUS,
    SCOPE,
    SCOPED,
    converged_set,
    with_configuration,
)
from tests.property.workload.sets import applied, clique_raw, set_raw

Json = dict[str, Any]
NO_OWNER = CliqueAdmissionView(configuration=SCOPED, served=ServedApis(), owner=None, domains={}, claims={})
GROUP: Json = {
    "name": "pool",
    "cliqueNames": ["b"],
    "replicas": 3,
    "minAvailable": 1,
    "scaleConfig": {"maxReplicas": 5},
}


@pytest.mark.parametrize(
    ("scope", "pods", "most", "highest"),
    [
        ("replica", [2 + 3 * 4], 5, "llm-1"),
        ("scalingGroupReplica", [4], 5, "llm-1-pool-4"),
    ],
)
def test_ms076_pods_of_a_sharing_group_are_counted_with_replicas(
    scope: str, pods: list[int], most: int, highest: str
) -> None:
    said = {ENABLED: "true", SCOPE: scope}
    of_clique, of_group = ({}, {"annotations": said}) if scope != "replica" else ({"annotations": said}, {})
    raw = set_raw(
        clique_raw("a", 2, pod_spec=GPUS, **of_clique),
        clique_raw("b", 4, pod_spec=GPUS, **of_clique),
        groups=({**GROUP, **of_group},),
        replicas=2,
    )
    manifest, _ = read_podcliqueset_manifest(raw)
    assert manifest is not None
    (crowd,) = [one for one in domain_sharing_groups_of(manifest) if one.scope.value == scope]
    assert ([crowd.pods], crowd.max_replicas, crowd.highest) == (pods, most, highest)


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


def test_ms038_the_awaited_set_is_named() -> None:
    labels = {"grove.io/pcs-name": "llm", "grove.io/pcs-replica-index": "0"}
    meta = {"name": "llm-0-a", "namespace": "ml", "annotations": {ENABLED: "true"}, "labels": labels}
    verdict = admit_podclique({"metadata": meta, "spec": {"podSpec": GPUS}}, NO_OWNER).verdict
    assert isinstance(verdict, Deny)
    assert "llm" in verdict.objections[0].reason.sentence


@pytest.mark.parametrize(
    ("annotations", "words"),
    [
        ({ENABLED: "yes"}, 'is neither "true" nor "false"'),
        ({ENABLED: "true", SCOPE: "rack"}, "is none of replica, clique, scalingGroupReplica"),
        ({ENABLED: "true", CLASS: ""}, "names no device class"),
        ({ENABLED: "true"}, "is set on a PodClique whose labels name no replica of a set"),
    ],
)
def test_ms079_an_invalid_annotation_of_a_clique_causes_a_warning(annotations: dict[str, str], words: str) -> None:
    labels = {"grove.io/podcliqueset-replica-index": "0"}
    meta = {"name": "x", "namespace": "ml", "annotations": annotations, "labels": labels}
    (warning,) = admit_podclique({"metadata": meta, "spec": {"podSpec": GPUS}}, NO_OWNER).verdict.warnings
    assert warning.reason.sentence == f"{words}: the PodClique joins no ComputeDomain"


@pytest.mark.parametrize("leaves", [False, True])
def test_ms035_a_domain_that_is_being_deleted_is_awaited(*, leaves: bool) -> None:
    _, seen = converged_set(set_raw(clique_raw("a", pod_spec=GPUS, annotations={ENABLED: "true"})))
    (clique,), (domain,) = seen.cliques, seen.domains
    domains = {(domain.ref.namespace, domain.ref.name): replace(domain, deleting=leaves)}
    view = replace(NO_OWNER, owner=seen.root, domains=domains, claims=seen.named_claims)
    admission = judge_clique_admission(clique, view)
    because = SharedDomainReason.EARLIER_OBJECT_BEING_DELETED.because(
        clique.ref, kind="ComputeDomain", name=domain.ref.name
    )
    assert (admission == CliqueAdmissionDeferred(because)) is leaves
    assert isinstance(admission, CliqueAdmittedToDomain) is not leaves


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


def test_ms077_a_duplicate_name_is_found_at_any_position() -> None:
    """After a clique whose name has no index."""
    alone, together = {ENABLED: "true", SCOPE: "clique"}, {ENABLED: "true", SCOPE: "scalingGroupReplica"}
    cliques = [clique_raw(name, pod_spec=GPUS, annotations=alone) for name in ("a", "pool-1")]
    raw = set_raw(*cliques, clique_raw("b", pod_spec=GPUS), groups=({**GROUP, "annotations": together},))
    verdict = admit(raw, None, None, SCOPED).verdict
    assert isinstance(verdict, Deny)
    (twice,) = [one for one in verdict.objections if one.reason.rule.code == "SharedNameTwice"]
    assert twice.path == "spec.template.cliques[1].name"
    assert twice.reason.subject.short == "PodCliqueSet/llm"


@pytest.mark.parametrize(("place", "subject"), [("set", "no standalone clique"), ("group", "no clique of the group")])
def test_ms081_the_warning_names_what_asks_for_no_gpus(place: str, subject: str) -> None:
    said = {"annotations": {ENABLED: "true"}}
    raw = set_raw(clique_raw("a"), clique_raw("b"), groups=({**GROUP, **(said if place == "group" else {})},))
    raw["metadata"] |= said if place == "set" else {}
    found = [one.reason for one in admit(raw, None, None, SCOPED).verdict.warnings]
    (warning,) = [one for one in found if one.rule.code == "NoGpusInScope"]
    assert warning.sentence.startswith(f"has no effect: {subject} asks for nvidia.com/gpu")
