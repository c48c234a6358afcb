"""Operators with one known mistake each about ComputeDomains; the checks must find every one of them."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from grove_core.kernel.conditions import REMOVED
from grove_core.kernel.frozen import FrozenDict, FrozenMap, freeze, thaw_json
from grove_core.kernel.steps import Apply, AttemptOutcome, Create, Delete, SetStatus, Step, StepStage
from grove_core.kernel.structs import replace
from grove_core.plan.plan import Plan
from grove_core.reconcile import reconcile
from grove_core.resources.api_names import DOMAIN_TEMPLATE, DOMAINS_READY
from grove_core.resources.configuration import DEFAULT_CONFIGURATION
from grove_core.resources.domains_ready_condition import DomainCreationFailure, domain_failure_in_stored_conditions
from grove_core.resources.labels import SET
from grove_core.resources.naming_rules import compute_domain_name, domain_claim_template_name, parse_replica_index
from grove_core.resources.podclique import PodClique
from grove_core.resources.scaling_group import ScalingGroup
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.simulator.operator.simulated_operator import Decide
from tests.simulation.mutants import created, step_of, with_steps

_PARTS: Final = frozenset({"PodClique", "PodCliqueScalingGroup"})


def changed(plan: Plan, change: Callable[[Step], Step | None]) -> Plan:
    """Return the plan with each step replaced, or dropped."""
    return replace(plan, steps=tuple(found for step in plan.steps if (found := change(step)) is not None))


def index_of(name: str) -> int:
    found = parse_replica_index(name.rpartition("-cd-")[2])
    return -1 if found is None else found


def annotates_later(snapshot: Snapshot) -> Plan:
    """Adds the annotation once the domain exists."""
    plan, name = reconcile(snapshot), snapshot.root.ref.name
    there = {index_of(domain.ref.name) for domain in snapshot.domains}
    parts: tuple[PodClique | ScalingGroup, ...] = (*snapshot.cliques, *snapshot.groups)
    late = [
        part
        for part in parts
        if part.replica_index in there and DOMAIN_TEMPLATE not in part.annotations and not part.deleting
    ]

    def fields(replica: int) -> FrozenMap:
        found = freeze({"metadata": {"annotations": {DOMAIN_TEMPLATE: domain_claim_template_name(name, replica)}}})
        assert isinstance(found, FrozenMap)
        return found

    steps = (
        step_of(StepStage.WORKLOAD, part.ref, Apply(fields(part.replica_index), part.guard), plan) for part in late
    )
    return with_steps(plan, *steps)


def forgets_an_index(snapshot: Snapshot) -> Plan:
    """The condition lists all replicas that failed but the first."""

    def shorter(step: Step) -> Step:
        action = step.action
        if not isinstance(action, SetStatus) or step.target != snapshot.root.ref or "conditions" not in action.fields:
            return step
        raw: dict[str, Any] = thaw_json(action.fields)
        for found in raw["conditions"]:
            if found["type"] == DOMAINS_READY:
                indices = found["message"].partition("[")[2].partition("]")[0].split(", ")
                found["message"] = DomainCreationFailure(tuple(map(int, indices[1:])), "refused").condition_message
        fields = freeze(raw)
        assert isinstance(fields, FrozenMap)
        return replace(step, action=replace(action, fields=fields))

    return changed(reconcile(snapshot), shorter)


def keeps_the_condition(snapshot: Snapshot) -> Plan:
    return changed(
        reconcile(snapshot),
        lambda step: None if isinstance(step.action, SetStatus) and REMOVED in step.action.fields else step,
    )


def deletes_domains_in_use(snapshot: Snapshot) -> Plan:
    """Deletes a surplus domain at once, while pods use it."""
    plan = reconcile(snapshot)
    surplus = [
        domain
        for domain in snapshot.domains
        if index_of(domain.ref.name) >= snapshot.root.spec.replicas and not domain.deleting
    ]
    return with_steps(plan, *(step_of(StepStage.CLEANUP, one.ref, Delete(one.guard), plan) for one in surplus))


def deletes_foreign_domains(snapshot: Snapshot) -> Plan:
    plan = reconcile(snapshot)
    names = {compute_domain_name(snapshot.root.ref.name, index) for index in range(snapshot.root.spec.replicas)}
    foreign = [
        domain
        for domain in snapshot.named_domains.values()
        if domain.ref.name in names and domain.owner_uid != snapshot.root.uid and not domain.deleting
    ]
    return with_steps(plan, *(step_of(StepStage.CLEANUP, one.ref, Delete(one.guard), plan) for one in foreign))


def tries_only_once(snapshot: Snapshot) -> Plan:
    """Does not retry a failed domain after a restart."""
    failed = domain_failure_in_stored_conditions(snapshot.root.status.conditions).replicas
    return changed(
        reconcile(snapshot),
        lambda step: (
            None
            if isinstance(step.action, Create)
            and step.target.kind == "ComputeDomain"
            and index_of(step.target.name) in failed
            else step
        ),
    )


def joins_alone(snapshot: Snapshot) -> Plan:
    """New parts use an existing domain, although their siblings run without it."""
    name = snapshot.root.ref.name
    there = {index_of(domain.ref.name) for domain in snapshot.domains if not domain.deleting}

    def joined(step: Step) -> Step:
        if step.target.kind not in _PARTS or not isinstance(step.action, Create):
            return step
        raw = thaw_json(step.action.manifest)
        replica = step.target.name.removeprefix(f"{name}-").partition("-")[0]
        if int(replica) not in there:
            return step
        raw["metadata"].setdefault("annotations", {})[DOMAIN_TEMPLATE] = domain_claim_template_name(name, int(replica))
        return replace(step, action=created(raw))

    return changed(reconcile(snapshot), joined)


def makes_domains_for_running_replicas(snapshot: Snapshot) -> Plan:
    """Creates domains for replicas that run without one."""
    plan, bare = reconcile(snapshot), reconcile(replace(snapshot, cliques=(), groups=()))
    made = [step for step in bare.steps if step.target.kind == "ComputeDomain" and isinstance(step.action, Create)]
    return with_steps(plan, *made)


def makes_domains_while_off(snapshot: Snapshot) -> Plan:
    """Creates domains while MNNVL is off."""
    here = snapshot.configuration
    return reconcile(replace(snapshot, configuration=replace(here, mnnvl=replace(here.mnnvl, enabled=True))))


def does_not_wait(snapshot: Snapshot) -> Plan:
    """Creates cliques together with their domain, and so without it."""
    plan, off = reconcile(snapshot), reconcile(replace(snapshot, configuration=DEFAULT_CONFIGURATION))
    held = {one.target for one in plan.withheld}
    early = [step for step in off.steps if step.target in held and step.target.kind in _PARTS]
    return with_steps(
        replace(plan, withheld=tuple(one for one in plan.withheld if one.target.kind not in _PARTS)), *early
    )


def waits_for_ever(snapshot: Snapshot) -> Plan:
    """Ignores refusals."""
    attempts = tuple(
        attempt
        for attempt in snapshot.attempts
        if attempt.outcome is not AttemptOutcome.REFUSED or attempt.step.target.kind != "ComputeDomain"
    )
    return reconcile(replace(snapshot, attempts=attempts))


def forgets_the_claim(snapshot: Snapshot) -> Plan:
    """Creates all pods but the first of a clique without a claim."""

    def bare(step: Step) -> Step:
        if step.target.kind != "Pod" or not isinstance(step.action, Create):
            return step
        raw = thaw_json(step.action.manifest)
        if raw["metadata"]["labels"]["grove.io/podclique-pod-index"] != "0":
            raw["spec"].pop("resourceClaims", None)
        return replace(step, action=created(raw))

    return changed(reconcile(snapshot), bare)


def takes_any_domain_for_its_own(snapshot: Snapshot) -> Plan:
    """Takes any domain with the right name."""
    root = snapshot.root
    labels = FrozenMap(SET.under_every_key(root.ref.name))
    named = {key: replace(domain, owner_uid=root.uid, labels=labels) for key, domain in snapshot.named_domains.items()}
    return reconcile(replace(snapshot, named_domains=FrozenDict(named)))


def _always(decide: Decide) -> Callable[[], Decide]:
    return lambda: decide


DOMAIN_MUTANTS: Final[Mapping[str, tuple[Callable[[], Decide], frozenset[str]]]] = {
    "annotates later": (_always(annotates_later), frozenset({"CD2"})),
    "forgets an index": (_always(forgets_an_index), frozenset({"CD3"})),
    "keeps the condition": (_always(keeps_the_condition), frozenset({"CD3"})),
    "deletes domains in use": (_always(deletes_domains_in_use), frozenset({"CD5"})),
    "deletes foreign domains": (_always(deletes_foreign_domains), frozenset({"CD6", "PL"})),
    "tries only once": (_always(tries_only_once), frozenset({"CD1", "CD10"})),
    "joins alone": (_always(joins_alone), frozenset({"CD4"})),
    "makes domains for running replicas": (_always(makes_domains_for_running_replicas), frozenset({"CD1"})),
    "makes domains while off": (_always(makes_domains_while_off), frozenset({"CD1"})),
    "does not wait": (_always(does_not_wait), frozenset({"CD3"})),
    "waits for ever": (_always(waits_for_ever), frozenset({"CD3"})),
    "forgets the claim": (_always(forgets_the_claim), frozenset({"CD4"})),
    "takes any domain for its own": (_always(takes_any_domain_for_its_own), frozenset({"CD1", "CD2", "CD7"})),
}
"""Name -> function that creates the operator, and the codes of the promises that it may break first."""
