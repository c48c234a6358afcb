"""An operator that keeps topologies, and readers of its writes."""

import http.client
from typing import Any, Final

from grove_core.resources.api_names import TOPOLOGY_FINALIZER
from tests.cluster.api import MERGE, Api, Json, wait_until
from tests.cluster.operators import Operator
from tests.cluster.programs import HOST
from tests.cluster.scenes import Scene

TOPOLOGIES: Final = "clustertopologies"
KEYS: Final = {"zone": "topology.kubernetes.io/zone", "rack": "example.com/rack", "host": "kubernetes.io/hostname"}


def levels(**keys: str) -> list[Json]:
    return [{"domain": domain, "key": key} for domain, key in keys.items()]


def reported(*, enabled: bool = True, **keys: str) -> Json:
    """Topology-aware scheduling in a configuration."""
    return {"enabled": enabled, "levels": levels(**(keys or KEYS))}


class Keeping:
    """An operator of all namespaces with exactly the printed roles, and what the server says of topologies."""

    def __init__(self, operator: Operator, scene: Scene) -> None:
        self.operator = operator
        self.scene = scene
        self.api: Api = scene.api

    def start(self, **configured: Any) -> None:
        self.operator.topology = reported(**configured)
        self.operator.start()

    def find(self, name: str, kind: str = TOPOLOGIES) -> Json:
        return self.api.find(kind, name) or {}

    def await_held(self, name: str, *, held: bool = True, kind: str = TOPOLOGIES) -> Json:
        def fits(found: Json) -> bool:
            return bool(found) and (TOPOLOGY_FINALIZER in found["metadata"].get("finalizers", ())) == held

        return wait_until(lambda: self.find(name, kind), fits, f"{name} is held: {held}")

    def change(self, name: str, **keys: str) -> None:
        """As an administrator that no webhook stops."""
        self.api.patch(TOPOLOGIES, name, patch={"spec": {"levels": levels(**keys)}}, media=MERGE)

    def await_keys(self, gang: str, *keys: str) -> Json:
        """Wait until a gang has these required keys: its own, then those of its cliques."""
        return self.scene.await_object("podgangs", gang, lambda found: required(found) == list(keys), f"{gang}: {keys}")

    def ready_page(self) -> str:
        port = self.operator.await_line("operator starts")["port"]
        connection = http.client.HTTPConnection(HOST, port, timeout=5)
        try:
            connection.request("GET", "/readyz")
            return connection.getresponse().read().decode()
        finally:
            connection.close()

    def events(self, name: str) -> list[Json]:
        """The Events about a topology: those about cluster-wide objects are in the default namespace."""
        path = "/apis/events.k8s.io/v1/namespaces/default/events"
        found: list[Json] = self.api.request("GET", path)["items"]
        return [one for one in found if one["regarding"]["name"] == name]


def required(gang: Json) -> list[str]:
    spec = gang.get("spec", {})
    constraints = [
        spec.get("topologyConstraint"),
        *(one.get("topologyConstraint") for one in spec.get("podgroups", [])),
    ]
    return [one["packConstraint"]["required"] for one in constraints if one]
