"""An index of cached objects by the uid of their controller (OP-075)."""

from collections.abc import Set as AbstractSet

from grove_shell.cache.set_cache import Address


class OwnerIndex:
    """The addresses of objects by the uid of their controller. Mutable."""

    def __init__(self) -> None:
        """Start empty."""
        self._of: dict[str, set[Address]] = {}

    def note(self, controller: str, address: Address) -> None:
        """Add an object; nothing is added for an empty controller uid."""
        if controller:
            self._of.setdefault(controller, set()).add(address)

    def forget(self, controller: str, address: Address) -> None:
        """Remove an object."""
        owned = self._of.get(controller)
        if owned is not None:
            owned.discard(address)
            if not owned:
                del self._of[controller]

    def of(self, controller: str) -> AbstractSet[Address]:
        """Return the addresses of the objects that a controller has now."""
        return frozenset(self._of.get(controller, ()))
