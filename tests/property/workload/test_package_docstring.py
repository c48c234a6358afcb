"""The docstring of the workload package names every module of the area."""

import re
from pathlib import Path

from grove_core.areas import workload


def test_every_module_is_named_in_the_package_docstring() -> None:
    named = set(re.findall(r"``(\w+)``", workload.__doc__ or ""))
    folder = Path(workload.__file__).parent
    modules = {path.stem for path in folder.rglob("*.py")} - {"__init__"}
    packages = {path.parent.name for path in folder.glob("*/__init__.py")}
    assert named == modules | packages
