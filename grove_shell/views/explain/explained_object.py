"""An object that ``grove explain`` shows, as JSON, and what page and JSON share."""

from typing import Any, NamedTuple

from grove_core.areas.topology.pod_placement import ConstraintPlacement
from grove_core.document.step_writing import (
    finding_as_json,
    reasons_as_json,
    ref_as_json,
    step_as_json,
    withheld_step_as_json,
)
from grove_core.document.termination_hint_format import hints_as_json
from grove_core.kernel.questions import TERMINATION
from grove_core.kernel.reasons import Reason
from grove_core.kernel.steps import Step
from grove_core.kernel.time_formats import format_time
from grove_core.object_explanation import ObjectExplanation
from grove_core.plan.forecast import ForecastRound
from grove_core.plan.termination_hints import TerminationHints
from grove_core.resources.pod import Pod
from grove_core.resources.podclique import PodClique
from grove_shell.views.explain.explained_steps import later_steps_as_json
from grove_shell.views.explain.pod_placement_lines import placement_as_json


class ExplainedObject(NamedTuple):
    """An object to show.

    Attributes:
        inquiry: of the set now; of one that does not exist yet, of the set after the last round of the plan.
        course: the steps of the plan for an object that does not exist yet, with their rounds; else empty (CL-080).
        placements: where its pods stand, by each required topology constraint (CL-081).
        creation: why an object without pods is created where it is missing (CL-074); empty for other kinds.
        is_in_input: whether it is in the input, or would be there if it existed.
    """

    inquiry: ObjectExplanation
    placements: tuple[ConstraintPlacement, ...] = ()
    course: tuple[tuple[ForecastRound, Step], ...] = ()
    creation: tuple[Reason, ...] = ()
    is_in_input: bool = True


def explanation_as_json(shown_object: ExplainedObject, *, only_guards: bool) -> dict[str, Any]:
    """Return what the page of one object shows as JSON; ``only_guards`` as for the page."""
    inquiry, placements, course, creation, is_in_input = shown_object
    findings = inquiry.findings_against_termination() if only_guards else inquiry.findings()
    shown: dict[str, Any] = {
        "subject": ref_as_json(inquiry.ref),
        "guards" if only_guards else "decisions": [finding_as_json(finding) for finding in findings],
    }
    if course:
        shown["planned"] = [
            {"round": one.number, "at": format_time(one.at), **step_as_json(step)} for one, step in course
        ]
    if creation:
        shown["createdBecause"] = reasons_as_json(creation)
    if not is_in_input:
        shown["inInput"] = False
    if not only_guards:
        if hints := pending_hints_of_object(inquiry):
            shown["hints"] = [hints_as_json(one) for one in hints]
        shown["placements"] = [placement_as_json(one) for one in placements]
        shown["steps"] = [step_as_json(step) for step in inquiry.planned_steps()]
        shown |= later_steps_as_json(inquiry)
        shown["withheld"] = [withheld_step_as_json(held) for held in inquiry.withheld_steps()]
        shown["pods"] = [
            {
                "name": pod.name,
                "clique": clique.ref.name,
                "ready": pod.ready,
                "scheduled": pod.scheduled,
                "terminating": pod.deleting,
                "node": pod.node,
                "trouble": pod.trouble,
                **({"schedulerMessage": pod.unplaced_because} if pod.unplaced_because else {}),
            }
            for clique in inquiry.cliques
            for pod in pods_in_explanation(inquiry, clique)
        ]
    return shown


def pending_hints_of_object(inquiry: ObjectExplanation) -> list[TerminationHints]:
    """Return the hints about the terminations that concern an object, and that the steps of the plan do not avert."""
    pending = {
        one.subject for one in inquiry.findings() if one.question == TERMINATION and not inquiry.is_after_steps(one)
    }
    return [one for one in _every_hint(inquiry) if one.replica in pending]


def _every_hint(inquiry: ObjectExplanation) -> tuple[TerminationHints, ...]:
    return () if inquiry.forecast is None else inquiry.forecast.hints


def pods_in_explanation(inquiry: ObjectExplanation, clique: PodClique) -> list[Pod]:
    """Return the pods of a PodClique; only the pod itself where a pod is explained."""
    pods = inquiry.pods_of_clique(clique)
    return [pod for pod in pods if pod.name == inquiry.name] if inquiry.kind == "Pod" else pods
