"""Which ComputeDomains the Go operator creates, keeps and deletes (NF-001 to NF-040)."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core.in_memory.forecasts import forecast_until_settled
from grove_core.in_memory.in_memory_cluster import InMemoryCluster
from grove_core.kernel.frozen import FrozenMap, list_at, object_under_key, thaw_json
from grove_core.kernel.steps import Apply, Attempt, AttemptOutcome, Create, Delete, DropFinalizer, StepStage
from grove_core.kernel.structs import replace
from grove_core.kernel.wants import StepObstacle
from grove_core.object_explanation import ObjectExplanation
from grove_core.object_lookup import snapshot_has_object
from grove_core.reconcile import reconcile
from grove_core.resources.merge_patch import apply_merge_patch
from grove_core.resources.podcliqueset import PlannedSetChange
from grove_core.rule_sets.rule_set_by_name import rule_sets
from grove_core.snapshot.expected_replicas import MOST
from grove_core.snapshot.snapshot import EVERY_KIND
from tests.property.mnnvl_field.group_sets import (
    FIELD,
    FINALIZER,
    GROUP,
    NOT_GIVEN,
    clique,
    domain,
    manifests_until_rest,
    names,
    planned,
    refused,
    set_of,
    verdicts,
    with_domains,
)
from tests.property.workload.sets import NOW

GROUPS = st.sampled_from([None, "none", "a", "b"])


def scaling_group(*members: str, group: str | None = None) -> dict[str, Any]:
    found: dict[str, Any] = {"name": "pool", "cliqueNames": list(members), "replicas": 2, "minAvailable": 1}
    return found if group is None else {**found, "annotations": {GROUP: group}}


class TestNF002:
    """A set MUST have a ComputeDomain for each of its replicas and each group that a clique with GPUs is in."""

    @given(st.lists(st.tuples(GROUPS, st.booleans()), min_size=1, max_size=4), GROUPS, st.integers(0, 3))
    def test_nf002_for_each_replica_and_group(
        self, cliques: list[tuple[str | None, bool]], of_set: str | None, replicas: int
    ) -> None:
        """A group is the clique's, else the set's; cliques without GPUs count for nothing."""
        templates = [clique(f"c{index}", group, gpus=gpus) for index, (group, gpus) in enumerate(cliques)]
        plan = planned(set_of(*templates, group=of_set, replicas=replicas))
        groups = {group if group is not None else of_set for group, gpus in cliques if gpus} - {None, "none"}
        assert names(plan, Create) == {f"llm-{index}-{group}" for index in range(replicas) for group in groups}
        assert verdicts(plan)["llm"] == ("Wanted" if groups else "NotWanted")

    def test_nf002_under_every_release(self) -> None:
        snapshot = set_of(clique("a", "x"))
        found = {name: names(reconcile(snapshot, rules), Create) for name, rules in rule_sets().items()}
        assert {name for name, made in found.items() if made == {"llm-0-x"}} == rule_sets().keys() - {"design"}
        assert found["design"] == {"llm-cd-0"}


@pytest.mark.parametrize(
    ("of_clique", "of_group", "of_set", "found"),
    [
        (None, None, None, None),
        (None, None, "set", "set"),
        (None, "pool", "set", "pool"),
        ("own", "pool", "set", "own"),
        ("none", "pool", "set", None),
        (None, "none", "set", None),
        ("own", "none", "none", "own"),
    ],
)
def test_nf003_the_innermost_annotation_decides(
    of_clique: str | None, of_group: str | None, of_set: str | None, found: str | None
) -> None:
    snapshot = set_of(clique("a", of_clique), group=of_set, scaling_groups=[scaling_group("a", group=of_group)])
    assert names(planned(snapshot), Create) == (set() if found is None else {f"llm-0-{found}"})


class TestNF004:
    """Where no configuration says whether MNNVL is on, it MUST count as on under the rule set `field`, and the reason
    of each new domain says so.
    """

    def test_nf004_domains_are_created_and_the_reason_says_so(self) -> None:
        plan = planned(replace(set_of(clique("a", "x")), configuration=NOT_GIVEN))
        (step,) = (one for one in plan.steps if one.target.kind == "ComputeDomain")
        assert [one.rule.requirement for one in step.because] == ["NF-010", "NF-004"]
        (wanted,) = (one for one in plan.findings if one.question == "computeDomain" and one.verdict == "Wanted")
        assert [one.rule.requirement for one in wanted.because] == ["NF-002", "NF-004"]

    def test_nf004_a_set_without_groups_says_nothing(self) -> None:
        assert not verdicts(planned(replace(set_of(clique("a")), configuration=NOT_GIVEN)))

    def test_nf004_surplus_domains_are_deleted(self) -> None:
        snapshot = replace(set_of(clique("a", "x")), configuration=NOT_GIVEN)
        assert names(planned(with_domains(snapshot, domain(snapshot, "llm-7-x"))), Delete) == {"llm-7-x"}
        unused = replace(set_of(clique("a")), configuration=NOT_GIVEN)
        plan = planned(with_domains(unused, domain(unused, "llm-7-x")))
        assert verdicts(plan) == {"llm": "NotWanted", "llm-7-x": "LeftBehind"}


def test_nf005_a_domain_as_the_operator_writes_it() -> None:
    snapshot = set_of(clique("a", "train"), replicas=2)
    (step,) = (one for one in planned(snapshot).steps if one.target.name == "llm-1-train")
    assert isinstance(step.action, Create)
    assert thaw_json(step.action.manifest) == {
        "apiVersion": "resource.nvidia.com/v1beta1",
        "kind": "ComputeDomain",
        "metadata": {
            "name": "llm-1-train",
            "namespace": "ml",
            "labels": {
                "app.kubernetes.io/component": "pcs-computedomain",
                "app.kubernetes.io/managed-by": "grove-operator",
                "app.kubernetes.io/name": "llm-1-train",
                "app.kubernetes.io/part-of": "llm",
                "grove.io/mnnvl-group": "train",
                "grove.io/podcliqueset-replica-index": "1",
            },
            "ownerReferences": [
                {
                    "apiVersion": "grove.io/v1alpha1",
                    "kind": "PodCliqueSet",
                    "name": "llm",
                    "uid": snapshot.root.uid,
                    "controller": True,
                    "blockOwnerDeletion": True,
                }
            ],
            "finalizers": [FINALIZER],
        },
        "spec": {"numNodes": 0, "channel": {"resourceClaimTemplate": {"name": "llm-1-train"}}},
    }


def test_nf010_domains_come_before_the_parts_in_one_round() -> None:
    plan = planned(set_of(clique("a", "x"), clique("b")))
    stages = {one.target.kind: one.stage for one in plan.steps if one.target.kind in {"ComputeDomain", "PodClique"}}
    assert stages == {"ComputeDomain": StepStage.FOUNDATION, "PodClique": StepStage.WORKLOAD}
    assert names(plan, Create, "PodClique") == {"llm-0-a", "llm-0-b"}


@pytest.mark.req("WF-115")
@pytest.mark.parametrize(
    ("own", "of_pool", "of_set", "claimed"),
    [("x", None, None, "llm-1-x"), (None, "y", "z", "llm-1-y"), (None, None, "z", "llm-1-z"), ("none", "y", "z", None)],
)
def test_nf003_new_podcliques_claim_the_domain_of_their_group(
    own: str | None, of_pool: str | None, of_set: str | None, claimed: str | None
) -> None:
    pools = [scaling_group("a", group=of_pool)] if of_pool else []
    snapshot = set_of(clique("a", own), group=of_set, replicas=2, scaling_groups=pools)
    found = {
        one["metadata"]["name"]: one["spec"] for one in manifests_until_rest(snapshot) if one["kind"] == "PodClique"
    }
    pod_spec = found["llm-1-pool-1-a" if of_pool else "llm-1-a"]["podSpec"]
    claims = [{"name": "mnnvl-claim", "resourceClaimTemplateName": claimed}] if claimed else None
    assert pod_spec.get("resourceClaims") == claims
    assert pod_spec["containers"][0]["resources"].get("claims") == ([{"name": "mnnvl-claim"}] if claimed else None)


@pytest.mark.req("WF-115")
def test_nf003_an_update_keeps_the_claim() -> None:
    """The image changes; the update of the PodClique leaves its claim as it is."""
    start = set_of(clique("a", "x"))
    cluster = InMemoryCluster((start,))
    forecast_until_settled(cluster, start, FIELD, limit=None, until=None)
    seen = cluster.snapshot_of_set(start.root.ref, NOW, ())
    assert seen is not None
    new = clique("a", "x")
    new["spec"]["podSpec"]["containers"][0]["image"] = "new"
    spec = set_of(new).root.spec
    edited = replace(seen.root, spec=spec, generation=2, edit=PlannedSetChange.OF_MORE)
    plan = planned(replace(seen, root=edited))
    (change,) = (
        one.action.fields for one in plan.steps if isinstance(one.action, Apply) and one.target.kind == "PodClique"
    )
    after = apply_merge_patch(seen.cliques[0].pod_spec, object_under_key(object_under_key(change, "spec"), "podSpec"))
    (container,) = list_at(after, "containers")
    assert isinstance(container, FrozenMap)
    assert container["image"] == "new"
    assert thaw_json(object_under_key(container, "resources"))["claims"] == [{"name": "mnnvl-claim"}]
    assert after["resourceClaims"] == seen.cliques[0].pod_spec["resourceClaims"]


@pytest.mark.req("WF-120")
@pytest.mark.parametrize(("own", "of_set", "shown"), [(None, "x", "x"), ("none", "x", "none"), (None, None, None)])
def test_nf003_a_scaling_group_shows_the_group_of_its_set(
    own: str | None, of_set: str | None, shown: str | None
) -> None:
    snapshot = set_of(clique("a"), group=of_set, scaling_groups=[scaling_group("a", group=own)])
    (found,) = (one for one in manifests_until_rest(snapshot) if one["kind"] == "PodCliqueScalingGroup")
    assert found["metadata"].get("annotations", {}).get(GROUP) == shown


@pytest.mark.req("NF-012")
@pytest.mark.req("NF-013")
@pytest.mark.parametrize("why", ["refused", "taken", "too long"])
def test_nf011_one_domain_that_fails_blocks_every_replica(why: str) -> None:
    group = "x" * 60 if why == "too long" else "x"
    snapshot = set_of(clique("a", group), clique("b"), replicas=2, scaling_groups=[scaling_group("b")])
    name = f"llm-1-{group}"
    if why == "refused":
        snapshot = refused(snapshot, name)
    elif why == "taken":
        other = {"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "other", "controller": True}
        snapshot = with_domains(snapshot, domain(snapshot, name, ownerReferences=[other]))
    plan = planned(snapshot)
    held = {one.target.name: one.because[0].rule.requirement for one in plan.withheld}
    assert not names(plan, Create, "PodClique") | names(plan, Create, "PodCliqueScalingGroup")
    assert {held[name] for name in ("llm-0-a", "llm-1-a", "llm-0-pool", "llm-1-pool", name)} == {"NF-011"}
    assert verdicts(plan)[name] == "Failed"
    assert names(plan, Create) == (set() if why == "too long" else {f"llm-0-{group}"})


@pytest.mark.parametrize("metadata", [{"labels": {}}, {"ownerReferences": []}])
def test_nf014_a_domain_without_marks_is_taken_over(metadata: dict[str, Any]) -> None:
    snapshot = set_of(clique("a", "x"))
    plan = planned(with_domains(snapshot, domain(snapshot, "llm-0-x", **metadata)))
    assert verdicts(plan)["llm-0-x"] == "TakenOver"
    assert names(plan, Create, "PodClique") == {"llm-0-a"}
    assert not names(plan, Create)


def test_nf016_not_collected_is_unknown() -> None:
    snapshot = replace(set_of(clique("a", "x")), complete=EVERY_KIND - {"ComputeDomain", "Secret"})
    plan = planned(snapshot)
    (held,) = (one for one in plan.withheld if one.target.name == "llm-0-x")
    assert (held.obstacle, verdicts(plan)["llm-0-x"]) == (StepObstacle.DOMAINS_NOT_COLLECTED, "Unknown")
    assert names(plan, Create, "PodClique") == {"llm-0-a"}
    there = with_domains(snapshot, domain(snapshot, "llm-0-x"))
    assert verdicts(planned(there))["llm-0-x"] == "Joined"


def test_nf020_an_existing_domain_stays() -> None:
    snapshot = set_of(clique("a", "x"))
    plan = planned(with_domains(snapshot, domain(snapshot, "llm-0-x", annotations={"edited": "yes"})))
    assert not [one for one in plan.steps if one.target.kind == "ComputeDomain"]
    assert verdicts(plan)["llm-0-x"] == "Joined"


def test_nf021_a_domain_that_is_being_deleted_is_not_made_again() -> None:
    snapshot = set_of(clique("a", "x"))
    going = domain(snapshot, "llm-0-x", deletionTimestamp="2026-11-20T08:00:00Z")
    plan = planned(with_domains(snapshot, going))
    assert not [one for one in plan.steps if one.target.kind == "ComputeDomain"]
    assert verdicts(plan)["llm-0-x"] == "Leaving"


class TestNF030:
    """With MNNVL on, if a set needs at least one domain, every domain of it that it does not need MUST be deleted,
    and the finalizer removed, even while pods use it.
    """

    def test_nf030_deleted_then_released(self) -> None:
        snapshot = set_of(clique("a", "x"))
        needed, surplus = domain(snapshot, "llm-0-x"), domain(snapshot, "llm-7-x")
        assert names(planned(with_domains(snapshot, needed, surplus)), Delete) == {"llm-7-x"}
        going = replace(surplus, deleting=True, deleted_at=NOW)
        assert names(planned(with_domains(snapshot, needed, going)), DropFinalizer) == {"llm-7-x"}
        released = with_domains(snapshot, needed, replace(going, finalizers=("resource.nvidia.com/computeDomain",)))
        assert not [one for one in planned(released).steps if one.target.kind == "ComputeDomain"]

    def test_nf030_domains_of_others_stay(self) -> None:
        """A domain with other labels, or of another controller, is none of the set."""
        snapshot = set_of(clique("a", "x"))
        others = (domain(snapshot, "llm-7-x", labels={}), domain(snapshot, "llm-8-x", ownerReferences=[]))
        plan = planned(with_domains(snapshot, domain(snapshot, "llm-0-x"), *others))
        assert not names(plan, Delete)


def test_nf031_domains_go_with_their_set() -> None:
    snapshot = set_of(clique("a", "x"))
    snapshot = replace(snapshot, root=replace(snapshot.root, deleting=True))
    held = with_domains(snapshot, domain(snapshot, "llm-0-x"))
    assert names(planned(held), DropFinalizer) == {"llm-0-x"}
    released = with_domains(snapshot, domain(snapshot, "llm-0-x", finalizers=[]))
    assert names(planned(released), Delete) == {"llm-0-x"}
    assert verdicts(planned(snapshot)) == {"llm": "Wanted"}


@pytest.mark.parametrize("snapshot", [set_of(clique("a", "x"), replicas=0), set_of(clique("a"))])
def test_nf032_without_a_needed_domain_none_is_deleted(snapshot: Any) -> None:
    plan = planned(with_domains(snapshot, domain(snapshot, "llm-0-x")))
    assert not [one for one in plan.steps if one.target.kind == "ComputeDomain"]
    assert verdicts(plan)["llm-0-x"] == "LeftBehind"
    assert [one.because[0].rule.requirement for one in plan.withheld if one.target.name == "llm-0-x"] == ["NF-032"]


@pytest.mark.req("NF-033")
@pytest.mark.parametrize("deleting", [False, True])
def test_nf001_off_changes_nothing(deleting: bool) -> None:
    snapshot = set_of(clique("a", "x"), on=False)
    snapshot = replace(snapshot, root=replace(snapshot.root, deleting=deleting))
    plan = planned(with_domains(snapshot, domain(snapshot, "llm-0-x"), domain(snapshot, "llm-7-x")))
    assert not [one for one in plan.steps if one.target.kind == "ComputeDomain"]
    left = {"llm-0-x", "llm-7-x"} if deleting else {"llm-7-x"}
    assert {name for name, verdict in verdicts(plan).items() if verdict == "LeftBehind"} == left
    assert verdicts(plan)["llm"] == "NotWanted"


def test_nf040_off_claims_without_a_domain_are_reported() -> None:
    snapshot = set_of(clique("a", "x"), replicas=2, on=False)
    plan = planned(with_domains(snapshot, domain(snapshot, "llm-0-x")))
    assert {name for name, verdict in verdicts(plan).items() if verdict == "Missed"} == {"llm-1-x"}
    assert names(plan, Create, "PodClique") == {"llm-0-a", "llm-1-a"}
    unknown = replace(snapshot, complete=EVERY_KIND - {"ComputeDomain"})
    assert verdicts(planned(unknown)) == {"llm": "NotWanted"}


def test_nf001_off_says_nothing_of_a_set_without_groups() -> None:
    assert not verdicts(planned(set_of(clique("a"), on=False)))


def test_nf002_a_set_that_is_too_large_is_not_judged() -> None:
    assert not verdicts(planned(set_of(clique("a", "x"), replicas=MOST + 1)))


@pytest.mark.req("NF-010")
def test_pl018_a_domain_that_was_created_is_not_created_again() -> None:
    snapshot = set_of(clique("a", "x"))
    done = [Attempt(one, AttemptOutcome.DONE) for one in planned(snapshot).steps if one.target.kind == "ComputeDomain"]
    assert not names(planned(replace(snapshot, attempts=tuple(done))), Create)


@pytest.mark.req("NF-002")
def test_cl015_a_domain_is_explained() -> None:
    snapshot = set_of(clique("a", "x"), replicas=2)
    snapshot = with_domains(snapshot, domain(snapshot, "llm-0-x"), domain(snapshot, "other"))
    plan = reconcile(snapshot, FIELD)
    for name, verdict in (("llm-0-x", "Joined"), ("llm-1-x", "Missing"), ("other", "Surplus")):
        assert snapshot_has_object(snapshot, "ComputeDomain", name)
        found = {
            one.subject.name: one.verdict for one in ObjectExplanation(snapshot, plan, "ComputeDomain", name).findings()
        }
        assert found == {"llm": "Wanted", name: verdict}
    assert not snapshot_has_object(snapshot, "ComputeDomain", "llm-2-x")
