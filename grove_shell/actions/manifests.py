"""``grove manifests``: print what is to be applied to a cluster, part by part."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from grove_shell.exits import DONE
from grove_shell.manifests.definitions import definitions
from grove_shell.views.page import write
from grove_shell.views.structured import as_text

PARTS: Final[Mapping[str, Callable[[], Iterator[dict[str, Any]]]]] = {"crds": definitions}
"""In the order in which they are applied."""


def manifests(parts: tuple[str, ...], output: str) -> int:
    """Print these parts, or all; returns the exit code."""
    objects = [made for part, make in PARTS.items() if not parts or part in parts for made in make()]
    if output == "json":
        write(as_text({"apiVersion": "v1", "kind": "List", "items": objects}, "json"))
    else:
        write("".join(f"---\n{as_text(made, 'yaml')}" for made in objects))
    return DONE
