"""Exactly the pods outside the domain of a required constraint are reported (TP-131)."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core.areas.topology.pod_placement import pod_placements_by_constraint
from grove_core.areas.topology.wants import is_misplacement_undecidable, misplaced_gang_findings
from grove_core.kernel.frozen import frozen_dict_of_tuples
from grove_core.resources.pod import pod_from_json
from grove_core.resources.podclique import podclique_from_json
from grove_core.resources.podcliqueset import podcliqueset_from_json
from grove_core.resources.podgang import podgang_from_json
from grove_core.snapshot.snapshot import Snapshot

KEY: Final = "example.com/rack"
CLIQUES: Final = ("train-0-a", "train-0-b")
Json = dict[str, Any]


def owned(name: str, kind: str, owner: str) -> Json:
    reference = {"apiVersion": "grove.io/v1alpha1", "kind": kind, "name": owner, "uid": f"uid-{owner}"}
    owners = [{**reference, "controller": True}]
    return {"name": name, "namespace": "ml", "uid": f"uid-{name}", "resourceVersion": "1", "ownerReferences": owners}


def snapshot(nodes: Mapping[str, list[str]], gang: Json, *, phase: str = "Running", deleting: bool = False) -> Snapshot:
    """A set of two cliques whose pods run on these nodes."""
    template = {"cliques": [{"name": name[-1], "spec": {"replicas": 3}} for name in CLIQUES]}
    root = {"name": "train", "namespace": "ml", "uid": "uid-train", "resourceVersion": "1"}
    pods = {
        f"uid-{clique}": [
            pod_from_json(
                {
                    "metadata": {
                        **owned(f"{clique}-{index}", "PodClique", clique),
                        **({"deletionTimestamp": "2026-11-20T09:00:00Z"} if deleting else {}),
                    },
                    "spec": {"nodeName": node},
                    "status": {"phase": phase},
                },
                {},
            )
            for index, node in enumerate(found)
        ]
        for clique, found in nodes.items()
    }
    return Snapshot(
        root=podcliqueset_from_json({"metadata": root, "spec": {"replicas": 1, "template": template}}),
        cliques=tuple(
            podclique_from_json(
                {
                    "metadata": {
                        **owned(name, "PodCliqueSet", "train"),
                        "labels": {"grove.io/podcliqueset-replica-index": "0"},
                    }
                }
            )
            for name in CLIQUES
        ),
        gangs=(podgang_from_json({"metadata": owned("train-0", "PodCliqueSet", "train"), "spec": gang}),),
        pods_of=frozen_dict_of_tuples(pods),
        now=datetime(2026, 11, 20, 9, tzinfo=UTC),
    )


def pack(key: str = KEY, how: str = "required") -> Json:
    return {"topologyConstraint": {"packConstraint": {how: key}}}


def groups(own: Json | None = None) -> list[Json]:
    return [{"name": name, "minReplicas": 1, "podReferences": [], **(own or {})} for name in CLIQUES]


RACKS: Final = {"n0": {KEY: "r0"}, "n1": {KEY: "r0"}, "n2": {KEY: "r1"}, "n3": {}}
SPREAD: Final = st.fixed_dictionaries(
    {name: st.lists(st.sampled_from([*RACKS, "not in the input"]), max_size=4) for name in CLIQUES}
)


@given(SPREAD)
def test_tp131_a_gang_is_reported_exactly_where_its_pods_have_two_values_or_none(
    nodes: Mapping[str, list[str]],
) -> None:
    seen = snapshot(nodes, {"podgroups": groups(), **pack()})
    values = {RACKS[node].get(KEY, "") for found in nodes.values() for node in found if node in RACKS}
    found = list(misplaced_gang_findings(seen, RACKS))
    assert bool(found) is (len(values) > 1 or "" in values)
    strange = any(node not in RACKS for places in nodes.values() for node in places)
    assert is_misplacement_undecidable(seen, RACKS) is strange
    for finding in found:
        (why,) = finding.because
        assert finding.subject.short == "PodGang/train-0"
        for clique, places in nodes.items():
            for index, node in enumerate(places):
                if node not in RACKS:
                    assert f"{clique}-{index}" not in why.sentence, "nothing is known of a node that is not there"


@given(SPREAD)
def test_tp131_a_clique_is_reported_for_its_own_constraint(nodes: Mapping[str, list[str]]) -> None:
    seen = snapshot(nodes, {"podgroups": groups(pack())})
    values = {name: {RACKS[node].get(KEY, "") for node in places if node in RACKS} for name, places in nodes.items()}
    broken = {name for name, found in values.items() if len(found) > 1 or "" in found}
    reasons = [why for finding in misplaced_gang_findings(seen, RACKS) for why in finding.because]
    assert {why.subject.name for why in reasons} == broken


@given(SPREAD)
def test_tp131_preferences_and_finished_pods_are_not_reported(nodes: Mapping[str, list[str]]) -> None:
    preferred = snapshot(nodes, {"podgroups": groups(), **pack(how="preferred")})
    ended = snapshot(nodes, {"podgroups": groups(), **pack()}, phase="Succeeded")
    leaving = snapshot(nodes, {"podgroups": groups(), **pack()}, deleting=True)
    for seen in (preferred, ended, leaving):
        assert list(misplaced_gang_findings(seen, RACKS)) == []
    assert not is_misplacement_undecidable(preferred, RACKS)
    assert not is_misplacement_undecidable(ended, RACKS)


def test_tp131_parts_of_a_group_replica_share_a_domain() -> None:
    together = {"name": "x", "podGroupNames": list(CLIQUES), **pack()}
    gang = {"podgroups": groups(), "topologyConstraintGroupConfigs": [together]}
    seen = snapshot({CLIQUES[0]: ["n0", "n1"], CLIQUES[1]: ["n2"]}, gang)
    ((why,),) = [finding.because for finding in misplaced_gang_findings(seen, RACKS)]
    assert why.sentence == ("its pods have to share one value of example.com/rack: 2 pods in r0; train-0-b-0 in r1")


@given(SPREAD)
@pytest.mark.req("CL-081")
def test_cl081_each_pod_stands_in_one_domain_or_on_an_unknown_node(nodes: Mapping[str, list[str]]) -> None:
    seen = snapshot(nodes, {"podgroups": groups(), **pack()})
    (found,) = pod_placements_by_constraint(seen, RACKS)
    assert (found.gang.name, found.key, found.cliques) == ("train-0", KEY, CLIQUES)
    for clique, places in nodes.items():
        for index, node in enumerate(places):
            name = f"{clique}-{index}"
            assert found.domain_of_pod(name) == (RACKS[node].get(KEY, "") if node in RACKS else None)
            assert (name in found.unknown) is (node not in RACKS)
    assert found.is_broken is bool([*misplaced_gang_findings(seen, RACKS)])
