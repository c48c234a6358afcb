"""Manifests of PodGangs: which cliques the scheduler places as one, and which of their pods exist."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from grove_core.areas.workload.blueprint import GangPart
from grove_core.areas.workload.manifests import Blank, labels_of_set, wanted
from grove_core.areas.workload.rules import Why
from grove_core.kernel.frozen import FrozenMap, Json, freeze
from grove_core.kernel.reasons import Reason
from grove_core.kernel.wants import Applied, Present
from grove_core.resources.keys import COMPONENT, PREFIX, SCHEDULER, SCHEDULER_NAME
from grove_core.resources.overlay import differing
from grove_core.resources.podcliqueset import PodCliqueSet
from grove_core.resources.podgang import PodGang, PodGroup

_DEFAULT_SCHEDULER: Final = "default-scheduler"


def podgang_for(root: PodCliqueSet, part: GangPart, pods: Mapping[str, Sequence[str]]) -> Present:
    """A PodGang (WL-016, WL-017).

    Args:
        root: its set; labels and annotations that are not Grove's are mirrored.
        part: the gang.
        pods: name of a clique -> names of its pods that carry the gang's label and are not being deleted, sorted.
    """
    template = root.spec.template
    spec: dict[str, Any] = {"podgroups": _pod_groups(root, part, pods)}
    if template.priority_class_name:
        spec["priorityClassName"] = template.priority_class_name
    labels = {
        **{str(key): str(text) for key, text in _foreign(root.labels).items()},
        **labels_of_set(root.ref.name),
        COMPONENT: "podgang",
        SCHEDULER_NAME: _scheduler_of(part),
    }
    blank = Blank(
        api_version=SCHEDULER,
        kind="PodGang",
        name=part.name,
        owner=root,
        labels=labels,
        annotations=_foreign(root.annotations),
    )
    if part.group:
        because = Why.SCALED_GANG.because(root.ref, replica=part.group_replica, group=part.group)
    else:
        because = Why.BASE_GANG.because(root.ref, replica=part.replica, cliques=len(part.cliques))
    return wanted(blank, {"spec": spec}, (because,))


def change_of_podgang(
    root: PodCliqueSet, gang: PodGang, part: GangPart, pods: Mapping[str, Sequence[str]]
) -> Applied | None:
    """What an existing gang should say otherwise; None where nothing (WL-023, WL-026)."""
    wanted_groups = tuple(
        PodGroup(clique.name, clique.template.min_available, tuple(pods.get(clique.name, ())))
        for clique in part.cliques
    )
    because: list[Reason] = []
    fields: dict[str, Json] = {}
    spec: dict[str, Json] = {}
    if gang.groups != wanted_groups:
        because.append(Why.GANG_FOLLOWS_PODS.because(gang.ref, pods=sum(len(group.pods) for group in wanted_groups)))
        spec["podgroups"] = freeze(_pod_groups(root, part, pods))
    priority = root.spec.template.priority_class_name
    if gang.priority != priority:
        spec["priorityClassName"] = priority or None
    if spec:
        fields["spec"] = FrozenMap(spec)
    metadata = {
        key: change
        for key, of_set, stored in (
            ("labels", root.labels, gang.labels),
            ("annotations", root.annotations, gang.annotations),
        )
        if (change := differing(_foreign(of_set), stored))
    }
    if metadata:
        fields["metadata"] = FrozenMap(metadata)
    if not fields:
        return None
    if metadata or "priorityClassName" in spec:
        because.append(Why.GANG_FOLLOWS_SET.because(gang.ref))
    return Applied(gang.ref, gang.guard, FrozenMap(fields), tuple(because))


def _pod_groups(root: PodCliqueSet, part: GangPart, pods: Mapping[str, Sequence[str]]) -> list[dict[str, Any]]:
    return [
        {
            "name": clique.name,
            "minReplicas": clique.template.min_available,
            "podReferences": [{"namespace": root.ref.namespace, "name": name} for name in pods.get(clique.name, ())],
        }
        for clique in part.cliques
    ]


def _foreign(texts: FrozenMap) -> FrozenMap:
    return FrozenMap({key: text for key, text in texts.items() if not key.startswith(PREFIX)})


def _scheduler_of(part: GangPart) -> str:
    """Admission sees to it that all cliques of a set name one scheduler."""
    named = (clique.template.spec.pod_spec.get("schedulerName") for clique in part.cliques)
    return next((name for name in named if isinstance(name, str) and name), _DEFAULT_SCHEDULER)
