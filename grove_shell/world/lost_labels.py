"""Who lost the label by which it is followed gets it back before it is taken in: nobody would tell its end (OP-018)."""

import asyncio
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from grove_core.kernel.refs import Guard, Ref
from grove_core.kernel.steps import Outcome
from grove_core.resources.keys import GROVE
from grove_core.resources.ownership import Controller, controller_in
from grove_shell.client.api import Api
from grove_shell.client.genuine import is_shown_by, says_gone
from grove_shell.client.kinds import KINDS
from grove_shell.world.answers import Undecided, doubt_of, judged
from grove_shell.world.patching import patched

_LABELLED: Final = frozenset({"Pod", "Service", "HorizontalPodAutoscaler", "ResourceClaim"})
"""What is followed by a label, and may be patched."""
_AGAIN: Final = 10.0


class _Tried(NamedTuple):
    """When a label was given back or refused, and what is said to whoever would give it back again."""

    at: float
    words: str
    outcome: Outcome


class LostLabels:
    """Gives them back; it remembers for a moment what came of it, for the next try would come to the same.

    Somebody may take a label as soon as it is there, or let nobody give it.
    """

    def __init__(self, api: Api) -> None:
        """Nobody got one yet."""
        self._api = api
        self._tried: dict[str, _Tried] = {}  # by uid, the oldest first

    async def followed(self, ref: Ref, raw: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """An object as it is once it has its label; None where it is gone by then, or is none of Grove's.

        Args:
            ref: which.
            raw: as it was seen just now.

        Raises:
            Unreachable: there was no answer.
            Undecided: it could not be given back, or that was tried a moment ago.
        """
        label = label_missing(ref.kind, raw)
        if not label:
            return raw
        if not is_of_grove(controller_in(raw)):
            return None
        self._forget()
        if (tried := self._tried.get(raw["metadata"]["uid"])) is not None:
            raise Undecided(tried.words, tried.outcome)
        return await self._given_back(ref, raw, label)

    async def _given_back(self, ref: Ref, raw: Mapping[str, Any], label: Mapping[str, str]) -> Mapping[str, Any] | None:
        lost = f"{ref.short} lost its label {next(iter(label))}"
        guard = Guard(raw["metadata"]["uid"], raw["metadata"]["resourceVersion"])
        answer = await patched(self._api, ref, {"metadata": {"labels": label}}, guard)
        if says_gone(answer, ref):
            return None
        if not is_shown_by(answer, ref):
            outcome, why = judged(answer, ref)
            if outcome is Outcome.REFUSED:
                self._remember(guard.uid, f"{lost}: {why}", outcome)
            raise doubt_of(answer, ref, f"{lost}: {why}")
        if label_missing(ref.kind, answer.json()):
            self._remember(guard.uid, words := f"{lost}: it was taken again at once")
            raise Undecided(words)
        self._remember(guard.uid, f"{lost} again, a moment after it got it back")
        return answer.json()

    def _remember(self, uid: str, words: str, outcome: Outcome = Outcome.UNREACHABLE) -> None:
        """What whoever asks in the next moments is told."""
        self._tried.pop(uid, None)  # two may have tried side by side
        self._tried[uid] = _Tried(asyncio.get_running_loop().time(), words, outcome)

    def _forget(self) -> None:
        since = asyncio.get_running_loop().time() - _AGAIN
        while self._tried and next(iter(self._tried.values())).at <= since:
            del self._tried[next(iter(self._tried))]


def label_missing(kind: str, raw: Mapping[str, Any]) -> dict[str, str]:
    """The label by which a kind is followed, where an object has it not and may be given it; else nothing."""
    label, _, text = KINDS[kind].selector.partition("=")
    if kind not in _LABELLED or (raw["metadata"].get("labels") or {}).get(label) == text:
        return {}
    return {label: text}


def is_of_grove(owner: Controller) -> bool:
    """Whether a controller is an object of Grove's API."""
    return owner.api_version == GROVE
