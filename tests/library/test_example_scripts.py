"""The scripts of ``examples/library``: short, with public names alone, on real input, and on the pages as they are."""

import ast
import csv
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.library.test_reading import EXAMPLES, RECORDED, objects

ROOT: Final = EXAMPLES.parent
SCRIPTS: Final = sorted((EXAMPLES / "library").glob("*.py"))
HOW_TO: Final = ROOT / "docs/how-to"
PAGES: Final = (ROOT / "README.md", HOW_TO / "write-a-check-of-your-own.md", HOW_TO / "test-your-own-controller.md")
MOST_LINES: Final = 30
BLOCK: Final = re.compile(r"```python[^\n]*\n(\"\"\".*?)```", re.DOTALL)


def run(script: str, *arguments: object) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, str(EXAMPLES / "library" / script), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)


@pytest.mark.req("LB-001")
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_is_short_and_imports_public_packages(script: Path) -> None:
    text = script.read_text(encoding="utf-8")
    assert len(text.splitlines()) < MOST_LINES
    imports = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Import | ast.ImportFrom)]
    named = {alias.name for node in imports if isinstance(node, ast.Import) for alias in node.names}
    named |= {str(node.module) for node in imports if isinstance(node, ast.ImportFrom)}
    ours = {name for name in named if name.startswith("grove_")}
    assert ours
    assert ours <= {"grove_shell", "grove_core", "grove_core.testing"}


def test_the_readme_has_the_shortest_of_them() -> None:
    (block,) = BLOCK.findall(PAGES[0].read_text(encoding="utf-8"))
    assert block == min((path.read_text(encoding="utf-8") for path in SCRIPTS), key=lambda text: len(text.splitlines()))


@pytest.mark.parametrize("page", PAGES[1:], ids=lambda path: path.stem)
def test_a_page_shows_the_scripts_as_they_are(page: Path) -> None:
    shown = BLOCK.findall(page.read_text(encoding="utf-8"))
    texts = [path.read_text(encoding="utf-8") for path in SCRIPTS]
    assert shown
    assert [block for block in shown if block not in texts] == []


def test_large_terminations() -> None:
    ran = run("large_terminations.py", RECORDED)
    assert ran.returncode == 1
    (line,) = ran.stdout.splitlines()
    assert "deepseek-0-prefill replica 0: 16 GPUs" in line
    assert run("large_terminations.py", EXAMPLES / "edits" / "qwen-new-image.yaml").returncode == 0


def test_replicas_without_room() -> None:
    assert run("without_room.py", RECORDED).stdout.count(": the input lacks Nodes") == 2


def test_refused_manifests() -> None:
    ran = run("refused_manifests.py", EXAMPLES / "topology")
    assert ran.returncode == 1
    assert "write pack.required instead" in ran.stdout
    assert "clouds/chat.yaml:12: PodCliqueSet ml-team/chat: spec.template.topologyConstraint.packDomain:" in ran.stdout
    assert run("refused_manifests.py", EXAMPLES / "edits").returncode == 0


def test_gangs_that_are_terminated_soon() -> None:
    ran = run("terminated_soon.py", RECORDED)
    header, *rows = csv.reader(ran.stdout.splitlines())
    assert header == ["set", "replica", "minutes", "gpus", "because"]
    assert [row[1:4] for row in rows] == [["qwen replica 1", "0.5", "4"], ["deepseek-0-prefill replica 0", "1.0", "16"]]


@pytest.mark.parametrize(("label", "code"), [("prod", 1), ("test", 0)])
def test_edits_that_restart_much_in_production(label: str, code: int, tmp_path: Path) -> None:
    """The root of the set names another image in both of its PodCliques: 12 GPUs, and then 80."""
    namespace = {"kind": "Namespace", "metadata": {"name": "llm-serving", "labels": {"env": label}}}
    listed = tmp_path / "namespaces.json"
    listed.write_text(json.dumps({"kind": "List", "items": [namespace, {"metadata": {"name": "other"}}]}))
    small = run("restarts_in_production.py", RECORDED, listed, EXAMPLES / "edits" / "qwen-new-image.yaml")
    assert (small.returncode, small.stdout, small.stderr) == (0, "", "")
    root = next(one for one in objects() if one["kind"] == "PodCliqueSet" and one["metadata"]["name"] == "deepseek")
    for clique in root["spec"]["template"]["cliques"]:
        clique["spec"]["podSpec"]["containers"][0]["image"] = "engine:2"
    edit = {key: root[key] for key in ("apiVersion", "kind", "spec")}
    edit["metadata"] = {"name": "deepseek", "namespace": "llm-serving"}
    (tmp_path / "large.json").write_text(json.dumps(edit))
    large = run("restarts_in_production.py", RECORDED, listed, tmp_path / "large.json")
    assert (large.returncode, large.stderr) == (code, "")
    assert large.stdout == ("llm-serving/deepseek restarts 80 GPUs\n" if code else "")


def test_gated_pods() -> None:
    ran = run("gated_pods.py", ROOT / "tests/golden/workload/wl092_a_gang_that_lacks_a_pod/given.yaml")
    assert "ml/chat  chat-0  chat-0-server-f52t2: the gate is removed now: its gang chat-0 refers to it" in ran.stdout
    assert "not known: ml/chat: chat: the stored set has no terminationDelay" in ran.stdout


def test_what_an_edit_restarts() -> None:
    ran = run("restarts_of_edit.py", RECORDED, EXAMPLES / "edits" / "qwen-new-image.yaml")
    assert ran.returncode == 0, ran.stderr
    assert "restarts" in ran.stdout


def test_a_controller_of_ones_own() -> None:
    script = EXAMPLES / "library" / "test_my_controller.py"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", str(script)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, cwd=script.parent)
    assert ran.returncode == 0, ran.stdout
    assert "1 passed" in ran.stdout
