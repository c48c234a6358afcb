"""Mistakes that the core does not make, each in one of its functions."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from grove_core.areas.domain_cliques.clique_view import clique_view_of
from grove_core.areas.domain_cliques.daemon_context import DaemonContext, DaemonState
from grove_core.areas.domain_cliques.domain_snapshot import DomainSnapshot
from grove_core.areas.domain_cliques.judge import decide
from grove_core.areas.domain_cliques.state_updates import after_event, after_result
from grove_core.areas.domain_cliques.verdicts import (
    Apply,
    ClearOtherEntry,
    DaemonAction,
    DaemonRegistry,
    Idle,
    LabelPod,
    ListPods,
    PeerMap,
    Put,
    ReadObject,
    RemoveEntry,
    Request,
    RequestResult,
    RestartFabric,
    StartFabric,
    Wait,
)
from grove_core.kernel.decisions import Decision
from grove_core.kernel.frozen import frozen, thaw
from grove_core.kernel.steps import Apply as ApplyStep
from grove_core.plan.plan import Plan
from grove_core.reconcile_domain import reconcile_domain
from grove_core.resources.compute_domain import ComputeDomain

Json = dict[str, Any]


def saying(decision: Decision[DaemonAction], verdict: DaemonAction) -> Decision[DaemonAction]:
    return replace(decision, verdict=verdict)


def entries_in(body: Json) -> list[Json]:
    found: list[Json] = body.get("daemons") or body.get("status", {}).get("nodes") or []
    return found


def with_own(action: Apply, change: Callable[[Json], None]) -> Apply:
    """The same apply with its own entry changed."""
    body = thaw(action.fields)
    for item in entries_in(body):
        change(item)
    return replace(action, fields=frozen(body))


def starts_without_a_look(context: DaemonContext) -> Decision[DaemonAction]:
    """IX1: does not care who else has its index."""
    state, identity, registry = context.state, context.identity, context.registry
    decision = decide(context)
    mine = clique_view_of(identity, registry).own
    eager = context.fabric is None and state.other_read_at is not None and not isinstance(decision.verdict, StartFabric)
    if eager and mine is not None and mine.ip == identity.ip and mine.index is not None:
        return saying(decision, StartFabric(mine.index, PeerMap(((mine.index, identity.ip),))))
    return decision


def forgets_its_own_writes(
    state: DaemonState, identity: Any, settings: Any, request: Request, answer: RequestResult, **at: Any
) -> DaemonState:
    """IX2: an answer is not a view; the next write is made from what the watch showed last."""
    after = after_result(state, identity, settings, request, answer, **at)
    return replace(after, observed=state.observed)


def takes_any_event(state: DaemonState, identity: Any, settings: Any, observation: Any, **at: Any) -> DaemonState:
    """IX2: an event that is older than its own answer counts as newer."""
    return after_event(replace(state, observed=None), identity, settings, observation, **at)


def trusts_its_predecessor(context: DaemonContext) -> Decision[DaemonAction]:
    """IX3: an entry of its node is its own, whoever wrote it, and settled."""
    registry, identity = context.registry, context.identity
    mine = clique_view_of(identity, registry).own
    if mine is None or mine.index is None or context.fabric is not None:
        return decide(context)
    decision = decide(context)
    if mine.ip != identity.ip and not isinstance(decision.verdict, LabelPod):
        return saying(decision, StartFabric(mine.index, PeerMap(((mine.index, identity.ip),))))
    return decision


def breaks_ties_by_name(context: DaemonContext) -> Decision[DaemonAction]:
    """IX4: of two with one index the one with the larger name moves, started or not."""
    state, identity = context.state, context.identity
    view = clique_view_of(identity, context.registry)
    mine = view.own
    if mine is None or mine.ip != identity.ip or mine.index is None or not view.rival(mine.index):
        return decide(context)
    decision = decide(context)
    if view.rival(mine.index) < identity.node:
        return decide(replace(context, state=replace(state, settled_index=None), fabric=None))
    if isinstance(decision.verdict, Apply):
        return saying(decision, Wait())
    return decision


def writes_lists_without_a_version(body: Json) -> Json:
    """IX5: the whole list goes back, whatever happened meanwhile."""
    body["metadata"].pop("resourceVersion", None)
    return body


def keeps_the_process_running(context: DaemonContext) -> Decision[DaemonAction]:
    """IX7: a registered index that changed is no reason to restart."""
    decision = decide(context)
    if isinstance(decision.verdict, RestartFabric) and context.fabric is not None:
        return saying(decision, Idle())
    return decision


def cleans_up_by_an_old_view(moment: DomainSnapshot) -> Plan:
    """IX8: pods that it has not seen yet are not there."""
    return reconcile_domain(replace(moment, pods_version=10**9))


def takes_unlabelled_pods_for_none(moment: DomainSnapshot) -> Plan:
    """IX8: a pod that has not labelled itself does not count."""
    pods = tuple(pod for pod in moment.pods if pod.clique is not None)
    return reconcile_domain(replace(moment, pods=pods))


def applies_only_what_changed(context: DaemonContext) -> Decision[DaemonAction]:
    """An apply with readiness alone gives up address and index."""
    decision = decide(context)
    action = decision.verdict

    def less(item: Json) -> None:
        if item["status"] == "Ready":
            item.pop("index")

    return saying(decision, with_own(action, less)) if isinstance(action, Apply) else decision


def carries_readiness_over(context: DaemonContext) -> Decision[DaemonAction]:
    """D44: comes back as ready as its predecessor was."""
    decision = decide(context)
    action = decision.verdict
    mine = clique_view_of(context.identity, context.registry).own
    if not isinstance(action, Apply) or mine is None or mine.status != "Ready" or context.fabric is not None:
        return decision
    return saying(decision, with_own(action, lambda item: item.update(status="Ready")))


def forgets_a_sticky_index(context: DaemonContext) -> Decision[DaemonAction]:
    """D19: begins by giving up the entry that its predecessor left."""
    registry, identity, state = context.registry, context.identity, context.state
    mine = clique_view_of(identity, registry).own
    if (
        mine is None
        or mine.ip == identity.ip
        or state.observed is None
        or registry is None
        or state.settled_index is not None
    ):
        return decide(context)
    if isinstance(decide(context).verdict, ListPods | LabelPod | Wait | ReadObject):
        return decide(context)
    body = thaw(registry.stored)
    items = entries_in(body)
    items[:] = [item for item in items if identity.node not in {item.get("name"), item.get("nodeName")}]
    kept = tuple(entry for entry in registry.entries if entry.node != identity.node)
    bare: DaemonRegistry
    if isinstance(registry, ComputeDomain):
        bare = replace(registry, stored=frozen(body), nodes=kept)
    else:
        bare = replace(registry, stored=frozen(body), daemons=kept)
    return decide(replace(context, state=replace(state, observed=replace(state.observed, registry=bare))))


def removes_its_successor(context: DaemonContext) -> Decision[DaemonAction]:
    """A late shutdown takes the entry of its node away, whoever's it is, and without a version."""
    decision = decide(context)
    registry = context.registry
    if context.stop_deadline is None or registry is None or context.is_other_domain:
        return decision
    mine = clique_view_of(context.identity, registry).own
    if mine is None or isinstance(decision.verdict, RemoveEntry) or context.state.removes_by_put:
        return decision
    identity = replace(context.identity, ip=mine.ip)
    return decide(replace(context, identity=identity))


def leaves_by_making_objects(body: Json) -> Json:
    """A shutdown that names no uid makes the clique anew."""
    if not entries_in(body):
        body["metadata"].pop("uid", None)
        body["metadata"].pop("resourceVersion", None)
    return body


def never_forces(
    state: DaemonState, identity: Any, settings: Any, request: Request, answer: RequestResult, **at: Any
) -> DaemonState:
    """An entry of an older writer is refused again and again."""
    return replace(after_result(state, identity, settings, request, answer, **at), must_force=False)


def owns_nothing(body: Json) -> Json:
    """Registers without an owner reference."""
    body["metadata"].pop("ownerReferences", None)
    return body


def pushes_every_index(context: DaemonContext) -> Decision[DaemonAction]:
    """Pushes a map although two daemons share an index."""
    decision = decide(context)
    state, fabric = context.state, context.fabric
    view = clique_view_of(context.identity, context.registry)
    if (
        isinstance(decision.verdict, Wait)
        and state.settled_index is not None
        and fabric is None
        and view.duplicate_index() is not None
    ):
        return saying(decision, StartFabric(state.settled_index, view.peers(context.settings.limit)))
    return decision


def moves_although_started(context: DaemonContext) -> Decision[DaemonAction]:
    """A started daemon moves as soon as it sees a rival."""
    view = clique_view_of(context.identity, context.registry)
    settled = context.state.settled_index
    if settled is not None and context.fabric is not None and view.rival(settled):
        return decide(replace(context, state=replace(context.state, settled_index=None), fabric=None))
    return decide(context)


def picks_the_next_index(context: DaemonContext) -> Decision[DaemonAction]:
    """No gap is filled: the next index is one more than the largest."""
    decision = decide(context)
    action = decision.verdict
    view = clique_view_of(context.identity, context.registry, context.state.other_registry)
    if not isinstance(action, Apply) or view.own is not None or view.own_in_other is not None or context.fabric:
        return decision
    largest = max(view.used, default=-1)
    return saying(decision, with_own(action, lambda item: item.update(index=largest + 1)))


def ignores_uids(context: DaemonContext) -> Decision[DaemonAction]:
    """Takes a new domain of the same name for its own."""
    registry, identity = context.registry, context.identity
    if registry is None or not context.is_other_domain:
        return decide(context)
    return decide(replace(context, identity=replace(identity, domain_uid=registry.uid)))


def edits_entries(moment: DomainSnapshot) -> Plan:
    """The controller says NotReady in the name of daemons whose pods it does not see."""
    plan = reconcile_domain(moment)
    steps = []
    for step in plan.steps:
        action = step.action
        if isinstance(action, ApplyStep) and "daemons" in action.fields:
            fields = thaw(action.fields)
            for item in fields["daemons"]:
                item["status"] = "NotReady" if item["status"] == "Ready" else "Ready"
            steps.append(replace(step, action=replace(action, fields=frozen(fields))))
        else:
            steps.append(step)
    return replace(plan, steps=tuple(steps))


def counts_silence_as_ready(moment: DomainSnapshot) -> Plan:
    """An entry without a word of its readiness counts as ready, and so does one that says it is not."""
    domain = replace(moment.domain, nodes=tuple(replace(entry, status="Ready") for entry in moment.domain.nodes))
    cliques = tuple(
        replace(clique, daemons=tuple(replace(entry, status="Ready") for entry in clique.daemons))
        for clique in moment.cliques
    )
    return reconcile_domain(replace(moment, domain=domain, cliques=cliques))


def never_cleans_up(moment: DomainSnapshot) -> Plan:
    plan = reconcile_domain(moment)
    return replace(plan, steps=tuple(step for step in plan.steps if not isinstance(step.action, ApplyStep)))


def writes_statuses_in_vain(context: DaemonContext) -> Decision[DaemonAction]:
    """Applies its entry again though nothing changed."""
    decision = decide(context)
    state = context.state
    if isinstance(decision.verdict, Idle | Wait) and state.settled_index is not None and context.identity.clique:
        again = decide(replace(context, state=replace(state, settled_index=None, not_before=None)))
        return again if isinstance(again.verdict, Apply | Put) else decision
    return decision


def registers_without_a_fabric(context: DaemonContext) -> Decision[DaemonAction]:
    """An empty clique is a clique like others."""
    if context.identity.clique:
        return decide(context)
    decision = decide(replace(context, identity=replace(context.identity, clique="none")))
    return saying(decision, Idle()) if isinstance(decision.verdict, LabelPod) else decision


def reads_one_source(context: DaemonContext) -> Decision[DaemonAction]:
    """D46: while a gate is flipped it looks only at the object of its own."""
    return decide(replace(context, settings=replace(context.settings, reads_other_registry=False)))


def never_gives_way(context: DaemonContext) -> Decision[DaemonAction]:
    """D45: of two pods on one node both write."""
    return decide(replace(context, settings=replace(context.settings, has_pods=False)))


def leaves_the_other_object_alone(context: DaemonContext) -> Decision[DaemonAction]:
    """DC-067: what has its own address in the other object is not its business."""
    decision = decide(context)
    if not isinstance(decision.verdict, ClearOtherEntry):
        return decision
    return decide(replace(context, state=replace(context.state, other_registry=None)))


def waits_in_vain(context: DaemonContext) -> Decision[DaemonAction]:
    """A full clique is looked at once."""
    decision = decide(context)
    full = any(reason.rule.name == "CLIQUE_FULL" for reason in decision.because)
    return decide(replace(context, settings=replace(context.settings, limit=10_000))) if full else decision
