"""What averts a termination: applied to a copy of the whole set it does, and one pod fewer does not."""

from datetime import timedelta
from typing import Any, Final

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from grove_core.kernel.decisions import Finding
from grove_core.kernel.frozen import FrozenDict
from grove_core.kernel.questions import TERMINATION
from grove_core.kernel.refs import Ref
from grove_core.kernel.structs import replace
from grove_core.plan.termination_hints import TerminationHints
from grove_core.reconcile import reconcile
from grove_core.rule_sets.rule_set import RuleSet
from grove_core.rule_sets.rule_set_by_name import rule_set
from grove_core.snapshot.snapshot import Snapshot
from grove_core.termination_hint_search.changed_snapshots import with_ready_pods
from grove_core.termination_hint_search.hints import termination_hints
from grove_core.testing import (
    busy_clusters,
    cluster_of,
    storms,
    stormy,
)
from grove_core.testing.tape import ByteChoices
from tests.property.few_examples import RARELY
from tests.property.gang_termination_field.worlds import field_clusters, field_storms, fielded
from tests.property.plan.ready_sets import ready_set, with_pods
from tests.simulation.sample_sets import clique_raw, set_raw

LACKING_A_WORKER: Final = (
    b":\x01\x00\x01\x01 zz\x00\x01\x02\x00\x00\xa4\x03\x02",
    bytes(79),
    b"\x0f\x00\x00\x00\x00\x00\x00\x03\x00\n",
    bytes(44),
    b"\n",
)
"""The draws of a cluster."""
RULES: Final = ("design", "field@v0.1.0-alpha.9", "field")
PENDING: Final = frozenset({"Wait", "Terminate"})
DRAWN: Final = {
    "design": st.one_of(storms(), busy_clusters()),
    **dict.fromkeys(RULES[1:], st.one_of(field_storms(), field_clusters())),
}


def without_pods_that_go(snapshot: Snapshot) -> Snapshot:
    kept = {uid: tuple(pod for pod in pods if not pod.deleting) for uid, pods in snapshot.pods_of.items()}
    return replace(snapshot, pods_of=FrozenDict(kept))


def verdict_on(replica: Ref, snapshot: Snapshot, rules: RuleSet) -> Finding | None:
    """The finding of a whole plan on the termination of a replica."""
    found = reconcile(snapshot, rules).findings
    return next((one for one in found if (one.subject, one.question) == (replica, TERMINATION)), None)


def is_pending(found: Finding | None) -> bool:
    return found is not None and found.verdict in PENDING


def hints_of(snapshot: Snapshot, rules: RuleSet) -> tuple[TerminationHints, ...]:
    return termination_hints(snapshot, reconcile(snapshot, rules).findings, rules, {})


def uid_of(snapshot: Snapshot, ref: Ref) -> str:
    return next(clique.uid for clique in snapshot.cliques if clique.ref == ref)


@pytest.mark.parametrize("name", RULES)
@RARELY
@given(st.data())
@pytest.mark.req("PL-043")
def test_pl040_ready_pods_avert_the_termination(name: str, data: st.DataObject) -> None:
    rules, snapshot = rule_set(name), data.draw(DRAWN[name]).snapshot
    left = without_pods_that_go(snapshot)
    for hints in hints_of(snapshot, rules):
        event(f"{hints.replica.kind} {len(hints.ready_pods)} {bool(hints.spares_not)}")
        if not hints.ready_pods:
            continue
        counts = {uid_of(snapshot, one.clique): one.pods for one in hints.ready_pods}
        saved = with_ready_pods(left, counts)
        for moment in (snapshot.now, *(one.before for one in hints.ready_pods if one.before is not None)):
            assert not is_pending(verdict_on(hints.replica, replace(saved, now=moment), rules))


@pytest.mark.parametrize("name", ["design", "field"])
@RARELY
@given(st.data())
def test_pl041_one_ready_pod_fewer_does_not(name: str, data: st.DataObject) -> None:
    """In the releases before `F3` a group of which nothing is placed is not breached (GF-108), so fewer may do."""
    rules, snapshot = rule_set(name), data.draw(DRAWN[name]).snapshot
    left = without_pods_that_go(snapshot)
    for hints in hints_of(snapshot, rules):
        counts = {uid_of(snapshot, one.clique): one.pods for one in hints.ready_pods}
        for uid, count in counts.items():
            fewer = with_ready_pods(left, {**counts, uid: count - 1})
            assert is_pending(verdict_on(hints.replica, fewer, rules))


@pytest.mark.parametrize("name", RULES)
@RARELY
@given(st.data())
def test_pl042_a_longer_delay_puts_it_off(name: str, data: st.DataObject) -> None:
    rules, snapshot = rule_set(name), data.draw(DRAWN[name]).snapshot
    left = without_pods_that_go(snapshot)
    for hints in hints_of(snapshot, rules):
        if hints.longer_delay is None:
            continue
        before = verdict_on(hints.replica, left, rules)
        assert before is not None
        assert before.deadline is not None
        moment = max(before.deadline, snapshot.now)
        _, above = hints.longer_delay
        longer = verdict_on(hints.replica, with_delay(left, hints.longer_delay.fields, above + SECOND), rules)
        assert longer is not None
        assert longer.verdict == "Wait"
        assert longer.deadline is not None
        assert longer.deadline > moment
        same = verdict_on(hints.replica, with_delay(left, hints.longer_delay.fields, above), rules)
        assert same is not None
        assert same.deadline is not None
        assert same.deadline <= moment


SECOND: Final = timedelta(seconds=1)


def with_delay(snapshot: Snapshot, fields: tuple[str, ...], delay: timedelta) -> Snapshot:
    template = snapshot.root.spec.template
    groups = [
        group.model_copy(update={"termination_delay": delay})
        if f"spec.template.podCliqueScalingGroups[{place}].terminationDelay" in fields
        else group
        for place, group in enumerate(template.pod_clique_scaling_groups)
    ]
    changed: dict[str, Any] = {"pod_clique_scaling_groups": tuple(groups)}
    if "spec.template.terminationDelay" in fields:
        changed["termination_delay"] = delay
    spec = snapshot.root.spec.model_copy(update={"template": template.model_copy(update=changed)})
    return replace(snapshot, root=replace(snapshot.root, spec=spec))


def test_pl041_of_many_pods_as_many_as_are_needed() -> None:
    rules = rule_set("design")
    start = ready_set(set_raw(clique_raw("a", 6, 5), terminationDelay="1h"), rules)
    unready = with_pods(start, lambda pod: replace(pod, ready=False, trouble="CrashLoopBackOff"))
    (found,) = hints_of(unready, rules)
    assert [(one.clique.name, one.pods) for one in found.ready_pods] == [("llm-0-a", 5)]


def test_pl041_a_group_replica_that_lacks_a_podclique_is_not_named() -> None:
    """Replica 0 of the group has no worker, so that only the recovery of replica 2 makes it 3 of 4."""
    drawn = b"".join(LACKING_A_WORKER)
    snapshot = fielded(stormy(cluster_of(drawn)), ByteChoices(b"")).snapshot
    (found,) = hints_of(snapshot, rule_set("field"))
    assert [(one.clique.name, one.pods) for one in found.ready_pods] == [("llm-0-spare-2-worker", 1)]
