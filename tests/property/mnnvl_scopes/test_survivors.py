"""What mutants of domains by annotations lived through until these tests were written (specs/mutants.md)."""

from dataclasses import replace
from typing import Any

import pytest

from grove_core.admit_podclique import admit_podclique
from grove_core.areas.mnnvl_scopes.crowd import crowds_of
from grove_core.areas.mnnvl_scopes.entry import Surroundings
from grove_core.areas.mnnvl_scopes.rules import Why
from grove_core.kernel.admission import Deny
from grove_core.reconcile import reconcile
from grove_core.resources.configuration import Served
from grove_core.resources.manifest import manifest_of
from tests.property.mnnvl_scopes.worlds import ENABLED, GPUS, SCOPE, SCOPED, brought_up, told
from tests.property.workload.sets import applied, clique_raw, set_raw

Json = dict[str, Any]
NOBODY = Surroundings(configuration=SCOPED, served=Served(), owner=None, domains={}, claims={})
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
def test_ms076_who_shares_is_counted_with_its_replicas(scope: str, pods: list[int], most: int, highest: str) -> None:
    said = {ENABLED: "true", SCOPE: scope}
    of_clique, of_group = ({}, {"annotations": said}) if scope != "replica" else ({"annotations": said}, {})
    raw = set_raw(
        clique_raw("a", 2, pod_spec=GPUS, **of_clique),
        clique_raw("b", 4, pod_spec=GPUS, **of_clique),
        groups=({**GROUP, **of_group},),
        replicas=2,
    )
    manifest, _ = manifest_of(raw)
    assert manifest is not None
    (crowd,) = [one for one in crowds_of(manifest) if one.scope.value == scope]
    assert ([crowd.pods], crowd.most, crowd.highest) == (pods, most, highest)


@pytest.mark.parametrize(("annotations", "verdict"), [({ENABLED: "true"}, "Wanted"), ({}, "NotWanted")])
def test_ms006_whether_anybody_shares_is_a_finding_of_the_set(annotations: dict[str, str], verdict: str) -> None:
    start = told(applied(set_raw(clique_raw("a", pod_spec=GPUS, annotations=annotations))))
    findings = [one for one in reconcile(start).findings if any(why.rule is Why.CLIQUES_OPT_IN for why in one.because)]
    assert [(one.subject.short, one.verdict) for one in findings] == [("PodCliqueSet/llm", verdict)]
    new = [one.verdict for one in reconcile(start).findings if one.subject.short == "PodClique/llm-0-a"]
    assert ("Joins" in new) is bool(annotations)


def test_ms038_the_set_that_is_waited_for_is_named() -> None:
    labels = {"grove.io/pcs-name": "llm", "grove.io/pcs-replica-index": "0"}
    meta = {"name": "llm-0-a", "namespace": "ml", "annotations": {ENABLED: "true"}, "labels": labels}
    verdict = admit_podclique({"metadata": meta, "spec": {"podSpec": GPUS}}, NOBODY).verdict
    assert isinstance(verdict, Deny)
    assert "llm" in verdict.objections[0].reason.sentence


@pytest.mark.parametrize(
    ("annotations", "words"),
    [
        ({ENABLED: "yes"}, 'is neither "true" nor "false"'),
        ({ENABLED: "true", SCOPE: "rack"}, "is none of replica, clique, scalingGroupReplica"),
        ({ENABLED: "true"}, "says so of a PodClique whose labels name no replica of a set"),
    ],
)
def test_ms079_what_is_odd_about_a_clique_is_said(annotations: dict[str, str], words: str) -> None:
    labels = {"grove.io/podcliqueset-replica-index": "0"}
    meta = {"name": "x", "namespace": "ml", "annotations": annotations, "labels": labels}
    (warning,) = admit_podclique({"metadata": meta, "spec": {"podSpec": GPUS}}, NOBODY).verdict.warnings
    assert words in warning.reason.sentence


def test_ms042_what_a_scaled_gang_uses_with_its_replica_is_of_the_base_gang() -> None:
    """The scaled gang may go before the others that share the domain."""
    said = {ENABLED: "true", SCOPE: "replica"}
    raw = set_raw(clique_raw("b", pod_spec=GPUS, annotations=said), groups=({**GROUP, "replicas": 2},))
    _, seen = brought_up(raw)
    scaled = tuple(clique for clique in seen.cliques if clique.base_gang)
    assert scaled
    assert [(one.ref.name, one.owner_name) for one in seen.domains] == [("llm-0-cd", "llm-0")]
    steps = reconcile(replace(seen, cliques=scaled)).steps
    assert not [step for step in steps if step.target.kind in {"ComputeDomain", "ResourceClaim"}]
