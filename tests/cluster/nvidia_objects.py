"""ComputeDomains and claims to them, for NVIDIA's own controller and driver."""

from typing import Any, Final

from tests.cluster.api import Json
from tests.cluster.nvidia.definitions import GROUP
from tests.cluster.nvidia.devices import DRIVER, SHARED_CLASS

VERSION: Final = f"{GROUP}/v1beta1"


def domain(name: str, spec: Json | None = None, **metadata: Any) -> Json:
    """A ComputeDomain; of the released shape if no other is given."""
    shaped = {"numNodes": 0, "channel": {"resourceClaimTemplate": {"name": f"{name}-rct"}}}
    named = {"name": name, **metadata}
    return {"apiVersion": VERSION, "kind": "ComputeDomain", "metadata": named, "spec": spec or shaped}


def claim_of(name: str, *, flat: bool = False) -> Json:
    """A claim to a domain of the design; ``flat`` as it was written before ``resource.k8s.io/v1``."""
    selectors = [{"cel": {"expression": f'device.attributes["{DRIVER}"].name == "{name}"'}}]
    wanted = {"deviceClassName": SHARED_CLASS, "selectors": selectors}
    request = {"name": "mnnvl", **(wanted if flat else {"exactly": wanted})}
    spec = {"devices": {"requests": [request]}}
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": name}, "spec": spec}
