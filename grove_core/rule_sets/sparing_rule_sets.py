"""Rule sets of users: as another rule set, but some replicas are not terminated (LB-007 to LB-009, LB-032)."""

from collections.abc import Callable, Iterable
from datetime import datetime
from functools import partial
from typing import NamedTuple, TypeAlias

from grove_core.areas.gang_termination.field.wants import gang_termination_by_go_operator
from grove_core.areas.gang_termination.termination_result import TerminationResult
from grove_core.areas.gang_termination.verdicts import SetReplicaFates
from grove_core.kernel.frozen import FrozenDict
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.kernel.structs import replace
from grove_core.resources.api_names import GROUP_KIND, SET_KIND
from grove_core.rule_sets.rule_set import RuleSet
from grove_core.rule_sets.rules import SparingReason
from grove_core.rule_sets.spared_terminations import (
    SparedReplicas,
    fates_with_spared,
    result_without_spared_terminations,
)
from grove_core.snapshot.snapshot import Snapshot


class SparedReplica(NamedTuple):
    """A replica that is not terminated while a function returns it.

    Attributes:
        replica: of the PodCliqueSet, ``root.ref.at_replica(0)``, or of a scaling group, ``group.ref.at_replica(0)``;
            ``clique.enclosing_replicas(root.ref)`` are those of a PodClique.
        because: one line for the readers of a plan.
        until: the time from which it is spared no longer, aware UTC; None where no time alone ends it (LB-031).
    """

    replica: Ref
    because: str
    until: datetime | None = None


Spares: TypeAlias = Callable[[Snapshot], Iterable[SparedReplica]]
"""A function of a snapshot alone: the same snapshot gives the same replicas."""


def rule_set_that_spares(name: str, base: RuleSet, spares: Spares) -> RuleSet:
    """Return a rule set that behaves as another one, except that some replicas are not terminated (LB-007).

    It terminates nothing that ``base`` does not terminate. A PodClique of a spared replica is still deleted with
    another replica that is terminated: where a replica of a scaling group is spared, and its replica of the set is not,
    the set's is terminated as a whole.

    Args:
        name: as plans show it.
        base: the rule set that decides everything else.
        spares: returns the replicas that are not terminated now, or yields them; those of other sets have no effect.

    Raises:
        ValueError: the name is empty, or has a line break.
        TypeError: the base is no rule set, or ``spares`` no function. Later, when a plan is made, TypeError or
            ValueError where ``spares`` returns something that is no replica, or a replica that the set does not have.

    Example:
        >>> from grove_core import SparedReplica, rule_set, rule_set_that_spares
        >>> def first_replica(snapshot):
        ...     if snapshot.root.spec.replicas:
        ...         yield SparedReplica(snapshot.root.ref.at_replica(0), "the demo of Friday runs on it")
        >>> rule_set_that_spares("demo", rule_set("field"), first_replica).name
        'demo'
    """
    if not isinstance(base, RuleSet) or not callable(spares):
        raise TypeError(
            f"rule_set_that_spares takes a name, a RuleSet as rule_set('field'), and a function of a snapshot; "
            f"got {base!r} and {spares!r}"
        )
    if not is_one_line(name):
        raise ValueError(f"the name of a rule set is one line of text; got {name!r}")
    return replace(
        base,
        name=name,
        gang_termination=partial(_gang_termination, name=name, base=base, spares=spares),
        replica_fates=partial(_replica_fates, name=name, base=base, spares=spares),
    )


def terminates_as_go_operator(rules: RuleSet) -> bool:
    """Return whether a rule set terminates gangs as the Go operator does, with or without spared replicas (LT-008)."""
    base = _base_of(rules)
    if base is not None:
        return terminates_as_go_operator(base)
    judge = rules.gang_termination
    return isinstance(judge, partial) and judge.func is gang_termination_by_go_operator


def _base_of(rules: RuleSet) -> RuleSet | None:
    """Return the rule set that one which spares terminates gangs like; None for any other rule set."""
    judge = rules.gang_termination
    if not isinstance(judge, partial) or judge.func is not _gang_termination:
        return None
    base: RuleSet = judge.keywords["base"]
    return base


def is_one_line(text: object) -> bool:
    """Return whether something is a text of one line with a visible character."""
    return isinstance(text, str) and len(text.splitlines()) == 1 and not text.isspace()


def _gang_termination(snapshot: Snapshot, *, name: str, base: RuleSet, spares: Spares) -> TerminationResult:
    result, spared = base.gang_termination(snapshot), _spared_replicas(snapshot, name, spares)
    return (
        result_without_spared_terminations(result, snapshot, spared, base.replica_fates(snapshot))
        if spared.reasons
        else result
    )


def _replica_fates(snapshot: Snapshot, *, name: str, base: RuleSet, spares: Spares) -> SetReplicaFates:
    return fates_with_spared(base.replica_fates(snapshot), snapshot.root.ref, _spared_replicas(snapshot, name, spares))


def _spared_replicas(snapshot: Snapshot, name: str, spares: Spares) -> SparedReplicas:
    """Return the spared replicas; where one is named twice, the first reason stands.

    A replica whose PodCliques are all being deleted is none of them: nothing of it is left to keep.
    """
    replicas = _replicas_of_set(snapshot)
    reasons: dict[Ref, Reason] = {}
    ends: dict[Ref, datetime] = {}
    for one in _called(spares, snapshot, name):
        _check(one)
        ref, until = one.replica, one.until
        replicas.check(ref)
        if ref not in replicas.left or (until is not None and until <= snapshot.now):
            continue
        reasons.setdefault(ref, SparingReason.SPARED_BY_RULE_SET.because(ref, rules=name, why=one.because))
        if until is not None:
            ends[ref] = min(until, ends.get(ref, until))
    return SparedReplicas(FrozenDict(reasons), FrozenDict(ends))


class _ReplicasOfSet(NamedTuple):
    """The replicas of a set and of its scaling groups, for those that a function of a user names (LB-032).

    Attributes:
        counts: the set or a scaling group of it -> the number of replicas that its spec has.
        existing: the replicas with a PodClique.
        left: those with a PodClique that is not being deleted.
    """

    counts: FrozenDict[Ref, int]
    existing: frozenset[Ref]
    left: frozenset[Ref]

    def check(self, replica: Ref) -> None:
        """Check that a replica of the set exists, or is to be created; those of other sets are not known.

        Raises:
            ValueError: its index is too large, or below 0.
        """
        count = self.counts.get(replica.without_replica)
        if count is None or replica.replica is None or replica in self.existing or 0 <= replica.replica < count:
            return
        raise ValueError(
            f"there is no replica {replica.replica} of {replica.without_replica.short} to spare: its spec says "
            f"replicas: {count}, and no PodClique is of that one; return only replicas that exist now, as those of "
            f"clique.enclosing_replicas(snapshot.root.ref)"
        )


def _replicas_of_set(snapshot: Snapshot) -> _ReplicasOfSet:
    """Return the replicas of the set of a snapshot."""
    root = snapshot.root
    counts = FrozenDict({root.ref: root.spec.replicas, **{group.ref: group.replicas for group in snapshot.groups}})
    existing, left = set[Ref](), set[Ref]()
    for clique in snapshot.cliques:
        replicas = clique.enclosing_replicas(root.ref)
        existing.update(replicas)
        if not clique.deleting:
            left.update(replicas)
    return _ReplicasOfSet(counts, frozenset(existing), frozenset(left))


def _called(spares: Spares, snapshot: Snapshot, name: str) -> Iterable[SparedReplica]:
    """Return what a function of a user yields; an error of it names the rule set and the PodCliqueSet."""
    try:
        found = spares(snapshot)
        if isinstance(found, Iterable) and not isinstance(found, SparedReplica):
            return tuple(found)
    except Exception as fault:
        fault.add_note(f"raised by the function of the rule set {name!r} for {snapshot.root.ref.short}")
        raise
    got = "None" if found is None else type(found).__name__
    raise TypeError(f"the function of the rule set {name!r} returns a list of SparedReplica, or yields them; got {got}")


def _check(given: object) -> None:
    """Raise TypeError or ValueError where something is no spared replica."""
    if not isinstance(given, SparedReplica):
        raise TypeError(f"the function of a rule set yields SparedReplica(replica, because); got {given!r}")
    ref, until = given.replica, given.until
    if not isinstance(ref, Ref) or ref.kind not in {SET_KIND, GROUP_KIND} or ref.replica is None:
        got = ref.short if isinstance(ref, Ref) else repr(ref)
        raise ValueError(
            f"only a replica of a PodCliqueSet or of a scaling group can be spared, as snapshot.root.ref.at_replica(0) "
            f"or one of clique.enclosing_replicas(snapshot.root.ref); got {got}"
        )
    if not is_one_line(given.because):
        raise ValueError(f"a replica is spared because of one line of text; got {given.because!r}")
    if until is not None and (not isinstance(until, datetime) or until.tzinfo is None):
        raise ValueError(f"a replica is spared until a datetime with a time zone; got {until!r}")
