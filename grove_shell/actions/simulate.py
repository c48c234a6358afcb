"""``grove simulate``: read a scenario, play it, print, and leave with the right code."""

from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from time import monotonic

from grove_core.areas.gang_termination.design.ruleset import DESIGN
from grove_core.areas.gang_termination.rulesets import rule_set
from grove_core.kernel.refs import Ref
from grove_core.recognition import Recognition, unpredicted_of
from grove_shell.actions.rule_set_choice import choose_rule_set
from grove_shell.exits import DONE, ERROR, FAIL_ON, USAGE
from grove_shell.page import Page, print_error
from grove_shell.simulator.random_events.randomized_scenario import with_random_events
from grove_shell.simulator.scenario.reading import ScenarioRead, read_scenario
from grove_shell.simulator.scenario.scenario import Scenario
from grove_shell.simulator.scenario.unknown_names import unknown_names_in
from grove_shell.simulator.shrink_scenario import MOST_RUNS, smallest_failing
from grove_shell.simulator.simulation import Run, Simulation, SimulationOptions
from grove_shell.views.formatting import plural
from grove_shell.views.problems_page import NOTHING_PLAYED, problems_page
from grove_shell.views.renderers import RENDERERS, yaml_document
from grove_shell.views.run_count_bar import count_bar
from grove_shell.views.run_document import run_as_json, worlds_as_json
from grove_shell.views.time_bar import Tick, time_bar
from grove_shell.views.timeline import timeline_page, verdict_lines


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulateOptions:
    """What the user asked for; see ``grove simulate --help``."""

    scenario: str
    output: str = "human"
    rules: str | None = None
    until: timedelta | None = None
    seeds: int | None = None
    first: int = 0
    check: bool = False
    picture: str | None = None
    trace: str | None = None
    verbose: bool = False


def simulate(options: SimulateOptions) -> int:
    """Play and print; returns the exit code (CL-001)."""
    read = read_scenario(options.scenario)
    if read.scenario is None:
        print_error(problems_page(read.faults, NOTHING_PLAYED))
        return ERROR
    if options.picture is not None and not _can_draw(options.picture):
        return ERROR
    rules, source, shown = choose_rule_set(options.rules, None, read.cluster, read.newer)
    if rules.name != DESIGN.name and (options.check or options.seeds is not None):
        print_error(
            f"--check and --seeds watch the promises of the design, not those of {rules.name}: add --rules design"
        )
        return USAGE
    options = replace(options, rules=rules.name)
    if options.seeds is not None:
        return _many(read, read.scenario, options)
    with time_bar() as tick:
        run = _play(read, read.scenario, options, check=options.check, tick=tick)
    newer = _of_a_newer_release(read, shown)
    roots = dict.fromkeys((*newer, *run.unpredicted))
    unpredicted = {root: (*newer.get(root, ()), *run.unpredicted.get(root, ())) for root in roots}
    return _told(read, replace(run, rules_from=source, unpredicted=unpredicted), options)


def _of_a_newer_release(read: ScenarioRead, shown: Recognition | None) -> Mapping[Ref, tuple[str, ...]]:
    """Set of the dump -> why its steps are not predicted: the release is newer, or in doubt (GF-134, GF-135)."""
    found: dict[Ref, tuple[str, ...]] = {}
    if read.cluster is None or shown is None:
        return found
    for root in read.cluster.sets:
        newer = unpredicted_of(shown, root.ref)
        if newer is not None:
            found[root.ref] = tuple(why.sentence for why in newer.because)
    return found


def _told(read: ScenarioRead, run: Run, options: SimulateOptions) -> int:
    RENDERERS[options.output].show(
        page=lambda: timeline_page(run, verbose=options.verbose), document=lambda: run_as_json(run)
    )
    if options.picture is not None and not _drawn(run, options.picture):
        return ERROR
    if run.violation is not None:
        _tell_smallest(read, run, options)
    return DONE if run.sound else FAIL_ON


def _many(read: ScenarioRead, scenario: Scenario, options: SimulateOptions) -> int:
    """World after world, to the first one in which a promise is broken."""
    count, start = options.seeds or 0, monotonic()
    terminations, played = 0, 0
    kinds: Counter[str] = Counter()
    broken: Run | None = None
    with count_bar(count) as advance, suppress(KeyboardInterrupt):
        for seed in range(options.first, options.first + count):
            world = with_random_events(scenario, seed, dump=read.cluster)
            bare = world.model_copy(update={"spec": world.spec.model_copy(update={"expect": ()})})
            run = _play(read, bare, options, check=True, counts_only=True)
            kinds.update({event.kind for event in world.spec.events})
            terminations += run.history.terminations
            played += 1
            advance()
            if run.violation is not None:
                broken = run
                break
    stopped = played < count and broken is None
    page = Page()
    words = f"{plural(played, 'world')}, {plural(int(broken is not None), 'violation')}"
    page.add((words, "bold"), f", {plural(terminations, 'termination')}, {monotonic() - start:.0f} s")
    if options.verbose:
        for kind, number in sorted(kinds.items()):
            page.add(f"  {kind:<16} in {plural(number, 'world')}")
    for line in verdict_lines(broken) if broken is not None else ():
        page.add(f"world {options.first + played - 1}: ", (line, "bold red"))
    RENDERERS[options.output].show(
        page=lambda: page,
        document=lambda: worlds_as_json(played, terminations, kinds, options.first, broken),
    )
    if stopped:
        raise KeyboardInterrupt
    smallest = _tell_smallest(read, broken, options) if broken is not None else None
    if options.picture is not None and not _shown(read, scenario, smallest, options, options.first + played - 1):
        return ERROR
    return DONE if broken is None else FAIL_ON


def _shown(read: ScenarioRead, plain: Scenario, smallest: Scenario | None, options: SimulateOptions, seed: int) -> bool:
    """Draw the one of many worlds that is worth it, and say which; whether the file could be written (SM-075)."""
    path = str(options.picture)
    with time_bar() as tick:
        run = _play(read, smallest or plain, options, check=smallest is not None, tick=tick)
    if not _drawn(run, path):
        return False
    what = "the scenario as it is, no world broke a promise"
    if smallest is not None:
        what = f"world {seed}, made as small as {plural(len(smallest.spec.events), 'event')}"
    print_error(f"{path} shows {what}")
    return True


def _drawn(run: Run, path: str) -> bool:
    """Draw a run; says so where the file cannot be written."""
    from grove_shell.views.chart import draw  # noqa: PLC0415 - few want a picture

    try:
        draw(run, path)
    except OSError as fault:
        print_error(f"cannot write {path}: {fault.strerror or fault}")
        return False
    return True


def _play(
    read: ScenarioRead,
    scenario: Scenario,
    options: SimulateOptions,
    *,
    check: bool,
    counts_only: bool = False,
    tick: Tick | None = None,
) -> Run:
    until = None if options.until is None else options.until // timedelta(milliseconds=1)
    how = SimulationOptions(
        check=check, counts_only=counts_only, until=until, tick=tick, rules=rule_set(options.rules or DESIGN.name)
    )
    return Simulation(scenario, how, dump=read.cluster, manifests=read.manifests).run()


def _tell_smallest(read: ScenarioRead, run: Run, options: SimulateOptions) -> Scenario:
    """Shrink what broke a promise, and print or write the scenario that repeats it."""
    code = run.violation.code if run.violation is not None else ""

    def fails(scenario: Scenario) -> bool:
        advance()
        if unknown_names_in(scenario, read.cluster):
            return False  # it could not be read again
        found = _play(read, scenario, options, check=True, counts_only=True).violation
        return found is not None and found.code == code

    with count_bar(MOST_RUNS, "runs to make it small") as advance:
        smallest = smallest_failing(run.scenario, fails)
    text = yaml_document(smallest.as_json)
    if options.trace is None:
        print_error(f"\n# repeats {code}; grove simulate --check FILE\n{text}")
        return smallest
    try:
        Path(options.trace).write_text(text, encoding="utf-8")
    except OSError as fault:
        print_error(f"cannot write {options.trace}: {fault.strerror or fault}")
        return smallest
    events = plural(len(smallest.spec.events), "event")
    print_error(f"{options.trace} repeats {code} with {events}: grove simulate --check {options.trace}")
    return smallest


def _can_draw(path: str) -> bool:
    """Whether there is something to draw with, and a format that is known; says what is missing."""
    from importlib.util import find_spec  # noqa: PLC0415 - few want a picture

    if Path(path).suffix not in {".svg", ".png"}:
        print_error(f"--picture {path}: expected a name that ends in .svg or .png")
        return False
    if find_spec("matplotlib") is None:
        print_error("--picture needs matplotlib: pip install matplotlib")
        return False
    return True
