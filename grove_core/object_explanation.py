"""Explains one object: its PodCliques, the findings and steps about it, and the guard against its termination."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from functools import cached_property
from typing import Final

from grove_core.areas.gang_termination.forecast_terminations import (
    findings_after_predicted_steps,
    findings_with_averted_replaced,
)
from grove_core.areas.gang_termination.verdicts import DELEGATES, KEEPS, TERMINATES, WAITS
from grove_core.kernel.conditions import Condition, ConditionStatus
from grove_core.kernel.decisions import Finding, SubjectHealth
from grove_core.kernel.questions import BREACH, COMPUTE_DOMAIN, MISPLACEMENT, TERMINATION
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Delete, Make, SetStatus, Step
from grove_core.kernel.structs import Struct, replace
from grove_core.kernel.wants import Withheld
from grove_core.object_lookup import (
    KINDS_WITHOUT_PODS,
    compute_domain_ref,
    podcliques_of_object,
    ref_by_kind_and_name,
    replica_of_domain,
)
from grove_core.plan.forecast import Forecast, ForecastRound
from grove_core.plan.plan import Plan
from grove_core.plan.update_forecast import UpdateStage
from grove_core.resources.api_names import DOMAIN_KIND, GROUP_KIND, GROVE, POD_GROUP_KIND
from grove_core.resources.object_metadata import metadata_in
from grove_core.resources.pod import Pod
from grove_core.resources.podclique import PodClique
from grove_core.snapshot.snapshot import Snapshot

_TRUE: Final = ConditionStatus.TRUE.value
_ENDS: Final = frozenset({WAITS, TERMINATES})


class ObjectExplanation(Struct, frozen=True, dict=True):
    """One object of one root, with the plan for the root.

    Attributes:
        kind: PodCliqueSet, or a kind that a plan for one creates (``EVERY_KIND``).
        name: of an object of that kind that the root has (:func:`~grove_core.object_lookup.snapshot_has_object`).
        forecast: what follows the plan: its rounds, the terminations that its steps avert, the update of an edit;
            None for the plan alone.
    """

    snapshot: Snapshot
    plan: Plan
    kind: str
    name: str
    forecast: Forecast | None = None

    @cached_property
    def ref(self) -> Ref:
        """The address of the object."""
        found = compute_domain_ref(self.snapshot, self.name) if self.kind == DOMAIN_KIND else self._ref_without_pods()
        return found or ref_by_kind_and_name(self.snapshot, self.kind, self.name)

    def _ref_without_pods(self) -> Ref | None:
        """The address of an object of a kind without pods, in the version that is stored or planned."""
        if self.kind not in KINDS_WITHOUT_PODS:
            return None
        stored = (one.ref for one in self.snapshot.others)
        refs = (*stored, *(step.target for step in self.plan.steps), *(held.target for held in self.plan.withheld))
        return next((ref for ref in refs if (ref.kind, ref.name) == (self.kind, self.name)), None)

    @cached_property
    def cliques(self) -> tuple[PodClique, ...]:
        """The PodCliques of the object: itself, its members, all of a set, or the one that a pod belongs to."""
        return podcliques_of_object(self.snapshot, self.kind, self.name)

    def pods_of_clique(self, clique: PodClique) -> list[Pod]:
        """Return the pods of a PodClique, sorted by name."""
        return sorted(self.snapshot.pods_of.get(clique.uid, ()), key=lambda pod: pod.name)

    @cached_property
    def _averted(self) -> Mapping[tuple[Ref, str], Finding]:
        """The findings after the steps of the plan on terminations that these steps avert (PL-025)."""
        found = findings_after_predicted_steps(self.plan.findings, self._averted_by_forecast)
        return {(one.subject, one.question): one for one in found}

    @property
    def _averted_by_forecast(self) -> tuple[Finding, ...]:
        return () if self.forecast is None else self.forecast.averted

    @cached_property
    def _averted_deadlines(self) -> Mapping[tuple[Ref, str], datetime | None]:
        """When each of them would come but for the steps of the plan."""
        keyed = (((one.subject, one.question), one.deadline) for one in self.plan.findings)
        return {key: deadline for key, deadline in keyed if key in self._averted}

    @cached_property
    def _findings(self) -> tuple[Finding, ...]:
        """Every finding of the plan; on an averted termination and its breaches those after the steps (CL-125)."""
        return findings_with_averted_replaced(self.plan.findings, self._averted_by_forecast)

    def is_after_steps(self, finding: Finding) -> bool:
        """Whether a finding holds only once the steps of the plan are done (CL-125)."""
        return self._averted.get((finding.subject, finding.question)) is finding

    def averted_until(self, finding: Finding) -> datetime | None:
        """Return when a replica would be terminated but for the steps of the plan; None where it would not."""
        deadline = self._averted_deadlines.get((finding.subject, finding.question))
        return deadline if self.is_after_steps(finding) else None

    def is_averted_time(self, at: datetime | None) -> bool:
        """Whether a termination that the steps of the plan avert would come at that time."""
        return any(
            deadline == at for (_, question), deadline in self._averted_deadlines.items() if question == TERMINATION
        )

    def findings(self) -> Iterator[Finding]:
        """Yield the findings on the object, on its PodCliques, and on every owner whose termination would delete it.

        The termination of its own replica of a scaling group is before that of the group (CL-127).
        """
        found = list(self._findings_on_object())
        places = {(one.subject, one.question): (place, 1) for place, one in enumerate(found)}
        found += self._kept_replicas(found)
        for one in found:
            if one.question == TERMINATION and one.subject in self._own_replicas:
                own = places.get((one.subject, TERMINATION), (0, 0))
                places[one.subject, TERMINATION] = (
                    places.get((one.subject.without_replica, TERMINATION), own)[0],
                    0,
                )
        yield from sorted(found, key=lambda one: places[one.subject, one.question])

    def is_of_other_replica(self, finding: Finding) -> bool:
        """Whether a termination that a scaling group waits for or executes is only of replicas without the object."""
        own = {ref for ref in self._own_replicas if ref.without_replica == finding.subject}
        if not own or finding.question != TERMINATION or finding.verdict not in _ENDS:
            return False
        return not any(
            one.subject in own and one.question == TERMINATION and one.verdict in _ENDS for one in self._findings
        )

    @cached_property
    def _own_replicas(self) -> frozenset[Ref]:
        """The replicas of scaling groups that the object is in; none for a group or set, which has them all."""
        if self.kind in {"PodCliqueSet", GROUP_KIND}:
            return frozenset()
        return frozenset(ref for one in self.cliques for ref in self._chain(one) if ref.kind == GROUP_KIND)

    def _kept_replicas(self, found: Iterable[Finding]) -> Iterator[Finding]:
        """Yield findings on own replicas of groups that the plan has none on, because no breach of them is acted on."""
        groups = {group.subject for group in filter(self.is_of_other_replica, found)}
        judged = {one.subject for one in self._findings if one.question == TERMINATION}
        own = [ref for ref in self._own_replicas - judged if ref.without_replica in groups]
        whys = ((ref, self._reasons_of_breaches(ref)) for ref in sorted(own, key=lambda one: one.sort_key))
        yield from (Finding(ref, TERMINATION, KEEPS, because) for ref, because in whys if because)

    def _reasons_of_breaches(self, replica: Ref) -> tuple[Reason, ...]:
        """Return the first reason of the finding on the breach of each PodClique of a replica."""
        members = {clique.ref for clique in self.snapshot.cliques if replica in self._chain(clique)}
        return tuple(one.because[0] for one in self._findings if one.question == BREACH and one.subject in members)

    def _findings_on_object(self) -> Iterator[Finding]:
        """Yield the findings on the object in the order of the plan."""
        if self.kind == DOMAIN_KIND:
            found, root = (
                [one for one in self._findings if one.question == COMPUTE_DOMAIN],
                self.snapshot.root.ref,
            )
            replica = replica_of_domain(self.snapshot, self.name)
            sharers = {one.subject.name for one in found if self.ref in one.causes}
            subjects = {root, self.ref, *(() if replica is None else (root.at_replica(replica),))}
            yield from (one for one in found if one.subject in subjects or one.subject.name in sharers)
            return
        above = set(self._above())
        cliques = {clique.ref for clique in self.cliques}
        names = {ref.name for ref in cliques}
        gangs = {gang.ref for gang in self.snapshot.gangs if any(group.name in names for group in gang.groups)}
        for finding in self._findings:
            subject = finding.subject
            concerns = subject in above or subject in cliques or subject == self.ref
            if concerns or self._is_replica_of_self(subject) or (finding.question == MISPLACEMENT and subject in gangs):
                yield finding

    def conditions(self) -> Iterator[tuple[Ref, Condition]]:
        """Yield the conditions that show whether a gang or group is scheduled, each with its object (CL-071, CL-085).

        These are all conditions of a PodGang, PodGroup or CompositePodGroup that is explained, and those of the
        PodGroup of an explained PodClique or pod that are not True.
        """
        yield from (
            (gang.ref, one) for gang in self.snapshot.gangs if gang.ref == self.ref for one in gang.status.conditions
        )
        name = self.cliques[0].ref.name if self.kind in {"PodClique", "Pod"} and self.cliques else ""
        for group in self.snapshot.others:
            is_explained = (group.ref.kind, group.ref.name) == (self.kind, self.name)
            if is_explained or (group.ref.kind, group.ref.name) == (POD_GROUP_KIND, name):
                found = (one for one in group.conditions if is_explained or one.status is not ConditionStatus.TRUE)
                yield from ((group.ref, one) for one in found)

    def planned_steps(self) -> Iterator[Step]:
        """Yield the steps for the object, its PodCliques and their pods, without status steps (CL-015)."""
        return self._steps_on_object(self.plan.steps)

    def later_rounds(self) -> Iterator[ForecastRound]:
        """Yield the rounds after the first one that have steps for the object, with these steps alone (CL-126)."""
        for one in () if self.forecast is None else self.forecast.rounds[1:]:
            if steps := tuple(self._steps_on_object(one.steps)):
                yield replace(one, steps=steps)

    def update_stages(self) -> Iterator[tuple[int, UpdateStage]]:
        """Yield the stages of an edit's update that delete pods of the object, numbered, with these pods (CL-126)."""
        edit, pods = None if self.forecast is None else self.forecast.edit, self._concerned()
        parts = {one.without_replica for one in (*self._above(), *(clique.ref for clique in self.cliques))}
        for number, stage in enumerate(() if edit is None or edit.update is None else edit.update.stages, 1):
            if deleted := tuple(one for one in stage.deleted if one.pod in pods):
                serving = tuple(one for one in stage.serving if one.part in parts)
                yield number, replace(stage, deleted=deleted, serving=serving)

    def _steps_on_object(self, steps: Iterable[Step]) -> Iterator[Step]:
        """Yield those steps for the object, its PodCliques and their pods, and deletions of its owners."""
        uids = {clique.uid for clique in self.cliques}
        concerned, above = self._concerned(), set(self._above())
        for step in steps:
            action = step.action
            if isinstance(action, SetStatus):
                continue
            if (
                self.kind == "PodCliqueSet"
                or step.target in concerned
                or (isinstance(action, Delete) and step.target in above)
                or (
                    isinstance(action, Make)
                    and self.kind != "Pod"
                    and metadata_in(action.manifest).controller.uid in uids
                )
            ):
                yield step

    def withheld_steps(self) -> Iterator[Withheld]:
        """Yield the withheld steps for the object, its PodCliques, their pods and their owners (CL-015)."""
        concerned, above = self._concerned(), set(self._above())
        for held in self.plan.withheld:
            if self.kind == "PodCliqueSet" or held.target in concerned or held.target in above:
                yield held

    def _concerned(self) -> set[Ref]:
        """The object, its PodCliques and their pods; for a pod only itself and its PodClique."""
        pods = (pod.ref for clique in self.cliques for pod in self.snapshot.pods_of.get(clique.uid, ()))
        of_cliques = () if self.kind == "Pod" else pods
        return {self.ref, *(clique.ref for clique in self.cliques), *of_cliques}

    def findings_against_termination(self) -> Iterator[Finding]:
        """Yield the guards of the object: for each PodClique and replica, the finding that prevents a termination.

        The findings are checked in this order: the breach of the PodClique; the termination of its scaling group's
        replica; the termination of the set's replica, where the group delegates to it. The first one that does not lead
        to a termination is the guard. Where a replica is terminated that contains the PodClique, whatever the state of
        the PodClique, that finding is yielded instead.
        """
        found = {(finding.subject, finding.question): finding for finding in self._findings}
        yielded: set[tuple[Ref, str]] = set()
        for clique in self.cliques:
            guard = self._guard_of(clique, found)
            if guard is not None and (guard.subject, guard.question) not in yielded:
                yielded.add((guard.subject, guard.question))
                if guard.health is not SubjectHealth.HEALTHY or self.kind in {"PodClique", "Pod"}:
                    yield guard
        if self.kind in {"PodCliqueSet", GROUP_KIND}:
            for finding in self._findings:
                key = (finding.subject, finding.question)
                if finding.question == TERMINATION and self._is_replica_of_self(finding.subject) and key not in yielded:
                    yield finding

    def _guard_of(self, clique: PodClique, found: dict[tuple[Ref, str], Finding]) -> Finding | None:
        above = [finding for ref in self._chain(clique) if (finding := found.get((ref, TERMINATION))) is not None]
        termination = next((finding for finding in above if finding.verdict == TERMINATES), None)
        if termination is not None:
            return termination
        breach = found.get((clique.ref, BREACH))
        if breach is None or breach.verdict != _TRUE:
            return breach or found.get((self.snapshot.root.ref, TERMINATION))
        return next((finding for finding in above if finding.verdict != DELEGATES), breach)

    def _chain(self, clique: PodClique) -> tuple[Ref, ...]:
        """The replicas whose termination deletes a PodClique, the nearest first."""
        return clique.enclosing_replicas(self.snapshot.root.ref)

    def _above(self) -> Iterator[Ref]:
        """The root, and the replicas and scaling groups that contain the object's PodCliques."""
        yield self.snapshot.root.ref
        for clique in self.cliques:
            yield from self._chain(clique)
            if clique.is_in_scaling_group:
                yield Ref(GROVE, GROUP_KIND, clique.ref.namespace, clique.owner_name)

    def _is_replica_of_self(self, subject: Ref) -> bool:
        return subject.replica is not None and (subject.kind, subject.name) == (self.kind, self.name)
