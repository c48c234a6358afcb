"""Functions of the core with one mistake each."""

from collections.abc import Callable
from typing import Any

from grove_core.areas.domain_cliques.daemon.daemon_input import DaemonInput, RegistrationState, nvlink_clique_daemons_of
from grove_core.areas.domain_cliques.daemon.judge import next_daemon_action
from grove_core.areas.domain_cliques.daemon.registration_state_updates import (
    registration_state_after_event,
    registration_state_after_result,
)
from grove_core.areas.domain_cliques.daemon.verdicts import (
    ApplyRequest,
    ClearOtherEntryRequest,
    DaemonAction,
    DaemonRequest,
    IdleAction,
    LabelPodRequest,
    ListPodsRequest,
    PeerMap,
    PutRequest,
    ReadObjectRequest,
    RemoveEntryRequest,
    RequestResult,
    RestartFabricAction,
    StartFabricAction,
    WaitAction,
)
from grove_core.areas.domain_cliques.domain_snapshot import ComputeDomainSnapshot
from grove_core.kernel.decisions import Decision
from grove_core.kernel.frozen import frozen, thaw_json
from grove_core.kernel.steps import Apply as ApplyStep
from grove_core.kernel.structs import replace
from grove_core.plan.plan import Plan
from grove_core.reconcile_domain import reconcile_compute_domain
from grove_core.resources.compute_domain import ComputeDomain
from grove_core.resources.daemon_entry_lists import DaemonRegistry

Json = dict[str, Any]


def with_verdict(decision: Decision[DaemonAction], verdict: DaemonAction) -> Decision[DaemonAction]:
    return replace(decision, verdict=verdict)


def entry_list(body: Json) -> list[Json]:
    found: list[Json] = body.get("daemons") or body.get("status", {}).get("nodes") or []
    return found


def with_own(action: ApplyRequest, change: Callable[[Json], None]) -> ApplyRequest:
    """The apply with its own entry changed."""
    body = thaw_json(action.fields)
    for item in entry_list(body):
        change(item)
    return replace(action, fields=frozen(body))


def starts_without_a_read(context: DaemonInput) -> Decision[DaemonAction]:
    """IX1: ignores other nodes with its index."""
    state, identity, registry = context.state, context.identity, context.registry
    decision = next_daemon_action(context)
    mine = nvlink_clique_daemons_of(identity, registry).own
    eager = (
        context.fabric is None
        and state.other_read_at is not None
        and not isinstance(decision.verdict, StartFabricAction)
    )
    if eager and mine is not None and mine.ip == identity.ip and mine.index is not None:
        return with_verdict(decision, StartFabricAction(mine.index, PeerMap(((mine.index, identity.ip),))))
    return decision


def forgets_its_own_writes(
    state: RegistrationState, identity: Any, settings: Any, request: DaemonRequest, answer: RequestResult, **at: Any
) -> RegistrationState:
    """IX2: ignores the response to its own write; the next write is based on the last watch event."""
    after = registration_state_after_result(state, identity, settings, request, answer, **at)
    return replace(after, observed=state.observed)


def takes_any_event(
    state: RegistrationState, identity: Any, settings: Any, observation: Any, **at: Any
) -> RegistrationState:
    """IX2: accepts events that are older than the response to its own write."""
    return registration_state_after_event(replace(state, observed=None), identity, settings, observation, **at)


def trusts_its_predecessor(context: DaemonInput) -> Decision[DaemonAction]:
    """IX3: takes any entry of its node for its own, and for settled."""
    registry, identity = context.registry, context.identity
    mine = nvlink_clique_daemons_of(identity, registry).own
    if mine is None or mine.index is None or context.fabric is not None:
        return next_daemon_action(context)
    decision = next_daemon_action(context)
    if mine.ip != identity.ip and not isinstance(decision.verdict, LabelPodRequest):
        return with_verdict(decision, StartFabricAction(mine.index, PeerMap(((mine.index, identity.ip),))))
    return decision


def breaks_ties_by_name(context: DaemonInput) -> Decision[DaemonAction]:
    """IX4: of two nodes with one index the one with the larger name moves, even if it has started."""
    state, identity = context.state, context.identity
    view = nvlink_clique_daemons_of(identity, context.registry)
    mine = view.own
    if mine is None or mine.ip != identity.ip or mine.index is None or not view.other_node_with_index(mine.index):
        return next_daemon_action(context)
    decision = next_daemon_action(context)
    if view.other_node_with_index(mine.index) < identity.node:
        return next_daemon_action(replace(context, state=replace(state, settled_index=None), fabric=None))
    if isinstance(decision.verdict, ApplyRequest):
        return with_verdict(decision, WaitAction())
    return decision


def writes_lists_without_a_version(body: Json) -> Json:
    """IX5: writes the whole list without a version."""
    body["metadata"].pop("resourceVersion", None)
    return body


def keeps_the_process_running(context: DaemonInput) -> Decision[DaemonAction]:
    """IX7: does not restart the fabric daemon with a changed index."""
    decision = next_daemon_action(context)
    if isinstance(decision.verdict, RestartFabricAction) and context.fabric is not None:
        return with_verdict(decision, IdleAction())
    return decision


def cleans_up_by_an_old_view(snapshot: ComputeDomainSnapshot) -> Plan:
    """IX8: takes pods that its view does not include yet for deleted."""
    return reconcile_compute_domain(replace(snapshot, pods_version=10**9))


def takes_unlabelled_pods_for_none(snapshot: ComputeDomainSnapshot) -> Plan:
    """IX8: ignores pods without a clique label."""
    pods = tuple(pod for pod in snapshot.pods if pod.clique is not None)
    return reconcile_compute_domain(replace(snapshot, pods=pods))


def applies_only_what_changed(context: DaemonInput) -> Decision[DaemonAction]:
    """Applies the readiness without the index, which gives the index up."""
    decision = next_daemon_action(context)
    action = decision.verdict

    def less(item: Json) -> None:
        if item["status"] == "Ready":
            item.pop("index")

    return with_verdict(decision, with_own(action, less)) if isinstance(action, ApplyRequest) else decision


def carries_readiness_over(context: DaemonInput) -> Decision[DaemonAction]:
    """D44: takes over the readiness of its predecessor."""
    decision = next_daemon_action(context)
    action = decision.verdict
    mine = nvlink_clique_daemons_of(context.identity, context.registry).own
    if not isinstance(action, ApplyRequest) or mine is None or mine.status != "Ready" or context.fabric is not None:
        return decision
    return with_verdict(decision, with_own(action, lambda item: item.update(status="Ready")))


def forgets_a_sticky_index(context: DaemonInput) -> Decision[DaemonAction]:
    """D19: ignores the entry of its predecessor."""
    registry, identity, state = context.registry, context.identity, context.state
    mine = nvlink_clique_daemons_of(identity, registry).own
    if (
        mine is None
        or mine.ip == identity.ip
        or state.observed is None
        or registry is None
        or state.settled_index is not None
    ):
        return next_daemon_action(context)
    if isinstance(
        next_daemon_action(context).verdict, ListPodsRequest | LabelPodRequest | WaitAction | ReadObjectRequest
    ):
        return next_daemon_action(context)
    body = thaw_json(registry.stored)
    items = entry_list(body)
    items[:] = [item for item in items if identity.node not in {item.get("name"), item.get("nodeName")}]
    kept = tuple(entry for entry in registry.daemon_entries if entry.node != identity.node)
    bare: DaemonRegistry
    if isinstance(registry, ComputeDomain):
        bare = replace(registry, stored=frozen(body), nodes=kept)
    else:
        bare = replace(registry, stored=frozen(body), daemons=kept)
    return next_daemon_action(replace(context, state=replace(state, observed=replace(state.observed, registry=bare))))


def removes_its_successor(context: DaemonInput) -> Decision[DaemonAction]:
    """A late shutdown removes the entry of its successor."""
    decision = next_daemon_action(context)
    registry = context.registry
    if context.stop_deadline is None or registry is None or context.domain_was_recreated:
        return decision
    mine = nvlink_clique_daemons_of(context.identity, registry).own
    if mine is None or isinstance(decision.verdict, RemoveEntryRequest) or context.state.removes_by_put:
        return decision
    identity = replace(context.identity, ip=mine.ip)
    return next_daemon_action(replace(context, identity=identity))


def leaves_by_making_objects(body: Json) -> Json:
    """A shutdown without uid and version creates the clique again."""
    if not entry_list(body):
        body["metadata"].pop("uid", None)
        body["metadata"].pop("resourceVersion", None)
    return body


def never_forces(
    state: RegistrationState, identity: Any, settings: Any, request: DaemonRequest, answer: RequestResult, **at: Any
) -> RegistrationState:
    """Never applies with force, so that an entry of an older writer stays."""
    return replace(registration_state_after_result(state, identity, settings, request, answer, **at), must_force=False)


def owns_nothing(body: Json) -> Json:
    """Registers without an owner reference."""
    body["metadata"].pop("ownerReferences", None)
    return body


def pushes_every_index(context: DaemonInput) -> Decision[DaemonAction]:
    """Pushes a peer map although two daemons have one index."""
    decision = next_daemon_action(context)
    state, fabric = context.state, context.fabric
    view = nvlink_clique_daemons_of(context.identity, context.registry)
    if (
        isinstance(decision.verdict, WaitAction)
        and state.settled_index is not None
        and fabric is None
        and view.duplicate_index() is not None
    ):
        return with_verdict(decision, StartFabricAction(state.settled_index, view.peer_map(context.settings.limit)))
    return decision


def moves_although_started(context: DaemonInput) -> Decision[DaemonAction]:
    """A started daemon moves as soon as it observes a rival."""
    view = nvlink_clique_daemons_of(context.identity, context.registry)
    settled = context.state.settled_index
    if settled is not None and context.fabric is not None and view.other_node_with_index(settled):
        return next_daemon_action(replace(context, state=replace(context.state, settled_index=None), fabric=None))
    return next_daemon_action(context)


def picks_the_next_index(context: DaemonInput) -> Decision[DaemonAction]:
    """Fills no gap: the next index is one more than the largest."""
    decision = next_daemon_action(context)
    action = decision.verdict
    view = nvlink_clique_daemons_of(context.identity, context.registry, context.state.other_registry)
    if not isinstance(action, ApplyRequest) or view.own is not None or view.own_in_other is not None or context.fabric:
        return decision
    largest = max(view.indices_of_other_nodes, default=-1)
    return with_verdict(decision, with_own(action, lambda item: item.update(index=largest + 1)))


def ignores_uids(context: DaemonInput) -> Decision[DaemonAction]:
    """Takes a new domain of the same name for its own."""
    registry, identity = context.registry, context.identity
    if registry is None or not context.domain_was_recreated:
        return next_daemon_action(context)
    return next_daemon_action(replace(context, identity=replace(identity, domain_uid=registry.uid)))


def edits_entries(snapshot: ComputeDomainSnapshot) -> Plan:
    """The controller changes the readiness in entries of daemons."""
    plan = reconcile_compute_domain(snapshot)
    steps = []
    for step in plan.steps:
        action = step.action
        if isinstance(action, ApplyStep) and "daemons" in action.fields:
            fields = thaw_json(action.fields)
            for item in fields["daemons"]:
                item["status"] = "NotReady" if item["status"] == "Ready" else "Ready"
            steps.append(replace(step, action=replace(action, fields=frozen(fields))))
        else:
            steps.append(step)
    return replace(plan, steps=tuple(steps))


def counts_silence_as_ready(snapshot: ComputeDomainSnapshot) -> Plan:
    """Counts every entry as ready."""
    domain = replace(snapshot.domain, nodes=tuple(replace(entry, status="Ready") for entry in snapshot.domain.nodes))
    cliques = tuple(
        replace(clique, daemons=tuple(replace(entry, status="Ready") for entry in clique.daemons))
        for clique in snapshot.cliques
    )
    return reconcile_compute_domain(replace(snapshot, domain=domain, cliques=cliques))


def never_cleans_up(snapshot: ComputeDomainSnapshot) -> Plan:
    plan = reconcile_compute_domain(snapshot)
    return replace(plan, steps=tuple(step for step in plan.steps if not isinstance(step.action, ApplyStep)))


def writes_without_change(context: DaemonInput) -> Decision[DaemonAction]:
    """Writes its entry again without a change."""
    decision = next_daemon_action(context)
    state = context.state
    if (
        isinstance(decision.verdict, IdleAction | WaitAction)
        and state.settled_index is not None
        and context.identity.clique
    ):
        again = next_daemon_action(replace(context, state=replace(state, settled_index=None, not_before=None)))
        return again if isinstance(again.verdict, ApplyRequest | PutRequest) else decision
    return decision


def registers_without_a_fabric(context: DaemonInput) -> Decision[DaemonAction]:
    """Registers with an empty clique id."""
    if context.identity.clique:
        return next_daemon_action(context)
    decision = next_daemon_action(replace(context, identity=replace(context.identity, clique="none")))
    return with_verdict(decision, IdleAction()) if isinstance(decision.verdict, LabelPodRequest) else decision


def reads_one_source(context: DaemonInput) -> Decision[DaemonAction]:
    """D46: ignores the other registry."""
    return next_daemon_action(replace(context, settings=replace(context.settings, reads_other_registry=False)))


def never_gives_way(context: DaemonInput) -> Decision[DaemonAction]:
    """D45: does not stand by for a newer pod."""
    return next_daemon_action(replace(context, settings=replace(context.settings, has_pods=False)))


def leaves_the_other_object_alone(context: DaemonInput) -> Decision[DaemonAction]:
    """DC-067: leaves the entry with its own address in the other registry."""
    decision = next_daemon_action(context)
    if not isinstance(decision.verdict, ClearOtherEntryRequest):
        return decision
    return next_daemon_action(replace(context, state=replace(context.state, other_registry=None)))


def exceeds_limit_when_full(context: DaemonInput) -> Decision[DaemonAction]:
    """Takes an index beyond the limit if the clique is full."""
    decision = next_daemon_action(context)
    full = any(reason.rule.name == "CLIQUE_FULL" for reason in decision.because)
    return next_daemon_action(replace(context, settings=replace(context.settings, limit=10_000))) if full else decision
