"""Claims of ComputeDomains for NVIDIA's own driver."""

from tests.cluster.api import Json
from tests.cluster.nvidia.devices import DRIVER, SHARED_CLASS


def claim_of(name: str, *, flat: bool = False) -> Json:
    """A claim to a domain of the design; ``flat`` as it was written before ``resource.k8s.io/v1``."""
    selectors = [{"cel": {"expression": f'device.attributes["{DRIVER}"].name == "{name}"'}}]
    wanted = {"deviceClassName": SHARED_CLASS, "selectors": selectors}
    request = {"name": "mnnvl", **(wanted if flat else {"exactly": wanted})}
    spec = {"devices": {"requests": [request]}}
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": name}, "spec": spec}
