"""Beside another operator: where the cluster goes another way than the plan says (OP-037)."""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from grove_core.inquiry import Inquiry
from grove_core.kernel.reasons import Reason
from grove_core.kernel.steps import Attempt, Delete, Step
from grove_core.resources.podclique import PodClique
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.operator.rounds import Look
from grove_shell.world.homes import Home

_PATIENCE: Final = timedelta(minutes=1)
Say = Callable[..., None]


class _Shown(NamedTuple):
    """A look at a set, and what it was made of."""

    look: Look
    snapshot: Snapshot


class Shadow:
    """Holds each look against the one before: who ended that was to stay, and who stays that was to end."""

    def __init__(self, say: Say) -> None:
        """Nothing was seen yet; ``say`` takes a level, a message and fields."""
        self._say = say
        self._last: dict[Home, _Shown] = {}
        self._due: dict[str, datetime] = {}  # uid of a clique that should end -> since when
        self._told: set[str] = set()

    def planned(self, look: Look) -> None:
        """A look, which nothing follows from; of a topology nothing ends."""
        if not isinstance(look.seen, Snapshot):
            return
        now, before = _Shown(look, look.seen), self._last.get(look.home)
        if before is not None:
            for clique in _ended_between(before, now):
                self._tell("the cluster ended what the plan keeps", before.look, clique, _kept_because(before, clique))
        ends = {step.target: step for step in look.plan.steps if _is_end(step)}
        for clique in (clique for clique in look.seen.cliques if clique.ref in ends):
            since = self._due.setdefault(clique.uid, look.seen.now)
            if look.seen.now - since >= _PATIENCE and clique.uid not in self._told:
                self._told.add(clique.uid)
                self._tell("the cluster keeps what the plan ends", look, clique, ends[clique.ref].because)
        self._last[look.home] = now

    def answered(self, look: Look, attempts: tuple[Attempt, ...]) -> None:
        """Nothing is tried."""

    def failed(self, home: Home, words: str) -> None:
        """A look that broke off says nothing of the cluster."""

    def _tell(self, message: str, look: Look, clique: PodClique, because: tuple[Reason, ...]) -> None:
        said: dict[str, Any] = {
            "set": "/".join(look.home),
            "plan": look.name,
            "target": clique.ref.short,
            "because": [{"rule": reason.rule.code, "sentence": reason.sentence} for reason in because],
        }
        self._say("warning", message, **said)


def _is_end(step: Step) -> bool:
    return step.target.kind == "PodClique" and isinstance(step.action, Delete)


def _ended_between(before: _Shown, now: _Shown) -> Iterator[PodClique]:
    """Cliques that were there and are on their way out, although no plan of ours said so."""
    then, seen = before.snapshot, now.snapshot
    if then.root.deleting or seen.root.deleting or "PodClique" in seen.not_collected:
        return
    there = {clique.uid for clique in seen.cliques if not clique.deleting}
    wanted = {step.target for step in before.look.plan.steps if _is_end(step)}
    for clique in then.cliques:
        if not clique.deleting and clique.uid not in there and clique.ref not in wanted:
            yield clique


def _kept_because(shown: _Shown, clique: PodClique) -> tuple[Reason, ...]:
    """The guard that held, as ``grove explain --why-not terminate`` names it."""
    guards = Inquiry(shown.snapshot, shown.look.plan, "PodClique", clique.ref.name).guards()
    return next((guard.because for guard in guards), ())
