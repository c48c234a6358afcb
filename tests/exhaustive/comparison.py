"""Compares every state of a scope with its specification, and counts states and the rules that decided in them."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from types import ModuleType
from typing import Final, NamedTuple

from grove_core.rule_sets.rule_set import RuleSet
from grove_core.rule_sets.rule_set_by_name import rule_set
from tests.exhaustive import design_scopes, design_specification, field_decision, field_scopes
from tests.exhaustive.decisions import Decision
from tests.exhaustive.observed import decision_of, fates_of
from tests.exhaustive.snapshots import snapshot_of
from tests.exhaustive.states import State

RULES_OF: Final = {"design": "design", "F3": "field@v0.1.0-alpha.12-rc1", "F2": "field@v0.1.0-alpha.11"}
"""The rule set of each specification."""
SPECIFICATIONS: Final[dict[str, Callable[[State], Decision]]] = {
    "design": design_specification.decide,
    "F3": partial(field_decision.decide, generation="F3"),
    "F2": partial(field_decision.decide, generation="F2"),
}


class Scope(NamedTuple):
    """States, and what is compared of each.

    Attributes:
        states: yields them all.
        whole: whether verdicts, rules, deletions, causes, conditions and times are compared; else only what is
            terminated, and when other terminations are due.
    """

    states: Callable[[], Iterator[State]]
    whole: bool = True


class Difference(AssertionError):
    """A state in which product and specification decide differently."""


@dataclass
class Count:
    """What was covered.

    Attributes:
        states: number of states.
        rules: rule -> number of states in which it decided.
    """

    states: int = 0
    rules: Counter[str] = field(default_factory=Counter)


_ONE_AGE: Final = "scaling groups up to 4 x 3, one age"
_ENDS: Final = f"{_ONE_AGE}, terminations"
_D, _F = design_scopes, field_scopes


def _default_scopes(of: ModuleType) -> dict[str, Scope]:
    return {
        "a PodClique": Scope(of.cliques),
        "scaling groups up to 3 x 2, one age": Scope(partial(of.groups_at_one_age, 3, 2)),
        "scaling groups up to 2 x 1, any state": Scope(partial(of.groups_in_any_state, 2, 1)),
        "orders": Scope(of.orders),
        "sets": Scope(of.sets),
        "wider sets": Scope(of.wider_sets),
        "kinds not collected": Scope(_D.kinds_not_collected),
        _ENDS: Scope(of.groups_at_one_age, whole=False),
    }


_OF_FIELD: Final = _default_scopes(_F)
SCOPES: Final = {
    "design": _default_scopes(_D),
    "F3": _OF_FIELD,
    "F2": {name: scope for name, scope in _OF_FIELD.items() if name != _ENDS},
}
"""The scopes of a plain ``pytest``, by specification and name."""
WIDE_SCOPES: Final = {
    "design": {
        _ONE_AGE: Scope(_D.groups_at_one_age),
        "scaling groups up to 3 x 2, any state": Scope(partial(_D.groups_in_any_state, 3, 1)),
        "scaling groups up to 2 x 2, any state": Scope(partial(_D.groups_in_any_state, 2, 2)),
        "scaling groups up to 4 x 3, all ages, terminations": Scope(
            partial(_D.groups_at_all_ages, 4, 3, (None,)), whole=False
        ),
        "scaling groups up to 3 x 2, all ages": Scope(partial(_D.groups_at_all_ages, 3, 2, _D.STORED_AGES)),
    },
    **{
        generation: {
            _ONE_AGE: Scope(_F.groups_at_one_age),
            "scaling groups up to 2 x 2, any state": Scope(partial(_F.groups_in_any_state, 2, 2)),
            "scaling groups up to 4 x 3, all ages, terminations": Scope(
                partial(_F.groups_at_all_ages, 4, 3, (None,)), whole=False
            ),
            "scaling groups up to 3 x 2, all ages": Scope(partial(_F.groups_at_all_ages, 3, 2, _F.STORED)),
        }
        for generation in ("F3", "F2")
    },
}
"""The further scopes of ``python -m tests.exhaustive``."""


def compare(specification: str, scope: Scope) -> Count:
    """Compare all states of a scope; raises Difference at the first one that is decided differently."""
    return compare_states(rule_set(RULES_OF[specification]), SPECIFICATIONS[specification], scope.states(), scope.whole)


def compare_states(
    rules: RuleSet, decide: Callable[[State], Decision], states: Iterable[State], whole: bool = True
) -> Count:
    """Compare the decisions of a rule set with those of a specification."""
    count = Count()
    for state in states:
        expected = decide(state)
        snapshot = snapshot_of(state)
        if whole:
            found = decision_of(rules.gang_termination(snapshot))
            if found != expected:
                raise Difference(differences(state, found, expected))
        else:
            fates = fates_of(rules.replica_fates(snapshot))
            if fates != expected.fates:
                raise Difference(f"{state}\nproduct: {fates}\nspecification: {expected.fates}")
        count.states += 1
        count.rules.update(expected.applied if whole else ())
    return count


def differences(state: State, found: Decision, expected: Decision) -> str:
    """Return the state and the parts of the two decisions that differ, on some lines."""
    lines = [str(state)]
    for name in ("findings", "deletions", "causes", "conditions", "available", "removed", "terminating", "wake"):
        ours, theirs = getattr(found, name), getattr(expected, name)
        if isinstance(ours, set):
            ours, theirs = ours - theirs, theirs - ours
        if ours != theirs:
            lines.append(f"{name}\n  product: {ours}\n  specification: {theirs}")
    return "\n".join(lines)
