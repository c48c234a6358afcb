"""The worlds in which points can be run, and the module of each that has ``engine_for``."""

from collections.abc import Mapping
from typing import Final

WORLDS: Final[Mapping[str, str]] = {
    "model": "grove_shell.converge.model.engine",
    "cluster": "grove_shell.converge.cluster.engine",
}
