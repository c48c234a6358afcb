"""Operators with one known mistake each; the checks must find every one of them."""

from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from itertools import count
from typing import Any, Final

from grove_core.kernel.conditions import ConditionStatus
from grove_core.kernel.frozen import FrozenMap, Json, freeze, thaw_json
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Action, Apply, Create, Delete, SetStatus, Step, StepStage
from grove_core.kernel.structs import replace
from grove_core.plan.plan import Plan
from grove_core.reconcile import reconcile
from grove_core.resources.api_names import GATE, POD_INDEX
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.simulator.operator.simulated_operator import Decide

_NO_REASON: Final = ()


def gate(*names: str) -> FrozenMap:
    """Return the fields of an apply that removes these gates."""
    gates = tuple(FrozenMap({"$patch": "delete", "name": name}) for name in names)
    return FrozenMap({"spec": FrozenMap({"schedulingGates": gates})})


def with_steps(plan: Plan, *steps: Step) -> Plan:
    taken = {step.target for step in plan.steps}
    more = [step for step in steps if step.target not in taken]
    return replace(plan, steps=tuple(sorted((*plan.steps, *more), key=lambda step: step.sort_key)))


def step_of(stage: StepStage, target: Ref, action: Action, plan: Plan) -> Step:
    because = next((step.because for step in plan.steps), None) or plan.findings[0].because
    return Step(stage, target, action, because)


def opens_gates_at_once(snapshot: Snapshot) -> Plan:
    plan = reconcile(snapshot)
    held = [pod for _, pod in snapshot.pods() if pod.has_grove_gate and not pod.deleting]
    return with_steps(plan, *(step_of(StepStage.WORKLOAD, pod.ref, Apply(gate(GATE), pod.guard), plan) for pod in held))


def creates_without_gates(snapshot: Snapshot) -> Plan:
    plan = reconcile(snapshot)
    return replace(plan, steps=tuple(map(_without_gates, plan.steps)))


def _without_gates(step: Step) -> Step:
    if step.target.kind != "Pod" or not isinstance(step.action, Create):
        return step
    manifest = thaw_json(step.action.manifest)
    manifest["spec"].pop("schedulingGates", None)
    return replace(step, action=Create(FrozenMap(manifest)))


def takes_foreign_gates(snapshot: Snapshot) -> Plan:
    plan = reconcile(snapshot)
    both = gate(GATE, "example.com/held")
    return replace(
        plan,
        steps=tuple(
            replace(step, action=replace(step.action, fields=both))
            if isinstance(step.action, Apply) and step.target.kind == "Pod"
            else step
            for step in plan.steps
        ),
    )


def names_pods_at_random() -> Decide:
    """Names its pods at random, as most operators do."""
    serial = count()

    def decide(snapshot: Snapshot) -> Plan:
        plan = reconcile(snapshot)
        return replace(plan, steps=tuple(sorted(map(renamed, plan.steps), key=lambda step: step.sort_key)))

    def renamed(step: Step) -> Step:
        if step.target.kind != "Pod" or not isinstance(step.action, Create):
            return step
        raw = thaw_json(step.action.manifest)
        raw["metadata"]["name"] += f"-{next(serial)}"
        raw["spec"]["schedulingGates"] = [{"name": GATE}]  # no gang refers to such a name before the pod is there
        return replace(step, target=replace(step.target, name=raw["metadata"]["name"]), action=created(raw))

    return decide


def created(raw: dict[str, Any]) -> Create:
    manifest = freeze(raw)
    assert isinstance(manifest, FrozenMap)
    return Create(manifest)


def terminates_at_once(snapshot: Snapshot) -> Plan:
    template = snapshot.root.spec.template
    if template.termination_delay is None:
        return reconcile(snapshot)
    hasty = template.model_copy(update={"termination_delay": timedelta(seconds=1)})
    spec = snapshot.root.spec.model_copy(update={"template": hasty})
    return reconcile(replace(snapshot, root=replace(snapshot.root, spec=spec)))


def never_wakes(snapshot: Snapshot) -> Plan:
    return replace(reconcile(snapshot), wake_at=None)


def deletes_a_healthy_pod(snapshot: Snapshot) -> Plan:
    plan = reconcile(snapshot)
    doomed = [
        pods[0]
        for clique in snapshot.cliques
        if (
            pods := sorted((pod for pod in snapshot.pods_of.get(clique.uid, ()) if pod.ready), key=lambda pod: pod.name)
        )
        and len(pods) == clique.min_available
    ][:1]
    return with_steps(plan, *(step_of(StepStage.CLEANUP, pod.ref, Delete(pod.guard), plan) for pod in doomed))


def deletes_pods_twice(snapshot: Snapshot) -> Plan:
    plan = reconcile(snapshot)
    doomed = [pod for _, pod in snapshot.pods() if pod.deleting][:1]
    return with_steps(plan, *(step_of(StepStage.CLEANUP, pod.ref, Delete(pod.guard), plan) for pod in doomed))


def writes_statuses_in_vain(snapshot: Snapshot) -> Plan:
    plan = reconcile(snapshot)
    stored = [clique for clique in snapshot.cliques if clique.status.ready is not None][:1]
    return with_steps(
        plan,
        *(
            step_of(
                StepStage.STATUS, item.ref, SetStatus(FrozenMap({"readyReplicas": item.status.ready}), item.guard), plan
            )
            for item in stored
        ),
    )


def moves_transition_times(snapshot: Snapshot) -> Plan:
    """Sets a new transition time at every write of a condition."""

    def stamped(step: Step) -> Step:
        action = step.action
        if not isinstance(action, SetStatus):
            return step
        now = snapshot.now.strftime("%Y-%m-%dT%H:%M:%SZ")
        given = action.fields.get("conditions")
        conditions: tuple[Json, ...] = given if isinstance(given, tuple) else ()
        changed = tuple(
            FrozenMap({**found, "lastTransitionTime": now}) for found in conditions if isinstance(found, FrozenMap)
        )
        return replace(step, action=replace(action, fields=FrozenMap({**action.fields, "conditions": changed})))

    plan = reconcile(snapshot)
    return replace(plan, steps=tuple(map(stamped, plan.steps)))


def thinks_it_was_available(snapshot: Snapshot) -> Plan:
    """New cliques count as available once, so that one that never becomes ready is terminated repeatedly (B1)."""
    cliques = tuple(
        replace(clique, status=replace(clique.status, was_available=True)) if clique.status.recorded else clique
        for clique in snapshot.cliques
    )
    return reconcile(replace(snapshot, cliques=cliques))


def forgets_availability(snapshot: Snapshot) -> Plan:
    def changed(step: Step) -> Step:
        action = step.action
        if not isinstance(action, SetStatus) or step.target.kind != "PodClique":
            return step
        return replace(step, action=replace(action, fields=FrozenMap({**action.fields, "wasAvailable": False})))

    plan = reconcile(snapshot)
    return replace(plan, steps=tuple(map(changed, plan.steps)))


def makes_one_pod_too_many(snapshot: Snapshot) -> Plan:
    cliques = tuple(replace(clique, replicas=clique.replicas + 1) for clique in snapshot.cliques)
    return reconcile(replace(snapshot, cliques=cliques))


def gives_every_pod_index_0(snapshot: Snapshot) -> Plan:
    def changed(step: Step) -> Step:
        if step.target.kind != "Pod" or not isinstance(step.action, Create):
            return step
        raw = thaw_json(step.action.manifest)
        raw["metadata"]["labels"][POD_INDEX] = "0"
        return replace(step, action=created(raw))

    plan = reconcile(snapshot)
    return replace(plan, steps=tuple(map(changed, plan.steps)))


def terminates_by_halves(snapshot: Snapshot) -> Plan:
    """Deletes only the failed clique of a replica, not its healthy siblings."""
    plan = reconcile(snapshot)
    kept = [
        step
        for step in plan.steps
        if not (isinstance(step.action, Delete) and step.target.kind == "PodClique" and step.stage is StepStage.CLEANUP)
    ]
    return replace(plan, steps=tuple(kept))


def forgets_the_last_clique(snapshot: Snapshot) -> Plan:
    plan = reconcile(snapshot)
    return replace(plan, steps=tuple(step for step in plan.steps if not _is_last_clique(step)))


def _is_last_clique(step: Step) -> bool:
    return isinstance(step.action, Create) and step.target.kind == "PodClique" and step.target.name.endswith("-a")


def counts_unknown_as_breached(snapshot: Snapshot) -> Plan:
    """Terminates replicas by unstored conditions: the delay counts from the creation of the clique."""

    def old(conditions: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(
            replace(found, last_transition_time=snapshot.now - timedelta(hours=1))
            if found.status is ConditionStatus.TRUE
            else found
            for found in conditions
        )

    cliques = tuple(
        replace(clique, status=replace(clique.status, conditions=old(clique.status.conditions)))
        for clique in snapshot.cliques
    )
    return reconcile(replace(snapshot, cliques=cliques))


def fresh() -> Iterator[tuple[str, Callable[[], Decide], frozenset[str]]]:
    """Every mutant by name, how it is made, and the codes that may find it first."""
    for name, (make, codes) in MUTANTS.items():
        yield name, make, codes


def _always(decide: Decide) -> Callable[[], Decide]:
    return lambda: decide


MUTANTS: Final[Mapping[str, tuple[Callable[[], Decide], frozenset[str]]]] = {
    "opens gates at once": (_always(opens_gates_at_once), frozenset({"RS6"})),
    "creates without gates": (_always(creates_without_gates), frozenset({"RS6"})),
    "takes foreign gates": (_always(takes_foreign_gates), frozenset({"RS6"})),
    "terminates at once": (_always(terminates_at_once), frozenset({"GT5"})),
    "never wakes": (_always(never_wakes), frozenset({"GT6", "O2"})),
    "deletes a healthy pod": (_always(deletes_a_healthy_pod), frozenset({"B10"})),
    "deletes pods twice": (_always(deletes_pods_twice), frozenset({"RS5", "PL"})),
    "writes unchanged statuses": (_always(writes_statuses_in_vain), frozenset({"RS8"})),
    "moves transition times": (_always(moves_transition_times), frozenset({"GT4"})),
    "thinks it was available": (_always(thinks_it_was_available), frozenset({"GT10"})),
    "forgets availability": (_always(forgets_availability), frozenset({"GT3", "O1", "O9", "O2", "RS8"})),
    "makes one pod too many": (_always(makes_one_pod_too_many), frozenset({"RS1"})),
    "gives every pod index 0": (_always(gives_every_pod_index_0), frozenset({"RS4"})),
    "terminates incompletely": (_always(terminates_by_halves), frozenset({"GT9"})),
    "forgets the last clique": (_always(forgets_the_last_clique), frozenset({"O1", "O2"})),
    "counts from the wrong moment": (_always(counts_unknown_as_breached), frozenset({"GT5", "GT4"})),
}
