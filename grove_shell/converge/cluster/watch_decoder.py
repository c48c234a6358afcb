"""Watch streams drained for real by every daemon, and decoded once for each version in one process.

A line is cut out of every stream and counted; the version is found in its bytes, searched from the end, since it comes
after what the managers own. Nobody could decode the same megabytes for every daemon and say anything of the server.
"""

from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

from grove_core.areas.domain_cliques.clique_view import entries_of_clique
from grove_core.areas.domain_cliques.verdicts import DaemonRegistry
from grove_shell.domain_daemon.kinds import registry_of
from grove_shell.domain_daemon.object_watch import WatchEvent, event_reader

_VERSION: Final = b'"resourceVersion":"'
_HEAD: Final = 14
_SHORT: Final = frozenset({b'{"type":"ADDED', b'{"type":"MODIF'})
_REMEMBERED: Final = 64


@dataclass
class WatchDecoder:
    """The streams of one process; ``read`` is handed to every watch.

    Attributes:
        events, length: of all lines but bookmarks, the length in bytes with the end of each line.
        decoded: how many of them were read to the end.
        latest: the largest version of any.
    """

    events: int = 0
    length: int = 0
    decoded: int = 0
    latest: int = 0

    def __post_init__(self) -> None:
        self._whole = event_reader(registry_of)
        self._known: OrderedDict[bytes, WatchEvent[DaemonRegistry]] = OrderedDict()
        self._members: OrderedDict[tuple[str, str], tuple[int, bool]] = OrderedDict()

    def read(self, line: bytes) -> WatchEvent[DaemonRegistry]:
        """One line of one stream."""
        if line[:_HEAD] not in _SHORT:
            return self._whole(line)
        self.events += 1
        self.length += len(line) + 1
        at = line.rfind(_VERSION) + len(_VERSION)
        version = line[at : line.index(b'"', at)]
        known = self._known.get(version)
        if known is None:
            known = self._whole(line)
            self.decoded += 1
            self.latest = max(self.latest, int(version))
            self._known[version] = known
            if len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        return known

    def members(self, registry: DaemonRegistry, clique: str) -> tuple[int, bool]:
        """How many daemons of a clique an object shows, and whether two of them share an index; once for a version."""
        key = (registry.resource_version, clique)
        found = self._members.get(key)
        if found is None:
            indices = [entry.index for entry in entries_of_clique(clique, registry)]
            found = self._members[key] = (len(indices), len(set(indices)) < len(indices))
            if len(self._members) > _REMEMBERED:
                self._members.popitem(last=False)
        return found
