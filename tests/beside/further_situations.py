"""Further situations of the day: two things at once, and the operator killed at later moments."""

from collections.abc import Mapping
from typing import Final

from tests.beside.more_situations import SHORT, WORKER, delete, group_update_begun, not_ready, then
from tests.beside.situations import (
    POOL,
    delete_first_worker,
    groups,
    image,
    node_selector,
    on_delete,
    scale,
    three_replicas,
    two,
    update_begun,
)
from tests.beside.stage import NAME, NEWER, Situation, Stage, nothing, part
from tests.cluster.api import Json

LOST: Final = "example.com/lost"


def evictable(stage: Stage) -> None:
    """A set whose pods are evicted 3 s after their node is tainted."""
    manifest = stage.two()
    tolerations = [{"key": LOST, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 3}]
    for each in manifest["spec"]["template"]["cliques"]:
        each["spec"]["podSpec"]["tolerations"] = tolerations
    stage.make(manifest)


def taint(stage: Stage) -> None:
    spec = {"taints": [{"key": LOST, "effect": "NoExecute"}], "unschedulable": True}
    stage.api.patch("nodes", f"{stage.namespace}-0", patch={"spec": spec})


def explicit(stage: Stage) -> None:
    cliques = (part("a", 1, 1), part("b", 2, 1, startsAfter=["a"]), part("c", 1, 1, startsAfter=["a", "b"]))
    made = stage.set_of(*cliques, cliqueStartupType="CliqueStartupTypeExplicit")
    stage.api.create(made)


def two_replicas(stage: Stage) -> None:
    stage.api.create(stage.groups(size=2, replicas=2))


def all_workers_needed_and_one_more(stage: Stage) -> None:
    """What a plan advises before an update of a clique that needs all of its pods (WF-171)."""
    stage.make(stage.two(worker=(3, 3)))
    stage.scale("podcliques", WORKER, 4)
    stage.await_ready(5)


def all_replicas_needed_and_one_more(stage: Stage) -> None:
    """What a plan advises before an update of a group that needs all of its replicas (WF-172)."""
    stage.make(stage.groups(size=2, minimum=2))
    stage.scale("podcliquescalinggroups", POOL, 3)
    stage.await_ready(11)


def recreate(stage: Stage) -> None:
    stage.patch("podcliquesets", NAME, {"spec": {"updateStrategy": {"type": "RollingRecreate"}}})


def no_longer_by_hand(stage: Stage) -> None:
    """The edit comes with the strategy that acts on it."""

    def change(spec: Json) -> None:
        spec["updateStrategy"] = {"type": "RollingRecreate"}
        for each in spec["template"]["cliques"]:
            each["spec"]["podSpec"]["containers"][0]["image"] = NEWER

    stage.edit(change)


def groups_of_two_replicas(stage: Stage) -> None:
    stage.make(stage.groups(size=2, replicas=2))


def stuck(stage: Stage) -> None:
    stage.make(stage.two(terminationDelay=SHORT))
    node_selector(stage)
    stage.await_unready(2)


def second_replica_updates(stage: Stage) -> None:
    three_replicas(stage)
    stage.image()
    stage.await_changed(4)


def a_member_crashes(stage: Stage) -> None:
    groups(stage)
    stage.annotate(stage.first(f"{POOL}-1-worker"), crash_after="0s")
    stage.await_unready(1)


def an_old_worker(stage: Stage) -> None:
    old = [pod for pod in stage.pods(WORKER) if not pod["spec"]["containers"][0]["image"].endswith(":2")]
    stage.api.delete("pods", old[0]["metadata"]["name"], stage.namespace)


FURTHER: Final[Mapping[str, Situation]] = {
    "34-explicit-order": Situation("a set whose cliques start one after the other", nothing, explicit, settle=0),
    "34b-two-replicas": Situation("a new set of two replicas", nothing, two_replicas, settle=0),
    "35-groups-of-two": Situation(
        "image of two replicas with groups", groups_of_two_replicas, image(), longest=180, quiet=9
    ),
    "36-on-delete-off": Situation("from OnDelete to RollingRecreate", on_delete, recreate),
    "36b-off-and-image": Situation("from OnDelete to RollingRecreate, with an image", on_delete, no_longer_by_hand),
    "36c-deleted-old": Situation("OnDelete at rest; a pod is deleted", on_delete, delete_first_worker),
    "37-group-in-update-in": Situation(
        "a group scaled in while it updates", group_update_begun, scale("podcliquescalinggroups", POOL, 1), settle=0
    ),
    "37b-group-in-update-out": Situation(
        "a group scaled out while it updates", group_update_begun, scale("podcliquescalinggroups", POOL, 4), settle=0
    ),
    "38-clique-in-update-in": Situation(
        "a clique scaled in while it updates", update_begun, scale("podcliques", WORKER, 2), settle=0
    ),
    "38b-clique-in-update-out": Situation(
        "a clique scaled out while it updates", update_begun, scale("podcliques", WORKER, 6), settle=0
    ),
    "39-pod-deleted-in-update": Situation(
        "a user deletes an old pod in an update", update_begun, an_old_worker, settle=0
    ),
    "39b-clique-deleted-in-update": Situation(
        "a user deletes a PodClique in an update", update_begun, delete("podcliques", WORKER), settle=0
    ),
    "40-member-crashes": Situation("image of a group one of whose members crashes", a_member_crashes, image()),
    "41-breach-in-stuck": Situation(
        "workers are not ready in a stuck update, delay 10 s",
        stuck,
        then(not_ready(WORKER)),
        settle=0,
        quiet=14,
        longest=40,
        never_ready=("worker",),
    ),
    "42-restart-at-rest": Situation("the operator starts anew", groups, nothing, restart=True),
    "42b-restart-third-replica": Situation(
        "the operator starts anew while the second replica updates",
        second_replica_updates,
        nothing,
        settle=0,
        restart=True,
    ),
    "43-two-edits-of-three": Situation(
        "a second edit while the second replica updates", second_replica_updates, lambda s: s.image(NEWER), settle=0
    ),
    "44-set-in-by-two": Situation("a set scaled in by 2", three_replicas, scale("podcliquesets", NAME, 1)),
    "44b-group-in-by-two": Situation("a group scaled in by 2", groups, scale("podcliquescalinggroups", POOL, 1)),
    "45-evicted": Situation("pods of a node are evicted after 3 s", evictable, taint),
    "45b-evicted-in-update": Situation(
        "pods of a node are evicted in an update",
        then(evictable, image(), lambda s: s.await_changed(2)),
        taint,
        settle=0,
    ),
    "46-clique-out-and-in": Situation(
        "a clique scaled out and at once in again",
        then(two, scale("podcliques", WORKER, 6)),
        scale("podcliques", WORKER, 4),
        settle=0,
    ),
    "47-clique-one-more": Situation(
        "image, minAvailable = replicas, scaled out by 1 before", all_workers_needed_and_one_more, image()
    ),
    "47b-group-one-more": Situation(
        "image of a group, minAvailable = replicas, scaled out by 1 before", all_replicas_needed_and_one_more, image()
    ),
    "48-service-deleted": Situation("a user deletes a Service", groups, delete("services", f"{NAME}-0")),
    "48b-gang-and-service-back": Situation(
        "a user deletes a PodGang, a Service and a pod",
        groups,
        then(delete("podgangs", f"{NAME}-0"), delete("services", f"{NAME}-0"), delete_first_worker),
    ),
}
