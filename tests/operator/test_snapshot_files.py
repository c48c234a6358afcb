"""Where ``grove snapshot --out`` writes: a file is written whole or not at all, a device is never replaced."""

import json
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest
import yaml

from grove_shell.cli.main import run_command_line
from tests.operator.list_server import ListingServer

pytestmark = pytest.mark.req("OP-050")
DEGRADED: Final = Path(__file__).parents[2] / "examples/degraded.yaml"
Capture = Callable[..., tuple[int, str]]


@pytest.fixture
def server() -> Iterator[ListingServer]:
    """A cluster with the sets of an example."""
    with ListingServer(yaml.load(DEGRADED.read_text(encoding="utf-8"), yaml.CSafeLoader)["items"]) as running:
        yield running


@pytest.fixture
def capture(server: ListingServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Capture:
    """Runs the command; exit code and errors."""
    where = ["--kubeconfig", str(server.kubeconfig(tmp_path))]

    def run(*words: str) -> tuple[int, str]:
        code = run_command_line(["snapshot", *where, *words], "grove")
        return code, capsys.readouterr().err

    return run


def test_a_pipe_is_written_to_and_stays(capture: Capture, tmp_path: Path) -> None:
    """As ``/dev/stdout`` and ``/dev/null``, which a rename would replace for every other program."""
    pipe, found = tmp_path / "pipe", list[str]()
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: found.append(pipe.read_text(encoding="utf-8")), daemon=True)
    reader.start()
    code, _ = capture("--out", str(pipe))
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    reader.join(timeout=30)
    assert (code, json.loads(found[0])["kind"]) == (0, "List")


def test_a_link_stays_a_link(capture: Capture, tmp_path: Path) -> None:
    (tmp_path / "link.json").symlink_to("real.json")
    assert capture("--out", str(tmp_path / "link.json"))[0] == 0
    assert (tmp_path / "link.json").is_symlink()
    assert json.loads((tmp_path / "real.json").read_text(encoding="utf-8"))["kind"] == "List"


def test_the_path_is_named_as_it_was_given(server: ListingServer, tmp_path: Path) -> None:
    path = str(tmp_path / "no-folder" / "s.json")
    words = ["snapshot", "--kubeconfig", str(server.kubeconfig(tmp_path)), "--out", path]
    ran = subprocess.run([sys.executable, "-m", "grove_shell", *words], check=False, capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (1, f"cannot write {path}: No such file or directory\n")


def test_a_capture_without_a_set_says_so(capture: Capture, server: ListingServer, tmp_path: Path) -> None:
    assert "no PodCliqueSet" not in capture("--out", str(tmp_path / "s.json"))[1]
    server.items = []
    assert "no PodCliqueSet is among them; -n names" in capture("--out", str(tmp_path / "s.json"))[1]
    assert capture("-A", "--out", str(tmp_path / "s.json"))[1].endswith("no PodCliqueSet is among them\n")
