"""Which set uses which topology, found from either side."""

from collections import defaultdict

from grove_shell.world.homes import Home


class TopologyUsers:
    """An index; mutable."""

    def __init__(self) -> None:
        """Nobody uses any."""
        self._uses: dict[Home, str] = {}
        self._users: defaultdict[str, set[Home]] = defaultdict(set)

    @property
    def topologies(self) -> frozenset[str]:
        """Those that some set uses, be they there or not."""
        return frozenset(self._users)

    def used_by(self, home: Home) -> str:
        """What a set uses; empty for nothing."""
        return self._uses.get(home, "")

    def of(self, topology: str) -> frozenset[Home]:
        """Who uses a topology."""
        return frozenset(self._users.get(topology, ()))

    def note(self, home: Home, topology: str) -> None:
        """A set uses this topology from now on, and no other; empty for none."""
        before = self._uses.pop(home, "")
        if before:
            self._users[before].discard(home)
            if not self._users[before]:
                del self._users[before]
        if topology:
            self._uses[home] = topology
            self._users[topology].add(home)

    def clear(self) -> None:
        """Nothing is known any more."""
        self._uses.clear()
        self._users.clear()
