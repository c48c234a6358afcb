"""Random events of the churn: edits, scaling, pods that fail, nodes that close, sets that go and come again."""

import random
from collections.abc import Callable, Mapping
from typing import Any, Final

from tests.beside.churn_sets import SHAPES
from tests.beside.stage import NAME, NODES, Stage
from tests.cluster.api import Json

Undo = Callable[[], None]
Outcome = tuple[str, float, Undo | None]
"""What was done in words, and after how many seconds it is to be undone, and how."""
OLD_IMAGES: Final = 4


class Churn:
    """Plays one event at a time in a set that it chooses.

    Args:
        stages: by their shape.
        chance: the source of all that is random.
        pace: what termination delays, and how long events last, are multiplied by.
    """

    def __init__(self, stages: Mapping[str, Stage], chance: random.Random, pace: float = 1) -> None:
        self._stages = stages
        self._chance = chance
        self._pace = pace
        self._edits = 1

    def make_all(self) -> None:
        """Create a set on each stage."""
        for shape in self._stages:
            self._create(self._stages[shape], shape)

    def play(self) -> tuple[str, Outcome]:
        """Choose an event and a set, and play it; the shape of the set, and what was done.

        Raises:
            ApiError: The server refused it.
            LookupError: There is nothing in the set that it could happen to.
        """
        (name,) = self._chance.choices(list(EVENTS), [weight for weight, _ in EVENTS.values()])
        shape = self._chance.choice(sorted(self._stages))
        said, seconds, undo = EVENTS[name][1](self, self._stages[shape], shape)
        return shape, (f"{name} {said}".rstrip(), seconds * self._pace, undo)

    def _one(self, found: list[Any]) -> Any:
        if not found:
            raise LookupError("nothing there")
        return self._chance.choice(found)

    def _while(self) -> float:
        """Shorter than the delay, about as long, or longer."""
        return self._chance.choice((4.0, 12.0, 19.0, 21.0, 45.0)) + self._chance.random()

    def _image(self) -> str:
        """A new image, or now and then one that was there before."""
        self._edits += 1
        back = self._chance.randrange(1, OLD_IMAGES) if self._chance.random() < 0.2 else 0
        return f"example.com/main:{max(1, self._edits - back)}"

    def all_images(self, stage: Stage, _shape: str) -> Outcome:
        image = self._image()
        stage.image(image)
        return image, 0, None

    def one_image(self, stage: Stage, _shape: str) -> Outcome:
        image = self._image()
        clique = self._one(_templates(stage))["name"]
        stage.image(image, clique)
        return f"{clique} {image}", 0, None

    def label(self, stage: Stage, _shape: str) -> Outcome:
        value = f"v{self._chance.randrange(1000)}"
        number = self._chance.randrange(len(_templates(stage)))

        def change(spec: Json) -> None:
            spec["template"]["cliques"][number].setdefault("labels", {})["example.com/tier"] = value

        stage.edit(change)
        return f"clique {number} {value}", 0, None

    def template_size(self, stage: Stage, _shape: str) -> Outcome:
        number = self._chance.randrange(len(_templates(stage)))
        more = self._chance.randrange(3)
        said = []

        def change(spec: Json) -> None:
            clique = spec["template"]["cliques"][number]["spec"]
            clique["replicas"] = clique["minAvailable"] + more
            said.append(f"clique {number} {clique['replicas']}")

        stage.edit(change)
        return said[0], 0, None

    def scale_clique(self, stage: Stage, _shape: str) -> Outcome:
        members = "grove.io/podcliquescalinggroup"
        alone = [each for each in stage.all_of("podcliques") if members not in each["metadata"]["labels"]]
        chosen = self._one(alone)
        name, least = chosen["metadata"]["name"], chosen["spec"]["minAvailable"]
        size = max(1, least + self._chance.randrange(-1, 4))
        stage.scale("podcliques", name, size)
        return f"{name} {size}", 0, None

    def scale_group(self, stage: Stage, _shape: str) -> Outcome:
        chosen = self._one(stage.all_of("podcliquescalinggroups"))
        name, size = chosen["metadata"]["name"], chosen["spec"]["minAvailable"] + self._chance.randrange(3)
        stage.scale("podcliquescalinggroups", name, size)
        return f"{name} {size}", 0, None

    def scale_set(self, stage: Stage, _shape: str) -> Outcome:
        size = self._chance.choice((0, 1, 1, 2, 2, 3))
        stage.scale("podcliquesets", NAME, size)
        return str(size), 0, None

    def pod_not_ready(self, stage: Stage, _shape: str) -> Outcome:
        return self._one_pod(stage, not_ready="true")

    def clique_not_ready(self, stage: Stage, _shape: str) -> Outcome:
        return self._one_clique(stage, not_ready="true")

    def crash(self, stage: Stage, _shape: str) -> Outcome:
        return self._one_pod(stage, crash_after="0s")

    def clique_crashes(self, stage: Stage, _shape: str) -> Outcome:
        return self._one_clique(stage, crash_after="0s")

    def fail_pod(self, stage: Stage, _shape: str) -> Outcome:
        name = self._one(stage.pods())["metadata"]["name"]
        stage.patch("pods", name, {"status": {"phase": "Failed"}}, subresource="status")
        return name, self._while(), lambda: stage.api.delete("pods", name, stage.namespace)

    def delete_pod(self, stage: Stage, _shape: str) -> Outcome:
        name = self._one(stage.pods())["metadata"]["name"]
        stage.api.delete("pods", name, stage.namespace)
        return name, 0, None

    def delete_pods(self, stage: Stage, _shape: str) -> Outcome:
        clique = self._one(stage.all_of("podcliques"))["metadata"]["name"]
        for pod in stage.pods(clique):
            stage.api.delete("pods", pod["metadata"]["name"], stage.namespace)
        return clique, 0, None

    def cordon(self, stage: Stage, _shape: str) -> Outcome:
        nodes = [f"{stage.namespace}-{number}" for number in range(NODES)]
        closed = nodes if self._chance.random() < 0.5 else [self._one(nodes)]
        _close(stage, closed, True)
        return f"{len(closed)}", self._while(), lambda: _close(stage, nodes, None)

    def drain(self, stage: Stage, _shape: str) -> Outcome:
        node = f"{stage.namespace}-{self._chance.randrange(NODES)}"
        _close(stage, [node], True)
        for pod in stage.pods():
            if pod["spec"].get("nodeName") == node:
                stage.api.delete("pods", pod["metadata"]["name"], stage.namespace)
        return node, self._while(), lambda: _close(stage, [node], None)

    def restart(self, stage: Stage, _shape: str) -> Outcome:
        stage.operator.kill()
        return "", self._chance.choice((0.0, 3.0, 10.0)), lambda: _started(stage)

    def delete_set(self, stage: Stage, shape: str) -> Outcome:
        stage.api.delete("podcliquesets", NAME, stage.namespace)
        return "", 3 + 20 * self._chance.random(), lambda: self._create_again(stage, shape)

    def _create(self, stage: Stage, shape: str) -> None:
        manifest = SHAPES[shape](stage)
        template = manifest["spec"]["template"]
        seconds = int(template["terminationDelay"].removesuffix("s"))
        template["terminationDelay"] = f"{round(seconds * self._pace)}s"
        stage.make(manifest, ready=False)

    def _create_again(self, stage: Stage, shape: str) -> None:
        if stage.find("podcliquesets", NAME):
            raise LookupError("the set that was deleted is still there")
        self._create(stage, shape)

    def _one_pod(self, stage: Stage, **annotation: str) -> Outcome:
        name = self._one(stage.pods())["metadata"]["name"]
        return self._until_undone(stage, [name], name, **annotation)

    def _one_clique(self, stage: Stage, **annotation: str) -> Outcome:
        clique = self._one(stage.all_of("podcliques"))["metadata"]["name"]
        names = [pod["metadata"]["name"] for pod in stage.pods(clique)]
        return self._until_undone(stage, names, clique, **annotation)

    def _until_undone(self, stage: Stage, names: list[str], said: str, **annotation: str) -> Outcome:
        """Annotate pods, and later take the annotation away."""
        if not names:
            raise LookupError("no pods")
        for name in names:
            stage.annotate(name, **annotation)

        def undo() -> None:
            there = {pod["metadata"]["name"] for pod in stage.pods()}
            for name in there.intersection(names):
                stage.annotate(name, **dict.fromkeys(annotation))

        return said, self._while(), undo


Event = Callable[[Churn, Stage, str], Outcome]
EVENTS: Final[Mapping[str, tuple[float, Event]]] = {
    "image of all cliques": (4, Churn.all_images),
    "image of one clique": (4, Churn.one_image),
    "label": (2, Churn.label),
    "replicas of the template": (2, Churn.template_size),
    "clique scaled": (3, Churn.scale_clique),
    "group scaled": (3, Churn.scale_group),
    "set scaled": (2, Churn.scale_set),
    "pod not ready": (3, Churn.pod_not_ready),
    "clique not ready": (6, Churn.clique_not_ready),
    "pod crashes": (2, Churn.crash),
    "clique crashes": (3, Churn.clique_crashes),
    "pod failed": (1, Churn.fail_pod),
    "pod deleted": (2, Churn.delete_pod),
    "pods of a clique deleted": (2, Churn.delete_pods),
    "nodes closed": (2, Churn.cordon),
    "node drained": (2, Churn.drain),
    "operator killed": (1.5, Churn.restart),
    "set deleted": (1.5, Churn.delete_set),
}


def _templates(stage: Stage) -> list[Json]:
    found: list[Json] = stage.get("podcliquesets", NAME)["spec"]["template"]["cliques"]
    return found


def _close(stage: Stage, nodes: list[str], closed: bool | None) -> None:
    for node in nodes:
        stage.api.patch("nodes", node, patch={"spec": {"unschedulable": closed}})


def _started(stage: Stage) -> None:
    if not stage.operator.is_running:
        stage.operator.start()
