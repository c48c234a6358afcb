"""Further situations of the day: terminations, restarts, losses, surplus, edits of everything else."""

from collections.abc import Mapping
from typing import Final

from tests.beside.situations import POOL, delete_set, groups, image, scale, three_replicas, two, update_begun
from tests.beside.stage import NAME, NEW, NEWER, Act, Situation, Stage, nothing
from tests.cluster.api import Json
from tests.cluster.scenes import IMAGE

WORKER: Final = f"{NAME}-0-worker"
HISTORY: Final = 7.0
"""Seconds after which a clique or a group counts as once healthy."""
SHORT: Final = "10s"


def not_ready(*cliques: str) -> Act:
    """All pods of these cliques are not ready any more."""

    def act(stage: Stage) -> None:
        for each in cliques:
            stage.annotate_pods(each, not_ready="true")
            stage.await_all_unready(each)

    return act


def ready_again(*cliques: str) -> Act:
    def act(stage: Stage) -> None:
        for each in cliques:
            stage.annotate_pods(each, not_ready=None)

    return act


def then(*acts: Act) -> Act:
    def act(stage: Stage) -> None:
        for each in acts:
            each(stage)

    return act


def short_two(stage: Stage) -> None:
    stage.make(stage.two(terminationDelay=SHORT))


def short_groups(stage: Stage) -> None:
    stage.make(stage.groups(size=2, terminationDelay=SHORT))


def breached_two(stage: Stage) -> None:
    stage.make(stage.two(terminationDelay="30s"))
    not_ready(WORKER)(stage)


def surplus(stage: Stage) -> None:
    """Two workers more than the template says."""
    stage.make(stage.two())
    stage.scale("podcliques", WORKER, 6)
    stage.await_ready(7)


def group_surplus(stage: Stage) -> None:
    stage.make(stage.groups(size=2))
    stage.scale("podcliquescalinggroups", POOL, 3)
    stage.await_ready(11)


def delete(resource: str, name: str) -> Act:
    return lambda stage: stage.api.delete(resource, name, stage.namespace)


def delete_a_worker(stage: Stage) -> None:
    stage.api.delete("pods", stage.first(WORKER), stage.namespace)


def back(stage: Stage) -> None:
    stage.image(IMAGE)


def group_update_begun(stage: Stage) -> None:
    groups(stage)
    stage.image(NEW)
    stage.await_changed(4)


def lose_a_node(stage: Stage) -> None:
    stage.lose_node(f"{stage.namespace}-0")


def template(field: str, value: object) -> Act:
    def change(spec: Json) -> None:
        spec["template"][field] = value

    return lambda stage: stage.edit(change)


def of_worker(field: str, value: object) -> Act:
    def change(spec: Json) -> None:
        next(each for each in spec["template"]["cliques"] if each["name"] == "worker")["spec"][field] = value

    return lambda stage: stage.edit(change)


def label_worker(stage: Stage) -> None:
    def change(spec: Json) -> None:
        spec["template"]["cliques"][1]["labels"] = {"example.com/tier": "gold"}

    stage.edit(change)


def label_set(stage: Stage) -> None:
    stage.patch("podcliquesets", NAME, {"metadata": {"labels": {"example.com/tier": "gold"}}})


def bad_image(stage: Stage) -> None:
    """Pods of the new template are never ready."""

    def change(spec: Json) -> None:
        for each in spec["template"]["cliques"]:
            each["annotations"]["kubelet.grove.test/never-ready"] = "true"
            each["spec"]["podSpec"]["containers"][0]["image"] = NEW

    stage.edit(change)


def no_room(stage: Stage) -> None:
    for node in range(3):
        stage.api.patch("nodes", f"{stage.namespace}-{node}", patch={"spec": {"unschedulable": True}})


def room(stage: Stage) -> None:
    for node in range(3):
        stage.api.patch("nodes", f"{stage.namespace}-{node}", patch={"spec": {"unschedulable": None}})


def waiting_for_room(stage: Stage) -> None:
    no_room(stage)
    stage.make(stage.groups(size=2), ready=False)


def two_sets(stage: Stage) -> None:
    stage.make(stage.two(worker=(2, 1)))
    other = stage.two(worker=(2, 1))
    other["metadata"]["name"] = "qwen"
    stage.make(other)


def two_replicas_one_breached(stage: Stage) -> None:
    stage.make(stage.two(replicas=2, worker=(2, 1)))
    not_ready(f"{NAME}-1-worker")(stage)


def single(stage: Stage) -> None:
    stage.make(stage.two(worker=(1, 1)))


MORE: Final[Mapping[str, Situation]] = {
    "13-at-rest": Situation("nothing happens", groups, nothing),
    "14a-clique-out": Situation("a clique scaled out by 2", two, scale("podcliques", WORKER, 6)),
    "14b-group-out": Situation("a group scaled out by 1", groups, scale("podcliquescalinggroups", POOL, 4)),
    "14c-set-out": Situation("a set scaled out by 1", groups, scale("podcliquesets", NAME, 2)),
    "15a-clique-below": Situation("a clique scaled below minAvailable", two, scale("podcliques", WORKER, 2)),
    "15b-set-to-zero": Situation("a set scaled to 0", groups, scale("podcliquesets", NAME, 0)),
    "16a-breach": Situation(
        "workers of a set are not ready, delay 10 s",
        short_two,
        not_ready(WORKER),
        settle=HISTORY,
        quiet=14,
        not_ready={WORKER: 4},
    ),
    "16b-group-replica": Situation(
        "one group replica is not ready, delay 10 s",
        short_groups,
        not_ready(f"{POOL}-1-worker"),
        settle=HISTORY,
        quiet=14,
        not_ready={f"{POOL}-1-worker": 2},
    ),
    "16c-both-replicas": Situation(
        "both group replicas are not ready, delay 10 s",
        short_groups,
        not_ready(f"{POOL}-0-worker", f"{POOL}-1-worker"),
        settle=HISTORY,
        quiet=14,
        not_ready={f"{POOL}-0-worker": 2, f"{POOL}-1-worker": 2},
    ),
    "16d-recovers": Situation(
        "workers are ready again before the delay is over",
        then(short_two, not_ready(WORKER)),
        ready_again(WORKER),
        settle=0,
        quiet=14,
    ),
    "17-edit-while-breached": Situation("image while all workers are not ready", breached_two, image()),
    "18-surplus": Situation("image of a clique that was scaled out by hand", surplus, image()),
    "18b-group-surplus": Situation("image of a group that was scaled out by hand", group_surplus, image()),
    "19a-killed-before": Situation("image; the operator starts anew", two, image(), restart=True),
    "19b-killed-midway": Situation(
        "the operator is killed in an update", update_begun, nothing, settle=0, restart=True
    ),
    "19c-killed-in-group": Situation(
        "the operator is killed in the update of a group", group_update_begun, nothing, settle=0, restart=True
    ),
    "20-deleted-in-update": Situation("set deleted in the middle of an update", update_begun, delete_set, settle=0),
    "21-node-lost": Situation("a node does not answer", two, lose_a_node, longest=40, lost=True),
    "21b-node-lost-in-update": Situation(
        "a node does not answer, in an update", update_begun, lose_a_node, settle=0, longest=60, lost=True
    ),
    "22-edited-back": Situation("an edit is taken back in the middle", update_begun, back, settle=0),
    "22b-group-edited-back": Situation("an edit of a group is taken back", group_update_begun, back, settle=0),
    "22c-group-two-edits": Situation(
        "a second edit while a group updates", group_update_begun, lambda s: s.image(NEWER), settle=0
    ),
    "23-one-image": Situation("image of one of two cliques", two, image("worker")),
    "23b-one-in-group": Situation("image of one clique of a group", groups, image("leader")),
    "23c-frontend": Situation("image of the clique beside a group", groups, image("frontend")),
    "24-one-of-two-sets": Situation("two sets, one is edited", two_sets, image()),
    "25a-pod-deleted": Situation("a user deletes a pod", two, delete_a_worker),
    "25b-clique-deleted": Situation("a user deletes a PodClique", two, delete("podcliques", WORKER)),
    "25c-group-deleted": Situation("a user deletes a scaling group", groups, delete("podcliquescalinggroups", POOL)),
    "25d-gang-deleted": Situation("a user deletes a PodGang", groups, delete("podgangs", f"{NAME}-0")),
    "25e-member-deleted": Situation("a user deletes a member", groups, delete("podcliques", f"{POOL}-2-worker")),
    "26a-replicas": Situation("replicas of a clique in the template", two, of_worker("replicas", 6)),
    "26b-delay": Situation("another terminationDelay", two, template("terminationDelay", "1h")),
    "26c-label": Situation("a label of a clique template", two, label_worker),
    "26d-set-label": Situation("a label of the set", groups, label_set),
    "26e-priority": Situation("a priority class of the set", groups, template("priorityClassName", "")),
    "27-never-ready": Situation(
        "image whose pods are never ready", two, bad_image, longest=60, never_ready=("router", "worker")
    ),
    "28-room-at-last": Situation("nodes come for a set that waits", waiting_for_room, room, settle=5),
    "29-replicas-one-breached": Situation(
        "image of two replicas, one is not ready", two_replicas_one_breached, image(), longest=120
    ),
    "30-single": Situation("image of cliques of one pod", single, image()),
    "31-set-out-in-update": Situation(
        "a set scaled out in an update", update_begun, scale("podcliquesets", NAME, 2), settle=0
    ),
    "32-no-room-in-update": Situation(
        "nodes are closed in an update", update_begun, no_room, settle=0, longest=60, cordoned=True
    ),
    "33-three-then-in": Situation(
        "a set scaled in while its replicas update",
        then(three_replicas, image(), lambda s: s.await_changed(2)),
        scale("podcliquesets", NAME, 2),
        settle=0,
    ),
}
