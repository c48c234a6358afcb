"""Whoever looks for a rule of the workload area finds its file in the docstring of the package."""

import re
from pathlib import Path

from grove_core.areas import workload


def test_every_file_stands_in_the_contents_once() -> None:
    told = re.findall(r"``(\w+)``", workload.__doc__ or "")
    there = [path.stem for path in Path(workload.__file__).parent.glob("*.py") if path.stem != "__init__"]
    assert {name for name in there if name not in told} == set()
    assert {name for name in told if name not in there} == set()
