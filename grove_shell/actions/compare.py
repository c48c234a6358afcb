"""``grove compare``: the same cluster by two rule sets, and where they part."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from grove_core.compare import Comparison, Termination, compare
from grove_core.document.writing import reason_as_json, ref_as_json, rules_source_as_json
from grove_core.kernel.times import format_time
from grove_shell.actions.choosing import missing
from grove_shell.actions.further import with_further_findings
from grove_shell.actions.nothing_judged import nothing_judged
from grove_shell.actions.plan import gap_names, moment_after
from grove_shell.actions.rule_choice import AUTO, chosen_rules
from grove_shell.actions.situation import Situation, asked
from grove_shell.actions.source import Source
from grove_shell.controller.rounds import forecasts
from grove_shell.exits import CHANGES, DONE, ERROR, FAIL_ON, USAGE
from grove_shell.page import complain, show, warn, write
from grove_shell.views.compare_page import Compared, compare_page
from grove_shell.views.structured import as_text
from grove_shell.views.words import failed_on


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


def compared(source: Source, options: CompareOptions) -> int:
    """Compare and print; returns the exit code (CL-001)."""
    situation = asked(source)
    if situation is None:
        return ERROR
    snapshots = tuple(situation.snapshots(source.namespace, options.sets))
    if lacking := missing(situation.loaded.cluster, options.sets, source.namespace):
        complain(f"not in the input: {lacking}")
        return FAIL_ON if options.fail_on and not options.sets else USAGE
    until = moment_after(situation.now, options.until)
    loaded = situation.loaded
    chosen = [chosen_rules(name, None, loaded.cluster, loaded.newer) for name in options.rules]
    names = chosen[0][0].name, chosen[1][0].name
    if AUTO in options.rules and names[0] == names[1] and snapshots:
        complain(f"both sides are '{names[0]}': {chosen[0][1].because}; say --rules twice")
        return USAGE
    told = [
        [
            replace(forecast, findings=with_further_findings(forecast.findings, snapshot, {}, shown))
            for forecast, snapshot in zip(forecasts(snapshots, rules, limit=None, until=until), snapshots, strict=True)
        ]
        for rules, _, shown in chosen
    ]
    found = tuple(compare(before, after) for before, after in zip(*told, strict=True))
    nothing = nothing_judged(situation.loaded, told[0])
    about = Compared(
        rules=names,
        rules_from=(chosen[0][1], chosen[1][1]),
        nothing=nothing,
        as_of=situation.now,
        until=until,
        not_collected=gap_names(situation.loaded.cluster.gaps),
        comparisons=found,
    )
    warn(situation.loaded.passed_by)
    if options.output == "human":
        show(compare_page(about, full=options.verbose))
    else:
        write(as_text(_as_json(about), options.output))
    if nothing and not situation.faults:
        if options.output != "human":
            complain(nothing)
        return FAIL_ON
    return _exit_code(situation, options, found)


def _exit_code(situation: Situation, options: CompareOptions, found: Sequence[Comparison]) -> int:
    changes = {difference.change.value.lower() for one in found for difference in one.differences}
    if situation.faults:
        return ERROR
    unknown = {"unknown"} if any(one.unknown for one in found) else set()
    asked = set(options.fail_on)
    if "unknown" in asked and any(one.unpredicted for one in found):
        unknown = {"unknown"}
    if options.fail_on and (met := changes & asked | unknown):
        complain(failed_on(met))
        return FAIL_ON
    changes |= unknown
    return CHANGES if options.detailed_exitcode and changes else DONE


def _as_json(about: Compared) -> dict[str, Any]:
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
