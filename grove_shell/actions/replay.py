"""``grove replay``: compute the plans of a decision log again and compare them."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from functools import partial
from io import BufferedReader, BytesIO
from pathlib import Path
from typing import Any, Final

from grove_core.compare import compare_forecasts
from grove_core.kernel.refs import Ref
from grove_core.kernel.time_formats import format_time
from grove_core.plan.forecast import one_round_forecast
from grove_core.reconcile import reconcile
from grove_core.rule_sets.rule_set_by_name import rule_set
from grove_shell.actions.compare import rule_set_comparison_as_json
from grove_shell.actions.html_files import save_report
from grove_shell.actions.rule_set_choice import rule_set_by_name
from grove_shell.exit_codes import CHANGES, DONE, FAIL_ON, CommandFailed
from grove_shell.reading.gzip_stream import UnreadableGzip, unpacked_lines
from grove_shell.reading.input_faults import InputFault
from grove_shell.reading.input_sources import STDIN, input_name, standard_input_bytes
from grove_shell.replay.decision_log_format import canonical_json, equals_recorded_plan, plan_as_decision_log_json
from grove_shell.replay.decision_log_reader import DamagedDecisionLog, RecordedDecision, recorded_decisions
from grove_shell.views.formatting import NOTHING_REPLAYED, input_problems_page
from grove_shell.views.progress_bars import progress_bar
from grove_shell.views.renderers import RENDERERS
from grove_shell.views.replay_page import (
    DecisionDifferingFromLog,
    ReplayReport,
    RuleSetTerminationDifference,
    replay_page,
)

_LONGEST_LINE: Final = 256 * 1024 * 1024
"""Bytes; a longer line is cut and refused, so that memory is bounded also for gzip data."""


def replay_decision_log(
    log: str, rules: str | None, output: str, *, detailed_exitcode: bool, verbose: bool, html: str | None = None
) -> int:
    """Replay and print; returns the exit code (CL-001). Nothing is decided of a log that is not whole (RP-004).

    Args:
        log: a file; ``-`` for stdin.
        rules: a rule set to compare with the one of the log; None for none.
        output: a key of ``RENDERERS``.
        detailed_exitcode: whether other terminations under ``rules`` have an exit code of their own.
        verbose: whether the page lists every difference.
        html: the file to save the page to; None for none.

    Raises:
        CommandFailed: The log cannot be read, or is damaged.
    """
    name = input_name(log)
    try:
        read = _reader(log)
        count = sum(1 for _ in recorded_decisions(read()))
        with progress_bar(count, "decisions") as advance:
            replayed = _replayed(recorded_decisions(read()), rules, advance)
    except OSError as fault:
        raise CommandFailed(f"{name}: {fault.strerror}") from fault
    except DamagedDecisionLog as flaw:
        problem = InputFault(file=name, line=flaw.line or None, expected=flaw.expected, got=flaw.got)
        raise CommandFailed(input_problems_page((problem,), NOTHING_REPLAYED)) from flaw
    page = partial(replay_page, replayed, full=verbose)
    RENDERERS[output].print_result(page=page, document=lambda: _as_json(replayed))
    save_report(html, "replay", page)
    if replayed.changed or not replayed.decisions:
        return FAIL_ON
    return CHANGES if detailed_exitcode and replayed.rule_differences else DONE


def _reader(path: str) -> Callable[[], Iterable[bytes]]:
    """The lines of a log, as often as they are asked for; a pipe gives them once, so its bytes are kept (IN-026)."""
    if path != STDIN and Path(path).is_file():
        return lambda: _lines_of(lambda: Path(path).open("rb"))
    kept = standard_input_bytes().read() if path == STDIN else Path(path).read_bytes()
    return lambda: _lines_of(lambda: BufferedReader(BytesIO(kept)))


def _lines_of(opened: Callable[[], BufferedReader]) -> Iterator[bytes]:
    """Yield the lines of a log, unpacked if it is gzip data (IN-084). Raises DamagedDecisionLog, OSError."""
    number = 0
    with opened() as file:
        try:
            for number, line in enumerate(unpacked_lines(file, _LONGEST_LINE), start=1):  # noqa: B007 - also read below
                yield line
        except UnreadableGzip as error:
            raise DamagedDecisionLog(number + 1, "a log that can be read", str(error.strerror)) from error


def _replayed(
    decisions: Iterable[RecordedDecision], other_rules: str | None, advance: Callable[[], None]
) -> ReplayReport:
    """Make every decision again by the rules of the log, and by others where they are given (RP-001, RP-005)."""
    compared = rule_set_by_name(other_rules) if other_rules is not None else None
    count, roots, moments = 0, set[Ref](), list[datetime]()
    differing: list[DecisionDifferingFromLog] = []
    with_other_terminations: list[RuleSetTerminationDifference] = []
    versions: dict[str, None] = {}
    rules: dict[str, None] = {}
    for decision in decisions:
        now, own = decision.snapshot.now, rule_set(decision.rules)
        plan = reconcile(decision.snapshot, own)
        if not equals_recorded_plan(decision.plan, plan, now):
            differences = tuple(_where(decision.plan, plan_as_decision_log_json(plan, now)))
            differing.append(DecisionDifferingFromLog(decision.line, decision.name, now, differences))
        if compared is not None:
            forecast = one_round_forecast(reconcile(decision.snapshot, compared), now)
            found = compare_forecasts(one_round_forecast(plan, now), forecast)
            if not found.has_same_terminations:
                with_other_terminations.append(
                    RuleSetTerminationDifference(decision.line, decision.name, decision.rules, now, found)
                )
        count += 1
        roots.add(decision.snapshot.root.ref)
        moments = [min((now, *moments)), max((now, *moments))]
        versions[decision.head.core_version] = None
        rules[decision.rules] = None
        advance()
    return ReplayReport(
        decisions=count,
        sets=len(roots),
        first=moments[0] if moments else None,
        last=moments[-1] if moments else None,
        versions=tuple(versions),
        rules=tuple(rules),
        other_rules=other_rules,
        changed=tuple(differing),
        rule_differences=tuple(with_other_terminations),
    )


def _where(recorded: Mapping[str, Any], again: Mapping[str, Any]) -> Iterator[str]:
    """Yield in words how two plans of one decision differ: steps by their targets, else the field."""
    for name in ("steps", "withheld"):
        first, second = ({canonical_json(one): one for one in plan[name]} for plan in (recorded, again))
        for said, found in (("the log has", first), ("now there is", second)):
            other = second if found is first else first
            for text, one in found.items():
                if text not in other:
                    target, action = one["target"], one.get("action", "nothing")
                    yield f"{said}: {action} {target['kind']} {target['name']}"
    for name in ("wakeAt", "at", "round", "verdicts"):
        if recorded.get(name) != again.get(name):
            yield f"{name}: {recorded.get(name)} in the log, {again.get(name)} now"


def _as_json(report: ReplayReport) -> dict[str, Any]:
    return {
        "looks": report.decisions,
        "sets": report.sets,
        "first": format_time(report.first) if report.first else None,
        "last": format_time(report.last) if report.last else None,
        "coreVersions": list(report.versions),
        "rules": list(report.rules),
        "asRecorded": report.decisions - len(report.changed),
        "otherwise": [
            {"line": one.line, "look": one.name, "at": format_time(one.at), "differences": list(one.differences)}
            for one in report.changed
        ],
        "otherRules": report.other_rules,
        "parted": [
            {
                "line": one.line,
                "look": one.name,
                "at": format_time(one.at),
                **rule_set_comparison_as_json(one.comparison),
            }
            for one in report.rule_differences
        ],
    }
