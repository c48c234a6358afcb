"""Pages of ``grove topology list`` and ``grove topology impact``."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from grove_core.impact_topology import Fate, SetImpact
from grove_core.kernel.admission import AdmissionVerdict, Deny, Remark
from grove_core.kernel.decisions import Decision
from grove_core.kernel.reasons import Reason
from grove_core.resources.cluster_topology import ClusterTopology, Levels
from grove_core.resources.keys import TOPOLOGY_FINALIZER
from grove_core.survey_topology import Listed, State, Surveyed
from grove_shell.views.page import Page, Span
from grove_shell.views.words import listed, plural

_MOST: Final = 8
_BY_DEFAULT: Final = " (default)"
_MISSING: Final = " (missing)"
_STATES: Final[Mapping[State, Span]] = MappingProxyType(
    {
        State.HELD: ("held", "bold yellow"),
        State.FREE: ("free", "bold green"),
        State.LEAVING: ("being deleted", "bold yellow"),
        State.MISSING: ("missing", "bold red"),
    }
)
_FATES: Final[Mapping[Fate, tuple[str, str]]] = MappingProxyType(
    {
        Fate.FOLLOWS: ("FOLLOWS", "bold yellow"),
        Fate.STAYS: ("STAYS", "bold magenta"),
        Fate.SAME: ("SAME", "green"),
        Fate.WAITS: ("WAITS", "bold red"),
        Fate.MADE: ("MADE", "yellow"),
        Fate.UNKNOWN: ("UNKNOWN", "bold magenta"),
    }
)


class Impact(NamedTuple):
    """What is asked, and what was found out.

    Attributes:
        one: the topology with its users.
        before: as it is; None where it is missing.
        after: as it would be; None where it would be deleted, or does not read.
        sets: what becomes of the gangs of its users; empty where it would be deleted.
        again: whether the operator makes it again once it is gone (TP-050).
    """

    one: Surveyed
    before: ClusterTopology | None
    after: ClusterTopology | None
    decision: Decision[AdmissionVerdict]
    sets: tuple[SetImpact, ...]
    again: bool


def survey_page(survey: Iterable[Surveyed], without: int) -> Page:
    """A line for each set with its topology, then a paragraph for each topology (TP-121, TP-122)."""
    page, found = Page(), tuple(survey)
    rows = [
        (f"{one.name}{_mark(one, user)}", f"{user.namespace}/{user.name}", _bound(user))
        for one in found
        for user in sorted(one.users, key=lambda user: (user.by_default, user))
    ]
    if rows:
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for row in rows:
            page.add("  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip())
    else:
        page.add(("no PodCliqueSet uses a topology", "bold"))
    if without:
        page.add((f"{plural(without, 'PodCliqueSet')} without any constraint: no topology applies", "dim"))
    for one in found:
        page.add()
        page.add((one.name, "bold"), "  ", _STATES[one.state])
        if one.levels:
            page.add(f"  levels: {_path(one.levels)}")
        for reason in one.because:
            page.add(f"  {reason.sentence}", (_cited(reason), "dim"))
        for reason in one.lock:
            page.add(f"  its levels {reason.sentence}", (_cited(reason), "dim"))
        if one.state is State.HELD and not one.has_finalizer:
            page.add((f"  it has no finalizer {TOPOLOGY_FINALIZER} yet: a deletion would not wait", "yellow"))
        if one.locked is None:
            page.add(("  whether its levels are locked is not known: PodCliques were not collected", "bold magenta"))
    return page


def impact_page(impact: Impact) -> Page:
    """What admission says, then set by set what becomes of its gangs (TP-123, TP-124)."""
    page, one = Page(), impact.one
    verdict = impact.decision.verdict
    refusals = verdict.objections if isinstance(verdict, Deny) else ()
    word = ("refused", "bold red") if refusals else ("admitted", "bold green")
    page.add((one.name, "bold"), f" {_act(impact)}: ", word)
    if impact.after is not None:
        if impact.before is not None:
            page.add(f"  from {_path(impact.before.levels)}")
        page.add(f"  to   {_path(impact.after.levels)}")
    for objection in refusals:
        page.add("  ", str(objection), (_rule(objection), "dim"))
    for warning in verdict.warnings:
        page.add("  ", ("warning: ", "yellow"), str(warning), (_rule(warning), "dim"))
    if impact.after is not None:
        _change(page, impact)
    elif not refusals:
        _deletion(page, one, again=impact.again)
    return page


def _act(impact: Impact) -> str:
    if impact.after is None:
        return "changed" if isinstance(impact.decision.verdict, Deny) else "deleted"
    if impact.before is None:
        return "made"
    return "with the levels that it has" if impact.before.levels == impact.after.levels else "changed"


def _deletion(page: Page, one: Surveyed, *, again: bool) -> None:
    held = one.state is State.HELD or (one.state is State.LEAVING and one.users)
    for reason in one.because[:1]:
        page.add("  ", reason.sentence, (_cited(reason), "dim"))
    if held:
        page.add("  it stays until the last of these is gone, and until then nothing of theirs changes:")
        for user in one.users:
            how = f"  {_how(by_default=user.by_default)}, {_bound(user)}"
            page.add(f"    {user.namespace}/{user.name}", (how, "dim"))
        page.add("  no further set may come to use it")
    else:
        page.add("  it goes at once", ", and the operator makes it again as configured" if again else "")


def _change(page: Page, impact: Impact) -> None:
    bound = {(user.namespace, user.name): user for user in impact.one.users}
    if not impact.sets:
        page.add("  no PodCliqueSet uses it")
    elif isinstance(impact.decision.verdict, Deny):
        page.add(("  nothing changes; if it came to be all the same:", "dim"))
    for one in impact.sets:
        user = bound[one.root.namespace, one.root.name]
        page.add(
            (f"  {one.root.namespace}/{one.root.name}", "bold"),
            f"  {_how(by_default=one.by_default)}, {_bound(user)}",
        )
        for fate, (word, style) in _FATES.items():
            gangs = [gang for gang in one.gangs if gang.fate is fate]
            if gangs:
                names = listed([gang.name for gang in gangs], _MOST)
                page.add("    ", (f"{word:<8}", style), f" {names}")
                for reason in gangs[0].because:
                    page.add(f"             {reason.sentence}", (_cited(reason), "dim"))


def _mark(one: Surveyed, user: Listed) -> str:
    """What the name alone does not say."""
    missing = _MISSING if one.state is State.MISSING else ""
    return missing + (_BY_DEFAULT if user.by_default else "")


def _path(levels: Levels) -> str:
    return " > ".join(f"{level.domain} ({level.key})" for level in levels)


def _how(*, by_default: bool) -> str:
    return "by default" if by_default else "by name"


def _bound(user: Listed) -> str:
    return "bound pods not known" if user.bound is None else f"{plural(user.bound, 'pod')} bound"


def _rule(found: Remark) -> str:
    return _cited(found.reason)


def _cited(reason: Reason) -> str:
    return f"  {reason.rule.code} {reason.rule.requirement}"
