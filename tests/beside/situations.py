"""The situations of a scripted day: new sets, updates, scaling, deletion."""

from collections.abc import Mapping
from typing import Final

from tests.beside.stage import NAME, NEW, NEWER, Act, Situation, Stage, nothing, part
from tests.cluster.api import JSON_PATCH, Json
from tests.cluster.scenes import group

POOL: Final = f"{NAME}-0-pool"
STARTED: Final = "2026-01-01T00:00:00Z"
NOWHERE: Final = {"nowhere": "true"}


def two(stage: Stage) -> None:
    stage.make(stage.two())


def groups(stage: Stage) -> None:
    stage.make(stage.groups())


def image(*cliques: str) -> Act:
    return lambda stage: stage.image(NEW, *cliques)


def scale(resource: str, name: str, replicas: int) -> Act:
    return lambda stage: stage.scale(resource, name, replicas)


def a_new_set(stage: Stage) -> Json:
    """A bare manifest with one thing of each kind that an operator makes."""
    router = part("router", 1, 1)
    worker = part("worker", 3, 2, autoScalingConfig={"minReplicas": 2, "maxReplicas": 5, "metrics": []})
    leader, follower = part("leader", 1, 1), part("follower", 2, 2)
    del worker["spec"]["autoScalingConfig"]["metrics"]
    pool = group("pool", "leader", "follower", replicas=2, scaleConfig={"minReplicas": 1, "maxReplicas": 4})
    made = stage.set_of(router, worker, leader, follower, podCliqueScalingGroups=[pool])
    made["spec"]["template"]["cliqueStartupType"] = "CliqueStartupTypeInOrder"
    return made


def create_bare(stage: Stage) -> None:
    stage.api.create(a_new_set(stage))


def create_any_order(stage: Stage) -> None:
    stage.api.create(stage.groups())


def node_selector(stage: Stage) -> None:
    """A selector that no node has."""

    def change(spec: Json) -> None:
        spec["podSpec"]["nodeSelector"] = {**spec["podSpec"]["nodeSelector"], **NOWHERE}

    stage.each_clique(change)


def delete_set(stage: Stage) -> None:
    stage.api.delete("podcliquesets", NAME, stage.namespace)


def update_begun(stage: Stage) -> None:
    """An update of both cliques that is on its way."""
    stage.make(stage.two())
    stage.image(NEW)
    stage.await_changed(2)


def one_crashing_one_pending(stage: Stage) -> None:
    """Of four workers one crashes again and again, and one finds no node."""
    stage.make(stage.two(worker=(3, 1)))
    worker = f"{NAME}-0-worker"
    crashing = stage.first(worker)
    stage.annotate(crashing, crash_after="0s")
    stage.await_unready(1)
    for node in range(3):
        stage.api.patch("nodes", f"{stage.namespace}-{node}", patch={"spec": {"unschedulable": True}})
    stage.scale("podcliques", worker, 4)
    stage.await_unready(2)


def crashed_once(stage: Stage) -> None:
    """A worker crashed once and is Ready again; the kubelet of tests forgets the crash, a real one does not."""
    stage.make(stage.two())
    pod = stage.first(f"{NAME}-0-worker")
    ended = {"exitCode": 1, "reason": "Error", "startedAt": STARTED, "finishedAt": STARTED}
    change = [{"op": "add", "path": "/status/containerStatuses/0/lastState", "value": {"terminated": ended}}]
    stage.patch("pods", pod, change, media=JSON_PATCH, subresource="status")


def some_not_ready(stage: Stage) -> None:
    stage.make(stage.two())
    stage.annotate(stage.first(f"{NAME}-0-worker"), not_ready="true")
    stage.await_unready(1)


def three_replicas(stage: Stage) -> None:
    stage.make(stage.two(replicas=3, worker=(2, 1)))


def on_delete(stage: Stage) -> None:
    made = stage.groups(size=2)
    made["spec"]["updateStrategy"] = {"type": "OnDelete"}
    stage.make(made)


def on_delete_edited(stage: Stage) -> None:
    on_delete(stage)
    stage.image(NEW)


def delete_first_worker(stage: Stage) -> None:
    stage.api.delete("pods", stage.first(f"{NAME}-0-frontend"), stage.namespace)


def all_needed(stage: Stage) -> None:
    stage.make(stage.groups(size=2, minimum=2))


def scaling_out(stage: Stage) -> None:
    """Three more workers are on their way, none is ready."""
    stage.make(stage.two(worker=(3, 2)))
    stage.scale("podcliques", f"{NAME}-0-worker", 6)
    stage.await_unready(3)


FIRST: Final[Mapping[str, Situation]] = {
    "01-new-set": Situation("a bare manifest", nothing, create_bare, settle=0),
    "01b-new-set-any-order": Situation("a manifest without start-up order", nothing, create_any_order, settle=0),
    "02-two-images": Situation("image of both standalone cliques", two, image()),
    "03-group-images": Situation("image of all cliques of a set with a group of 3, minAvailable 1", groups, image()),
    "04-stuck": Situation("update to a node selector no node has", two, node_selector, longest=60),
    "05-deleted": Situation("set deleted", groups, delete_set),
    "06-two-edits": Situation(
        "a second edit while two pods of the first are there", update_begun, lambda s: s.image(NEWER), settle=0
    ),
    "07-crash-and-pending": Situation(
        "update with a crash-looping pod and a Pending one",
        one_crashing_one_pending,
        image(),
        longest=40,
        cordoned=True,
    ),
    "07b-crashed-once": Situation("update with a Ready pod that once crashed", crashed_once, image()),
    "07c-not-ready": Situation("update with a pod that is not ready", some_not_ready, image()),
    "08a-clique-in": Situation("a clique scaled in by 1", two, scale("podcliques", f"{NAME}-0-worker", 3)),
    "08b-group-in": Situation("a group scaled in by 1", groups, scale("podcliquescalinggroups", POOL, 2)),
    "08c-set-in": Situation(
        "a set scaled in by 1",
        lambda s: s.make(s.groups(size=2, replicas=2)),
        scale("podcliquesets", NAME, 1),
    ),
    "09-three-replicas": Situation("image of a set of three replicas", three_replicas, image(), longest=180),
    "10-on-delete": Situation("image, strategy OnDelete", on_delete, image()),
    "10b-on-delete-pod": Situation("OnDelete, edited before; a pod is deleted", on_delete_edited, delete_first_worker),
    "11-all-needed": Situation("image of a group with minAvailable = replicas", all_needed, image()),
    "12-edit-while-scaling": Situation("image while a clique is scaled out", scaling_out, image(), settle=0),
}
