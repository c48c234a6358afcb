"""An index of sets and the topologies that they use, in both directions."""

from collections import defaultdict

from grove_shell.cache.root_keys import RootKey


class TopologyUsers:
    """The topology of each set, and the sets of each topology. Mutable."""

    def __init__(self) -> None:
        """Start empty."""
        self._uses: dict[RootKey, str] = {}
        self._users: defaultdict[str, set[RootKey]] = defaultdict(set)

    @property
    def topologies(self) -> frozenset[str]:
        """The names of topologies that a set uses, existing or not."""
        return frozenset(self._users)

    def used_by(self, root_key: RootKey) -> str:
        """Return the name of the topology that a set uses; empty for none."""
        return self._uses.get(root_key, "")

    def of(self, topology: str) -> frozenset[RootKey]:
        """Return the keys of the sets that use a topology."""
        return frozenset(self._users.get(topology, ()))

    def note(self, root_key: RootKey, topology: str) -> None:
        """Set the topology that a set uses; empty for none."""
        before = self._uses.pop(root_key, "")
        if before:
            self._users[before].discard(root_key)
            if not self._users[before]:
                del self._users[before]
        if topology:
            self._uses[root_key] = topology
            self._users[topology].add(root_key)

    def clear(self) -> None:
        """Remove everything."""
        self._uses.clear()
        self._users.clear()
