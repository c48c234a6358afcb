"""The last look before a write: who became ready is not ended (OP-074), and who is there is not made again (OP-106)."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from itertools import islice
from typing import Final

from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Attempt, Outcome, Step, is_end
from grove_core.plan.plan import Plan
from grove_core.resources.owner_reference import clique_of_new_pod
from grove_core.snapshot.snapshot import Snapshot
from grove_shell import internal_errors
from grove_shell.cache.cache_view import Observation

_GOOD_FOR: Final = 4  # times as long as it took: a gang of a thousand parts is not judged a thousand times
_RECOVERED: Final = "it is not to end any more"


def terminated_by(steps: Iterable[Step]) -> AbstractSet[Ref]:
    """Whom they end."""
    return {step.target for step in steps if is_end(step)}


def unconfirmed(steps: Iterable[Step], because: str) -> tuple[Attempt, ...]:
    """An end that is not tried, for the server could not be asked first; it stands for all of them (PL-029)."""
    return tuple(Attempt(step, Outcome.UNASKED, because) for step in islice(filter(is_end, steps), 1))


class StepRecheck:
    """Says of the steps of one round, whenever one is about to go out, whether it is still to be done."""

    def __init__(
        self,
        before: Observation,
        steps: Iterable[Step],
        *,
        look: Callable[[], Observation | None],
        plan: Callable[[Observation], Plan],
        pods: Callable[[str], Mapping[str, str]],
    ) -> None:
        """Nothing was asked yet.

        Args:
            before: what the round was planned on.
            steps: of the round.
            look: what is known by then; None where the set is gone.
            plan: of that.
            pods: uids by name of those that a PodClique of this uid has by then, be they read or not.
        """
        self._before = before
        self._look = look
        self._plan = plan
        self._pods = pods
        self._known: dict[str, AbstractSet[str]] = {}
        self._made = {step.target.name for step in steps if clique_of_new_pod(step)}
        self._release: set[Ref] = set()
        self._ended: AbstractSet[Ref] = frozenset()
        self._spared_because = _RECOVERED
        self._good_until = 0.0

    def against(self, step: Step) -> str | None:
        """Why a step is not to be done any more; None where it is."""
        if clique := clique_of_new_pod(step):
            return self._stranger_of(clique)
        if not is_end(step):
            return None
        clock = asyncio.get_running_loop().time
        began = clock()
        if began >= self._good_until:
            self._judge()
            self._good_until = clock() + _GOOD_FOR * (clock() - began)
        if step.target not in self._ended:
            return self._spared_because
        self._release.add(step.target)
        return None

    def _stranger_of(self, clique: str) -> str | None:
        """A pod of a PodClique that the round neither knew nor made."""
        if clique not in self._known:
            before = self._before.pods_of.get(clique, ()) if isinstance(self._before, Snapshot) else ()
            self._known[clique] = {pod.uid for pod in before}
        known = self._known[clique]
        strangers = [name for name, uid in self._pods(clique).items() if not (uid in known or name in self._made)]
        return f"Pod/{min(strangers)} is there, and was not known" if strangers else None

    def _judge(self) -> None:
        self._spared_because = _RECOVERED
        try:
            now = self._look()
            steps = self._plan(with_deletions_undone(now, self._before, self._release)).steps if now is not None else ()
            self._ended = terminated_by(steps)
        except Exception as fault:  # noqa: BLE001 - a fault of ours ends nobody, and the next round tells of it (OP-027)
            self._ended, self._spared_because = frozenset(), f"fault of ours: {internal_errors.described(fault)}"


def with_deletions_undone(now: Observation, before: Observation, let_go: AbstractSet[Ref]) -> Observation:
    """What is known by now, and in it what this round ended as it was before that.

    An end takes away its own reason, part by part: a scaling group of which some breached cliques are gone is breached
    no more, and by the field's rules a replica without one of its cliques is passed over.
    """
    if not (let_go and isinstance(now, Snapshot) and isinstance(before, Snapshot)):
        return now
    there = {clique.ref: clique for clique in now.cliques}
    left = [one for one in before.cliques if one.ref in let_go and (one.ref not in there or there[one.ref].deleting)]
    pods = {clique.uid: before.pods_of.get(clique.uid, ()) for clique in left}
    cliques = {**there, **{clique.ref: clique for clique in left}}
    order = dict.fromkeys(clique.ref for clique in (*before.cliques, *now.cliques))
    return replace(now, cliques=tuple(cliques[ref] for ref in order if ref in cliques), pods_of={**now.pods_of, **pods})
