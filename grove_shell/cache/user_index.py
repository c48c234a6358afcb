"""An index of names and the roots that use them: of topologies, or of ResourceClaimTemplates."""

from collections import defaultdict
from collections.abc import Hashable
from collections.abc import Set as AbstractSet
from typing import Generic, TypeVar

from grove_shell.cache.root_keys import RootKey

Name = TypeVar("Name", bound=Hashable)


class UserIndex(Generic[Name]):
    """The names that each root uses, and the users of each name. Mutable."""

    def __init__(self) -> None:
        """Start empty."""
        self._used: dict[RootKey, frozenset[Name]] = {}
        self._users: defaultdict[Name, set[RootKey]] = defaultdict(set)

    @property
    def names(self) -> frozenset[Name]:
        """The names that a root uses, existing or not."""
        return frozenset(self._users)

    def used_by(self, root_key: RootKey) -> frozenset[Name]:
        """Return the names that a root uses."""
        return self._used.get(root_key, frozenset())

    def users_of(self, name: Name) -> list[RootKey]:
        """Return the keys of the roots that use a name, sorted."""
        return sorted(self._users.get(name, ()))

    def note(self, root_key: RootKey, used: AbstractSet[Name]) -> None:
        """Set the names that a root uses; none for a deleted one."""
        before = self._used.pop(root_key, frozenset[Name]())
        if used:
            self._used[root_key] = frozenset(used)
        for name in before - used:
            self._users[name].discard(root_key)
            if not self._users[name]:
                del self._users[name]
        for name in used - before:
            self._users[name].add(root_key)
