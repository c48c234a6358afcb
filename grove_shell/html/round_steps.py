"""The steps of a plan round by round, like ones together, each with its reasons and its difference (HP-007)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from grove_core.areas.gang_termination.termination_findings import termination_assumptions_by_round
from grove_core.document.plan_document import step_action_name
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import Delete, Step, is_gang_termination_deletion, total_deletion_impact
from grove_core.plan.forecast import Forecast, ForecastRound
from grove_shell.html.cited_reasons import CitedRules, HtmlReason
from grove_shell.html.object_diffs import DiffLine, StoredValues
from grove_shell.views.formatting import clock_time, count_with_noun, deletion_impact_text, relative_time
from grove_shell.views.plan_round_lines import rounds_before_repeats

_LONG: Final = 12  # lines of a difference that is shown once
_VERBS: Final = {
    "create": "create",
    "ensure": "ensure",
    "apply": "change",
    "setStatus": "status of",
    "delete": "delete",
    "dropFinalizer": "remove finalizer of",
}


@dataclass(frozen=True, slots=True)
class StepTarget:
    """One object of a group of steps, with the reasons of its step."""

    name: str
    link: str
    reasons: tuple[HtmlReason, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StepGroup:
    """Steps of one action on objects of one kind; pods of one PodClique together, every other step alone.

    Attributes:
        verb: the action as a verb.
        action: its name in the format.
        takes: what a deletion takes along; empty where nothing is known of it.
        difference: of the first step; empty where an earlier one is equal.
        diff_id: its id; empty for a short one.
        same_as: the id of an equal difference before it on the page; empty without one.
    """

    verb: str
    action: str
    kind: str
    title: str
    is_termination: bool
    takes: str
    targets: tuple[StepTarget, ...]
    difference: tuple[DiffLine, ...]
    diff_id: str = ""
    same_as: str = ""


class ShownDifferences:
    """The differences of a page that a later step can refer to: the long ones, each with an id."""

    def __init__(self) -> None:
        self._ids: dict[tuple[DiffLine, ...], str] = {}

    def with_ids(self, group: StepGroup) -> StepGroup:
        """Return a group with the id of its difference, or with that of an equal one before it."""
        if len(group.difference) < _LONG:
            return group
        known = self._ids.get(group.difference)
        if known is not None:
            return replace(group, same_as=known, difference=())
        found = self._ids[group.difference] = f"-difference-{len(self._ids) + 1}"
        return replace(group, diff_id=found)


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundView:
    """One round: its time, what it assumes, its steps, and what it withholds."""

    number: int
    when: str
    is_later: bool
    assumes: tuple[str, ...]
    groups: tuple[StepGroup, ...]
    withheld: tuple[StepTarget, ...]

    @property
    def counted(self) -> str:
        """The number of its steps and of the withheld ones."""
        steps = sum(len(group.targets) for group in self.groups)
        held = f", {len(self.withheld):,} withheld" if self.withheld else ""
        return f"{count_with_noun(steps, 'step')}{held}"


def round_views(
    forecast: Forecast, stored: StoredValues, cited: CitedRules, shown: ShownDifferences, now: datetime
) -> tuple[tuple[RoundView, ...], int]:
    """Return the rounds of a forecast that write or withhold, and how many repeated rounds are left out (GF-086)."""
    rounds = [(round_.at, round_.steps) for round_ in forecast.rounds]
    assumed = termination_assumptions_by_round(forecast.findings, rounds)
    first = rounds_before_repeats(forecast)
    views = []
    for round_, by_target in zip(first, assumed, strict=False):
        assumes = tuple(sorted({one.words for one in by_target.values()}))
        view = _round_view(round_, stored, cited, now, assumes)
        if view.groups or view.withheld:
            views.append(replace(view, groups=tuple(map(shown.with_ids, view.groups))))
    return tuple(views), len(forecast.rounds) - len(first)


def _round_view(
    round_: ForecastRound, stored: StoredValues, cited: CitedRules, now: datetime, assumes: tuple[str, ...]
) -> RoundView:
    when = clock_time(round_.at, now) + (f" ({relative_time(round_.at, now)})" if round_.at > now else "")
    return RoundView(
        number=round_.number,
        when=when,
        is_later=round_.at > now,
        assumes=assumes,
        groups=tuple(_group(alike, stored, cited) for alike in _alike(round_.steps)),
        withheld=tuple(
            StepTarget(_name(held.target), cited.link_to(held.target), cited.html_reasons(held.because, held.target))
            for held in round_.withheld
        ),
    )


def _alike(steps: Sequence[Step]) -> Iterator[list[Step]]:
    """Yield the steps; those of one action on pods of one PodClique are together."""
    found: dict[tuple[str, str, str], list[Step]] = {}
    for step in steps:
        name = step.target.name.rpartition("-")[0] if step.target.kind == "Pod" else step.target.name
        found.setdefault((step_action_name(step.action), step.target.kind, name), []).append(step)
    yield from found.values()


def _group(alike: Sequence[Step], stored: StoredValues, cited: CitedRules) -> StepGroup:
    first = alike[0]
    differences = [stored.difference_of(step) for step in alike]
    name = step_action_name(first.action)
    kind = first.target.kind
    title = (
        f"{kind} {_name(first.target)}"
        if len(alike) == 1
        else f"{count_with_noun(len(alike), kind)} of {first.target.name.rpartition('-')[0]}"
    )
    return StepGroup(
        verb=_VERBS[name],
        action=name,
        kind=kind,
        title=title,
        is_termination=any(map(is_gang_termination_deletion, alike)),
        takes=deletion_impact_text(total_deletion_impact(alike)) if isinstance(first.action, Delete) else "",
        targets=tuple(
            StepTarget(
                step.target.name, cited.link_to(step.target), cited.html_reasons(step.because, step.target)
            )
            for step in alike
        ),
        difference=differences[0],
    )


def _name(ref: Ref) -> str:
    return ref.name if ref.replica is None else f"{ref.name} replica {ref.replica}"
