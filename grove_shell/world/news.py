"""News of objects that may come late, twice, or of who had the name before: which of them count.

One judgement for all that is kept a copy of. It remembers who went, and as of when.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol, TypeVar

from grove_shell.client.versions import number_of
from grove_shell.world.buried import Buried

_Place = TypeVar("_Place")


class Known(Protocol):
    """What a copy has under a name."""

    @property
    def uid(self) -> str:
        """Who it is; who comes after it under its name has another one."""
        ...

    @property
    def version(self) -> int:
        """In which version; 0 where nobody knows."""
        ...


class Life(NamedTuple):
    """An object in one of its versions."""

    uid: str
    version: int


def life_of(raw: Mapping[str, Any]) -> Life:
    """Of an object as a server shows it."""
    meta = raw["metadata"]
    return Life(str(meta.get("uid") or ""), number_of(meta.get("resourceVersion")))


class News(Buried):
    """What went, and whether news are of a time before; mutable."""

    def comes(self, now: Life, known: Known | None) -> bool:
        """Take in that an object is there; whether that is news, and not from before what is known (OP-002).

        Known is who has its name, in which version, and who went.
        """
        uid, version = now
        if known is not None and version < known.version:
            if known.uid == uid:
                return False
            if version > 0:
                self.bury(uid, known.version)  # of two of one name the older is gone (OP-087)
        return not self.is_past(uid, version)

    def succeed(self, now: Life, known: Known | None) -> None:
        """It has its name now; who had it before is gone, whether its end was told or not (OP-087)."""
        if known is not None and known.uid != now.uid and known.version < now.version:
            self.bury(known.uid, now.version)

    def ends(self, now: Life, known: Known | None) -> bool:
        """Take in that an object went; whether that is the end of the one that is known by its name."""
        if known is None or known.uid != now.uid:
            self.bury(*now)
            return False
        if 0 < now.version < known.version:  # a label that was taken, and given back since (OP-085)
            return False
        self.bury(now.uid, max(now.version, known.version))
        return True

    @staticmethod
    def goes_back(now: Life, known: Known | None, as_of: int) -> bool:
        """Whether a list as of a version shows an object older than it was by then: the store went back (OP-084)."""
        return known is not None and known.uid == now.uid and now.version < known.version <= as_of

    def replaced(self, known: Mapping[_Place, Known], there: Mapping[_Place, Life], version: str) -> list[_Place]:
        """Take in that a list as of a version has all that is there; which of what is known went (OP-003, OP-086).

        A list without a version, or of a store that went back, counts more than all that is known (OP-084).
        """
        as_of = number_of(version)
        if not version or any(self.goes_back(life, known.get(place), as_of) for place, life in there.items()):
            for life in there.values():
                self.raise_again(life.uid)
            return list(known)
        gone = [
            place
            for place, one in known.items()
            if one.version <= as_of and (place not in there or there[place].uid != one.uid)
        ]
        for place in gone:
            self.bury(known[place].uid, as_of)
        for life in there.values():
            if life.version <= self.went_at(life.uid) <= as_of:  # what was said of its end was wrong
                self.amend(life.uid, life.version - 1)
        return gone
