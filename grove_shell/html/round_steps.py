"""The steps of a plan round by round, like ones together, each with its reasons and its difference (HP-007)."""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from grove_core.areas.gang_termination.forecast_terminations import termination_assumptions_by_round
from grove_core.document.plan_document import step_action_name
from grove_core.kernel.refs import Ref
from grove_core.kernel.steps import (
    Delete,
    Step,
    gangs_terminated_by,
    is_gang_termination_deletion,
    total_deletion_impact,
)
from grove_core.kernel.structs import replace
from grove_core.plan.forecast import Forecast, ForecastRound
from grove_shell.html.cited_reasons import CitedRules, HtmlReason
from grove_shell.html.object_diffs import Difference, ObjectValuesByRound, without_own_names
from grove_shell.views.formatting import (
    clock_time,
    count_with_noun,
    deletion_impact_text,
    join_names_with_commas,
    relative_time,
)
from grove_shell.views.plan.plan_round_lines import rounds_without_repeats

_NAMED: Final = 3  # targets in the title of like steps
_LONG: Final = 8  # lines of a difference that is shown once
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
    """Steps of one action on objects of one kind, with reasons by the same rules and differences that are alike.

    Attributes:
        verb: the action as a verb.
        action: its name in the format.
        title: the target, or the number of targets.
        takes: what a deletion takes along; empty where nothing is known of it.
        shared: the reasons of all targets, where they are the same; else each target has its own.
        difference: of the first step; empty where an earlier one is equal.
        has_other_names: whether the other steps, or the earlier one, write other names, uids and indices.
        diff_id: the id of the difference; empty for a short one.
        same_as: the id of a difference before it on the page that is alike; empty without one.
    """

    verb: str
    action: str
    title: str
    is_termination: bool
    takes: str
    shared: tuple[HtmlReason, ...]
    targets: tuple[StepTarget, ...]
    difference: Difference
    has_other_names: bool
    diff_id: str = ""
    same_as: str = ""


class DifferencesWithIds:
    """The differences of a page that a later step can refer to: the long ones, each with an id."""

    def __init__(self) -> None:
        self._ids: dict[Hashable, tuple[str, Difference]] = {}

    def with_ids(self, group: StepGroup, set_name: str) -> StepGroup:
        """Return a group with the id of its difference, or with that of one before it that is alike but for names."""
        if len(group.difference) < _LONG:
            return group
        key = tuple(without_own_names(group.difference, set_name))
        known = self._ids.get(key)
        if known is None:
            name = f"-difference-{len(self._ids) + 1}"
            self._ids[key] = name, group.difference
            return replace(group, diff_id=name)
        has_other_names = group.has_other_names or known[1] != group.difference
        return replace(group, same_as=known[0], difference=(), has_other_names=has_other_names)


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
    forecast: Forecast, stored: ObjectValuesByRound, cited: CitedRules, shown: DifferencesWithIds, now: datetime
) -> tuple[tuple[RoundView, ...], int]:
    """Return the rounds of a forecast that write or withhold, and how many repeated rounds are left out (GF-086).

    Args:
        stored: the values before the first round; those that the steps write are added.
        cited: keeps the rules that the reasons cite.
        shown: the differences that the page has already; those of these rounds are added.
        now: the time of the plan.
    """
    rounds = [(round_.at, round_.steps) for round_ in forecast.rounds]
    assumed = termination_assumptions_by_round(forecast.findings, rounds)
    first = rounds_without_repeats(forecast)
    views = []
    for round_, by_target in zip(first, assumed, strict=False):
        assumes = tuple(sorted({one.words for one in by_target.values()}))
        view = _round_view(round_, forecast.root, stored, cited, now, assumes)
        if view.groups or view.withheld:
            views.append(
                replace(view, groups=tuple(shown.with_ids(group, forecast.root.name) for group in view.groups))
            )
    return tuple(views), len(forecast.rounds) - len(first)


def _round_view(
    round_: ForecastRound,
    root: Ref,
    stored: ObjectValuesByRound,
    cited: CitedRules,
    now: datetime,
    assumes: tuple[str, ...],
) -> RoundView:
    when = clock_time(round_.at, now) + (f" ({relative_time(round_.at, now)})" if round_.at > now else "")
    return RoundView(
        number=round_.number,
        when=when,
        is_later=round_.at > now,
        assumes=assumes,
        groups=tuple(_groups(round_.steps, root, stored, cited)),
        withheld=tuple(
            StepTarget(_name(held.target), cited.link_to(held.target), cited.html_reasons(held.because, held.target))
            for held in round_.withheld
        ),
    )


def _groups(steps: Sequence[Step], root: Ref, stored: ObjectValuesByRound, cited: CitedRules) -> Iterator[StepGroup]:
    """Yield the steps in their order, like ones together: of one action, kind, rules, termination and difference."""
    found: dict[Hashable, list[tuple[Step, Difference]]] = {}
    for step in steps:
        difference = stored.difference_of(step)
        codes = tuple(why.rule.code for why in step.because)
        ended = tuple(gang.replica for gang in gangs_terminated_by(step))
        bare = tuple(without_own_names(difference, root.name))
        key = (step_action_name(step.action), step.target.kind, codes, ended, bare)
        found.setdefault(key, []).append((step, difference))
    for alike in found.values():
        yield _group([step for step, _ in alike], [difference for _, difference in alike], cited)


def _group(alike: Sequence[Step], differences: Sequence[Difference], cited: CitedRules) -> StepGroup:
    first = alike[0]
    name = step_action_name(first.action)
    reasons = [cited.html_reasons(step.because, step.target) for step in alike]
    sentences = {tuple((why.subject, why.sentence) for why in whys) for whys in reasons}
    return StepGroup(
        verb=_VERBS[name],
        action=name,
        title=_title(alike),
        is_termination=any(map(is_gang_termination_deletion, alike)),
        takes=deletion_impact_text(total_deletion_impact(alike)) if isinstance(first.action, Delete) else "",
        shared=reasons[0] if len(sentences) == 1 else (),
        targets=tuple(
            StepTarget(step.target.name, cited.link_to(step.target), () if len(sentences) == 1 else whys)
            for step, whys in zip(alike, reasons, strict=True)
        ),
        difference=differences[0],
        has_other_names=len(set(differences)) > 1,
    )


def _title(alike: Sequence[Step]) -> str:
    """Return the kind and name of one target; of several their number, and their names or the PodClique of the pods."""
    kind = alike[0].target.kind
    if len(alike) == 1:
        return f"{kind} {_name(alike[0].target)}"
    counted = count_with_noun(len(alike), kind)
    if kind != "Pod":
        return f"{counted}: {join_names_with_commas([_name(step.target) for step in alike], _NAMED)}"
    owners = {step.target.name.rpartition("-")[0] for step in alike}
    return f"{counted} of {join_names_with_commas(sorted(owners), _NAMED)}"


def _name(ref: Ref) -> str:
    return ref.name if ref.replica is None else f"{ref.name} replica {ref.replica}"
