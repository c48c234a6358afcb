"""Pods as flat records: one small object of scalars for each.

Files, list pages, watch events and tests share :func:`pod_from_fields`, the hot path of loading. A pod that does not
decode is read again to find every problem.
"""

from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

from grove_core.kernel.errors import MalformedObject
from grove_core.kernel.frozen import FrozenDict, FrozenMap, mapping_or_empty
from grove_core.kernel.refs import Guard, Ref
from grove_core.resources.api_names import CORE, GATE
from grove_core.resources.decoded_pod import (
    NO_SPEC,
    NO_STATUS,
    DecodedOwnerReference,
    DecodedPod,
    DecodedPodLabels,
    UnreadableFields,
    decode_pod,
    decode_pod_manifest,
    decode_pod_text,
)
from grove_core.resources.encoded_object import EncodedObject
from grove_core.resources.naming_rules import parse_replica_index
from grove_core.resources.node_loss import NodeLossSigns, node_loss_signs
from grove_core.resources.object_metadata import metadata_in
from grove_core.resources.pod_decoding_problems import problems_of_malformed_pod
from grove_core.resources.pod_requests import RequestsMemo, gpus_of_spec, pod_requests_of_spec
from grove_core.resources.pod_status import (
    conditions_in_status,
    has_crashed_container,
    pod_failure_in_status,
    trouble_in_status,
)

_NO_LABELS: Final = DecodedPodLabels()
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
        scheduled, gated, ready: whether it is bound to a node, has a scheduling gate, and is ready by its condition
            (GT-002).
        crashed: whether a container of a pod that is not ready ended with an error (GF-012).
        unready: whether its main container runs, and is not ready (GF-012).
        gpus: that it holds while it runs.
        created: ``creationTimestamp`` as written; empty where absent.
        crashed_earlier: of a ready pod: whether the earlier run of a container ended with an error (WF-011).
        foreign_gates: names of scheduling gates that are not Grove's.
        preempted: whether the scheduler takes it for pods of a higher priority.
        pod_group: name of its PodGroup; empty where it names none.
        unplaced_because: message of the scheduler, of a pod that is neither scheduled nor gated; empty without one.
        deletion_time: ``deletionTimestamp`` as written: when its grace period ends; empty where absent.
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
    node_signs: NodeLossSigns | None = None
    foreign_gates: tuple[str, ...] = ()
    preempted: bool = False
    pod_group: str = ""
    unplaced_because: str = ""
    deletion_time: str = ""
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
    text = raw.text if isinstance(raw, EncodedObject) else None
    try:
        pod = pod_from_fields(decode_pod(raw) if text is None else decode_pod_text(text), shared, requests)
        if _keeps_manifest(pod, shared):
            _keep_manifest(pod, raw if text is None else decode_pod_manifest(text))
    except (*UnreadableFields, KeyError) as fault:
        raise MalformedObject(problems_of_malformed_pod(raw, fault)) from fault
    return pod


def pod_from_fields(fields: DecodedPod, shared: MutableMapping[str, str], requests: RequestsMemo | None = None) -> Pod:
    """Make a pod of its fields, without its manifest; arguments as of :func:`pod_from_json`.

    Raises:
        ValueError, KeyError: it has no name, its owner is not clear, or a condition has an invalid status.
    """
    meta, spec, status, share = fields.metadata, fields.spec or NO_SPEC, fields.status or NO_STATUS, shared.setdefault
    labels, gates, grouping = meta.labels or _NO_LABELS, spec.scheduling_gates, spec.scheduling_group
    name = meta.name
    if not name:
        raise ValueError(name)
    scheduled, gated, ready, preempted, reason, message = conditions_in_status(status)
    crashed, unready = (False, False) if ready else pod_failure_in_status(status)
    trouble = "" if ready else trouble_in_status(status, reason)
    gpus, amounts = (gpus_of_spec(spec), None) if requests is None else pod_requests_of_spec(spec, requests)
    namespace, owner = meta.namespace or "default", _controller_uid_in(meta.owner_references or ())
    set_name, template_hash, gang = labels.set_name, labels.template_hash or "", labels.gang or ""
    node, phase, created = spec.node_name or "", status.phase or "", meta.creation_timestamp or ""
    deletion_time = meta.deletion_timestamp or ""
    pod_group = (grouping.pod_group_name or "") if grouping is not None else ""
    return Pod(
        share(namespace, namespace),
        name,
        meta.uid or "",
        meta.resource_version or "",
        share(owner, owner),
        share(template_hash, template_hash),
        share(gang, gang),
        share(node, node),
        share(phase, phase),
        share(trouble, trouble) if trouble else "",
        bool(deletion_time),
        scheduled,
        gated,
        ready,
        any(gate.name == GATE for gate in gates) if gates else False,
        _index_of(labels.index),
        share(set_name, set_name),
        crashed,
        unready,
        gpus,
        share(created, created),
        ready and has_crashed_container(status),
        node_loss_signs(spec, status) if node and not ready else None,
        tuple([gate.name for gate in gates if gate.name != GATE]) if gates else (),
        preempted,
        share(pod_group, pod_group) if pod_group else "",
        share(message, message) if message and not gated else "",
        share(deletion_time, deletion_time) if deletion_time else "",
        None,
        amounts,
    )


def pods_from_fields(
    stored: Iterable[DecodedPod],
    manifest_parts_at: Callable[[int], Mapping[str, Any]],
    shared: MutableMapping[str, str],
    requests: RequestsMemo,
) -> list[Pod]:
    """Return pods, given the fields of each.

    Args:
        manifest_parts_at: returns the pod at a place, or at least ``metadata`` and ``spec`` of it.
        shared, requests: as of :func:`pod_from_json`.

    Raises:
        ValueError, KeyError: as :func:`pod_from_fields`, for another pod at a place, and what ``manifest_parts_at``
            raises.
    """
    pods = [pod_from_fields(one, shared, requests) for one in stored]
    for place, pod in enumerate(pods):
        if _keeps_manifest(pod, shared):
            parts = manifest_parts_at(place)
            meta = metadata_in(parts)
            if (meta.name, meta.uid) != (pod.name, pod.uid):
                raise ValueError(parts)
            _keep_manifest(pod, parts)
    return pods


def _keeps_manifest(pod: Pod, shared: MutableMapping[str, str]) -> bool:
    """Return whether the manifest of a pod is kept: it is the first one of its template that was read."""
    return bool(pod.template_hash) and shared.setdefault(f"{pod.set_name}/{pod.template_hash}", pod.name) == pod.name


def _keep_manifest(pod: Pod, raw: Mapping[str, Any]) -> None:
    """Keep the manifest of a pod that is being made."""
    meta = mapping_or_empty(raw, "metadata")
    texts = {key: meta.get(key) or {} for key in ("labels", "annotations")}
    pod.manifest = FrozenMap.view_of({**texts, "spec": dict(raw.get("spec") or {})})


def _controller_uid_in(references: Sequence[DecodedOwnerReference]) -> str:
    """Return the uid of the controller owner; empty where there is none. Raises ValueError where it is not clear."""
    owner = ""
    for reference in references:
        if reference.controller:
            if owner or not reference.uid:
                raise ValueError(reference)
            owner = reference.uid
    return owner


def _index_of(text: object) -> int:
    """Return the index in a label; -1 where it is invalid, which is no reason to refuse the pod."""
    if text.__class__ is not str:
        return -1
    found = _SMALL_INDICES.get(text)
    if found is None:
        found = parse_replica_index(text)
    return -1 if found is None else found
