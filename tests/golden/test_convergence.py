"""A small convergence experiment: its runs as CSV, and its table.

`pytest --bless` writes `runs.csv` and `table.txt`; they are reviewed like code. The numbers are the same on every
machine, because time is virtual.
"""

from pathlib import Path
from typing import Final

import pytest

from grove_shell.converge.converge_option_parsing import (
    ConvergeCommandOptions,
    convergence_run_parameters_from_options,
)
from grove_shell.converge.model.convergence_model_run import ModelConvergenceRunEngine
from grove_shell.converge.model.server_costs import default_model_server_costs
from grove_shell.converge.run_schedule import RemainingConvergenceRuns, run_scheduled_points
from grove_shell.converge.runs_csv_file import convergence_runs_as_csv
from grove_shell.views.convergence.convergence_results import convergence_table_page

HERE: Final = Path(__file__).parent / "convergence" / "small"
SMALL: Final = ConvergeCommandOptions(nodes="9..36", seeds="3", clique_size="9", run_limit="3500ms")


@pytest.mark.req("CV-021")
def test_cv002_small_experiment_is_reproducible(*, bless: bool) -> None:
    points, problems = convergence_run_parameters_from_options(SMALL)
    assert problems == ()
    schedule = RemainingConvergenceRuns(points, {})
    runs = list(run_scheduled_points(schedule, ModelConvergenceRunEngine(default_model_server_costs(), 1)))
    for name, text in (
        ("runs.csv", convergence_runs_as_csv(runs)),
        ("table.txt", convergence_table_page(runs, schedule.curves_ended_early).plain_text),
    ):
        if bless:
            (HERE / name).write_text(text, encoding="utf-8", newline="")
        assert (HERE / name).read_text(encoding="utf-8") == text
