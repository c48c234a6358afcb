"""Uids of objects that went: older news of them may still be under way."""

from typing import Final

_REMEMBERED: Final = 20_000


class Buried:
    """The last so many of them; mutable."""

    def __init__(self) -> None:
        """Nobody yet."""
        self._gone: dict[str, int] = {}  # uid -> version, oldest first

    def __contains__(self, uid: object) -> bool:
        return uid in self._gone

    def bury(self, uid: str, version: int) -> None:
        """It went as of a version; the newest counts of all that was said of it."""
        self._gone[uid] = max(version, self._gone.pop(uid, version))
        if len(self._gone) > _REMEMBERED:
            del self._gone[next(iter(self._gone))]

    def is_past(self, uid: str, version: int) -> bool:
        """Whether news of this version tell of the time before its end."""
        return version <= self._gone.get(uid, -1)

    def went_at(self, uid: str) -> int:
        """As of which version it went; before all versions if it is not known to have gone."""
        return self._gone.get(uid, -1)

    def amend(self, uid: str, version: int) -> None:
        """It went before that, and is there again."""
        self._gone[uid] = version

    def raise_again(self, uid: str) -> None:
        """It only was out of sight."""
        self._gone.pop(uid, None)
