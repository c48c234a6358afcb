"""Synthetic nodes as ``kubectl get nodes -o json`` prints them: machines of several kinds and clouds in one cluster.

``python -m benchmarks.nodes h100=12 gb200=72`` prints a list of so many of each; ``examples/topology`` was made by it.

Rule for this file: the same numbers give the same nodes, to the byte.
"""

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import Any, Final

from grove_core.resources.api_names import GROVE

Raw = dict[str, Any]
_CREATED: Final = "2026-11-02T08:00:00Z"
_H100_RACK: Final = 4
"""Machines of 8 GPUs in a rack; eight racks in a zone."""
_NVL72_RACK: Final = 18
"""Compute trays of 4 GPUs that share an NVSwitch; four racks in a block, four blocks in a zone."""
_IMAGES: Final = ("engine:1.4", "router:2.0", "cuda:12.9-base", "dcgm-exporter:4.2", "pause:3.10")


def h100(number: int) -> Raw:
    """A DGX H100: zone, rack, host."""
    rack = number // _H100_RACK
    labels = {
        "topology.kubernetes.io/zone": f"zone-{'abcdefgh'[rack // 8 % 8]}",
        "example.com/h100-rack": f"h{rack:03}",
        "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3",
        "node.kubernetes.io/instance-type": "dgx-h100",
    }
    return _node(f"h100-{number:04}", number, labels, gpus=8, cpu=224, memory="2063937Mi")


def gb200(number: int) -> Raw:
    """A compute tray of a GB200 NVL72: zone, block, rack, host."""
    rack = number // _NVL72_RACK
    block = rack // 4
    labels = {
        "topology.kubernetes.io/zone": f"zone-{'abcdefgh'[block // 4 % 8]}",
        "example.com/nvl-block": f"b{block:02}",
        "example.com/nvl-rack": f"n{rack:03}",
        "nvidia.com/gpu.product": "NVIDIA-GB200",
        "nvidia.com/gpu.clique": f"9f1e0c2a-0000-4000-8000-{rack:012x}.0",
        "node.kubernetes.io/instance-type": "gb200-nvl72",
    }
    return _node(f"gb200-{number:04}", number, labels, gpus=4, cpu=144, memory="960000Mi")


def p5(number: int) -> Raw:
    """A machine of one cloud: region, zone, and network nodes from wide to narrow."""
    labels = {
        "topology.kubernetes.io/region": "us-east-1",
        "topology.kubernetes.io/zone": f"us-east-1{'ab'[number // 4 % 2]}",
        "topology.k8s.aws/zone-id": f"use1-az{number // 4 % 2 + 1}",
        "topology.k8s.aws/network-node-layer-2": f"nn-2{number // 4:03}",
        "topology.k8s.aws/network-node-layer-3": f"nn-3{number // 2:03}",
        "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3",
        "node.kubernetes.io/instance-type": "p5.48xlarge",
    }
    return _node(f"ip-10-0-{number // 250}-{number % 250}", number, labels, gpus=8, cpu=190, memory="2060000Mi")


def a3(number: int) -> Raw:
    """A machine of another cloud: region, zone, block, subblock."""
    labels = {
        "topology.kubernetes.io/region": "us-central1",
        "topology.kubernetes.io/zone": "us-central1-a",
        "cloud.google.com/gce-topology-block": f"block-{number // 8:02}",
        "cloud.google.com/gce-topology-subblock": f"subblock-{number // 4:02}",
        "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3",
        "node.kubernetes.io/instance-type": "a3-highgpu-8g",
    }
    return _node(f"gke-a3-{number:04}", number, labels, gpus=8, cpu=206, memory="1850000Mi")


KINDS: Final[Mapping[str, Callable[[int], Raw]]] = {"h100": h100, "gb200": gb200, "p5": p5, "a3": a3}


def _topology(name: str, **levels: str) -> Raw:
    spec = {"levels": [{"domain": domain, "key": key} for domain, key in levels.items()]}
    return {"apiVersion": GROVE, "kind": "ClusterTopology", "metadata": {"name": name}, "spec": spec}


_ZONE: Final = "topology.kubernetes.io/zone"
_HOST: Final = "kubernetes.io/hostname"
TOPOLOGIES: Final = (
    _topology("dgx-h100", zone=_ZONE, rack="example.com/h100-rack", host=_HOST),
    _topology("gb200-nvl72", zone=_ZONE, block="example.com/nvl-block", rack="example.com/nvl-rack", host=_HOST),
)


def gang_of(pods: int) -> Raw:
    """A set of one gang, in one zone if that can be; group replicas in one rack each, their workers on one host."""
    asks = {"cpu": "8", "memory": "64Gi", "nvidia.com/gpu": "2"}
    containers = [{"name": "engine", "image": "registry.example.com/engine:1.4", "resources": {"limits": asks}}]

    def clique(name: str, replicas: int) -> Raw:
        spec = {"roleName": name, "replicas": replicas, "minAvailable": replicas, "podSpec": {"containers": containers}}
        return {"name": name, "spec": spec}

    group = {
        "name": "pool",
        "cliqueNames": ["leader", "worker"],
        "replicas": pods // 4,
        "minAvailable": pods // 4,
        "topologyConstraint": {"packDomain": "rack"},
    }
    template = {
        "clusterTopologyName": "dgx-h100",
        "topologyConstraint": {"pack": {"preferred": "zone"}},
        "podCliqueScalingGroups": [group],
        "cliques": [clique("leader", 1), {**clique("worker", 3), "topologyConstraint": {"packDomain": "host"}}],
    }
    meta = {"name": "llm", "namespace": "ml"}
    return {
        "apiVersion": GROVE,
        "kind": "PodCliqueSet",
        "metadata": meta,
        "spec": {"replicas": 1, "template": template},
    }


def nodes(**counts: int) -> Iterator[Raw]:
    """So many of each kind."""
    return chain.from_iterable(map(KINDS[kind], range(count)) for kind, count in counts.items())


def text_of(items: Iterator[Raw]) -> str:
    """As ``kubectl get -o json`` prints them."""
    return json.dumps({"apiVersion": "v1", "items": list(items), "kind": "List", "metadata": {}}, indent=4) + "\n"


def _node(name: str, number: int, labels: Raw, *, gpus: int, cpu: int, memory: str) -> Raw:
    has = {
        "cpu": str(cpu),
        "ephemeral-storage": "1873437324Ki",
        "hugepages-2Mi": "0",
        "memory": memory,
        "nvidia.com/gpu": str(gpus),
        "pods": "110",
    }
    ready = {"type": "Ready", "status": "True", "reason": "KubeletReady", "lastTransitionTime": _CREATED}
    pressures = (
        {"type": f"{what}Pressure", "status": "False", "reason": f"KubeletHas{what}", "lastTransitionTime": _CREATED}
        for what in ("Memory", "Disk", "PID")
    )
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "annotations": {"volumes.kubernetes.io/controller-managed-attach-detach": "true"},
            "creationTimestamp": _CREATED,
            "labels": {
                "kubernetes.io/arch": "arm64" if "GB200" in labels["nvidia.com/gpu.product"] else "amd64",
                "kubernetes.io/hostname": name,
                "kubernetes.io/os": "linux",
                "nvidia.com/gpu.count": str(gpus),
                **labels,
            },
            "name": name,
            "resourceVersion": str(7000 + number),
            "uid": f"0d9e0000-0000-4000-8000-{gpus:04}{number:08}",
        },
        "spec": {"podCIDR": f"10.{number // 256 % 256}.{number % 256}.0/24"},
        "status": {
            "addresses": [{"type": "Hostname", "address": name}],
            "allocatable": has,
            "capacity": {**has, "cpu": str(cpu + 2)},
            "conditions": [*pressures, ready],
            "images": [
                {"names": [f"registry.example.com/serve/{image}"], "sizeBytes": 900_000_000 + 1000 * place}
                for place, image in enumerate(_IMAGES)
            ],
            "nodeInfo": {"kubeletVersion": "v1.35.4", "osImage": "Ubuntu 24.04.3 LTS", "operatingSystem": "linux"},
        },
    }


if __name__ == "__main__":
    asked = (word.partition("=") for word in sys.argv[1:])
    sys.stdout.write(text_of(nodes(**{kind: int(count) for kind, _, count in asked})))
