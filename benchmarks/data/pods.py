"""Pods as the API has them."""

from typing import Final

from benchmarks.data.cast import CREATED, NAMESPACE, STARTED, Clique, PodWords, Raw, State
from benchmarks.data.meta import labels_of, owned_by
from grove_core.resources.api_names import CORE, GROVE

GPUS: Final = 8
"""Of each pod."""


def pod_spec(clique: str, subdomain: str) -> Raw:
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
            "limits": {"nvidia.com/gpu": str(GPUS)},
            "requests": {"cpu": "2", "memory": "8Gi", "nvidia.com/gpu": str(GPUS)},
        },
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
    }
    return {"containers": [container], "restartPolicy": "Always", "terminationGracePeriodSeconds": 30}


def pod_as_raw(clique: Clique, pod: PodWords) -> Raw:
    """A pod."""
    placed = pod.state is not State.GATED
    subdomain = f"{clique.set_name}-{clique.replica}"
    labels = {
        "app.kubernetes.io/component": "pclq-pod",
        "app.kubernetes.io/managed-by": "grove-operator",
        "app.kubernetes.io/name": clique.name,
        **labels_of(clique),
        "grove.io/podclique": clique.name,
        "grove.io/podclique-pod-index": str(pod.number),
    }
    spec = {
        **pod_spec(clique.name, subdomain),
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
            "creationTimestamp": CREATED,
            "generateName": f"{clique.name}-",
            "labels": labels,
            "name": pod.name,
            "namespace": NAMESPACE,
            "ownerReferences": owned_by(GROVE, "PodClique", clique.name, clique.uid),
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
            "lastTransitionTime": STARTED,
            "status": str(ready or kind not in {"Ready", "ContainersReady"}),
            "type": kind,
        }
        for kind in ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")
    ]
    running = {"running": {"startedAt": STARTED}}
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
        "startTime": STARTED,
    }
