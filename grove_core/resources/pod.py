"""Pods as flat records: one small object of scalars for each, read by one total function.

Files, list pages, watch events and tests share :func:`pod_from_json`, the hot path of loading. It first assumes a
well-formed pod; any other pod is read again to find every problem.
"""

from collections.abc import Callable, Iterable, Mapping, MutableMapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

from grove_core.kernel.errors import MalformedObject, ObjectProblem
from grove_core.kernel.frozen import FrozenDict, FrozenMap
from grove_core.kernel.refs import Guard, Ref
from grove_core.resources.api_names import CORE, GATE, POD_GANG, POD_INDEX, TEMPLATE_HASH
from grove_core.resources.json_field_reader import JsonFieldReader
from grove_core.resources.labels import SET, first_label_value
from grove_core.resources.metadata_readers import read_label, read_labels, read_metadata
from grove_core.resources.naming_rules import parse_replica_index
from grove_core.resources.node_loss import UnreadyPodSigns, unready_pod_signs
from grove_core.resources.pod_requests import RequestsMemo, pod_requests_of_spec
from grove_core.resources.pod_spec_gpus import GPU, gpu_count_of_pod_spec
from grove_core.resources.pod_status import (
    HOLDS,
    NOTHING,
    conditions_in_status,
    failure_in_status,
    has_crashed_container,
    scheduler_message_in_status,
    trouble_in_status,
)

_PLAIN: Final = 9  # digits
_SET_NAME: Final = SET.primary  # which most pods have
_SMALL_INDICES: Final = MappingProxyType({str(index): index for index in range(256)})
UNSCHEDULABLE: Final = "Unschedulable"
"""The trouble of a pod that has no room."""
FINISHED_PHASES: Final = frozenset({"Succeeded", "Failed"})
"""Phases of a pod that runs no more, and holds nothing."""


@dataclass(slots=True, unsafe_hash=True)
class Pod:
    """The fields of a pod that decisions use; never changed after creation.

    (Not ``frozen``: with 100,000 pods that would cost a quarter of the loading time; see benchmarks/.)

    Attributes:
        owner_uid: uid of the controller owner; empty where there is none (GT-001).
        template_hash, gang, node, phase: as written; empty where absent.
        has_grove_gate: whether Grove's scheduling gate is on it.
        index: among the pods of its clique, from its label; -1 where that has none.
        set_name: of the set, from its label; empty where absent.
        trouble: why a pod is not ready (``CrashLoopBackOff``, ``Unschedulable``); empty where no reason is given.
        deleting: whether a deletion was accepted.
        scheduled, gated, ready: GT-002.
        crashed, unready: of a pod that is not ready: GF-012.
        gpus: that it holds while it runs.
        created: ``creationTimestamp`` as written; empty where absent.
        crashed_earlier: of a ready pod: whether the earlier run of a container ended with an error (WF-011).
        foreign_gates: names of scheduling gates that are not Grove's.
        preempted: whether the scheduler takes it for pods of a higher priority.
        pod_group: name of its PodGroup; empty where it names none.
        unplaced_because: message of the scheduler, of a pod that is neither scheduled nor gated; empty without one.
        manifest: ``labels``, ``annotations`` and ``spec``, kept of one pod of each template of a set; None of others.
        node_signs: of a pod that is bound to a node and is not ready: what it shows about the node (GF-015).
        requests: thousandths by resource as the scheduler counts them (TP-103); None where they were not read.
    """

    namespace: str
    name: str
    uid: str
    resource_version: str
    owner_uid: str
    template_hash: str
    gang: str
    node: str
    phase: str
    trouble: str
    deleting: bool
    scheduled: bool
    gated: bool
    ready: bool
    has_grove_gate: bool = False
    index: int = -1
    set_name: str = ""
    crashed: bool = False
    unready: bool = False
    gpus: int = 0
    created: str = ""
    crashed_earlier: bool = False
    node_signs: UnreadyPodSigns | None = None
    foreign_gates: tuple[str, ...] = ()
    preempted: bool = False
    pod_group: str = ""
    unplaced_because: str = ""
    manifest: FrozenMap | None = field(default=None, compare=False, repr=False)
    requests: FrozenDict[str, int] | None = field(default=None, compare=False, repr=False)

    @property
    def guard(self) -> Guard:
        """The uid and version that a write based on this state requires."""
        return Guard(self.uid, self.resource_version)

    @property
    def ref(self) -> Ref:
        """The pod's address."""
        return Ref(CORE, "Pod", self.namespace, self.name)


def active_pods(pods: Iterable[Pod]) -> list[Pod]:
    """Return the pods that are neither being deleted nor finished."""
    return [pod for pod in pods if not pod.deleting and pod.phase not in FINISHED_PHASES]


def ready_pod_count(pods: Iterable[Pod]) -> int:
    """Return the number of pods that are ready and not being deleted."""
    return sum(pod.ready and not pod.deleting for pod in pods)


def pod_from_json(
    raw: Mapping[str, Any], shared: MutableMapping[str, str], requests: RequestsMemo | None = None
) -> Pod:
    """Read a pod; raises MalformedObject with every problem (IN-030).

    Args:
        shared: strings read before, so that the many pods of one clique share one copy of each. It also has the name
            of the pod of each template whose manifest is kept.
        requests: what specs read before request; None where the requests of pods are not needed.
    """
    try:
        return _read_well_formed(raw, shared.setdefault, requests)
    except (KeyError, TypeError, AttributeError) as fault:
        raise MalformedObject(_problems_of(raw)) from fault


def _read_well_formed(raw: Mapping[str, Any], share: Callable[[str, str], str], requests: RequestsMemo | None) -> Pod:
    """Read a pod in one pass; raises KeyError, TypeError or AttributeError where it is not well-formed."""
    meta, status, spec = raw["metadata"], raw.get("status") or NOTHING, raw.get("spec") or NOTHING
    labels, gates = meta.get("labels") or NOTHING, spec.get("schedulingGates")
    scheduled, gated, ready, preempted, reason = conditions_in_status(status)
    if ready:
        crashed, unready, crashed_earlier = False, False, has_crashed_container(status)
    else:
        (crashed, unready), crashed_earlier = failure_in_status(status), False
    namespace, name, uid = meta.get("namespace") or "default", meta["name"], meta.get("uid") or ""
    version, deleted = meta.get("resourceVersion") or "", meta.get("deletionTimestamp") or ""
    created = meta.get("creationTimestamp") or ""
    owner, set_name = _controller_uid_in(meta), labels.get(_SET_NAME) or first_label_value(SET, labels.get) or ""
    template_hash, gang = labels.get(TEMPLATE_HASH) or "", labels.get(POD_GANG) or ""
    node, phase = spec.get("nodeName") or "", status.get("phase") or ""
    trouble = "" if ready else trouble_in_status(status, reason)
    grouping = spec.get("schedulingGroup")
    pod_group = grouping.get("podGroupName") or "" if grouping else ""
    message = "" if scheduled or gated else scheduler_message_in_status(status)
    gpus, amounts = (_gpus_in(spec), None) if requests is None else pod_requests_of_spec(spec, requests, _gpus_in)
    # One C call that raises TypeError where any of them is no string.
    "".join((namespace, name, uid, version, owner, set_name, template_hash, gang, node, phase, trouble, created))  # noqa: FLY002 - see above
    if not name or deleted.__class__ is not str or pod_group.__class__ is not str or message.__class__ is not str:
        raise TypeError
    return Pod(
        share(namespace, namespace),
        name,
        uid,
        version,
        share(owner, owner),
        share(template_hash, template_hash),
        share(gang, gang),
        share(node, node),
        share(phase, phase),
        share(trouble, trouble),
        bool(deleted),
        scheduled,
        gated,
        ready,
        any(gate["name"] == GATE for gate in gates) if gates else False,
        _index_of(labels.get(POD_INDEX)),
        share(set_name, set_name),
        crashed,
        unready,
        gpus,
        share(created, created),
        crashed_earlier,
        unready_pod_signs(spec, status) if node and not ready else None,
        tuple(gate["name"] for gate in gates if gate["name"] != GATE) if gates else (),
        preempted,
        share(pod_group, pod_group),
        share(message, message),
        _manifest_of(meta, spec) if template_hash and share(f"{set_name}/{template_hash}", name) == name else None,
        amounts,
    )


def _manifest_of(meta: Mapping[str, Any], spec: Mapping[str, Any]) -> FrozenMap:
    texts = {key: meta.get(key) or {} for key in ("labels", "annotations")}
    return FrozenMap.view_of({**texts, "spec": dict(spec)})


def _controller_uid_in(meta: Mapping[str, Any]) -> str:
    """Return the uid of the controller owner; empty where there is none. Raises TypeError where it is not clear."""
    owner = ""
    for reference in meta.get("ownerReferences") or ():
        controls = reference.get("controller")
        if not controls:
            continue
        if controls is not True or owner or not reference["uid"]:
            raise TypeError
        owner = reference["uid"]
    return owner


def _gpus_in(spec: Mapping[str, Any]) -> int:
    """Return the GPUs of a pod with this spec (PL-019); the usual forms are read without the general parser."""
    found = 0
    try:
        if spec.get("initContainers"):
            return gpu_count_of_pod_spec(FrozenMap.view_of(spec))
        for container in spec["containers"]:
            resources = container.get("resources")
            if resources:
                limits, requests = resources.get("limits"), resources.get("requests")
                text = limits.get(GPU, "0") if limits else "0"
                differ = requests and requests.get(GPU, text) != text
                plain = text.__class__ is str and len(text) <= _PLAIN and text.isascii() and text.isdecimal()
                if differ or not plain:
                    return gpu_count_of_pod_spec(FrozenMap.view_of(spec))
                found += int(text)
    except (KeyError, TypeError, AttributeError):
        return gpu_count_of_pod_spec(FrozenMap.view_of(spec))
    return found


def _index_of(text: object) -> int:
    """Return the index in a label; -1 where it is invalid, which is no reason to refuse the pod."""
    if not isinstance(text, str):
        return -1
    found = _SMALL_INDICES.get(text)
    if found is None:
        found = parse_replica_index(text)
    return -1 if found is None else found


def _problems_of(raw: object) -> tuple[ObjectProblem, ...]:
    """Return every problem of a pod that is not well-formed."""
    problems: list[ObjectProblem] = []
    top = JsonFieldReader(raw, "", problems)
    read_metadata(top, CORE, "Pod", None)
    top.inner_object("metadata").text("creationTimestamp")
    labels = read_labels(top)
    labels.text(TEMPLATE_HASH)
    labels.text(POD_GANG)
    read_label(labels, SET)
    top.inner_object("spec").text("nodeName")
    top.inner_object("spec").inner_object("schedulingGroup").text("podGroupName")
    for gate in top.inner_object("spec").inner_objects("schedulingGates"):
        gate.text("name", required=True)
    status = top.inner_object("status")
    status.text("phase")
    status.text("reason")
    for condition in status.inner_objects("conditions"):
        type_ = condition.text("type", required=True)
        value = condition.raw.get("status")
        if type_ in {"Ready", "PodScheduled"} and not (isinstance(value, str) and value in HOLDS):
            condition.add_problem("status", 'one of the strings "True", "False", "Unknown"', value)
        condition.text("reason")
        if type_ == "PodScheduled":
            condition.text("message")
    for key in ("initContainerStatuses", "containerStatuses"):
        for container in status.inner_objects(key):
            state = container.inner_object("state")
            for phase in ("waiting", "terminated"):
                state.inner_object(phase).text("reason")
            container.inner_object("lastState").inner_object("terminated").integer("exitCode")
    if not problems:
        problems.append(ObjectProblem(path="", expected="a pod", got="something that does not read as one"))
    return tuple(problems)
