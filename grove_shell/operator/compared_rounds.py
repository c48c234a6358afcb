"""Two rounds of a set compared: what another operator deleted between them, and what it would soon replace."""

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from grove_core.kernel.errors import BrokenInvariant
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Delete, is_gang_termination_deletion
from grove_core.object_explanation import ObjectExplanation
from grove_core.resources.podclique import GROUP_KIND, PodClique
from grove_core.rule_sets.rule_set import RuleSet
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.apply.planned_round import PlannedReconcileRound
from grove_shell.in_memory.forecasts import steps_of_coming_rounds


@dataclass(frozen=True)
class ComparedRound:
    """A planned round of a set, its snapshot, and the predicted terminations: uid of a PodClique -> when it is due."""

    round: PlannedReconcileRound
    snapshot: Snapshot
    predicted: Mapping[str, datetime]
    rules: RuleSet

    @cached_property
    def replaced_soon(self) -> AbstractSet[Ref]:
        """What the coming rounds of this snapshot replace or scale in."""
        return replaced_soon(self.snapshot, self.rules)


def deleted_between(before: ComparedRound, now: ComparedRound) -> Iterator[PodClique]:
    """Yield the PodCliques that are deleted or being deleted since, except those that go with their scaling group."""
    then, seen = before.snapshot, now.snapshot
    if then.root.deleting or seen.root.deleting or "PodClique" in seen.not_collected:
        return
    there = {one.uid for one in (*seen.cliques, *seen.groups) if not one.deleting}
    groups_gone = {group.ref.name for group in then.groups if group.uid not in there}
    for clique in then.cliques:
        goes_with_group = clique.owner_kind == GROUP_KIND and clique.owner_name in groups_gone
        if not clique.deleting and clique.uid not in there and not goes_with_group:
            yield clique


def replaced_soon(seen: Snapshot, rules: RuleSet) -> AbstractSet[Ref]:
    """Return what the coming rounds replace or scale in; each of these rounds waits for the one before."""
    found = set[Ref]()
    with suppress(BrokenInvariant):  # a snapshot between two rounds may be one that never was
        for step in steps_of_coming_rounds(seen, rules):
            if isinstance(step.action, Delete) and not is_gang_termination_deletion(step):
                found.add(step.target)
    return found


def kept_because(compared: ComparedRound, clique: PodClique) -> tuple[Reason, ...]:
    """Return the guard that kept a PodClique, as ``grove explain --why-not terminate`` names it."""
    guards = ObjectExplanation(
        compared.snapshot, compared.round.plan, "PodClique", clique.ref.name
    ).findings_against_termination()
    return next((guard.because for guard in guards), ())
