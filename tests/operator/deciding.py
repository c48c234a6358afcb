"""What decides in tests of rounds, and for which set."""

from collections.abc import Callable

from grove_core.plan.plan import Plan
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.world.homes import Home
from grove_shell.world.sights import Sight

HOME: Home = ("ml", "llama")


def of_set(decide: Callable[[Snapshot], Plan]) -> Callable[[Sight], Plan]:
    """Where nobody looks at topologies."""

    def asked(seen: Sight) -> Plan:
        assert isinstance(seen, Snapshot)
        return decide(seen)

    return asked
