"""Packages of users, as an installer leaves them: a module, and a dist-info folder with its entry points."""

import sys
import tomllib
from collections.abc import Mapping
from importlib import invalidate_caches
from pathlib import Path
from typing import Final

import pytest

EXAMPLE: Final = Path(__file__).parents[2] / "examples" / "rule-sets"
GROUP: Final = "grove.rule_sets"


def install(
    folder: Path, monkeypatch: pytest.MonkeyPatch, modules: Mapping[str, str], points: Mapping[str, str], name: str
) -> None:
    """Write a package of version 0.1.0 into a folder of ``sys.path``; it is gone after the test.

    Args:
        modules: name of a module -> its text.
        points: name of a rule set -> its entry point.
    """
    info = folder / f"{name.replace('-', '_')}-0.1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.1.0\n", encoding="utf-8")
    lines = "".join(f"{one} = {value}\n" for one, value in points.items())
    (info / "entry_points.txt").write_text(f"[{GROUP}]\n{lines}", encoding="utf-8")
    for module, text in modules.items():
        (folder / f"{module}.py").write_text(text, encoding="utf-8")
        monkeypatch.delitem(sys.modules, module, raising=False)
    monkeypatch.syspath_prepend(str(folder))
    invalidate_caches()


def install_example(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install the package of ``examples/rule-sets`` by what its ``pyproject.toml`` says."""
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    modules = {path.stem: path.read_text(encoding="utf-8") for path in EXAMPLE.glob("*.py")}
    install(folder, monkeypatch, modules, project["entry-points"][GROUP], project["name"])
