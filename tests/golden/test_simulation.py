"""Golden simulations: scenarios with expectations derived from the documents, and their timelines.

A folder has `scenario.yaml`, whose `expect` was written before the scenario was run, the manifests that it names, and
`timeline.txt`, with reasons in the notation of `reason_notation.py`. `pytest --bless` writes `timeline.txt`; it is
reviewed like code.
"""

from pathlib import Path
from typing import Final

import pytest

from grove_shell.simulator.scenario.scenario_reader import read_scenario
from grove_shell.simulator.simulation import Simulation
from grove_shell.simulator.simulation_run import SimulationResult
from grove_shell.views.simulation.simulation_timeline import simulation_timeline_page
from tests.golden.reason_notation import write_reasons_in_notation
from tests.oracles import checked

HERE: Final = Path(__file__).parent / "simulation"
FOLDERS: Final = sorted(path.parent for path in HERE.glob("*/scenario.yaml"))
EXAMPLES: Final = sorted((Path(__file__).parents[2] / "examples" / "scenarios").glob("*.yaml"))


def played(path: Path) -> SimulationResult:
    read = read_scenario(str(path))
    assert read.scenario is not None, read.faults
    return Simulation(read.scenario, checked(), dump=read.cluster, manifests=read.manifests).run()


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: str(path.name))
@pytest.mark.req("SM-051")
def test_sm051_expectations_are_met(folder: Path, monkeypatch: pytest.MonkeyPatch, *, bless: bool) -> None:
    write_reasons_in_notation(monkeypatch)
    run = played(folder / "scenario.yaml")
    assert run.violation is None
    assert run.unmet == ()
    text = simulation_timeline_page(run).plain_text
    if bless:
        (folder / "timeline.txt").write_text(text, encoding="utf-8")
    assert (folder / "timeline.txt").read_text(encoding="utf-8") == text


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: str(path.stem))
def test_sm051_expectations_of_the_examples_are_met(path: Path) -> None:
    run = played(path)
    assert (run.violation, run.unmet) == (None, ())
