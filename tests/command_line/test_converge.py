"""``grove converge`` as a process: exit codes, streams, files, interruptions."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Final

import pytest

from grove_shell.converge.model.server_costs import SHIPPED, default_model_server_costs
from grove_shell.converge.run_parameters_and_results import ConvergenceRun
from grove_shell.converge.runs_csv_file import parse_convergence_runs_csv
from grove_shell.views.renderers import format_yaml_document
from tests.command_line.process import GROVE, ROOT, grove

SMALL: Final = ("converge", "--nodes", "2,4", "--seeds", "2", "-j", "1")


@pytest.fixture
def undrawn(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """A computer without matplotlib."""
    folder = tmp_path_factory.mktemp("bare")
    (folder / "sitecustomize.py").write_text("import sys\nsys.modules['matplotlib'] = None\n", encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(folder))


def runs_in(folder: Path) -> tuple[ConvergenceRun, ...]:
    runs, faults = parse_convergence_runs_csv((folder / "runs.csv").read_text(encoding="utf-8"), "runs.csv")
    assert faults == ()
    return runs


@pytest.mark.req("CV-021")
def test_cv021_a_folder_holds_runs_table_and_pictures(tmp_path: Path) -> None:
    done = grove(*SMALL, "--clique-size", "2,4", "--out", str(tmp_path / "out"))
    assert done.returncode == 0
    names = {path.name for path in (tmp_path / "out").iterdir()}
    times, counts = ("convergence", "convergence-rmw", "clique-sizes"), ("conflicts", "comparisons")
    pictures = (*times, *counts, "watch-bytes", "processor", "views")
    assert names >= {"runs.csv", "table.txt", *(f"{name}.{form}" for name in pictures for form in ("png", "svg"))}
    assert len(runs_in(tmp_path / "out")) == 4 * 2 * 2 * 2
    svg = (tmp_path / "out" / "convergence.svg").read_text(encoding="utf-8")
    assert "limiter 5/s, burst 10" in svg
    assert svg.count("<use") > 4 * 2 * 2
    assert done.stdout.decode() == (tmp_path / "out" / "table.txt").read_text(encoding="utf-8")


def test_cv030_resuming_runs_what_is_missing(undrawn: None, tmp_path: Path) -> None:
    out = ("--out", str(tmp_path))
    assert grove("converge", "--nodes", "2", "--seeds", "2", "--protocol", "ssa", "-j", "1", *out).returncode == 0
    first = runs_in(tmp_path)
    assert grove(*SMALL, "--resume", *out).returncode == 0
    assert runs_in(tmp_path)[: len(first)] == first
    assert len(runs_in(tmp_path)) == 16
    before = (tmp_path / "runs.csv").read_bytes()
    assert grove(*SMALL, "--resume", *out).returncode == 0
    assert (tmp_path / "runs.csv").read_bytes() == before


def test_cv030_results_are_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "runs.csv").write_text("mine", encoding="utf-8")
    done = grove(*SMALL, "--out", str(tmp_path))
    assert (done.returncode, done.stdout) == (64, b"")
    assert b"or --resume to continue it" in done.stderr
    assert (tmp_path / "runs.csv").read_text(encoding="utf-8") == "mine"


def test_cl005_all_problems_are_reported_together(tmp_path: Path) -> None:
    (tmp_path / "runs.csv").write_text("protocol,nods\n", encoding="utf-8")
    (tmp_path / "costs.yaml").write_text("source: x\nseats: many\n", encoding="utf-8")
    words = ("--nodes", "0", "--protocol", "smw", "--clique-size", "36", "--costs", str(tmp_path / "costs.yaml"))
    done = grove("converge", *words, "--resume", "--out", str(tmp_path))
    assert (done.returncode, done.stdout) == (1, b"")
    text = done.stderr.decode()
    for part in ("--nodes: expected", 'did you mean "rmw"?', "--clique-size: expected", "seats", "wireUs", '"nods"'):
        assert part in text, part
    assert text.endswith("Nothing was run.\n")
    assert "Traceback" not in text


def test_cl005_a_folder_holds_one_experiment(undrawn: None, tmp_path: Path) -> None:
    out = ("--protocol", "ssa", "--nodes", "2", "-j", "1", "--out", str(tmp_path))
    assert grove("converge", *out).returncode == 0
    costs = tmp_path / "costs.yaml"
    reported = default_model_server_costs().model_copy(update={"source": "somewhere else"}).model_dump(by_alias=True)
    costs.write_text(format_yaml_document(reported), encoding="utf-8")
    done = grove("converge", *out, "--resume", "--arrival", "0s", "--costs", str(costs))
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"setting: expected" in done.stderr
    assert b'arrival_s: expected "0.0" in all runs' in done.stderr
    again = grove("converge", *out, "--resume", "--costs", str(SHIPPED))
    assert again.returncode == 0


def test_cv030_resume_needs_a_folder() -> None:
    done = grove(*SMALL, "--resume")
    assert done.returncode == 64
    assert b"--resume: expected --out" in done.stderr


def test_cv030_interrupt_at_the_start_is_quiet(undrawn: None, tmp_path: Path) -> None:
    words = ("converge", "--nodes", "288..1152", "--out", str(tmp_path / "out"), "-j", "2")
    with subprocess.Popen([*GROVE, *words], stderr=subprocess.PIPE, cwd=ROOT, start_new_session=True) as process:
        deadline = time.monotonic() + 60
        while not (tmp_path / "out").exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(0.1)
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors.splitlines()[-1] == b"interrupted"
    assert b"Traceback" not in errors
    assert b"leaked" not in errors


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_cv030_interrupt_keeps_finished_runs(undrawn: None, tmp_path: Path, jobs: str) -> None:
    words = ("converge", "--nodes", "18..1152", "--out", str(tmp_path), "-j", jobs)
    with subprocess.Popen(
        [*GROVE, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT, start_new_session=True
    ) as process:
        deadline = time.monotonic() + 60
        while not (tmp_path / "runs.csv").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGINT)
        out, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"continue with --resume" in errors
    assert b"Traceback" not in errors
    assert b"leaked" not in errors
    assert b"protocol" in out
    assert runs_in(tmp_path)


def test_cv021_runs_as_json() -> None:
    done = grove("converge", "--nodes", "10000", "--protocol", "ssa", "--seeds", "1", "-o", "json")
    document = json.loads(done.stdout)
    assert document["runs"][0]["outcome"] == "not storable"
    assert document["runs"][0]["point"]["protocol"] == "ssa"
    assert document["stopped"] == [{"protocol": "ssa", "cliqueSize": 18, "nodes": 10_000}]
    assert (done.returncode, done.stderr) == (0, b"")


def test_cv021_without_a_drawing_library_there_is_a_table(undrawn: None, tmp_path: Path) -> None:
    done = grove(*SMALL, "--out", str(tmp_path / "out"))
    assert done.returncode == 0
    assert b"pip install 'grove-plan[pictures]'" in done.stderr
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"runs.csv", "table.txt"}


def test_help_teaches_with_an_example() -> None:
    done = grove("converge", "--help")
    assert done.returncode == 0
    assert b"grove converge --protocol all --out results --resume" in done.stdout
