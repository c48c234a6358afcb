"""The hook with which hatchling adds generated files to a wheel; it needs click alone, as ``build-system`` says."""

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class SharedFilesHook(BuildHookInterface):  # type: ignore[type-arg]  # subscripting it fails at run time
    """Adds manual pages and completions to a wheel; an editable installation has none (RL-004, RL-005)."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the files into a temporary folder, and name their places in the wheel."""
        if version == "editable":
            return
        sys.path.insert(0, self.root)
        from release.shared_files import shared_files  # noqa: PLC0415 - it is found in the folder that is built

        self._folder = Path(tempfile.mkdtemp(prefix="grove-shared-"))
        for place, (path, text) in enumerate(shared_files().items()):
            written = self._folder / str(place)
            written.write_text(text, encoding="utf-8")
            build_data["shared_data"][str(written)] = path

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002 - hatchling's signature
        """Remove the temporary folder."""
        if version != "editable":
            shutil.rmtree(self._folder)
