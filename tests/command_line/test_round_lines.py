"""What a plan says of many things that go for one kind of reason."""

from datetime import UTC, datetime
from typing import Final

import pytest

from grove_core.areas.workload.rules import WorkloadReason
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Guard, Ref
from grove_core.kernel.steps import Delete, Step, StepStage
from grove_core.plan.forecast import Forecast, ForecastRound
from grove_shell.styled_text_page import StyledTextPage
from grove_shell.views.plan.plan_round_lines import add_plan_rounds

NOW: Final = datetime(2026, 11, 20, 9, tzinfo=UTC)
ROOT: Final = Ref("grove.io/v1alpha1", "PodCliqueSet", "ml", "llm")


def gone(name: str, replica: int) -> Step:
    ref = Ref("grove.io/v1alpha1", "PodClique", "ml", name)
    why: Reason = WorkloadReason.OUTDATED_NOT_AVAILABLE.because(ref, replica=replica)
    return Step(StepStage.CLEANUP, ref, Delete(Guard("uid", "1")), (why,))


@pytest.mark.req("CL-010")
@pytest.mark.parametrize(
    ("replicas", "ending"),
    [((0, 0), "not available"), ((0, 1), "not available; and 1 more reason of this kind (-v)")],
)
def test_cl010_a_reason_is_printed_for_its_subjects_only(replicas: tuple[int, int], ending: str) -> None:
    steps = tuple(gone(f"llm-0-g-{index}-x", index) for index in replicas)
    page = StyledTextPage()
    rounds = (ForecastRound(1, NOW, steps, (), None),)
    add_plan_rounds(page, Forecast(root=ROOT, root_uid="uid", rounds=rounds), full=False)
    (line,) = page.plain_text.splitlines()
    assert line.endswith(f"replica 0 is of an old template and {ending}")
