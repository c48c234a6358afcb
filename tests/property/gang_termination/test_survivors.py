"""Tests that kill surviving mutants of gang termination (specs/mutants.md)."""

from datetime import UTC, datetime, timedelta

import pytest

from grove_core.admit import admit
from grove_core.areas.gang_termination.breach_delays import (
    breach_delay_end,
    replica_fate_of_breaches,
    scaling_group_fate,
)
from grove_core.areas.gang_termination.design.judge import judge_gang_termination_by_design
from grove_core.areas.gang_termination.design.scaling_group_judgement import scaling_group_termination_delay
from grove_core.areas.gang_termination.rules import GangTerminationDenial, TerminationReason
from grove_core.areas.gang_termination.termination_deletions import (
    TerminationsOfSet,
    replica_termination,
    terminated_clique_deletions,
)
from grove_core.areas.gang_termination.verdicts import Delegate, GroupFate, Keep, MinAvailableBreach, Terminate, Wait
from grove_core.kernel.admission import Deny
from grove_core.kernel.conditions import ConditionStatus
from grove_core.kernel.frozen import FrozenDict
from grove_core.kernel.gang_terminations import GangTermination, GangTerminationReasons, TerminationBasis
from grove_core.kernel.refs import Ref
from grove_core.kernel.structs import replace
from tests.property.gang_termination.objections import GROUPS, changed
from tests.property.resources.manifests import clique_set, clique_template, group_template
from tests.property.workload.sets import NOW, applied, at_rest, clique_raw, set_raw

SOON, LATER = Wait(NOW + timedelta(minutes=1)), Wait(NOW + timedelta(hours=1))


@pytest.mark.parametrize(
    ("fates", "whole"),
    [
        ([LATER, SOON, LATER], SOON),
        ([Keep(), LATER], LATER),
        ([SOON, Terminate()], Terminate()),
        ([Delegate(), Delegate()], Delegate()),
    ],
)
def test_gt060_a_group_waits_for_the_first_of_its_replicas(fates: list[GroupFate], whole: GroupFate) -> None:
    assert scaling_group_fate(fates) == whole


def test_pl015_every_deletion_of_a_termination_has_its_causes() -> None:
    seen = at_rest(applied(set_raw(clique_raw("a", 1), clique_raw("b", 1), replicas=2)))
    first, *_ = seen.cliques
    cause = MinAvailableBreach(first.ref, NOW, timedelta(hours=1))
    end = replica_termination(TerminationReason.DELAY_EXPIRED, [cause], seen.root, {first.ref: first}, {})
    assert (end.rests_on, end.last) == (((first.ref, first.guard),), frozenset({first.uid}))
    words = (TerminationReason.GANG_TERMINATED, TerminationReason.GROUP_REPLICA_TERMINATED)
    found = list(
        terminated_clique_deletions(
            seen.root.ref, seen.cliques, TerminationsOfSet(FrozenDict({0: end}), FrozenDict()), words
        )
    )
    assert {one.target.name: one.termination is not None and one.termination.is_cause for one in found} == {
        clique.ref.name: clique is first for clique in seen.cliques if clique.replica_index == 0
    }
    assert all(one.because[1] == end.because for one in found)
    for one in found:
        reasons, over = GangTerminationReasons(*one.because), NOW + timedelta(hours=1)
        gang = GangTermination(seen.root.ref.at_replica(0), first.ref, over, reasons)
        assert one.termination is not None
        assert one.termination.basis == TerminationBasis(end.rests_on, (gang,))


@pytest.mark.parametrize(
    ("place", "names", "old", "path", "rule", "got"),
    [
        (
            0,
            ["leader", "router"],
            True,
            f"{GROUPS}[0].cliqueNames",
            GangTerminationDenial.IMMUTABLE,
            '"leader, router"',
        ),
        (1, ["worker"], False, f"{GROUPS}[1].cliqueNames[0]", GangTerminationDenial.CLIQUE_IN_TWO_GROUPS, '"worker"'),
    ],
    ids=["changed", "of two groups"],
)
def test_gt101_gt098_an_objection_shows_the_names_that_it_is_about(
    place: int, names: list[str], old: bool, path: str, rule: GangTerminationDenial, got: str
) -> None:
    cliques = [clique_template(name) for name in ("leader", "worker", "router")]
    groups = [group_template("pool", "leader", "worker"), group_template("spare")]
    before = clique_set(cliques=cliques, podCliqueScalingGroups=groups)
    after = changed(("spec", "template", "podCliqueScalingGroups", place, "cliqueNames"), names, before)
    verdict = admit(after, before if old else None).verdict
    assert isinstance(verdict, Deny)
    assert [(one.path, one.reason.rule, one.got) for one in verdict.objections] == [(path, rule, got)]


@pytest.mark.parametrize(
    ("before", "after", "got", "was"),
    [
        (["pool", "spare"], ["pool"], '"pool"', "pool, spare"),
        (["pool"], [], '"none"', "pool"),
        ([], ["spare", "pool"], '"pool, spare"', "none"),
    ],
)
def test_gt101_an_objection_names_the_groups_of_before_and_after(
    before: list[str], after: list[str], got: str, was: str
) -> None:
    def set_with(names: list[str]) -> dict[str, object]:
        groups = [group_template(name) for name in names]
        return clique_set(cliques=[clique_template("leader")], podCliqueScalingGroups=groups)

    verdict = admit(set_with(after), set_with(before)).verdict
    assert isinstance(verdict, Deny)
    (found,) = (one for one in verdict.objections if one.path == GROUPS)
    assert (found.got, dict(found.reason.facts)["before"]) == (got, was)
    assert found.reason.subject.kind == "PodCliqueSet"


@pytest.mark.parametrize("early", [timedelta(), timedelta(seconds=1)])
def test_gt032_a_deadline_beyond_the_calendar_is_never_due(early: timedelta) -> None:
    """Nor is one at the last date, or every breach would be due at once, again and again."""
    end = datetime.max.replace(tzinfo=UTC)
    breach = MinAvailableBreach(Ref("v1", "PodClique", "ml", "x"), end - timedelta(minutes=1), timedelta(hours=1))
    assert breach_delay_end(breach.since, breach.delay) == end
    assert replica_fate_of_breaches([breach], end - early) == Wait(end)


def test_gt030_a_group_that_its_set_does_not_know_has_the_delay_of_the_set() -> None:
    """Such as a group whose entry was removed from the template, until the group is gone."""
    pool = {"name": "pool", "cliqueNames": ["a"], "terminationDelay": "1h"}
    seen = at_rest(applied(set_raw(clique_raw("a"), groups=(pool,), terminationDelay="2h")))
    (group,) = seen.groups
    unknown = replace(group, ref=Ref(group.ref.api_version, group.ref.kind, group.ref.namespace, "llm-0-gone"))
    assert scaling_group_termination_delay(seen.root, group) == timedelta(hours=1)
    assert scaling_group_termination_delay(seen.root, unknown) == timedelta(hours=2)


def test_gt011_a_clique_that_wants_no_pod_and_has_none_has_enough() -> None:
    """Return a group that a user scaled to zero, with a status to be written."""
    seen = at_rest(applied(set_raw(clique_raw("a"))))
    (clique,) = seen.cliques
    empty = replace(seen, cliques=(replace(clique, replicas=0, min_available=0),), pods_of=FrozenDict())
    (judged,) = judge_gang_termination_by_design(empty).cliques
    assert judged.breach is ConditionStatus.FALSE
