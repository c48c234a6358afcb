"""Golden cases of the topology lifecycle: finalizers, and the default topology.

A folder has `given.yaml` (output of kubectl), `operator.yaml`, `lifecycle.yaml` (the clock, and the expected steps and
withheld steps of each topology) and `plan.yaml`, with reasons in the notation of `reason_notation.py`. `pytest --bless`
writes `plan.yaml`.
"""

import sys
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from grove_core.areas.topology.cluster_topology_snapshot import topology_snapshots
from grove_core.document.document_writing import plan_document_as_json
from grove_core.document.plan_document import PlanDocument, RuleSetSource, step_action_name
from grove_core.kernel.time_formats import parse_time
from grove_core.reconcile_topology import forecast_topology, reconcile_topology
from grove_shell.actions.configuration_files import read_operator_configuration
from grove_shell.reading.cluster_reading import load_input_files
from grove_shell.views.renderers import format_yaml_document
from tests.golden.reason_notation import abridged, write_reasons_in_notation

Json = dict[str, Any]
HERE: Final = Path(__file__).parent / "topology"
FOLDERS: Final = sorted(path.parent for path in HERE.glob("*/lifecycle.yaml"))


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_tp040_topologies_are_kept_as_expected(folder: Path, monkeypatch: pytest.MonkeyPatch, *, bless: bool) -> None:
    write_reasons_in_notation(monkeypatch)
    case: Json = yaml.load((folder / "lifecycle.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader)
    command_input = read_operator_configuration(str(folder / "operator.yaml"))
    loaded = load_input_files(
        (str(folder / "given.yaml"),), sys.stdin.buffer, configuration=command_input.configuration
    )
    now = parse_time(case["now"])
    assert now is not None
    assert not command_input.problems
    assert not loaded.faults
    moments = topology_snapshots(loaded.cluster, now)
    plans = [reconcile_topology(moment) for moment in moments]

    done = {plan.root.name: [step_action_name(step.action) for step in plan.steps] for plan in plans}
    assert done == case["expect"]["steps"], case["why"]
    held = {plan.root.name: [held.because[0].rule.code for held in plan.withheld] for plan in plans}
    assert held == case["expect"]["heldBack"], case["why"]

    document = PlanDocument(
        rules="design",
        as_of=now,
        not_collected=(),
        forecasts=tuple(map(forecast_topology, moments)),
        configuration=command_input.configuration,
        rules_from=RuleSetSource("option"),
    )
    printed = format_yaml_document(abridged(plan_document_as_json(document, decisions=True)))
    if bless:
        (folder / "plan.yaml").write_text(printed, encoding="utf-8")
    assert (folder / "plan.yaml").read_text(encoding="utf-8") == printed, case["why"]
