"""Invariants of the Go operator's gang termination, from specs/gang_termination_field.md: those of every release."""

from collections.abc import Iterator
from typing import Final

from grove_core.kernel.conditions import ConditionStatus, condition_of
from grove_core.kernel.steps import SetStatus, is_gang_termination_deletion
from grove_core.resources.podclique import PodClique
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.resources.status_comparison import object_after_status_write
from grove_core.testing.invariants.invariant import History, Round, Violation, breachable_parts
from grove_core.testing.invariants.reference_verdicts import missing_kinds

_BREACHED: Final = "MinAvailableBreached"


def _terminated(found: Round) -> list[PodClique]:
    """Return the PodCliques that the plan deletes for a breach, or of a replica that the set wants.

    A PodClique of a scaling group may be deleted with a surplus replica, so without a breach it is not one of them.
    """
    named = {step.target for step in found.plan.steps if is_gang_termination_deletion(step)}
    root = found.snapshot.root
    own = [found.cliques[ref] for ref in found.deletions if ref in found.cliques]
    wanted = {one.ref for one in own if one.owner_uid == root.uid and 0 <= one.replica_index < root.spec.replicas}
    return [one for one in own if one.ref in named or (one.ref in wanted and not root.deleting)]


def violations_of_field_deletion_rule(rule: str, history: History) -> Iterator[Violation]:
    """Yield terminations without a delay (GF-002), without all kinds (GF-009), or of a deleted set (GF-077)."""
    found = history[-1]
    root = found.snapshot.root
    expected = {
        "GF-002": "" if root.spec.template.termination_delay else "no termination without a termination delay",
        "GF-009": ", ".join(f"no termination without {kind}" for kind in missing_kinds(found.snapshot)),
        "GF-077": "no termination by a set that is being deleted" if root.deleting else "",
    }[rule]
    for clique in _terminated(found) if expected else ():
        if rule != "GF-077" or clique.owner_uid == root.uid:
            yield Violation(clique.ref.short, expected, "a deletion")


def violations_of_whole_replicas(history: History) -> Iterator[Violation]:
    """Yield the PodCliques that stay although a standalone one of their replica is terminated (GF-073)."""
    found = history[-1]
    if found.failed:
        return
    ended = {one.replica_index: one for one in _terminated(found) if one.owner_uid == found.snapshot.root.uid}
    for clique in found.snapshot.cliques:
        if clique.replica_index in ended and not clique.deleting and clique.ref not in found.deletions:
            other = ended[clique.replica_index].ref.short
            yield Violation(clique.ref.short, f"a deletion with {other} of the same replica", "none")


def violations_of_premature_field_termination(history: History) -> Iterator[Violation]:
    """Yield terminations of replicas in which no breach has lasted for the delay (GF-050).

    That a breach is acted on once its delay is over is not checked: it depends on conditions that only some releases
    write (LT-013).
    """
    found = history[-1]
    delay = found.snapshot.root.spec.template.termination_delay
    if found.failed or not delay or missing_kinds(found.snapshot):
        return
    due = set()
    for one in breachable_parts(found.snapshot):
        condition = condition_of(_after(found, one).status.conditions, _BREACHED)
        is_true = condition is not None and condition.status is ConditionStatus.TRUE
        if condition is not None and is_true and condition.last_transition_time + delay <= found.snapshot.now:
            due.add(one.replica_index)
    for clique in _terminated(found):
        if clique.replica_index not in due:
            yield Violation(clique.ref.short, "a breach in its replica that has lasted for the delay", "none")


def _after(found: Round, one: PodClique | ScalingGroup) -> PodClique | ScalingGroup:
    """Return a part with the status that the plan writes."""
    for step in found.plan.steps:
        if step.target == one.ref and isinstance(step.action, SetStatus):
            return object_after_status_write(one, step.action.fields)
    return one
