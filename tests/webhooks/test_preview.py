"""Previews of updates: the verdict of the plan as warnings, limits, labels, and what happens without an answer."""

import copy
import io
import json
from collections.abc import Iterable
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from grove_shell.actions.command_input import InputSource
from grove_shell.actions.plan import plan_and_print
from grove_shell.actions.planned_input import PlanOptions
from grove_shell.webhooks.admission_review import AdmissionRequest
from tests.webhooks.preview_server import PreviewServer
from tests.webhooks.previewing import (
    CLUSTER,
    EDITED,
    NOW,
    OBJECTS,
    SINCE,
    answered,
    request,
    stored,
    warnings,
    with_image,
)
from tests.webhooks.reviews import Json


def verdict_of_plan(edited: Json, folder: Path, rules: str | None = None) -> list[str]:
    """The parts of the first line of ``grove plan`` on the same edit."""
    file = folder / "new.json"
    metadata = {key: edited["metadata"][key] for key in ("name", "namespace")}
    file.write_text(json.dumps({**edited, "metadata": metadata, "status": None}), encoding="utf-8")
    out = io.StringIO()
    with redirect_stdout(out):
        plan_and_print(
            InputSource(filenames=(str(CLUSTER), str(file)), now=NOW),
            PlanOptions(sets=(edited["metadata"]["name"],), rules=rules),
        )
    line = out.getvalue().splitlines()[0]
    return line.split("; nothing to terminate")[0].split("; 1 replica will be")[0].split("; ")


@pytest.mark.parametrize("rules", ["auto", "design", "field"])
@pytest.mark.parametrize("name", ["qwen", "deepseek", "embed"])
def test_wh040_the_numbers_are_those_of_the_plan(name: str, rules: str, tmp_path: Path) -> None:
    cliques = [one["name"] for one in stored(name)["spec"]["template"]["cliques"]]
    edited = with_image(*cliques, name=name)
    said = warnings(answered(request(edited), PreviewServer(OBJECTS), rules=rules))
    shown = "; ".join(said).split("; ")
    expected = verdict_of_plan(edited, tmp_path, None if rules == "auto" else rules)
    is_cut = any("followed to stage" in one for one in said)
    for part in expected if not is_cut else [part.split(", ")[0] for part in expected if part.startswith("restarts")]:
        assert any(one == part or (is_cut and one.startswith(part)) for one in shown), (part, shown)
    assert any(one.startswith("rules field@" if rules != "design" else "rules design") for one in shown)


def test_wh040_what_goes_and_comes_without_a_restart_is_said() -> None:
    fewer, more = stored(), stored()
    fewer["spec"]["replicas"] -= 1
    more["spec"]["replicas"] += 1
    server = PreviewServer(OBJECTS)
    assert "removes" in warnings(answered(request(fewer), server))[0]
    assert "restarts no pod; creates" in warnings(answered(request(more), server))[0]


@pytest.mark.req("WH-046")
def test_wh040_a_dry_run_is_answered_alike_with_few_requests() -> None:
    server = PreviewServer(OBJECTS)
    edited = with_image(*EDITED)
    said = warnings(answered(request(edited), server))
    assert server.asked == {"namespaces": 1, "podcliques": 1, "podcliquescalinggroups": 1, "podgangs": 1, "pods": 1}
    assert warnings(answered(request(edited, dryRun=True), server)) == said


@pytest.mark.parametrize("plural", ["podcliques", "podcliquescalinggroups", "podgangs", "pods"])
def test_wh041_what_may_not_be_listed_is_said_and_blocks_nothing(plural: str) -> None:
    server = PreviewServer(OBJECTS)
    server.refused.add(plural)
    (said,) = warnings(answered(request(with_image(*EDITED)), server, denyAbove={"pods": 0}))
    assert said.startswith("the update was not previewed: ")
    assert f"{plural} is forbidden" in said


def test_wh041_a_server_without_an_answer_blocks_nothing() -> None:
    server = PreviewServer(OBJECTS)
    server.pause = 1.0
    (said,) = warnings(answered(request(with_image(*EDITED)), server, 0.1, denyAbove={"pods": 0}))
    assert said == "the update was not previewed: the API server did not answer within 0.1 s"


def without_labels(one: Json) -> Json:
    """A PodClique of which the uid is not known."""
    return {**one, "metadata": {key: part for key, part in one["metadata"].items() if key != "uid"}}


def test_wh041_an_object_that_cannot_be_read_is_said() -> None:
    broken = [without_labels(one) if one["kind"] == "PodClique" else one for one in OBJECTS]
    (said,) = warnings(answered(request(with_image(*EDITED)), PreviewServer(broken)))
    assert "a uid and a resourceVersion" in said


def test_wh041_a_manifest_that_cannot_be_parsed_is_said() -> None:
    wrong = stored()
    wrong["spec"]["template"]["cliques"][0]["spec"]["replicas"] = "many"
    (said,) = warnings(answered(request(wrong), PreviewServer(OBJECTS)))
    assert said.startswith("the update was not previewed: ")
    assert "replicas" in said


def test_wh041_a_release_that_is_not_predicted_is_said() -> None:
    newer = copy.deepcopy(OBJECTS)
    for one in newer:
        if one["kind"] == "PodClique":
            one["status"]["conditions"].append({"type": "UpdateInProgress", "status": "True", **SINCE})
    (said,) = warnings(answered(request(with_image(*EDITED)), PreviewServer(newer), denyAbove={"pods": 0}))
    assert "newer than" in said


@pytest.mark.parametrize(
    ("limit", "words"),
    [
        ({"pods": 7}, "8 pods restart, and at most 7 may"),
        ({"gpus": 11}, "pods with 12 GPUs restart, and at most 11 may"),
        ({"pods": 8, "gpus": 12}, ""),
        ({"pods": 0, "gpus": 0}, "8 pods restart, and at most 0 may"),
    ],
)
def test_wh042_a_limit_refuses_what_restarts_more(limit: Json, words: str) -> None:
    edited = with_image("worker")
    response = answered(request(edited), PreviewServer(OBJECTS), denyAbove=limit)
    assert response["allowed"] == (not words)
    assert "restarts 8 pods with 12 GPUs" in response["warnings"][0]
    if words:
        assert (response["status"]["code"], response["status"]["reason"]) == (403, "Forbidden")
        assert words in response["status"]["message"]
        assert "or raise preview.denyAbove." in response["status"]["message"]


def test_wh042_nothing_is_refused_where_the_labels_are_not_known() -> None:
    server = PreviewServer(OBJECTS)
    server.labels = None
    said = warnings(answered(request(with_image("worker")), server, denyAbove={"pods": 0}))
    assert "restarts 8 pods" in said[0]
    assert said[-1].startswith("no limit was checked: the labels of namespace llm-serving were not read")


def with_finalizer(one: Json) -> Json:
    one["metadata"]["finalizers"] = ["example.com/mine"]
    return one


def deleted(one: Json) -> Json:
    one["metadata"]["deletionTimestamp"] = "2026-11-21T09:00:00Z"
    return one


@pytest.mark.parametrize(
    "asked",
    [
        request(stored()),
        request(with_finalizer(stored())),
        request(with_image("worker"), deleted(stored())),
        request(with_image("worker"), operation="CREATE"),
    ],
)
def test_wh045_nothing_is_requested_where_nothing_is_previewed(asked: AdmissionRequest) -> None:
    server = PreviewServer(OBJECTS)
    response = answered(asked, server, denyAbove={"pods": 0})
    assert warnings(response) == []
    assert not server.asked


def test_wh046_a_long_update_is_followed_for_a_while_and_counted_whole() -> None:
    several = [*many_pods(60)]
    edited = with_image("worker")
    (first, *more) = warnings(answered(request(edited), PreviewServer(several)))
    whole = sum(one["kind"] == "Pod" and "worker" in one["metadata"]["name"] for one in several)
    assert f"restarts {whole} pods" in first
    assert any(one.startswith("followed to stage") and "grove plan --live -f FILE" in one for one in more)


def many_pods(count: int) -> Iterable[Json]:
    """The objects, with so many more pods of one PodClique."""
    (clique,) = (one for one in OBJECTS if (one["kind"], one["metadata"]["name"]) == ("PodClique", "qwen-0-worker"))
    for one in OBJECTS:
        if one is not clique:
            yield one
    yield {**clique, "spec": {**clique["spec"], "replicas": clique["spec"]["replicas"] + count}}
    pod = next(one for one in OBJECTS if one["kind"] == "Pod" and one["metadata"]["name"].startswith("qwen-0-worker-"))
    for number in range(count):
        new = copy.deepcopy(pod)
        new["metadata"] |= {"name": f"qwen-0-worker-x{number:04}", "uid": f"more-{number}"}
        new["spec"]["hostname"] = f"qwen-0-worker-{number + 10}"
        yield new
