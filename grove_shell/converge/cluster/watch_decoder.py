"""Decodes watch lines once for each version in one process, while every daemon reads its own stream.

Each line is counted. Its version is searched in the bytes from the end, because managedFields come before it. Decoding
the same megabytes for every daemon would measure the daemons and not the server.
"""

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from grove_core.areas.domain_cliques.daemon_input import registry_entries_of_clique
from grove_core.areas.domain_cliques.verdicts import DaemonRegistry
from grove_shell.client.response_check import parse_watch_event
from grove_shell.domain_daemon.daemon_requests import parse_daemon_registry

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

    _events: OrderedDict[bytes, tuple[str, dict[str, Any]]] = field(default_factory=OrderedDict)
    _registries: OrderedDict[str, DaemonRegistry] = field(default_factory=OrderedDict)
    _members: OrderedDict[tuple[str, str], tuple[int, bool]] = field(default_factory=OrderedDict)

    def read(self, line: bytes) -> tuple[str, dict[str, Any]]:
        """Return type and object of one line, decoded or from the cache."""
        if line[:_HEAD] not in _CACHEABLE:
            return parse_watch_event(line)
        self.events += 1
        self.length += len(line) + 1
        at = line.rfind(_VERSION) + len(_VERSION)
        version = line[at : line.index(b'"', at)]
        event = self._events.get(version)
        if event is None:
            event = self._events[version] = parse_watch_event(line)
            self.decoded += 1
            self.latest = max(self.latest, int(version))
            if len(self._events) > _CACHED:
                self._events.popitem(last=False)
        return event

    def parse(self, raw: Mapping[str, Any]) -> DaemonRegistry:
        """Return the registry in an object, parsed or from the cache."""
        version = str(raw["metadata"].get("resourceVersion") or "")
        found = self._registries.get(version)
        if found is None:
            found = self._registries[version] = parse_daemon_registry(raw)
            if len(self._registries) > _CACHED:
                self._registries.popitem(last=False)
        return found

    def members(self, registry: DaemonRegistry, clique: str) -> tuple[int, bool]:
        """Return the number of entries of a clique, and whether two have one index; cached by version."""
        key = (registry.resource_version, clique)
        found = self._members.get(key)
        if found is None:
            indices = [entry.index for entry in registry_entries_of_clique(clique, registry)]
            found = self._members[key] = (len(indices), len(set(indices)) < len(indices))
            if len(self._members) > _CACHED:
                self._members.popitem(last=False)
        return found
