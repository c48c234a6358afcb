"""What mkdocs calls: pages that are made of the code join those that are written."""

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # mkdocs knows this file by its path only


def on_files(files: Any, config: Any) -> Any:  # noqa: ANN401 - mkdocs is only there where the site is built
    """Add the pages of the reference, and the decisions of ``specs/``."""
    made = import_module("mkdocs.structure.files").File
    for path, text in import_module("docs.generator.pages").generated().items():
        files.append(made.generated(config, path, content=text))
    return files
