"""``grove explain``: everything the core has to say about one object."""

import sys
from collections.abc import Mapping
from typing import Final

from grove_core.areas.gang_termination.rulesets import BY_NAME
from grove_core.reconcile import reconcile
from grove_core.snapshot.snapshot import Snapshot
from grove_shell.actions.source import Situation, Source, situation_of
from grove_shell.exits import DONE, ERROR, USAGE
from grove_shell.views.explain_page import Answer, answer_as_json, explain_page
from grove_shell.views.faults import faults_page
from grove_shell.views.page import show
from grove_shell.views.structured import as_text

KINDS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("pcs", "podcliqueset", "podcliquesets"), "PodCliqueSet"),
    **dict.fromkeys(("pcsg", "podcliquescalinggroup", "podcliquescalinggroups"), "PodCliqueScalingGroup"),
    **dict.fromkeys(("pclq", "podclique", "podcliques"), "PodClique"),
    **dict.fromkeys(("pod", "pods", "po"), "Pod"),
    **dict.fromkeys(("pg", "podgang", "podgangs"), "PodGang"),
}


def explain(source: Source, target: str, *, output: str, rules: str, why_not: str | None) -> int:
    """Explain and print; returns the exit code (CL-001)."""
    kind, slash, name = target.partition("/")
    if kind.lower() not in KINDS or not slash or not name:
        sys.stderr.write(f"{target} is not KIND/NAME with KIND one of pcs, pcsg, pclq, pod, podgang\n")
        return USAGE
    situation = situation_of(source)
    if situation.faults:
        show(faults_page(situation.faults, going_on=situation.usable), sys.stderr)
    if not situation.usable:
        return ERROR
    answers = [
        Answer(snapshot, reconcile(snapshot, BY_NAME[rules]), KINDS[kind.lower()], name)
        for snapshot in _snapshots_with(situation, source.namespace, KINDS[kind.lower()], name)
    ]
    if not answers:
        sys.stderr.write(f"{KINDS[kind.lower()]} {name} is not in the input, or belongs to no PodCliqueSet in it\n")
        return ERROR
    if output == "human":
        show(explain_page(answers, only_guards=why_not is not None))
    else:
        shown = [answer_as_json(answer, only_guards=why_not is not None) for answer in answers]
        sys.stdout.write(as_text({"answers": shown}, output))
    return ERROR if situation.faults else DONE


def _snapshots_with(situation: Situation, namespace: str | None, kind: str, name: str) -> list[Snapshot]:
    """The roots that have such an object: at most one for each namespace."""
    return [snapshot for snapshot in situation.snapshots(namespace) if _has(snapshot, kind, name)]


def _has(snapshot: Snapshot, kind: str, name: str) -> bool:
    match kind:
        case "PodCliqueSet":
            return snapshot.root.ref.name == name
        case "PodCliqueScalingGroup":
            return any(group.ref.name == name for group in snapshot.groups)
        case "PodClique":
            return any(clique.ref.name == name for clique in snapshot.cliques)
        case "PodGang":
            return any(gang.ref.name == name for gang in snapshot.gangs)
        case _:
            return any(pod.name == name for _, pod in snapshot.pods())
