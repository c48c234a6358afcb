"""How a daemon comes by an entry with an index that nobody shares; until then it has not settled (D42)."""

from grove_core.areas.domain_cliques.clique_view import CliqueView, chosen
from grove_core.areas.domain_cliques.other_source import next_reading
from grove_core.areas.domain_cliques.rules import Why
from grove_core.areas.domain_cliques.situation import Situation
from grove_core.areas.domain_cliques.verdicts import Deed, ListPods, Wait, Yield
from grove_core.areas.domain_cliques.writing import entry_removed, entry_written
from grove_core.kernel.decisions import Decision
from grove_core.kernel.reasons import Reason
from grove_core.kernel.times import format_time
from grove_core.resources.daemon_entry import NOT_READY, DaemonEntry
from grove_core.resources.daemon_pod import DaemonPod


def join(situation: Situation, view: CliqueView) -> Decision[Deed]:
    """There is no entry of the node."""
    running = situation.running
    elsewhere = view.elsewhere.index if view.elsewhere is not None else None
    index = chosen(view, situation.setup.limit, running, elsewhere)
    return registered(situation, index, _why_again(situation, running, index))


def _why_again(situation: Situation, running: int | None, index: int | None) -> Reason | None:
    """Why an entry is made: for the first time, or because somebody took it away (D43); None where it cannot be."""
    ref = situation.me.pod_ref
    if index is None:
        return None
    if running is None:
        return Why.INDEX_CHOSEN.because(ref, index=index)
    if running == index:
        return Why.INDEX_KEPT.because(ref, index=index)
    return Why.INDEX_LOST.because(ref, before=running, index=index)


def replace(situation: Situation, view: CliqueView, mine: DaemonEntry) -> Decision[Deed]:
    """The node's entry is another pod's: that of an earlier one, or of one that lives beside it (D45)."""
    me, setup, memory = situation.me, situation.setup, situation.memory
    if setup.has_pods:
        listed_at = memory.pods_listed_at
        if memory.pods_listed_for != mine.ip or listed_at is None or situation.now >= listed_at + setup.recheck:
            return Decision(ListPods(mine.ip), (Why.STRANGER_SEEN.because(me.pod_ref, ip=mine.ip),))
        newer = newer_pod(memory.pods, me.pod_uid, mine.ip)
        if newer is not None:
            until = listed_at + setup.recheck
            because = Why.SUPERSEDED.because(me.pod_ref, pod=newer.ref.name, until=format_time(until))
            return Decision(Yield(until), (because,))
    running = situation.running
    sticky = mine.index if mine.clique == me.clique else None
    index = chosen(view, setup.limit, running, sticky)
    if index is None and sticky is not None and view.rival(sticky):
        return withdraw(situation, view, mine)
    if running is not None:
        return registered(situation, index, _why_again(situation, running, index))
    reason = None if index is None else Why.PREDECESSOR_REPLACED.because(me.pod_ref, ip=mine.ip, index=index)
    return registered(situation, index, reason)


def newer_pod(pods: tuple[DaemonPod, ...], own_uid: str, ip: str) -> DaemonPod | None:
    """The living pod with this address, if it is newer than the own one, or the own one lives no more (D45)."""
    other = next((pod for pod in pods if pod.ip == ip and pod.living and pod.uid != own_uid), None)
    own = next((pod for pod in pods if pod.uid == own_uid and pod.living), None)
    if other is None or own is None:
        return other
    return other if other.born > own.born else None


def confirm(situation: Situation, view: CliqueView, mine: DaemonEntry) -> Decision[Deed]:
    """The entry is its own, but it has not settled: it keeps an index that nobody shares, else it moves (D42)."""
    running, limit = situation.running, situation.setup.limit
    index = chosen(view, limit, running, mine.index)
    if index is None:
        return withdraw(situation, view, mine)
    if index == mine.index:
        return registered(situation, index, Why.INDEX_UNCONFIRMED.because(situation.me.pod_ref, index=index))
    if running is None and mine.index is not None and (rival := view.rival(mine.index)):
        reason = Why.INDEX_CONTESTED.because(situation.me.pod_ref, rival=rival, before=mine.index, index=index)
        return registered(situation, index, reason)
    return registered(situation, index, _why_again(situation, running, index))


def withdraw(situation: Situation, view: CliqueView, mine: DaemonEntry) -> Decision[Deed]:
    """There is no index for it, and while its entry repeats another's nobody may push."""
    ref, register, limit = situation.me.pod_ref, situation.register, situation.setup.limit
    if mine.index is not None and (rival := view.rival(mine.index)):
        because = Why.WITHDRAWN.because(ref, rival=rival, before=mine.index, limit=limit)
    else:
        because = Why.CLIQUE_FULL.because(ref, limit=limit)
    return Decision(Wait() if register is None else entry_removed(situation, register), (because,))


def registered(situation: Situation, index: int | None, reason: Reason | None) -> Decision[Deed]:
    """Register with an index, not ready yet (DC-039); where there is none, wait for one."""
    me = situation.me
    if index is None or reason is None:
        until = situation.now + situation.setup.recheck
        deed = Wait(next_reading(situation)) if situation.fabric is None else Yield(until)
        return Decision(deed, (Why.CLIQUE_FULL.because(me.pod_ref, limit=situation.setup.limit),))
    return written(situation, DaemonEntry(me.node, me.ip, me.clique, index, NOT_READY), reason)


def written(situation: Situation, entry: DaemonEntry, reason: Reason) -> Decision[Deed]:
    """Write the own entry, with force where another manager was in the way (DC-032)."""
    force = situation.memory.must_force
    forced = (Why.OWNED_BY_ANOTHER.because(situation.me.pod_ref),) if force else ()
    return Decision(entry_written(situation, entry, force=force), (reason, *forced))
