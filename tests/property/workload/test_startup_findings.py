"""Why scheduled pods do not start: the chain of parents, and cycles by name."""

from grove_core.areas.workload.rules import WorkloadReason
from grove_core.areas.workload.startup_order import startup_wait_findings
from grove_core.kernel.frozen import frozen_dict_of_tuples
from grove_core.kernel.questions import START_ORDER
from grove_core.kernel.reasons import Reason
from grove_core.kernel.structs import replace
from grove_core.reconcile import reconcile
from grove_core.resources.pod import pod_from_json
from grove_core.resources.podclique import PodClique, podclique_from_json
from grove_core.resources.podcliqueset import podcliqueset_from_json
from grove_core.snapshot.snapshot import Snapshot
from tests.property.workload.life import Life
from tests.property.workload.sets import NOW, Json, clique_raw, set_raw


def waits(parents: dict[str, tuple[str, ...]], ready: str = "") -> dict[str, tuple[Reason, ...]]:
    """Of a set with these parents in its stored cliques, all placed: the waiting cliques, and what they wait for."""
    life = Life(set_raw(*(clique_raw(name) for name in parents)))
    life.settle()
    for item in list(life.world.items.values()):
        if isinstance(item, PodClique):
            names = tuple(f"llm-0-{name}" for name in parents[item.ref.name.removeprefix("llm-0-")])
            life.world.put_object(replace(item, starts_after=names))
    for pod in life.all_pods():
        life.world.put_pod(replace(pod, ready=pod.name.removeprefix("llm-0-")[0] in ready))
    seen = life.look()
    assert seen is not None
    findings = (finding for finding in reconcile(seen).findings if finding.question == START_ORDER)
    return {finding.subject.name.removeprefix("llm-0-"): finding.because for finding in findings}


def test_wl098_the_chain_leads_to_the_clique_that_keeps_all_of_them() -> None:
    found = waits({"a": (), "b": ("a",), "c": ("b",)})
    assert [why.rule for why in found["c"]] == [WorkloadReason.PARENT_NOT_READY, WorkloadReason.PARENT_NOT_READY]
    assert [why.subject.name for why in found["c"]] == ["llm-0-c", "llm-0-b"]
    assert set(found) == {"b", "c"}


def test_wl098_a_clique_that_has_its_parents_waits_for_nothing() -> None:
    assert set(waits({"a": (), "b": ("a",), "c": ("b",)}, ready="a")) == {"c"}
    assert waits({"a": (), "b": ("a",)}, ready="ab") == {}
    assert waits({"a": (), "b": ()}) == {}


def test_wl098_a_parent_of_many_is_reported_of_once_for_each_and_followed_once() -> None:
    """A ladder of forty rungs has 2**40 ways down it."""
    rungs = {
        f"r{number:02}": tuple(f"r{below:02}" for below in (number - 1, number - 2) if below >= 0)
        for number in range(40)
    }
    found = waits(rungs)
    assert len(found["r39"]) < 100


def test_wl089_a_circle_is_named() -> None:
    found = waits({"a": ("b",), "b": ("c",), "c": ("a",)})
    (circle,) = (why for why in found["a"] if why.rule is WorkloadReason.WAITS_IN_A_CIRCLE)
    assert dict(circle.facts)["circle"] == "llm-0-a -> llm-0-b -> llm-0-c -> llm-0-a"
    assert [why.rule for why in waits({"a": ("a",)})["a"]] == [WorkloadReason.WAITS_IN_A_CIRCLE]


def test_wl099_a_parent_that_does_not_exist_is_named() -> None:
    assert [why.rule for why in waits({"a": ("ghost",)})["a"]] == [WorkloadReason.PARENT_IS_MISSING]


def test_wl098_a_chain_may_be_longer_than_the_stack_of_calls() -> None:
    cliques = [podclique_from_json(a_clique(number)) for number in range(1200)]
    pod = replace(pod_from_json({"metadata": {"name": "p", "namespace": "ml", "uid": "p"}}, {}), scheduled=True)
    root = podcliqueset_from_json({"kind": "PodCliqueSet", **set_raw(clique_raw("a"))})
    seen = Snapshot(
        root=root, cliques=tuple(cliques), pods_of=frozen_dict_of_tuples({cliques[-1].uid: (pod,)}), now=NOW
    )
    (finding,) = startup_wait_findings(seen)
    assert len(finding.because) == len(cliques) - 1


def a_clique(number: int) -> Json:
    """One that starts after the one before it."""
    meta: Json = {"name": f"c{number}", "namespace": "ml", "uid": f"c{number}", "resourceVersion": "1"}
    meta["labels"] = {"grove.io/podcliqueset-replica-index": "0"}
    return {"metadata": meta, "spec": {"replicas": 1, "startsAfter": [f"c{number - 1}"] if number else []}}
