"""What a daemon does next: one question after the other, the first that has an answer speaks.

Rule for this file: the order is the protocol. Whoever changes it reads specs/domain_cliques.md first.
"""

from grove_core.areas.domain_cliques.clique_view import view_of
from grove_core.areas.domain_cliques.leaving import leave
from grove_core.areas.domain_cliques.other_source import next_reading, reading
from grove_core.areas.domain_cliques.registering import confirm, join, replace
from grove_core.areas.domain_cliques.rules import Why
from grove_core.areas.domain_cliques.serving import serve
from grove_core.areas.domain_cliques.situation import Situation
from grove_core.areas.domain_cliques.verdicts import REQUESTS, Deed, Label, Rest, Wait
from grove_core.kernel.decisions import Decision
from grove_core.kernel.frozen import FrozenMap
from grove_core.kernel.times import format_time
from grove_core.resources.api_names import DOMAIN_CLIQUE


def decide(situation: Situation) -> Decision[Deed]:
    """What the daemon does now, and why. Pure and total; linear in the entries of its register.

    A request is put off while the daemon backs off (DC-034) or the server asked for patience (DC-035); what concerns
    only the fabric daemon beside it never is.
    """
    wanted = leave(situation) if situation.stop_by is not None else _next(situation)
    if not isinstance(wanted.verdict, REQUESTS):
        return wanted
    memory, now, ref = situation.memory, situation.now, situation.me.pod_ref
    if memory.patient_until is not None and now < memory.patient_until:
        until = memory.patient_until
        return Decision(Wait(until), (Why.SERVER_BUSY.because(ref, until=format_time(until)), *wanted.because))
    if memory.not_before is not None and now < memory.not_before:
        until = memory.not_before
        failure = memory.failure or "none"
        because = Why.BACKING_OFF.because(ref, failure=failure, until=format_time(until))
        return Decision(Wait(until), (because, *wanted.because))
    return wanted


def _next(situation: Situation) -> Decision[Deed]:
    me, setup, memory = situation.me, situation.setup, situation.memory
    before = _before_all(situation)
    if before is not None:
        return before
    again = next_reading(situation)
    due = memory.other_read_at is None or (again is not None and situation.now >= again)
    if setup.reads_both and memory.settled is None and due:
        return reading(situation)
    view = view_of(me, situation.register, memory.other)
    if view.mine is None:
        return join(situation, view)
    if view.mine.ip != me.ip:
        return replace(situation, view, view.mine)
    if memory.settled is None:
        return confirm(situation, view, view.mine)
    return serve(situation, view, view.mine, memory.settled)


def _before_all(situation: Situation) -> Decision[Deed] | None:
    """What comes before a look at any entry: the label of the pod, and whether there is anything to register in."""
    me, memory, pod, register = situation.me, situation.memory, situation.pod, situation.register
    unlabelled = pod is None or pod.clique != me.clique  # a pod that is not seen yet may have no label
    if situation.setup.has_pods and unlabelled and not memory.labelled:
        labels = FrozenMap({DOMAIN_CLIQUE: me.clique})
        because = Why.CLIQUE_UNLABELLED.because(me.pod_ref, clique=me.clique or "none")
        return Decision(Label(me.pod_ref, labels), (because,))
    if not me.clique:
        return Decision(Rest(), (Why.NO_FABRIC.because(me.pod_ref),))
    if memory.seen is None:
        return Decision(Wait(), (Why.NOTHING_SEEN.because(me.pod_ref, register=situation.register_ref.short),))
    if register is None and not situation.setup.protocol.sharded:
        return Decision(Wait(), (Why.DOMAIN_MISSING.because(me.pod_ref, register=situation.register_ref.short),))
    if register is not None and situation.is_foreign:
        because = Why.OTHER_DOMAIN.because(me.pod_ref, found=register.uid, wanted=me.domain_uid)
        return Decision(Wait(), (because,))
    return None
