"""The site as files: pages that are written, pages that are made, the nav, links and anchors."""

import posixpath
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

import yaml

from docs.generator.markdown import slug
from docs.generator.pages import generated

ROOT: Final = Path(__file__).parents[2]
DOCS: Final = ROOT / "docs"
WRITTEN: Final = tuple(sorted(str(path.relative_to(DOCS)) for path in DOCS.rglob("*.md")))
_FENCE: Final = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_SPAN: Final = re.compile(r"`[^`\n]+`")
_LINK: Final = re.compile(r"(?<!\\)\[[^\]]*\]\(([^)\s]+)\)")
_HEADING: Final = re.compile(r"^#+ (.+?)(?: \{ #([\w-]+) \})?$", re.MULTILINE)


def text_of(page: str) -> str:
    """A page by its path below ``docs/``, whether it is written or made."""
    return generated()[page] if page in generated() else (DOCS / page).read_text(encoding="utf-8")


def pages() -> tuple[str, ...]:
    """All pages of the site."""
    return (*WRITTEN, *generated())


@cache
def anchors_of(page: str) -> frozenset[str]:
    """What may stand behind the ``#`` of a link to a page."""
    return frozenset(given or slug(heading) for heading, given in _HEADING.findall(_FENCE.sub("", text_of(page))))


def links_of(page: str) -> Iterator[tuple[str, str]]:
    """(page or file below ``docs/``, anchor) of each link; elsewhere are links to other sites."""
    for link in _LINK.findall(_SPAN.sub("", _FENCE.sub("", text_of(page)))):
        if "://" not in link:
            path, _, anchor = link.partition("#")
            yield posixpath.normpath(posixpath.join(posixpath.dirname(page), path)) if path else page, anchor


class _Loader(yaml.SafeLoader):
    """Reads ``!ENV``, by which mkdocs takes values of the environment."""


_Loader.add_constructor("!ENV", lambda _loader, _node: "")


def in_nav() -> list[str]:
    """The pages that the nav of ``mkdocs.yml`` has, in its order."""
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    configured = yaml.load(text, _Loader)  # noqa: S506 - it is a safe loader that knows one tag more
    return list(_paths(configured["nav"]))


def _paths(part: Any) -> Iterator[str]:
    if isinstance(part, str):
        yield part
        return
    for inner in part.values() if isinstance(part, dict) else part:
        yield from _paths(inner)
