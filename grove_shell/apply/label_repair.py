"""Restores a removed selector label before the object enters the cache.

A watch with a label selector reports no deletion of an object without the label (OP-018).
"""

import asyncio
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from grove_core.kernel.refs import Guard, Ref
from grove_core.kernel.steps import Outcome
from grove_core.resources.api_names import GROVE
from grove_core.resources.owner_reference import ControllerReference, controller_in
from grove_shell.apply.outcomes import Undecided, attempt_of, undecided_because
from grove_shell.apply.patch import patched
from grove_shell.client.api import Api
from grove_shell.client.kinds import KINDS
from grove_shell.client.response_check import confirms_absence, shows_object

_LABELLED: Final = frozenset({"Pod", "Service", "HorizontalPodAutoscaler", "ResourceClaim"})
"""Kinds that are watched with a label selector and may be patched."""
_RETRY_AFTER: Final = 10.0


class _Tried(NamedTuple):
    """When a repair was tried, and the error that another try within ten seconds gets."""

    at: float
    words: str
    outcome: Outcome


class LabelRepair:
    """Repairs labels; the result of a repair holds for ten seconds, also if something removes the label again."""

    def __init__(self, api: Api) -> None:
        """Start without a repair."""
        self._api = api
        self._tried: dict[str, _Tried] = {}  # by uid, the oldest first

    async def repaired(self, ref: Ref, raw: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Return the object with its label; None if it was deleted, or is not of Grove.

        Args:
            ref: its address.
            raw: the object as it was read last.

        Raises:
            Unreachable: there was no response.
            Undecided: the label was not restored, or that was tried within the last ten seconds.
        """
        label = label_missing(ref.kind, raw)
        if not label:
            return raw
        if not is_of_grove(controller_in(raw)):
            return None
        self._expire()
        if (tried := self._tried.get(raw["metadata"]["uid"])) is not None:
            raise Undecided(tried.words, tried.outcome)
        return await self._patched(ref, raw, label)

    async def _patched(self, ref: Ref, raw: Mapping[str, Any], label: Mapping[str, str]) -> Mapping[str, Any] | None:
        lost = f"{ref.short} lost its label {next(iter(label))}"
        guard = Guard(raw["metadata"]["uid"], raw["metadata"]["resourceVersion"])
        response = await patched(self._api, ref, {"metadata": {"labels": label}}, guard)
        if confirms_absence(response, ref):
            return None
        if not shows_object(response, ref):
            outcome, why = attempt_of(response, ref)
            if outcome is Outcome.REFUSED:
                self._remember(guard.uid, f"{lost}: {why}", outcome)
            raise undecided_because(response, ref, f"{lost}: {why}")
        if label_missing(ref.kind, response.json()):
            self._remember(guard.uid, words := f"{lost}: it was removed again at once")
            raise Undecided(words)
        self._remember(guard.uid, f"{lost} again, right after it was restored")
        return response.json()

    def _remember(self, uid: str, words: str, outcome: Outcome = Outcome.UNREACHABLE) -> None:
        """Keep the result of a repair for the next tries."""
        self._tried.pop(uid, None)  # two tries may run at once
        self._tried[uid] = _Tried(asyncio.get_running_loop().time(), words, outcome)

    def _expire(self) -> None:
        since = asyncio.get_running_loop().time() - _RETRY_AFTER
        while self._tried and next(iter(self._tried.values())).at <= since:
            del self._tried[next(iter(self._tried))]


def label_missing(kind: str, raw: Mapping[str, Any]) -> dict[str, str]:
    """Return the selector label that an object lacks and that may be restored; empty if it lacks none."""
    label, _, text = KINDS[kind].selector.partition("=")
    if kind not in _LABELLED or (raw["metadata"].get("labels") or {}).get(label) == text:
        return {}
    return {label: text}


def is_of_grove(owner: ControllerReference) -> bool:
    """Return whether a controller is an object of Grove's API groups."""
    return owner.api_version == GROVE
