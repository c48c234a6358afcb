"""The preflight reports names of our definitions that another definition has or asks for (CL-032)."""

import json
from pathlib import Path
from typing import Any, Final

import pytest

from grove_shell.cli.main import run_command_line
from grove_shell.manifests.crd_definitions import grove_crd_manifests
from tests.manifests.test_names import accepted, defined

Json = dict[str, Any]
BINDING: Final = defined("grove.io", "ClusterTopologyBinding", "clustertopologybindings", ("ct",))
OTHER: Final = defined("grove.io", "Other", "others", ("ctopo",))


def judged(folder: Path, *objects: Json) -> int:
    given, config = folder / "given.json", folder / "config.yaml"
    given.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)}), encoding="utf-8")
    config.write_text("mnnvl: {enabled: false}\n", encoding="utf-8")
    return run_command_line(["validate", "--preflight", "--config", str(config), "-f", str(given)], "grove")


def whole(definition: Json) -> Json:
    return {"apiVersion": "apiextensions.k8s.io/v1", **definition}


def test_cl032_the_definition_the_name_and_the_holder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert judged(tmp_path, whole(accepted(OTHER)), *grove_crd_manifests()) == 1
    said = capsys.readouterr().out
    what = 'clustertopologies.grove.io: the short name "ctopo"'
    assert said == f"name taken: {what} is taken by others.grove.io  CL-032\n"


def test_cl032_ours_are_compared_where_they_are_not_in_the_input(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert judged(tmp_path, whole(OTHER)) == 1
    said = capsys.readouterr().out
    assert said.startswith('name taken: others.grove.io: the short name "ctopo" is also asked for by clustertopologies')


def test_cl032_one_that_ours_keep_from_being_served(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As earlier versions of a CRD of Grove did with a CRD of the Go operator."""
    former = defined("grove.io", "ClusterTopology", "clustertopologies", ("ct",), listKind="ClusterTopologyList")
    assert judged(tmp_path, whole(BINDING), whole(accepted(former))) == 1
    said = capsys.readouterr().out
    assert 'clustertopologybindings.grove.io: the short name "ct" is taken by clustertopologies.grove.io' in said


def test_cl032_definitions_that_get_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert judged(tmp_path, whole(BINDING), *grove_crd_manifests()) == 0
    assert capsys.readouterr().out == "would start\n"
