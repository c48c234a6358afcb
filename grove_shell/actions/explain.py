"""``grove explain``: prints every verdict, step and reason that concerns one object."""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from grove_core.areas.topology.pod_placement import ConstraintPlacement, pod_placements_by_constraint
from grove_core.areas.workload.findings import failed_write_findings
from grove_core.document.document_writing import rule_set_source_as_json
from grove_core.in_memory.forecasts import snapshot_with_set_as_stored
from grove_core.in_memory.planned_objects import (
    SetAfterRounds,
    creation_reasons,
    may_create_object_named,
    played_rounds_of_set,
)
from grove_core.kernel.reasons import Reason
from grove_core.kernel.refs import Ref
from grove_core.kernel.structs import replace
from grove_core.kernel.time_formats import format_time
from grove_core.object_explanation import ObjectExplanation
from grove_core.object_lookup import KINDS_WITHOUT_PODS, snapshot_has_object
from grove_core.operator_recognition import RecognisedOperator
from grove_core.plan.plan import Plan
from grove_core.reconcile import reconcile
from grove_core.resources.api_names import SET_KIND
from grove_core.resources.cluster_topology import TOPOLOGY_KINDS
from grove_core.rule_sets.rule_set import RuleSet
from grove_core.snapshot.snapshot import EVERY_KIND, Snapshot
from grove_shell.actions.command_input import CommandInput, InputSource, read_input_and_print_problems
from grove_shell.actions.findings_besides_plan import with_input_findings
from grove_shell.actions.html_files import save_report
from grove_shell.actions.manifest_findings import edited_objects, redacted_manifest_fields
from grove_shell.actions.planned_input import PlanOptions, forecasts_of_sets, plan_input
from grove_shell.actions.rule_set_choice import GivenRules, choose_rule_set, operator_rule_set_note
from grove_shell.actions.selected_sets import known_names_hint
from grove_shell.client.api_kinds import KINDS
from grove_shell.client.kind_names import kind_named, shortest_name_of
from grove_shell.exit_codes import DONE, ERROR, USAGE
from grove_shell.styled_text_page import print_error, print_warnings
from grove_shell.views.explain.explain_page import ExplainHeader, explain_page
from grove_shell.views.explain.explained_object import ExplainedObject, explanation_as_json
from grove_shell.views.renderers import RENDERERS

if TYPE_CHECKING:
    from grove_shell.html.report_trees import PlansOfResult

EXPLAINED_KINDS: Final = tuple(kind for kind in KINDS if kind == SET_KIND or kind in EVERY_KIND)
"""A set, and the kinds that a plan for it creates (CL-073)."""
_FEW: Final = 10
"""As many sets are planned for the names of objects that do not exist yet."""
_PLACED_KINDS: Final = frozenset({"Pod", "PodClique", "PodGang"})


class Explained(NamedTuple):
    """What explains one object.

    Attributes:
        objects: those of its name, each with its verdicts; empty where there is none.
        hint: which names there are, where there is none.
    """

    objects: tuple[ExplainedObject, ...]
    header: ExplainHeader
    hint: str = ""


def explain_input(
    inputs: CommandInput,
    kind: str,
    name: str,
    namespace: str | None,
    rules: GivenRules | None,
    sets: tuple[str, ...] = (),
) -> Explained:
    """Return what explains one object of an input that was read.

    Args:
        sets: the sets that may have it, as ``selected_sets`` takes them; empty for all.
    """
    rule_set, rules_from, recognition = choose_rule_set(rules, inputs.rules, inputs.loaded.cluster, inputs.loaded.newer)
    found = inputs.snapshots_of_selected_sets(namespace, sets)
    snapshots = tuple(snapshot_with_set_as_stored(one, rule_set) for one in found)
    plans = _Plans(inputs, rule_set, recognition)
    objects = (
        plans.existing_objects(snapshots, kind, name)
        or plans.created_objects(snapshots, kind, name)
        or plans.withheld_objects(snapshots, kind, name)
        or plans.uncollected_objects(snapshots, kind, name)
    )
    other = operator_rule_set_note(recognition, rule_set.name)
    shown = [one.inquiry.snapshot for one in objects]
    edited, hidden = edited_objects(inputs.loaded, shown), redacted_manifest_fields(inputs.loaded, shown)
    header = ExplainHeader(inputs.now, rule_set.name, rules_from, other, inputs.time.source, edited, hidden)
    return Explained(tuple(objects), header, "" if objects else plans.hint(snapshots, kind, name))


def object_explanation_as_json(explained: Explained, *, only_guards: bool = False) -> dict[str, Any]:
    """Return what explains one object as JSON."""
    header = explained.header
    hidden = header.hidden.items()
    return {
        "rules": header.rules,
        "rulesFrom": rule_set_source_as_json(header.source),
        "asOf": format_time(header.now),
        **({"asOfFrom": header.time_from} if header.time_from else {}),
        **({"edited": list(header.edited)} if header.edited else {}),
        **({"notCompared": {name: [one.path for one in fields] for name, fields in hidden}} if hidden else {}),
        "answers": [explanation_as_json(one, only_guards=only_guards) for one in explained.objects],
    }


def explain_object(
    source: InputSource, target: str, *, output: str, rules: str | None, why_not: str | None, html: str | None = None
) -> int:
    """Explain and print. Returns the exit code (CL-001).

    Args:
        why_not: ``terminate`` to show only why nothing is terminated; None for everything.
        html: the HTML file to save the page in too; None for none.
    """
    kind, name = kind_and_name_of_target(target)
    if not kind:
        print_error(name)
        return USAGE
    inputs = read_input_and_print_problems(source, rules)
    explained = explain_input(inputs, kind, name, source.namespace, rules)
    print_warnings(inputs.loaded.foreign_objects)
    if not explained.objects:
        print_error(f"not in the input, or of no PodCliqueSet in it: {kind} {name}{explained.hint}")
        return USAGE
    only_guards = why_not is not None
    page = partial(explain_page, explained.objects, explained.header, only_guards=only_guards)
    RENDERERS[output].print_result(
        page=page, document=lambda: object_explanation_as_json(explained, only_guards=only_guards)
    )
    plans = partial(_plans_of, explained.objects, inputs, source, rules)
    save_report(html, "explain", page, f"{kind} {name}", plans=plans)
    return ERROR if inputs.problems else DONE


def _plans_of(
    objects: Sequence[ExplainedObject], inputs: CommandInput, source: InputSource, rules: str | None
) -> "PlansOfResult":
    """Return the plan of the sets of some objects, for their trees (HP-020)."""
    from grove_shell.html.report_trees import PlansOfResult  # noqa: PLC0415 - few results are saved as a page

    roots = dict.fromkeys(one.inquiry.snapshot.root.ref for one in objects)
    plan = plan_input(
        inputs, source, PlanOptions(sets=tuple(f"{root.namespace}/{root.name}" for root in roots), rules=rules)
    )
    marked = objects[0].inquiry.ref if len(objects) == 1 else None
    return PlansOfResult(documents=(plan.document,), snapshots=plan.snapshots, marked=marked)


def kind_and_name_of_target(target: str) -> tuple[str, str]:
    """Return the kind and name that KIND/NAME says; an empty kind and what is wrong where it says none (CL-073)."""
    word, slash, name = target.partition("/")
    kind = kind_named(word)
    if kind in EXPLAINED_KINDS and slash and name:
        return kind, name
    known = ", ".join(shortest_name_of(one) for one in EXPLAINED_KINDS)
    topologies = "; for topologies there is grove topology list" if kind in TOPOLOGY_KINDS else ""
    return "", f"{target} is not KIND/NAME with KIND one of {known}{topologies}"


class _Plans:
    """The plans of one command, and the objects that they explain."""

    def __init__(self, inputs: CommandInput, rules: RuleSet, shown: RecognisedOperator | None) -> None:
        self._inputs, self._rules, self._shown = inputs, rules, shown
        self._nodes, self._failed = inputs.loaded.nodes, inputs.loaded.failed_writes
        self._played: dict[Ref, SetAfterRounds] = {}

    def existing_objects(self, snapshots: Iterable[Snapshot], kind: str, name: str) -> list[ExplainedObject]:
        """Return the objects of that name that exist."""
        having = (self._explanation(one, kind, name) for one in snapshots if snapshot_has_object(one, kind, name))
        return [self._explained(inquiry) for inquiry in having]

    def withheld_objects(self, snapshots: Iterable[Snapshot], kind: str, name: str) -> list[ExplainedObject]:
        """Return the objects of that name about which a step is withheld."""
        plans = ((one, ObjectExplanation(one, reconcile(one, self._rules), kind, name)) for one in snapshots)
        having = (one for one, found in plans if any(held.target == found.ref for held in found.withheld_steps()))
        return [self._explained(self._explanation(one, kind, name)) for one in having]

    def _explained(self, inquiry: ObjectExplanation) -> ExplainedObject:
        return ExplainedObject(inquiry, self._placements_of(inquiry), creation=self._creation_of(inquiry))

    def _creation_of(self, inquiry: ObjectExplanation) -> tuple[Reason, ...]:
        """Return why an object without pods is there (CL-074)."""
        if inquiry.kind not in KINDS_WITHOUT_PODS:
            return ()
        return creation_reasons(inquiry.snapshot, self._rules, inquiry.kind, inquiry.name)

    def uncollected_objects(self, snapshots: Sequence[Snapshot], kind: str, name: str) -> list[ExplainedObject]:
        """Return the objects of a kind that the input has not whole and that a set creates if they are missing."""
        found = []
        for snapshot in snapshots:
            may_be_there = kind in KINDS_WITHOUT_PODS - snapshot.complete and may_create_object_named(snapshot, name)
            if may_be_there and (because := creation_reasons(snapshot, self._rules, kind, name)):
                inquiry = self._explanation(snapshot, kind, name)
                found.append(ExplainedObject(inquiry, creation=because, is_in_input=False))
        return found

    def _explanation(self, snapshot: Snapshot, kind: str, name: str) -> ObjectExplanation:
        (forecast,) = forecasts_of_sets(self._inputs, (snapshot,), self._rules, self._shown)
        first = forecast.rounds[0]
        plan = Plan(
            root=forecast.root,
            root_uid=forecast.root_uid,
            rules=self._rules.name,
            steps=first.steps,
            withheld=first.withheld,
            wake_at=first.wake_at,
            findings=forecast.findings,
        )
        return ObjectExplanation(snapshot, plan, kind, name, forecast)

    def created_objects(self, snapshots: Sequence[Snapshot], kind: str, name: str) -> list[ExplainedObject]:
        """Return the objects of that name that do not exist yet and that a plan creates (CL-080)."""
        found = []
        for snapshot in snapshots:
            if may_create_object_named(snapshot, name):
                played = self._played_rounds(snapshot)
                made = played.name_of_created_object(kind, name)
                if made:
                    plan = self._with_findings(played.plan, played.snapshot)
                    steps = [step for one in played.rounds for step in one.steps]
                    failed = failed_write_findings(snapshot, self._failed, steps)
                    plan = replace(plan, findings=(*plan.findings, *failed))
                    inquiry = ObjectExplanation(played.snapshot, plan, kind, made)
                    found.append(ExplainedObject(inquiry, course=played.steps_for_object(kind, made)))
        return found

    def _placements_of(self, inquiry: ObjectExplanation) -> tuple[ConstraintPlacement, ...]:
        """Return where the pods of a pod, PodClique or PodGang stand; larger objects show only what is broken."""
        if inquiry.kind not in _PLACED_KINDS:
            return ()
        names = {clique.ref.name for clique in inquiry.cliques}
        return tuple(
            one
            for one in pod_placements_by_constraint(inquiry.snapshot, self._nodes.labels)
            if names & {*one.cliques} and (inquiry.kind != "PodGang" or one.gang.name == inquiry.name)
        )

    def hint(self, snapshots: Sequence[Snapshot], kind: str, name: str) -> str:
        """Return the names of the kind that there are, and a similar one, for one that is not there (CL-009)."""
        if "/" in name:
            return "; the namespace goes in -n"
        names = {one for snapshot in snapshots for one in _names(snapshot, kind)}
        for snapshot in snapshots[:_FEW] if not names else ():
            self._played_rounds(snapshot)
        for played in self._played.values():
            names.update(played.names_of_created_objects(kind))
        return known_names_hint(name, names)

    def _played_rounds(self, snapshot: Snapshot) -> SetAfterRounds:
        ref = snapshot.root.ref
        if ref not in self._played:
            self._played[ref] = played_rounds_of_set(snapshot, self._rules)
        return self._played[ref]

    def _with_findings(self, plan: Plan, snapshot: Snapshot) -> Plan:
        found = with_input_findings(plan.findings, snapshot, self._nodes, self._rules, self._shown)
        return replace(plan, findings=found)


def _names(snapshot: Snapshot, kind: str) -> Iterable[str]:
    if kind == "Pod":
        return (pod.name for _, pod in snapshot.pods())
    every = (snapshot.root, *snapshot.groups, *snapshot.cliques, *snapshot.gangs, *snapshot.others, *snapshot.domains)
    return (one.ref.name for one in every if one.ref.kind == kind)
