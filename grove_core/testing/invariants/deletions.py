"""Which PodCliques are deleted, by which rule, and in which order."""

from collections.abc import Iterator

from grove_core.kernel.conditions import ConditionStatus
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import AttemptOutcome, Delete
from grove_core.resources.podclique import PodClique
from grove_core.testing.invariants.invariant import History, Round, Violation
from grove_core.testing.invariants.reference_verdicts import TerminatingBreach, missing_kinds


def violations_of_deletion_rule(rule: str, history: History) -> Iterator[Violation]:
    """Yield the deletions of the last round that a rule forbids, and those that it requires and that are missing."""
    found = history[-1]
    for ref in found.deletions:
        if _is_too_much(found, ref):
            by, expected = _reason_to_keep(found, ref)
            if by == rule:
                yield Violation(ref.short, expected, "a deletion")
    if found.failed:
        return
    deleted = frozenset(found.deletions)
    for ref in sorted(found.required.deletes - deleted, key=lambda one: one.sort_key):
        of_set = found.cliques[ref].replica_index in found.required.ends
        if rule == ("GT-033" if of_set else "GT-050"):
            yield Violation(ref.short, f"a deletion, since {_due(found, ref)}", "none")


def _is_too_much(found: Round, ref: Ref) -> bool:
    """Return whether a deletion is one that the specification does not know.

    PodCliques that the set does not want may be deleted for other reasons, unless the deletion names a breach.
    """
    clique = found.cliques.get(ref)
    if clique is None or ref in found.required.deletes:
        return False
    named = any(
        step.target == ref and isinstance(step.action, Delete) and step.action.rests_on for step in found.plan.steps
    )
    return bool(named) or _is_wanted(found, clique)


def _is_wanted(found: Round, clique: PodClique) -> bool:
    root = found.snapshot.root
    if root.deleting or clique.replica_index >= root.spec.replicas:
        return False
    if not clique.is_in_scaling_group:
        alone = root.spec.standalone_cliques
        return any(clique.ref.name == f"{root.ref.name}-{clique.replica_index}-{one.name}" for one in alone)
    owners = (group for group in found.snapshot.groups if group.uid == clique.owner_uid and not group.deleting)
    return any(clique.group_replica_index < group.replicas for group in owners)


def _reason_to_keep(found: Round, ref: Ref) -> tuple[str, str]:
    """Return the rule by which a PodClique is kept, and what it requires."""
    snapshot, clique, required = found.snapshot, found.cliques[ref], found.required
    if missing_kinds(snapshot):
        return "GT-024", f"no deletion without {', '.join(missing_kinds(snapshot))}"
    if snapshot.root.deleting:
        return "GT-037", "no termination in a set that is being deleted"
    if not snapshot.root.spec.template.termination_delay:
        return "GT-031", "no termination without a termination delay"
    group = next((one for one in snapshot.groups if one.uid == clique.owner_uid), None)
    if group is not None and clique.replica_index >= snapshot.root.spec.replicas:
        return "GT-065", "no termination in a replica that is scaled in"
    waited = required.of_set.get(clique.replica_index, [])
    rest = {one.ref for one in snapshot.cliques if one.replica_index == clique.replica_index and not one.deleting}
    if group is None or rest <= set(found.deletions):
        rule = "GT-034" if waited else "GT-035"
        return rule, f"the replica to be kept: {_words(waited)}"
    if group.status.updating:
        return "GT-053", "no termination while the scaling group is being updated"
    if required.breach.get(group.ref) is ConditionStatus.TRUE:
        return "GT-052", f"the decision to be left to the set: {_words(waited)}"
    pending = required.of_groups.get((group.ref, clique.group_replica_index), [])
    return "GT-051" if pending else "GT-055", f"the replica to be kept: {_words(pending)}"


def _words(causes: list[TerminatingBreach]) -> str:
    if not causes:
        return "nothing in it is breached"
    first = min(causes, key=lambda one: one.deadline)
    return f"the delay of {first.ref.short} ends at {first.deadline:%Y-%m-%d %H:%M:%S}"


def _due(found: Round, ref: Ref) -> str:
    clique = found.cliques[ref]
    causes = found.required.of_set.get(clique.replica_index, []) if clique.replica_index in found.required.ends else []
    of_groups = {(group.name, index): members for (group, index), members in found.required.of_groups.items()}
    return _words(causes or of_groups.get((clique.owner_name, clique.group_replica_index), []))


def violations_of_termination_order(history: History) -> Iterator[Violation]:
    """Yield the terminations in which something is deleted after the cause (GT-063)."""
    found = history[-1]
    place = {ref: number for number, ref in enumerate(found.deletions)}
    every = {one for causes in _ending(found, whole=False).values() for cause in causes for one in cause.cliques}
    for replica, causes in _ending(found, whole=True).items():
        gone = [ref for ref in place if _is_in(found.cliques.get(ref), replica)]
        companions = [ref for ref in gone if ref not in every]
        first = min((cause.deadline for cause in causes), default=None)
        last = max((place[ref] for ref in companions), default=-1)
        candidates = [cause for cause in causes if cause.deadline == first]
        if not any(all(place.get(ref, last + 1) > last for ref in cause.cliques) for cause in candidates):
            after = next(ref for ref in companions if place[ref] == last)
            yield Violation(after.short, f"a deletion before that of {candidates[0].ref.short}", "one after it")


def _ending(found: Round, *, whole: bool) -> dict[int | tuple[Ref, int], list[TerminatingBreach]]:
    """Return the breaches behind each termination.

    Args:
        whole: whether a replica of a scaling group whose replica of the set is terminated too is left out.
    """
    every: dict[int | tuple[Ref, int], list[TerminatingBreach]] = dict(found.required.of_set.items())
    every.update(found.required.of_groups.items())
    of_set = {group.ref: group.replica_index for group in found.snapshot.groups} if whole else {}
    return {
        replica: causes
        for replica, causes in every.items()
        if replica in found.required.ends
        and (isinstance(replica, int) or of_set.get(replica[0], -1) not in found.required.ends)
    }


def _is_in(clique: PodClique | None, replica: int | tuple[Ref, int]) -> bool:
    if clique is None or isinstance(replica, int):
        return clique is not None and clique.replica_index == replica
    return (clique.owner_name, clique.group_replica_index) == (replica[0].name, replica[1])


def violations_of_named_causes(rule: str, history: History) -> Iterator[Violation]:
    """Yield deletions that do not name the breach whose delay ended first (GT-036, GT-054)."""
    found = history[-1]
    for replica, causes in _ending(found, whole=False).items():
        if (rule == "GT-036") is not isinstance(replica, int):
            continue
        first = min(cause.deadline for cause in causes)
        wanted = {cause.ref for cause in causes if cause.deadline == first}
        for step in found.plan.steps:
            if isinstance(step.action, Delete) and _is_in(found.cliques.get(step.target), replica):
                named = {one.trigger for one in step.action.terminates}
                if step.target in found.required.deletes and not named & wanted:
                    names = " or ".join(sorted(one.short for one in wanted))
                    got = ", ".join(sorted(one.short for one in named)) or "no cause"
                    yield Violation(step.target.short, f"a deletion that names {names}", got)


def violations_without_fresh_read(history: History) -> Iterator[Violation]:
    """Yield terminations although the fresh read before one has failed (PL-029)."""
    found = history[-1]
    if any(one.outcome is AttemptOutcome.NOT_CONFIRMED for one in found.snapshot.attempts):
        for ref in found.deletions:
            if ref in found.required.deletes:
                yield Violation(ref.short, "no termination, since the fresh read failed", "a deletion")
