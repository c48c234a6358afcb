"""Where a situation is played: a namespace with nodes of its own, and what a user does in it."""

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tests.beside.go_operator import GoOperator
from tests.cluster.api import Api, Json, wait_until
from tests.cluster.scenes import Scene, clique, group, is_living, is_ready

NEW: Final = "example.com/main:2"
NEWER: Final = "example.com/main:3"
READY_SECONDS: Final = 2
STOP_SECONDS: Final = 1
NODES: Final = 3
_KUBELET: Final = "kubelet.grove.test"
NAME: Final = "llama"


def part(name: str, replicas: int, minimum: int, *, ready: int = READY_SECONDS, **spec: Any) -> Json:
    """A clique whose pods need a while to be ready, and another while to end."""
    times = {f"{_KUBELET}/ready-after": f"{ready}s", f"{_KUBELET}/delete-after": f"{STOP_SECONDS}s"}
    return {**clique(name, replicas, minimum=minimum, **spec), "annotations": times}


class Stage(Scene):
    """A scene with the sets that situations are about."""

    def __init__(self, api: Api, namespace: str, operator: GoOperator) -> None:
        super().__init__(api, namespace, nodes=NODES)
        self.operator = operator

    def two(self, *, replicas: int = 1, worker: tuple[int, int] = (4, 3), **template: Any) -> Json:
        """A set of two standalone cliques."""
        cliques = (part("router", 1, 1), part("worker", *worker))
        return self.any_order(*cliques, replicas=replicas, **template)

    def groups(self, *, size: int = 3, minimum: int = 1, replicas: int = 1, **template: Any) -> Json:
        """A set of a standalone clique and a scaling group of two cliques."""
        cliques = (part("frontend", 2, 1), part("leader", 1, 1), part("worker", 2, 2))
        pool = group("pool", "leader", "worker", replicas=size, minimum=minimum)
        return self.any_order(*cliques, replicas=replicas, podCliqueScalingGroups=[pool], **template)

    def any_order(self, *cliques: Json, replicas: int = 1, **template: Any) -> Json:
        template = {"cliqueStartupType": "CliqueStartupTypeAnyOrder", **template}
        return self.set_of(*cliques, replicas=replicas, **template)

    def make(self, manifest: Json, *, ready: bool = True) -> None:
        """Create a set, and wait until all its pods are ready."""
        before = len(self.pods())
        self.api.create(manifest)
        if ready:
            self.await_ready(before + pods_of(manifest), seconds=120)

    def edit(self, change: Callable[[Json], None], name: str = NAME) -> None:
        """Change the spec of a set as stored."""
        spec = self.get("podcliquesets", name)["spec"]
        change(spec)
        self.patch("podcliquesets", name, {"spec": spec})

    def image(self, image: str = NEW, *cliques: str, name: str = NAME) -> None:
        """Another image for these cliques of a set, or for all."""

        def change(spec: Json) -> None:
            for each in spec["template"]["cliques"]:
                if each["name"] in cliques or not cliques:
                    each["spec"]["podSpec"]["containers"][0]["image"] = image

        self.edit(change, name)

    def each_clique(self, change: Callable[[Json], None], name: str = NAME) -> None:
        """Change the spec of every clique of a set."""

        def change_all(spec: Json) -> None:
            for each in spec["template"]["cliques"]:
                change(each["spec"])

        self.edit(change_all, name)

    def first(self, clique: str) -> str:
        """Name of the first pod of a PodClique."""
        return str(min(pod["metadata"]["name"] for pod in self.pods(clique)))

    def annotate(self, pod: str, **annotations: str | None) -> None:
        self.api.annotate("pods", pod, self.namespace, **annotations)

    def await_unready(self, number: int) -> None:
        """Wait until so many pods are not ready."""
        wait_until(
            lambda: [pod["metadata"]["name"] for pod in self.pods() if not is_ready(pod)],
            lambda found: len(found) == number,
            f"{number} pods are not ready",
        )

    def await_all_unready(self, clique: str) -> None:
        """Wait until no pod of a PodClique is ready."""
        wait_until(
            lambda: [pod["metadata"]["name"] for pod in self.pods(clique) if is_ready(pod)],
            lambda found: not found,
            f"no pod of {clique} is ready",
        )

    def await_changed(self, number: int, image: str = NEW, *, seconds: float = 90) -> None:
        """Wait until so many pods have an image."""
        wait_until(
            lambda: [p for p in self.pods() if p["spec"]["containers"][0]["image"] == image and is_living(p)],
            lambda found: len(found) >= number,
            f"{number} pods have {image}",
            seconds=seconds,
        )

    def lose_node(self, node: str) -> None:
        """Let a node be unreachable: the kubelet of it says nothing any more, and the node controller taints it."""
        taints = [
            {"key": "node.kubernetes.io/unreachable", "effect": "NoExecute"},
            {"key": "node.kubernetes.io/unreachable", "effect": "NoSchedule"},
        ]
        self.api.patch("nodes", node, patch={"spec": {"taints": taints}})
        for pod in self.pods():
            if pod["spec"].get("nodeName") == node:
                self._say_unready(pod["metadata"]["name"])

    def _say_unready(self, pod: str) -> None:
        """As the node controller marks a pod of a node that does not answer; container statuses stay."""
        self.annotate(pod, never_ready="true")
        unready = {"type": "Ready", "status": "False", "reason": "NodeNotReady"}
        body = {"status": {"conditions": [unready]}}
        media = "application/strategic-merge-patch+json"
        self.api.patch("pods", pod, self.namespace, patch=body, media=media, subresource="status")


def pods_of(manifest: Json) -> int:
    """How many pods a set has."""
    template = manifest["spec"]["template"]
    sizes = {each["name"]: each["spec"]["replicas"] for each in template["cliques"]}
    factors = dict.fromkeys(sizes, 1)
    for each in template.get("podCliqueScalingGroups", []):
        factors |= dict.fromkeys(each["cliqueNames"], each["replicas"])
    return int(manifest["spec"]["replicas"] * sum(sizes[name] * factors[name] for name in sizes))


Act = Callable[[Stage], None]


def nothing(stage: Stage) -> None:
    """Do nothing."""


@dataclass(frozen=True, slots=True)
class Situation:
    """What is prepared, what is done while the operator stands still, and what is done after it goes on.

    Attributes:
        title: in a few words.
        prepare: until the cluster is as it is to be; the operator works.
        settle: seconds without a write to wait for after that; 0 does not wait.
        edit: what the user or the cluster does; the operator stands still.
        meanwhile: what is done after the operator goes on.
        quiet: seconds without a write after which the situation is over.
        longest: seconds after which it is over in any case.
        restart: whether the operator is killed instead of paused, and started anew.
        cordoned: whether all nodes are closed while the operator acts.
        never_ready: short names of cliques whose pods do not become ready while the operator acts.
        not_ready: names of PodCliques, with the number of pods, that are not ready as long as they exist.
        lost: whether the first node does not answer.
    """

    title: str
    prepare: Act
    edit: Act
    settle: float = 3.0
    meanwhile: Act = nothing
    quiet: float = 8.0
    longest: float = 120.0
    restart: bool = False
    cordoned: bool = False
    never_ready: tuple[str, ...] = ()
    not_ready: Mapping[str, int] = field(default_factory=dict)
    lost: bool = False

    def scenario(self, namespace: str) -> Json:
        """Nodes, kubelet and events of the scenario that plays the same."""
        closed = [{"at": "0s", "cordon": {"node": f"{namespace}-{node}"}} for node in range(NODES) if self.cordoned]
        node = {"node": f"{namespace}-0"}
        lost = [{"at": "0s", "cordon": node}, {"at": "0s", "loseNode": node}] if self.lost else []
        crashed = [
            {"at": "0s", "crashPod": {"clique": clique, "index": index, "recovers": "24h"}}
            for clique, number in self.not_ready.items()
            for index in range(number)
        ]
        room = {"cpu": "32", "memory": "256Gi", "nvidia.com/gpu": 8, "pods": 110}
        pool = {"name": namespace, "count": NODES, "labels": {"test": namespace}, "capacity": room}
        times = {"start": "0s", "ready": f"{READY_SECONDS}s", "stop": f"{STOP_SECONDS}s"}
        slow = {name: {"ready": "24h"} for name in self.never_ready}
        return {
            "nodes": [pool],
            "kubelet": {**times, "cliques": slow},
            "scheduler": {"delay": "0s", "gangAware": False},
            "events": [*closed, *lost, *crashed],
        }


def fresh_namespace(name: str) -> str:
    """A name that no earlier run had."""
    return f"{name[:40]}-{secrets.token_hex(2)}"
