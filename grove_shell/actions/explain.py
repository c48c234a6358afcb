"""``grove explain``: everything the core has to say about one object."""

from collections.abc import Mapping
from typing import Final

from grove_core.areas.gang_termination.rulesets import rule_set
from grove_core.inquiry import Inquiry, has
from grove_core.reconcile import reconcile
from grove_shell.actions.situation import asked
from grove_shell.actions.source import Source
from grove_shell.controller.rounds import as_applied
from grove_shell.exits import DONE, ERROR, USAGE
from grove_shell.page import complain, show, warn, write
from grove_shell.views.explain_page import explain_page, inquiry_as_json
from grove_shell.views.structured import as_text

KINDS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("pcs", "podcliqueset", "podcliquesets"), "PodCliqueSet"),
    **dict.fromkeys(("pcsg", "podcliquescalinggroup", "podcliquescalinggroups"), "PodCliqueScalingGroup"),
    **dict.fromkeys(("pclq", "podclique", "podcliques"), "PodClique"),
    **dict.fromkeys(("pod", "pods", "po"), "Pod"),
    **dict.fromkeys(("pg", "podgang", "podgangs"), "PodGang"),
    **dict.fromkeys(("cd", "computedomain", "computedomains"), "ComputeDomain"),
}


def explain(source: Source, target: str, *, output: str, rules: str | None, why_not: str | None) -> int:
    """Explain and print; returns the exit code (CL-001)."""
    kind, slash, name = target.partition("/")
    if kind.lower() not in KINDS or not slash or not name:
        complain(f"{target} is not KIND/NAME with KIND one of pcs, pcsg, pclq, pod, podgang, computedomain")
        return USAGE
    situation = asked(source)
    if situation is None:
        return ERROR
    kind, judges = KINDS[kind.lower()], rule_set(rules or situation.rules)
    found = situation.snapshots(source.namespace)
    snapshots = tuple(one if one.root.uid else as_applied(one, judges) for one in found)
    having = tuple(snapshot for snapshot in snapshots if has(snapshot, kind, name))
    every = (Inquiry(snapshot, reconcile(snapshot, judges), kind, name) for snapshot in having or snapshots)
    inquiries = [
        inquiry for inquiry in every if having or any(held.target == inquiry.ref for held in inquiry.withheld())
    ]
    warn(situation.loaded.passed_by)
    if not inquiries:
        complain(f"not in the input, or of no PodCliqueSet in it: {kind} {name}")
        return USAGE
    if output == "human":
        show(explain_page(inquiries, only_guards=why_not is not None))
    else:
        shown = [inquiry_as_json(inquiry, only_guards=why_not is not None) for inquiry in inquiries]
        write(as_text({"answers": shown}, output))
    return ERROR if situation.faults else DONE
