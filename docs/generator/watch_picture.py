"""The picture of ``grove watch`` in the documentation, made by running it.

``python -m docs.generator.watch_picture`` writes it.
"""

import asyncio
import os
import re
from html import unescape
from pathlib import Path
from typing import Final

from grove_core.kernel.time_formats import parse_time
from grove_shell.actions.command_input import InputSource
from grove_shell.actions.planned_input import PlanOptions
from grove_shell.following.followed_files import FollowedFiles
from grove_shell.watch_screen.plan_loop import WatchOptions
from grove_shell.watch_screen.watch_app import WatchApp

FILE: Final = Path("docs/pictures/watch.svg")
_EXAMPLE: Final = "examples/degraded.yaml"
_NOW: Final = "2026-11-20T08:41:00Z"
_SIZE: Final = (140, 26)
_FONTS: Final = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)
_TEXTS: Final = re.compile(r"<text[^>]*>(.*?)</text>")


def watch_picture() -> str:
    """Return the screen of ``grove watch -f examples/degraded.yaml`` as SVG, without fonts from elsewhere."""
    os.environ.pop("NO_COLOR", None)
    return asyncio.run(_drawn())


def words_of_picture(svg: str) -> list[str]:
    """Return the texts of a picture; styles and places differ from release to release of Textual."""
    return [unescape(text).replace("\xa0", " ").strip() for text in _TEXTS.findall(svg)]


async def _drawn() -> str:
    source = InputSource(filenames=(_EXAMPLE,), now=parse_time(_NOW))
    app = WatchApp(FollowedFiles(source), WatchOptions(plan=PlanOptions()))
    async with app.run_test(size=_SIZE) as pilot:
        while not app.is_at_rest:
            await pilot.pause(0.1)
        svg = app.export_screenshot(title="grove watch -f examples/degraded.yaml")
    return _FONTS.sub("", svg) + "\n"


if __name__ == "__main__":
    FILE.write_text(watch_picture(), encoding="utf-8")
