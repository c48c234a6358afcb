"""With an incomplete input no more domains and claims are created, handed over and deleted than with a complete one."""

from collections.abc import Iterable
from itertools import combinations
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core.kernel.frozen import frozen_dict_of_tuples
from grove_core.kernel.steps import Apply, Create, Delete
from grove_core.kernel.structs import replace
from grove_core.plan.plan_laws import broken_laws_in_plan
from grove_core.reconcile import reconcile
from grove_core.resources.api_names import CLAIM_KIND, DOMAIN_KIND, GROUP_KIND, MNNVL_ENABLED
from grove_core.resources.configuration import DEFAULT_CONFIGURATION, Configuration
from grove_core.resources.domain_sharing_labels import is_shared_by_annotation
from grove_core.snapshot.cluster_index import index_cluster, index_with_compute_domains
from grove_core.snapshot.snapshot import Snapshot
from tests.property.few_examples import RARELY
from tests.property.mnnvl.gpus import GPUS, ON
from tests.property.mnnvl_scopes.sharing_sets import SCOPED, annotated_sets
from tests.property.workload.life import Life

Json = dict[str, Any]
KINDS: Final = ("Pod", "PodClique", GROUP_KIND, "PodGang", DOMAIN_KIND, CLAIM_KIND)
GAPS: Final = tuple(frozenset(kinds) for count in (1, 2) for kinds in combinations(KINDS, count))
CHANGES: Final = ("PodGang", "PodClique", DOMAIN_KIND, CLAIM_KIND, "switch", "group", "more", "fewer", "fewer")
"""What happens before a round: all objects of a kind are deleted, or the set is changed."""
MODES: Final = {"a domain for each replica": ON, "domains by annotation": SCOPED}


def without(full: Snapshot, kinds: Iterable[str]) -> Snapshot:
    """The snapshot of a client that may not list these kinds; objects below them are missing too."""
    gap = frozenset(kinds)
    others = [item for item in full.others if item.ref.kind not in gap]
    cluster = index_cluster(
        sets=(full.root,),
        groups=() if GROUP_KIND in gap else full.groups,
        cliques=() if "PodClique" in gap else full.cliques,
        gangs=() if "PodGang" in gap else full.gangs,
        others=others,
    )
    domains = () if DOMAIN_KIND in gap else full.named_domains.values()
    claims = () if CLAIM_KIND in gap else full.named_claims.values()
    return replace(
        index_with_compute_domains(cluster, domains, claims).snapshot_of(full.root, full.now, full.attempts),
        pods_of=frozen_dict_of_tuples({} if "Pod" in gap else full.pods_of),
        complete=full.complete - gap,
        not_collected=gap,
        claim_templates=full.claim_templates,
        configuration=full.configuration,
        served=full.served,
    )


def touched(snapshot: Snapshot) -> set[tuple[str, str, str]]:
    """The writes of a plan to domains and their claims: verb, kind and name."""
    plan = reconcile(snapshot)
    assert not broken_laws_in_plan(plan, snapshot)
    claims = {item.ref for item in snapshot.named_claims.values() if is_shared_by_annotation(item.labels)}
    return {
        (type(step.action).__name__, step.target.kind, step.target.name)
        for step in plan.steps
        if isinstance(step.action, Create | Apply | Delete)
        and (step.target.kind == DOMAIN_KIND or step.target in claims)
    }


@st.composite
def asking_sets(draw: st.DrawFn) -> Json:
    """Sets that want domains, in either mode."""
    raw = draw(annotated_sets())
    raw["spec"]["replicas"] = draw(st.integers(1, 3))
    raw["metadata"]["annotations"].pop(MNNVL_ENABLED, None)
    for place, clique in enumerate(raw["spec"]["template"]["cliques"]):
        if not place or draw(st.booleans()):
            clique["spec"]["podSpec"] = {"containers": [{"name": "main", "resources": GPUS}]}
    return raw


def changed(life: Life, how: str, configuration: Configuration) -> None:
    """A user edits the set, or an object is lost."""
    if how == "fewer":
        life.edit(replicas=max(life.root.spec.replicas - 1, 0))
    elif how == "more":
        life.edit(replicas=life.root.spec.replicas + 1)
    elif how == "group":
        for item in [item for item in life.world.items.values() if item.ref.kind == GROUP_KIND]:
            life.scale(item.ref.name, 1)
    elif how == "switch":
        life.world.configuration = (
            configuration if life.world.configuration is DEFAULT_CONFIGURATION else DEFAULT_CONFIGURATION
        )
    else:
        for ref in [ref for ref in life.world.items if ref.kind == how]:
            life.world.delete_object(ref)


@RARELY
@given(st.data(), asking_sets(), st.sampled_from(sorted(MODES)), st.booleans())
@pytest.mark.req("MN-017")
@pytest.mark.req("MN-054")
@pytest.mark.req("MS-055")
@pytest.mark.req("MS-056")
def test_mn016_an_incomplete_input_leads_to_no_more_writes(
    data: st.DataObject, raw: Json, mode: str, lingering: bool
) -> None:
    """At any time in the life of a set, without each kind and without each two of them."""
    life = Life(raw, lingering=lingering)
    is_on = data.draw(st.booleans(), "on at first")
    life.world.configuration = MODES[mode] if is_on else DEFAULT_CONFIGURATION
    life.settle()
    changes = data.draw(st.lists(st.sampled_from(CHANGES), min_size=1, max_size=3), "then")
    for how in (*([] if is_on else ["switch"]), *changes):
        changed(life, how, MODES[mode])
        for _ in range(data.draw(st.integers(0, 2), "rounds")):
            life.round()
        full = life.look()
        assert full is not None
        known = touched(full)
        for gap in GAPS:
            assert touched(without(full, gap)) <= known, sorted(gap)
