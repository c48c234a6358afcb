"""Manifests beside a capture that `grove snapshot` redacted: hidden values are no edits, and checks fail (ED-015)."""

import copy
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Final

import pytest

import grove_shell as grove
from grove_core.document.document_reading import plan_document_from_json
from grove_core.document.edit_format import edit_as_json, edit_forecast_from_json
from grove_shell.cli.main import run_command_line
from grove_shell.policies.policy_input import policy_input
from grove_shell.redaction import ObjectRedaction
from tests.command_line.test_open_plans import NOW, REAL, Json, file_of, planned
from tests.docs.test_plan_schema import VALIDATOR
from tests.kubectl_yaml import items_in

NAME: Final = "llm-serving/qwen"
NOTE: Final = "note: llm-serving/qwen: an edit of 3 redacted values is not seen: "
FIELDS: Final = (
    "metadata.annotations[example.com/team]",
    "spec.template.cliques[worker].spec.podSpec.containers[main].args",
    "spec.template.cliques[worker].spec.podSpec.containers[main].env[MODEL].value",
)
SHORT: Final = f"{NOTE}{', '.join(FIELDS[:2])} and 1 more"
TERMINATED: Final = ("--until", "24h", "--fail-on", "terminate")


@cache
def cluster_text() -> str:
    """Return the recorded cluster, in which the workers of one set have an argument and a variable, as JSON."""
    items = copy.deepcopy(list(items_in(REAL)))
    for item in items:
        if (item["kind"], item["metadata"]["name"]) == ("PodCliqueSet", "qwen"):
            item["metadata"]["annotations"] = {"example.com/team": "serving"}
            _set_values(item, ["--model=qwen"], [{"name": "MODEL", "value": "qwen"}])
    return json.dumps(items)


def main_of_worker(item: Json) -> Json:
    """Return the container of the workers in a set."""
    (worker,) = (one for one in item["spec"]["template"]["cliques"] if one["name"] == "worker")
    found: Json = worker["spec"]["podSpec"]["containers"][0]
    return found


def _set_values(item: Json, args: list[str], env: list[Json]) -> None:
    for clique in item["spec"]["template"]["cliques"]:
        for key in ("args", "command", "env", "readinessProbe", "livenessProbe", "startupProbe", "lifecycle"):
            clique["spec"]["podSpec"]["containers"][0].pop(key, None)
    main_of_worker(item).update({"args": args, "env": env})


def manifest() -> Json:
    """Return the manifest of the set as it is stored."""
    (item,) = (
        one for one in json.loads(cluster_text()) if (one["kind"], one["metadata"]["name"]) == ("PodCliqueSet", "qwen")
    )
    kept = {key: item["metadata"][key] for key in ("name", "namespace", "annotations")}
    return {"apiVersion": item["apiVersion"], "kind": "PodCliqueSet", "metadata": kept, "spec": item["spec"]}


@pytest.fixture
def given(tmp_path: Path) -> Callable[..., tuple[str, ...]]:
    """Return the options for the cluster, redacted or not, and a manifest."""

    def options(edited: Json, *, redacted: bool = True) -> tuple[str, ...]:
        items = json.loads(cluster_text())
        shown = ObjectRedaction(b"salt").redacted_objects(items) if redacted else items
        cluster = file_of(tmp_path / f"cluster-{redacted}.json", shown)
        return ("-f", cluster, "-f", file_of(tmp_path / "edited.json", [edited]), "--complete", "all", NAME)

    return options


def document_of(capsys: pytest.CaptureFixture[str], *options: str) -> Json:
    """Return the plan of one edited set as JSON, which keeps to its schema; the edit reads back."""
    assert run_command_line(["plan", *NOW, *options, "-o", "json"], "grove") == 0
    found: Json = json.loads(capsys.readouterr().out)
    VALIDATOR.validate(found)
    assert edit_as_json(edit_forecast_from_json(found["plans"][0]["edit"])) == found["plans"][0]["edit"]
    return found


def steps_of(document: Json) -> list[tuple[str, str, str]]:
    """Return action, kind and rule of every step of a plan; names and hashes depend on the values."""
    rounds = [round_ for plan in document["plans"] for round_ in plan["rounds"]]
    return [
        (step["action"], step["target"]["kind"], step["because"][0]["rule"]) for one in rounds for step in one["steps"]
    ]


@pytest.mark.req("ED-015", "OP-050")
def test_ed015_an_unchanged_manifest_changes_nothing(
    given: Callable[..., tuple[str, ...]], capsys: pytest.CaptureFixture[str]
) -> None:
    open_code, _, open_said = planned(capsys, *given(manifest(), redacted=False), *TERMINATED)
    assert (open_code, open_said) == (3, "failed by --fail-on: terminate\n")
    code, page, said = planned(capsys, *given(manifest()), *TERMINATED)
    assert (code, said) == (3, "failed by --fail-on: terminate, unknown\n")
    assert f"{SHORT}\n" in page.partition("\n\n")[0]
    assert f"{NOTE}{', '.join(FIELDS)}\n" in planned(capsys, *given(manifest()), "-v")[1]
    assert page.startswith("1 edit not compared in full: values are redacted; 1 replica will be terminated at ")
    documents = [document_of(capsys, *given(manifest(), redacted=one), "--until", "24h") for one in (False, True)]
    assert steps_of(documents[0]) == steps_of(documents[1])
    edit = documents[1]["plans"][0]["edit"]
    assert edit["changes"] == []
    assert [one["path"] for one in edit["notCompared"]] == [path.replace("args", "args[0]") for path in FIELDS]
    assert "serving" not in json.dumps(edit["notCompared"])


@pytest.mark.req("ED-015", "ED-010")
def test_ed015_every_check_fails(given: Callable[..., tuple[str, ...]], capsys: pytest.CaptureFixture[str]) -> None:
    """No class passes where what restarts is not known."""
    options = given(manifest())
    for name in ("terminate", "wait", "delete", "restart", "withheld", "change", "defect", "unknown"):
        code, _, said = planned(capsys, *options, "--fail-on", name)
        assert (code, "unknown" in said) == (3, True)
    code, _, said = planned(capsys, *options, "--max-restarted-gpus", "1000")
    assert (code, said) == (3, "failed by --max-restarted-gpus: what the edit restarts is unknown\n")
    document = document_of(capsys, *options)
    (one,) = policy_input(plan_document_from_json(document), ())["sets"]
    assert (one["unknown"], "restarted" in one) == (True, False)
    files = [options[1], options[3]]
    (sentence,) = grove.plan(grove.read(files, now=NOW[1], complete=True), sets=NAME).unknown
    assert f"note: {sentence}" == SHORT


@pytest.mark.req("ED-015")
def test_ed015_hidden_metadata_alone_is_named_and_restarts_nothing(
    given: Callable[..., tuple[str, ...]], capsys: pytest.CaptureFixture[str]
) -> None:
    edited = manifest()
    main_of_worker(edited).update({"args": ["--model=qwen", "--fast"], "env": [{"name": "OTHER", "value": "a"}]})
    options = given(edited)
    assert planned(capsys, *options, "--fail-on", "unknown")[0] == 3
    assert planned(capsys, *options, "--fail-on", "terminate")[0] == 0
    assert planned(capsys, *options, "--max-restarted-gpus", "1000")[0] == 0


EDITS: Final[dict[str, Json]] = {
    "an argument more": {"args": ["--model=qwen", "--fast"]},
    "an empty value": {"env": [{"name": "MODEL", "value": ""}]},
    "another variable": {"env": [{"name": "OTHER", "value": "qwen"}]},
    "another image": {"image": "example.com/other:2"},
}


@pytest.mark.req("ED-015", "ED-002")
@pytest.mark.parametrize("change", EDITS.values(), ids=EDITS)
def test_ed015_what_redaction_keeps_apart_is_a_change(
    change: Json, given: Callable[..., tuple[str, ...]], capsys: pytest.CaptureFixture[str]
) -> None:
    edited = manifest()
    main_of_worker(edited).update(change)
    open_, hidden = (document_of(capsys, *given(edited, redacted=one))["plans"][0]["edit"] for one in (False, True))
    assert hidden["update"]["restarted"] == open_["update"]["restarted"] != {"pods": 0, "gpus": 0}
    assert [one["path"] for one in hidden["changes"]] == [one["path"] for one in open_["changes"]]


@pytest.mark.req("ED-015")
def test_ed015_a_copy_of_the_capture_is_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The hashes of one capture are equal where the values are; without a redacted value nothing is named."""
    items = ObjectRedaction(b"salt").redacted_objects(json.loads(cluster_text()))
    copied = manifest()
    (item,) = (one for one in items if (one["kind"], one["metadata"]["name"]) == ("PodCliqueSet", "qwen"))
    copied["spec"], copied["metadata"]["annotations"] = item["spec"], item["metadata"]["annotations"]
    cluster, edited = file_of(tmp_path / "a.json", items), file_of(tmp_path / "b.json", [copied])
    code, page, _ = planned(capsys, "-f", cluster, "-f", edited, "--complete", "all", NAME, "--fail-on", "unknown")
    assert code == 0
    assert "redacted value" not in page
