"""Synthetic clusters: sets of 80 pods, as facts and as the texts that kubectl prints.

Each PodCliqueSet has 2 replicas of a frontend clique (4 pods) and of a scaling group ``inst`` with 4 replicas of a
leader (1 pod) and a worker clique (8 pods). 5 % of the pods are not ready, some of these because they are still gated.
Statuses are what the operator would have written, so a cluster is at rest; a few delays run, none has ended.

Rule for this file: the same number of pods gives the same cluster, to the byte.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any, Final, NamedTuple, TypeAlias

import yaml

from grove_core.resources.keys import CLIQUE_FINALIZER, CORE, GROUP_FINALIZER, GROVE, MNNVL_ENABLED, SET_FINALIZER
from grove_core.resources.pod import Pod
from grove_core.resources.podclique import PodClique, podclique_of
from grove_core.resources.podcliqueset import PodCliqueSet, podcliqueset_of
from grove_core.resources.scaling_group import ScalingGroup, scaling_group_of

Raw: TypeAlias = dict[str, Any]

PODS_PER_SET: Final = 80
NOW: Final = datetime(2026, 11, 21, 12, 0, 0, tzinfo=UTC)
NAMESPACE: Final = "inference"
_CREATED: Final = "2026-11-21T07:00:00Z"
_STARTED: Final = "2026-11-21T07:01:30Z"
_SET_REPLICAS: Final = 2
_GROUP_REPLICAS: Final = 4
_GROUP_NEEDS: Final = 3
_GATED: Final = 0.015
_NOT_READY: Final = 0.05
_NODES: Final = tuple(f"gpu-node-{number:04}" for number in range(1000))
_HASHES: Final = {"frontend": "5d8c7f9b6455f8d7f9", "leader": "96c54f44478498b5bb", "worker": "7b9f6d5c4bd46f8c55"}
_GENERATION: Final = "7b9f6d5c4bd46f8c77"
_OF_SET: Final = "app.kubernetes.io/managed-by=grove-operator,app.kubernetes.io/part-of="
_GROUPED: Final = ("leader", "worker")
# clique -> (pods, minAvailable)
_CLIQUES: Final[Mapping[str, tuple[int, int]]] = {"frontend": (4, 3), "leader": (1, 1), "worker": (8, 6)}


class State(Enum):
    """How a pod fares; the value is what a fact says of its trouble."""

    READY = ""
    CRASHING = "CrashLoopBackOff"
    GATED = "SchedulingGated"


@dataclass(frozen=True, slots=True)
class Clique:
    """One PodClique to be made."""

    role: str
    set_name: str
    set_uid: str
    replica: int
    group: str
    group_uid: str
    group_replica: int
    name: str
    uid: str
    serial: int
    states: tuple[State, ...]

    @property
    def ready(self) -> int:
        """Ready pods."""
        return self.states.count(State.READY)

    @property
    def scheduled(self) -> int:
        """Placed pods."""
        return len(self.states) - self.states.count(State.GATED)

    @property
    def needed(self) -> int:
        """Its ``minAvailable``."""
        return _CLIQUES[self.role][1]

    @property
    def breached(self) -> bool:
        """Whether it has too few ready pods."""
        return self.ready < self.needed

    @property
    def gang(self) -> str:
        """The PodGang of its pods: the replica's own one, or one of a group replica beyond the minimum."""
        base = f"{self.set_name}-{self.replica}"
        extra = self.group_replica - _GROUP_NEEDS
        return base if extra < 0 else f"{base}-inst-{extra}"


class PodWords(NamedTuple):
    """What tells one pod from another of its clique."""

    name: str
    uid: str
    version: str
    node: str
    address: str
    number: int
    state: State


# ---------------------------------------------------------------------------------------------- who there is


def _cliques_of_set(number: int) -> Iterator[Clique]:
    rng = Random(number)
    name, set_uid, serial = f"llm-{number:05}", _uid(1, number), number * 18
    for replica in range(_SET_REPLICAS):
        group, group_uid = f"{name}-{replica}-inst", _uid(2, number * _SET_REPLICAS + replica)
        members = [("frontend", -1), *((role, index) for index in range(_GROUP_REPLICAS) for role in _GROUPED)]
        for role, index in members:
            yield Clique(
                role=role,
                set_name=name,
                set_uid=set_uid,
                replica=replica,
                group=group if index >= 0 else "",
                group_uid=group_uid if index >= 0 else "",
                group_replica=index,
                name=f"{group}-{index}-{role}" if index >= 0 else f"{name}-{replica}-{role}",
                uid=_uid(3, serial),
                serial=serial,
                states=tuple(_state(rng.random()) for _ in range(_CLIQUES[role][0])),
            )
            serial += 1


def _state(chance: float) -> State:
    return State.GATED if chance < _GATED else State.CRASHING if chance < _NOT_READY else State.READY


def _uid(kind: int, serial: int) -> str:
    return f"{serial * 2654435761 % 2**32:08x}-{kind:04x}-4b7c-ad00-{serial:012x}"


def _sets_for(pods: int) -> range:
    return range(-(-pods // PODS_PER_SET))


def _cliques_for(pods: int) -> Iterator[Clique]:
    for number in _sets_for(pods):
        yield from _cliques_of_set(number)


def _pods_of(clique: Clique) -> Iterator[PodWords]:
    for number, state in enumerate(clique.states):
        serial = clique.serial * 8 + number
        yield PodWords(
            name=f"{clique.name}-{serial % 60466176:05x}",
            uid=_uid(4, serial),
            version=str(100000 + serial),
            node="" if state is State.GATED else _NODES[serial * 7 % len(_NODES)],
            address=f"10.{serial >> 16 & 255}.{serial >> 8 & 255}.{serial & 255}",
            number=number,
            state=state,
        )


# ------------------------------------------------------------------------------------------------- as facts


def pod_facts(pods: int, shared: dict[str, str]) -> list[Pod]:
    """The pods as facts, in the order in which they were created, strings shared as a load shares them."""
    return list(islice(_pod_facts(pods, shared), pods))


def _pod_facts(pods: int, shared: dict[str, str]) -> Iterator[Pod]:
    for clique in _cliques_for(pods):
        owner, template_hash = shared.setdefault(clique.uid, clique.uid), _HASHES[clique.role]
        gang = shared.setdefault(clique.gang, clique.gang)
        for pod in _pods_of(clique):
            placed, ready = pod.state is not State.GATED, pod.state is State.READY
            yield Pod(
                NAMESPACE,
                pod.name,
                pod.uid,
                pod.version,
                owner,
                template_hash,
                gang,
                pod.node,
                "Running" if placed else "Pending",
                pod.state.value,
                deleting=False,
                scheduled=placed,
                gated=not placed,
                ready=ready,
                held=not placed,
                index=pod.number,
                set_name=shared.setdefault(clique.set_name, clique.set_name),
            )


@dataclass(frozen=True, slots=True)
class Owners:
    """Everything of a cluster but its pods, as facts."""

    sets: tuple[PodCliqueSet, ...]
    groups: tuple[ScalingGroup, ...]
    cliques: tuple[PodClique, ...]


def owner_facts(pods: int, shared: dict[str, str]) -> Owners:
    """The sets, scaling groups and cliques of that many pods."""
    raws = [raw for number in _sets_for(pods) for raw in _owners_of_set(number)]
    return Owners(
        sets=tuple(podcliqueset_of(raw, shared) for raw in raws if raw["kind"] == "PodCliqueSet"),
        groups=tuple(scaling_group_of(raw, shared) for raw in raws if raw["kind"] == "PodCliqueScalingGroup"),
        cliques=tuple(podclique_of(raw, shared) for raw in raws if raw["kind"] == "PodClique"),
    )


# ------------------------------------------------------------------------------------- the owners as the API has them


def _owners_of_set(number: int) -> Iterator[Raw]:
    cliques = tuple(_cliques_of_set(number))
    available = 0
    groups = []
    for replica in range(_SET_REPLICAS):
        members = [clique for clique in cliques if clique.replica == replica and clique.group]
        frontend = next(clique for clique in cliques if clique.replica == replica and not clique.group)
        group = _group(members)
        groups.append(group)
        available += not frontend.breached and group["status"]["availableReplicas"] >= _GROUP_NEEDS
    yield _set(cliques[0], available)
    yield from groups
    yield from map(_clique, cliques)


def _meta(kind: str, name: str, uid: str, version: int, finalizer: str, labels: Mapping[str, str]) -> Raw:
    return {
        "creationTimestamp": _CREATED,
        "finalizers": [finalizer],
        "generation": 1,
        "labels": {
            "app.kubernetes.io/component": kind,
            "app.kubernetes.io/managed-by": "grove-operator",
            "app.kubernetes.io/name": name,
            **labels,
        },
        "name": name,
        "namespace": NAMESPACE,
        "resourceVersion": str(version),
        "uid": uid,
    }


def _owner(api_version: str, kind: str, name: str, uid: str) -> list[Raw]:
    return [
        {
            "apiVersion": api_version,
            "blockOwnerDeletion": True,
            "controller": True,
            "kind": kind,
            "name": name,
            "uid": uid,
        }
    ]


def _condition(kind: str, *, holds: bool, since: str, reason: str, message: str) -> Raw:
    return {
        "lastTransitionTime": since,
        "message": message,
        "reason": reason,
        "status": str(holds),
        "type": kind,
    }


def _set(clique: Clique, available: int) -> Raw:
    templates = [
        {"name": role, "spec": {"minAvailable": needed, "podSpec": _pod_spec("", ""), "replicas": replicas}}
        for role, (replicas, needed) in _CLIQUES.items()
    ]
    group = {
        "cliqueNames": list(_GROUPED),
        "minAvailable": _GROUP_NEEDS,
        "name": "inst",
        "replicas": _GROUP_REPLICAS,
    }
    template = {"cliques": templates, "podCliqueScalingGroups": [group], "terminationDelay": "4h0m0s"}
    return {
        "apiVersion": GROVE,
        "kind": "PodCliqueSet",
        "metadata": _meta("pcs", clique.set_name, clique.set_uid, 50000 + clique.serial, SET_FINALIZER, {}),
        "spec": {"replicas": _SET_REPLICAS, "template": template},
        "status": {
            "availableReplicas": available,
            "currentGenerationHash": _GENERATION,
            "hpaPodSelector": f"{_OF_SET}{clique.set_name}",
            "observedGeneration": 1,
            "replicas": _SET_REPLICAS,
            "updatedReplicas": available,
        },
    }


def bare_set(replicas: int) -> Raw:
    """A set as a user wrote it, with that many replicas of 40 pods each; no cluster has seen it."""
    (first, *_) = _cliques_of_set(0)
    written = _set(first, 0)
    metadata = {"name": first.set_name, "namespace": NAMESPACE}
    return {**written, "metadata": metadata, "spec": {**written["spec"], "replicas": replicas}, "status": {}}


def sharing_set(replicas: int) -> Raw:
    """The same as its user wrote it who wants one ComputeDomain for each replica by annotation, groups included."""
    found = bare_set(replicas)
    told = {"annotations": {MNNVL_ENABLED: "true"}}
    template = found["spec"]["template"]
    groups = [{**group, **told} for group in template["podCliqueScalingGroups"]]
    spec = {**found["spec"], "template": {**template, "podCliqueScalingGroups": groups}}
    return {**found, "metadata": {**found["metadata"], **told}, "spec": spec}


def _group(members: list[Clique]) -> Raw:
    first = members[0]
    replicas = [[clique for clique in members if clique.group_replica == index] for index in range(_GROUP_REPLICAS)]
    placed = [cliques for cliques in replicas if all(clique.scheduled >= clique.needed for clique in cliques)]
    available = sum(not any(clique.breached for clique in cliques) for cliques in placed)
    left = sum(not any(clique.breached for clique in cliques) for cliques in replicas)
    breach = left < _GROUP_NEEDS
    labels = {
        "app.kubernetes.io/part-of": first.set_name,
        "grove.io/podcliqueset-replica-index": str(first.replica),
    }
    meta = _meta("pcsg", first.group, first.group_uid, 60000 + first.serial, GROUP_FINALIZER, labels)
    message = f"{left} of {_GROUP_REPLICAS} replicas not breached, at least {_GROUP_NEEDS} needed"
    condition = _condition(
        "MinAvailableBreached",
        holds=breach,
        since=_since(first.serial),
        reason=f"{'Insufficient' if breach else 'Sufficient'}AvailablePodCliqueScalingGroupReplicas",
        message=message,
    )
    return {
        "apiVersion": GROVE,
        "kind": "PodCliqueScalingGroup",
        "metadata": {**meta, "ownerReferences": _owner(GROVE, "PodCliqueSet", first.set_name, first.set_uid)},
        "spec": {"cliqueNames": list(_GROUPED), "minAvailable": _GROUP_NEEDS, "replicas": _GROUP_REPLICAS},
        "status": {
            "availableReplicas": available,
            "conditions": [condition],
            "currentPodCliqueSetGenerationHash": _GENERATION,
            "observedGeneration": 1,
            "selector": f"{_OF_SET}{first.set_name},grove.io/podcliquescalinggroup={first.group}",
            "updatedReplicas": left,
            "replicas": _GROUP_REPLICAS,
            "scheduledReplicas": len(placed),
        },
    }


def _clique(clique: Clique) -> Raw:
    meta = _meta("pclq", clique.name, clique.uid, 70000 + clique.serial, CLIQUE_FINALIZER, _labels(clique))
    owner = (
        _owner(GROVE, "PodCliqueScalingGroup", clique.group, clique.group_uid)
        if clique.group
        else _owner(GROVE, "PodCliqueSet", clique.set_name, clique.set_uid)
    )
    placed, pods = clique.scheduled >= clique.needed, len(clique.states)
    conditions = [
        _condition(
            "PodCliqueScheduled",
            holds=placed,
            since=_since(clique.serial),
            reason=f"{'Sufficient' if placed else 'Insufficient'}ScheduledPods",
            message=f"{clique.scheduled} scheduled, at least {clique.needed} needed",
        ),
        _condition(
            "MinAvailableBreached",
            holds=clique.breached,
            since=_since(clique.serial),
            reason=f"{'Insufficient' if clique.breached else 'Sufficient'}ReadyPods",
            message=f"{clique.ready} ready, at least {clique.needed} needed",
        ),
    ]
    return {
        "apiVersion": GROVE,
        "kind": "PodClique",
        "metadata": {**meta, "ownerReferences": owner},
        "spec": {"minAvailable": clique.needed, "podSpec": _pod_spec("", ""), "replicas": pods},
        "status": {
            "conditions": conditions,
            "currentPodCliqueSetGenerationHash": _GENERATION,
            "currentPodTemplateHash": _HASHES[clique.role],
            **(
                {}
                if clique.group
                else {"hpaPodSelector": f"{_OF_SET}{clique.set_name},grove.io/podclique={clique.name}"}
            ),
            "observedGeneration": 1,
            "readyReplicas": clique.ready,
            "replicas": pods,
            "scheduleGatedReplicas": pods - clique.scheduled,
            "scheduledReplicas": clique.scheduled,
            "updatedReplicas": pods,
            "wasAvailable": True,
        },
    }


def _since(serial: int) -> str:
    """A moment of the last three hours, so that no delay of four has ended."""
    return f"2026-11-21T{9 + serial % 3:02}:{serial % 60:02}:{serial * 7 % 60:02}Z"


def _labels(clique: Clique) -> dict[str, str]:
    labels = {
        "app.kubernetes.io/part-of": clique.set_name,
        "grove.io/pod-template-hash": _HASHES[clique.role],
        "grove.io/podcliqueset-replica-index": str(clique.replica),
        "grove.io/podgang": clique.gang,
    }
    if clique.group:
        labels["grove.io/podcliquescalinggroup"] = clique.group
        labels["grove.io/podcliquescalinggroup-replica-index"] = str(clique.group_replica)
    return labels


# ---------------------------------------------------------------------------------- the pods as the API has them


def _pod_spec(clique: str, subdomain: str) -> Raw:
    """The part of a pod's spec that its template has; with names filled in for a pod."""
    env = [
        {"name": "GROVE_PCLQ_NAME", "value": clique},
        {"name": "GROVE_HEADLESS_SERVICE", "value": f"{subdomain}.{NAMESPACE}.svc.cluster.local"},
        {"name": "NATS_SERVER", "value": "nats://nats:4222"},
    ]
    container = {
        "args": ["--model", "deepseek-ai/DeepSeek-R1-Distill-Llama-8B"],
        "command": ["python3", "-m", "dynamo.worker"],
        "env": env,
        "image": "registry.example.com/dynamo/vllm-runtime:0.6.1",
        "imagePullPolicy": "IfNotPresent",
        "name": "main",
        "ports": [{"containerPort": 8000, "name": "http", "protocol": "TCP"}],
        "resources": {
            "limits": {"nvidia.com/gpu": "8"},
            "requests": {"cpu": "2", "memory": "8Gi", "nvidia.com/gpu": "8"},
        },
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
    }
    return {"containers": [container], "restartPolicy": "Always", "terminationGracePeriodSeconds": 30}


def _pod(clique: Clique, pod: PodWords) -> Raw:
    placed = pod.state is not State.GATED
    subdomain = f"{clique.set_name}-{clique.replica}"
    labels = {
        "app.kubernetes.io/component": "pclq-pod",
        "app.kubernetes.io/managed-by": "grove-operator",
        "app.kubernetes.io/name": clique.name,
        **_labels(clique),
        "grove.io/podclique": clique.name,
        "grove.io/podclique-pod-index": str(pod.number),
    }
    spec = {
        **_pod_spec(clique.name, subdomain),
        "dnsPolicy": "ClusterFirst",
        "enableServiceLinks": True,
        "hostname": f"{clique.name}-{pod.number}",
        "preemptionPolicy": "PreemptLowerPriority",
        "priority": 0,
        "schedulerName": "default-scheduler",
        "securityContext": {},
        "serviceAccount": "default",
        "serviceAccountName": "default",
        "subdomain": subdomain,
        "tolerations": [
            {
                "effect": "NoExecute",
                "key": f"node.kubernetes.io/{trouble}",
                "operator": "Exists",
                "tolerationSeconds": 300,
            }
            for trouble in ("not-ready", "unreachable")
        ],
    }
    spec |= {"nodeName": pod.node} if placed else {"schedulingGates": [{"name": "grove.io/podgang-pending-creation"}]}
    return {
        "apiVersion": CORE,
        "kind": "Pod",
        "metadata": {
            "creationTimestamp": _CREATED,
            "generateName": f"{clique.name}-",
            "labels": labels,
            "name": pod.name,
            "namespace": NAMESPACE,
            "ownerReferences": _owner(GROVE, "PodClique", clique.name, clique.uid),
            "resourceVersion": pod.version,
            "uid": pod.uid,
        },
        "spec": spec,
        "status": _pod_status(pod) if placed else _gated_status(),
    }


def _gated_status() -> Raw:
    condition = {
        "lastProbeTime": None,
        "lastTransitionTime": None,
        "message": "Scheduling is blocked due to non-empty scheduling gates",
        "reason": "SchedulingGated",
        "status": "False",
        "type": "PodScheduled",
    }
    return {"conditions": [condition], "phase": "Pending", "qosClass": "Burstable"}


def _pod_status(pod: PodWords) -> Raw:
    ready = pod.state is State.READY
    conditions = [
        {
            "lastProbeTime": None,
            "lastTransitionTime": _STARTED,
            "status": str(ready or kind not in {"Ready", "ContainersReady"}),
            "type": kind,
        }
        for kind in ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")
    ]
    running = {"running": {"startedAt": _STARTED}}
    waiting = {"waiting": {"message": "back-off 5m0s restarting failed container", "reason": pod.state.value}}
    container = {
        "containerID": f"containerd://{pod.uid}",
        "image": "registry.example.com/dynamo/vllm-runtime:0.6.1",
        "imageID": "registry.example.com/dynamo/vllm-runtime@sha256:5f70bf18a086007016e948b04aed3b82103a36bea41755b6",
        "lastState": {},
        "name": "main",
        "ready": ready,
        "restartCount": 0 if ready else 7,
        "started": ready,
        "state": running if ready else waiting,
    }
    return {
        "conditions": conditions,
        "containerStatuses": [container],
        "hostIP": pod.address,
        "phase": "Running",
        "podIP": pod.address,
        "podIPs": [{"ip": pod.address}],
        "qosClass": "Burstable",
        "startTime": _STARTED,
    }


# --------------------------------------------------------------------------------------------------- as text


class Form(Enum):
    """How a list is written; the value is the suffix of its file."""

    COMPACT = ".compact.json"
    PRETTY = ".pretty.json"
    YAML = ".yaml"


_FRAMES: Final = {
    Form.COMPACT: ('{"apiVersion":"v1","items":[', ",", '],"kind":"List","metadata":{"resourceVersion":""}}\n'),
    Form.PRETTY: (
        '{\n    "apiVersion": "v1",\n    "items": [\n',
        ",\n",
        '\n    ],\n    "kind": "List",\n    "metadata": {\n        "resourceVersion": ""\n    }\n}\n',
    ),
    Form.YAML: ("apiVersion: v1\nitems:\n", "", 'kind: List\nmetadata:\n  resourceVersion: ""\n'),
}
_NETWORK_STATUS: Final = (
    '[{\n    "name": "cbr0",\n    "interface": "eth0",\n    "ips": ["10.0.0.76"],\n    "default": true\n}]'
)
# Words that stand for what differs between the pods of a template; numbers are quoted in YAML, words are not.
_BLANK: Final = Clique(
    role="worker",
    set_name="Qset",
    set_uid="Qsetuid",
    replica=770001,
    group="Qgroup",
    group_uid="Qgroupuid",
    group_replica=-1,
    name="Qclique",
    uid="Qowner",
    serial=0,
    states=(),
)
_MARKS: Final = re.compile(
    "(Qgang|Qset|770001|Qgroup|770002|Qclique|Qowner|Qname|Quid|770003|Qnode|Qaddress|770004|Qhash)"
)


def write_list(path: Path, form: Form, pods: int, *, owners: bool, annotated: bool = False) -> None:
    """Write a cluster as ``kubectl get`` would, without managedFields.

    Args:
        path: the file to write.
        form: how.
        pods: how many, in the order in which they were created.
        owners: the sets, scaling groups and cliques as well, before the pods.
        annotated: with an annotation that network plug-ins write: JSON in a string, so full of escapes.
    """
    first, between, last = _FRAMES[form]
    with path.open("w", encoding="utf-8") as file:
        file.write(first)
        separator = ""
        for text in _texts(form, pods, owners=owners, annotated=annotated):
            file.write(separator + text)
            separator = between
        file.write(last)


def _texts(form: Form, pods: int, *, owners: bool, annotated: bool = False) -> Iterator[str]:
    if owners:
        for number in _sets_for(pods):
            yield from (_text(raw, form) for raw in _owners_of_set(number))
    annotations = {"k8s.v1.cni.cncf.io/network-status": _NETWORK_STATUS} if annotated else {}
    yield from islice(_pod_texts(form, pods, annotations), pods)


def _pod_texts(form: Form, pods: int, annotations: Mapping[str, str]) -> Iterator[str]:
    templates: dict[tuple[bool, State], list[str]] = {}
    for clique in _cliques_for(pods):
        for pod in _pods_of(clique):
            kind = bool(clique.group), pod.state
            if kind not in templates:
                blank = _blank_pod(clique, pod.state)
                if annotations:
                    blank["metadata"]["annotations"] = dict(annotations)
                templates[kind] = _MARKS.split(_text(blank, form))
            parts = templates[kind].copy()
            words = _words_for(clique, pod)
            for place in range(1, len(parts), 2):
                parts[place] = words[parts[place]]
            yield "".join(parts)


def _blank_pod(clique: Clique, state: State) -> Raw:
    """A pod with marks for everything that differs between pods of one kind."""
    pod = PodWords("Qname", "Quid", "770003", "Qnode", "Qaddress", 770004, state)
    blank = _pod(_BLANK, pod)
    labels = blank["metadata"]["labels"]
    labels |= {"grove.io/podgang": "Qgang", "grove.io/pod-template-hash": "Qhash"}
    if not clique.group:
        del labels["grove.io/podcliquescalinggroup"], labels["grove.io/podcliquescalinggroup-replica-index"]
    else:
        labels["grove.io/podcliquescalinggroup-replica-index"] = "770002"
    return blank


def _words_for(clique: Clique, pod: PodWords) -> dict[str, str]:
    return {
        "Qgang": clique.gang,
        "Qset": clique.set_name,
        "770001": str(clique.replica),
        "Qgroup": clique.group,
        "770002": str(clique.group_replica),
        "Qclique": clique.name,
        "Qowner": clique.uid,
        "Qname": pod.name,
        "Quid": pod.uid,
        "770003": pod.version,
        "Qnode": pod.node,
        "Qaddress": pod.address,
        "770004": str(pod.number),
        "Qhash": _HASHES[clique.role],
    }


def _text(raw: Raw, form: Form) -> str:
    if form is Form.COMPACT:
        return json.dumps(raw, separators=(",", ":"))
    if form is Form.PRETTY:
        text = json.dumps(raw, indent=4)
        return " " * 8 + text.replace("\n", "\n" + " " * 8)
    return yaml.dump([raw], Dumper=getattr(yaml, "CSafeDumper", yaml.SafeDumper), width=1000)


def texts_of_pods(pods: int) -> Iterable[str]:
    """The pods one by one, each as compact JSON."""
    return _texts(Form.COMPACT, pods, owners=False)
