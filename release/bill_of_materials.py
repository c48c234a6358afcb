"""The software bill of materials of the single file, in CycloneDX (RL-010)."""

import json
import subprocess
import sys
import tempfile
import venv
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from grove_core.version import VERSION
from release.single_file import packages_of

FILE: Final = f"grove-{VERSION}.cdx.json"
_PROJECT: Final = Path(__file__).parents[1] / "pyproject.toml"


def bill_of_materials(wheels: Sequence[Path]) -> dict[str, Any]:
    """Return the bill of materials of an environment that holds these wheels, and nothing else.

    Raises:
        subprocess.CalledProcessError: cyclonedx-py failed.
        ValueError: the document lists other distributions than the wheels.
    """
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=False, symlinks=True)
        (packages,) = Path(folder).glob("lib/python*/site-packages")
        for path, content in packages_of(wheels).items():
            if ".dist-info/" in path:  # all that is read
                (packages / path).parent.mkdir(parents=True, exist_ok=True)
                (packages / path).write_bytes(content)
        words = ("--output-reproducible", "--of", "JSON", "--mc-type", "application", "--pyproject", str(_PROJECT))
        command = (sys.executable, "-m", "cyclonedx_py", "environment", *words, f"{folder}/bin/python")
        done = subprocess.run(command, capture_output=True, check=True)  # noqa: S603 - the words are those of this module
    document: dict[str, Any] = json.loads(done.stdout)
    document["metadata"]["component"] |= {"version": VERSION, "purl": f"pkg:pypi/grove-plan@{VERSION}"}
    listed = {normal_name(one["name"]) for one in document["components"]}
    held = {normal_name(wheel.name.split("-")[0]) for wheel in wheels}
    if listed != held:
        raise ValueError(f"the bill of materials and the single file differ: {sorted(listed ^ held)}")
    return document


def normal_name(name: str) -> str:
    """Return the name of a distribution as an index normalizes it."""
    return name.lower().replace("_", "-").replace(".", "-")
