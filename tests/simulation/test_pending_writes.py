"""The pending writes of a simulated operator."""

from typing import Final

from grove_core.kernel.steps import Attempt, Delete, Outcome, Stage, Step
from grove_core.kernel.wants import Withheld
from grove_core.plan.plan import Plan
from grove_shell.simulator.operator.pending_writes import PendingWrites
from tests.property.workload.sets import applied, at_rest, clique_raw, set_raw

SEEN: Final = at_rest(applied(set_raw(clique_raw("x"))))
ROOT: Final = SEEN.root.ref
GONE: Final = Step(Stage.CLEANUP, SEEN.cliques[0].ref, Delete(SEEN.cliques[0].guard), ())


def plan_of(*steps: Step, held: bool = False) -> Plan:
    withheld = (Withheld(GONE.target, ()),) if held else ()
    return Plan(root=ROOT, root_uid="r", rules="", steps=steps, withheld=withheld, wake_at=None, findings=())


def test_op103_what_stays_unfinished_is_no_reason_to_look_again() -> None:
    """Only a failure of the last round is: it is retried after a backoff."""
    memory = PendingWrites()
    assert not memory.has_failed(ROOT)
    memory.remember(ROOT, 0, plan_of(GONE), SEEN, (Attempt(GONE, Outcome.CONFLICT, "no"),))
    assert memory.has_failed(ROOT)
    memory.remember(ROOT, 1, plan_of(held=True), SEEN, ())
    assert not memory.has_failed(ROOT)
    assert memory._unfinished[ROOT] == (Attempt(GONE, Outcome.CONFLICT, "no"),)  # noqa: SLF001 - whoever asks for it has caches
    memory.remember(ROOT, 2, plan_of(), SEEN, ())
    assert memory._unfinished[ROOT] == ()  # noqa: SLF001 - whoever asks for it has caches
