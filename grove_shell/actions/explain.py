"""``grove explain``: prints every verdict, step and reason that concerns one object."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from grove_core.areas.topology.pod_placement import ConstraintPlacement, constraint_placements
from grove_core.document.document_writing import rule_set_source_as_json
from grove_core.kernel.refs import Ref
from grove_core.kernel.time_formats import format_time
from grove_core.object_explanation import ObjectExplanation, root_has_object
from grove_core.operator_recognition import RecognisedOperator
from grove_core.plan.plan import Plan
from grove_core.reconcile import reconcile
from grove_core.resources.failed_write import FailedWrite
from grove_core.resources.owned_object import COMPOSITE_KIND, POD_GROUP_KIND
from grove_core.rule_sets.rule_set import RuleSet
from grove_core.snapshot.snapshot import Snapshot
from grove_core.termination_hint_search.hints import termination_hints
from grove_shell.actions.command_input import CommandInput, InputSource, read_input_and_print_problems
from grove_shell.actions.input_findings import InputNodes, nodes_in_input, with_input_findings
from grove_shell.actions.plan import operator_rule_set_note
from grove_shell.actions.rule_set_choice import choose_rule_set
from grove_shell.actions.selected_sets import known_names_hint
from grove_shell.exit_codes import DONE, ERROR, USAGE
from grove_shell.in_memory.forecasts import snapshot_with_set_as_stored
from grove_shell.in_memory.planned_objects import PlayedRounds, may_create_object_named, played_rounds_of_set
from grove_shell.styled_text_page import print_error, print_warnings
from grove_shell.views.explain_page import ExplainedObject, ExplainHeader, explain_page, explanation_as_json
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

KIND_AND_NAME: Final = (
    "KIND/NAME with KIND one of pcs, pcsg, pclq, pod, podgang, podgroup, compositepodgroup, computedomain"
)
"""What names an object."""


class Explained(NamedTuple):
    """What explains one object.

    Attributes:
        objects: those of its name, each with its verdicts; empty where there is none.
        hint: which names there are, where there is none.
    """

    objects: tuple[ExplainedObject, ...]
    header: ExplainHeader
    hint: str = ""


def kind_and_name_of_target(target: str) -> tuple[str, str] | None:
    """Return kind and name of ``KIND/NAME``; None for anything else."""
    kind, slash, name = target.partition("/")
    known = KINDS.get(kind.lower())
    return (known, name) if known is not None and slash and name else None


def explain_input(inputs: CommandInput, kind: str, name: str, namespace: str | None, rules: str | None) -> Explained:
    """Return what explains one object of an input that was read."""
    rule_set, rules_from, recognition = choose_rule_set(rules, inputs.rules, inputs.loaded.cluster, inputs.loaded.newer)
    found = inputs.snapshots_of_selected_sets(namespace)
    snapshots = tuple(snapshot_with_set_as_stored(one, rule_set) for one in found)
    plans = _Plans(rule_set, nodes_in_input(inputs.loaded), recognition, inputs.loaded.failed_writes)
    objects = plans.existing_objects(snapshots, kind, name) or plans.created_objects(snapshots, kind, name)
    other = operator_rule_set_note(recognition, rule_set.name)
    header = ExplainHeader(inputs.now, rule_set.name, rules_from, other, inputs.time.source)
    return Explained(tuple(objects), header, "" if objects else plans.hint(snapshots, kind, name))


def explained_as_json(explained: Explained, *, only_guards: bool = False) -> dict[str, Any]:
    """Return what explains one object as JSON."""
    header = explained.header
    return {
        "rules": header.rules,
        "rulesFrom": rule_set_source_as_json(header.source),
        "asOf": format_time(header.now),
        **({"asOfFrom": header.time_from} if header.time_from else {}),
        "answers": [explanation_as_json(one, only_guards=only_guards) for one in explained.objects],
    }


def explain_object(source: InputSource, target: str, *, output: str, rules: str | None, why_not: str | None) -> int:
    """Explain and print. Returns the exit code (CL-001).

    Args:
        why_not: ``terminate`` to show only why nothing is terminated; None for everything.
    """
    wanted = kind_and_name_of_target(target)
    if wanted is None:
        print_error(f"{target} is not {KIND_AND_NAME}")
        return USAGE
    inputs = read_input_and_print_problems(source, rules)
    explained = explain_input(inputs, *wanted, source.namespace, rules)
    print_warnings(inputs.loaded.foreign_objects)
    if not explained.objects:
        print_error(f"not in the input, or of no PodCliqueSet in it: {' '.join(wanted)}{explained.hint}")
        return USAGE
    only_guards = why_not is not None
    RENDERERS[output].print_result(
        page=lambda: explain_page(explained.objects, explained.header, only_guards=only_guards),
        document=lambda: explained_as_json(explained, only_guards=only_guards),
    )
    return ERROR if inputs.problems else DONE


class _Plans:
    """The plans of one command, and the objects that they explain."""

    def __init__(
        self,
        rules: RuleSet,
        nodes: InputNodes,
        shown: RecognisedOperator | None,
        failed: Sequence[FailedWrite],
    ) -> None:
        self._rules, self._nodes, self._shown, self._failed = rules, nodes, shown, failed
        self._played: dict[Ref, PlayedRounds] = {}

    def existing_objects(self, snapshots: Sequence[Snapshot], kind: str, name: str) -> list[ExplainedObject]:
        """Return the objects of that name that exist, else those about which a step is withheld."""
        having = tuple(snapshot for snapshot in snapshots if root_has_object(snapshot, kind, name))
        every = (self._explanation(one, kind, name) for one in having or snapshots)
        return [
            ExplainedObject(inquiry, self._placements_of(inquiry))
            for inquiry in every
            if having or any(held.target == inquiry.ref for held in inquiry.withheld_steps())
        ]

    def _explanation(self, snapshot: Snapshot, kind: str, name: str) -> ObjectExplanation:
        plan = self._with_findings(reconcile(snapshot, self._rules), snapshot)
        nodes = self._nodes
        hints = termination_hints(snapshot, plan.findings, self._rules, nodes.readiness, nodes.capacity)
        return ObjectExplanation(snapshot, plan, kind, name, hints)

    def created_objects(self, snapshots: Sequence[Snapshot], kind: str, name: str) -> list[ExplainedObject]:
        """Return the objects of that name that do not exist yet and that a plan creates (CL-080)."""
        found = []
        for snapshot in snapshots:
            if may_create_object_named(snapshot, name):
                played = self._played_rounds(snapshot)
                made = played.name_of_created_object(kind, name)
                if made:
                    plan = self._with_findings(played.plan, played.snapshot)
                    inquiry = ObjectExplanation(played.snapshot, plan, kind, made)
                    found.append(ExplainedObject(inquiry, course=played.steps_for_object(kind, made)))
        return found

    def _placements_of(self, inquiry: ObjectExplanation) -> tuple[ConstraintPlacement, ...]:
        """Return where the pods of a pod, PodClique or PodGang stand; larger objects show only what is broken."""
        if inquiry.kind not in {"Pod", "PodClique", "PodGang"}:
            return ()
        names = {clique.ref.name for clique in inquiry.cliques}
        return tuple(
            one
            for one in constraint_placements(inquiry.snapshot, self._nodes.labels)
            if names & {*one.cliques} and (inquiry.kind != "PodGang" or one.gang.name == inquiry.name)
        )

    def hint(self, snapshots: Sequence[Snapshot], kind: str, name: str) -> str:
        """Return the names of the kind that there are, and a similar one, for one that is not there (CL-009)."""
        if "/" in name:
            return "; the namespace goes in -n"
        names = {one for snapshot in snapshots for one in _names(snapshot, kind)}
        for played in self._played.values():
            names.update(played.names_of_created_objects(kind))
        return known_names_hint(name, names)

    def _played_rounds(self, snapshot: Snapshot) -> PlayedRounds:
        ref = snapshot.root.ref
        if ref not in self._played:
            self._played[ref] = played_rounds_of_set(snapshot, self._rules)
        return self._played[ref]

    def _with_findings(self, plan: Plan, snapshot: Snapshot) -> Plan:
        found = with_input_findings(
            plan.findings, snapshot, self._nodes, self._rules, self._shown, failed=self._failed, steps=plan.steps
        )
        return replace(plan, findings=found)


def _names(snapshot: Snapshot, kind: str) -> Iterable[str]:
    if kind == "Pod":
        return (pod.name for _, pod in snapshot.pods())
    every = (snapshot.root, *snapshot.groups, *snapshot.cliques, *snapshot.gangs, *snapshot.domains)
    return (one.ref.name for one in every if one.ref.kind == kind)
