"""What decides in tests of rounds, and for which set."""

from collections.abc import Callable

from grove_core.plan.plan import Plan
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.cache.cache_view import Observation
from grove_shell.cache.root_keys import RootKey

HOME: RootKey = ("ml", "llama")


def of_set(decide: Callable[[Snapshot], Plan]) -> Callable[[Observation], Plan]:
    """Where nobody looks at topologies."""

    def asked(seen: Observation) -> Plan:
        assert isinstance(seen, Snapshot)
        return decide(seen)

    return asked
