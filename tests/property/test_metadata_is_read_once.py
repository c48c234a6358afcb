"""Metadata of raw objects is read by ``metadata_in``; of fields that it has not, by ``mapping_or_empty``.

Both accept malformed metadata, as a file or another program may have it (IN-030).
"""

import ast
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]
KEY: Final = "metadata"

ALLOWED: Final = {
    "grove_core/resources/metadata_readers.py": "reads every field of metadata, and notes what is malformed",
    "grove_core/resources/object_metadata.py": "is the reader",
    "grove_shell/client/proxy_response_check.py": "checks the shape of metadata, which a server enforces (OP-065)",
    "grove_shell/manifests/installation.py": "adds labels to a manifest that it makes",
}
"""Modules that index metadata, with the reason."""

MODULES: Final = sorted(
    str(path.relative_to(ROOT)) for package in ("grove_core", "grove_shell") for path in (ROOT / package).rglob("*.py")
)


def reads_in(source: str) -> list[str]:
    """The reads of metadata by its key, as ``line: expression``; writes of a whole metadata are none."""
    found = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.expr) and _reads_metadata(node))
    return [f"{node.lineno}: {ast.unparse(node)}" for node in found]


def _reads_metadata(node: ast.expr) -> bool:
    match node:
        case ast.Subscript(slice=ast.Constant(value=key), ctx=ast.Load()):
            return key == KEY
        case ast.Call(func=ast.Attribute(attr="get"), args=[ast.Constant(value=key), *_]):
            return key == KEY
    return False


@pytest.mark.parametrize("module", MODULES)
def test_metadata_is_read_by_its_reader(module: str) -> None:
    found = reads_in((ROOT / module).read_text(encoding="utf-8"))
    assert not found or module in ALLOWED, found


def test_the_list_of_exceptions_is_short_and_used() -> None:
    assert len(ALLOWED) < 15
    for module in ALLOWED:
        assert reads_in((ROOT / module).read_text(encoding="utf-8")), module


def test_a_read_of_metadata_is_found() -> None:
    assert reads_in('name = raw["metadata"]["name"]') == ["1: raw['metadata']"]
    assert reads_in('name = raw.get("metadata", {}).get("name")') == ["1: raw.get('metadata', {})"]
    assert reads_in('raw["metadata"] |= {"uid": uid}') == []
    assert reads_in('body = {"metadata": metadata}') == []
    assert reads_in("name = metadata_in(raw).name") == []
