"""Where runs can happen: the name of each world, and the module that has its ``engine_for``."""

from collections.abc import Mapping
from typing import Final

WORLDS: Final[Mapping[str, str]] = {
    "model": "grove_shell.converge.model.engine",
    "cluster": "grove_shell.converge.cluster.engine",
}
