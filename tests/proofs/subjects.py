"""What the proofs are about: a set of one scaling group with one PodClique, whose numbers and times are replaced."""

from datetime import UTC, datetime
from typing import Any, Final

from grove_core.areas.gang_termination.verdicts import MinAvailableBreach
from tests.exhaustive.snapshots import snapshot_of
from tests.exhaustive.states import Clique, Group, Replica, State
from tests.proofs.symbolic import term

LAST: Final = term(datetime.max.replace(tzinfo=UTC))
"""The last time of the calendar."""
ONE: Final = snapshot_of(State((Replica((), (Group(((Clique(),),), 1, 1),)),), (1,), 1))


def breach_of(number: int, since: Any, delay: Any) -> MinAvailableBreach:
    """Return a breach of a replica by its number."""
    return MinAvailableBreach(ONE.cliques[0].ref.at_replica(number), since, delay)
