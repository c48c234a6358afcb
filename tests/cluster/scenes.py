"""What a test of the operator plays in: a namespace with nodes of its own, sets in it, and what becomes of them."""

from collections.abc import Callable
from typing import Any, Final

from tests.cluster.api import Api, Json, wait_until

API_VERSION: Final = "grove.io/v1alpha1"
IMAGE: Final = "example.com/main:1"
CLIQUE_LABEL: Final = "grove.io/podclique"
PARTS_OF_SETS: Final = ("podcliquesets", "podcliquescalinggroups", "podcliques")
INDEX_LABEL: Final = "grove.io/podclique-pod-index"


def clique(name: str, replicas: int = 1, *, minimum: int | None = None, image: str = IMAGE, **spec: Any) -> Json:
    """A clique of a template; ``spec`` goes beside its ``podSpec``."""
    container = {"name": "main", "image": image, "resources": {"limits": {"nvidia.com/gpu": "1"}}}
    return {
        "name": name,
        "spec": {
            "roleName": name,
            "replicas": replicas,
            "minAvailable": replicas if minimum is None else minimum,
            "podSpec": {"containers": [container]},
            **spec,
        },
    }


def light(name: str, replicas: int = 1) -> Json:
    """A clique that asks for no GPU."""
    found = clique(name, replicas)
    del found["spec"]["podSpec"]["containers"][0]["resources"]
    return found


def group(name: str, *cliques: str, replicas: int = 1, minimum: int = 1, **more: Any) -> Json:
    """A scaling group of a template."""
    return {"name": name, "cliqueNames": list(cliques), "replicas": replicas, "minAvailable": minimum, **more}


def condition(found: Json, kind: str) -> Json:
    """A condition of an object; empty if it is not there."""
    conditions: list[Json] = found.get("status", {}).get("conditions", [])
    return next((each for each in conditions if each["type"] == kind), {})


def is_ready(pod: Json) -> bool:
    return condition(pod, "Ready").get("status") == "True"


def is_living(pod: Json) -> bool:
    return "deletionTimestamp" not in pod["metadata"]


class Scene:
    """A namespace in the eyes of the administrator."""

    def __init__(self, api: Api, namespace: str, *, nodes: int = 2) -> None:
        self.api = api
        self.namespace = namespace
        api.add_nodes([f"{namespace}-{number}" for number in range(nodes)], {"test": namespace})

    def close(self) -> None:
        """Take the nodes away, and whatever waits for an operator that is gone."""
        for kind in PARTS_OF_SETS:
            for found in self._of(kind):
                name, metadata = found["metadata"]["name"], found["metadata"]
                if metadata.get("finalizers"):
                    self.api.patch(kind, name, self.namespace, patch={"metadata": {"finalizers": None}})
        self.api.request("DELETE", f"/api/v1/nodes?labelSelector=test%3D{self.namespace}")

    def _of(self, kind: str) -> list[Json]:
        try:
            return self.all_of(kind)
        except KeyError:
            return []

    def set_of(self, *cliques: Json, name: str = "llama", replicas: int = 1, **template: Any) -> Json:
        """A set whose pods go to the nodes of this scene; ``template`` goes into the template."""
        for each in cliques:
            each["spec"]["podSpec"]["nodeSelector"] = {"test": self.namespace}
        return {
            "apiVersion": API_VERSION,
            "kind": "PodCliqueSet",
            "metadata": {"name": name, "namespace": self.namespace},
            "spec": {"replicas": replicas, "template": {"cliques": list(cliques), **template}},
        }

    def all_of(self, resource: str, **query: str) -> list[Json]:
        return self.api.all_of(resource, self.namespace, **query)

    def names(self, resource: str, **query: str) -> list[str]:
        return sorted(found["metadata"]["name"] for found in self.all_of(resource, **query))

    def get(self, resource: str, name: str) -> Json:
        return self.api.get(resource, name, self.namespace)

    def find(self, resource: str, name: str) -> Json:
        """One object; an empty one if it is not there."""
        return self.api.find(resource, name, self.namespace) or {}

    def patch(self, resource: str, name: str, patch: Any, **more: Any) -> Json:
        return self.api.patch(resource, name, self.namespace, patch=patch, **more)

    def scale(self, resource: str, name: str, replicas: int) -> None:
        """As an autoscaler does it."""
        self.patch(resource, name, {"spec": {"replicas": replicas}}, subresource="scale")

    def new_image(self, image: str, name: str = "llama") -> None:
        """Edit all cliques of a set."""
        cliques = self.get("podcliquesets", name)["spec"]["template"]["cliques"]
        for each in cliques:
            each["spec"]["podSpec"]["containers"][0]["image"] = image
        self.patch("podcliquesets", name, {"spec": {"template": {"cliques": cliques}}})

    def pods(self, clique: str | None = None) -> list[Json]:
        """All pods that live, or those of one PodClique."""
        query = {"labelSelector": f"{CLIQUE_LABEL}={clique}"} if clique else {}
        return [pod for pod in self.all_of("pods", **query) if is_living(pod)]

    def annotate_pods(self, clique: str, **annotations: str | None) -> None:
        """Tell the kubelet what is to become of the pods of a PodClique."""
        for pod in self.pods(clique):
            self.api.annotate("pods", pod["metadata"]["name"], self.namespace, **annotations)

    def await_ready(self, number: int, clique: str | None = None, *, seconds: float = 60) -> list[Json]:
        """Wait until there are exactly so many pods, all of them ready."""

        def ready(pods: list[Json]) -> bool:
            return len(pods) == number and all(map(is_ready, pods))

        try:
            return wait_until(lambda: self.pods(clique), ready, f"{number} pods are ready", seconds=seconds)
        except AssertionError as fault:
            shown = [(pod["metadata"]["name"], is_ready(pod), pod["spec"].get("nodeName")) for pod in self.pods(clique)]
            raise AssertionError(f"not within {seconds:g} s: {number} pods are ready; there are {shown}") from fault

    def await_status(self, name: str = "llama", **fields: Any) -> Json:
        """Wait until the status of a set says this."""
        return self.await_counts("podcliquesets", name, fields)

    def await_counts(self, resource: str, name: str, fields: Json) -> Json:
        """Wait until the status of an object has these fields."""

        def has_them(found: Json) -> bool:
            status = found.get("status", {})
            return {key: status.get(key) for key in fields} == fields

        return self.await_object(resource, name, has_them, f"the status of {name} is {fields}")

    def await_object(
        self, resource: str, name: str, holds: Callable[[Json], Any], what: str, *, seconds: float = 60
    ) -> Json:
        return wait_until(lambda: self.find(resource, name), holds, what, seconds=seconds)

    def await_condition(self, resource: str, name: str, kind: str, status: str) -> Json:
        return self.await_object(
            resource, name, lambda found: condition(found, kind).get("status") == status, f"{kind} of {name}: {status}"
        )

    def await_gone(self, resource: str, name: str, *, seconds: float = 60) -> None:
        self.await_object(resource, name, lambda found: not found, f"{name} is gone", seconds=seconds)

    def events(self, reason: str | None = None) -> list[Json]:
        """The Events reported to users, under ``events.k8s.io``."""
        found: list[Json] = self.api.request("GET", f"/apis/events.k8s.io/v1/namespaces/{self.namespace}/events")[
            "items"
        ]
        return [each for each in found if reason in {None, each["reason"]}]

    def dump(self) -> list[str]:
        """Kind and name of everything in the namespace but Events, leases and what every namespace has."""
        passing = {"Lease", "Event"}
        return sorted(
            f"{found['kind']} {found['metadata']['name']}"
            for found in self.api.everything_in(self.namespace)
            if found["kind"] not in passing
        )
