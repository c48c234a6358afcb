"""What a write makes of an object is what is read of it afterwards: one law for every kind and every kind of write."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from grove_core.kernel.conditions import REMOVED
from grove_core.kernel.frozen import FrozenMap, freeze, frozen
from grove_core.kernel.refs import Guard
from grove_core.kernel.steps import Apply, Delete, DropFinalizer, SetStatus
from grove_core.kernel.structs import replace
from grove_core.resources.api_names import BASE_GANG, GATE, MANAGED_BY, OPERATOR, TEMPLATE_HASH, TOPOLOGY_NAME
from grove_core.resources.cluster_topology import cluster_topology_from_json
from grove_core.resources.compute_domain import ComputeDomain, compute_domain_from_json
from grove_core.resources.labels import GROUP_REPLICA, SET, SET_REPLICA
from grove_core.resources.object_after_write import object_after_merge_patch, object_after_write
from grove_core.resources.owned_object import owned_object_from_json
from grove_core.resources.pod import pod_from_json
from grove_core.resources.podclique import podclique_from_json
from grove_core.resources.podcliqueset import podcliqueset_from_json
from grove_core.resources.podgang import podgang_from_json
from grove_core.resources.scaling_group import scaling_group_from_json
from tests.property.resources.manifests import SINCE, Json, clique, clique_set, condition, gang, group, meta, owner, pod

META: Final[Json] = {"name": "llm-0-a", "namespace": "ml", "uid": "u", "resourceVersion": "1", "generation": 3}

GUARD: Final = Guard("u", "7")
TEXTS: Final = st.sampled_from(("a", "b", "llm-0"))
INDEX: Final = st.sampled_from(("0", "1"))
NUMBERS: Final = st.integers(0, 3)


def maybe(**values: st.SearchStrategy[Any]) -> st.SearchStrategy[Json]:
    return st.fixed_dictionaries({}, optional=values)


def texts(*keys: str, indexes: tuple[str, ...] = (), gone: bool = False) -> st.SearchStrategy[Json]:
    """Labels or annotations; of a write with null, which takes one away. An index stays: a write may only change it."""
    text = st.none() | TEXTS if gone else TEXTS
    return maybe(**dict.fromkeys(("queue", *keys), text), **dict.fromkeys(indexes, INDEX))


def both(of: Callable[[bool], st.SearchStrategy[Json]]) -> tuple[st.SearchStrategy[Json], st.SearchStrategy[Json]]:
    """What is there, and what is written."""
    return of(False), of(True)


def of_clique(gone: bool) -> st.SearchStrategy[Json]:
    labels = texts(TEMPLATE_HASH, BASE_GANG, indexes=(*SET_REPLICA.keys, *GROUP_REPLICA.keys), gone=gone)
    scaling = st.fixed_dictionaries({"maxReplicas": NUMBERS}, optional={"minReplicas": NUMBERS})
    spec: dict[str, st.SearchStrategy[Any]] = {"autoScalingConfig": st.none() | scaling if gone else scaling}
    parents = st.lists(TEXTS, min_size=1, max_size=2)
    spec |= {"minAvailable": st.integers(1, 3), "startsAfter": st.none() | parents if gone else parents}
    more = {"podSpec": st.builds(lambda name: {"priorityClassName": name}, TEXTS)}
    return maybe(
        metadata=maybe(labels=labels, annotations=texts(gone=gone)),
        spec=maybe(**spec, **more) if gone else st.fixed_dictionaries(more, optional=spec),
    )


def pack(*, gone: bool) -> st.SearchStrategy[Json]:
    key = st.none() | TEXTS if gone else TEXTS
    return maybe(packConstraint=maybe(required=key, preferred=key))


def of_gang(gone: bool) -> st.SearchStrategy[Json]:
    member = st.fixed_dictionaries(
        {"name": TEXTS, "minReplicas": NUMBERS, "podReferences": st.just([{"namespace": "ml", "name": "x"}])},
        optional={"topologyConstraint": pack(gone=False)},
    )
    together = st.fixed_dictionaries(
        {"name": TEXTS, "podGroupNames": st.just(["a"]), "topologyConstraint": pack(gone=False)}
    )
    annotations = texts(TOPOLOGY_NAME, gone=gone)
    return maybe(
        metadata=maybe(labels=texts(gone=gone), annotations=annotations),
        spec=maybe(
            priorityClassName=st.none() | TEXTS if gone else TEXTS,
            podgroups=st.lists(member, max_size=2, unique_by=lambda one: one["name"]),
            topologyConstraint=pack(gone=gone),
            topologyConstraintGroupConfigs=st.lists(together, max_size=2, unique_by=lambda one: one["name"]),
        ),
    )


def of_owned(gone: bool) -> st.SearchStrategy[Json]:
    labels = maybe(queue=TEXTS, **{MANAGED_BY: st.sampled_from((OPERATOR, "other"))})
    number = st.none() | NUMBERS if gone else NUMBERS
    owners = st.lists(TEXTS.map(lambda name: owner(f"uid-{name}", name=name)), max_size=1)
    return maybe(metadata=maybe(labels=labels, ownerReferences=owners), spec=maybe(numNodes=number, maxReplicas=number))


def of_topology(gone: bool) -> st.SearchStrategy[Json]:
    level = st.fixed_dictionaries({"domain": TEXTS, "key": TEXTS})
    return maybe(
        metadata=maybe(labels=texts(gone=gone), finalizers=st.lists(TEXTS, unique=True, max_size=2)),
        spec=maybe(levels=st.lists(level, max_size=2)),
    )


def of_group(gone: bool) -> st.SearchStrategy[Json]:
    spec = maybe(minAvailable=st.integers(1, 3), cliqueNames=st.lists(TEXTS, min_size=1, max_size=2))
    return maybe(metadata=maybe(labels=texts(gone=gone), annotations=texts(gone=gone)), spec=spec)


def owned(api_version: str, kind: str, name: str) -> Json:
    return {"apiVersion": api_version, "kind": kind, "metadata": meta(name)}


MEMBER: Final = clique("llm-0-pool-1-b", owned_by=owner("g", kind="PodCliqueScalingGroup", name="llm-0-pool"))
ALONE: Final = clique("llm-0-a", owned_by=owner("s", kind="PodCliqueSet", name="llm"))
KINDS: Final[Mapping[str, tuple[Callable[[Json], Any], Json, Callable[[bool], st.SearchStrategy[Json]]]]] = {
    "PodClique": (podclique_from_json, ALONE, of_clique),
    "PodClique of a group": (podclique_from_json, MEMBER, of_clique),
    "PodCliqueScalingGroup": (scaling_group_from_json, group(), of_group),
    "PodGang": (podgang_from_json, gang(), of_gang),
    "HorizontalPodAutoscaler": (
        owned_object_from_json,
        owned("autoscaling/v2", "HorizontalPodAutoscaler", "llm-0-a"),
        of_owned,
    ),
    "ComputeDomain": (compute_domain_from_json, owned("resource.nvidia.com/v1beta1", "ComputeDomain", "cd"), of_owned),
    "ClusterTopology": (
        cluster_topology_from_json,
        owned("grove.io/v1alpha1", "ClusterTopology", "racks"),
        of_topology,
    ),
}

COUNTED: Final = frozenset(
    {"PodClique", "PodClique of a group", "PodCliqueScalingGroup"}
)  # of which a write of ours moves the generation


def patched(stored: Any, fields: Any) -> Any:
    """As a merge patch does: objects are merged, null takes a field away, anything else is replaced."""
    if not isinstance(fields, dict):
        return fields
    whole = dict(stored) if isinstance(stored, dict) else {}
    for key, value in fields.items():
        if value is None:
            whole.pop(key, None)
        else:
            whole[key] = patched(whole.get(key), value)
    return whole


@pytest.mark.parametrize("kind", KINDS)
@given(st.data())
def test_pl018_what_is_applied_is_what_is_read(kind: str, data: st.DataObject) -> None:
    read, base, of = KINDS[kind]
    there, written = both(of)
    raw = patched(patched(base, {"metadata": {"generation": 4 if kind in COUNTED else None}}), data.draw(there))
    fields = data.draw(written)
    result = patched(raw, fields)
    moved = kind in COUNTED and result.get("spec") != raw.get("spec")
    result = patched(result, {"metadata": {"generation": 5} if moved else {}})
    assert object_after_write(read(raw), Apply(frozen(fields), GUARD)) == read(result)


PROGRESS: Final = maybe(updateStartedAt=st.just(SINCE), updateEndedAt=st.just(SINCE), podTemplateHash=TEXTS)
STATUS: Final = maybe(
    replicas=NUMBERS,
    readyReplicas=NUMBERS,
    scheduledReplicas=NUMBERS,
    availableReplicas=NUMBERS,
    updatedReplicas=NUMBERS,
    wasAvailable=st.booleans(),
    observedGeneration=NUMBERS,
    currentPodTemplateHash=TEXTS,
    currentGenerationHash=TEXTS,
    currentPodCliqueSetGenerationHash=TEXTS,
    hpaPodSelector=TEXTS,
    selector=TEXTS,
    updateProgress=PROGRESS,
    conditions=st.lists(st.builds(condition, TEXTS, st.sampled_from(("True", "False"))), unique_by=lambda c: c["type"]),
)
WITH_STATUS: Final[Mapping[str, tuple[Callable[[Json], Any], Json]]] = {
    "PodClique": (podclique_from_json, ALONE),
    "PodCliqueScalingGroup": (scaling_group_from_json, group()),
    "PodCliqueSet": (podcliqueset_from_json, clique_set()),
    "PodGang": (podgang_from_json, gang()),
}


@pytest.mark.parametrize("kind", WITH_STATUS)
@given(STATUS, st.none() | PROGRESS, STATUS.filter(bool), st.lists(TEXTS, max_size=1))
@example({}, {"updateStartedAt": SINCE}, {"updateProgress": {"updateStartedAt": SINCE}}, [])
@pytest.mark.req("GF-080")
def test_pl018_a_status_that_is_written_is_what_is_read(
    kind: str, stored: Json, older: Json | None, fields: Json, removed: list[str]
) -> None:
    """An older release may have reported an update by its older name, which stays."""
    read, base = WITH_STATUS[kind]
    status = stored if older is None else {**stored, "rollingUpdateProgress": older}
    conditions = {one["type"]: one for one in (*stored.get("conditions", ()), *fields.get("conditions", ()))}
    left = [one for type_, one in conditions.items() if type_ not in removed]
    result = {**status, **fields, "conditions": left}
    written = object_after_write(
        read({**base, "status": status}), SetStatus(frozen({**fields, REMOVED: removed}), GUARD)
    )
    assert written == read({**base, "status": result})


@pytest.mark.parametrize("kind", [*KINDS, "PodCliqueSet"])
@pytest.mark.parametrize("generation", [None, 4])
def test_pl018_what_is_deleted_and_let_go_is_what_is_read(kind: str, generation: int | None) -> None:
    read, base = KINDS[kind][:2] if kind in KINDS else WITH_STATUS[kind]
    raw = patched(base, {"metadata": {"finalizers": ["ours", "theirs"], "generation": generation}})
    moved = {"deletionTimestamp": SINCE, "generation": None if generation is None else generation + 1}
    deleted, expected = object_after_write(read(raw), Delete(GUARD)), read(patched(raw, {"metadata": moved}))
    if isinstance(expected, ComputeDomain):  # when that was only the server says
        expected = replace(expected, deleted_at=None, stored=deleted.stored)
    assert deleted == expected
    assert object_after_write(deleted, Delete(GUARD)) == deleted
    assert object_after_write(deleted, DropFinalizer("ours", GUARD)).finalizers == ("theirs",)
    if kind in {"ComputeDomain", "ClusterTopology", "HorizontalPodAutoscaler"}:
        assert object_after_write(deleted, SetStatus(frozen({"replicas": 1}), GUARD)) == deleted


@pytest.mark.req("WL-088")
def test_pl018_a_pod_loses_our_gate_or_goes() -> None:
    gates = [{"name": GATE}, {"name": "of others"}]
    waiting = condition("PodScheduled", "False", reason="SchedulingGated")
    gated = pod_from_json(pod(waiting, spec={"schedulingGates": gates}, metadata={"labels": {SET.primary: "llm"}}), {})
    assert (gated.has_grove_gate, gated.gated, gated.trouble) == (True, True, "SchedulingGated")
    opened = object_after_write(gated, Apply(frozen({}), GUARD))
    assert (opened.has_grove_gate, opened.gated, opened.trouble) == (False, False, "")
    assert object_after_write(opened, Apply(frozen({}), GUARD)) is opened
    assert object_after_write(gated, Delete(GUARD)) == replace(gated, deleting=True)
    assert object_after_write(gated, DropFinalizer("ours", GUARD)) == gated


def test_the_users_set_is_not_ours_to_change() -> None:
    root = podcliqueset_from_json(clique_set())
    assert object_after_write(root, Apply(frozen({"spec": {"replicas": 9}}), GUARD)) == root


def a_map(value: Json) -> FrozenMap:
    found = freeze(value)
    assert isinstance(found, FrozenMap)
    return found


def test_ms036_the_nodes_that_a_domain_waits_for_follow_its_spec() -> None:
    domain = compute_domain_from_json({"metadata": META, "spec": {"numNodes": 2}})
    assert object_after_merge_patch(domain, a_map({"spec": {"numNodes": 5}})).num_nodes == 5
