"""The course of a set, for people: what is created, changed and deleted round by round, and which pods keep gates."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from grove_core.explain import Tone, is_gated
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Apply, Delete, Make, Step, is_end, toll_of
from grove_core.plan.forecast import Forecast, Round
from grove_shell.page import Page
from grove_shell.views.formatting import impact_text, joined_names, object_label, plural
from grove_shell.views.later_terminations import rounds_before_repeats
from grove_shell.views.layout import INDENT, MAX_NAMES, STYLES, entry_label

_LINES: Final = 20
_UPDATING: Final = frozenset({"UpdateWaits", "GroupUpdateWaits", "RolloutWaits"})
_MIRRORED: Final = "GangFollowsSet"
_BESIDES: Final = frozenset({"Pod", "PodGang"})  # what is applied to them is told otherwise, or follows from the rest


def add_rounds(page: Page, forecast: Forecast, *, full: bool) -> None:
    """What happens round by round besides terminations, and what is held back when all that is done (CL-012)."""
    rounds = forecast.rounds if full else rounds_before_repeats(forecast)
    lines = [(word, f"round {round_.number}: {text}") for round_ in rounds for word, text in _lines_of_round(round_)]
    before = ""
    for word, text in lines if full else lines[:_LINES]:
        page.add((entry_label("" if word == before else word), "bold"), text)
        before = word
    if not full and len(lines) > _LINES:
        page.add(INDENT, f"and {plural(len(lines) - _LINES, 'more line')} until round {len(forecast.rounds)} (-v)")
    told = {(held.target, held.because) for held in forecast.rounds[0].withheld}
    late = [held for held in forecast.rounds[-1].withheld if (held.target, held.because) not in told]
    for held in (held for held in late if not is_gated(held)):
        tone = (entry_label(Tone.HELD.value), STYLES[Tone.HELD])
        first, *more = held.because
        page.add(tone, (object_label(held.target), "bold"), f": {first.sentence}")
        for why in more[:MAX_NAMES]:
            page.add(INDENT, f"  {why.sentence}")
    add_gated_cliques(
        page,
        ((held.target, tuple((why.subject, why.sentence) for why in held.because)) for held in late if is_gated(held)),
    )
    if any(why.rule.code in _UPDATING for held in forecast.rounds[-1].withheld for why in held.because):
        page.add(
            INDENT, ("the update goes on as pods become ready, which a plan has none do: see grove simulate", "dim")
        )


def _lines_of_round(round_: Round) -> Iterator[tuple[str, str]]:
    """What one round does, a line for each kind of thing: the word at its head, and the text."""
    for word, steps in (("DELETE", ordinary_deletions(round_.steps)), ("UPDATE", applied_changes(round_.steps))):
        for alike in _grouped_by_reason(steps):
            names = joined_names([step.target.name for step in alike], MAX_NAMES)
            goes = impact_text(toll_of(alike)) if word == "DELETE" and alike[0].target.kind != "Pod" else ""
            count = plural(len(alike), alike[0].target.kind) + (f" with {goes}" if goes else "")
            yield word, f"{count}, {names}: {_first_reason(alike)}"
    kinds = created_kinds(round_.steps)
    done = [plural(kinds[kind], kind) for kind in sorted(kinds)]
    opened = sum(isinstance(step.action, Apply) and step.target.kind == "Pod" for step in round_.steps)
    if opened:
        done.append(f"gates of {plural(opened, 'pod')} open")
    if done:
        yield "CREATE" if kinds else "PLACE", ", ".join(done)


def _first_reason(alike: Iterable[Step]) -> str:
    """The reason of the first, and how many others it stands for that differ in what they name."""
    first, *more = dict.fromkeys(step.because[0].sentence for step in alike)
    return f"{first}; and {plural(len(more), 'more reason')} of this kind (-v)" if more else first


def _grouped_by_reason(steps: Iterable[Step]) -> Iterator[list[Step]]:
    """Steps on objects of one kind for one reason together, in the order of the first of each."""
    found: dict[tuple[str, str], list[Step]] = {}
    for step in steps:
        found.setdefault((step.target.kind, step.because[0].rule.code), []).append(step)
    yield from found.values()


def created_kinds(steps: Iterable[Step]) -> Counter[str]:
    """Kind -> how many objects of it the steps create."""
    return Counter(step.target.kind for step in steps if isinstance(step.action, Make))


def ordinary_deletions(steps: Iterable[Step]) -> list[Step]:
    """The deletions that end nothing for a breach."""
    return [step for step in steps if isinstance(step.action, Delete) and not is_end(step)]


def applied_changes(steps: Iterable[Step]) -> list[Step]:
    """The changes of what people wrote or scaled: cliques, groups, services, autoscalers."""
    return [
        step
        for step in steps
        if isinstance(step.action, Apply)
        and (step.target.kind not in _BESIDES or any(why.rule.code == _MIRRORED for why in step.because))
    ]


def add_gated_cliques(page: Page, gated: Iterable[tuple[Ref, tuple[tuple[Ref, str], ...]]]) -> None:
    """PodCliques whose pods keep their gates, those that wait for the same together."""
    alike: dict[tuple[tuple[Ref, str], ...], list[str]] = {}
    for ref, reasons in gated:
        (_, first), *behind = reasons
        alike.setdefault(((Ref("", "", "", ""), first), *behind), []).append(ref.name)
    for ((_, first), *behind), names in alike.items():
        tone = (entry_label(Tone.GATED.value), STYLES[Tone.GATED])
        page.add(tone, f"{joined_names(names, MAX_NAMES)}: {first}")
        for subject, sentence in behind[:MAX_NAMES]:
            page.add(INDENT, f"  {subject.name}: {sentence}")
