"""Operators and webhooks with one known mistake each about MNNVL by annotation; the checks must find every one."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from grove_core.admit import admit
from grove_core.admit_podclique import admit_podclique
from grove_core.areas.mnnvl_scopes.clique_admission import CliqueAdmissionView
from grove_core.areas.mnnvl_scopes.rules import SharedDomainReason
from grove_core.areas.topology.admit import KnownTopologiesForAdmission
from grove_core.areas.workload.admission.manifest_defaults import podcliqueset_with_defaults
from grove_core.kernel.admission import AdmissionVerdict, AdmitWithChanges, AmendmentVerdict
from grove_core.kernel.decisions import Decision
from grove_core.kernel.frozen import FrozenDict, FrozenMap, thaw_json
from grove_core.kernel.steps import Create, Delete, Ensure, StepStage
from grove_core.kernel.structs import replace
from grove_core.plan.plan import Plan
from grove_core.reconcile import reconcile
from grove_core.resources.api_names import SHARED_CLAIM
from grove_core.resources.compute_domain import ComputeDomain
from grove_core.resources.configuration import Configuration
from grove_core.resources.naming_rules import parse_replica_index
from grove_core.resources.owned_object import OwnedObject
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.simulator.cluster.simulated_admission import SimulatedAdmissionDecisions
from grove_shell.simulator.scenario.fault_events import ReconfigureFault
from grove_shell.simulator.scenario.scenario import Scenario
from grove_shell.simulator.scenario.scenario_events import ScaleScenarioEvent, ScenarioEvent
from grove_shell.simulator.simulation_run import SimulationOptions
from grove_shell.simulator.virtual_time import SECOND
from tests.oracles import checked
from tests.simulation.domain_mutants import changed, forgets_the_claim
from tests.simulation.mutants import step_of, with_steps

Json = Mapping[str, Any]
REPLICA: Final = ("grove.io/podcliqueset-replica-index", "grove.io/replica-index", "grove.io/pcs-replica-index")


def ensures_nothing(snapshot: Snapshot) -> Plan:
    """Does not recreate a deleted domain: only admission of a new PodClique does."""
    return changed(reconcile(snapshot), lambda step: None if isinstance(step.action, Ensure) else step)


def admits_at_once(raw: Json, around: CliqueAdmissionView) -> Decision[AmendmentVerdict]:
    """Adds the claim to the PodClique without creating the objects."""
    decision = admit_podclique(raw, around)
    verdict = decision.verdict
    return (
        Decision(replace(verdict, ensures=()), decision.because) if isinstance(verdict, AdmitWithChanges) else decision
    )


def goes_by_names(raw: Json, around: CliqueAdmissionView) -> Decision[AmendmentVerdict]:
    """Takes any object with the domain's name."""
    labels = bare_entry(raw, around)
    domains = {key: replace(one, labels=labels or one.labels) for key, one in around.domains.items()}
    return admit_podclique(raw, replace(around, domains=domains))


def bare_entry(raw: Json, around: CliqueAdmissionView) -> FrozenMap | None:
    """The labels of the domain that a PodClique would get in an empty cluster."""
    verdict = admit_podclique(raw, replace(around, domains={}, claims={})).verdict
    for one in verdict.ensures if isinstance(verdict, AdmitWithChanges) else ():
        found = one.manifest["metadata"]
        assert isinstance(found, FrozenMap)
        labels = found["labels"]
        assert isinstance(labels, FrozenMap)
        return labels
    return None


def operator_goes_by_names(snapshot: Snapshot) -> Plan:
    """Takes an object without labels for its own."""
    free = {key: one for key, one in snapshot.named_domains.items() if one.labels}
    plan = reconcile(replace(snapshot, named_domains=FrozenDict(free)))
    taken = {name for _, name in snapshot.named_domains.keys() - free.keys()}
    steps = (step for step in plan.steps if not (isinstance(step.action, Ensure) and step.target.name in taken))
    return replace(plan, steps=tuple(steps))


def joins_what_leaves(raw: Json, around: CliqueAdmissionView) -> Decision[AmendmentVerdict]:
    """Uses a domain that is being deleted."""
    domains = {key: replace(one, deleting=False) for key, one in around.domains.items()}
    return admit_podclique(raw, replace(around, domains=domains))


def operator_joins_what_leaves(snapshot: Snapshot) -> Plan:
    domains = {key: replace(one, deleting=False) for key, one in snapshot.named_domains.items()}
    return reconcile(replace(snapshot, named_domains=FrozenDict(domains)))


def deletes_what_is_shared(snapshot: Snapshot) -> Plan:
    """Deletes the domain of a deleted replica at once, not with its gang."""
    plan = reconcile(snapshot)
    every: tuple[ComputeDomain | OwnedObject, ...] = (*snapshot.named_domains.values(), *snapshot.named_claims.values())
    surplus = [
        one
        for one in every
        if one.labels.get("grove.io/mnnvl-managed") == "true" and not one.deleting
        if (parse_replica_index(str(one.labels.get(REPLICA[0]))) or 0) >= snapshot.root.spec.replicas
    ]
    return with_steps(plan, *(step_of(StepStage.CLEANUP, one.ref, Delete(one.guard), plan) for one in surplus))


def tidies_by_labels(snapshot: Snapshot) -> Plan:
    """Ignores claims of the set without the label of shared ones."""
    plan = reconcile(snapshot)
    odd = [
        one
        for one in snapshot.named_claims.values()
        if one.owner_uid in {snapshot.root.uid, *(gang.uid for gang in snapshot.gangs)}
        if one.labels.get("grove.io/mnnvl-managed") != "true" and not one.deleting
    ]
    return with_steps(plan, *(step_of(StepStage.CLEANUP, one.ref, Delete(one.guard), plan) for one in odd))


def counts_from_nought(raw: Json, around: CliqueAdmissionView) -> Decision[AmendmentVerdict]:
    """Builds names without the replica index."""
    shifted = thaw_json(FrozenMap.view_of(dict(raw)))
    meta = shifted["metadata"]
    for named in (meta, *meta.get("ownerReferences", ())):
        named["name"] = re.sub(r"^llm-\d+", "llm-0", named["name"])
    pod_spec = shifted["spec"]["podSpec"]  # else the claim that the operator wrote would be refused (MS-008)
    pod_spec["resourceClaims"] = [one for one in pod_spec.get("resourceClaims", ()) if one["name"] != SHARED_CLAIM]
    return admit_podclique(shifted, around)


def judges_anew(
    new: Json, old: Json | None, configuration: Configuration, around: KnownTopologiesForAdmission
) -> AdmissionVerdict:
    """Judges an update as a creation."""
    del old
    return admit(new, None, configuration=configuration, around=around).verdict


def opts_in_for_others(new: Json) -> dict[str, Any]:
    """Adds the annotations at every write."""
    whole = podcliqueset_with_defaults(new)
    meta = whole["metadata"]
    annotations = {"grove.io/mnnvl-enabled": "false", **(meta.get("annotations") or {})}
    return {**whole, "metadata": {**meta, "annotations": annotations}}


def all_wait(snapshot: Snapshot) -> Plan:
    """Lets all new PodCliques wait for what one of them waits for."""
    plan = reconcile(snapshot)
    waits = [
        held
        for held in plan.withheld
        if {why.rule for why in held.because}
        & {
            SharedDomainReason.EARLIER_OBJECT_BEING_DELETED,
            SharedDomainReason.NAME_SERVES_ANOTHER,
            SharedDomainReason.NOT_ENSURED,
        }
    ]
    new = [step for step in plan.steps if step.target.kind == "PodClique" and isinstance(step.action, Create)]
    if not waits or not new:
        return plan
    held = tuple(replace(waits[0], target=step.target) for step in new)
    steps = tuple(step for step in plan.steps if step not in new)
    return replace(plan, steps=steps, withheld=(*plan.withheld, *held))


def switched_on(scenario: Scenario) -> Scenario:
    """Return the scenario with MNNVL off at the start: it is switched on, then the set is written again."""
    reported = scenario.spec.operator.mnnvl
    if reported.enabled:
        return scenario
    (manifest,) = scenario.spec.sets
    scale = ScaleScenarioEvent(kind="PodCliqueSet", name=manifest["metadata"]["name"], replicas=3)
    on = ReconfigureFault(mnnvl=reported.model_copy(update={"enabled": True}), down=100)
    events = (ScenarioEvent(at=20 * SECOND, reconfigure=on), ScenarioEvent(at=40 * SECOND, scale=scale))
    return scenario.with_events((*scenario.spec.events, *events))


def _deciding(decide: Callable[[Snapshot], Plan], **admission: Any) -> Callable[[], SimulationOptions]:
    return lambda: checked(counts_only=True, decide=decide, admission=SimulatedAdmissionDecisions(**admission))


def _admitting(**admission: Any) -> Callable[[], SimulationOptions]:
    return lambda: checked(counts_only=True, admission=SimulatedAdmissionDecisions(**admission))


SHARED_DOMAIN_MUTANTS: Final[Mapping[str, tuple[Callable[[], SimulationOptions], frozenset[str]]]] = {
    "ensures nothing": (_deciding(ensures_nothing), frozenset({"CD10"})),
    "admits at once": (_deciding(ensures_nothing, of_clique=admits_at_once), frozenset({"CD2"})),
    "all wait": (_deciding(all_wait), frozenset({"CD3"})),
    "forgets the shared claim": (_deciding(forgets_the_claim), frozenset({"CD4"})),
    "deletes what is shared": (_deciding(deletes_what_is_shared), frozenset({"CD5"})),
    "ignores owners": (_deciding(operator_goes_by_names, of_clique=goes_by_names), frozenset({"CD6"})),
    "tidies by labels": (_deciding(tidies_by_labels), frozenset({"CD5", "CD6"})),
    "uses a domain in deletion": (
        _deciding(operator_joins_what_leaves, of_clique=joins_what_leaves),
        frozenset({"CD2", "CD7"}),
    ),
    "judges anew": (_admitting(of_set=judges_anew), frozenset({"CD8"})),
    "opts in for others": (_admitting(defaults=opts_in_for_others), frozenset({"CD8"})),
    "begins without asking": (
        lambda: checked(counts_only=True, preflight=lambda _reported, _served: ()),
        frozenset({"CD9"}),
    ),
    "counts from nought": (_admitting(of_clique=counts_from_nought), frozenset({"CD2", "CD11"})),
}
"""Name -> function that returns the options of the run, and the codes of the promises that it may break first."""
