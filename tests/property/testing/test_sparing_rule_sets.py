"""Which invariants a rule set that spares keeps, and which list is for it (LT-008, LT-010)."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from grove_core import RuleSet, Snapshot, SparedReplica, rule_set, rule_set_names, rule_set_that_spares
from grove_core.kernel.structs import replace
from grove_core.testing import (
    FIELD_INVARIANTS,
    INVARIANTS,
    Controller,
    Effort,
    InvariantViolated,
    Sizes,
    breached_cliques,
    check_all,
    invariants_for,
)

NOT_KEPT: Final = frozenset({"GT-033", "GT-036", "GT-050", "GT-054", "GT-060"})
KEPT: Final = tuple(one for one in INVARIANTS if one.id not in NOT_KEPT)
GUIDE: Final = Path(__file__).parents[3] / "docs/how-to/write-your-own-rules.md"
FEW: Final = Effort(snapshots=80, histories=15, sizes=Sizes(4, 2, 2, 2), shrink=False)


def replicas_of_the_set(snapshot: Snapshot) -> Iterator[SparedReplica]:
    root = snapshot.root
    yield from (SparedReplica(root.ref.at_replica(index), "kept") for index in range(root.spec.replicas))


def replicas_of_groups(snapshot: Snapshot) -> Iterator[SparedReplica]:
    for group in snapshot.groups:
        yield from (SparedReplica(group.ref.at_replica(index), "kept") for index in range(group.replicas))


def every_replica(snapshot: Snapshot) -> Iterator[SparedReplica]:
    yield from replicas_of_the_set(snapshot)
    yield from replicas_of_groups(snapshot)


@pytest.mark.parametrize("spares", [replicas_of_the_set, replicas_of_groups, every_replica])
@pytest.mark.parametrize("base", ["design", "field"])
def test_lt010_all_other_invariants_are_kept(base: str, spares: object) -> None:
    rules = rule_set_that_spares("careful", rule_set(base), spares)  # type: ignore[arg-type]  # it is one of those above
    check_all(rules, invariants=KEPT if base == "design" else None, effort=FEW)


@pytest.mark.parametrize(
    ("rule", "spares", "snapshots", "histories"),
    [
        ("GT-033", replicas_of_the_set, 1000, 0),
        ("GT-036", replicas_of_the_set, 1000, 0),
        ("GT-050", replicas_of_groups, 0, 200),
        ("GT-054", replicas_of_groups, 1000, 0),
        ("GT-060", replicas_of_the_set, 1000, 0),
    ],
)
def test_lt010_each_of_the_five_may_be_violated(rule: str, spares: object, snapshots: int, histories: int) -> None:
    """What is drawn depends on the modules that are loaded, so several seeds are tried until one shows it."""
    rules = rule_set_that_spares("careful", rule_set("design"), spares)  # type: ignore[arg-type]  # as above

    def violated(seed: int) -> str:
        effort = Effort(snapshots, histories, seed=seed, sizes=Sizes(3, 2, 2, 2), shrink=False)
        try:
            check_all(rules, invariants=[rule], effort=effort)
        except InvariantViolated as found:
            return found.invariant.id
        return ""

    assert next(filter(None, map(violated, range(20))), "") == rule


def test_lt010_the_page_names_the_five() -> None:
    (listed,) = re.findall(r"^DEMAND_A_TERMINATION = \{(.*)\}$", GUIDE.read_text(encoding="utf-8"), re.MULTILINE)
    assert set(re.findall(r"[A-Z]+-\d+", listed)) == NOT_KEPT


def spared(base: RuleSet) -> RuleSet:
    return rule_set_that_spares("careful", base, every_replica)


class TestLT008:
    """`invariants_for` MUST return the invariants of the Go operator for each rule set whose gang termination is the Go
    operator's, whatever its name, with or without spared replicas; for anything else those of the design.
    """

    @pytest.mark.parametrize("name", rule_set_names())
    def test_its_name_does_not_count(self, name: str) -> None:
        rules, wanted = rule_set(name), INVARIANTS if name == "design" else FIELD_INVARIANTS
        for one in (rules, spared(rules), spared(spared(rules)), replace(rules, name="mine")):
            assert invariants_for(one) is wanted

    @pytest.mark.parametrize(
        "controller",
        [
            replace(rule_set("field"), gang_termination=rule_set("design").gang_termination),
            RuleSet("field@mine", lambda snapshot: rule_set("field").gang_termination(snapshot)),
            breached_cliques,
        ],
    )
    def test_anything_else_is_held_against_the_design(self, controller: Controller) -> None:
        assert invariants_for(controller) is INVARIANTS
