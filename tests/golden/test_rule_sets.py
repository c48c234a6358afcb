"""Golden cases of rule sets that are made of another one: the example of `examples/rule-sets` on recorded clusters.

A folder has `given.yaml` (output of kubectl), `spared.yaml` (the clock, the rule set beneath, the replicas of sets that
are spared, and what the first round deletes) and `plan.yaml`, with reasons in the notation of `reason_notation.py` and
later rounds in short.
`pytest --bless` writes `plan.yaml`.
"""

from collections import defaultdict
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Final

import pytest
import yaml

import grove_shell as grove
from grove_core import rule_set, rule_set_that_spares
from grove_core.document.document_writing import plan_document_as_json
from grove_shell.views.renderers import format_yaml_document
from tests.golden.reason_notation import abridged, with_later_rounds_in_short, write_reasons_in_notation
from tests.kubectl_yaml import Json
from tests.library.installed_packages import EXAMPLE

HERE: Final = Path(__file__).parent / "rule_sets"
FOLDERS: Final = sorted(path.parent for path in HERE.glob("*/spared.yaml"))


def example() -> ModuleType:
    """The module of the example, as it is imported where its package is not installed."""
    spec = spec_from_file_location("example_rules", EXAMPLE / "my_rules.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_lb008_the_plan_is_as_expected(folder: Path, monkeypatch: pytest.MonkeyPatch, *, bless: bool) -> None:
    write_reasons_in_notation(monkeypatch)
    case: Json = yaml.load((folder / "spared.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader)
    base = rule_set(case["base"])
    careful = rule_set_that_spares("careful", base, example().replicas_on_drained_nodes)
    plan, before = (
        grove.plan(grove.read(folder / "given.yaml", now=case["now"], rules=rules)) for rules in (careful, base)
    )
    document: Json = plan_document_as_json(plan.internals.document, decisions=True)
    steps = [step for one in document["plans"] for step in one["rounds"][0]["steps"]]
    deleted = sorted(step["target"]["name"] for step in steps if step["action"] == "delete")
    assert deleted == case["expect"]["deletes"], case["why"]
    spared: defaultdict[str, list[int]] = defaultdict(list)
    for one in plan.internals.document.forecasts:
        for finding in one.findings:
            if finding.because[0].rule.requirement == "LB-008" and finding.subject.replica is not None:
                spared[finding.subject.name].append(finding.subject.replica)
    assert spared == case["expect"]["spares"], case["why"]
    assert len(before.terminations) == sum(map(len, spared.values())), case["why"]
    printed = format_yaml_document(abridged(with_later_rounds_in_short(document), manifests=False))
    if bless:
        (folder / "plan.yaml").write_text(printed, encoding="utf-8")
    assert (folder / "plan.yaml").read_text(encoding="utf-8") == printed, case["why"]
