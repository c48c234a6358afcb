"""What was seen and what is decided of it is the same in a copy and in another process."""

import copy
import pickle
from collections.abc import Callable
from typing import Any, Final

import msgspec
import pytest
from hypothesis import given

from grove_core.areas.mnnvl.rules import MnnvlReason
from grove_core.plan.plan import Plan
from grove_core.reconcile import reconcile
from grove_core.snapshot.snapshot import Snapshot
from grove_core.testing import RandomCluster, clusters
from tests.property.mnnvl_scopes.sharing_sets import ENABLED, GPUS, SCOPE, converged_set
from tests.property.workload.sets import clique_raw, set_raw

Copy = Callable[[Any], Any]
COPIES: Final = (copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value)))  # noqa: S301 - its own bytes


@pytest.mark.parametrize("copied", COPIES, ids=["deepcopy", "pickle"])
@pytest.mark.req("PL-001")
class TestACopyEqualsTheOriginal:
    """A copy of a snapshot or of a plan MUST equal the original."""

    @given(clusters())
    def test_pl001_any_snapshot_and_its_plan(self, copied: Copy, generated: RandomCluster) -> None:
        plan = reconcile(generated.snapshot)
        assert copied(plan) == plan
        assert reconcile(copied(generated.snapshot)) == plan

    def test_pl001_domains_claims_and_answers(self, copied: Copy) -> None:
        annotations = {ENABLED: "true", SCOPE: "clique"}
        _, seen = converged_set(set_raw(clique_raw("a", 2, pod_spec=GPUS, annotations=annotations)))
        assert seen.named_domains
        again: Snapshot = copied(seen)
        assert reconcile(again) == reconcile(seen)
        assert again == seen

    def test_pl001_a_rule_is_itself(self, copied: Copy) -> None:
        """Reasons are distinguished by their rules, and ``is`` asks for these."""
        assert all(copied(rule) is rule for rule in MnnvlReason)


@given(clusters())
def test_pl001_a_plan_comes_apart(generated: RandomCluster) -> None:
    plan = reconcile(generated.snapshot)
    parts = msgspec.structs.asdict(plan)
    assert Plan(**parts) == plan
