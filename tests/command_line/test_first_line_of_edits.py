"""What the first line of `grove plan` counts with an edit: objects, GPUs, the lowest numbers, terminations (CL-120)."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from grove_shell.cli.main import run_command_line
from tests.golden.tracing import ROOT

BREACHED: Final = ROOT / "tests" / "golden" / "planning" / "pl025_an_update_averts_a_termination" / "given.yaml"
ONE_AT_A_TIME: Final = ROOT / "tests" / "golden" / "edits" / "ed002_one_pod_at_a_time" / "given.yaml"
NOW: Final = ("--rules", "design", "--now", "2026-11-20T09:00:00Z")
Change = Callable[[Any], None]


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert run_command_line(["plan", *words], "grove") == 0
    return capsys.readouterr().out


def document(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    return json.loads(printed(capsys, *words, "-o", "json"))


@pytest.fixture
def breached(tmp_path: Path) -> Callable[[Change | None], tuple[str, ...]]:
    """Options for a set with a breached PodClique, and for an edit that changes the template of the set."""
    items = yaml.safe_load(BREACHED.read_text(encoding="utf-8").replace("decode:1.5", "decode:1.4"))["items"]

    def options(change: Change | None) -> tuple[str, ...]:
        found = list(items)
        if change is not None:
            spec = copy.deepcopy(items[0]["spec"])
            change(spec["template"])
            place = {"name": "ml", "namespace": "ml"}
            found.append({**{key: items[0][key] for key in ("apiVersion", "kind")}, "metadata": place, "spec": spec})
        path = tmp_path / "given.json"
        path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": found}), encoding="utf-8")
        return ("-f", str(path), *NOW)

    return options


def shorter_delay(template: Any) -> None:
    template["terminationDelay"] = "3h"


def ended_delay(template: Any) -> None:
    template["terminationDelay"] = "1h"


def more_gpus(template: Any) -> None:
    (decode,) = (one for one in template["cliques"] if one["name"] == "decode")
    decode["spec"]["podSpec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] = "3"


@pytest.mark.parametrize(("change", "at"), [(None, "10:15:00Z"), (shorter_delay, "09:15:00Z")])
def test_cl120_later_rounds_are_counted_and_listed_with_an_edit_as_without(
    change: Change | None, at: str, capsys: pytest.CaptureFixture[str], breached: Callable[..., tuple[str, ...]]
) -> None:
    options = (*breached(change), "--until", "24h")
    first, *lines = printed(capsys, *options).splitlines()
    assert first.endswith("; 7 objects to create later")
    assert f"  CREATE     round 4, {at}: 3 PodCliques" in lines
    assert f"             round 5, {at}: 4 Pods" in lines
    assert document(capsys, *options)["summary"]["create"] == 7


def test_cl120_the_pods_of_an_update_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    options = ("-f", str(ONE_AT_A_TIME), "--rules", "field", "--now", "2026-11-21T09:38:48Z")
    counts = document(capsys, *options)["summary"]
    assert (counts["create"], counts["delete"]) == (1, 1)
    first = printed(capsys, *options).splitlines()[0]
    assert "; 1 object to create; " in first
    assert first.endswith("; 1 object to delete")


def test_cl121_gpus_without_another_pod(
    capsys: pytest.CaptureFixture[str], breached: Callable[..., tuple[str, ...]]
) -> None:
    options = (*breached(more_gpus), "--rules", "field")
    assert "; adds 4 GPUs to pods that restart; " in printed(capsys, *options).splitlines()[0]
    assert document(capsys, *options)["plans"][0]["edit"]["update"]["added"] == {"pods": 0, "gpus": 4}


def test_ed003_a_part_of_which_nothing_serves_falls_to_zero(
    capsys: pytest.CaptureFixture[str], breached: Callable[..., tuple[str, ...]]
) -> None:
    """It lacked a pod before, so that the edit does not bring it below its minimum."""
    assert "; decode falls to 0 of 2 ready and needs 2; " in printed(capsys, *breached(ended_delay)).splitlines()[0]


def test_ed003_with_edits_of_several_sets_each_part_has_its_set(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Both sets have a part of the same name."""
    given = ONE_AT_A_TIME.read_text(encoding="utf-8")
    items = yaml.safe_load(given)["items"]
    (name,) = {one["metadata"]["namespace"] for one in items}
    other = json.loads(json.dumps(items).replace(f'"namespace": "{name}"', '"namespace": "prod"'))
    for one in other:
        for fields in (one["metadata"], *one["metadata"].get("ownerReferences", ())):
            if "uid" in fields:
                fields["uid"] = f"prod-{fields['uid']}"
    path = tmp_path / "both.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [*items, *other]}), encoding="utf-8")
    words = ("--rules", "field", "--now", "2026-11-21T09:38:48Z")
    alone = printed(capsys, "-f", str(ONE_AT_A_TIME), *words).partition("\n")[0]
    assert "; emb: never fewer than 2 of 3 ready; " in alone
    both = printed(capsys, "-f", str(path), *words).partition("\n")[0]
    assert [f"; emb of {each}/embed: never fewer than 2 of 3 ready; " in both for each in (name, "prod")] == [
        True,
        True,
    ]


@pytest.mark.req("PL-025")
def test_cl087_an_averted_termination_is_neither_counted_nor_explained(capsys: pytest.CaptureFixture[str]) -> None:
    options = ("-f", str(BREACHED), *NOW)
    assert printed(capsys, *options).startswith("nothing to terminate in 1 PodCliqueSet; ")
    found = document(capsys, *options)
    assert (found["summary"]["terminations"]["waiting"], found["plans"][0].get("hints")) == (0, None)
    assert "firstDeadline" not in found["summary"]["terminations"]
    assert [one["verdict"] for one in found["plans"][0]["averted"] if one["question"] == "termination"] == ["Keep"]
