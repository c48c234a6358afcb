"""``grove why``: what happened to a gang, from audit logs, dumps and Events (CL-066 to CL-068)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

from grove_core.kernel.time_formats import format_time, truncated_to_seconds
from grove_core.resources.configuration import Configuration
from grove_core.resources.naming_rules import most_similar_name
from grove_shell.actions.command_input import LiveClusterOptions
from grove_shell.actions.configuration_files import read_operator_configuration
from grove_shell.actions.html_files import save_report
from grove_shell.actions.rule_set_choice import choose_rule_set
from grove_shell.client.kind_names import kind_named
from grove_shell.exit_codes import DONE, ERROR, FAIL_ON, USAGE, CommandFailed
from grove_shell.reading.audit_log import AuditLogFaults, audited_writes
from grove_shell.reading.input_completeness import CollectedObjects
from grove_shell.reading.input_sources import standard_input_bytes
from grove_shell.reading.kubernetes_events import ListedKubernetesEvent, read_events
from grove_shell.reconstruction.deletion_causes import DeletionCauseClass
from grove_shell.reconstruction.dumps import Dump, read_dumps
from grove_shell.reconstruction.holes import holes_of_record, holes_outside_record, unlisted_kinds
from grove_shell.reconstruction.record_scan import RebuiltRecord, rebuild_from_record
from grove_shell.reconstruction.recorded_objects import SetKey
from grove_shell.reconstruction.sets_in_question import StorySets
from grove_shell.reconstruction.story import Story, StoryTarget, events_about, grouped_deletions, happenings_of
from grove_shell.styled_text_page import print_error
from grove_shell.views.formatting import (
    REST_UNKNOWN,
    failed_check_message,
    input_problems_closing_line,
    input_problems_page,
)
from grove_shell.views.progress_bars import progress_counter
from grove_shell.views.renderers import RENDERERS
from grove_shell.views.why.why_document import story_as_json
from grove_shell.views.why.why_page import why_page

_CLASSES = {"terminate": frozenset({DeletionCauseClass.TERMINATION})}


@dataclass(frozen=True, slots=True, kw_only=True)
class WhyOptions:
    """The options of the command.

    Attributes:
        target: ``KIND/NAME``; None for every set of the record.
        since, until: deletions and happenings before or after them are left out.
    """

    target: str | None
    audit: tuple[str, ...] = ()
    filenames: tuple[str, ...] = ()
    events: tuple[str, ...] = ()
    live: LiveClusterOptions | None = None
    namespace: str | None = None
    config: str | None = None
    rules: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    fail_on: tuple[str, ...] = ()
    output: str = "human"
    keep_going: bool = False
    verbose: bool = False
    html: str | None = None


def explain_recorded_deletions(options: WhyOptions) -> int:
    """Read the record and print the story. Returns the exit code (CL-001).

    Raises:
        CommandFailed: The input has problems that are not to be passed over.
    """
    target = _target_of(options)
    if target is None:
        kinds = "KIND one of pcs, pcsg, pclq, pod"
        print_error(f"{options.target} is not KIND/NAME with {kinds}; the namespace is given with -n")
        return USAGE
    configured = read_operator_configuration(options.config)
    faults = list(configured.problems)
    listed, reported, now = _live_objects(options.live)
    stdin = standard_input_bytes()
    events = (*read_events(options.events, stdin, faults), *reported)
    dumps = read_dumps(options.filenames, stdin, faults, configured.configuration, listed, now)
    flaws = AuditLogFaults()
    question = StorySets(target.namespace, target.kind, target.name)
    record = _read(options, question, flaws, dumps, configured.configuration, configured.rules)
    faults += flaws.faults
    if faults:
        page = input_problems_page(faults, REST_UNKNOWN if options.keep_going else input_problems_closing_line(faults))
        if not options.keep_going:
            raise CommandFailed(page)
        print_error(page)
    story = _story(options, target, record, flaws, dumps, events)
    if not _shows_target(story, record):
        where = f" in namespace {target.namespace}" if target.namespace else ""
        what = f"{options.target or 'a PodCliqueSet'}{where}"
        empty = "; the audit log has no request" if options.audit and flaws.first is None else ""
        print_error(f"not in the record: {what}{empty or _hint(target, record, events)}")
        return USAGE
    if outside := _times_not_on_record(options, story):
        print_error(f"not in the record: {outside}")
        return USAGE
    answer = partial(why_page, story, full=options.verbose)
    RENDERERS[options.output].print_result(page=answer, document=lambda: story_as_json(story))
    save_report(options.html, "why", answer)
    if met := _classes_met(story) & set(options.fail_on):
        print_error(failed_check_message(met))
        return FAIL_ON
    return ERROR if faults else DONE


def _target_of(options: WhyOptions) -> StoryTarget | None:
    if options.target is None:
        return StoryTarget(options.namespace)
    kind, slash, name = options.target.partition("/")
    known = kind_named(kind)
    fits = known in {"PodCliqueSet", "PodCliqueScalingGroup", "PodClique", "Pod"}
    return StoryTarget(options.namespace, known, name) if slash and name and "/" not in name and fits else None


def _live_objects(
    live: LiveClusterOptions | None,
) -> tuple[CollectedObjects | None, tuple[ListedKubernetesEvent, ...], datetime | None]:
    if live is None:
        return None, (), None
    from grove_shell.actions.event_listing import list_events  # noqa: PLC0415 - as above
    from grove_shell.actions.live_cluster_lists import list_objects_of_all_kinds  # noqa: PLC0415 - the client, which a file does not need

    return list_objects_of_all_kinds(live), list_events(live), datetime.now(UTC)


def _read(
    options: WhyOptions,
    question: StorySets,
    flaws: AuditLogFaults,
    dumps: Sequence[Dump],
    configuration: Configuration,
    configured: str | None,
) -> RebuiltRecord:
    with progress_counter("reading the audit log", "line") as count:
        return rebuild_from_record(
            audited_writes(options.audit, question.may_concern, flaws, count),
            dumps,
            question,
            configuration,
            lambda cluster, newer: choose_rule_set(options.rules, configured, cluster, newer),
        )


def _story(
    options: WhyOptions,
    target: StoryTarget,
    record: RebuiltRecord,
    flaws: AuditLogFaults,
    dumps: Sequence[Dump],
    events: Sequence[ListedKubernetesEvent],
) -> Story:
    is_shown = _within(options.since, options.until)
    groups = grouped_deletions((one for one in record.deletions if is_shown(one.at)), target)
    roots = tuple(root for root in record.objects.roots if target.namespace in {None, root.namespace})
    named = _roots_of(target, record, events)
    moments = [*filter(None, (flaws.first, flaws.last)), *(dump.at for dump in dumps)]
    moments += [at for event in events for at in (event.first, event.last)]
    first, last = min(moments, default=None), max(moments, default=None)
    holes = (
        *holes_of_record(record, roots, flaws if options.audit else None, dumps),
        *holes_outside_record(first, last, options.since, options.until),
    )
    sets, rules = record.sets, record.sets.rules
    return Story(
        target=target,
        first=first,
        last=last,
        groups=groups,
        happenings=happenings_of((one for one in record.happenings if is_shown(one.at)), target),
        events=tuple(one for one in events_about(events, target, (*roots, *named)) if is_shown(one.last)),
        holes=holes,
        rules=rules.name if rules is not None else "",
        rules_from=sets.source,
        operators=record.operators.users,
        recognition=sets.shown,
        shows_deletions=flaws.first is not None or (len(dumps) > 1 and not any(unlisted_kinds(record, roots))),
    )


def _roots_of(
    target: StoryTarget, record: RebuiltRecord, events: Sequence[ListedKubernetesEvent]
) -> tuple[SetKey, ...]:
    """Return the sets that Events name and the rest of the record does not show."""
    known = set(record.objects.roots)
    named = (SetKey(one.namespace, one.name) for one in events if one.kind == "PodCliqueSet")
    found = dict.fromkeys(root for root in named if root not in known and target.namespace in {None, root.namespace})
    return tuple(found)


def _within(since: datetime | None, until: datetime | None) -> Callable[[datetime], bool]:
    return lambda at: (since is None or at >= since) and (until is None or at <= until)


def _times_not_on_record(options: WhyOptions, story: Story) -> str:
    """Return the times that are asked for and none of which the record has; empty where it has some."""
    first, last = story.first, story.last
    if first is None or last is None:
        return ""
    asked = [f"from {format_time(options.since)}"] if options.since is not None and options.since > last else []
    if options.until is not None and options.until < truncated_to_seconds(first):
        asked.append(f"until {format_time(options.until)}")
    begin, end = (format_time(truncated_to_seconds(one)) for one in (first, last))
    return f"times {asked[0]}; it is from {begin} to {end}" if asked else ""


def _shows_target(story: Story, record: RebuiltRecord) -> bool:
    target = story.target
    return bool(story.groups or story.events) or any(
        target.concerns(key, root) for root in record.objects.roots for key in record.objects.keys_of(root)
    )


def _hint(target: StoryTarget, record: RebuiltRecord, events: Sequence[ListedKubernetesEvent]) -> str:
    keys = [key for root in record.objects.roots for key in record.objects.keys_of(root)]
    names = {key.name for key in keys if key.kind == target.kind}
    names |= {event.name for event in events if event.kind == target.kind}
    meant = most_similar_name(target.name, names) if target.name else ""
    if meant:
        return f"; did you mean {meant}?"
    return "; without a target all sets of the record are shown" if target.name else ""


def _classes_met(story: Story) -> set[str]:
    met = {name for name, kinds in _CLASSES.items() if any(group.first.cause.kind in kinds for group in story.groups)}
    return met | ({"unknown"} if story.has_unknown else set())
