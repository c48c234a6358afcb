"""The page of ``grove why``: what went and why, then what happened when, then the holes of the record (CL-066)."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final, assert_never

from grove_core.kernel.refs import Ref
from grove_shell.reconstruction.deletion_causes import DeletionCauseClass, RecordedDeletion
from grove_shell.reconstruction.happenings import Happening
from grove_shell.reconstruction.story import UNEXPLAINED, DeletionsOfOneCause, Story
from grove_shell.reconstruction.writers import WriterRole, program_of_user_agent
from grove_shell.styled_text_page import Span, StyledTextPage
from grove_shell.views.formatting import (
    MAX_NAMES,
    clock_time,
    count_with_noun,
    join_names_with_commas,
    rule_citation,
)
from grove_shell.views.plan.plan_headline import time_and_rules_line
from grove_shell.views.why.event_lines import event_lines

_LABELS: Final = {
    DeletionCauseClass.TERMINATION: ("TERMINATED", "bold red"),
    DeletionCauseClass.RULES: ("DELETED", "bold yellow"),
    DeletionCauseClass.OWNER: ("DELETED", "bold yellow"),
    DeletionCauseClass.WRITER: ("DELETED", "bold yellow"),
    DeletionCauseClass.NOT_EXPLAINED: ("NOT EXPLAINED", "bold magenta"),
    DeletionCauseClass.NOT_KNOWN: ("NOT KNOWN", "bold magenta"),
}
_COUNTED: Final = ("PodCliqueSet", "PodCliqueScalingGroup", "PodClique", "Pod")
_MOST_LINES: Final = 40
_MOST_GROUPS: Final = 30
_MOST_VERDICTS: Final = 4
_MOST_CAUSES: Final = 8


def why_page(story: Story, *, full: bool) -> StyledTextPage:
    """Return the page of a story; ``full`` shows every entry and line."""
    page = StyledTextPage()
    page.add_line(*_headline(story))
    page.add_line((_span_line(story), "dim"))
    if story.rules:
        page.add_line((_rules_line(story), "dim"))
    groups = story.groups if full else story.groups[-_MOST_GROUPS:]
    if len(groups) < len(story.groups):
        page.add_line()
        page.add_line((f"{len(story.groups) - len(groups):,} earlier causes are left out (-v lists all)", "dim"))
    for group in groups:
        page.add_line()
        _add_group(page, group, story, full=full)
    _add_timeline(page, story, full=full)
    if story.holes:
        page.add_line()
        page.add_line(("holes in the record", "bold"))
        for hole in story.holes:
            page.add_line("  ", hole.what)
            page.add_line(("    leaves open: ", "dim"), hole.leaves_open)
    return page


def _headline(story: Story) -> Iterator[Span | str]:
    """Yield what is not known first, then what went, by cause."""
    if not story.shows_deletions:
        what = "not all that went is on record" if story.groups else "what went is not on record"
        yield f"UNKNOWN: {_target_name(story)}: {what}", "bold magenta"
        yield "; an audit log, or two dumps with all its kinds, would show it"
        return
    counts: Counter[DeletionCauseClass] = Counter()
    for group in story.groups:
        counts[group.first.cause.kind] += len(group.deletions)
    unknown = sum(counts[kind] for kind in UNEXPLAINED)
    if unknown:
        yield f"UNKNOWN: the cause of {count_with_noun(unknown, 'deletion')}", "bold magenta"
    ends = sum(group.first.cause.kind is DeletionCauseClass.TERMINATION for group in story.groups)
    parts = [count_with_noun(ends, "gang termination")] if ends else []
    if counts[DeletionCauseClass.RULES]:
        parts.append(f"{count_with_noun(counts[DeletionCauseClass.RULES], 'deletion')} by other rules")
    others = counts[DeletionCauseClass.WRITER] + counts[DeletionCauseClass.OWNER]
    if others:
        parts.append(f"{count_with_noun(others, 'deletion')} by something else than the operator")
    name = _target_name(story)
    if unknown:
        yield "; " if parts else f" of {name}"
    if parts:
        yield f"{name}: {', '.join(parts)}", "bold red" if ends else "bold"
    elif not unknown:
        yield f"{name}: nothing went, as far as the record shows", "bold green" if not story.holes else "bold"


def _target_name(story: Story) -> str:
    target = story.target
    where = f"{target.namespace}/" if target.namespace else ""
    return f"{target.kind} {where}{target.name}" if target.name else f"{where}all PodCliqueSets"


def _span_line(story: Story) -> str:
    if story.first is None or story.last is None:
        return "the record has no time"
    operators = f"; operator: {', '.join(story.operators)}" if story.operators else ""
    return f"record from {_whole(story.first)} to {_whole(story.last)}{operators}"


def _rules_line(story: Story) -> str:
    moment = story.last or story.first
    line = time_and_rules_line(moment, story.rules, story.rules_from) if moment is not None else ""
    return line.partition(", ")[2]


def _whole(moment: datetime) -> str:
    return f"{moment.date().isoformat()} {clock_time(moment, moment)}"


def _add_group(page: StyledTextPage, group: DeletionsOfOneCause, story: Story, *, full: bool) -> None:
    first, cause = group.first, group.first.cause
    label, style = _LABELS[cause.kind]
    expected = "EXPECTED, " if cause.expected and cause.kind not in UNEXPLAINED else ""
    when = _when(group, story)
    page.add_line((f"{expected}{label}", style), "  ", (_subject(group), "bold"), f"  {when}")
    lines = _lines_of_causes(group.deletions, None if full else MAX_NAMES)
    for words, citation in lines if full else lines[:_MOST_CAUSES]:
        page.add_line("  ", words, *([citation] if citation is not None else []))
    if not full and len(lines) > _MOST_CAUSES:
        page.add_line((f"  {len(lines) - _MOST_CAUSES:,} more lines are left out (-v lists all)", "dim"))
    if cause.reasons is not None and cause.expected:
        page.add_line("  so the plan for the last state on record before; no request shows when it happened")
    for kind in _COUNTED:
        names = list(group.names_of_kind(kind))
        if names and not (len(names) == 1 and not group.followers and kind == first.key.kind and not _ends(first)):
            shown = join_names_with_commas(names, None if full else MAX_NAMES)
            page.add_line((f"  {count_with_noun(len(names), kind)}: ", "dim"), shown)


def _ends(deletion: RecordedDeletion) -> bool:
    return deletion.cause.kind is DeletionCauseClass.TERMINATION


def _when(group: DeletionsOfOneCause, story: Story) -> str:
    """Return the time of a deletion, or the first and the last of several (AF-015)."""
    first, last = group.first, group.deletions[-1]
    base = story.last or last.at
    begin, end = clock_time(first.at, base), clock_time(last.at, base)
    if first.since is not None:
        return f"between {clock_time(first.since, base)} and {end}"
    if first.writer is None:
        return f"by {end}"
    return f"at {begin}" if begin == end else f"from {begin} to {end}"


def _subject(group: DeletionsOfOneCause) -> str:
    first, reasons = group.first, group.first.cause.reasons
    if reasons is not None and reasons.terminates:
        replica = reasons.terminates[0].replica
        number, owner = replica.replica, replica.without_replica
        return f"replica {number} of {owner.kind} {owner.namespace}/{owner.name}"
    if len(group.deletions) > 1:
        return f"{count_with_noun(len(group.deletions), first.key.kind)} of {first.root.namespace}/{first.root.name}"
    return f"{first.key.kind} {first.key.namespace}/{first.key.name}"


def _lines_of_causes(deletions: Sequence[RecordedDeletion], most: int | None) -> list[tuple[str, Span | None]]:
    """Return why deletions of one cause happened, each reason once with its subjects and its rule (AF-015)."""
    subjects: dict[tuple[str, Span | None], dict[str, bool]] = {}
    for deletion in deletions:
        for subject, words, citation in _because(deletion):
            of_reason = subjects.setdefault((words, citation), {})
            if subject is not None:
                of_reason[subject.short] = (subject.kind, subject.name) == (deletion.key.kind, deletion.key.name)
    found = []
    for (words, citation), named in subjects.items():
        is_own = all(named.values()) and len(named) == len(deletions)  # their names are listed anyway
        names = "" if is_own or not named else f"{join_names_with_commas(list(named), most)}: "
        found.append((f"{names}{words}", citation))
    return found


def _because(deletion: RecordedDeletion) -> Iterator[tuple[Ref | None, str, Span | None]]:
    """Yield why: the subject of each reason, its words, and the citation of a rule."""
    cause = deletion.cause
    if cause.reasons is not None:
        delays = [end.delay for end in cause.reasons.terminates if end.delay is not None]
        breaches = (reason for finding in cause.reasons.breaches for reason in finding.because)
        for reason in (*(delays or cause.reasons.because), *breaches):
            yield reason.subject, reason.sentence, rule_citation(reason)
        return
    yield None, _words_of(deletion), None
    for kind, why in cause.gaps:
        yield None, f"not known: {kind}s: {why}" if kind in _COUNTED else f"not known: {why}", None
    for finding in cause.verdicts[:_MOST_VERDICTS]:
        first = finding.because[0]
        words = f"{finding.question} of {finding.subject.short}: {finding.verdict}: {first.sentence}"
        yield None, words, rule_citation(first)


def _words_of(deletion: RecordedDeletion) -> str:
    cause, writer = deletion.cause, deletion.writer
    by = f"user {writer.user} ({program_of_user_agent(writer) or 'no user agent'})" if writer is not None else ""
    match cause.kind:
        case DeletionCauseClass.WRITER:
            role = deletion.role or WriterRole.CLIENT
            return f"by {by}, which is not the operator" if role is WriterRole.CLIENT else f"{role.words}: {by}"
        case DeletionCauseClass.NOT_EXPLAINED:
            return f"by the operator, {by}; the rules '{cause.rules}' do not delete it in any state of the last 10 s"
        case (
            DeletionCauseClass.NOT_KNOWN
            | DeletionCauseClass.TERMINATION
            | DeletionCauseClass.RULES
            | DeletionCauseClass.OWNER
        ):
            is_by_operator = by and deletion.role in {None, WriterRole.OPERATOR}
            return f"{f'by the operator, {by}; ' if is_by_operator else ''}the record does not show why"
        case _:
            assert_never(cause.kind)


def _add_timeline(page: StyledTextPage, story: Story, *, full: bool) -> None:
    """Add what happened and what Events report, in the order of time; without ``full`` the last lines only."""
    base = story.last
    if base is None or not (story.happenings or story.events):
        return
    lines = [
        *((one.at, _happened_line(one)) for one in story.happenings if full or one.is_notable),
        *((group.first.at, _deleted_line(group, base)) for group in story.groups),
        *event_lines(story.events, base, full=full),
    ]
    if not lines:
        return
    shown = sorted(lines, key=lambda line: line[0])[0 if full else -_MOST_LINES :]
    page.add_line()
    page.add_line(("what happened", "bold"))
    if len(shown) < len(lines):
        page.add_line((f"  {len(lines) - len(shown):,} earlier lines are left out (-v lists all)", "dim"))
    for at, words in shown:
        page.add_line((f"  {clock_time(at, base)}  ", "dim"), words)


def _happened_line(happening: Happening) -> str:
    by = f" by {happening.writer}" if happening.writer else ""
    return f"{happening.key.kind} {happening.key.name}: {happening.text}{by}"


def _deleted_line(group: DeletionsOfOneCause, base: datetime) -> str:
    label = _LABELS[group.first.cause.kind][0]
    first, last = (clock_time(one.at, base) for one in (group.first, group.deletions[-1]))
    return f"{label} {_subject(group)}{'' if first == last else f', the last at {last}'}"
