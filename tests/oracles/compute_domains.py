"""Checks ComputeDomains in mode operator: their creation, use and deletion, and the condition (CD1 to CD7, CD10)."""

from datetime import datetime, timedelta
from typing import Final

from grove_core.areas.mnnvl.rules import MnnvlReason
from grove_core.kernel.steps import Attempt, AttemptOutcome, Create, Delete, Make, SetStatus, Step
from grove_core.plan.plan import Plan
from grove_core.resources.api_names import DOMAIN_KIND
from grove_core.resources.compute_domain import ComputeDomain
from grove_core.resources.configuration import Configuration
from grove_core.resources.naming_rules import parse_replica_index
from grove_core.resources.podclique import PodClique
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.snapshot.own_writes import with_own_writes
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.simulator.checks.simulation_check import ActualClusterState, SimulationCheck
from grove_shell.simulator.cluster.object_change_detector import ObjectChange
from grove_shell.simulator.cluster.simulated_cluster import pod_claims_channel
from grove_shell.simulator.recording.simulation_history import SimulationActor
from tests.oracles.domain_facts import (
    TEMPLATE,
    Part,
    ReplicaIndex,
    claim_template_of,
    failed_in,
    is_shared,
    needs_domains,
)

_LONGEST_WAIT: Final = timedelta(seconds=60)
_WAITING: Final = frozenset(
    {MnnvlReason.WAITS_FOR_DOMAIN, MnnvlReason.EARLIER_DOMAIN, MnnvlReason.DOMAINS_NOT_COLLECTED}
)
_PARTS: Final = frozenset({"PodClique", "PodCliqueScalingGroup"})


class ComputeDomainCheck(SimulationCheck):
    """CD1 to CD7, CD10: checks the creation of domains and parts, and the operator's writes about them."""

    def __init__(self, state: ActualClusterState) -> None:
        super().__init__(state)
        self.replicas = ReplicaIndex(state)
        self._configuration = Configuration()  # of the running operator
        self.deprived: set[str] = set()  # uids of parts created without a domain, because it had failed
        self._made_by_old_leader: set[str] = set()  # uids of parts and domains
        self._mixed: set[tuple[str, int]] = set()  # replicas with a part of a crashed operator of another configuration

    # creation

    def on_changes(self, changes: list[ObjectChange]) -> None:
        """Check new and changed parts and domains."""
        created: list[Part] = []
        for change in changes:
            before, after = change.before, change.after
            if isinstance(after, PodClique | ScalingGroup):
                if before is None:
                    created.append(after)
                elif before.annotations.get(TEMPLATE) != after.annotations.get(TEMPLATE):  # type: ignore[union-attr]  # the same object
                    self.state.report_broken_promise(
                        "CD2", f"the annotation of {after.ref.short} was changed", after.ref.short
                    )
            elif isinstance(after, ComputeDomain) and before is None:
                self._check_new_domain(after)
            elif isinstance(after, PodCliqueSet) and not needs_domains(after, self.state.cluster.server.configuration):
                self._forget_failures(after, after.spec.replicas, wanted=False)  # a crash may follow this write
        for part in sorted(created, key=lambda part: isinstance(part, PodClique)):
            self._check_new_part(part)
        for part in created:
            self._check_siblings(part)

    def _check_new_domain(self, domain: ComputeDomain) -> None:
        root = self.replicas.root(domain.owner_uid)
        index = _index_of(domain)
        if root is None or index is None:
            return
        name = domain.ref.short
        self.replicas.made.add((root.uid, index))
        if claim_template_of(domain) != f"{root.ref.name}-rct-{index}":
            self.state.report_broken_promise("CD10", f'{name} names the template "{claim_template_of(domain)}"', name)
        siblings = self.replicas.siblings((root.uid, index))
        if (
            siblings
            and not any(TEMPLATE in part.annotations for part in siblings)
            and not any(part.uid in self.deprived | self._made_by_old_leader for part in siblings)
            and index not in (failed_in(root) or ())  # created and deleted before the condition was written
            and domain.uid not in self._made_by_old_leader  # it still observed the earlier failure
            and needs_domains(root, self.state.cluster.server.configuration)  # else a crashed operator sent it (MN-024)
        ):
            message = f"{name} is created, and replica {index} has run without one from the start"
            self.state.report_broken_promise("CD1", message, name, siblings[0].ref.short)
        self.deprived.difference_update(part.uid for part in siblings)  # the domain exists now (MN-024)

    def _check_new_part(self, part: Part) -> None:
        uid, index = self.replicas.add(part)
        root, short = self.replicas.root(uid), part.ref.short
        if root is None:
            return
        if TEMPLATE not in part.annotations:
            found = self.replicas.domain(root, index)
            if index in (failed_in(root) or ()) and (found is None or found.owner_uid != root.uid):
                self.deprived.add(part.uid)
            return
        if part.annotations[TEMPLATE] != f"{root.ref.name}-rct-{index}":
            self.state.report_broken_promise("CD2", f'{short} names the template "{part.annotations[TEMPLATE]}"', short)
        if (uid, index) not in self.replicas.made:
            earlier = self.replicas.domain(root, index) is not None
            message = f"{short} is created to use a domain that was never created for replica {index} of this set"
            self.state.report_broken_promise("CD7" if earlier else "CD2", message, short)

    def _check_siblings(self, part: Part) -> None:
        """Check that all parts of a replica use its domain, or none does (CD4)."""
        if part.uid in self._made_by_old_leader or self.replicas.place_of[part.uid] in self._mixed:
            return
        for other in self.replicas.siblings(self.replicas.place_of[part.uid]):
            if other.uid not in self._made_by_old_leader and (TEMPLATE in other.annotations) != (
                TEMPLATE in part.annotations
            ):
                one, two = (part, other) if TEMPLATE in part.annotations else (other, part)
                message = f"{one.ref.short} uses the domain of its replica, {two.ref.short} does not"
                self.state.report_broken_promise("CD4", message, one.ref.short, two.ref.short)

    # actions of operators

    def on_operator_plan(self, actor: SimulationActor, snapshot: Snapshot, plan: Plan) -> None:
        """Check that a part waits only for a domain in creation, or for an earlier one in deletion (CD3)."""
        root = snapshot.root
        if root.deleting or not needs_domains(root, snapshot.configuration):
            return
        refused = {
            attempt.step.target.name
            for attempt in snapshot.attempts
            if attempt.outcome is AttemptOutcome.REFUSED and isinstance(attempt.step.action, Create)
        }
        tried = {step.target.name for step in plan.steps if step.target.kind == DOMAIN_KIND} - refused
        seen = with_own_writes(snapshot)
        for held in plan.withheld:
            rules = {why.rule for why in held.because}
            if held.target.kind not in _PARTS or not rules & _WAITING:
                continue
            owner, _, rest = held.target.name.removeprefix(f"{root.ref.name}-").partition("-")
            name = f"{root.ref.name}-cd-{owner}"
            wait_until = _may_wait_until(seen, name)
            if not rest or name in tried or (wait_until is not None and seen.now < wait_until):
                continue
            message = f"{held.target.short} waits for {name} too long"
            self.state.report_broken_promise("CD3", message, held.target.short)
        del actor

    def on_operator_write(self, actor: SimulationActor, snapshot: Snapshot, attempt: Attempt) -> None:
        """Check one write."""
        step = attempt.step
        if step.target.kind in _PARTS and isinstance(step.action, Create):
            self._record_part(actor, snapshot, attempt)
        elif attempt.outcome is not AttemptOutcome.DONE:
            return
        elif step.target.kind == DOMAIN_KIND and isinstance(step.action, Create):
            if not needs_domains(snapshot.root, snapshot.configuration):
                self.state.report_broken_promise(
                    "CD1", f"{step.target.short} is created, and its set needs none", step.target.short
                )
            made = self.state.cluster.server.items.get(step.target)
            had_failed = _index_in(step.target.name, snapshot.root) in (failed_in(snapshot.root) or ())
            if actor is SimulationActor.SECOND and had_failed and made is not None:
                self._made_by_old_leader.add(made.uid)
        elif step.target.kind == DOMAIN_KIND and not isinstance(step.action, Make):
            self._check_owner(snapshot, step)
        elif isinstance(step.action, SetStatus) and step.target == snapshot.root.ref:
            self._check_condition(snapshot)

    def _record_part(self, actor: SimulationActor, snapshot: Snapshot, attempt: Attempt) -> None:
        made = self.state.cluster.server.items.get(attempt.step.target)
        if not isinstance(made, PodClique | ScalingGroup) or made.uid in self.replicas.place_of:
            return  # it existed before
        if snapshot.configuration.mnnvl != self.state.cluster.server.configuration.mnnvl:
            self._mixed.add((snapshot.root.uid, self.replicas.index_of(made)))
        if actor is SimulationActor.SECOND:
            self._made_by_old_leader.add(made.uid)
        elif attempt.outcome is AttemptOutcome.DONE:
            self._check_missing_domain(snapshot, made)

    def _check_owner(self, snapshot: Snapshot, step: Step) -> None:
        """Check that a written domain belongs to the set (CD6); shared ones are checked in ``shared_domains.py``."""
        found = snapshot.named_domains.get((step.target.namespace, step.target.name))
        if found is not None and is_shared(found):
            return
        if found is None or found.owner_uid != snapshot.root.uid:
            self.state.report_broken_promise("CD6", f"{step.target.short} is a foreign object", step.target.short)
        elif isinstance(step.action, Delete):
            self._check_deletion(snapshot, found)

    def _check_missing_domain(self, snapshot: Snapshot, part: Part) -> None:
        """Check that a part lacks a domain only where the condition lists it or its siblings lack it (CD3)."""
        root = self.state.cluster.server.items.get(snapshot.root.ref)
        if TEMPLATE in part.annotations or not isinstance(root, PodCliqueSet):
            return
        if root.deleting or not needs_domains(snapshot.root, snapshot.configuration):
            return
        place = (root.uid, self.replicas.index_of(part))
        known = {other.uid for other in (*snapshot.cliques, *snapshot.groups) if not other.deleting}
        siblings = [other for other in self.replicas.siblings(place) if other.uid != part.uid]
        without = any(TEMPLATE not in other.annotations for other in siblings)
        seen = any(self.replicas.place_of.get(uid) == place for uid in known)
        if place[1] not in (failed_in(root) or ()) and not without and not seen:
            message = f"{part.ref.short} has no ComputeDomain, and no condition says why"
            self.state.report_broken_promise("CD3", message, part.ref.short)

    def _check_deletion(self, snapshot: Snapshot, domain: ComputeDomain) -> None:
        """Check that only domains of deleted replicas without users are deleted (CD5)."""
        root, index, name = snapshot.root, _index_of(domain), domain.ref.short
        if index is None or index < root.spec.replicas or root.deleting:
            self.state.report_broken_promise("CD5", f"{name} was deleted, and its replica is needed", name)
        place = (root.uid, index)
        for uid, pods in self.state.cluster.server.pods.items():
            for pod in pods if self.replicas.place_of.get(uid) == place else ():
                if pod_claims_channel(self.state.cluster, pod):
                    self.state.report_broken_promise(
                        "CD5", f"{name} was deleted while {pod.name} uses it", name, pod.ref.short
                    )

    def _forget_failures(self, root: PodCliqueSet, replicas: int, *, wanted: bool) -> None:
        """Forget what the condition does not list any more after MNNVL was switched off, or after scaling in.

        The parts keep no domain (MN-024).
        """
        places = self.replicas.place_of
        dropped = {index for _, index in places.values() if index >= replicas or not wanted}
        dropped.difference_update(failed_in(root) or ())
        self.deprived -= {uid for uid, (of, index) in places.items() if of == root.uid and index in dropped}

    def _check_condition(self, snapshot: Snapshot) -> None:
        """Check that the condition lists the domains that were refused, and none that exists (CD3)."""
        root = self.state.cluster.server.items.get(snapshot.root.ref)
        if not isinstance(root, PodCliqueSet):
            return
        listed, name = failed_in(root), root.ref.short
        if listed is None or list(listed) != sorted(set(listed)):
            self.state.report_broken_promise("CD3", f"the condition of {name} has another form than documented", name)
            return
        wanted = needs_domains(snapshot.root, snapshot.configuration)
        replicas = snapshot.root.spec.replicas
        self._forget_failures(root, replicas, wanted=wanted)
        seen = with_own_writes(snapshot)
        refused = {
            _index_in(attempt.step.target.name, root)
            for attempt in snapshot.attempts
            if attempt.outcome is AttemptOutcome.REFUSED and isinstance(attempt.step.action, Create) and wanted
            if attempt.step.target.kind == DOMAIN_KIND
            and (attempt.step.target.namespace, attempt.step.target.name) not in seen.named_domains
        }
        silent = sorted(index for index in refused if index < replicas and index not in listed)
        if silent:
            self.state.report_broken_promise(
                "CD3", f"the domain of replica {silent[0]} was refused, and {name} does not list it", name
            )
        for index in listed:
            found = seen.named_domains.get((root.ref.namespace, f"{root.ref.name}-cd-{index}"))
            if not wanted or (found is not None and found.owner_uid == root.uid and not found.deleting):
                self.state.report_broken_promise(
                    "CD3", f"{name} lists the domain of replica {index} as failed, and it exists", name
                )

    # at rest

    def on_operator_start(self, actor: SimulationActor, configuration: Configuration, *, goes_on: bool) -> None:
        """Keep the configuration of the operator process that started."""
        if actor is SimulationActor.OPERATOR:
            self._configuration = configuration
        del goes_on

    def check_at_rest(self) -> None:
        """Check that every replica has its domain, or is listed as failed in the condition (CD1, CD3, CD10)."""
        for root in self.state.cluster.all_sets():
            if not root.deleting:
                self._check_at_rest(root, wanted=needs_domains(root, self._configuration))

    def _check_at_rest(self, root: PodCliqueSet, *, wanted: bool) -> None:
        state, replicas, short = self.state, self.replicas, root.ref.short
        failing: list[int] = []
        for index in range(root.spec.replicas):
            parts = replicas.siblings((root.uid, index))
            found = replicas.domain(root, index)
            joined = any(TEMPLATE in part.annotations for part in parts)
            if not wanted or (found is not None and found.owner_uid == root.uid and not found.deleting):
                continue
            if not joined and not any(part.uid in self.deprived for part in parts):
                continue
            failing.append(index)
            if found is None:
                made = (root.uid, index) in replicas.made
                word = "recreated" if made else "created"
                state.report_broken_promise(
                    "CD10" if made else "CD1", f"the domain of replica {index} of {short} is never {word}", short
                )
        if list(failed_in(root) or ()) != failing:
            state.report_broken_promise(
                "CD3", f"{short} lists failed domains of replicas {failed_in(root)}, and {failing} failed", short
            )
        for domain in state.cluster.server.items.values():
            number = parse_replica_index(domain.ref.name.rpartition("-cd-")[2])
            ours = domain.ref.kind == "ComputeDomain" and domain.owner_uid == root.uid
            if ours and number is not None and number >= root.spec.replicas and not domain.deleting:
                state.report_broken_promise("CD1", f"{domain.ref.short} is left of a deleted replica", domain.ref.short)


def _may_wait_until(seen: Snapshot, name: str) -> datetime | None:
    """Return until when a part may wait for a domain that is being deleted; None where it may not wait."""
    found = seen.named_domains.get((seen.root.ref.namespace, name))
    if found is None:
        return None
    if found.deleting:
        return (found.deleted_at or seen.now) + _LONGEST_WAIT
    earlier = found.owner_kind == "PodCliqueSet" and found.owner_uid != seen.root.uid
    return (seen.root.created_at or seen.now) + _LONGEST_WAIT if earlier else None


def _index_of(domain: ComputeDomain) -> int | None:
    return parse_replica_index(domain.ref.name.rpartition("-cd-")[2])


def _index_in(name: str, root: PodCliqueSet) -> int:
    found = parse_replica_index(name.removeprefix(f"{root.ref.name}-cd-"))
    return -1 if found is None else found
