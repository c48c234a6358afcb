"""Who stands where labels put it, for its controller is not known; until that comes, and says otherwise (OP-075)."""

from collections.abc import Set as AbstractSet

from grove_shell.world.house import Address


class Unproven:
    """Addresses by the uid of their controller; mutable."""

    def __init__(self) -> None:
        """Nobody yet."""
        self._waiting: dict[str, set[Address]] = {}

    def note(self, controller_uid: str, address: Address) -> None:
        """It was put by its labels."""
        self._waiting.setdefault(controller_uid, set()).add(address)

    def settle(self, controller_uid: str) -> AbstractSet[Address]:
        """The controller is known from here on; who waited for it."""
        return self._waiting.pop(controller_uid, frozenset())

    def forget(self, controller_uid: str, address: Address) -> None:
        """It went."""
        waiting = self._waiting.get(controller_uid)
        if waiting is not None:
            waiting.discard(address)
            if not waiting:
                del self._waiting[controller_uid]
