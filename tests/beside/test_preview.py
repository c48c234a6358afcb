"""The preview of updates beside the Go operator: what ``kubectl apply`` prints is what that operator then does."""

import copy
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from tests.beside.go_operator import GoOperator
from tests.beside.stage import NEW, Stage, fresh_namespace, part, pods_of
from tests.cluster.api import Json, wait_until
from tests.cluster.installing import apply, remove_cluster_wide
from tests.cluster.plane import REVIEWER
from tests.cluster.previewing import WARNING, Preview
from tests.cluster.scenes import group, is_ready

pytestmark = pytest.mark.skipif(shutil.which("kubectl") is None, reason="needs kubectl")

PREVIEWED: Final = "update preview: "
READY: Final = 20
REGISTRATIONS: Final = ("mutatingwebhookconfigurations", "validatingwebhookconfigurations")
_QUIET: Final = 6.0
"""Seconds for which the same pods have to be ready before an update counts as ended."""


class Edit(NamedTuple):
    """A change of a manifest in place, and the start of the verdict that it has to get."""

    change: Callable[[Json], None]
    verdict: str


def _clique(manifest: Json, name: str) -> Json:
    found: Json = next(one["spec"] for one in manifest["spec"]["template"]["cliques"] if one["name"] == name)
    return found


def _image(*names: str) -> Callable[[Json], None]:
    def change(manifest: Json) -> None:
        for name in names:
            _clique(manifest, name)["podSpec"]["containers"][0]["image"] = NEW

    return change


def _of_clique(name: str, **fields: Any) -> Callable[[Json], None]:
    return lambda manifest: _clique(manifest, name).update(fields)


def _of_template(**fields: Any) -> Callable[[Json], None]:
    return lambda manifest: manifest["spec"]["template"].update(fields)


def _of_group(**fields: Any) -> Callable[[Json], None]:
    return lambda manifest: manifest["spec"]["template"]["podCliqueScalingGroups"][0].update(fields)


EDITS: Final = {
    "image of one clique": Edit(_image("frontend"), "restarts 8 pods with 8 GPUs, one at a time"),
    "image of a member of the group": Edit(_image("worker"), "restarts 12 pods with 12 GPUs, at most 3 at once"),
    "replicas of a clique down": Edit(_of_clique("frontend", replicas=3), "restarts no pod"),
    "terminationDelay": Edit(_of_template(terminationDelay="2h"), "restarts no pod"),
    "replicas of the group down": Edit(_of_group(replicas=1), "restarts no pod"),
    "replicas of the set down": Edit(
        lambda manifest: manifest["spec"].update(replicas=1), "restarts no pod; removes 10 pods with 10 GPUs"
    ),
}
REFUSED: Final = {
    "minAvailable of a clique": _of_clique("frontend", minAvailable=1),
    "minAvailable of the group": _of_group(minAvailable=2),
}


def registrations(stage: Stage) -> dict[str, str]:
    """Name and version of every registered webhook configuration but the preview's."""
    found = [one["metadata"] for kind in REGISTRATIONS for one in stage.api.all_of(kind)]
    return {one["name"]: one["resourceVersion"] for one in found if not one["name"].startswith("grove-preview")}


@pytest.fixture(params=["auto", "field"])
def preview(request: pytest.FixtureRequest, go_operator: GoOperator, tmp_path: Path) -> Iterator[Preview]:
    """The preview with its printed roles, called by the API server, in a namespace of its own."""
    plane = go_operator.plane
    namespace = fresh_namespace("previewed")
    plane.api().create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
    stage = Stage(plane.api(), namespace, go_operator)
    before = registrations(stage)
    assert {"podcliqueset-mutating", "podcliqueset-validating"} <= before.keys()
    found = Preview(plane, stage, tmp_path, rules=request.param)
    apply(stage.api, found.objects)
    with found.program.running() as process:
        found.program.await_ready(process)
        wait_until(lambda: found.program.said("authority registered"), bool, "the API server trusts the preview")
        yield found
    assert registrations(stage) == before
    remove_cluster_wide(stage.api, found.objects)
    stage.api.delete("podcliquesets", "llama", namespace)
    wait_until(stage.pods, lambda pods: not pods, "the set is gone")
    stage.close()


def previewed(preview: Preview, manifest: Json, *, dry: bool = False) -> list[str]:
    """Return the warnings of the preview; that operator has warnings of its own."""
    return [one.removeprefix(PREVIEWED) for one in preview.applied(manifest, dry=dry) if one.startswith(PREVIEWED)]


def pods_by_name(preview: Preview) -> dict[str, bool]:
    """Return the living pods, and whether each is ready."""
    return {pod["metadata"]["name"]: is_ready(pod) for pod in preview.scene.pods()}


def await_rest(preview: Preview) -> set[str]:
    """Return the names of the pods once they are ready and stay the same."""
    since, last = time.monotonic(), pods_by_name(preview)

    def at_rest() -> bool:
        nonlocal since, last
        if (found := pods_by_name(preview)) != last or not all(found.values()):
            since, last = time.monotonic(), found
        return time.monotonic() - since > _QUIET

    wait_until(at_rest, bool, "the update has ended", seconds=180)
    return set(last)


@pytest.mark.req("WH-040")
@pytest.mark.req("MF-031")
def test_wh047_beside_the_go_operator_the_announced_pods_go(preview: Preview) -> None:
    pool = group("pool", "leader", "worker", replicas=2, minimum=1)
    cliques = (part("frontend", 4, 3), part("leader", 1, 1), part("worker", 2, 2))
    stage = preview.scene
    assert isinstance(stage, Stage)
    manifest = stage.any_order(*cliques, replicas=2, podCliqueScalingGroups=[pool], terminationDelay="4h")
    assert pods_of(manifest) == READY
    assert previewed(preview, manifest) == []
    stage.await_ready(READY, seconds=120)
    await_rest(preview)
    for name, (change, verdict) in EDITS.items():
        edited = copy.deepcopy(manifest)
        change(edited)
        said = wait_until(lambda: previewed(preview, edited, dry=True), bool, f"{name}: the preview is called")  # noqa: B023 - it is called at once
        assert said[0].startswith(verdict), (name, said)
        assert "rules field@" in said[0]
        _, edit = preview.plan(edited)
        deleted = [one["pod"]["name"] for step in edit["update"]["stages"] for one in step["deleted"]]
        before = set(pods_by_name(preview))
        assert previewed(preview, edited) == said, name
        assert before - await_rest(preview) == set(deleted), name
        assert previewed(preview, edited) == [], "a spec that stays as it is stored is not previewed"
        manifest = edited
    for name, change in REFUSED.items():
        edited = copy.deepcopy(manifest)
        change(edited)
        ran = preview.kubectl("apply", "-f", "-", manifest=edited)
        assert 'admission webhook "podcliqueset-validating.webhooks.grove.io" denied' in ran.stderr, (name, ran.stderr)
        assert f"{WARNING}{PREVIEWED}restarts no pod" in ran.stderr
    written = {event["objectRef"]["resource"] for event in preview.plane.audit(REVIEWER)}
    assert written == {"secrets", "validatingwebhookconfigurations"}
