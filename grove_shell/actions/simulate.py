"""``grove simulate``: reads a scenario, runs it once or with random events, prints the result, draws it."""

from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from time import monotonic

from grove_core.kernel.refs import Ref
from grove_core.kernel.structs import replace
from grove_core.operator_recognition import RecognisedOperator, set_not_predicted_finding
from grove_core.rule_sets.rule_set import DESIGN, RuleSet
from grove_core.snapshot.cluster import IndexedCluster
from grove_shell.actions.html_files import save_html_file, save_report
from grove_shell.actions.picture_files import draw_picture, require_matplotlib
from grove_shell.actions.rule_set_choice import choose_rule_set, rule_set_by_name
from grove_shell.actions.selected_sets import known_names_hint
from grove_shell.exit_codes import DONE, FAIL_ON, USAGE, CommandFailed
from grove_shell.interrupts_between_runs import interrupts_between_runs
from grove_shell.simulator.checks.all_checks import PROMISES
from grove_shell.simulator.cluster.simulated_admission import simulated_admission_for_rules
from grove_shell.simulator.random_events.randomized_scenario import (
    MOST_RUNS,
    smallest_failing_scenario,
    with_random_events,
)
from grove_shell.simulator.scenario.dump_scenario import scenario_from_dump
from grove_shell.simulator.scenario.scenario import Scenario
from grove_shell.simulator.scenario.scenario_problems import unknown_names_in_scenario
from grove_shell.simulator.scenario.scenario_reader import (
    ScenarioReadResult,
    read_dump_scenario,
    read_scenario,
)
from grove_shell.simulator.simulation import Simulation
from grove_shell.simulator.simulation_run import SimulationOptions, SimulationResult
from grove_shell.styled_text_page import StyledTextPage, print_error
from grove_shell.views.formatting import NOTHING_PLAYED, count_with_noun, input_problems_page
from grove_shell.views.progress_bars import Tick, progress_bar, virtual_time_bar
from grove_shell.views.renderers import RENDERERS, format_yaml_document
from grove_shell.views.simulation.simulation_run_document import simulation_run_as_json, simulation_seeds_as_json
from grove_shell.views.simulation.simulation_timeline import simulation_timeline_page, unmet_expectation_lines


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulateOptions:
    """The options of the command; see ``grove simulate --help``.

    Attributes:
        scenario: None where the scenario is made of ``dump``, ``edits``, ``lost_nodes`` and ``ready_after``.
    """

    scenario: str | None = None
    dump: str | None = None
    edits: tuple[str, ...] = ()
    lost_nodes: tuple[str, ...] = ()
    ready_after: timedelta | None = None
    output: str = "human"
    rules: str | None = None
    until: timedelta | None = None
    seeds: int | None = None
    first: int = 0
    check: bool = False
    picture: str | None = None
    trace: str | None = None
    verbose: bool = False
    html: str | None = None


def simulate_scenario(options: SimulateOptions) -> int:
    """Run a scenario and print the result; return the exit code (CL-001).

    Raises:
        CommandFailed: The scenario has problems, or a file cannot be written.
    """

    def choose(cluster: IndexedCluster | None, newer: tuple[str, ...]) -> RuleSet:
        return choose_rule_set(options.rules, None, cluster, newer)[0]

    if options.dump is None:
        read = read_scenario(str(options.scenario), choose)
    else:
        made = scenario_from_dump(options.dump, options.edits, options.lost_nodes, options.ready_after)
        if unknown := [name for name in options.lost_nodes if name not in made.nodes and not made.faults]:
            print_error(f"--lose-node {unknown[0]}: no such node{known_names_hint(unknown[0], made.nodes)}")
            return USAGE
        if made.note and not made.faults:
            print_error(f"note: {made.note}")
        read = read_dump_scenario(made, choose)
    if read.scenario is None:
        raise CommandFailed(input_problems_page(read.faults, NOTHING_PLAYED))
    if options.picture is not None:
        require_matplotlib()
    rules, source, shown = choose_rule_set(options.rules, None, read.cluster, read.newer)
    if rules.name != DESIGN.name and (options.check or options.seeds is not None):
        print_error(f"--check and --seeds check the promises of the design, not of {rules.name}: add --rules design")
        return USAGE
    options = replace(options, rules=rules.name)
    if options.seeds is not None:
        return _run_seeds(read, read.scenario, options)
    with virtual_time_bar() as tick:
        run = _run(read, read.scenario, options, check=options.check, tick=tick)
    newer = _reasons_of_newer_release(read, shown)
    roots = dict.fromkeys((*newer, *run.unpredicted))
    unpredicted = {root: (*newer.get(root, ()), *run.unpredicted.get(root, ())) for root in roots}
    return _show_run(read, replace(run, rules_from=source, unpredicted=unpredicted), options)


def _reasons_of_newer_release(
    read: ScenarioReadResult, shown: RecognisedOperator | None
) -> Mapping[Ref, tuple[str, ...]]:
    """Return set of the dump -> why its steps are not predicted: a newer or unclear release (GF-134, GF-135)."""
    found: dict[Ref, tuple[str, ...]] = {}
    if read.cluster is None or shown is None:
        return found
    for root in read.cluster.sets:
        newer = set_not_predicted_finding(shown, root.ref)
        if newer is not None:
            found[root.ref] = tuple(why.sentence for why in newer.because)
    return found


def _show_run(read: ScenarioReadResult, run: SimulationResult, options: SimulateOptions) -> int:
    RENDERERS[options.output].print_result(
        page=lambda: simulation_timeline_page(run, verbose=options.verbose),
        document=lambda: simulation_run_as_json(run),
    )
    if options.html is not None:
        _save_as_html(run, options.html, verbose=options.verbose)
    if options.picture is not None:
        _draw(run, options.picture)
    if run.violation is not None:
        _report_smallest(read, run, options)
    return DONE if run.succeeded else FAIL_ON


@dataclass(slots=True)
class _SeedRuns:
    """The runs of ``--seeds`` so far.

    Attributes:
        count: number of runs.
        events: kind of event -> number of runs that had one.
        broken: the run that broke a promise; it is the last one.
    """

    count: int = 0
    terminations: int = 0
    events: Counter[str] = field(default_factory=Counter)
    broken: SimulationResult | None = None


def _run_seeds(read: ScenarioReadResult, scenario: Scenario, options: SimulateOptions) -> int:
    """Run the scenario with the random events of each seed, until a promise is broken."""
    runs, wanted, start = _SeedRuns(), options.seeds or 0, monotonic()
    with (
        progress_bar(wanted, "runs") as advance,
        suppress(KeyboardInterrupt),
        interrupts_between_runs() as interrupted,
    ):
        for seed in range(options.first, options.first + wanted):
            if interrupted():
                break
            drawn = with_random_events(scenario, seed, dump=read.cluster)
            bare = drawn.model_copy(update={"spec": drawn.spec.model_copy(update={"expect": ()})})
            run = _run(read, bare, options, check=True, counts_only=True)
            runs.count += 1
            runs.terminations += run.history.terminations
            runs.events.update({event.kind for event in drawn.spec.events})
            advance()
            if run.violation is not None:
                runs.broken = run
                break
    last = options.first + runs.count - 1
    page = _seeds_page(runs, last, f"{monotonic() - start:.0f} s", verbose=options.verbose)
    RENDERERS[options.output].print_result(
        page=lambda: page,
        document=lambda: simulation_seeds_as_json(
            runs.count, runs.terminations, runs.events, options.first, runs.broken
        ),
    )
    save_report(options.html, "simulate", lambda: page)
    if runs.count < wanted and runs.broken is None:
        raise KeyboardInterrupt
    smallest = _report_smallest(read, runs.broken, options) if runs.broken is not None else None
    if options.picture is not None:
        _draw_one_of(read, scenario, smallest, options, last)
    return DONE if runs.broken is None else FAIL_ON


def _seeds_page(runs: _SeedRuns, last: int, took: str, *, verbose: bool) -> StyledTextPage:
    page = StyledTextPage()
    counts = f"{count_with_noun(runs.count, 'run')}, {count_with_noun(int(runs.broken is not None), 'violation')}"
    page.add_line((counts, "bold"), f", {count_with_noun(runs.terminations, 'termination')}, {took}")
    for kind, number in sorted(runs.events.items()) if verbose else ():
        page.add_line(f"  {kind:<16} in {count_with_noun(number, 'run')}")
    for line in unmet_expectation_lines(runs.broken) if runs.broken is not None else ():
        page.add_line(f"seed {last}: ", (line, "bold red"))
    return page


def _draw_one_of(
    read: ScenarioReadResult, plain: Scenario, smallest: Scenario | None, options: SimulateOptions, seed: int
) -> None:
    """Draw the smallest failing scenario, or the plain one (SM-073)."""
    path = str(options.picture)
    with virtual_time_bar() as tick:
        run = _run(read, smallest or plain, options, check=smallest is not None, tick=tick)
    _draw(run, path)
    what = "the scenario without random events: no run broke a promise"
    if smallest is not None:
        what = f"the run of seed {seed}, reduced to {count_with_noun(len(smallest.spec.events), 'event')}"
    print_error(f"{path} shows {what}")


def _draw(run: SimulationResult, path: str) -> None:
    """Draw a run. Raises CommandFailed if the file cannot be written."""
    from grove_shell.views.simulation.simulation_chart import draw_simulation_chart  # noqa: PLC0415 - few want a picture

    draw_picture(path, lambda: draw_simulation_chart(run, path))


def _save_as_html(run: SimulationResult, path: str, *, verbose: bool) -> None:
    """Save a run as an HTML page with its PodCliques over time. Raises OSError if the file cannot be written."""
    from grove_shell.html.report_html import report_html  # noqa: PLC0415 - few runs are saved as a page
    from grove_shell.html.simulation_lanes import simulation_lanes  # noqa: PLC0415 - as above

    page = simulation_timeline_page(run, verbose=verbose)
    save_html_file(path, report_html("simulate", page, lanes=simulation_lanes(run)))


def _run(
    read: ScenarioReadResult,
    scenario: Scenario,
    options: SimulateOptions,
    *,
    check: bool,
    counts_only: bool = False,
    tick: Tick | None = None,
) -> SimulationResult:
    until = None if options.until is None else options.until // timedelta(milliseconds=1)
    rules = rule_set_by_name(options.rules or DESIGN.name)
    how = SimulationOptions(
        checks=PROMISES if check else (),
        counts_only=counts_only,
        until=until,
        tick=tick,
        rules=rules,
        admission=simulated_admission_for_rules(rules),
    )
    return Simulation(scenario, how, dump=read.cluster, manifests=read.manifests).run()


def _report_smallest(read: ScenarioReadResult, run: SimulationResult, options: SimulateOptions) -> Scenario:
    """Shrink the scenario of a violation; print it, or write it to the file of ``--trace``."""
    code = run.violation.code if run.violation is not None else ""

    def fails(scenario: Scenario) -> bool:
        advance()
        if unknown_names_in_scenario(scenario, read.cluster):
            return False  # reading its file would fail
        found = _run(read, scenario, options, check=True, counts_only=True).violation
        return found is not None and found.code == code

    with progress_bar(MOST_RUNS, "runs to shrink the scenario") as advance:
        smallest = smallest_failing_scenario(run.scenario, fails)
    text = format_yaml_document(smallest.as_json)
    if options.trace is None:
        print_error(f"\n# repeats {code}; grove simulate --check FILE\n{text}")
        return smallest
    try:
        Path(options.trace).write_text(text, encoding="utf-8")
    except OSError as fault:
        print_error(f"cannot write {options.trace}: {fault.strerror or fault}")
        return smallest
    events = count_with_noun(len(smallest.spec.events), "event")
    print_error(f"{options.trace} repeats {code} with {events}: grove simulate --check {options.trace}")
    return smallest
