"""What administrators are told of a plan (OP-042, OP-045)."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from grove_core.areas.gang_termination.rulesets import rule_set
from grove_core.reconcile import reconcile
from grove_core.resources.compute_domain import DOMAIN_KIND
from grove_core.resources.configuration import Configuration, Mnnvl
from grove_core.resources.keys import SET_FINALIZER
from grove_core.snapshot.snapshot import EVERY_KIND, Snapshot
from grove_shell.operator.events import Told, told_of
from tests.property.strategies.worlds import World, is_termination, storms
from tests.property.workload.sets import applied, clique_raw, set_raw

GPU: Final = {"containers": [{"name": "main", "resources": {"limits": {"nvidia.com/gpu": 1}}}]}
REFUSED: Final = "computedomains.resource.nvidia.com is forbidden"


def without(kind: str, snapshot: Snapshot) -> Snapshot:
    """The same where nothing is known of a kind."""
    return replace(snapshot, not_collected=frozenset({kind}), complete=EVERY_KIND - {kind})


def told(snapshot: Snapshot, lost: Mapping[str, str]) -> list[Told]:
    return list(told_of(reconcile(snapshot), lost))


@pytest.mark.parametrize("lost", [{DOMAIN_KIND: REFUSED}, {}])
def test_op045_replicas_that_wait_for_a_look_at_domains_are_told_together(lost: Mapping[str, str]) -> None:
    start = applied(set_raw(clique_raw("a", pod_spec=GPU), replicas=3))
    blind = without(DOMAIN_KIND, replace(start, configuration=Configuration(mnnvl=Mnnvl(enabled=True))))
    (found,) = told(blind, lost)
    assert (found.about, found.reason) == (start.root.ref, "DomainsNotCollected")
    assert found.note.startswith("ComputeDomain/llm-cd-0, and 5 more: held back until ComputeDomains can be seen: ")
    assert found.note.endswith(lost.get(DOMAIN_KIND, "not all of them can be read"))
    assert told(blind, lost) == [found], "the next look says the same, so it is one Event"
    assert not told(replace(blind, configuration=Configuration()), lost), "with MNNVL off nobody waits"


def test_op045_a_set_that_cannot_be_let_go_is_told() -> None:
    start = applied(set_raw(clique_raw("a")))
    root = replace(start.root, deleting=True, finalizers=(SET_FINALIZER,))
    (found,) = told(without("PodClique", replace(start, root=root)), {"PodClique": "503"})
    assert (found.reason, found.note) == (
        "PartsNotCollected",
        "PodCliqueSet/llm: held back until PodCliques can be seen: 503",
    )


@given(storms(), st.sampled_from(["design", "field"]), st.integers(min_value=1, max_value=8))
def test_op042_who_goes_on_with_an_end_does_not_announce_it_again(world: World, rules: str, gone: int) -> None:
    """Each prefix of the deletions is where a process may have been killed, and the next one looks."""
    start = world.snapshot
    plan = reconcile(start, rule_set(rules))
    deletions = [step.target for step in plan.steps if is_termination(step)]
    left = tuple(clique for clique in start.cliques if clique.ref not in deletions[:gone])
    rest = reconcile(replace(start, cliques=left), rule_set(rules))
    announced, again = ({one.key for one in told_of(look) if one.reason == "GangTerminated"} for look in (plan, rest))
    ends = {key.rpartition(" ")[0] for key in announced}
    event(f"an end goes on: {bool(deletions and again)}")
    assert {key for key in again if key.rpartition(" ")[0] in ends} <= announced
