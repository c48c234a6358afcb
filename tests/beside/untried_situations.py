"""Situations that were not thought of at first: edits in the middle of something, and what is changed by hand."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

from tests.beside.more_situations import (
    HISTORY,
    SHORT,
    WORKER,
    bad_image,
    delete,
    group_update_begun,
    no_room,
    not_ready,
    template,
    then,
    waiting_for_room,
)
from tests.beside.further_situations import second_replica_updates
from tests.beside.situations import (
    NOWHERE,
    POOL,
    groups,
    image,
    node_selector,
    on_delete_edited,
    scale,
    three_replicas,
    two,
    update_begun,
)
from tests.beside.stage import NAME, NEW, NEWER, Act, Situation, Stage, part
from tests.cluster.api import Json, wait_until
from tests.cluster.scenes import IMAGE, group

FRONTEND: Final = f"{NAME}-0-frontend"
ROUTER: Final = f"{NAME}-0-router"
HOLD: Final = "example.com/hold"


def aged(stage: Stage) -> None:
    """Wait until every PodClique counts as once healthy."""

    def youngest() -> float:
        made = [datetime.fromisoformat(one["metadata"]["creationTimestamp"]) for one in stage.all_of("podcliques")]
        return (datetime.now(UTC) - max(made)).total_seconds()

    wait_until(youngest, lambda age: age > HISTORY + 3, "the cliques are old enough")


def passed(seconds: float) -> Act:
    """Let time pass: what is prepared is about two clocks."""

    def act(_stage: Stage) -> None:
        begun = datetime.now(UTC)
        wait_until(
            lambda: (datetime.now(UTC) - begun).total_seconds(), lambda gone: gone >= seconds, f"{seconds} s passed"
        )

    return act


def of_pool(**fields: object) -> Act:
    return lambda stage: stage.edit(lambda spec: spec["template"]["podCliqueScalingGroups"][0].update(fields))


def of_spec(**fields: object) -> Act:
    return lambda stage: stage.edit(lambda spec: spec.update(fields))


def made(**more: object) -> Act:
    return lambda stage: stage.make(stage.groups(**more))  # type: ignore[arg-type] - of one caller each


def made_two(**more: object) -> Act:
    return lambda stage: stage.make(stage.two(**more))  # type: ignore[arg-type] - of one caller each


def pods_deleted(clique: str) -> Act:
    def act(stage: Stage) -> None:
        for pod in stage.pods(clique):
            stage.api.delete("pods", pod["metadata"]["name"], stage.namespace)

    return act


def first_pod_deleted(clique: str) -> Act:
    return lambda stage: stage.api.delete("pods", stage.first(clique), stage.namespace)


def a_new_pod_deleted(clique: str) -> Act:
    def act(stage: Stage) -> None:
        new = [pod for pod in stage.pods(clique) if pod["spec"]["containers"][0]["image"] == NEW]
        stage.api.delete("pods", new[0]["metadata"]["name"], stage.namespace)

    return act


def phase(clique: str, phase: str) -> Act:
    return lambda stage: stage.patch("pods", stage.first(clique), {"status": {"phase": phase}}, subresource="status")


def held(clique: str) -> Act:
    """Another product's finalizer on the first pod of a PodClique."""
    return lambda stage: stage.patch("pods", stage.first(clique), {"metadata": {"finalizers": [HOLD]}})


def drained(stage: Stage) -> None:
    node = f"{stage.namespace}-0"
    stage.api.patch("nodes", node, patch={"spec": {"unschedulable": True}})
    for pod in stage.pods():
        if pod["spec"].get("nodeName") == node:
            stage.api.delete("pods", pod["metadata"]["name"], stage.namespace)


def bad_begun(of: Act, number: int) -> Act:
    """An update whose pods never become ready."""

    def act(stage: Stage) -> None:
        of(stage)
        bad_image(stage)
        stage.await_changed(number)

    return act


def good_image(to: str) -> Act:
    """The edit that repairs it."""

    def change(spec: Json) -> None:
        for each in spec["template"]["cliques"]:
            each["annotations"].pop("kubelet.grove.test/never-ready", None)
            each["spec"]["podSpec"]["containers"][0]["image"] = to

    return lambda stage: stage.edit(change)


def selector_back(stage: Stage) -> None:
    def change(spec: Json) -> None:
        for key in NOWHERE:
            spec["podSpec"]["nodeSelector"].pop(key, None)

    # a merge patch keeps a key that is left out, but lists are replaced whole
    stage.each_clique(change)


def reordered(stage: Stage) -> None:
    stage.edit(lambda spec: spec["template"]["cliques"].reverse())


def autoscaled(stage: Stage) -> Json:
    worker = part("worker", 3, 2, autoScalingConfig={"minReplicas": 2, "maxReplicas": 5})
    pool = group("pool", "leader", replicas=2, scaleConfig={"minReplicas": 1, "maxReplicas": 4})
    return stage.any_order(part("router", 1, 1), worker, part("leader", 1, 1), podCliqueScalingGroups=[pool])


def autoscaled_made(stage: Stage) -> None:
    stage.make(autoscaled(stage))


def without_autoscaling(stage: Stage) -> None:
    def change(spec: Json) -> None:
        for each in spec["template"]["cliques"]:
            each["spec"].pop("autoScalingConfig", None)

    stage.edit(change)


def with_autoscaling(stage: Stage) -> None:
    def change(spec: Json) -> None:
        spec["template"]["cliques"][1]["spec"]["autoScalingConfig"] = {"minReplicas": 3, "maxReplicas": 6}

    stage.edit(change)


def more_at_most(stage: Stage) -> None:
    def change(spec: Json) -> None:
        spec["template"]["cliques"][1]["spec"]["autoScalingConfig"]["maxReplicas"] = 9

    stage.edit(change)


def autoscaler_edited(stage: Stage) -> None:
    for name in stage.names("horizontalpodautoscalers"):
        stage.patch("horizontalpodautoscalers", name, {"spec": {"maxReplicas": 20}})


def autoscalers_deleted(stage: Stage) -> None:
    for name in stage.names("horizontalpodautoscalers"):
        stage.api.delete("horizontalpodautoscalers", name, stage.namespace)


def annotation_of_worker(stage: Stage) -> None:
    def change(spec: Json) -> None:
        for each in spec["template"]["cliques"]:
            if each["name"] == "worker":
                each["annotations"]["example.com/note"] = "gold"

    stage.edit(change)


def clique_image(clique: str) -> Act:
    """Somebody edits a PodClique instead of the set."""

    def act(stage: Stage) -> None:
        spec = stage.get("podcliques", clique)["spec"]
        spec["podSpec"]["containers"][0]["image"] = NEWER
        stage.patch("podcliques", clique, {"spec": {"podSpec": spec["podSpec"]}})

    return act


def two_groups(stage: Stage) -> None:
    cliques = (part("frontend", 2, 1), part("p", 1, 1), part("pw", 2, 1), part("d", 2, 2))
    pools = [group("prefill", "p", "pw", replicas=2), group("decode", "d", replicas=3, minimum=2)]
    stage.make(stage.any_order(*cliques, podCliqueScalingGroups=pools))


def in_order(stage: Stage) -> None:
    cliques = (part("router", 1, 1), part("leader", 1, 1), part("worker", 2, 1))
    pool = group("pool", "leader", "worker", replicas=2)
    stage.make(stage.set_of(*cliques, podCliqueScalingGroups=[pool], cliqueStartupType="CliqueStartupTypeInOrder"))


def breached_group_replica(stage: Stage) -> None:
    stage.make(stage.groups(size=2, terminationDelay="20s"))
    aged(stage)
    not_ready(f"{POOL}-1-worker")(stage)


def image_and(**fields: object) -> Act:
    """One edit of the image and of fields of the spec."""

    def change(spec: Json) -> None:
        spec.update(fields)
        for each in spec["template"]["cliques"]:
            each["spec"]["podSpec"]["containers"][0]["image"] = NEW

    return lambda stage: stage.edit(change)


def label_removed(stage: Stage) -> None:
    """A pod is taken out of service to look at it."""
    stage.patch("pods", stage.first(WORKER), {"metadata": {"labels": {"grove.io/podclique": None}}})


def deleted(policy: str) -> Act:
    return lambda stage: stage.api.delete("podcliquesets", NAME, stage.namespace, propagationPolicy=policy)


def on_delete_and_sizes(stage: Stage) -> None:
    stage.scale("podcliques", FRONTEND, 4)
    stage.scale("podcliquescalinggroups", POOL, 3)


def image_first(of: Act) -> Act:
    return then(of, image())


def group_lacks_one(stage: Stage) -> None:
    """A group that needs both replicas, and has one."""
    stage.make(stage.groups(size=2, minimum=2))
    not_ready(f"{POOL}-1-worker")(stage)


def needed_members_out(stage: Stage) -> None:
    """A member has more pods than its template says."""
    stage.make(stage.groups(size=2))
    stage.scale("podcliques", f"{POOL}-1-worker", 4)
    stage.await_ready(10)


def breached_and_updating(stage: Stage) -> None:
    stage.make(stage.two(terminationDelay="20s"))
    aged(stage)
    not_ready(WORKER)(stage)


def ended(clique: str) -> Act:
    """Wait until no pod of a PodClique lives."""
    return lambda stage: wait_until(lambda: stage.pods(clique), lambda pods: not pods, f"pods of {clique} end")  # type: ignore[func-returns-value]


def second_group_replica(stage: Stage) -> None:
    group_update_begun(stage)
    stage.await_changed(6)


UNTRIED: Final[Mapping[str, Situation]] = {
    "50a-delay-shorter": Situation(
        "terminationDelay shortened while a breach runs",
        then(made_two(terminationDelay="1h"), aged, not_ready(WORKER)),
        template("terminationDelay", SHORT),
        quiet=14,
        not_ready={WORKER: 4},
    ),
    "50b-delay-longer": Situation(
        "terminationDelay lengthened while a breach runs",
        then(made_two(terminationDelay="15s"), aged, not_ready(WORKER)),
        template("terminationDelay", "25s"),
        quiet=26,
        not_ready={WORKER: 4},
    ),
    "51a-two-breaches": Situation(
        "two cliques are breached, seconds apart",
        then(made_two(terminationDelay="15s"), aged, not_ready(WORKER), passed(5)),
        not_ready(ROUTER),
        settle=0,
        quiet=16,
        not_ready={WORKER: 4, ROUTER: 1},
    ),
    "51b-two-group-replicas": Situation(
        "two of three group replicas are breached, seconds apart",
        then(made(terminationDelay="15s"), aged, not_ready(f"{POOL}-1-worker"), passed(5)),
        not_ready(f"{POOL}-2-worker"),
        settle=0,
        quiet=16,
        not_ready={f"{POOL}-1-worker": 2, f"{POOL}-2-worker": 2},
    ),
    "51c-two-replicas": Situation(
        "two replicas of a set are breached, seconds apart",
        then(made_two(replicas=2, worker=(2, 1), terminationDelay="15s"), aged, not_ready(WORKER), passed(5)),
        not_ready(f"{NAME}-1-worker"),
        settle=0,
        quiet=16,
        not_ready={WORKER: 2, f"{NAME}-1-worker": 2},
    ),
    "52a-breached-in": Situation(
        "a group scaled in while its last replica is breached",
        breached_group_replica,
        scale("podcliquescalinggroups", POOL, 1),
        settle=0,
        quiet=16,
        not_ready={f"{POOL}-1-worker": 2},
    ),
    "52b-breached-out": Situation(
        "a group scaled out while a replica is breached",
        breached_group_replica,
        scale("podcliquescalinggroups", POOL, 4),
        settle=0,
        quiet=22,
        not_ready={f"{POOL}-1-worker": 2},
    ),
    "53a-group-below": Situation(
        "a group scaled below minAvailable",
        made(size=3, minimum=2, terminationDelay=SHORT),
        scale("podcliquescalinggroups", POOL, 1),
        settle=HISTORY,
        quiet=16,
        longest=60,
    ),
    "54-base-and-scaled": Situation(
        "a needed and a spare group replica are breached",
        made(size=3, minimum=2, terminationDelay=SHORT),
        not_ready(f"{POOL}-0-worker", f"{POOL}-2-worker"),
        settle=HISTORY,
        quiet=14,
        not_ready={f"{POOL}-0-worker": 2, f"{POOL}-2-worker": 2},
    ),
    "55a-in-and-out": Situation(
        "a set scaled from 3 to 1 and at once to 3",
        then(three_replicas, scale("podcliquesets", NAME, 1), ended(f"{NAME}-2-worker")),
        scale("podcliquesets", NAME, 3),
        settle=0,
    ),
    "55b-to-zero-and-back": Situation(
        "a set scaled to 0 and, while pods end, to 1",
        then(groups, scale("podcliquesets", NAME, 0), passed(1)),
        scale("podcliquesets", NAME, 1),
        settle=0,
    ),
    "56-in-while-second": Situation(
        "a set scaled in to 1 while its second replica updates",
        second_replica_updates,
        scale("podcliquesets", NAME, 1),
        settle=0,
    ),
    "57-back-while-second": Situation(
        "an edit is taken back while the second replica updates",
        second_replica_updates,
        lambda s: s.image(IMAGE),
        settle=0,
        longest=180,
    ),
    "58-replicas-and-image": Situation(
        "replicas of the group and another image while a group updates",
        group_update_begun,
        then(of_pool(replicas=2), lambda s: s.image(NEWER)),
        settle=0,
        longest=180,
    ),
    "59a-on-delete-midway": Situation(
        "OnDelete while an update runs", update_begun, of_spec(updateStrategy={"type": "OnDelete"}), settle=0
    ),
    "59b-group-on-delete-midway": Situation(
        "OnDelete while a group updates", group_update_begun, of_spec(updateStrategy={"type": "OnDelete"}), settle=0
    ),
    "60a-on-delete-all": Situation(
        "OnDelete, edited before; all pods of a clique are deleted", on_delete_edited, pods_deleted(FRONTEND)
    ),
    "60b-on-delete-clique": Situation(
        "OnDelete, edited before; a PodClique is deleted", on_delete_edited, delete("podcliques", FRONTEND)
    ),
    "60c-on-delete-member": Situation(
        "OnDelete, edited before; a member is deleted", on_delete_edited, delete("podcliques", f"{POOL}-1-worker")
    ),
    "60d-on-delete-member-pod": Situation(
        "OnDelete, edited before; a pod of a member is deleted", on_delete_edited, first_pod_deleted(f"{POOL}-1-worker")
    ),
    "61a-pod-failed": Situation("a pod fails", two, phase(WORKER, "Failed"), longest=40),
    "61b-pod-succeeded": Situation("a pod completes", groups, phase(f"{POOL}-1-worker", "Succeeded"), longest=40),
    "61c-failed-and-image": Situation(
        "image with a failed pod", then(two, phase(WORKER, "Failed")), image(), longest=90
    ),
    "62a-held-pod": Situation(
        "a pod with a finalizer of others is deleted", two, then(held(WORKER), first_pod_deleted(WORKER)), longest=40
    ),
    "62b-held-and-image": Situation(
        "image; a pod has a finalizer of others", then(two, held(WORKER)), image(), longest=60
    ),
    "63-reordered": Situation("cliques in another order", two, reordered),
    "63b-reordered-in-update": Situation(
        "cliques of different images in another order while they update",
        then(two, image("worker"), lambda s: s.await_changed(4), passed(12), lambda s: s.image(NEWER, "worker"), lambda s: s.await_changed(1, NEWER)),
        reordered,
        settle=0,
    ),
    "64a-no-autoscaling": Situation("autoScalingConfig removed", autoscaled_made, without_autoscaling),
    "64b-autoscaling": Situation("autoScalingConfig added", two, with_autoscaling),
    "64c-more-at-most": Situation("maxReplicas raised", autoscaled_made, more_at_most),
    "64d-autoscaler-edited": Situation("autoscalers edited by hand", autoscaled_made, autoscaler_edited),
    "64e-autoscalers-deleted": Situation("autoscalers deleted by hand", autoscaled_made, autoscalers_deleted),
    "65-annotation": Situation("an annotation of a member's template", groups, annotation_of_worker),
    "66a-group-deleted-in-update": Situation(
        "a scaling group deleted in its update", group_update_begun, delete("podcliquescalinggroups", POOL), settle=0
    ),
    "66b-gang-deleted-in-update": Situation(
        "a PodGang deleted in an update", group_update_begun, delete("podgangs", f"{NAME}-0"), settle=0
    ),
    "68-successor-deleted": Situation(
        "the new pod is deleted in an update", update_begun, a_new_pod_deleted(WORKER), settle=0
    ),
    "69a-drained": Situation("a node is drained", groups, drained, longest=60),
    "69b-drained-in-update": Situation(
        "a node is drained in an update", group_update_begun, drained, settle=0, longest=90
    ),
    "72a-clique-image": Situation("image of a PodClique by hand", two, clique_image(WORKER)),
    "72b-member-image": Situation("image of a member by hand", groups, clique_image(f"{POOL}-1-worker")),
    "73-group-template": Situation("replicas of the group in the template", groups, of_pool(replicas=4)),
    "74a-repaired": Situation(
        "another image for an update whose pods are never ready", bad_begun(two, 2), good_image(NEWER)
    ),
    "74b-repaired-group": Situation(
        "another image for a group update whose pods are never ready", bad_begun(groups, 4), good_image(NEWER)
    ),
    "74c-rolled-back": Situation("an update whose pods are never ready is taken back", bad_begun(two, 2), good_image(IMAGE)),
    "74d-rolled-back-group": Situation(
        "a group update whose pods are never ready is taken back", bad_begun(groups, 4), good_image(IMAGE)
    ),
    "74e-rolled-back-three": Situation(
        "an update of three replicas whose pods are never ready is taken back",
        bad_begun(three_replicas, 2),
        good_image(IMAGE),
    ),
    "75-waiting-and-image": Situation(
        "image while the set waits for nodes", waiting_for_room, image(), cordoned=True, longest=40
    ),
    "79-in-order": Situation("image of a set that starts in order", in_order, image(), longest=150),
    "80-two-groups": Situation("image of a set of two groups", two_groups, image(), longest=180),
    "37c-last-replica-in": Situation(
        "a group scaled in to 1 while its second replica updates",
        second_group_replica,
        scale("podcliquescalinggroups", POOL, 1),
        settle=0,
    ),
    "70a-orphaned": Situation("set deleted, its objects orphaned", groups, deleted("Orphan"), longest=40),
    "70b-foreground": Situation("set deleted in the foreground", groups, deleted("Foreground"), longest=40),
    "81a-member-out": Situation("image; a member has more pods than its template", needed_members_out, image()),
    "81b-member-scaled": Situation("a member scaled out by hand", groups, scale("podcliques", f"{POOL}-1-worker", 4)),
    "81c-member-below": Situation(
        "a member scaled below minAvailable",
        made(size=2, terminationDelay=SHORT),
        scale("podcliques", f"{POOL}-1-worker", 1),
        settle=HISTORY,
        quiet=16,
        longest=60,
    ),
    "82-label-removed": Situation("the label of a pod is removed", two, label_removed),
    "83a-out-and-image": Situation("another image and two replicas of the set", groups, image_and(replicas=2)),
    "83b-in-and-image": Situation(
        "another image and fewer replicas of the set", three_replicas, image_and(replicas=2), longest=150
    ),
    "84-on-delete-sizes": Situation("OnDelete, edited before; scaled out", on_delete_edited, on_delete_and_sizes),
    "85-image-before-due": Situation(
        "image shortly before a termination", then(breached_and_updating, passed(8)), image(), settle=0
    ),
    "86-lacks-one": Situation("image of a group that needs all replicas and lacks one", group_lacks_one, image()),
    "87-terminated-in-update": Situation(
        "an edit while pods of a termination end",
        then(
            made_two(terminationDelay=SHORT),
            aged,
            not_ready(WORKER),
            ended(WORKER),
        ),
        image(),
        settle=0,
    ),
}
_UNUSED = (no_room, node_selector, selector_back)
