"""``grove compare``: the same cluster by two rule sets, and where they part."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from grove_core.compare import Comparison, Termination, compare
from grove_core.document.writing import reason_as_json, ref_as_json, rules_source_as_json
from grove_core.kernel.times import format_time
from grove_shell.actions.command_input import CommandInput, read_input_or_report
from grove_shell.actions.empty_input import nothing_judged_message
from grove_shell.actions.input_findings import with_input_findings
from grove_shell.actions.plan import gap_names, time_after
from grove_shell.actions.rule_set_choice import AUTO, choose_rule_set
from grove_shell.actions.set_selection import missing_sets
from grove_shell.actions.source import Source
from grove_shell.controller.forecasting import forecasts
from grove_shell.exits import CHANGES, DONE, ERROR, FAIL_ON, USAGE
from grove_shell.page import print_error, print_warnings
from grove_shell.views.compare_page import ComparisonReport, compare_page
from grove_shell.views.formatting import fail_on_message
from grove_shell.views.renderers import RENDERERS


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareOptions:
    """What the user asked for besides the source; see ``grove compare --help``."""

    rules: tuple[str, str]
    sets: tuple[str, ...] = ()
    until: timedelta | None = None
    output: str = "human"
    detailed_exitcode: bool = False
    fail_on: tuple[str, ...] = ()
    verbose: bool = False


def compare_rule_sets(source: Source, options: CompareOptions) -> int:
    """Compare and print; returns the exit code (CL-001)."""
    inputs = read_input_or_report(source)
    if inputs is None:
        return ERROR
    snapshots = tuple(inputs.snapshots(source.namespace, options.sets))
    if lacking := missing_sets(inputs.loaded.cluster, options.sets, source.namespace):
        print_error(f"not in the input: {lacking}")
        return FAIL_ON if options.fail_on and not options.sets else USAGE
    until = time_after(inputs.now, options.until)
    loaded = inputs.loaded
    chosen = [choose_rule_set(name, None, loaded.cluster, loaded.newer) for name in options.rules]
    names = chosen[0][0].name, chosen[1][0].name
    if AUTO in options.rules and names[0] == names[1] and snapshots:
        print_error(f"both sides are '{names[0]}': {chosen[0][1].because}; say --rules twice")
        return USAGE
    told = [
        [
            replace(forecast, findings=with_input_findings(forecast.findings, snapshot, {}, shown))
            for forecast, snapshot in zip(forecasts(snapshots, rules, limit=None, until=until), snapshots, strict=True)
        ]
        for rules, _, shown in chosen
    ]
    found = tuple(compare(before, after) for before, after in zip(*told, strict=True))
    nothing = nothing_judged_message(inputs.loaded, told[0])
    about = ComparisonReport(
        rules=names,
        rules_from=(chosen[0][1], chosen[1][1]),
        nothing_judged=nothing,
        as_of=inputs.now,
        until=until,
        not_collected=gap_names(inputs.loaded.cluster.gaps),
        comparisons=found,
    )
    print_warnings(inputs.loaded.passed_by)
    renderer = RENDERERS[options.output]
    renderer.show(page=lambda: compare_page(about, full=options.verbose), document=lambda: _as_json(about))
    if nothing and not inputs.faults:
        if not renderer.shows_page:
            print_error(nothing)
        return FAIL_ON
    return _exit_code(inputs, options, found)


def _exit_code(inputs: CommandInput, options: CompareOptions, found: Sequence[Comparison]) -> int:
    changes = {difference.change.value.lower() for one in found for difference in one.differences}
    if inputs.faults:
        return ERROR
    unknown = {"unknown"} if any(one.unknown for one in found) else set()
    fail_on = set(options.fail_on)
    if "unknown" in fail_on and any(one.unpredicted for one in found):
        unknown = {"unknown"}
    if options.fail_on and (met := changes & fail_on | unknown):
        print_error(fail_on_message(met))
        return FAIL_ON
    changes |= unknown
    return CHANGES if options.detailed_exitcode and changes else DONE


def _as_json(about: ComparisonReport) -> dict[str, Any]:
    return {
        "rules": list(about.rules),
        "rulesFrom": [rules_source_as_json(source) for source in about.rules_from],
        "asOf": format_time(about.as_of),
        "until": format_time(about.until) if about.until is not None else None,
        "notCollected": list(about.not_collected),
        "sets": [{"root": ref_as_json(one.root), **comparison_as_json(one)} for one in about.comparisons],
    }


def comparison_as_json(one: Comparison) -> dict[str, Any]:
    """What two rule sets make of one set, as JSON."""
    return {
        "differences": [
            {
                "change": difference.change.name.lower(),
                "cliques": [ref.name for ref in difference.cliques],
                "before": _end_as_json(difference.before),
                "after": _end_as_json(difference.after),
                "sparedBecause": [reason_as_json(reason) for reason in difference.spared_because],
            }
            for difference in one.differences
        ],
        "breaches": [
            {"subject": ref_as_json(subject), "before": before, "after": after}
            for subject, before, after in one.breaches
        ],
        "unknown": [reason_as_json(reason) for reason in one.unknown],
        "notPredicted": [reason_as_json(reason) for reason in one.unpredicted],
    }


def _end_as_json(end: Termination | None) -> dict[str, Any] | None:
    if end is None:
        return None
    takes = end.takes
    return {
        "subject": ref_as_json(end.subject),
        "at": format_time(end.at),
        "deletes": [ref.name for ref in end.cliques],
        "takes": {"pods": takes.pods, "ready": takes.ready, "gpus": takes.gpus} if takes is not None else None,
        "times": end.times,
        "because": [reason_as_json(reason) for reason in end.because],
    }
