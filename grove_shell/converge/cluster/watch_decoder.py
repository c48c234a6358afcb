"""Decodes watch lines once for each version in one process, while every daemon reads its own stream.

Each line is counted. Its version is searched in the bytes from the end, because managedFields come before it. Decoding
the same megabytes for every daemon would measure the daemons and not the server.
"""

from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

from grove_core.areas.domain_cliques.daemon_context import entries_of_clique
from grove_core.areas.domain_cliques.verdicts import DaemonRegistry
from grove_shell.domain_daemon.kinds import parse_registry
from grove_shell.domain_daemon.object_watch import WatchEvent, event_reader

_VERSION: Final = b'"resourceVersion":"'
_HEAD: Final = 14
_CACHEABLE: Final = frozenset({b'{"type":"ADDED', b'{"type":"MODIF'})
_CACHED: Final = 64


@dataclass
class WatchDecoder:
    """The decoder of one process; all its watches share :meth:`read`.

    Attributes:
        events: number of lines without bookmarks.
        length: bytes of these lines, with line ends.
        decoded: number of decoded lines.
        latest: the largest version.
    """

    events: int = 0
    length: int = 0
    decoded: int = 0
    latest: int = 0

    def __post_init__(self) -> None:
        self._decode = event_reader(parse_registry)
        self._cache: OrderedDict[bytes, WatchEvent[DaemonRegistry]] = OrderedDict()
        self._members: OrderedDict[tuple[str, str], tuple[int, bool]] = OrderedDict()

    def read(self, line: bytes) -> WatchEvent[DaemonRegistry]:
        """Return the event of one line, decoded or from the cache."""
        if line[:_HEAD] not in _CACHEABLE:
            return self._decode(line)
        self.events += 1
        self.length += len(line) + 1
        at = line.rfind(_VERSION) + len(_VERSION)
        version = line[at : line.index(b'"', at)]
        event = self._cache.get(version)
        if event is None:
            event = self._decode(line)
            self.decoded += 1
            self.latest = max(self.latest, int(version))
            self._cache[version] = event
            if len(self._cache) > _CACHED:
                self._cache.popitem(last=False)
        return event

    def members(self, registry: DaemonRegistry, clique: str) -> tuple[int, bool]:
        """Return the number of entries of a clique, and whether two have one index; cached by version."""
        key = (registry.resource_version, clique)
        found = self._members.get(key)
        if found is None:
            indices = [entry.index for entry in entries_of_clique(clique, registry)]
            found = self._members[key] = (len(indices), len(set(indices)) < len(indices))
            if len(self._members) > _CACHED:
                self._members.popitem(last=False)
        return found
