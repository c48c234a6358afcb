"""The mkdocs hooks: generated pages, console blocks as a terminal shows them, a name for the search of the theme."""

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # mkdocs loads this file by its path


def on_files(files: Any, config: Any) -> Any:  # noqa: ANN401 - mkdocs is only there where the site is built
    """Add the generated reference pages and the decisions of ``specs/`` to the files of the site."""
    made = import_module("mkdocs.structure.files").File
    for path, text in import_module("docs.generator.pages").generated().items():
        files.append(made.generated(config, path, content=text))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:  # noqa: ANN401 - as above
    """Return the text of a page with the lines of console blocks broken."""
    wrapped: str = import_module("docs.generator.console_blocks").wrap_console_blocks(markdown)
    return wrapped


def on_post_page(output: str, **_: Any) -> str:  # noqa: ANN401 - as above
    """Return the HTML of a page with a name for its search, which screen readers read."""
    return output.replace(
        'data-md-component="search" role="dialog"', 'data-md-component="search" role="dialog" aria-label="Search"'
    )
