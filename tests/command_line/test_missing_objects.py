"""What other objects show to be missing in the input: named first, and no check passes (IN-083)."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

import grove_shell as grove
from grove_shell.cli.main import run_command_line
from tests.kubectl_yaml import items_in

REAL: Final = Path(__file__).parent.parent.parent / "examples/real-cluster.yaml"
WORKER: Final = "qwen-1-worker"
Item = dict[str, Any]


def dump(tmp_path: Path, left_out: Callable[[Item], bool], **changes: Any) -> str:
    """The recorded cluster without some objects, as a file; ``changes`` go into each pod's metadata."""
    items = [item for item in items_in(REAL) if not left_out(item)]
    for item in items:
        if item["kind"] == "Pod":
            item["metadata"] |= changes
    path = tmp_path / "dump.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}), encoding="utf-8")
    return str(path)


def is_worker(item: Item) -> bool:
    return (item["kind"], item["metadata"]["name"]) == ("PodClique", WORKER)


def is_pod_of_worker(item: Item) -> bool:
    return bool(item["kind"] == "Pod" and item["metadata"]["name"].startswith(f"{WORKER}-"))


@pytest.mark.req("IN-083")
def test_in083_pods_name_the_clique_that_is_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = dump(tmp_path, is_worker)
    assert run_command_line(["plan", "-f", path, "--fail-on", "terminate"], "grove") == 3
    said = capsys.readouterr()
    assert said.out.startswith("objects are missing in the input; ")
    assert f"note: the input lacks the PodClique of llm-serving/{WORKER}-g9b8c, " in said.out
    assert said.err == "failed by --fail-on: unknown\n"
    found = grove.plan(grove.read(path)).unknown
    assert len(found) == 4
    assert found[0].startswith(f"llm-serving/{WORKER}-g9b8c: the input lacks its PodClique")


@pytest.mark.req("IN-083", "IN-054")
@pytest.mark.parametrize(
    ("left_out", "changes", "options"),
    [
        (lambda _: False, {}, ()),
        (is_worker, {}, ("--complete", "pclq")),
        (is_worker, {"deletionTimestamp": "2026-11-21T09:39:59Z"}, ()),
        (is_pod_of_worker, {}, ("--complete", "pods")),
    ],
    ids=["nothing", "said to be complete", "they go with it", "pods said to be complete"],
)
def test_in083_what_is_known_to_be_gone_is_not_missing(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    left_out: Callable[[Item], bool],
    changes: Item,
    options: tuple[str, ...],
) -> None:
    path = dump(tmp_path, left_out, **changes)
    assert run_command_line(["plan", "-f", path, "--fail-on", "unknown", *options], "grove") == 0
    assert "missing" not in capsys.readouterr().out


@pytest.mark.req("IN-083")
def test_in083_pods_that_a_status_counts_are_missed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = dump(tmp_path, is_pod_of_worker)
    assert run_command_line(["plan", "-f", path, "--max-terminated-gpus", "1000"], "grove") == 3
    said = capsys.readouterr()
    assert f"the status of llm-serving/{WORKER} counts pods, and the input has none of them" in said.out
    assert said.err == "failed by --max-terminated-gpus: what is terminated is unknown\n"
