"""Scenario files for tests of the reader."""

from pathlib import Path
from typing import Any

from grove_shell.simulator.scenario.scenario_reader import ScenarioReadResult, read_scenario
from grove_shell.views.renderers import format_yaml_document

Json = dict[str, Any]
HEAD: Json = {"apiVersion": "grove.io/v1alpha1", "kind": "Scenario", "metadata": {"name": "x"}}


def read(path: Path, spec: Json, **more: Any) -> ScenarioReadResult:
    file = path / "scenario.yaml"
    file.write_text(format_yaml_document({**HEAD, **more, "spec": spec}), encoding="utf-8")
    return read_scenario(str(file))


def faults(found: ScenarioReadResult) -> dict[str, tuple[str, str]]:
    assert found.scenario is None
    return {fault.path: (fault.expected, fault.got) for fault in found.faults}
