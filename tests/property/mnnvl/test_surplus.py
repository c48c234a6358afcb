"""Surplus domains: which they are, and which pods may still use them."""

from typing import Any

import pytest

from grove_core.areas.mnnvl.design.judge import judge_mnnvl
from grove_core.areas.mnnvl.design.wants import desired_mnnvl_changes
from grove_core.kernel.frozen import FrozenDict, FrozenMap, frozen_dict_of_tuples
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Attempt, AttemptOutcome, Create, Step, StepStage
from grove_core.kernel.structs import replace
from grove_core.kernel.wants import ObjectToDelete, Withheld
from grove_core.resources.api_names import GROVE
from grove_core.resources.labels import SET_REPLICA
from grove_core.resources.pod import Pod
from grove_core.snapshot.own_writes import with_own_writes
from grove_core.snapshot.snapshot import Snapshot
from tests.property.mnnvl.gpu_sets import set_in_state


def of_replicas(seen: Snapshot, replicas: int) -> Snapshot:
    return replace(seen, root=replace(seen.root, spec=seen.root.spec.model_copy(update={"replicas": replicas})))


def ours() -> Snapshot:
    return set_in_state("joined", "ours", refused=False, before=False, known=True, on=True)


def gone(seen: Snapshot) -> list[str]:
    """The domains that a plan deletes."""
    wants = desired_mnnvl_changes(seen, judge_mnnvl(seen)).wants
    return [want.target.name for want in wants if isinstance(want, ObjectToDelete)]


def pod_of(seen: Snapshot) -> Pod:
    return next(pod for _, pod in seen.pods())


@pytest.mark.parametrize("label", ["7", "0", None, "x"])
@pytest.mark.parametrize("replicas", [0, 1])
def test_mn050_the_name_of_a_domain_decides_its_replica(label: str | None, replicas: int) -> None:
    """Labels can be edited: judging by the label and deleting by the name would delete the wrong domain."""
    seen = ours()
    (domain,) = seen.domains
    labels = {key: value for key, value in domain.labels.items() if key not in SET_REPLICA.keys}
    changed = replace(domain, labels=FrozenMap({**labels, **({SET_REPLICA.primary: label} if label else {})}))
    seen = replace(seen, domains=(changed,), named_domains=FrozenDict({("ml", domain.ref.name): changed}))
    assert gone(replace(of_replicas(seen, replicas), cliques=(), pods_of=FrozenDict())) == ["llm-cd-0"] * (
        replicas == 0
    )


@pytest.mark.req("MN-052")
@pytest.mark.parametrize("labels", [{}, {"grove.io/podcliqueset": "other"}])
@pytest.mark.parametrize("siblings", ["none", "joined", "without"])
def test_mn040_a_domain_of_the_set_is_not_foreign(siblings: str, labels: dict[str, str]) -> None:
    """A domain that the set controls counts with any labels; they only decide whether it may be deleted."""
    seen = set_in_state(siblings, "ours", refused=False, before=False, known=True, on=True)
    (domain,) = seen.domains
    edited = replace(domain, labels=FrozenMap(labels))
    changed = replace(seen, domains=(edited,), named_domains=FrozenDict({("ml", domain.ref.name): edited}))
    assert judge_mnnvl(changed) == judge_mnnvl(seen)
    assert gone(replace(of_replicas(changed, 0), cliques=(), pods_of=FrozenDict())) == []


def test_mn051_pods_of_a_clique_without_its_annotation_use_the_domain() -> None:
    seen = of_replicas(ours(), 0)
    bare = tuple(replace(clique, annotations=FrozenMap({})) for clique in seen.cliques)
    assert any(seen.pods_of.values())
    assert gone(replace(seen, cliques=bare)) == []


@pytest.mark.parametrize(
    ("changes", "goes"),
    [
        ({"gang": ""}, False),
        ({"gang": "", "name": "odd"}, False),
        ({"gang": "", "name": "llm-1-a-x"}, True),
        ({"gang": "", "set_name": "chat"}, True),
        ({"gang": "llm-1"}, True),
        ({"gang": "", "namespace": "other"}, True),
    ],
)
def test_mn051_a_pod_without_its_gang_is_found_by_its_set_and_name(changes: dict[str, Any], goes: bool) -> None:
    seen = of_replicas(ours(), 0)
    left = replace(pod_of(seen), owner_uid="gone", **{"set_name": "llm", **changes})
    assert gone(replace(seen, cliques=(), pods_of=frozen_dict_of_tuples({"gone": [left]}))) == ["llm-cd-0"] * goes


@pytest.mark.parametrize(
    ("outcome", "listed", "held"),
    [(AttemptOutcome.UNREACHABLE, False, 1), (AttemptOutcome.UNREACHABLE, True, 2), (AttemptOutcome.REFUSED, False, 0)],
)
def test_mn051_a_pod_that_may_just_have_been_created_uses_the_domain(
    outcome: AttemptOutcome, *, listed: bool, held: int
) -> None:
    """A pod that is listed too is counted once."""
    seen = of_replicas(ours(), 0)
    pod = pod_of(seen)
    labels = FrozenMap({"grove.io/podgang": "llm-0"})
    metadata = FrozenMap({"name": pod.name, "namespace": "ml", "uid": "u", "labels": labels})
    manifest = FrozenMap({"metadata": metadata, "spec": FrozenMap({}), "status": FrozenMap({})})
    made = Step(StepStage.WORKLOAD, Ref("v1", "Pod", "ml", pod.name), Create(manifest), ())
    pods_of = seen.pods_of if listed else {}
    seen = replace(seen, pods_of=frozen_dict_of_tuples(pods_of), attempts=(Attempt(made, outcome),))
    assert gone(seen) == ["llm-cd-0"] * (not held)
    because = [why for one in desired_mnnvl_changes(seen, judge_mnnvl(seen)).withheld for why in one.because]
    assert [dict(why.facts)["pods"] for why in because] == [held] * bool(held)


@pytest.mark.req("PL-018")
@pytest.mark.parametrize("listed", [False, True])
def test_mn051_an_unlisted_pod_of_a_deleted_clique_uses_the_domain(*, listed: bool) -> None:
    """The creation of the pod was accepted; a pod cache that lags behind the cache of PodCliques shows neither."""
    seen = of_replicas(ours(), 0)
    owner = FrozenMap({"apiVersion": GROVE, "kind": "PodClique", "name": "llm-0-a", "uid": "gone", "controller": True})
    labels = FrozenMap({"grove.io/podgang": "llm-0"})
    metadata = FrozenMap({"name": "p", "namespace": "ml", "labels": labels, "ownerReferences": (owner,)})
    made = Step(StepStage.WORKLOAD, Ref("v1", "Pod", "ml", "p"), Create(FrozenMap({"metadata": metadata})), ())
    left = [replace(pod_of(seen), name="p", owner_uid="gone", gang="llm-0")] if listed else []
    bare = replace(
        seen,
        cliques=(),
        pods_of=frozen_dict_of_tuples({"gone": left} if listed else {}),
        attempts=(Attempt(made, AttemptOutcome.DONE),),
    )
    known = with_own_writes(bare)
    assert [pod.name for pod in known.pods_of["gone"]] == ["p"]
    assert gone(known) == []
    assert gone(replace(bare, attempts=(), pods_of=FrozenDict())) == ["llm-cd-0"]


def test_mn051_pods_of_existing_cliques_are_counted() -> None:
    seen = set_in_state("joined", "ours", refused=False, before=False, known=True, on=True)
    none = seen.root.spec.model_copy(update={"replicas": 0})
    (held,) = desired_mnnvl_changes(replace(seen, root=replace(seen.root, spec=none)), judge_mnnvl(seen)).withheld
    assert isinstance(held, Withheld)
    assert dict(held.because[0].facts)["pods"] == sum(map(len, seen.pods_of.values())) == 2


@pytest.mark.req("GT-026")
def test_mn051_pods_of_a_clique_without_a_replica_label_hold_the_domain() -> None:
    """Its scaling group is gone; the name of the gang decides the replica, for an orphan and for an unlisted clique."""
    seen = set_in_state("joined", "ours", refused=False, before=False, known=True, on=True)
    none = seen.root.spec.model_copy(update={"replicas": 0})
    unsure = tuple(replace(clique, replica_index=-1) for clique in seen.cliques)
    look = replace(seen, root=replace(seen.root, spec=none))
    for cliques, orphans in ((unsure, ()), ((), unsure), ((), seen.cliques)):
        (held,) = desired_mnnvl_changes(replace(look, cliques=cliques, orphans=orphans), judge_mnnvl(look)).withheld
        assert isinstance(held, Withheld)
        assert dict(held.because[0].facts)["pods"] == sum(map(len, seen.pods_of.values())) == 2
