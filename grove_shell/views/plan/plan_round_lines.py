"""Lines of a plan's page for each round: its terminations, what it creates, updates and deletes, and gated cliques."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Final, NamedTuple

from grove_core.areas.gang_termination.forecast_terminations import (
    TerminationAssumption,
    termination_assumptions_by_round,
)
from grove_core.areas.gang_termination.termination_deletions import termination_deletions_by_replica
from grove_core.forecast_explanation import EntryUrgency, withholds_scheduling_gate_removal
from grove_core.kernel.frozen import FrozenMap, object_under_key
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import (
    Apply,
    Delete,
    Make,
    Step,
    is_gang_termination_deletion,
    removes_set_finalizer,
    total_deletion_impact,
)
from grove_core.kernel.time_formats import short_duration_text, truncated_to_seconds
from grove_core.kernel.wants import StepObstacle, Withheld
from grove_core.plan.forecast import Forecast, ForecastRound
from grove_core.resources.api_names import TOPOLOGY_NAME
from grove_shell.styled_text_page import StyledTextPage
from grove_shell.views.formatting import (
    INDENT,
    MAX_NAMES,
    STYLES,
    add_page_entry_with_reasons,
    clock_time,
    count_with_noun,
    deletion_impact_text,
    join_names_with_commas,
    padded_entry_label,
    relative_time,
)


class LaterRoundTermination(NamedTuple):
    """A termination after the first round, and the later rounds that terminate the same objects again.

    Attributes:
        round: the round of the termination.
        steps: its deletions.
        assumption: what has to stay true until then; None at the time of the first round (PL-032).
        again: the rounds that repeat it.
    """

    round: ForecastRound
    steps: Sequence[Step]
    assumption: TerminationAssumption | None = None
    again: tuple[ForecastRound, ...] = ()


def termination_steps_in_round(round_: ForecastRound) -> list[Step]:
    """Return the deletions of a round that terminate a gang."""
    return list(filter(is_gang_termination_deletion, round_.steps))


def later_round_terminations(forecast: Forecast) -> list[LaterRoundTermination]:
    """Return the terminations after the first round of a forecast; terminations of the same objects are one."""
    found: dict[frozenset[Ref], LaterRoundTermination] = {}
    rounds = [(round_.at, round_.steps) for round_ in forecast.rounds]
    assumed = termination_assumptions_by_round(forecast.findings, rounds)
    for round_, by_target in zip(forecast.rounds[1:], assumed[1:], strict=True):
        for steps in _by_replica(termination_steps_in_round(round_)):
            targets = frozenset(step.target for step in steps)
            one = found.get(targets)
            if one is None:
                found[targets] = LaterRoundTermination(round_, steps, by_target.get(steps[0].target))
            else:
                found[targets] = one._replace(again=(*one.again, round_))
    return list(found.values())


def _by_replica(steps: Sequence[Step]) -> Iterator[list[Step]]:
    """Yield the deletions of one round grouped by the terminated replica; each deletion is yielded once."""
    yielded: set[Ref] = set()
    for alike in termination_deletions_by_replica(steps).values():
        fresh = [step for step in alike if step.target not in yielded]
        yielded.update(step.target for step in fresh)
        if fresh:
            yield fresh


def rounds_without_repeats(forecast: Forecast) -> Sequence[ForecastRound]:
    """Return the rounds before the last of the repeating terminations begins to repeat (GF-086).

    All rounds where nothing repeats; the rounds that are left out add nothing new.
    """
    again = [later.again[0].number for later in later_round_terminations(forecast) if later.again]
    return forecast.rounds[: max(again) - 1] if again else forecast.rounds


def add_later_termination_lines(page: StyledTextPage, forecast: Forecast, now: datetime) -> None:
    """Add the later terminations: when they happen, what they delete, and the pods and GPUs that go with it."""
    for later in later_round_terminations(forecast):
        names = join_names_with_commas([step.target.name for step in later.steps], MAX_NAMES)
        at = later.round.at
        when = f"{clock_time(at, now)} ({relative_time(at, now)})" if at > now else f"round {later.round.number}"
        condition = f", {later.assumption.words}" if later.assumption is not None else ""
        page.add_line((padded_entry_label("THEN"), "yellow"), f"{when}{condition}: deletes {names}")
        if impact := deletion_impact_text(total_deletion_impact(later.steps)):
            page.add_line(INDENT, f"  with {impact}")
        if later.again:
            page.add_line((padded_entry_label("AGAIN"), "bold red"), _again(later, now))


def _again(later: LaterRoundTermination, now: datetime) -> str:
    times = [later.round.at, *(round_.at for round_ in later.again)]
    spans = {truncated_to_seconds(after) - truncated_to_seconds(before) for before, after in pairwise(times)}
    every = f", every {short_duration_text(spans.pop())}" if len(spans) == 1 else ""
    same = count_with_noun(len(later.steps), "PodClique")
    return f"{clock_time(times[1], now)} ({relative_time(times[1], now)}){every} until they are placed: the same {same}"


_LINES: Final = 20
_OMITTED: Final = frozenset({"Pod", "PodGang"})  # gates of pods have a line of their own; PodGangs follow the set


def add_plan_rounds(page: StyledTextPage, forecast: Forecast, *, full: bool) -> None:
    """Add what each round does besides terminations, and what is still withheld after the last round (CL-010).

    Of an edit, whose stages are shown, without the rounds, gates and waits of its update, except in full. Rounds at a
    later time are no part of these stages.

    Args:
        full: whether to add every line; else at most twenty.
    """
    last, shown_before = forecast.rounds[-1].withheld, set(forecast.rounds[0].withheld)
    late = [held for held in last if held not in shown_before]
    has_stages = not full and forecast.edit is not None and forecast.edit.update is not None
    if has_stages:
        late = [held for held in late if held.obstacle is not StepObstacle.UPDATE]
    _add_round_lines(page, forecast, full=full, has_stages=has_stages)
    _add_withheld(page, late)
    if has_stages and forecast.rounds[-1].at == forecast.rounds[0].at:
        return
    gates = [held for held in late if withholds_scheduling_gate_removal(held)]
    if not full:  # above the plan stands that PodGangs are missing (WL-235)
        gates = [held for held in gates if held.obstacle is not StepObstacle.GANGS_NOT_COLLECTED]
    add_gated_cliques(
        page, ((held.target, tuple((why.subject, why.sentence) for why in held.because)) for held in gates)
    )
    if not has_stages and any(held.obstacle is StepObstacle.UPDATE for held in last):
        page.add_line(INDENT, ("the plan stops here: it never makes pods ready; grove simulate plays the rest", "dim"))


def _add_round_lines(page: StyledTextPage, forecast: Forecast, *, full: bool, has_stages: bool) -> None:
    """Add a line for each thing that a round does.

    Args:
        full: whether to add every line; else at most twenty.
        has_stages: whether the rounds of the first moment are shown as the stages of an update.
    """
    start = forecast.rounds[0].at
    shown = forecast.rounds if full else rounds_without_repeats(forecast)
    rounds = [one for one in shown if one.at > start or not has_stages]
    lines = [
        (word, f"{_round_label(round_, start)}: {text}") for round_ in rounds for word, text in _lines_of_round(round_)
    ]
    before = ""
    for word, text in lines if full else lines[:_LINES]:
        page.add_line((padded_entry_label("" if word == before else word), "bold"), text)
        before = word
    if not full and len(lines) > _LINES:
        page.add_line(
            INDENT, f"and {count_with_noun(len(lines) - _LINES, 'more line')} until round {len(forecast.rounds)} (-v)"
        )


def _add_withheld(page: StyledTextPage, withheld: Iterable[Withheld]) -> None:
    """Add the withheld steps, scheduling gates excepted."""
    label = (EntryUrgency.HELD.value, STYLES[EntryUrgency.HELD])
    for held in withheld:
        if not withholds_scheduling_gate_removal(held):
            add_page_entry_with_reasons(page, label, held.target, held.because, MAX_NAMES)


def _round_label(round_: ForecastRound, start: datetime) -> str:
    """Return the number of a round, with its time where that is later than the first one's."""
    return f"round {round_.number}" + (f", {clock_time(round_.at, start)}" if round_.at > start else "")


def _lines_of_round(round_: ForecastRound) -> Iterator[tuple[str, str]]:
    for word, steps in (
        ("DELETE", deletions_besides_terminations(round_.steps)),
        ("UPDATE", update_steps_on_plan_page(round_.steps)),
    ):
        for alike in _grouped_by_reason(steps):
            names = join_names_with_commas([step.target.name for step in alike], MAX_NAMES)
            goes = (
                deletion_impact_text(total_deletion_impact(alike))
                if word == "DELETE" and alike[0].target.kind != "Pod"
                else ""
            )
            count = count_with_noun(len(alike), alike[0].target.kind) + (f" with {goes}" if goes else "")
            yield word, f"{count}, {names}: {_first_reason(alike)}"
    for step in round_.steps:
        if removes_set_finalizer(step):
            yield "DELETE", f"{step.target.kind} {step.target.name}: {_first_reason([step])}"
    kinds = created_counts_by_kind(round_.steps)
    done = [count_with_noun(kinds[kind], kind) for kind in sorted(kinds)]
    opened = sum(isinstance(step.action, Apply) and step.target.kind == "Pod" for step in round_.steps)
    if opened:
        done.append(f"gates of {count_with_noun(opened, 'pod')} open")
    if done:
        yield "CREATE" if kinds else "PLACE", ", ".join(done)


def _first_reason(alike: Iterable[Step]) -> str:
    """Return the reason of the first step, and how many other sentences the same rule gave."""
    first, *more = dict.fromkeys(step.because[0].sentence for step in alike)
    return f"{first}; and {count_with_noun(len(more), 'more reason')} of this kind (-v)" if more else first


def _grouped_by_reason(steps: Iterable[Step]) -> Iterator[list[Step]]:
    """Yield steps grouped by kind and reason code, in the order of the first step of each group."""
    found: dict[tuple[str, str], list[Step]] = {}
    for step in steps:
        found.setdefault((step.target.kind, step.because[0].rule.code), []).append(step)
    yield from found.values()


def created_counts_by_kind(steps: Iterable[Step]) -> Counter[str]:
    """Return how many objects of each kind the steps create."""
    return Counter(step.target.kind for step in steps if isinstance(step.action, Make))


def deletions_besides_terminations(steps: Iterable[Step]) -> list[Step]:
    """Return the deletions that are not part of a termination."""
    return [step for step in steps if isinstance(step.action, Delete) and not is_gang_termination_deletion(step)]


def update_steps_on_plan_page(steps: Iterable[Step]) -> list[Step]:
    """Return the updates of cliques, scaling groups, services and autoscalers.

    Updates of PodGangs count only where they mirror a change of the PodCliqueSet.
    """
    return [
        step
        for step in steps
        if isinstance(step.action, Apply)
        and (step.target.kind not in _OMITTED or (step.target.kind == "PodGang" and _mirrors_set(step.action.fields)))
    ]


def _mirrors_set(fields: FrozenMap) -> bool:
    """Whether a change of a PodGang is of the priority, the labels or the annotations of its set (WL-026)."""
    metadata = object_under_key(fields, "metadata")
    mirrored = object_under_key(metadata, "labels").keys() | object_under_key(metadata, "annotations").keys()
    return "priorityClassName" in object_under_key(fields, "spec") or bool(mirrored - {TOPOLOGY_NAME})


def add_gated_cliques(page: StyledTextPage, gated: Iterable[tuple[Ref, tuple[tuple[Ref, str], ...]]]) -> None:
    """Add the PodCliques whose pods stay gated; those with the same reasons share a line.

    Args:
        gated: each clique with its reasons: the subject and the sentence of each, the clique's own first.
    """
    alike: dict[tuple[tuple[Ref, str], ...], list[str]] = {}
    for ref, reasons in gated:
        (_, first), *behind = reasons
        alike.setdefault(((Ref("", "", "", ""), first), *behind), []).append(ref.name)
    for ((_, first), *behind), names in alike.items():
        label = (padded_entry_label(EntryUrgency.GATED.value), STYLES[EntryUrgency.GATED])
        page.add_line(label, f"{join_names_with_commas(names, MAX_NAMES)}: {first}")
        for subject, sentence in behind[:MAX_NAMES]:
            page.add_line(INDENT, f"  {subject.name}: {sentence}")
