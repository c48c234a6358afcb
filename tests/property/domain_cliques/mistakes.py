"""Mistakes that the core does not make, each in one of its functions."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from grove_core.areas.domain_cliques.clique_view import view_of
from grove_core.areas.domain_cliques.judge import decide
from grove_core.areas.domain_cliques.memory import after_answer, after_event
from grove_core.areas.domain_cliques.moment import DomainMoment
from grove_core.areas.domain_cliques.situation import Memory, Situation
from grove_core.areas.domain_cliques.verdicts import (
    Answer,
    Apply,
    Clear,
    Deed,
    Label,
    ListPods,
    Peers,
    Put,
    Read,
    Register,
    Remove,
    Request,
    Rest,
    Restart,
    Start,
    Wait,
)
from grove_core.kernel.decisions import Decision
from grove_core.kernel.frozen import frozen, thaw
from grove_core.kernel.steps import Apply as ApplyStep
from grove_core.plan.plan import Plan
from grove_core.reconcile_domain import reconcile_domain
from grove_core.resources.compute_domain import ComputeDomain

Json = dict[str, Any]


def saying(decision: Decision[Deed], verdict: Deed) -> Decision[Deed]:
    return replace(decision, verdict=verdict)


def entries_in(body: Json) -> list[Json]:
    found: list[Json] = body.get("daemons") or body.get("status", {}).get("nodes") or []
    return found


def with_own(deed: Apply, change: Callable[[Json], None]) -> Apply:
    """The same apply with its own entry changed."""
    body = thaw(deed.fields)
    for item in entries_in(body):
        change(item)
    return replace(deed, fields=frozen(body))


def starts_without_a_look(situation: Situation) -> Decision[Deed]:
    """IX1: does not care who else has its index."""
    memory, me, register = situation.memory, situation.me, situation.register
    decision = decide(situation)
    mine = view_of(me, register).mine
    eager = situation.fabric is None and memory.other_read_at is not None and not isinstance(decision.verdict, Start)
    if eager and mine is not None and mine.ip == me.ip and mine.index is not None:
        return saying(decision, Start(mine.index, Peers(((mine.index, me.ip),))))
    return decision


def forgets_its_own_writes(memory: Memory, me: Any, setup: Any, request: Request, answer: Answer, **at: Any) -> Memory:
    """IX2: an answer is not a view; the next write is made from what the watch showed last."""
    after = after_answer(memory, me, setup, request, answer, **at)
    return replace(after, seen=memory.seen)


def takes_any_event(memory: Memory, me: Any, setup: Any, glimpse: Any, **at: Any) -> Memory:
    """IX2: an event that is older than its own answer counts as newer."""
    return after_event(replace(memory, seen=None), me, setup, glimpse, **at)


def trusts_its_predecessor(situation: Situation) -> Decision[Deed]:
    """IX3: an entry of its node is its own, whoever wrote it, and settled."""
    register, me = situation.register, situation.me
    mine = view_of(me, register).mine
    if mine is None or mine.index is None or situation.fabric is not None:
        return decide(situation)
    decision = decide(situation)
    if mine.ip != me.ip and not isinstance(decision.verdict, Label):
        return saying(decision, Start(mine.index, Peers(((mine.index, me.ip),))))
    return decision


def breaks_ties_by_name(situation: Situation) -> Decision[Deed]:
    """IX4: of two with one index the one with the larger name moves, started or not."""
    memory, me = situation.memory, situation.me
    view = view_of(me, situation.register)
    mine = view.mine
    if mine is None or mine.ip != me.ip or mine.index is None or not view.rival(mine.index):
        return decide(situation)
    decision = decide(situation)
    if view.rival(mine.index) < me.node:
        return decide(replace(situation, memory=replace(memory, settled=None), fabric=None))
    if isinstance(decision.verdict, Apply):
        return saying(decision, Wait())
    return decision


def writes_lists_without_a_version(body: Json) -> Json:
    """IX5: the whole list goes back, whatever happened meanwhile."""
    body["metadata"].pop("resourceVersion", None)
    return body


def keeps_the_process_running(situation: Situation) -> Decision[Deed]:
    """IX7: a registered index that changed is no reason to restart."""
    decision = decide(situation)
    if isinstance(decision.verdict, Restart) and situation.fabric is not None:
        return saying(decision, Rest())
    return decision


def cleans_up_by_an_old_view(moment: DomainMoment) -> Plan:
    """IX8: pods that it has not seen yet are not there."""
    return reconcile_domain(replace(moment, pods_version=10**9))


def takes_unlabelled_pods_for_none(moment: DomainMoment) -> Plan:
    """IX8: a pod that has not labelled itself does not count."""
    pods = tuple(pod for pod in moment.pods if pod.clique is not None)
    return reconcile_domain(replace(moment, pods=pods))


def applies_only_what_changed(situation: Situation) -> Decision[Deed]:
    """An apply with readiness alone gives up address and index."""
    decision = decide(situation)
    deed = decision.verdict

    def less(item: Json) -> None:
        if item["status"] == "Ready":
            item.pop("index")

    return saying(decision, with_own(deed, less)) if isinstance(deed, Apply) else decision


def carries_readiness_over(situation: Situation) -> Decision[Deed]:
    """D44: comes back as ready as its predecessor was."""
    decision = decide(situation)
    deed = decision.verdict
    mine = view_of(situation.me, situation.register).mine
    if not isinstance(deed, Apply) or mine is None or mine.status != "Ready" or situation.fabric is not None:
        return decision
    return saying(decision, with_own(deed, lambda item: item.update(status="Ready")))


def forgets_a_sticky_index(situation: Situation) -> Decision[Deed]:
    """D19: begins by giving up the entry that its predecessor left."""
    register, me, memory = situation.register, situation.me, situation.memory
    mine = view_of(me, register).mine
    if mine is None or mine.ip == me.ip or memory.seen is None or register is None or memory.settled is not None:
        return decide(situation)
    if isinstance(decide(situation).verdict, ListPods | Label | Wait | Read):
        return decide(situation)
    body = thaw(register.stored)
    items = entries_in(body)
    items[:] = [item for item in items if me.node not in {item.get("name"), item.get("nodeName")}]
    kept = tuple(entry for entry in register.entries if entry.node != me.node)
    bare: Register
    if isinstance(register, ComputeDomain):
        bare = replace(register, stored=frozen(body), nodes=kept)
    else:
        bare = replace(register, stored=frozen(body), daemons=kept)
    return decide(replace(situation, memory=replace(memory, seen=replace(memory.seen, register=bare))))


def removes_its_successor(situation: Situation) -> Decision[Deed]:
    """A late shutdown takes the entry of its node away, whoever's it is, and without a version."""
    decision = decide(situation)
    register = situation.register
    if situation.stop_by is None or register is None or situation.is_foreign:
        return decision
    mine = view_of(situation.me, register).mine
    if mine is None or isinstance(decision.verdict, Remove) or situation.memory.by_put:
        return decision
    me = replace(situation.me, ip=mine.ip)
    return decide(replace(situation, me=me))


def leaves_by_making_objects(body: Json) -> Json:
    """A shutdown that names no uid makes the clique anew."""
    if not entries_in(body):
        body["metadata"].pop("uid", None)
        body["metadata"].pop("resourceVersion", None)
    return body


def never_forces(memory: Memory, me: Any, setup: Any, request: Request, answer: Answer, **at: Any) -> Memory:
    """An entry of an older writer is refused again and again."""
    return replace(after_answer(memory, me, setup, request, answer, **at), must_force=False)


def owns_nothing(body: Json) -> Json:
    """Registers without an owner reference."""
    body["metadata"].pop("ownerReferences", None)
    return body


def pushes_every_index(situation: Situation) -> Decision[Deed]:
    """Pushes a map although two daemons share an index."""
    decision = decide(situation)
    memory, fabric = situation.memory, situation.fabric
    view = view_of(situation.me, situation.register)
    if (
        isinstance(decision.verdict, Wait)
        and memory.settled is not None
        and fabric is None
        and view.shared_index() is not None
    ):
        return saying(decision, Start(memory.settled, view.peers(situation.setup.limit)))
    return decision


def moves_although_started(situation: Situation) -> Decision[Deed]:
    """A started daemon moves as soon as it sees a rival."""
    view = view_of(situation.me, situation.register)
    settled = situation.memory.settled
    if settled is not None and situation.fabric is not None and view.rival(settled):
        return decide(replace(situation, memory=replace(situation.memory, settled=None), fabric=None))
    return decide(situation)


def picks_the_next_index(situation: Situation) -> Decision[Deed]:
    """No gap is filled: the next index is one more than the largest."""
    decision = decide(situation)
    deed = decision.verdict
    view = view_of(situation.me, situation.register, situation.memory.other)
    if not isinstance(deed, Apply) or view.mine is not None or view.elsewhere is not None or situation.fabric:
        return decision
    largest = max(view.used, default=-1)
    return saying(decision, with_own(deed, lambda item: item.update(index=largest + 1)))


def ignores_uids(situation: Situation) -> Decision[Deed]:
    """Takes a new domain of the same name for its own."""
    register, me = situation.register, situation.me
    if register is None or not situation.is_foreign:
        return decide(situation)
    return decide(replace(situation, me=replace(me, domain_uid=register.uid)))


def edits_entries(moment: DomainMoment) -> Plan:
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


def counts_silence_as_ready(moment: DomainMoment) -> Plan:
    """An entry without a word of its readiness counts as ready, and so does one that says it is not."""
    domain = replace(moment.domain, nodes=tuple(replace(entry, status="Ready") for entry in moment.domain.nodes))
    cliques = tuple(
        replace(clique, daemons=tuple(replace(entry, status="Ready") for entry in clique.daemons))
        for clique in moment.cliques
    )
    return reconcile_domain(replace(moment, domain=domain, cliques=cliques))


def never_cleans_up(moment: DomainMoment) -> Plan:
    plan = reconcile_domain(moment)
    return replace(plan, steps=tuple(step for step in plan.steps if not isinstance(step.action, ApplyStep)))


def writes_statuses_in_vain(situation: Situation) -> Decision[Deed]:
    """Applies its entry again though nothing changed."""
    decision = decide(situation)
    memory = situation.memory
    if isinstance(decision.verdict, Rest | Wait) and memory.settled is not None and situation.me.clique:
        again = decide(replace(situation, memory=replace(memory, settled=None, not_before=None)))
        return again if isinstance(again.verdict, Apply | Put) else decision
    return decision


def registers_without_a_fabric(situation: Situation) -> Decision[Deed]:
    """An empty clique is a clique like others."""
    if situation.me.clique:
        return decide(situation)
    decision = decide(replace(situation, me=replace(situation.me, clique="none")))
    return saying(decision, Rest()) if isinstance(decision.verdict, Label) else decision


def reads_one_source(situation: Situation) -> Decision[Deed]:
    """D46: while a gate is flipped it looks only at the object of its own."""
    return decide(replace(situation, setup=replace(situation.setup, reads_both=False)))


def never_gives_way(situation: Situation) -> Decision[Deed]:
    """D45: of two pods on one node both write."""
    return decide(replace(situation, setup=replace(situation.setup, has_pods=False)))


def leaves_the_other_object_alone(situation: Situation) -> Decision[Deed]:
    """DC-067: what has its own address in the other object is not its business."""
    decision = decide(situation)
    if not isinstance(decision.verdict, Clear):
        return decision
    return decide(replace(situation, memory=replace(situation.memory, other=None)))


def waits_in_vain(situation: Situation) -> Decision[Deed]:
    """A full clique is looked at once."""
    decision = decide(situation)
    full = any(reason.rule.name == "CLIQUE_FULL" for reason in decision.because)
    return decide(replace(situation, setup=replace(situation.setup, limit=10_000))) if full else decision
