"""ComputeDomains for NVIDIA's own controller."""

from typing import Any, Final

from tests.cluster.api import Json
from tests.cluster.nvidia.definitions import GROUP

VERSION: Final = f"{GROUP}/v1beta1"


def domain(name: str, spec: Json | None = None, **metadata: Any) -> Json:
    """A ComputeDomain; of the released shape if no other is given."""
    shaped = {"numNodes": 0, "channel": {"resourceClaimTemplate": {"name": f"{name}-rct"}}}
    told = {"name": name, **metadata}
    return {"apiVersion": VERSION, "kind": "ComputeDomain", "metadata": told, "spec": spec or shaped}
