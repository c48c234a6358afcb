"""``grove explain``: prints every verdict, step and reason that concerns one object."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from grove_core.document.document_writing import rule_set_source_as_json
from grove_core.kernel.time_formats import format_time
from grove_core.object_explanation import ObjectExplanation, root_has_object
from grove_core.operator_recognition import RecognisedOperator
from grove_core.plan.plan import Plan
from grove_core.reconcile import reconcile
from grove_core.resources.failed_write import FailedWrite
from grove_core.resources.naming_rules import most_similar_name
from grove_core.resources.owned_object import COMPOSITE_KIND, POD_GROUP_KIND
from grove_core.rule_sets.rule_set import RuleSet
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.actions.command_input import InputSource, choose_rule_set, read_input_and_print_problems
from grove_shell.actions.input_findings import InputNodes, nodes_in_input, with_input_findings
from grove_shell.actions.plan import operator_rule_set_note
from grove_shell.exit_codes import DONE, ERROR, USAGE
from grove_shell.in_memory.forecasts import snapshot_with_set_as_stored
from grove_shell.styled_text_page import print_error, print_warnings
from grove_shell.views.explain_page import ExplainHeader, explain_page, explanation_as_json
from grove_shell.views.renderers import RENDERERS

KINDS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("pcs", "podcliqueset", "podcliquesets"), "PodCliqueSet"),
    **dict.fromkeys(("pcsg", "podcliquescalinggroup", "podcliquescalinggroups"), "PodCliqueScalingGroup"),
    **dict.fromkeys(("pclq", "podclique", "podcliques"), "PodClique"),
    **dict.fromkeys(("pod", "pods", "po"), "Pod"),
    **dict.fromkeys(("pg", "podgang", "podgangs"), "PodGang"),
    **dict.fromkeys(("podgroup", "podgroups"), POD_GROUP_KIND),
    **dict.fromkeys(("compositepodgroup", "compositepodgroups"), COMPOSITE_KIND),
    **dict.fromkeys(("cd", "computedomain", "computedomains"), "ComputeDomain"),
}

_MOST_COMPARED: Final = 5_000


def explain_object(source: InputSource, target: str, *, output: str, rules: str | None, why_not: str | None) -> int:
    """Explain and print. Returns the exit code (CL-001).

    Args:
        why_not: ``terminate`` to show only why nothing is terminated; None for everything.
    """
    kind, slash, name = target.partition("/")
    if kind.lower() not in KINDS or not slash or not name:
        print_error(
            f"{target} is not KIND/NAME with KIND one of pcs, pcsg, pclq, pod, podgang, podgroup,"
            " compositepodgroup, computedomain"
        )
        return USAGE
    inputs = read_input_and_print_problems(source, rules)
    kind = KINDS[kind.lower()]
    rule_set, rules_from, recognition = choose_rule_set(rules, inputs.rules, inputs.loaded.cluster, inputs.loaded.newer)
    found = inputs.snapshots_of_selected_sets(source.namespace)
    snapshots = tuple(snapshot_with_set_as_stored(one, rule_set) for one in found)
    having = tuple(snapshot for snapshot in snapshots if root_has_object(snapshot, kind, name))
    nodes = nodes_in_input(inputs.loaded)
    every = (
        ObjectExplanation(
            snapshot, _planned(snapshot, rule_set, nodes, recognition, inputs.loaded.failed_writes), kind, name
        )
        for snapshot in having or snapshots
    )
    inquiries = [
        inquiry for inquiry in every if having or any(held.target == inquiry.ref for held in inquiry.withheld_steps())
    ]
    print_warnings(inputs.loaded.foreign_objects)
    if not inquiries:
        hint = _hint(name, [one for snapshot in snapshots for one in _names(snapshot, kind)])
        print_error(f"not in the input, or of no PodCliqueSet in it: {kind} {name}{hint}")
        return USAGE
    other = operator_rule_set_note(recognition, rule_set.name)
    header = ExplainHeader(inputs.now, rule_set.name, rules_from, other, inputs.time.source)
    only_guards = why_not is not None
    RENDERERS[output].print_result(
        page=lambda: explain_page(inquiries, header, only_guards=only_guards),
        document=lambda: {
            "rules": rule_set.name,
            "rulesFrom": rule_set_source_as_json(rules_from),
            "asOf": format_time(inputs.now),
            **({"asOfFrom": inputs.time.source} if inputs.time.source else {}),
            "answers": [explanation_as_json(inquiry, only_guards=only_guards) for inquiry in inquiries],
        },
    )
    return ERROR if inputs.problems else DONE


def _planned(
    snapshot: Snapshot,
    rule_set: RuleSet,
    nodes: InputNodes,
    shown: RecognisedOperator | None,
    failed: Sequence[FailedWrite],
) -> Plan:
    plan = reconcile(snapshot, rule_set)
    findings = with_input_findings(plan.findings, snapshot, nodes, rule_set, shown, failed=failed, steps=plan.steps)
    return replace(plan, findings=findings)


def _hint(name: str, known: Sequence[str]) -> str:
    """Return a hint at a similar name, for one that is not there (CL-009); empty where there is none."""
    if "/" in name:
        return "; the namespace goes in -n"
    meant = most_similar_name(name, known[:_MOST_COMPARED])
    return f"; did you mean {meant}?" if meant else ""


def _names(snapshot: Snapshot, kind: str) -> Iterable[str]:
    if kind == "Pod":
        return (pod.name for _, pod in snapshot.pods())
    every = (snapshot.root, *snapshot.groups, *snapshot.cliques, *snapshot.gangs, *snapshot.domains)
    return (one.ref.name for one in every if one.ref.kind == kind)
