"""Reading an input from a program of one's own: what is wrong raises, unless it is asked for (IN-030)."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from grove_shell.reading.cluster_reading import load_input_files
from grove_shell.reading.input_faults import BadInput
from tests.golden.tracing import ROOT

DEGRADED = ROOT / "examples" / "degraded.yaml"


def test_in030_every_problem_is_in_one_exception(tmp_path: Path) -> None:
    (tmp_path / "garbage.yaml").write_text("kind: [", encoding="utf-8")
    paths = [str(tmp_path / "missing.yaml"), str(tmp_path / "garbage.yaml"), str(DEGRADED)]
    with pytest.raises(BadInput) as caught:
        load_input_files(paths)
    message = str(caught.value)
    assert message.startswith("2 problems in the input\n")
    assert "missing.yaml: no such file" in message
    assert "garbage.yaml" in message
    found = load_input_files(paths, raising=False)
    assert found.faults == caught.value.faults
    assert found.cluster.sets, "what could be read was read"
    assert found.cluster.gaps, "and what was lost counts as not collected"


@pytest.mark.parametrize("path", ["/x", b"/x", Path("/x")])
def test_in030_one_path_is_no_list_of_paths(path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("the disk was read")

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(TypeError, match=r"paths is one path, not a list of paths; say \["):
        load_input_files(path)


def test_in030_paths_may_be_path_objects() -> None:
    assert load_input_files([DEGRADED]).cluster == load_input_files([str(DEGRADED)]).cluster


def test_in053_an_error_in_place_of_objects_raises(tmp_path: Path) -> None:
    status = {
        "kind": "Status",
        "apiVersion": "v1",
        "status": "Failure",
        "message": "no",
        "reason": "Forbidden",
        "code": 403,
    }
    (tmp_path / "refused.json").write_text(json.dumps(status), encoding="utf-8")
    with pytest.raises(BadInput, match="an error of an API server: no"):
        load_input_files([tmp_path / "refused.json"])
    assert load_input_files([tmp_path / "refused.json"], raising=False).server_errors == ("no (Forbidden, 403)",)
