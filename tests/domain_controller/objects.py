"""ComputeDomains as a server shows them."""

from typing import Any, Final

Json = dict[str, Any]
NVIDIA: Final = "resource.nvidia.com/v1beta1"
LABEL: Final = "resource.nvidia.com/computeDomain"


def raw(kind: str, name: str, version: int, *, uid: str = "", **more: Any) -> Json:
    labels = {LABEL: "u1", f"{LABEL}.cliqueID": "c"}
    metadata = {"name": name, "namespace": "ml", "uid": uid or f"uid of {name}", "labels": labels}
    api_version = "v1" if kind == "Pod" else NVIDIA
    return {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {**metadata, "resourceVersion": str(version)},
        **more,
    }


def domain(version: int) -> Json:
    entry = {"name": "n1", "ipAddress": "10.0.0.1", "cliqueID": "c", "index": 0, "status": "Ready"}
    return raw("ComputeDomain", "d", version, uid="u1", spec={"numNodes": 1}, status={"nodes": [entry]})
