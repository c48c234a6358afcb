"""A small convergence experiment: its runs as CSV, and its table.

`pytest --bless` writes `runs.csv` and `table.txt`; they are reviewed like code. The numbers are the same on every
machine, because time is virtual.
"""

from pathlib import Path
from typing import Final

import pytest

from grove_shell.converge.arguments import ConvergeArguments, points_of
from grove_shell.converge.model.costs import default_costs
from grove_shell.converge.model.model_run import ModelEngine
from grove_shell.converge.run_file import runs_as_csv
from grove_shell.converge.schedule import Schedule, run_scheduled
from grove_shell.views.convergence_results import convergence_page

HERE: Final = Path(__file__).parent / "convergence" / "small"
SMALL: Final = ConvergeArguments(nodes="9..36", seeds="3", clique_size="9", run_limit="3500ms")


@pytest.mark.req("CV-021")
def test_cv002_small_experiment_is_reproducible(*, bless: bool) -> None:
    points, problems = points_of(SMALL)
    assert problems == ()
    schedule = Schedule(points, {})
    runs = list(run_scheduled(schedule, ModelEngine(default_costs(), 1)))
    for name, text in (("runs.csv", runs_as_csv(runs)), ("table.txt", convergence_page(runs, schedule.stopped).text)):
        if bless:
            (HERE / name).write_text(text, encoding="utf-8", newline="")
        assert (HERE / name).read_text(encoding="utf-8") == text
