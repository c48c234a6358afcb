"""Who is controlled by whom, wherever it stands: a controller that is heard of takes its own along (OP-075)."""

from collections.abc import Set as AbstractSet

from grove_shell.world.house import Address


class Wards:
    """Addresses by the uid of their controller; mutable."""

    def __init__(self) -> None:
        """Nobody yet."""
        self._of: dict[str, set[Address]] = {}

    def note(self, controller: str, address: Address) -> None:
        """It is there; empty for one without a controller."""
        if controller:
            self._of.setdefault(controller, set()).add(address)

    def forget(self, controller: str, address: Address) -> None:
        """It went."""
        wards = self._of.get(controller)
        if wards is not None:
            wards.discard(address)
            if not wards:
                del self._of[controller]

    def of(self, controller: str) -> AbstractSet[Address]:
        """Whom it controls, as of now."""
        return frozenset(self._of.get(controller, ()))
