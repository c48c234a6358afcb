"""A small convergence experiment: its runs as CSV, and its table.

`pytest --bless` writes `runs.csv` and `table.txt`; they are reviewed like code. The numbers are the same on every
machine, because time is virtual.
"""

from pathlib import Path
from typing import Final

import pytest

from grove_shell.converge.converge_command_options import ConvergeCommandOptions, run_parameters_from_options
from grove_shell.converge.model.convergence_model_run import ModelRunEngine
from grove_shell.converge.model.server_costs import default_server_costs
from grove_shell.converge.run_schedule import RunSchedule, run_scheduled
from grove_shell.converge.runs_csv_file import runs_as_csv
from grove_shell.views.convergence_results import convergence_page

HERE: Final = Path(__file__).parent / "convergence" / "small"
SMALL: Final = ConvergeCommandOptions(nodes="9..36", seeds="3", clique_size="9", run_limit="3500ms")


@pytest.mark.req("CV-021")
def test_cv002_small_experiment_is_reproducible(*, bless: bool) -> None:
    points, problems = run_parameters_from_options(SMALL)
    assert problems == ()
    schedule = RunSchedule(points, {})
    runs = list(run_scheduled(schedule, ModelRunEngine(default_server_costs(), 1)))
    for name, text in (("runs.csv", runs_as_csv(runs)), ("table.txt", convergence_page(runs, schedule.stopped).text)):
        if bless:
            (HERE / name).write_text(text, encoding="utf-8", newline="")
        assert (HERE / name).read_text(encoding="utf-8") == text
