"""The picture of the layers, drawn from the import contracts of ``pyproject.toml``.

``python -m docs.generator.layers`` writes it.
"""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
PICTURE: Final = ROOT / "docs" / "pictures" / "layers.svg"
_WIDTH: Final = 760
_LEFT: Final = 16
_CHARACTER: Final = 7.3
_BOX: Final = 26
_GAP: Final = 8
_STYLE: Final = (
    "text{font:12px ui-monospace,monospace;fill:#1b1f24}.title{font:bold 14px sans-serif}"
    ".layer{fill:#f3f5f8;stroke:#c9d1d9}.box{fill:#fff;stroke:#6e7781}"
)
Layers = Sequence[Sequence[str]]


def layers() -> Mapping[str, Layers]:
    """Return the layers of grove_core and grove_shell, the highest first; no part imports one beside or above it."""
    configured = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return {
        contract["containers"][0]: [[name.strip() for name in layer.split("|")] for layer in contract["layers"]]
        for contract in configured["tool"]["importlinter"]["contracts"]
        if contract["type"] == "layers" and "." not in contract["containers"][0]
    }


def picture() -> str:
    """Return the picture as SVG: one band for each layer, one box for each package or module in it."""
    parts, top = [], 8
    for package in sorted(layers(), reverse=True):
        parts.append(f'<text class="title" x="{_LEFT}" y="{top + 16}">{escape(package)}</text>')
        top += 26
        for layer in layers()[package]:
            boxes = list(_lines_of(layer))
            height = len(boxes) * (_BOX + _GAP) + _GAP
            parts.append(
                f'<rect class="layer" x="{_LEFT}" y="{top}" width="{_WIDTH - 2 * _LEFT}" height="{height}" rx="4"/>'
            )
            for row, line in enumerate(boxes):
                parts += _boxes(line, top + _GAP + row * (_BOX + _GAP))
            top += height + _GAP
        top += 12
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {top}" width="{_WIDTH}" height="{top}">'
    return "\n".join((head, f"<style>{_STYLE}</style>", *parts, "</svg>", ""))


def _width(name: str) -> float:
    return round(len(name) * _CHARACTER + 16, 1)


def _lines_of(layer: Sequence[str]) -> Iterator[list[str]]:
    """Yield the names of a layer in lines that fit into its band."""
    line: list[str] = []
    used = 0.0
    for name in layer:
        if line and used + _width(name) > _WIDTH - 2 * _LEFT - 2 * _GAP:
            yield line
            line, used = [], 0.0
        line.append(name)
        used += _width(name) + _GAP
    yield line


def _boxes(names: Sequence[str], top: int) -> Iterator[str]:
    left = float(_LEFT + _GAP)
    for name in names:
        width = _width(name)
        yield f'<rect class="box" x="{left:.1f}" y="{top}" width="{width}" height="{_BOX}" rx="3"/>'
        yield f'<text x="{left + 8:.1f}" y="{top + 17}">{escape(name)}</text>'
        left += width + _GAP


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
