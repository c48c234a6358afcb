"""YAML as kubectl reads it: times stay text."""

from pathlib import Path
from typing import Any

import yaml

Json = dict[str, Any]


class Kubectl(yaml.CSafeLoader):
    """Knows no timestamps."""


Kubectl.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith("timestamp")]
    for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}


def items_in(path: Path) -> list[Json]:
    """The objects of a list."""
    loaded = yaml.load(path.read_text(encoding="utf-8"), Loader=Kubectl)  # noqa: S506 - a safe one
    items: list[Json] = loaded["items"]
    return items
