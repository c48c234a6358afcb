"""``grove simulate`` as a process: exit codes, streams, files."""

import json
import os
import re
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Final, get_args

import pytest

from grove_shell.simulator.scenario.scenario_events import ScenarioEvent
from grove_shell.views.renderers import format_yaml_document
from tests.command_line.process import GROVE, ROOT, grove, on_a_terminal
from tests.simulation.sample_sets import clique_raw, scenario_of, set_raw

EXAMPLE: Final = "examples/scenarios/gang-scheduling.yaml"


def small(path: Path, **spec: object) -> str:
    raw = scenario_of(set_raw(clique_raw("a", 1, 1))).as_json
    raw["spec"] |= spec
    file = path / "scenario.yaml"
    file.write_text(format_yaml_document(raw), encoding="utf-8")
    return str(file)


def test_cl001_a_scenario_that_goes_as_expected() -> None:
    done = grove("simulate", EXAMPLE)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"10 pods of llama-0-worker placed on 10 nodes" in done.stdout


def test_sm051_what_is_not_as_expected_is_3(tmp_path: Path) -> None:
    done = grove("simulate", small(tmp_path, expect=[{"at": "end", "ready": 2}, {"never": "breached"}]))
    assert done.returncode == 3
    assert b"NOT MET   at the end: expected ready 2, found 1" in done.stdout


def test_sm001_bad_input_is_1_and_all_problems_are_reported(tmp_path: Path) -> None:
    done = grove("simulate", small(tmp_path, nodes=[{"count": 0}], events=[{"at": 5}]))
    assert (done.returncode, done.stdout) == (1, b"")
    for path in (b"spec.nodes[0].name", b"spec.nodes[0].count", b"spec.events[0].at"):
        assert path in done.stderr
    assert done.stderr.endswith(b"Nothing was simulated.\n")
    assert grove("simulate", "nowhere.yaml").returncode == 1
    assert grove("simulate").returncode == 64
    assert grove("simulate", EXAMPLE, "--seeds", "none").returncode == 64


@pytest.mark.parametrize("output", ["json", "yaml"])
def test_cl011_documents(output: str) -> None:
    done = grove("simulate", EXAMPLE, "-o", output, "--until", "2m", "-v")
    assert done.returncode == 3  # the end comes too soon for what is expected of it
    assert b"formatVersion" in done.stdout
    if output == "json":
        assert json.loads(done.stdout)["end"] == "2026-11-20T09:02:00Z"


def test_sm051_many_runs(tmp_path: Path) -> None:
    quiet = small(tmp_path, sets=[])
    first = grove("simulate", quiet, "--seeds", "3", "-v")
    assert first.stdout.startswith(b"3 runs, 0 violations, "), first.stdout + first.stderr
    counted = json.loads(grove("simulate", quiet, "--seeds", "2", "--first", "7", "-o", "json").stdout)
    assert counted["summary"]["worlds"] == 2
    assert b"3 runs" in on_a_terminal("simulate", quiet, "--seeds", "3")


def mutant(words: list[str]) -> subprocess.CompletedProcess[bytes]:
    """The command with an operator that terminates too early."""
    code = (
        "import sys\nfrom grove_shell.simulator import simulation\n"
        "from tests.simulation.mutants import terminates_at_once\n"
        "played = simulation.Simulation.__init__\n"
        "def hasty(self, scenario, options=None, **more):\n"
        "    kept = {name: getattr(options, name) for name in ('checks', 'counts_only', 'until', 'observers')}\n"
        "    played(self, scenario, simulation.SimulationOptions(**kept, decide=terminates_at_once), **more)\n"
        "simulation.Simulation.__init__ = hasty\n"
        "from grove_shell.cli.main import run_command_line\n"
        f"sys.exit(run_command_line({words!r}, 'grove'))"
    )
    return subprocess.run([sys.executable, "-c", code], capture_output=True, cwd=ROOT, check=False, timeout=120)


def test_sm064_a_violation_comes_with_a_scenario_that_repeats_it(tmp_path: Path) -> None:
    crash = {"at": "30s", "crashPod": {"clique": "llm-0-a", "recovers": "5m"}}
    file = small(tmp_path, events=[{"at": "10s", "relist": {}}, crash])
    found = tmp_path / "found.yaml"
    done = mutant(["simulate", "--check", file, "--trace", str(found)])
    assert done.returncode == 3
    assert b"VIOLATED  GT5" in done.stdout
    assert b"repeats GT5 with 1 event" in done.stderr
    assert mutant(["simulate", "--check", str(found)]).returncode == 3
    assert b"crashPod" in found.read_bytes()
    many = mutant(["simulate", file, "--seeds", "1"])
    assert many.returncode == 3
    assert b"apiVersion: grove.io/v1alpha1" in many.stderr
    nowhere = mutant(["simulate", "--check", file, "--trace", str(tmp_path)])
    assert b"cannot write" in nowhere.stderr


def test_sm073_of_many_runs_the_failing_one_is_drawn(tmp_path: Path) -> None:
    crash = {"at": "30s", "crashPod": {"clique": "llm-0-a", "recovers": "5m"}}
    file = small(tmp_path, events=[{"at": "10s", "relist": {}}, crash])
    plain, broken = tmp_path / "plain.svg", tmp_path / "broken.svg"
    done = grove("simulate", file, "--seeds", "1", "--picture", str(plain))
    assert done.returncode == 0, done.stderr
    assert done.stderr.decode() == f"{plain} shows the scenario without random events: no run broke a promise\n"
    assert b"relists everything" in plain.read_bytes()
    found = mutant(["simulate", file, "--seeds", "1", "--picture", str(broken)])
    assert found.returncode == 3
    assert f"{broken} shows the run of seed 0, reduced to 1 event\n".encode() in found.stderr
    assert b"relists everything" not in broken.read_bytes()
    assert grove("simulate", file, "--seeds", "1", "--picture", os.devnull + "/x.svg").returncode == 1


def listen_to_interrupts() -> None:
    """A shell that runs tests in the background may have blocked these signals."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_sm076_an_interrupted_search_reports_its_runs(tmp_path: Path) -> None:
    words = [*GROVE, "simulate", small(tmp_path), "--seeds", "100000"]
    said = b""
    for patience in (2, 8, 30):  # a busy machine may not have begun by then
        with subprocess.Popen(
            words,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=ROOT,
            preexec_fn=listen_to_interrupts,  # noqa: PLW1509 - this process has one thread
        ) as process:
            time.sleep(patience)
            process.send_signal(signal.SIGINT)
            try:
                said, wrong = process.communicate(timeout=60)
            finally:
                process.kill()
        if said:
            break
    assert process.returncode == 130
    assert re.search(rb"\d+ runs?, 0 violations", said)
    assert wrong.strip() == b"interrupted"


def test_sm001_help_names_every_event() -> None:
    reported = grove("simulate", "--help").stdout.decode().split()
    assert {field.alias for field in ScenarioEvent.model_fields.values()} <= set(reported) | {"at"}


def test_sm001_the_table_has_every_field_of_every_event() -> None:
    text = (ROOT / "specs" / "simulation.md").read_text(encoding="utf-8").partition("## Events")[2]
    rows = [row.split("|")[1:3] for row in text.partition("\n## ")[0].splitlines() if row.startswith("| `")]
    table = {event: fields for events, fields in rows for event in re.findall(r"`(\w+)`", events)}
    for name, field in ScenarioEvent.model_fields.items():
        if name == "at":
            continue
        (model,) = (part for part in get_args(field.annotation) if part is not type(None))
        for inner in model.model_fields.values():
            assert f"`{inner.alias}`" in table[str(field.alias)], (name, inner.alias)


def test_sm076_a_long_run_shows_its_progress(tmp_path: Path) -> None:
    file, shown = "", b""
    for minutes in (60, 300, 1500):  # a fast machine is done with the first before a bar appears
        pods = [{"at": f"{minute}m", "deletePod": {"clique": "llm-0-a"}} for minute in range(1, minutes)]
        file = small(tmp_path, events=pods)
        shown = on_a_terminal("simulate", file, "-o", "json")
        if b"of virtual time" in shown:
            break
    assert b"of virtual time" in shown
    assert grove("simulate", file, "-o", "json").stderr == b""


def test_sm073_a_picture_that_cannot_be_drawn_is_refused(tmp_path: Path) -> None:
    odd = grove("simulate", EXAMPLE, "--picture", "x.gif")
    assert (odd.returncode, odd.stdout) == (64, b"")
    assert b".svg or .png" in odd.stderr
    code = (
        "import sys\nfrom importlib import util\nfind = util.find_spec\n"
        "util.find_spec = lambda name, *more: None if name == 'matplotlib' else find(name, *more)\n"
        "from grove_shell.cli.main import run_command_line\n"
        f"sys.exit(run_command_line(['simulate', {EXAMPLE!r}, '--picture', 'x.svg'], 'grove'))"
    )
    none = subprocess.run([sys.executable, "-c", code], capture_output=True, cwd=ROOT, check=False, timeout=60)
    assert (none.returncode, none.stdout) == (1, b"")
    assert none.stderr == b"--picture needs matplotlib: pip install 'grove-plan[pictures]'\n"
    picture = tmp_path / "x.svg"
    assert grove("simulate", EXAMPLE, "--picture", str(picture)).returncode == 0
    assert b"<svg" in picture.read_bytes()
    assert grove("simulate", EXAMPLE, "--picture", os.devnull + "/x.svg").returncode == 1


def test_sm051_what_comes_after_the_end_is_not_reached(tmp_path: Path) -> None:
    """Whether it would have been met or not."""
    expect = [{"at": at, "pods": pods} for at, pods in (("2m", 1), ("5m", 1), ("6m", 2))]
    scenario = small(
        tmp_path, expect=expect, events=[{"at": "10m", "scale": {"name": "llm", "kind": "PodCliqueSet", "replicas": 0}}]
    )
    done = grove("simulate", scenario, "--until", "2m")
    assert done.returncode == 3
    assert b"1 of 3 expectations met" in done.stdout
    assert b"NOT MET   at 5m: not reached, the run was stopped at 2m" in done.stdout
    assert b"NOT MET   at 6m: not reached, the run was stopped at 2m" in done.stdout


def test_sm001_the_scenario_of_the_help_runs(tmp_path: Path) -> None:
    said = grove("simulate", "--help").stdout.decode()
    scenario = textwrap.dedent(said[said.index("    apiVersion") : said.index("  The path of file:")])
    path = tmp_path / "scenario.yaml"
    path.write_text(scenario, encoding="utf-8")
    (tmp_path / "examples").symlink_to(ROOT / "examples")  # as at the top of a checkout, which is what the help says
    done = grove("simulate", str(path))
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"1 of 1 expectation met" in done.stdout
