"""How a set grows, for people: what is created round by round, and which pods keep their gates."""

from collections import Counter
from collections.abc import Iterable

from grove_core.explain import Tone, is_gated
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Apply, Create, Step
from grove_core.plan.forecast import Forecast
from grove_shell.views.layout import INDENT, NAMES, STYLES, label
from grove_shell.views.page import Page
from grove_shell.views.words import listed, plural


def add_creations(page: Page, forecast: Forecast) -> None:
    """What is created and which gates open, round by round, and what is held back when all that is done."""
    before = ""
    for round_ in forecast.rounds:
        kinds = created_by(round_.steps)
        done = [plural(kinds[kind], kind) for kind in sorted(kinds)]
        opened = sum(isinstance(step.action, Apply) and step.target.kind == "Pod" for step in round_.steps)
        if opened:
            done.append(f"gates of {plural(opened, 'pod')} open")
        if done:
            word = "CREATE" if kinds else "PLACE"
            text = f"round {round_.number}: {', '.join(done)}"
            page.add((label("" if word == before else word), "bold"), text)
            before = word
    told = {(held.target, held.because) for held in forecast.rounds[0].withheld}
    late = [held for held in forecast.rounds[-1].withheld if (held.target, held.because) not in told]
    for held in (held for held in late if not is_gated(held)):
        tone = (label(Tone.HELD.value), STYLES[Tone.HELD])
        page.add(tone, f"{held.target.kind} {held.target.name}: {held.because[0].sentence}")
    add_gated(
        page,
        ((held.target, tuple((why.subject, why.sentence) for why in held.because)) for held in late if is_gated(held)),
    )


def created_by(steps: Iterable[Step]) -> Counter[str]:
    """Kind -> how many objects of it the steps create."""
    return Counter(step.target.kind for step in steps if isinstance(step.action, Create))


def add_gated(page: Page, gated: Iterable[tuple[Ref, tuple[tuple[Ref, str], ...]]]) -> None:
    """PodCliques whose pods keep their gates, those that wait for the same together."""
    alike: dict[tuple[tuple[Ref, str], ...], list[str]] = {}
    for ref, reasons in gated:
        (_, first), *behind = reasons
        alike.setdefault(((Ref("", "", "", ""), first), *behind), []).append(ref.name)
    for ((_, first), *behind), names in alike.items():
        tone = (label(Tone.GATED.value), STYLES[Tone.GATED])
        page.add(tone, f"{listed(names, NAMES)}: {first}")
        for subject, sentence in behind[:NAMES]:
            page.add(INDENT, f"  {subject.name}: {sentence}")
