"""``grove converge``: run experiments and show them as a table, a file of runs and pictures."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from grove_shell.actions.configuration_files import read_one_configuration
from grove_shell.converge.converge_option_parsing import (
    ConvergeCommandOptions,
    convergence_run_parameters_from_options,
)
from grove_shell.converge.model.convergence_model_run import ModelConvergenceRunEngine
from grove_shell.converge.model.server_costs import ModelServerCosts, parse_model_server_costs
from grove_shell.converge.run_parameters_and_results import (
    ConvergenceRun,
    ConvergenceRunParameters,
    parameters_shared_by_runs,
)
from grove_shell.converge.run_schedule import ConvergenceRunEngine, RemainingConvergenceRuns, run_scheduled_points
from grove_shell.converge.runs_csv_file import parse_convergence_runs_csv, write_convergence_runs_csv
from grove_shell.exit_codes import DONE, ERROR, USAGE, CommandFailed
from grove_shell.reading.input_faults import COMMAND_LINE, InputFault, file_problems_as_faults
from grove_shell.styled_text_page import print_error, print_warnings
from grove_shell.views.convergence.convergence_results import convergence_runs_as_json, convergence_table_page
from grove_shell.views.formatting import NOTHING_RUN, input_problems_page
from grove_shell.views.progress_bars import progress_bar
from grove_shell.views.renderers import RENDERERS

RUNS: Final = "runs.csv"
TABLE: Final = "table.txt"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConvergeOptions:
    """Options of ``grove converge``."""

    arguments: ConvergeCommandOptions
    world: str = "model"
    kubeconfig: str | None = None
    store: str = ""
    costs: str | None = None
    out: str | None = None
    resume: bool = False
    jobs: int = 1
    output: str = "human"


def run_convergence_experiments(options: ConvergeOptions) -> int:
    """Run the experiments and show their results; return the exit code (CL-001).

    Raises:
        CommandFailed: Earlier runs in the folder have other settings, a process ended, or a file cannot be written.
    """
    points, problems = convergence_run_parameters_from_options(options.arguments)
    costs, faults = read_one_configuration(options.costs, parse_model_server_costs)
    folder = Path(options.out) if options.out is not None else None
    earlier, more = _earlier_runs(folder, options)
    faults = (*file_problems_as_faults(COMMAND_LINE, problems), *faults, *more)
    if faults:
        print_error(input_problems_page(faults, NOTHING_RUN))
        return USAGE if all(fault.file == COMMAND_LINE for fault in faults) else ERROR
    engine = _engine_of(options, costs)
    mismatches = _mismatches(points, earlier, engine, folder)
    if mismatches:
        raise CommandFailed(input_problems_page(mismatches, NOTHING_RUN))
    return _run(points, engine, earlier, folder, options)


def _run(
    points: Sequence[ConvergenceRunParameters],
    engine: ConvergenceRunEngine,
    earlier: Sequence[ConvergenceRun],
    folder: Path | None,
    options: ConvergeOptions,
) -> int:
    known = {run.point: run for run in earlier if run.world == engine.world}
    schedule, runs = RemainingConvergenceRuns(points, known), list(earlier)
    interrupted = False
    try:
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
        with (
            progress_bar(schedule.unstarted_point_count, "runs") as advance,
            closing(run_scheduled_points(schedule, engine)) as finished,
        ):
            for run in finished:
                runs.append(run)
                if folder is not None:
                    write_convergence_runs_csv(folder / RUNS, runs)
                advance()
    except KeyboardInterrupt:
        interrupted = True
    except ChildProcessError as fault:
        raise CommandFailed(str(fault)) from fault
    except OSError as fault:
        raise CommandFailed(f"cannot write {fault.filename or folder}: {fault.strerror or fault}") from fault
    if runs:
        _show(runs, schedule, folder, options)
    if interrupted:
        if folder is not None:
            print_error(f"finished runs are in {folder / RUNS}; continue with --resume")
        raise KeyboardInterrupt
    return DONE


def _earlier_runs(
    folder: Path | None, options: ConvergeOptions
) -> tuple[tuple[ConvergenceRun, ...], tuple[InputFault, ...]]:
    """The runs in the folder, with --resume; without it, a fault if they would be overwritten (CV-030)."""
    if folder is None:
        missing = InputFault(
            file=COMMAND_LINE, path="--resume", expected="--out with the folder to continue", got="none"
        )
        return (), (missing,) if options.resume else ()
    path = folder / RUNS
    if not path.exists():
        return (), ()
    if not options.resume:
        expected = "a folder without runs, or --resume to continue it"
        return (), (InputFault(file=COMMAND_LINE, path="--out", expected=expected, got=str(path)),)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as fault:
        got = fault.strerror or str(fault) if isinstance(fault, OSError) else "bytes that are not UTF-8"
        return (), (InputFault(file=str(path), expected="a file of runs in UTF-8", got=got),)
    return parse_convergence_runs_csv(text, str(path))


def _engine_of(options: ConvergeOptions, costs: ModelServerCosts) -> ConvergenceRunEngine:
    if options.world == "model":
        return ModelConvergenceRunEngine(costs, options.jobs)
    from grove_shell.converge.cluster.cluster_run_engine import convergence_engine_from_kubeconfig  # noqa: PLC0415 - few runs need a cluster

    return convergence_engine_from_kubeconfig(options.kubeconfig, options.store)


def _mismatches(
    points: Sequence[ConvergenceRunParameters],
    earlier: Sequence[ConvergenceRun],
    engine: ConvergenceRunEngine,
    folder: Path | None,
) -> tuple[InputFault, ...]:
    """Earlier runs that cannot share curves with these: another setting of this world, or another experiment."""
    file = f"{folder}/{RUNS}"
    wanted = parameters_shared_by_runs(points[0])
    settings = [run.setting for run in earlier if run.world == engine.world and run.setting != engine.setting]
    others = [parameters_shared_by_runs(run.point) for run in earlier]
    found: list[tuple[str, object, object]] = [("setting", engine.setting, setting) for setting in settings]
    found += [(name, wanted[name], other[name]) for other in others for name in wanted if other[name] != wanted[name]]
    return tuple(
        InputFault(file=file, path=name, expected=f'"{ours}" in all runs, or another folder', got=f'"{theirs}"')
        for name, ours, theirs in dict.fromkeys(found)
    )


def _show(
    runs: Sequence[ConvergenceRun], schedule: RemainingConvergenceRuns, folder: Path | None, options: ConvergeOptions
) -> None:
    page = convergence_table_page(runs, schedule.curves_ended_early)
    RENDERERS[options.output].print_result(
        page=lambda: page, document=lambda: convergence_runs_as_json(runs, schedule.curves_ended_early)
    )
    if folder is None:
        return
    (folder / TABLE).write_text(page.plain_text, encoding="utf-8")
    if find_spec("matplotlib") is None:
        print_warnings(["no pictures: first pip install 'grove-plan[pictures]', then repeat with --resume"])
        return
    from grove_shell.views.convergence.convergence_plots import draw_convergence_plots  # noqa: PLC0415 - it imports matplotlib

    for name in draw_convergence_plots(runs, folder):
        print_error(f"{folder / name}")
