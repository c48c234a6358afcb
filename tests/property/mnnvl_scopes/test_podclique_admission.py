"""Admission of one PodClique: what it waits for, and warnings about its annotations (MS-035 to MS-038, MS-079)."""

import pytest

from grove_core.admit_podclique import admit_podclique
from grove_core.areas.mnnvl_scopes.clique_admission import (
    CliqueAdmissionDeferred,
    CliqueAdmissionView,
    CliqueAdmittedToDomain,
    judge_clique_admission,
)
from grove_core.areas.mnnvl_scopes.rules import SharedDomainReason
from grove_core.kernel.admission import Deny
from grove_core.kernel.structs import replace
from grove_core.resources.configuration import ServedApis
from tests.property.mnnvl_scopes.sharing_sets import CLASS, ENABLED, GPUS, SCOPE, SCOPED, converged_set
from tests.property.workload.sets import clique_raw, set_raw

NO_OWNER = CliqueAdmissionView(configuration=SCOPED, served=ServedApis(), owner=None, domains={}, claims={})


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
