"""Checks a step again right before its request is sent, against what the cache shows by then.

A gang that recovered is not terminated (OP-074), and a pod is not created beside one that the plan did not know
(OP-106).
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from itertools import islice
from typing import Final

from grove_core.kernel.frozen import FrozenDict
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Attempt, AttemptOutcome, Step, is_gang_termination_deletion
from grove_core.kernel.structs import replace
from grove_core.plan.plan import Plan
from grove_core.resources.owned_object import clique_of_new_pod
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.cache.cache_view import Observation
from grove_shell.log_lines import error_on_one_line

_VALID_FOR: Final = 4  # times as long as the check took: a gang of a thousand parts is not planned a thousand times
_RECOVERED: Final = "its gang is not to be terminated any more"


def objects_terminated_by(steps: Iterable[Step]) -> AbstractSet[Ref]:
    """Return the objects that steps delete in order to terminate a gang."""
    return {step.target for step in steps if is_gang_termination_deletion(step)}


def attempt_of_deferred_termination(steps: Iterable[Step], because: str) -> tuple[Attempt, ...]:
    """Return an attempt of a termination that is not tried because a read failed; it stands for all (PL-029)."""
    return tuple(
        Attempt(step, AttemptOutcome.NOT_CONFIRMED, because)
        for step in islice(filter(is_gang_termination_deletion, steps), 1)
    )


class StepCheckBeforeSend:
    """Checks the steps of one round."""

    def __init__(
        self,
        before: Observation,
        steps: Iterable[Step],
        *,
        observe: Callable[[], Observation | None],
        plan: Callable[[Observation], Plan],
        pods: Callable[[str], Mapping[str, str]],
    ) -> None:
        """Start without a check.

        Args:
            before: what the plan was made of.
            steps: of the plan.
            observe: returns what the cache shows now; None where the set is gone.
            plan: makes a plan of it.
            pods: returns name -> uid of the cached pods of a PodClique, given its uid, readable or not.
        """
        self._before = before
        self._observe = observe
        self._plan = plan
        self._pods = pods
        self._known: dict[str, AbstractSet[str]] = {}
        self._created = {step.target.name for step in steps if clique_of_new_pod(step)}
        self._deleted: set[Ref] = set()
        self._terminated: AbstractSet[Ref] = frozenset()
        self._why_not = _RECOVERED
        self._valid_until = 0.0

    def withdrawn_because(self, step: Step) -> str | None:
        """Return why a step must not be sent any more; None to send it."""
        if clique := clique_of_new_pod(step):
            return self._unplanned_pod(clique)
        if not is_gang_termination_deletion(step):
            return None
        clock = asyncio.get_running_loop().time
        began = clock()
        if began >= self._valid_until:
            self._plan_again()
            self._valid_until = clock() + _VALID_FOR * (clock() - began)
        if step.target not in self._terminated:
            return self._why_not
        self._deleted.add(step.target)
        return None

    def _unplanned_pod(self, clique: str) -> str | None:
        """Name a pod of a PodClique that the plan neither knew nor created."""
        if clique not in self._known:
            before = self._before.pods_of.get(clique, ()) if isinstance(self._before, Snapshot) else ()
            self._known[clique] = {pod.uid for pod in before}
        known = self._known[clique]
        new = [name for name, uid in self._pods(clique).items() if not (uid in known or name in self._created)]
        return f"Pod/{min(new)} exists, and the plan did not know it" if new else None

    def _plan_again(self) -> None:
        self._why_not = _RECOVERED
        try:
            now = self._observe()
            undone = observation_with_deletions_undone(now, self._before, self._deleted) if now is not None else None
            self._terminated = objects_terminated_by(self._plan(undone).steps if undone is not None else ())
        except Exception as fault:  # noqa: BLE001 - an internal error terminates nothing; the next round logs it (OP-023)
            self._terminated, self._why_not = frozenset(), f"internal error: {error_on_one_line(fault)}"


def observation_with_deletions_undone(now: Observation, before: Observation, deleted: AbstractSet[Ref]) -> Observation:
    """Return an observation in which the PodCliques that this round has deleted are as they were before it.

    A termination removes its own cause part by part: a scaling group without its breached PodCliques is not breached
    any more, and the rules of the Go operator skip a replica without one of its PodCliques. Only the round itself knows
    the deleted objects; later rounds know failed deletions (GF-091), or what the cluster shows (GT-066).
    """
    if not (deleted and isinstance(now, Snapshot) and isinstance(before, Snapshot)):
        return now
    there = {clique.ref: clique for clique in now.cliques}
    undone = [one for one in before.cliques if one.ref in deleted and (one.ref not in there or there[one.ref].deleting)]
    pods = {clique.uid: before.pods_of.get(clique.uid, ()) for clique in undone}
    cliques = {**there, **{clique.ref: clique for clique in undone}}
    order = dict.fromkeys(clique.ref for clique in (*before.cliques, *now.cliques))
    pods_of = FrozenDict({**now.pods_of, **pods})
    return replace(now, cliques=tuple(cliques[ref] for ref in order if ref in cliques), pods_of=pods_of)
