"""What a daemon remembers of what it sees and of the answers to what it asks: folds, one for each kind of news.

Rule for this file: news never makes the daemon know less than its newest answer (DC-010). Chance comes in as
``jitter``, a factor around 1 that whoever calls draws.
"""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from grove_core.areas.domain_cliques.clique_view import view_of
from grove_core.areas.domain_cliques.protocols import Setup
from grove_core.areas.domain_cliques.situation import Daemon, Glimpse, Memory
from grove_core.areas.domain_cliques.verdicts import (
    Answer,
    Apply,
    Clear,
    Label,
    ListPods,
    Put,
    Read,
    Register,
    Remove,
    Reply,
    Request,
)
from grove_core.kernel.frozen import EMPTY, FrozenMap
from grove_core.resources.compute_domain import ComputeDomain
from grove_core.resources.daemon_entry import DaemonEntry

_BUSY: Final = timedelta(seconds=1)
_MOST_DOUBLINGS: Final = 32
_MOST_DIGITS: Final = 20  # of what a server counts by


def version_of(register: Register) -> int:
    """The version of an object as a number, larger for newer ones; 0 where it is none (DC-901)."""
    text = register.resource_version
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS else 0


def after_event(
    memory: Memory, me: Daemon, setup: Setup, glimpse: Glimpse, *, now: datetime, jitter: float = 1.0
) -> Memory:
    """The daemon's register has changed, or was listed at the start of a watch.

    An event is a fresh piece of work: earlier failures do not slow it down (DC-034).
    """
    due = now + setup.first_delay * jitter
    waits = memory.not_before is not None and memory.not_before > now
    memory = replace(
        memory,
        failures=0,
        failure="",
        not_before=min(memory.not_before or due, due) if waits else due,
    )
    return _checked(_newest(memory, glimpse), me, now)


def after_answer(
    memory: Memory,
    me: Daemon,
    setup: Setup,
    request: Request,
    answer: Answer,
    *,
    now: datetime,
    jitter: float = 1.0,
) -> Memory:
    """A request of the daemon was answered, or was given up."""
    match answer.reply:
        case Reply.DONE:
            memory = replace(memory, failures=0, failure="", not_before=None, patient_until=None)
            return _checked(_taken_in(memory, me, setup, request, answer, now), me, now)
        case Reply.OWNED:
            return replace(memory, must_force=True, not_before=None)
        case Reply.BUSY:
            return replace(memory, patient_until=now + (answer.retry_after or _BUSY))
        case Reply.GONE if isinstance(request, Read | Clear):
            return replace(memory, other=None, other_read_at=now, failures=0, failure="", not_before=None)
        case Reply.GONE if not isinstance(request, Label | ListPods):  # these do not speak of the register
            memory = _failed(memory, setup, answer, now, jitter)
            return _checked(_gone(memory, request), me, now)
        case Reply.REFUSED if isinstance(request, Remove) and isinstance(request.write, Apply):
            return replace(_failed(memory, setup, answer, now, jitter), by_put=True)
        case _ if isinstance(request, Clear):
            return replace(_failed(memory, setup, answer, now, jitter), other_read_at=None)
        case _:
            return _failed(memory, setup, answer, now, jitter)


def _gone(memory: Memory, request: Request) -> Memory:
    """The object that was written to is not there; another one of its name that was seen since stays."""
    if memory.seen is None or memory.seen.register is None:
        return memory
    write = request.write if isinstance(request, Remove) else request
    metadata = write.manifest["metadata"] if isinstance(write, Put) else EMPTY
    aimed = metadata.get("uid") if isinstance(metadata, FrozenMap) else None
    if aimed is not None and aimed != memory.seen.register.uid:
        return memory
    return replace(memory, seen=Glimpse(memory.seen.version, None))


def _failed(memory: Memory, setup: Setup, answer: Answer, now: datetime, jitter: float) -> Memory:
    delay = setup.first_delay * 2 ** min(memory.failures, _MOST_DOUBLINGS)
    return replace(
        memory,
        failures=memory.failures + 1,
        failure=answer.detail or answer.reply.value,
        not_before=now + min(delay, setup.longest_delay) * jitter,
    )


def _taken_in(memory: Memory, me: Daemon, setup: Setup, request: Request, answer: Answer, now: datetime) -> Memory:
    match request:
        case Label():
            return replace(memory, labelled=True)
        case ListPods(address):
            return replace(memory, pods=answer.pods, pods_listed_for=address, pods_listed_at=now)
        case Read() | Clear():
            foreign = isinstance(answer.register, ComputeDomain) and answer.register.uid != me.domain_uid
            return replace(memory, other=None if foreign else answer.register, other_read_at=now)
        case Remove():
            remains = _own_entry(me, answer.register) is not None
            return replace(_seen_in(memory, answer), by_put=memory.by_put or remains)
        case _:
            memory = replace(_seen_in(memory, answer), must_force=False)
            index = settled_index(me, setup, answer.register)
            if index is None or index == memory.settled:
                return memory
            return replace(memory, settled=index, contested_since=None, other_read_at=None)


def settled_index(me: Daemon, setup: Setup, answered: Register | None) -> int | None:
    """The index that an answer to an own write shows to be the daemon's alone (D42, DC-023); None where it does not."""
    mine = _own_entry(me, answered)
    if mine is None or mine.index is None or not 0 <= mine.index < setup.limit:
        return None
    return None if view_of(me, answered).rival(mine.index) else mine.index


def _own_entry(me: Daemon, register: Register | None) -> DaemonEntry | None:
    """The entry of the node, if this very pod wrote it (DC-022): an earlier one had another address."""
    mine = view_of(me, register).mine
    return mine if mine is not None and mine.ip == me.ip else None


def _seen_in(memory: Memory, answer: Answer) -> Memory:
    if answer.register is None:
        return memory
    return _newest(memory, Glimpse(version_of(answer.register), answer.register))


def _newest(memory: Memory, glimpse: Glimpse) -> Memory:
    """Read your writes: an event that is older than an answer is no news (DC-010)."""
    if memory.seen is not None and glimpse.version < memory.seen.version:
        return memory
    return replace(memory, seen=glimpse)


def _checked(memory: Memory, me: Daemon, now: datetime) -> Memory:
    """What was settled stays so only while the newest state shows it; and since when somebody contests it."""
    if memory.settled is None:
        return memory
    view = view_of(me, memory.seen.register if memory.seen is not None else None, memory.other)
    mine = view.mine
    if mine is None or mine.ip != me.ip or mine.index != memory.settled:
        return replace(memory, settled=None, contested_since=None, other_read_at=None)
    contested = bool(view.rival(memory.settled))
    since = (memory.contested_since or now) if contested else None
    return replace(memory, contested_since=since)
