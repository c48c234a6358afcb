"""Names of domains and claims of any admitted set: they are short enough and have one user each (MS-076, MS-077)."""

from typing import Any, Final

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from grove_core.admit import admit
from grove_core.kernel.admission import Admit
from grove_core.reconcile import reconcile
from grove_core.resources.domain_sharing import shared_claim_entry
from grove_core.resources.domain_sharing_labels import domain_user_in_labels
from tests.property.few_examples import RARELY
from tests.property.mnnvl_scopes.sharing_sets import ENABLED, GPUS, SCOPE, SCOPED, converged_set, shared_in
from tests.property.workload.sets import clique_raw, set_raw

Json = dict[str, Any]
LONGEST: Final = 63
SCOPES: Final = ("replica", "clique")
NAMES: Final = ("a", "0", "a-0", "0-a", "3", "x-1", "pool", "pool-0", "pool-1", "pool-1-x", "0-pool-1", "w" * 20)
GROUPS_SAY: Final[tuple[Json, ...]] = ({}, {ENABLED: "true"}, {ENABLED: "true", SCOPE: "scalingGroupReplica"})
"""What a group that says nothing leaves to its cliques."""


@st.composite
def sets_of_any_names(draw: st.DrawFn) -> Json:
    """Sets with parts whose names collide with others, or are nearly too long."""
    cliques = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=3, unique=True))
    groups: list[Json] = [
        {
            "name": name,
            "cliqueNames": [member],
            "replicas": draw(st.integers(1, 4)),
            "minAvailable": 1,
            "annotations": draw(st.sampled_from(GROUPS_SAY)),
        }
        for name, member in zip(
            draw(st.lists(st.sampled_from(NAMES), min_size=2, max_size=2, unique=True)),
            draw(st.lists(st.sampled_from(cliques), max_size=2, unique=True)),
            strict=False,
        )
    ]
    templates = [
        {**clique_raw(name, pod_spec=GPUS), "annotations": {ENABLED: "true", SCOPE: draw(st.sampled_from(SCOPES))}}
        for name in cliques
    ]
    raw = set_raw(*templates, groups=tuple(groups), replicas=draw(st.integers(1, 3)))
    raw["metadata"]["name"] = draw(st.sampled_from(["a", "llm-0", "s" * 14, "s" * 30]))
    return raw


@RARELY
@given(sets_of_any_names())
@pytest.mark.req("MS-077")
def test_ms076_an_admitted_set_has_valid_names_with_one_user_each(raw: Json) -> None:
    assume(isinstance(admit(raw, None, None, SCOPED).verdict, Admit))
    world, seen = converged_set(raw)
    shared = shared_in(world)
    assert all(len(name) <= LONGEST for _, name in shared)
    for kind in ("ComputeDomain", "ResourceClaim"):
        users = [domain_user_in_labels(item.labels) for (of_kind, _), item in shared.items() if of_kind == kind]
        assert len(users) == len(set(users))
    assert seen.cliques
    for clique in seen.cliques:
        claim = shared_claim_entry(clique.pod_spec)
        assert claim is not None
        assert ("ResourceClaim", claim["resourceClaimName"]) in shared
    waiting = [held for held in reconcile(seen).withheld if held.because[0].rule.requirement.startswith("MS-")]
    assert not waiting
