"""Who lost the label by which it is followed gets it back before it is taken in: nobody would tell its end (OP-018)."""

import asyncio
from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from grove_core.kernel.refs import Guard, Ref
from grove_core.resources.keys import GROVE
from grove_core.resources.ownership import Controller, controller_in
from grove_shell.client.api import Api, Unreachable
from grove_shell.client.genuine import is_shown_by, says_gone
from grove_shell.client.kinds import KINDS
from grove_shell.world.answers import Undecided, doubt_of, judged
from grove_shell.world.patching import patched

_LABELLED: Final = frozenset({"Pod", "Service", "HorizontalPodAutoscaler", "ResourceClaim"})
"""What is followed by a label, and may be patched."""
_AGAIN: Final = 10.0


class LostLabels:
    """Gives them back; it remembers for a moment whom, for somebody may take one again as soon as it is there.

    Attributes:
        in_vain: how often in a namespace somebody did not get it.
    """

    def __init__(self, api: Api) -> None:
        """Nobody got one yet."""
        self.in_vain = Counter[str]()
        self._api = api
        self._given_at: dict[str, float] = {}  # by uid, the oldest first

    async def followed(self, ref: Ref, raw: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """An object as it is once it has its label; None where it is gone by then, or is none of Grove's.

        Args:
            ref: which.
            raw: as it was seen just now.

        Raises:
            Unreachable: there was no answer.
            Undecided: it could not be given back, or was a moment ago.
        """
        label = label_missing(ref.kind, raw)
        if not label:
            return raw
        if not is_of_grove(controller_in(raw)):
            return None
        try:
            return await self._given_back(ref, raw, label)
        except Unreachable:
            self.in_vain[ref.namespace] += 1
            raise

    async def _given_back(self, ref: Ref, raw: Mapping[str, Any], label: Mapping[str, str]) -> Mapping[str, Any] | None:
        lost = f"{ref.short} lost its label {next(iter(label))}"
        guard = Guard(raw["metadata"]["uid"], raw["metadata"]["resourceVersion"])
        if self._has_given(guard.uid):
            raise Undecided(f"{lost} again, a moment after it got it back")
        answer = await patched(self._api, ref, {"metadata": {"labels": label}}, guard)
        if says_gone(answer, ref):
            return None
        if not is_shown_by(answer, ref):
            raise doubt_of(answer, ref, f"{lost}: {judged(answer, ref)[1]}")
        if label_missing(ref.kind, answer.json()):
            raise Undecided(f"{lost}: it was taken again at once")
        self._given_at[guard.uid] = asyncio.get_running_loop().time()
        return answer.json()

    def _has_given(self, uid: str) -> bool:
        since = asyncio.get_running_loop().time() - _AGAIN
        while self._given_at and next(iter(self._given_at.values())) <= since:
            del self._given_at[next(iter(self._given_at))]
        return uid in self._given_at


def label_missing(kind: str, raw: Mapping[str, Any]) -> dict[str, str]:
    """The label by which a kind is followed, where an object has it not and may be given it; else nothing."""
    label, _, text = KINDS[kind].selector.partition("=")
    if kind not in _LABELLED or (raw["metadata"].get("labels") or {}).get(label) == text:
        return {}
    return {label: text}


def is_of_grove(owner: Controller) -> bool:
    """Whether a controller is an object of Grove's API."""
    return owner.api_version == GROVE
