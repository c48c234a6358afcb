"""A root key and an adapter of a planner of sets for tests of the reconcile loop."""

from collections.abc import Callable

from grove_core.plan.plan import Plan
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.cache.cache_view import Observation
from grove_shell.cache.root_keys import RootKey

ROOT_KEY: RootKey = ("ml", "llama")


def planning_sets(decide: Callable[[Snapshot], Plan]) -> Callable[[Observation], Plan]:
    """Without topologies."""

    def asked(seen: Observation) -> Plan:
        assert isinstance(seen, Snapshot)
        return decide(seen)

    return asked
