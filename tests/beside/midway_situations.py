"""Situations in the middle of something: a repair, a rollback, another size, another strategy, something by hand."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

from tests.beside.further_situations import second_replica_updates
from tests.beside.more_situations import (
    HISTORY,
    SHORT,
    WORKER,
    bad_image,
    delete,
    group_update_begun,
    not_ready,
    template,
    then,
)
from tests.beside.situations import POOL, groups, image, scale, three_replicas, two, update_begun
from tests.beside.stage import NAME, NEW, NEWER, Act, Situation, Stage, part
from tests.cluster.api import Json, wait_until
from tests.cluster.scenes import IMAGE, group

NEVER_READY: Final = "kubelet.grove.test/never-ready"
LAST_WORKER: Final = f"{NAME}-2-worker"
ON_DELETE: Final = {"type": "OnDelete"}


def aged(stage: Stage) -> None:
    """Wait until every PodClique counts as once healthy."""

    def youngest() -> float:
        made = [datetime.fromisoformat(one["metadata"]["creationTimestamp"]) for one in stage.all_of("podcliques")]
        return (datetime.now(UTC) - max(made)).total_seconds()

    wait_until(youngest, lambda age: age > HISTORY + 3, "the cliques are old enough")


def passed(seconds: float) -> Act:
    """Let time pass: the situation is about two clocks."""

    def act(_stage: Stage) -> None:
        begun = datetime.now(UTC)
        wait_until(lambda: datetime.now(UTC) - begun, lambda gone: gone.total_seconds() >= seconds, f"{seconds} s")

    return act


def ended(clique: str) -> Act:
    """Wait until no pod of a PodClique lives."""

    def act(stage: Stage) -> None:
        wait_until(lambda: stage.pods(clique), lambda pods: not pods, f"pods of {clique} end")

    return act


def two_with(delay: str) -> Act:
    return lambda stage: stage.make(stage.two(terminationDelay=delay))


def groups_with(delay: str, minimum: int = 1) -> Act:
    return lambda stage: stage.make(stage.groups(minimum=minimum, terminationDelay=delay))


def of_spec(**fields: object) -> Act:
    return lambda stage: stage.edit(lambda spec: spec.update(fields))


def image_and(**fields: object) -> Act:
    """One edit of the image and of fields of the spec."""

    def change(spec: Json) -> None:
        spec.update(fields)
        for each in spec["template"]["cliques"]:
            each["spec"]["podSpec"]["containers"][0]["image"] = NEW

    return lambda stage: stage.edit(change)


def smaller_group_and_image(stage: Stage) -> None:
    stage.edit(lambda spec: spec["template"]["podCliqueScalingGroups"][0].update(replicas=2))
    stage.image(NEWER)


def bad_begun(of: Act, number: int) -> Act:
    """An update whose pods never become ready; so many of them are there."""

    def act(stage: Stage) -> None:
        of(stage)
        bad_image(stage)
        stage.await_changed(number)

    return act


def good_image(to: str) -> Act:
    """The edit that repairs it."""

    def change(spec: Json) -> None:
        for each in spec["template"]["cliques"]:
            each["annotations"].pop(NEVER_READY, None)
            each["spec"]["podSpec"]["containers"][0]["image"] = to

    return lambda stage: stage.edit(change)


def failed_worker(stage: Stage) -> None:
    """A worker as it is after an eviction by its node."""
    stage.patch("pods", stage.first(WORKER), {"status": {"phase": "Failed"}}, subresource="status")


def two_images_and_one_updates(stage: Stage) -> None:
    two(stage)
    stage.image(NEW, "worker")
    stage.await_changed(4)
    stage.await_ready(5)
    passed(12)(stage)
    stage.image(NEWER, "worker")
    stage.await_changed(1, NEWER)


def reordered(stage: Stage) -> None:
    stage.edit(lambda spec: spec["template"]["cliques"].reverse())


def drained(stage: Stage) -> None:
    node = f"{stage.namespace}-0"
    stage.api.patch("nodes", node, patch={"spec": {"unschedulable": True}})
    for pod in stage.pods():
        if pod["spec"].get("nodeName") == node:
            stage.api.delete("pods", pod["metadata"]["name"], stage.namespace)


def two_groups(stage: Stage) -> None:
    cliques = (part("frontend", 2, 1), part("p", 1, 1), part("pw", 2, 1), part("d", 2, 2))
    pools = [group("prefill", "p", "pw", replicas=2), group("decode", "d", replicas=3, minimum=2)]
    stage.make(stage.any_order(*cliques, podCliqueScalingGroups=pools))


MIDWAY: Final[Mapping[str, Situation]] = {
    "50-delay-shorter": Situation(
        "terminationDelay shortened while a breach runs",
        then(two_with("1h"), aged, not_ready(WORKER)),
        template("terminationDelay", SHORT),
        quiet=14,
        not_ready={WORKER: 4},
    ),
    "51-two-clocks": Situation(
        "two of three group replicas are breached, seconds apart",
        then(groups_with("15s"), aged, not_ready(f"{POOL}-1-worker"), passed(5)),
        not_ready(f"{POOL}-2-worker"),
        settle=0,
        quiet=16,
        not_ready={f"{POOL}-1-worker": 2, f"{POOL}-2-worker": 2},
    ),
    "52-breached-out": Situation(
        "a group scaled out while a replica is breached",
        then(groups_with("20s"), aged, not_ready(f"{POOL}-1-worker")),
        scale("podcliquescalinggroups", POOL, 5),
        settle=0,
        quiet=22,
        not_ready={f"{POOL}-1-worker": 2},
    ),
    "53-group-below": Situation(
        "a group scaled below minAvailable",
        groups_with(SHORT, 2),
        scale("podcliquescalinggroups", POOL, 1),
        settle=HISTORY,
        quiet=16,
        longest=60,
    ),
    "55-in-and-out": Situation(
        "a set scaled from 3 to 1 and, while pods end, to 3",
        then(three_replicas, scale("podcliquesets", NAME, 1), ended(LAST_WORKER)),
        scale("podcliquesets", NAME, 3),
        settle=0,
    ),
    "56-in-while-second": Situation(
        "a set scaled in to 1 while its second replica updates",
        second_replica_updates,
        scale("podcliquesets", NAME, 1),
        settle=0,
    ),
    "57-back-while-second": Situation(
        "an edit of cliques with equal templates is taken back while the second replica updates",
        second_replica_updates,
        lambda stage: stage.image(IMAGE),
        settle=0,
        longest=180,
    ),
    "58-replicas-and-image": Situation(
        "another size and image while a group updates", group_update_begun, smaller_group_and_image, settle=0
    ),
    "59-on-delete-midway": Situation(
        "OnDelete while an update runs", update_begun, of_spec(updateStrategy=ON_DELETE), settle=0
    ),
    "59b-group-on-delete-midway": Situation(
        "OnDelete while a group updates", group_update_begun, of_spec(updateStrategy=ON_DELETE), settle=0
    ),
    "61-failed-and-image": Situation("image with a failed pod", then(two, failed_worker), image(), longest=90),
    "63-reordered-in-update": Situation(
        "cliques in another order while one updates", two_images_and_one_updates, reordered, settle=0
    ),
    "66-group-deleted-in-update": Situation(
        "a scaling group deleted in its update", group_update_begun, delete("podcliquescalinggroups", POOL), settle=0
    ),
    "69-drained-in-update": Situation(
        "a node is drained in an update", group_update_begun, drained, settle=0, longest=90
    ),
    "74a-repaired": Situation("another image for pods that are never ready", bad_begun(two, 2), good_image(NEWER)),
    "74b-repaired-group": Situation("the same of a group", bad_begun(groups, 4), good_image(NEWER)),
    "74c-rolled-back": Situation("pods that are never ready, taken back", bad_begun(two, 2), good_image(IMAGE)),
    "74d-rolled-back-group": Situation("the same of a group", bad_begun(groups, 4), good_image(IMAGE)),
    "80-two-groups": Situation("image of a set of two groups", two_groups, image(), longest=180),
    "83a-out-and-image": Situation("another image and two replicas of the set", groups, image_and(replicas=2)),
    "83b-in-and-image": Situation(
        "another image and fewer replicas of the set", three_replicas, image_and(replicas=2), longest=150
    ),
    "85-image-before-due": Situation(
        "image shortly before a termination",
        then(two_with("20s"), aged, not_ready(WORKER), passed(8)),
        image(),
        settle=0,
    ),
}
