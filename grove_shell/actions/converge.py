"""``grove converge``: run experiments and show them as a table, a file of runs and pictures."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from grove_shell.actions.configuration import configuration
from grove_shell.client.connection import NoClusterAccess
from grove_shell.converge.arguments import ConvergeArguments, points_of
from grove_shell.converge.convergence_runs import ConvergenceRun, RunParameters, shared_parameters
from grove_shell.converge.model.costs import ServerCosts, costs_of
from grove_shell.converge.model.model_run import ModelEngine
from grove_shell.converge.run_file import read_runs, write_runs
from grove_shell.converge.schedule import Engine, Schedule, run_scheduled
from grove_shell.exits import DONE, ERROR, USAGE
from grove_shell.page import print_error, print_warnings
from grove_shell.reading.faults import Fault, faults_in
from grove_shell.views.convergence_results import convergence_page, runs_as_json
from grove_shell.views.problems_page import COMMAND_LINE, NOTHING_RUN, problems_page
from grove_shell.views.progress_bars import progress_bar
from grove_shell.views.renderers import RENDERERS

RUNS: Final = "runs.csv"
TABLE: Final = "table.txt"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConvergeOptions:
    """Options of ``grove converge``."""

    arguments: ConvergeArguments
    world: str = "model"
    kubeconfig: str | None = None
    store: str = ""
    costs: str | None = None
    out: str | None = None
    resume: bool = False
    jobs: int = 1
    output: str = "human"


def converge(options: ConvergeOptions) -> int:
    """Run the experiments and show their results; return the exit code (CL-001)."""
    try:
        return _converge(options)
    except NoClusterAccess as fault:  # CV-041
        print_error(fault)
        return ERROR


def _converge(options: ConvergeOptions) -> int:
    points, problems = points_of(options.arguments)
    costs, faults = configuration(options.costs, costs_of)
    folder = Path(options.out) if options.out is not None else None
    earlier, more = _earlier_runs(folder, options)
    faults = (*faults_in(COMMAND_LINE, problems), *faults, *more)
    if faults:
        print_error(problems_page(faults, NOTHING_RUN))
        return USAGE if all(fault.file == COMMAND_LINE for fault in faults) else ERROR
    engine = _engine_of(options, costs)
    mismatches = _mismatches(points, earlier, engine, folder)
    if mismatches:
        print_error(problems_page(mismatches, NOTHING_RUN))
        return ERROR
    return _run(points, engine, earlier, folder, options)


def _run(
    points: Sequence[RunParameters],
    engine: Engine,
    earlier: Sequence[ConvergenceRun],
    folder: Path | None,
    options: ConvergeOptions,
) -> int:
    known = {run.point: run for run in earlier if run.world == engine.world}
    schedule, runs = Schedule(points, known), list(earlier)
    interrupted = False
    try:
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
        with progress_bar(schedule.left, "runs") as advance, closing(run_scheduled(schedule, engine)) as finished:
            for run in finished:
                runs.append(run)
                if folder is not None:
                    write_runs(folder / RUNS, runs)
                advance()
    except KeyboardInterrupt:
        interrupted = True
    except ChildProcessError as fault:
        print_error(fault)
        return ERROR
    except OSError as fault:
        print_error(f"cannot write {fault.filename or folder}: {fault.strerror or fault}")
        return ERROR
    if runs:
        _show(runs, schedule, folder, options)
    if interrupted:
        if folder is not None:
            print_error(f"finished runs are in {folder / RUNS}; continue with --resume")
        raise KeyboardInterrupt
    return DONE


def _earlier_runs(
    folder: Path | None, options: ConvergeOptions
) -> tuple[tuple[ConvergenceRun, ...], tuple[Fault, ...]]:
    """The runs in the folder, with --resume; without it, a fault if they would be overwritten (CV-030)."""
    if folder is None:
        missing = Fault(file=COMMAND_LINE, path="--resume", expected="--out with the folder to continue", got="none")
        return (), (missing,) if options.resume else ()
    path = folder / RUNS
    if not path.exists():
        return (), ()
    if not options.resume:
        expected = "a folder without runs, or --resume to continue it"
        return (), (Fault(file=COMMAND_LINE, path="--out", expected=expected, got=str(path)),)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as fault:
        got = fault.strerror or str(fault) if isinstance(fault, OSError) else "bytes that are not UTF-8"
        return (), (Fault(file=str(path), expected="a file of runs in UTF-8", got=got),)
    return read_runs(text, str(path))


def _engine_of(options: ConvergeOptions, costs: ServerCosts) -> Engine:
    if options.world == "model":
        return ModelEngine(costs, options.jobs)
    from grove_shell.converge.cluster.cluster_engine import connected_engine  # noqa: PLC0415 - few runs need a cluster

    return connected_engine(options.kubeconfig, options.store)


def _mismatches(
    points: Sequence[RunParameters], earlier: Sequence[ConvergenceRun], engine: Engine, folder: Path | None
) -> tuple[Fault, ...]:
    """Earlier runs that cannot share curves with these: another setting of this world, or another experiment."""
    file = f"{folder}/{RUNS}"
    wanted = shared_parameters(points[0])
    settings = [run.setting for run in earlier if run.world == engine.world and run.setting != engine.setting]
    others = [shared_parameters(run.point) for run in earlier]
    found: list[tuple[str, object, object]] = [("setting", engine.setting, setting) for setting in settings]
    found += [(name, wanted[name], other[name]) for other in others for name in wanted if other[name] != wanted[name]]
    return tuple(
        Fault(file=file, path=name, expected=f'"{ours}" in all runs, or another folder', got=f'"{theirs}"')
        for name, ours, theirs in dict.fromkeys(found)
    )


def _show(runs: Sequence[ConvergenceRun], schedule: Schedule, folder: Path | None, options: ConvergeOptions) -> None:
    page = convergence_page(runs, schedule.stopped)
    RENDERERS[options.output].show(page=lambda: page, document=lambda: runs_as_json(runs, schedule.stopped))
    if folder is None:
        return
    (folder / TABLE).write_text(page.text, encoding="utf-8")
    if find_spec("matplotlib") is None:
        print_warnings(["no pictures without matplotlib: pip install matplotlib, then repeat with --resume"])
        return
    from grove_shell.views.convergence_plots import draw_plots  # noqa: PLC0415 - it imports matplotlib

    for name in draw_plots(runs, folder):
        print_error(f"{folder / name}")
