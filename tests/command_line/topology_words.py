"""Inputs and calls of the commands about topologies."""

import json
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from grove_shell.cli.main import run_command_line

Json = dict[str, Any]
ROOT: Final = Path(__file__).parents[2]
HARDWARE: Final = ROOT / "examples/topology/hardware"
CLOUDS: Final = ROOT / "examples/topology/clouds"
CLUSTER: Final = str(CLOUDS / "cluster.yaml")
NODES: Final = str(HARDWARE / "nodes.json")
TOPOLOGIES: Final = str(HARDWARE / "topologies.yaml")
LLAMA: Final = str(HARDWARE / "llama.yaml")


def written(path: Path, *items: Json) -> str:
    path.write_text(yaml.safe_dump_all(items), encoding="utf-8")
    return str(path)


def read(path: Path | str) -> list[Json]:
    items = [item for item in yaml.load_all(Path(path).read_text(encoding="utf-8"), yaml.CSafeLoader) if item]
    return items[0]["items"] if items[0]["kind"] == "List" else items


def topology(name: str = "aws-p5", *levels: tuple[str, str]) -> Json:
    wanted = levels or (("zone", "z"), ("host", "kubernetes.io/hostname"))
    spec = {"levels": [{"domain": domain, "key": key} for domain, key in wanted]}
    return {"apiVersion": "grove.io/v1alpha1", "kind": "ClusterTopology", "metadata": {"name": name}, "spec": spec}


def a_set(**template: Any) -> Json:
    (found,) = read(LLAMA)
    found["spec"]["template"] |= template
    return found


def said(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = run_command_line(["topology", *words], "grove")
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def checked(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, Json]:
    code, out, err = said(capsys, "check", *words, "-o", "json")
    assert err == ""
    document: Json = json.loads(out)
    return code, document
