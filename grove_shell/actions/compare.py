"""``grove compare``: decides about one cluster under two rule sets and prints where they differ."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from itertools import starmap
from typing import TYPE_CHECKING, Any

from grove_core.areas.workload.field.upgrade_restart import (
    UpgradeRestart,
    pods_restarted_by_upgrade,
    snapshot_after_upgrade,
)
from grove_core.compare import FirstTermination, RuleSetComparison, compare_forecasts
from grove_core.document.document_writing import rule_set_source_as_json
from grove_core.document.plan_document import PlanDocument
from grove_core.document.step_writing import reason_as_json, ref_as_json
from grove_core.in_memory.forecasts import forecasts_of_snapshots
from grove_core.kernel.steps import DeletionImpact
from grove_core.kernel.time_formats import format_time
from grove_core.plan.update_forecast import may_change_more
from grove_core.resources.edited_manifest_fields import ManifestChange
from grove_core.resources.podcliqueset_spec import ON_DELETE, ROLLING_RECREATE
from grove_shell.actions.command_input import CommandInput, InputSource, read_input_and_print_problems
from grove_shell.actions.findings_besides_plan import forecasts_with_input_findings, nothing_decided_message
from grove_shell.actions.html_files import save_report
from grove_shell.actions.manifest_findings import (
    edited_objects,
    redacted_manifest_fields,
    uncollected_kind_names,
    unselected_sets_with_manifests,
)
from grove_shell.actions.planned_input import time_after
from grove_shell.actions.rule_set_choice import AUTO, GivenRules, choose_rule_set
from grove_shell.actions.selected_sets import selected_sets_not_found
from grove_shell.exit_codes import CHANGES, DONE, ERROR, FAIL_ON, USAGE
from grove_shell.reading.input_nodes import InputNodes
from grove_shell.styled_text_page import print_error, print_warnings
from grove_shell.views.compare.compare_page import RuleSetComparisonReport, rule_set_comparison_page
from grove_shell.views.formatting import failed_check_message
from grove_shell.views.renderers import RENDERERS

if TYPE_CHECKING:
    from grove_shell.html.report_trees import PlansOfResult


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareOptions:
    """Options of ``grove compare`` besides the source; see its ``--help``."""

    rules: tuple[GivenRules, GivenRules]
    sets: tuple[str, ...] = ()
    until: timedelta | None = None
    output: str = "human"
    detailed_exitcode: bool = False
    fail_on: tuple[str, ...] = ()
    verbose: bool = False
    html: str | None = None
    picture: str | None = None


def compare_rule_sets(source: InputSource, options: CompareOptions) -> int:
    """Compare and print. Returns the exit code (CL-001)."""
    if options.picture is not None:
        from grove_shell.actions.picture_files import require_matplotlib  # noqa: PLC0415 - few want a picture (P11)

        require_matplotlib()
    inputs = read_input_and_print_problems(source, options.rules[0])
    if lacking := selected_sets_not_found(inputs.loaded.cluster, options.sets, source.namespace):
        print_error(f"not in the input: {lacking}")
        return FAIL_ON if options.fail_on and not options.sets else USAGE
    report = compare_input(inputs, source, options)
    if AUTO in options.rules and report.rules[0] == report.rules[1] and report.comparisons:
        shown = report.rules_from[options.rules.index(AUTO)]
        print_error(f"both sides are '{report.rules[0]}': {shown.because}; give --rules twice")
        return USAGE
    print_warnings(inputs.loaded.foreign_objects)
    renderer = RENDERERS[options.output]
    page = partial(rule_set_comparison_page, report, full=options.verbose)
    renderer.print_result(
        page=page,
        document=lambda: comparison_as_json(report),
        markdown=lambda: _markdown(report, full=options.verbose),
    )
    save_report(options.html, "compare", page, plans=lambda: _plans_of(report))
    if options.picture is not None:
        from grove_shell.actions.picture_files import draw_comparison  # noqa: PLC0415 - few want a picture (P11)

        draw_comparison(options.picture, report)
    if report.nothing_judged and not inputs.problems:
        if not renderer.shows_page:
            print_error(report.nothing_judged)
        return FAIL_ON
    return _exit_code(inputs, options, report)


def _plans_of(report: RuleSetComparisonReport) -> "PlansOfResult":
    """Return the plans by both rule sets, for the terminations ahead and the trees of the sets (HP-020)."""
    from grove_shell.html.report_trees import PlansOfResult  # noqa: PLC0415 - few results are saved as a page

    documents = tuple(
        PlanDocument(rules=rules, as_of=report.as_of, not_collected=(), forecasts=tuple(forecasts))
        for rules, forecasts in zip(report.rules, report.forecasts, strict=True)
    )
    return PlansOfResult(documents=documents, snapshots=report.snapshots, until=report.until)


def _markdown(report: RuleSetComparisonReport, *, full: bool) -> str:
    from grove_shell.views.compare.compare_markdown import compare_markdown  # noqa: PLC0415 - few results are Markdown (P11)

    return compare_markdown(report, full=full)


def compare_input(inputs: CommandInput, source: InputSource, options: CompareOptions) -> RuleSetComparisonReport:
    """Return the comparison of two rule sets for an input that was read."""
    snapshots = tuple(inputs.snapshots_of_selected_sets(source.namespace, options.sets))
    until = time_after(inputs.now, options.until)
    loaded = inputs.loaded
    choices = [choose_rule_set(name, None, loaded.cluster, loaded.newer) for name in options.rules]
    names = choices[0][0].name, choices[1][0].name
    restarts = [pods_restarted_by_upgrade(one, choices[0][0].hash_form, choices[1][0].hash_form) for one in snapshots]
    upgraded = tuple(
        snapshot_after_upgrade(one) if restart is not None else one
        for one, restart in zip(snapshots, restarts, strict=True)
    )
    forecasts_by_rules = [
        forecasts_with_input_findings(
            planned,
            forecasts_of_snapshots(planned, rules, limit=None, until=until, nodes=loaded.nodes.readiness),
            InputNodes(),
            rules,
            shown,
        )
        for planned, (rules, _, shown) in zip((snapshots, upgraded), choices, strict=True)
    ]
    return RuleSetComparisonReport(
        rules=names,
        rules_from=(choices[0][1], choices[1][1]),
        nothing_judged=nothing_decided_message(inputs.loaded, forecasts_by_rules[0]),
        as_of=inputs.now,
        as_of_from=inputs.time.source,
        until=until,
        not_collected=uncollected_kind_names(inputs.loaded.cluster.gaps),
        comparisons=tuple(starmap(compare_forecasts, zip(*forecasts_by_rules, restarts, strict=True))),
        forecasts=(forecasts_by_rules[0], forecasts_by_rules[1]),
        snapshots=snapshots,
        edited=edited_objects(loaded, snapshots),
        not_planned=unselected_sets_with_manifests(loaded, snapshots),
        hidden=redacted_manifest_fields(loaded, snapshots),
    )


def _exit_code(inputs: CommandInput, options: CompareOptions, report: RuleSetComparisonReport) -> int:
    found = report.comparisons
    changes = {difference.change.value.lower() for one in found for difference in one.differences}
    if any(one.restart is not None and one.restart.may_restart_pods for one in found):
        changes.add("restart")
    if inputs.problems:
        return ERROR
    is_open = bool(report.not_planned) or any(map(may_change_more, report.hidden.values()))
    unknown = {"unknown"} if is_open or any(one.unknown for one in found) else set()
    fail_on = set(options.fail_on)
    if "unknown" in fail_on and (report.hidden or any(one.unpredicted for one in found)):
        unknown = {"unknown"}
    if options.fail_on and (met := changes & fail_on | unknown):
        print_error(failed_check_message(met))
        return FAIL_ON
    changes |= unknown
    return CHANGES if options.detailed_exitcode and changes else DONE


def comparison_as_json(report: RuleSetComparisonReport) -> dict[str, Any]:
    """Return the comparison as JSON."""
    return {
        "rules": list(report.rules),
        "rulesFrom": [rule_set_source_as_json(source) for source in report.rules_from],
        "asOf": format_time(report.as_of),
        **({"asOfFrom": report.as_of_from} if report.as_of_from else {}),
        "until": format_time(report.until) if report.until is not None else None,
        "notCollected": list(report.not_collected),
        **({"edited": list(report.edited)} if report.edited else {}),
        **({"notPlanned": list(report.not_planned)} if report.not_planned else {}),
        "sets": [
            {
                "root": ref_as_json(one.root),
                "restart": _restart_as_json(one.restart),
                **_hidden_as_json(report.hidden.get(f"{one.root.namespace}/{one.root.name}", ())),
                **rule_set_comparison_as_json(one),
            }
            for one in report.comparisons
        ],
    }


def _hidden_as_json(fields: Sequence[ManifestChange]) -> dict[str, Any]:
    """Return the paths of the fields of a set that a capture redacted (ED-015); empty where there is none."""
    return {"notCompared": [one.path for one in fields]} if fields else {}


def _restart_as_json(restart: UpgradeRestart | None) -> dict[str, Any] | None:
    if restart is None:
        return None
    return {
        "strategy": ON_DELETE if restart.on_delete else ROLLING_RECREATE,
        "takes": _impact_as_json(restart.takes),
        "atOnceInTurn": restart.at_once,
        "replicas": restart.replicas,
        "groups": list(restart.groups),
    }


def _impact_as_json(takes: DeletionImpact | None) -> dict[str, int] | None:
    return {"pods": takes.pods, "ready": takes.ready, "gpus": takes.gpus} if takes is not None else None


def rule_set_comparison_as_json(one: RuleSetComparison) -> dict[str, Any]:
    """Return the differences of two rule sets about one PodCliqueSet as JSON."""
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


def _end_as_json(end: FirstTermination | None) -> dict[str, Any] | None:
    if end is None:
        return None
    return {
        "subject": ref_as_json(end.subject),
        "at": format_time(end.at),
        "deletes": [ref.name for ref in end.cliques],
        "takes": _impact_as_json(end.takes),
        "times": end.times,
        "because": [reason_as_json(reason) for reason in end.because],
    }
