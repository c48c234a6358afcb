"""Beside another operator: where the cluster goes another way than the plan says, and how often it does not (OP-037).

A prediction is about one PodClique: that it ends, and from when on it is due. It is made at the look that first sees a
delay run or end, and taken back where the clique recovers or goes for another reason. What the cluster does is held
against what the plan would have been at that moment, so that an end between two looks is no surprise.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from datetime import datetime, timedelta
from enum import Enum, unique
from typing import Any, Final, NamedTuple

from grove_core.inquiry import Inquiry
from grove_core.kernel.reasons import Reason
from grove_core.kernel.steps import Attempt, Delete, Outcome, SetStatus, Step, is_end
from grove_core.kernel.times import format_time
from grove_core.plan.plan import Plan
from grove_core.resources.podclique import PodClique
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.cache.root_keys import RootKey
from grove_shell.controller.round_listener import PlannedRound, RoundListener

_PATIENCE: Final = timedelta(minutes=1)
_DELAYS: Final = 16
"""As many delays that run at once are followed; of a set with more, the rest is predicted when those are over."""
_EARLY: Final = timedelta(seconds=1)
"""Conditions carry whole seconds, so a moment that is told may be up to one off."""
_LATELY: Final = timedelta(seconds=1)
"""So old may be what the other one has seen: who recovers in the last moment ends all the same."""
Say = Callable[..., None]


@unique
class PredictionOutcome(Enum):
    """What became of predictions, and of ends; counted in PodCliques (OP-038)."""

    PREDICTED = "predicted"
    TAKEN_BACK = "takenBack"
    AS_PREDICTED = "asPredicted"
    OTHERWISE = "otherwise"
    NOT_PREDICTED = "notPredicted"


class _Shown(NamedTuple):
    """A look at a set, what it was made of, and the cliques that it says will end: uid -> from when on."""

    look: PlannedRound
    snapshot: Snapshot
    predicted: Mapping[str, datetime]


class Observer(RoundListener):
    """Holds each look against the one before: who ended that was to stay, and who stays that was to end.

    Attributes:
        scores: how often what came of it.
    """

    def __init__(
        self,
        say: Say,
        decide: Callable[[Snapshot], Plan],
        counted: Callable[[PredictionOutcome], None] = lambda _score: None,
    ) -> None:
        """Nothing was seen yet.

        Args:
            say: takes a level, a message and fields.
            decide: the operator's mind.
            counted: is told of each score.
        """
        self._say = say
        self._decide = decide
        self._counted = counted
        self._last: dict[RootKey, _Shown] = {}
        self._lately: dict[RootKey, deque[Snapshot]] = {}  # what was seen before the last look, the newest last
        self._due: dict[RootKey, Mapping[str, datetime]] = {}  # uid of a clique that should be gone -> since when
        self._told: dict[RootKey, frozenset[str]] = {}  # uids of those of which it was said
        self._missed: dict[
            RootKey, frozenset[str]
        ] = {}  # of them those whose end was predicted, and counted as otherwise
        self.scores: Counter[PredictionOutcome] = Counter()

    def planned(self, look: PlannedRound) -> None:
        """A look, which nothing follows from; of a topology nothing ends."""
        if not isinstance(look.seen, Snapshot):
            return
        before = self._last.get(look.root_key)
        earlier = before.predicted if before is not None else {}
        now = _Shown(look, look.seen, self._predictions(look, look.seen, earlier))
        for _ in now.predicted.keys() - earlier.keys():
            self._count(PredictionOutcome.PREDICTED)
        ended = set[str]()
        if before is not None:
            ended = {clique.uid for clique in _ended_between(before, now) if self._ended(before, now, clique)}
        self._take_back(look.root_key, earlier.keys() - now.predicted.keys() - ended)
        self._overdue(look, look.seen)
        if before is not None:
            lately = self._lately.setdefault(look.root_key, deque())
            lately.append(before.snapshot)
            while now.snapshot.now - lately[0].now > _LATELY and len(lately) > 1:
                lately.popleft()
        self._last[look.root_key] = now

    def _overdue(self, look: PlannedRound, seen: Snapshot) -> None:
        """What is still there a minute after the plan first deleted it, for a breach or for another reason."""
        deletes = {step.target: step for step in look.plan.steps if isinstance(step.action, Delete)}
        last = self._due.get(look.root_key, {})
        due = {clique.uid: last.get(clique.uid, seen.now) for clique in seen.cliques if clique.ref in deletes}
        told = self._told.get(look.root_key, frozenset()) & due.keys()
        missed = self._missed.get(look.root_key, frozenset()) & told
        for clique in seen.cliques:
            if clique.uid in due.keys() - told and seen.now - due[clique.uid] >= _PATIENCE:
                told |= {clique.uid}
                step = deletes[clique.ref]
                if is_end(step):
                    missed |= {clique.uid}
                    self._count(PredictionOutcome.OTHERWISE)
                self._tell("the cluster keeps what the plan ends", look, clique, step.because)
        self._due[look.root_key], self._told[look.root_key], self._missed[look.root_key] = due, told, missed

    def _take_back(self, root_key: RootKey, uids: AbstractSet[str]) -> None:
        """What was predicted and can come true no more, but for what came too late, which was counted already."""
        for _ in uids - self._missed.get(root_key, frozenset()):
            self._count(PredictionOutcome.TAKEN_BACK)

    def gone(self, root_key: RootKey) -> None:
        """Nothing is left of a set; what was predicted of it can come true no more."""
        if root_key in self._last:
            self._take_back(root_key, self._last[root_key].predicted.keys())
        for known in (self._last, self._lately, self._due, self._told, self._missed):
            known.pop(root_key, None)

    def report(self) -> None:
        """The score, as one line."""
        self._say("info", "score", **{score.value: self.scores[score] for score in PredictionOutcome})

    def _predictions(
        self, look: PlannedRound, seen: Snapshot, earlier: Mapping[str, datetime]
    ) -> Mapping[str, datetime]:
        """Uid of a clique that ends now, or when its delay is over -> since when it is due, as first told."""
        found: dict[str, datetime] = {}
        uids = {clique.ref: clique.uid for clique in seen.cliques}
        plan, moment = look.plan, seen.now
        # A breach that no status tells of yet began now, not when its delay is over.
        told = tuple(Attempt(step, Outcome.DONE) for step in plan.steps if isinstance(step.action, SetStatus))
        for _ in range(_DELAYS):
            for step in filter(is_end, plan.steps):
                uid = uids.get(step.target, "")
                found.setdefault(uid, min(moment, earlier.get(uid, moment)))
            if plan.wake_at is None or plan.wake_at <= moment:
                break
            moment = plan.wake_at
            plan = self._decide(replace(seen, now=moment, attempts=told))
        return found

    def _ended(self, before: _Shown, now: _Shown, clique: PodClique) -> bool:
        """A clique was there and is on its way out: as it was told (True), or otherwise."""
        seen, due = now.snapshot, before.predicted.get(clique.uid)
        if clique.uid in self._missed.get(now.look.root_key, frozenset()):
            return False  # too late to be as predicted, which was said already
        if due is None or due > seen.now + _EARLY:
            lately = self._lately.get(now.look.root_key, ())
            moments = (
                *_moments_of(before.snapshot, seen, clique),
                *(then for then in lately if seen.now - then.now <= _LATELY),
            )
            plans = (before.look.plan, *map(self._decide, moments))
            steps = [step for plan in plans for step in _deletions(plan, clique)]
            if not steps:
                self._count(PredictionOutcome.NOT_PREDICTED)
                because = _kept_because(before, clique)
                self._tell("the cluster ended what the plan keeps", before.look, clique, because)
                return False
            if not any(map(is_end, steps)):
                return False  # scaled in, or replaced: no end of a gang
            if due is None:
                self._count(PredictionOutcome.PREDICTED)
            due = seen.now
        self._count(PredictionOutcome.AS_PREDICTED)
        late = max(seen.now - due, timedelta()).total_seconds()
        fields = {
            "set": "/".join(now.look.root_key),
            "target": clique.ref.short,
            "due": format_time(due),
            "seenAfter": late,
        }
        self._say("info", "it ended as predicted", **fields)
        return True

    def _count(self, score: PredictionOutcome) -> None:
        self.scores[score] += 1
        self._counted(score)

    def _tell(self, message: str, look: PlannedRound, clique: PodClique, because: tuple[Reason, ...]) -> None:
        said: dict[str, Any] = {
            "set": "/".join(look.root_key),
            "plan": look.name,
            "target": clique.ref.short,
            "because": [{"rule": reason.rule.code, "sentence": reason.sentence} for reason in because],
        }
        self._say("warning", message, **said)


def _ended_between(before: _Shown, now: _Shown) -> Iterator[PodClique]:
    """Cliques that were there and are on their way out."""
    then, seen = before.snapshot, now.snapshot
    if then.root.deleting or seen.root.deleting or "PodClique" in seen.not_collected:
        return
    there = {clique.uid for clique in seen.cliques if not clique.deleting}
    for clique in then.cliques:
        if not clique.deleting and clique.uid not in there:
            yield clique


def _deletions(plan: Plan, clique: PodClique) -> Iterator[Step]:
    """The steps that delete a clique."""
    for step in plan.steps:
        if step.target == clique.ref and isinstance(step.action, Delete):
            yield step


def _moments_of(then: Snapshot, now: Snapshot, clique: PodClique) -> Iterator[Snapshot]:
    """What the other one may have seen when it ended a clique, between two looks: more of what was, more of what is."""
    yield _as_wanted(then, now)
    there = _put_back(then, now, clique)
    yield there
    yield replace(there, root=then.root)  # before somebody edited the set once more


def _put_back(then: Snapshot, now: Snapshot, clique: PodClique) -> Snapshot:
    """What is there now and a clique as it was: an update may have gone on to it just before."""
    others = (one for one in now.cliques if one.ref != clique.ref)
    cliques = tuple(sorted((*others, clique), key=lambda one: one.ref.sort_key))
    return replace(now, cliques=cliques, pods_of={**now.pods_of, clique.uid: then.pods_of.get(clique.uid, ())})


def _as_wanted(then: Snapshot, now: Snapshot) -> Snapshot:
    """What was there then, as people and autoscalers want it now: what they scaled in since is no end of a gang."""
    groups = {group.uid: group.replicas for group in now.groups}
    cliques = {clique.uid: clique.replicas for clique in now.cliques}
    return replace(
        then,
        now=now.now,
        root=now.root,
        groups=tuple(replace(one, replicas=groups.get(one.uid, one.replicas)) for one in then.groups),
        cliques=tuple(replace(one, replicas=cliques.get(one.uid, one.replicas)) for one in then.cliques),
    )


def _kept_because(shown: _Shown, clique: PodClique) -> tuple[Reason, ...]:
    """The guard that held, as ``grove explain --why-not terminate`` names it."""
    guards = Inquiry(shown.snapshot, shown.look.plan, "PodClique", clique.ref.name).guards()
    return next((guard.because for guard in guards), ())
