"""Missing is not empty: with a partial view of a cluster nothing is deleted that the full view would keep."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from grove_core.areas.workload.rules import WorkloadReason
from grove_core.kernel.conditions import condition_of
from grove_core.kernel.frozen import FrozenDict, frozen_dict_of_tuples
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Apply, Delete, DropFinalizer, Step
from grove_core.kernel.structs import replace
from grove_core.plan.plan_laws import broken_laws_in_plan
from grove_core.reconcile import reconcile
from grove_core.resources.api_names import DOMAIN_KIND, GROUP_KIND, TOPOLOGY_IN_SYNC, TOPOLOGY_KIND
from grove_core.resources.configuration import DEFAULT_CONFIGURATION, Configuration
from grove_core.snapshot.cluster_index import index_cluster, index_with_compute_domains
from grove_core.snapshot.snapshot import EVERY_KIND, Snapshot
from grove_shell.cache.cluster_cache import ClusterCache
from tests.kubectl_yaml import items_in
from tests.property.few_examples import RARELY
from tests.property.mnnvl.gpus import GPUS
from tests.property.mnnvl.gpus import ON as BY_REPLICA
from tests.property.mnnvl_scopes.sharing_sets import SCOPED as BY_ANNOTATION
from tests.property.mnnvl_scopes.sharing_sets import annotated_sets
from tests.property.topology.sets_with_constraints import ON as BY_TOPOLOGY
from tests.property.topology.sets_with_constraints import topology
from tests.property.workload.life import Life
from tests.property.workload.sets import Json, applied, clique_raw, set_raw

INFERRED: Final = frozenset({"Pod", "PodClique", GROUP_KIND})  # of these a file speaks where it leaves them out
KINDS: Final = sorted(EVERY_KIND | {TOPOLOGY_KIND})
CONFIGURATIONS: Final = {
    "plain": DEFAULT_CONFIGURATION,
    "a domain for each replica": BY_REPLICA,
    "domains by annotation": BY_ANNOTATION,
    "topologies": BY_TOPOLOGY,
}
CHANGES: Final = ("scale", "one fewer", "image", "topology", "end", "none")
GROUPED: Final = set_raw(clique_raw("a"), groups=({"name": "pool", "cliqueNames": ["a"], "replicas": 1},))
HERE: Final = Path(__file__).parent.parent / "golden" / "workload"
DUMPS: Final = sorted(path.parent for path in HERE.glob("wl2*/given.yaml"))
READ: Final = INFERRED | {"PodGang"}  # kinds whose status is read
FOLLOWED: Final = EVERY_KIND | {"PodCliqueSet", DOMAIN_KIND, TOPOLOGY_KIND}  # kinds that the operator's copy is of


class Gap:
    """What a source leaves out.

    Args:
        kinds: of which it has not everything.
        which: of each kind the objects that are missing, one of so many; 0 for all of them.
        speaks: whether the source knows that they are missing; of the kinds of a set that are judged it always does.
    """

    def __init__(self, kinds: Iterable[str], which: int, *, speaks: bool) -> None:
        self.kinds = frozenset(kinds)
        self.which = which
        self.speaks = speaks

    def __repr__(self) -> str:
        return f"Gap({sorted(self.kinds)}, {self.which}, speaks={self.speaks})"

    def seen(self, full: Snapshot) -> Snapshot:
        """The same moment with what the gap leaves of it; what stands below a missing object is missing too."""
        every = (*full.groups, *full.cliques, *full.gangs, *full.others)
        kept = {item.uid for kind in KINDS for item in self._left([one for one in every if one.ref.kind == kind], kind)}
        cluster = index_cluster(
            sets=(full.root,),
            groups=(group for group in full.groups if group.uid in kept),
            cliques=(clique for clique in full.cliques if clique.uid in kept),
            gangs=(gang for gang in full.gangs if gang.uid in kept),
            others=(other for other in full.others if other.uid in kept),
        )
        domains = self._left(list(full.named_domains.values()), DOMAIN_KIND)
        claims = self._left(list(full.named_claims.values()), "ResourceClaim")
        pods = {uid: list(self._left(list(pods), "Pod")) for uid, pods in full.pods_of.items()}
        known = self._left(list(full.topologies.values()), TOPOLOGY_KIND)
        return replace(
            index_with_compute_domains(cluster, domains, claims).snapshot_of(full.root, full.now, full.attempts),
            pods_of=frozen_dict_of_tuples({uid: found for uid, found in pods.items() if found}),
            complete=full.complete - self.kinds,
            not_collected=self.kinds if self.speaks else self.kinds & INFERRED,
            claim_templates=full.claim_templates,
            configuration=full.configuration,
            served=full.served,
            topologies=FrozenDict({one.ref.name: one for one in known}),
        )

    def _left(self, items: list[Any], kind: str) -> Iterator[Any]:
        for place, item in enumerate(items):
            if kind not in self.kinds or (self.which and place != self.which % len(items)):
                yield item


@st.composite
def gaps(draw: st.DrawFn) -> Gap:
    kinds = draw(
        st.one_of(st.sampled_from(KINDS).map(lambda kind: {kind}), st.sets(st.sampled_from(KINDS), min_size=1))
    )
    which = draw(st.integers(0, 4))
    return Gap(kinds, which, speaks=bool(which) or draw(st.booleans()))


@st.composite
def raw_sets_of_all_areas(draw: st.DrawFn) -> Json:
    """Any sound set, that shares claims and domains, asks for GPUs and topologies."""
    raw = draw(annotated_sets())
    template = raw["spec"]["template"]
    if draw(st.booleans()):
        template["topologyConstraint"] = {"packDomain": "rack"}
    for clique in template["cliques"]:
        if draw(st.booleans()):
            clique["spec"]["podSpec"] = {"containers": [{"name": "main", "resources": GPUS}]}
    return raw


def living(raw: Json, configuration: Configuration) -> Life:
    """A set at rest, all of whose pods run."""
    life = Life(raw)
    life.world.configuration = configuration
    life.world.complete = EVERY_KIND | {TOPOLOGY_KIND}
    life.world.put_object(topology("grove-topology"))
    life.settle()
    return life


def looked_at(life: Life) -> Snapshot:
    seen = life.look()
    assert seen is not None
    return replace(seen, attempts=())


def harm_in(blind: Snapshot, full: Snapshot) -> list[Step]:
    """Steps on present objects that a partial view has, and the full view does not."""
    plan = reconcile(blind)
    assert not broken_laws_in_plan(plan, blind)
    allowed = set(map(_doing, reconcile(full).steps))
    return [
        step
        for step in plan.steps
        if isinstance(step.action, Delete | DropFinalizer | Apply) and _doing(step) not in allowed
    ]


def _doing(step: Step) -> tuple[Ref, object]:
    """What a step does: a deletion may give another reason and tell of fewer victims, but fields are the same."""
    return step.target, step.action if isinstance(step.action, Apply) else type(step.action)


def changed(life: Life, how: str, draw: st.DataObject | None) -> None:
    """A user edits the set."""
    groups = sorted(item.ref.name for item in life.world.items.values() if item.ref.kind == GROUP_KIND)
    match how:
        case "scale" if groups and draw is not None:
            life.scale(draw.draw(st.sampled_from(groups), "group"), draw.draw(st.integers(1, 4), "replicas"))
        case "one fewer" if life.root.spec.replicas:
            life.edit(replicas=life.root.spec.replicas - 1)
        case "image":
            life.new_image("v2")
        case "topology":
            life.world.put_object(topology("grove-topology", ("zone", "z"), ("rack", "another"), ("host", "h")))
        case "end":
            life.world.delete_object(life.ref)
        case _:
            pass


@given(st.data(), raw_sets_of_all_areas(), st.sampled_from(sorted(CONFIGURATIONS)))
@RARELY
def test_wl028_a_partial_input_deletes_nothing(data: st.DataObject, raw: Json, configuration: str) -> None:
    """At rest and at any other moment, of every kind in turn, and of some together."""
    life = living(raw, CONFIGURATIONS[configuration])
    for how in data.draw(st.lists(st.sampled_from(CHANGES), max_size=2), "changes"):
        changed(life, how, data)
        for _ in range(data.draw(st.integers(0, 8), "rounds")):
            life.round()
            life.kubelet()
            if life.look() is None:
                return
    full = looked_at(life)
    single = [
        Gap({kind}, which, speaks=speaks) for kind in KINDS for which, speaks in ((0, False), (0, True), (1, True))
    ]
    for gap in (*single, *data.draw(st.lists(gaps(), max_size=10))):
        assert not harm_in(gap.seen(full), full), gap


@pytest.mark.parametrize("case", DUMPS, ids=lambda case: case.name)
def test_wl028_one_object_that_does_not_read_takes_nothing_away(case: Path) -> None:
    """As the operator's copy sees it: each object of what kubectl printed in turn, with an unreadable status."""
    items = [item for item in items_in(case / "given.yaml") if item["kind"] in FOLLOWED]
    now = datetime.fromisoformat(yaml.load((case / "case.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader)["now"])
    (root,) = (item["metadata"] for item in items if item["kind"] == "PodCliqueSet")
    home = (root["namespace"], root["name"])
    full = cached(items).snapshot_of_set(home, now)
    assert full is not None
    for place, item in enumerate(items):
        if item["kind"] in READ:
            cache = cached([*items[:place], {**item, "status": {"conditions": "none"}}, *items[place + 1 :]])
            blind = cache.snapshot_of_set(home, now)
            assert blind is not None
            assert cache.unreadable_objects_of_sets()
            assert not harm_in(blind, full), item["metadata"]["name"]


@pytest.mark.parametrize("case", DUMPS, ids=lambda case: case.name)
@pytest.mark.req("WL-028")
def test_in053_an_odd_condition_of_others_changes_nothing(case: Path) -> None:
    """On every object at once: the plan is the one without it."""
    items = [item for item in items_in(case / "given.yaml") if item["kind"] in FOLLOWED]
    now = datetime.fromisoformat(yaml.load((case / "case.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader)["now"])
    (root,) = (item["metadata"] for item in items if item["kind"] == "PodCliqueSet")
    plans = []
    for odd in ([], [{"type": "example.com/gate", "status": "True", "observedGeneration": "seven"}]):
        status = [{**item.get("status", {})} for item in items]
        reported = [{**one, "conditions": [*odd, *one.get("conditions", [])]} for one in status]
        read = READ | {"PodCliqueSet"}
        seen = cached(
            {**item, "status": one} if item["kind"] in read else item for item, one in zip(items, reported, strict=True)
        )
        assert not list(seen.unreadable_objects_of_sets())
        moment = seen.snapshot_of_set((root["namespace"], root["name"]), now)
        assert moment is not None
        plans.append(reconcile(moment).steps)
    assert plans[0] == plans[1]


def cached(items: Iterable[Json]) -> ClusterCache:
    cache = ClusterCache()
    for item in items:
        cache.put(item["kind"], item)
    return cache


def test_wl028_claims_stay_while_the_pods_that_use_them_are_not_known() -> None:
    templates: list[Json] = [{"name": name, "templateSpec": {"spec": {"devices": {}}}} for name in ("x", "y")]
    sharing = [{"name": "x", "scope": "AllReplicas"}, {"name": "y", "scope": "PerReplica"}]
    raw = set_raw(clique_raw("a", 2, resourceSharing=sharing), resourceClaimTemplates=templates)
    full = looked_at(living(raw, DEFAULT_CONFIGURATION))
    for gap in (Gap({"Pod"}, 0, speaks=True), Gap({"Pod"}, 1, speaks=True)):
        assert not reconcile(gap.seen(full)).steps


def test_wl028_gangs_stay_as_they_are_while_scaling_groups_are_not_known() -> None:
    """Neither is one of a replica beyond the template's deleted, nor one of pods that run emptied."""
    life = living(GROUPED, DEFAULT_CONFIGURATION)
    life.scale("llm-0-pool", 3)
    life.settle()
    full = looked_at(life)
    assert not reconcile(full).steps
    for gap in (Gap({GROUP_KIND}, 0, speaks=True), Gap({GROUP_KIND}, 1, speaks=True)):
        assert not reconcile(gap.seen(full)).steps


def test_wl028_the_one_more_of_an_update_stays_while_pods_are_not_known() -> None:
    life = living(GROUPED, DEFAULT_CONFIGURATION)
    life.new_image("v2")
    looks = []
    for _ in range(40):
        life.round()
        life.kubelet()
        full = looked_at(life)
        looks += [full] if any(clique.group_replica_index == 1 for clique in full.cliques) else []
        assert not harm_in(Gap({"Pod"}, 0, speaks=True).seen(full), full)
    assert looks


def test_wl028_a_gang_keeps_first_pods_while_another_gang_is_not_known() -> None:
    """Which pods are not made yet and referred to all the same is known where gangs are."""
    group = {"name": "pool", "cliqueNames": ["a"], "replicas": 2}
    life = Life(set_raw(clique_raw("a"), groups=(group,)))
    for _ in range(12):
        life.round()
        full = looked_at(life)
        for gap in (Gap({"PodGang"}, which, speaks=True) for which in (1, 2, 3)):
            assert not harm_in(gap.seen(full), full)


@pytest.mark.parametrize("scope", ["", "replica"])
@pytest.mark.req("MS-055")
def test_mn054_domains_stay_while_pods_that_outlive_their_cliques_are_not_known(scope: str) -> None:
    meta = {"annotations": {"grove.io/mnnvl-enabled": "true", **({"grove.io/mnnvl-scope": scope} if scope else {})}}
    pod_spec = {"containers": [{"name": "main", "resources": GPUS}]}
    raw = set_raw(clique_raw("a", pod_spec=pod_spec), replicas=2, meta=meta)
    life = living(raw, BY_ANNOTATION if scope else BY_REPLICA)
    life.edit(replicas=1)
    seen = looked_at(life)
    shared = tuple(replace(one, owner_uid=seen.root.uid, owner_kind="PodCliqueSet") for one in seen.domains)
    cliques = tuple(clique for clique in seen.cliques if clique.replica_index == 0)
    full = replace(seen, domains=shared, cliques=cliques)
    blind = Gap({"Pod"}, 0, speaks=True).seen(full)
    blind = replace(blind, domains=shared)
    assert not harm_in(blind, full)
    known = replace(
        full, pods_of=frozen_dict_of_tuples({uid: pods for uid, pods in full.pods_of.items() if uid == cliques[0].uid})
    )
    gone = {step.target for step in reconcile(known).steps if isinstance(step.action, Delete)}
    assert len(gone & {domain.ref for domain in shared}) == 1


@pytest.mark.parametrize("kind", ["Pod", "PodClique", "PodGang"])
def test_tp031_the_condition_stays_while_it_cannot_be_judged(kind: str) -> None:
    raw = set_raw(clique_raw("a"), topologyConstraint={"packDomain": "rack"})
    life = living(raw, BY_TOPOLOGY)
    changed(life, "topology", None)
    life.settle()
    full = looked_at(life)
    assert condition_of(full.root.status.conditions, TOPOLOGY_IN_SYNC) is not None
    assert not reconcile(Gap({kind}, 1, speaks=True).seen(full)).steps


def test_wl010_a_gang_that_may_exist_is_not_said_to_be_missing() -> None:
    """A foreign PodClique keeps a gang from being made; where gangs were not collected none is known."""
    start = applied(set_raw(clique_raw("a"), clique_raw("b")))
    held = replace(start, foreign_owners=FrozenDict({("PodClique", "ml", "llm-0-a"): "of nobody"}))
    assert "PodGang" in {one.target.kind for one in reconcile(held).withheld}
    blind = replace(held, complete=held.complete - {"PodGang"}, not_collected=frozenset({"PodGang"}))
    assert "PodGang" not in {one.target.kind for one in reconcile(blind).withheld}


@pytest.mark.parametrize("kind", sorted(INFERRED))
def test_wl232_a_set_is_not_let_go_of_while_parts_of_it_are_not_known(kind: str) -> None:
    life = living(GROUPED, DEFAULT_CONFIGURATION)
    life.world.delete_object(life.ref)
    nothing = replace(looked_at(life), groups=(), cliques=(), pods_of=FrozenDict())
    assert [type(step.action) for step in reconcile(nothing).steps] == [DropFinalizer]
    plan = reconcile(replace(nothing, not_collected=frozenset({kind}), complete=nothing.complete - {kind}))
    assert not plan.steps
    assert WorkloadReason.PARTS_NOT_COLLECTED in {why.rule for held in plan.withheld for why in held.because}
