"""Operators and webhooks with one known mistake each about topologies; the checks must find every one."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from grove_core.admit import admit
from grove_core.admit_cluster_topology import admit_topology
from grove_core.areas.topology.admit import KnownTopologiesForAdmission
from grove_core.areas.topology.cluster_topology_snapshot import ClusterTopologySnapshot
from grove_core.kernel.admission import AdmissionVerdict, Admit
from grove_core.kernel.frozen import FrozenDict, FrozenMap, frozen_dict_of_tuples, thaw_json
from grove_core.kernel.steps import Apply, Create, Delete, SetStatus, Step, StepStage
from grove_core.kernel.structs import replace
from grove_core.plan.plan import Plan
from grove_core.reconcile import reconcile
from grove_core.reconcile_topology import reconcile_topology
from grove_core.resources.api_names import TOPOLOGY_FINALIZER, TOPOLOGY_IN_SYNC
from grove_core.resources.cluster_topology import DEFAULT_TOPOLOGY, cluster_topology_from_json
from grove_core.resources.configuration import Configuration
from grove_core.resources.topology_usage import topology_in_template
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.simulator.cluster.simulated_admission import SimulatedAdmissionDecisions
from grove_shell.simulator.operator.simulated_operator import Decide, DecideTopology
from grove_shell.simulator.random_events.random_domain_and_topology_events import (
    HIERARCHIES,
    topology_manifest_of,
    topology_settings_with_levels,
)
from grove_shell.simulator.scenario.fault_events import ForeignFinalizerFault, ReconfigureFault
from grove_shell.simulator.scenario.scenario import Scenario
from grove_shell.simulator.scenario.scenario_events import (
    ApplySetScenarioEvent,
    ApplyTopologyScenarioEvent,
    ClusterTopologyByName,
    PodCliqueSetByName,
    ScenarioEvent,
)
from grove_shell.simulator.simulation_run import SimulationOptions
from grove_shell.simulator.virtual_time import SECOND
from tests.oracles import checked
from tests.simulation.domain_mutants import changed
from tests.simulation.mutants import created, step_of, with_steps

Json = Mapping[str, Any]


# ------------------------------------------------------------------------------------------- about sets


def falls_back(snapshot: Snapshot) -> Plan:
    """Replaces a deleted topology by the default one."""
    name, default = (
        topology_in_template(snapshot.root.spec.template).effective_topology_name,
        snapshot.topologies.get(DEFAULT_TOPOLOGY),
    )
    if not name or name in snapshot.topologies or default is None:
        return reconcile(snapshot)
    return reconcile(replace(snapshot, topologies=FrozenDict({**snapshot.topologies, name: default})))


def follows_always(snapshot: Snapshot) -> Plan:
    """Updates gangs to their topology also when pods are placed."""
    cliques = tuple(replace(one, status=replace(one.status, scheduled=0)) for one in snapshot.cliques)
    pods = {uid: [replace(pod, node="") for pod in found] for uid, found in snapshot.pods_of.items()}
    free = reconcile(replace(snapshot, cliques=cliques, pods_of=frozen_dict_of_tuples(pods)))
    follow = (step for step in free.steps if step.target.kind == "PodGang" and isinstance(step.action, Apply))
    return with_steps(reconcile(snapshot), *follow)


def writes_no_condition(snapshot: Snapshot) -> Plan:
    """Writes no condition about a topology that does not hold."""
    return _with_status(snapshot, lambda one: one.get("type") != TOPOLOGY_IN_SYNC)


def never_clears_the_condition(snapshot: Snapshot) -> Plan:
    """Never removes the condition about a topology."""
    stays = any(one.type == TOPOLOGY_IN_SYNC for one in snapshot.root.status.conditions)
    return changed(reconcile(snapshot), lambda step: None if stays and _is_status(step, snapshot) else step)


def forgets_cliques(snapshot: Snapshot) -> Plan:
    """Drops the constraints of cliques."""

    def bare(step: Step) -> Step:
        if step.target.kind != "PodGang" or not isinstance(step.action, Create):
            return step
        raw = thaw_json(step.action.manifest)
        for group in raw["spec"]["podgroups"]:
            group.pop("topologyConstraint", None)
        return replace(step, action=created(raw))

    return changed(reconcile(snapshot), bare)


def packs_while_off(snapshot: Snapshot) -> Plan:
    """Applies topologies while they are off."""
    switched_on = replace(snapshot.configuration.topology, enabled=True)
    return reconcile(replace(snapshot, configuration=replace(snapshot.configuration, topology=switched_on)))


def begins_anew(snapshot: Snapshot) -> Plan:
    """Deletes a gang without a topology, and creates it again later."""
    plan, name = reconcile(snapshot), topology_in_template(snapshot.root.spec.template).effective_topology_name
    if not name or name in snapshot.topologies or not snapshot.configuration.topology.enabled:
        return plan
    gangs = (gang for gang in snapshot.gangs if not gang.deleting)
    return with_steps(plan, *(step_of(StepStage.WORKLOAD, gang.ref, Delete(gang.guard), plan) for gang in gangs))


def evicts(snapshot: Snapshot) -> Plan:
    """Deletes pods whose placement differs from their topology."""
    plan = reconcile(snapshot)
    if not any(one.type == TOPOLOGY_IN_SYNC for one in snapshot.root.status.conditions):
        return plan
    pods = (pod for _, pod in snapshot.pods() if pod.node and not pod.deleting)
    return with_steps(plan, *(step_of(StepStage.WORKLOAD, pod.ref, Delete(pod.guard), plan) for pod in pods))


def _is_status(step: Step, snapshot: Snapshot) -> bool:
    return step.target == snapshot.root.ref and isinstance(step.action, SetStatus)


def _with_status(snapshot: Snapshot, stays: Callable[[Mapping[str, Any]], bool]) -> Plan:
    def without(step: Step) -> Step | None:
        if not _is_status(step, snapshot) or not isinstance(step.action, SetStatus):
            return step
        fields: dict[str, Any] = dict(step.action.fields)
        conditions = tuple(one for one in fields.pop("conditions", ()) if stays(one))
        if conditions:
            fields["conditions"] = conditions
        return replace(step, action=replace(step.action, fields=FrozenMap(fields))) if fields else None

    return changed(reconcile(snapshot), without)


# ------------------------------------------------------------------------------------------- about topologies


def holds_nothing(moment: ClusterTopologySnapshot) -> Plan:
    """Adds no finalizer."""
    return reconcile_topology(replace(moment, users=()))


def counts_names_alone(moment: ClusterTopologySnapshot) -> Plan:
    """Counts only sets that name a topology as users."""
    return reconcile_topology(replace(moment, users=()) if moment.is_default else moment)


def holds_for_ever(moment: ClusterTopologySnapshot) -> Plan:
    """Never removes the finalizer of a topology."""
    return changed(reconcile_topology(moment), lambda step: None if _lets_go(step, moment) else step)


def removes_all_finalizers(moment: ClusterTopologySnapshot) -> Plan:
    """Removes foreign finalizers with its own."""

    def bare(step: Step) -> Step:
        if not _lets_go(step, moment) or not isinstance(step.action, Apply):
            return step
        fields = FrozenMap({**step.action.fields, "metadata": FrozenMap({"finalizers": ()})})
        return replace(step, action=replace(step.action, fields=fields))

    return changed(reconcile_topology(moment), bare)


def keeps_all_topologies(moment: ClusterTopologySnapshot) -> Plan:
    """Writes the configured levels to every topology."""
    plan, found = reconcile_topology(moment), moment.topology
    if found is None or moment.is_default or found.levels == moment.settings.levels or not moment.settings.enabled:
        return plan
    levels = tuple(FrozenMap(level._asdict()) for level in moment.settings.levels)
    wanted = Apply(FrozenMap({"spec": FrozenMap({"levels": levels})}), found.guard)
    return with_steps(plan, step_of(StepStage.WORKLOAD, found.ref, wanted, plan))


def leaves_the_default(moment: ClusterTopologySnapshot) -> Plan:
    """Creates the default topology and never updates it."""
    plan = reconcile_topology(moment)
    return changed(plan, lambda step: None if isinstance(step.action, Apply) and "spec" in step.action.fields else step)


def writes_under_pods(moment: ClusterTopologySnapshot) -> Plan:
    """Writes the levels of the default topology while pods are placed by the old ones."""
    free = tuple(user._replace(scheduled=0) for user in moment.users)
    return reconcile_topology(replace(moment, users=free))


def _lets_go(step: Step, moment: ClusterTopologySnapshot) -> bool:
    fields: Any = step.action.fields.get("metadata") if isinstance(step.action, Apply) else None
    reported = fields.get("finalizers") if fields is not None else None
    held = moment.topology is not None and TOPOLOGY_FINALIZER in moment.topology.finalizers
    return held and reported is not None and TOPOLOGY_FINALIZER not in reported


# ------------------------------------------------------------------------------------------- admission


def never_reconciles(
    new: Json, old: Json | None, configuration: Configuration, around: KnownTopologiesForAdmission
) -> AdmissionVerdict:
    """Admits sets without reading the cluster."""
    return admit(
        new, old, configuration=configuration, around=KnownTopologiesForAdmission(None, around.scheduled)
    ).verdict


def joins_a_topology_in_deletion(
    new: Json, old: Json | None, configuration: Configuration, around: KnownTopologiesForAdmission
) -> AdmissionVerdict:
    """Admits sets that name a topology in deletion."""
    there = {name: replace(one, deleting=False) for name, one in (around.topologies or {}).items()}
    return admit(new, old, configuration=configuration, around=around._replace(topologies=there)).verdict


def locks_nothing(
    new: Json, old: Json | None, configuration: Configuration, around: KnownTopologiesForAdmission
) -> AdmissionVerdict:
    """Admits any change of a set's topology."""
    return admit(new, old, configuration=configuration, around=around._replace(scheduled={})).verdict


def admits_while_off(
    new: Json, old: Json | None, configuration: Configuration, around: KnownTopologiesForAdmission
) -> AdmissionVerdict:
    """Admits a topology name while topologies are off."""
    switched_on = replace(configuration, topology=replace(configuration.topology, enabled=True))
    return admit(new, old, configuration=switched_on, around=around).verdict


def lets_levels_change(
    new: Json, old: Json | None, configuration: Configuration, around: KnownTopologiesForAdmission
) -> AdmissionVerdict:
    """Admits changed levels under placed pods."""
    return admit_topology(new, old, around._replace(users={}), configuration).verdict


def lets_what_is_configured(
    new: Json, old: Json | None, configuration: Configuration, around: KnownTopologiesForAdmission
) -> AdmissionVerdict:
    """Admits the configured levels of the default topology under placed pods."""
    verdict = admit_topology(new, old, around, configuration).verdict
    return Admit() if cluster_topology_from_json(new).levels == configuration.topology.levels else verdict


def stirred(scenario: Scenario) -> Scenario:
    """Return the scenario with forbidden writes to topologies, one after the other."""
    (manifest,) = scenario.spec.sets
    used = manifest["spec"]["template"].get("clusterTopologyName", DEFAULT_TOPOLOGY)
    name = manifest["metadata"]["name"]
    reported = scenario.spec.operator.topology_aware_scheduling
    off, on = reported.model_copy(update={"enabled": False}), reported.model_copy(update={"enabled": True})
    other = topology_settings_with_levels(
        next(levels for levels in HIERARCHIES if topology_settings_with_levels(levels) != on)
    )

    def goes_to(topology: str) -> ApplySetScenarioEvent:
        template = {**manifest["spec"]["template"], "clusterTopologyName": topology}
        return ApplySetScenarioEvent(manifest={**manifest, "spec": {**manifest["spec"], "template": template}})

    def held(topology: str) -> ForeignFinalizerFault:
        return ForeignFinalizerFault(kind="ClusterTopology", name=topology, span=30 * SECOND)

    def levels(topology: str) -> ApplyTopologyScenarioEvent:
        return ApplyTopologyScenarioEvent(
            manifest=topology_manifest_of(topology, HIERARCHIES[0 if topology == "beta" else 1])
        )

    events = (
        ScenarioEvent(at=20 * SECOND, apply_set=goes_to("beta" if used == "alpha" else "alpha")),
        ScenarioEvent(at=21 * SECOND, apply_topology=levels(used)),
        ScenarioEvent(at=22 * SECOND, reconfigure=ReconfigureFault(topology_aware_scheduling=other, down=100)),
        ScenarioEvent(at=30 * SECOND, hold_foreign=held(used)),
        ScenarioEvent(at=31 * SECOND, delete_set=PodCliqueSetByName(name=name)),
        ScenarioEvent(at=62 * SECOND, reconfigure=ReconfigureFault(topology_aware_scheduling=off, down=100)),
        ScenarioEvent(at=70 * SECOND, apply_set=goes_to("alpha")),
        ScenarioEvent(at=80 * SECOND, reconfigure=ReconfigureFault(topology_aware_scheduling=on, down=100)),
        ScenarioEvent(at=90 * SECOND, delete_set=PodCliqueSetByName(name=name)),
        ScenarioEvent(at=100 * SECOND, apply_set=goes_to("alpha")),
        ScenarioEvent(at=100 * SECOND + 900, apply_set=goes_to("beta")),
        ScenarioEvent(at=100 * SECOND + 900, delete_topology=ClusterTopologyByName(name="beta")),
        ScenarioEvent(at=105 * SECOND, delete_set=PodCliqueSetByName(name=name)),
        ScenarioEvent(at=115 * SECOND, apply_topology=levels("beta")),
        ScenarioEvent(at=118 * SECOND, apply_set=goes_to("missing")),
        ScenarioEvent(at=120 * SECOND, hold_foreign=held("beta")),
        ScenarioEvent(at=121 * SECOND, delete_topology=ClusterTopologyByName(name="beta")),
        ScenarioEvent(at=130 * SECOND, apply_set=goes_to("beta")),
        ScenarioEvent(at=160 * SECOND, apply_set=ApplySetScenarioEvent(manifest=dict(manifest))),
    )
    return scenario.with_events((*scenario.spec.events, *events))


def _deciding(decide: Decide) -> Callable[[], SimulationOptions]:
    return lambda: checked(counts_only=True, decide=decide)


def _keeping(keep: DecideTopology, **admission: Any) -> Callable[[], SimulationOptions]:
    return lambda: checked(counts_only=True, decide_topology=keep, admission=SimulatedAdmissionDecisions(**admission))


def _admitting(**admission: Any) -> Callable[[], SimulationOptions]:
    return lambda: checked(counts_only=True, admission=SimulatedAdmissionDecisions(**admission))


TOPOLOGY_MUTANTS: Final[Mapping[str, tuple[Callable[[], SimulationOptions], frozenset[str]]]] = {
    "falls back to the default": (_deciding(falls_back), frozenset({"TP5", "TP8"})),
    "follows always": (_deciding(follows_always), frozenset({"TP3"})),
    "writes no condition": (_deciding(writes_no_condition), frozenset({"TP5"})),
    "never clears the condition": (_deciding(never_clears_the_condition), frozenset({"TP5"})),
    "forgets cliques": (_deciding(forgets_cliques), frozenset({"TP8"})),
    "packs while off": (_deciding(packs_while_off), frozenset({"TP5", "TP8"})),
    "begins gangs anew": (_deciding(begins_anew), frozenset({"TP3"})),
    "evicts": (_deciding(evicts), frozenset({"B10"})),
    "holds nothing": (_keeping(holds_nothing), frozenset({"TP6"})),
    "counts names alone": (_keeping(counts_names_alone), frozenset({"TP6"})),
    "holds for ever": (_keeping(holds_for_ever), frozenset({"TP6"})),
    "removes all finalizers": (_keeping(removes_all_finalizers), frozenset({"TP6"})),
    "keeps all topologies": (_keeping(keeps_all_topologies), frozenset({"TP7"})),
    "leaves the default": (_keeping(leaves_the_default), frozenset({"TP7"})),
    "writes under pods": (_keeping(writes_under_pods, of_topology=lets_what_is_configured), frozenset({"TP4"})),
    "never looks": (_admitting(of_set=never_reconciles), frozenset({"TP2"})),
    "joins a topology in deletion": (_admitting(of_set=joins_a_topology_in_deletion), frozenset({"TP2"})),
    "locks nothing": (_admitting(of_set=locks_nothing), frozenset({"TP3"})),
    "admits while off": (_admitting(of_set=admits_while_off), frozenset({"TP2"})),
    "lets levels change": (_admitting(of_topology=lets_levels_change), frozenset({"TP4"})),
}
"""Name -> function that returns the options of the run, and the codes of the promises that it may break first."""
