"""The judgement of a set and its parts by the rules of the Go operator."""

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from datetime import datetime
from functools import cached_property

from grove_core.areas.workload.field.clique_update import CliqueUpdateStep
from grove_core.areas.workload.field.present_templates import PresentTemplateHashes
from grove_core.areas.workload.field.releases import FROM_ALPHA_12, WorkloadBehaviourOfRelease
from grove_core.areas.workload.field.scaling_group_update import GroupUpdateStep
from grove_core.areas.workload.field.set_update import SetUpdateDecision
from grove_core.areas.workload.pods.scheduling_gates import SchedulingGateJudgement
from grove_core.areas.workload.verdicts import WorkloadInputs
from grove_core.areas.workload.workload_context import WorkloadContext
from grove_core.kernel.frozen import FrozenDict
from grove_core.kernel.structs import Struct
from grove_core.kernel.wants import ObjectToDelete
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset_spec import ON_DELETE
from grove_core.snapshot.expected_replicas import ExpectedClique, ExpectedReplica


class GoOperatorSetParts(Struct, frozen=True, kw_only=True, dict=True):
    """The parts of a set of which all cliques are known.

    Attributes:
        context: the indexed snapshot.
        inputs: the verdicts of other areas.
        replicas: what the set should consist of; there are no additional pods or replicas during an update.
        templates: the hashes of the present templates.
        terminating: names of the cliques that are terminated: none of them is created meanwhile (WL-076).
        surplus: the deletions of cliques and groups beyond the wanted replicas.
        set_update: what happens to the update of the set; idle where pods are not known.
        clique_updates, group_updates: by name, for those with progress.
        starts_at: when the first PodClique is created; None where the operator does not wait (WF-070).
        release: of the operator.
    """

    context: WorkloadContext
    inputs: WorkloadInputs
    replicas: tuple[ExpectedReplica, ...]
    templates: PresentTemplateHashes
    terminating: frozenset[str]
    surplus: tuple[ObjectToDelete, ...]
    set_update: SetUpdateDecision
    clique_updates: FrozenDict[str, CliqueUpdateStep]
    group_updates: FrozenDict[str, GroupUpdateStep]
    starts_at: datetime | None = None
    release: WorkloadBehaviourOfRelease = FROM_ALPHA_12

    @property
    def generation_in_status(self) -> str:
        """The generation hash that the set's status has; what other controllers go by."""
        return self.context.root.status.current_hash

    @property
    def is_on_delete(self) -> bool:
        """Whether running pods stay until a user deletes them."""
        return self.context.root.spec.update_strategy.type == ON_DELETE

    @cached_property
    def cliques_without_new_pods(self) -> AbstractSet[str]:
        """Names of cliques that are deleted now or terminated, or take over the present template now."""
        steps = self.group_updates.values()
        deleted = {want.target.name for want in (*self.surplus, *(one for step in steps for one in step.deletions))}
        return self.terminating | deleted | {part.name for part, _ in self.outdated_in_place()}

    def existing_cliques(self) -> Iterator[tuple[ExpectedClique, PodClique]]:
        """Yield every expected clique that exists."""
        for part in (part for replica in self.replicas for part in replica.all_cliques):
            clique = self.context.existing_clique(part)
            if clique is not None:
                yield part, clique

    def outdated_in_place(self) -> Iterator[tuple[ExpectedClique, PodClique]]:
        """Return the cliques that take over the present template as they are: standalone ones, all under OnDelete."""
        return (
            (part, clique)
            for part, clique in self.existing_cliques()
            if (self.is_on_delete or not part.group) and not self.templates.is_current(clique, part)
        )


class GoOperatorWorkloadJudgement(Struct, frozen=True):
    """A set and its parts; ``parts`` is None where the design has none either (WL-010, WL-024, WL-028)."""

    gates: tuple[SchedulingGateJudgement, ...]
    parts: GoOperatorSetParts | None = None
