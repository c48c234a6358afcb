"""The page of a simulation: the result, then the history with times, actors and reasons, then the PodCliques."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final

from grove_core.forecast_explanation import EntryUrgency
from grove_core.resources.api_names import SET_KIND
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_shell.simulator.recording.pod_clique_states import PodCliqueState
from grove_shell.simulator.recording.simulation_history import (
    BreachWaitHistoryEntry,
    EntryKind,
    NoteKind,
    RefusedApplyHistoryEntry,
    SimulationActor,
    SimulationHistoryEntry,
    UnplacedGangHistoryEntry,
    WriteEffect,
)
from grove_shell.simulator.simulation_run import SimulationResult
from grove_shell.simulator.virtual_time import go_duration_text
from grove_shell.styled_text_page import Span, StyledTextPage
from grove_shell.views.formatting import STYLES, count_with_noun, padded_entry_label, unpredicted_sets_warning
from grove_shell.views.plan.plan_headline import time_and_rules_line
from grove_shell.views.simulation.history_lines import timeline_lines_of_entries

_STYLES: Final[Mapping[EntryKind, str]] = {
    WriteEffect.TERMINATED: "bold red",
    NoteKind.FAULT: "magenta",
    NoteKind.NODE: "cyan",
    UnplacedGangHistoryEntry: "yellow",
    BreachWaitHistoryEntry: "yellow",
    RefusedApplyHistoryEntry: "bold red",
    WriteEffect.FAILED: "magenta",
    NoteKind.NO_EFFECT: "bold yellow",
}
_WIDTH: Final = max(len(actor.value) for actor in SimulationActor)


def simulation_timeline_page(run: SimulationResult, *, verbose: bool = False) -> StyledTextPage:
    """Return the page of one run."""
    page = StyledTextPage()
    unpredicted: list[Span] = []
    if run.unpredicted:  # the simulated steps are not those of the operator that runs there (SM-098)
        warning = unpredicted_sets_warning("simulated", len(run.unpredicted))
        unpredicted.append((f"{warning}; ", STYLES[EntryUrgency.UNKNOWN]))
    page.add_line(*unpredicted, (run.scenario.metadata.name, "bold"), f": {_headline(run)}")
    if run.rules_from is not None:
        page.add_line((time_and_rules_line(run.scenario.spec.start, run.rules, run.rules_from), "dim"))
    for root, sentences in run.unpredicted.items():
        for sentence in sentences:
            page.add_line(
                (padded_entry_label("UNKNOWN"), STYLES[EntryUrgency.UNKNOWN]),
                f"{root.namespace}/{root.name}: {sentence}",
            )
    if text := _unready_at_start_text(run):
        page.add_line((text, "yellow"))
    if run.scenario.metadata.description:
        page.add_line((run.scenario.metadata.description, "dim"))
    page.add_line("")
    _add_entries(page, run.history.entries, verbose=verbose)
    if run.history.entries:
        page.add_line("")
    _add_clique_states(page, run.clique_states)
    for line in unmet_expectation_lines(run):
        page.add_line((line, "bold red"))
    return page


def _unready_at_start_text(run: SimulationResult) -> str:
    """Return what becomes of the pods that are not ready in the dump (SM-106); empty where there is none."""
    pods, recovers = run.unready_at_start, run.scenario.spec.kubelet.recovers
    if recovers is None:
        if not pods:
            return ""
        how = "--ready-after, or kubelet.recovers of a scenario, gives the time after which they are ready"
        return f"{_unready_pods_text(pods)} and {'stays' if pods == 1 else 'stay'} so; {how}"
    if not pods:
        return f"no pod has to be ready after {go_duration_text(recovers)}: none of a dump is not ready"
    return f"{_unready_pods_text(pods)}, and ready after {go_duration_text(recovers)}"


def _unready_pods_text(pods: int) -> str:
    return f"{count_with_noun(pods, 'pod')} {'is' if pods == 1 else 'are'} not ready in the dump"


def _headline(run: SimulationResult) -> str:
    words = [f"{go_duration_text(run.end)} of virtual time"]
    if run.violation is not None:
        words.append(f"{run.violation.code} violated")
    if run.history.terminations:
        words.append(count_with_noun(run.history.terminations, "termination"))
    if updating := _updates_at_end(run):
        words.append(f"{count_with_noun(updating, 'update')} not at an end")
    if run.history.without_effect:
        words.append(f"{count_with_noun(run.history.without_effect, 'event')} without effect")
    if run.expected:
        met = max(run.expected - len(run.unmet), 0)
        words.append(f"{met} of {count_with_noun(run.expected, 'expectation')} met")
    return ", ".join(words)


def _updates_at_end(run: SimulationResult) -> int:
    """Return how many PodCliqueSets are in an update when the run ends."""
    last = {change.latest_object.ref: change.after for change in run.changes if change.kind == SET_KIND}
    return sum(isinstance(item, PodCliqueSet) and item.status.updating for item in last.values())


def _add_entries(page: StyledTextPage, entries: Sequence[SimulationHistoryEntry], *, verbose: bool) -> None:
    last = ""
    again: dict[tuple[SimulationActor, str], list[int]] = {}  # failed write -> times at which it failed again
    width = max((len(go_duration_text(entry.at)) for entry in entries), default=0)
    for at, step in groupby(entries, key=lambda entry: entry.at):
        for line in timeline_lines_of_entries(step, verbose=verbose):
            when = go_duration_text(at)
            if line.kind is WriteEffect.FAILED and not verbose:
                before = again.get((line.actor, line.text))
                if before is not None:
                    before.append(at)
                    continue
                again[line.actor, line.text] = []
            page.add_line(
                (f"{'' if when == last else when:>{width}}  ", "bold"),
                (f"{line.actor.value:<{_WIDTH}}  ", "dim"),
                (line.text, _STYLES.get(line.kind, "")),
            )
            last = when
            for detail in line.below:
                page.add_line(f"{'':{width}}  {'':{_WIDTH}}    ", (detail, "dim"))
    for (actor, text), moments in again.items():
        if moments:
            more = f"{count_with_noun(len(moments), 'more time')}, the last at {go_duration_text(moments[-1])}"
            page.add_line(
                f"{'':{width}}  ",
                (f"{actor.value:<{_WIDTH}}  ", "dim"),
                (f"{more}: {text}", _STYLES[WriteEffect.FAILED]),
            )


def _add_clique_states(page: StyledTextPage, states: Sequence[PodCliqueState]) -> None:
    if not states:
        page.add_line("no PodClique is left")
        return
    numbers = [(one.name, one.replicas, one.needed, one.pods, one.placed, one.ready) for one in states]
    rows = [("PodClique", "replicas", "needed", "pods", "placed", "ready"), *(tuple(map(str, row)) for row in numbers)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for number, row in enumerate(rows):
        cells = [
            f"{row[0]:<{widths[0]}}",
            *(f"{cell:>{width}}" for cell, width in zip(row[1:], widths[1:], strict=True)),
        ]
        short = number > 0 and states[number - 1].ready < states[number - 1].needed
        page.add_line(("  ".join(cells), "bold" if not number else "yellow" if short else ""))


def unmet_expectation_lines(run: SimulationResult) -> Iterator[str]:
    """Yield a line for each expectation that was not met, and for a broken promise."""
    for unmet in run.unmet:
        yield f"NOT MET   {unmet.message}"
    if run.violation is not None:
        found = run.violation
        yield f"VIOLATED  {found.code} at {go_duration_text(found.at)}: {found.message}"
