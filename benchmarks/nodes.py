"""Synthetic nodes as ``kubectl get nodes -o json`` prints them: DGX H100 and GB200 NVL72 machines in one cluster.

``python -m benchmarks.nodes H100 GB200`` prints a list of so many of each; ``examples/topology`` was made by it.

Rule for this file: the same numbers give the same nodes, to the byte.
"""

import json
import sys
from collections.abc import Iterator
from itertools import chain
from typing import Any, Final

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


def nodes(of_h100: int, of_gb200: int) -> Iterator[Raw]:
    """So many of each."""
    return chain(map(h100, range(of_h100)), map(gb200, range(of_gb200)))


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
    sys.stdout.write(text_of(nodes(*map(int, sys.argv[1:]))))
