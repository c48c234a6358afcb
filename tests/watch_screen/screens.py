"""Screens driven by Textual's own pilot: started, awaited, and read as lines."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final

from textual.pilot import Pilot

from grove_core.kernel.time_formats import parse_time
from grove_shell.actions.command_input import InputSource
from grove_shell.actions.decision_time import Now
from grove_shell.actions.planned_input import PlanOptions
from grove_shell.following.followed_files import FollowedFiles
from grove_shell.watch_screen.plan_loop import WatchOptions
from grove_shell.watch_screen.text_views import PagePane
from grove_shell.watch_screen.watch_app import WatchApp
from tests.command_line.process import ROOT

DEGRADED: Final = str(ROOT / "examples" / "degraded.yaml")
REAL: Final = str(ROOT / "examples" / "real-cluster.yaml")
NEW_IMAGE: Final = str(ROOT / "examples" / "edits" / "qwen-new-image.yaml")
NOW: Final = parse_time("2026-11-20T08:41:00Z")
NARROW: Final = (80, 24)
WIDE: Final = (190, 45)
Shown = Pilot[int]


def app_of(*files: str, now: Now = NOW, edits: tuple[str, ...] = (), rules: str | None = None) -> WatchApp:
    source = InputSource(filenames=files, now=now)
    return WatchApp(FollowedFiles(source, edits), WatchOptions(plan=PlanOptions(rules=rules), edits=edits))


@asynccontextmanager
async def running(app: WatchApp, size: tuple[int, int] = NARROW) -> AsyncIterator[Shown]:
    """Run an app without a terminal, from its first plan on."""
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: "as of" in text_of(app) and bool(reasons_of(app)), "the first plan is shown")
        yield pilot


async def until(pilot: Shown, holds: Callable[[], bool], what: str) -> None:
    """Wait until something holds of the screen, for at most 20 seconds."""
    for _ in range(400):
        await pilot.pause(0.05)
        if holds():
            return
    raise AssertionError(f"{what}; the screen:\n{text_of(pilot.app)}")


def lines_of(app: object) -> list[str]:
    """Return what the screen shows, line by line."""
    assert isinstance(app, WatchApp)
    return [strip.text.rstrip() for strip in app.screen._compositor.render_strips()]  # noqa: SLF001 - Textual has no other way to read a screen


def text_of(app: object) -> str:
    return "\n".join(lines_of(app))


def words_of(app: object) -> str:
    """Return what the screen shows on one line: where a line breaks depends on the length of a path."""
    return " ".join(text_of(app).split())


def reasons_of(app: object, pane: str = "reasons") -> str:
    """Return the whole text of a pane, what is out of sight included."""
    assert isinstance(app, WatchApp)
    return app.screen_stack[0].query_one(f"#{pane}", PagePane).page.plain_text


async def press(pilot: Shown, *keys: str) -> None:
    """Press keys, and wait until the reasons of the row are shown."""
    await pilot.press(*keys)
    await pilot.pause(0.3)


def driven(story: Callable[[], Awaitable[None]]) -> None:
    """Run a story to its end."""

    async def run() -> None:
        await story()

    asyncio.run(run())
