"""Makes the plan anew when the input changes and when a deadline passes, and not oftener (WA-003)."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from time import monotonic
from typing import Final, Protocol

from grove_shell.actions.command_input import InputSource
from grove_shell.actions.planned_input import PlanOptions
from grove_shell.exit_codes import CommandFailed
from grove_shell.following.background_thread import SerialBackgroundThread
from grove_shell.following.followed_input import FollowedInput
from grove_shell.styled_text_page import StyledTextPage
from grove_shell.watch_screen.status_lines import planning_failure_page
from grove_shell.watch_screen.watched_plan import WatchedPlan, edit_page, watched_plan

_DEBOUNCE: Final = 0.15  # s: changes that come together make one plan
_LEAST_REST: Final = 0.2  # s between two plans
_LONGEST_REST: Final = 10.0
_RETRY: Final = 5.0  # s after a plan that could not be made


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchOptions:
    """What a screen shows.

    Attributes:
        edits: files whose plan is shown beside it.
        first: the plan to begin with, where it was made before; None to make it.
    """

    plan: PlanOptions
    edits: tuple[str, ...] = ()
    first: WatchedPlan | None = None


class PlanScreen(Protocol):
    """What shows the results of the loop."""

    def show_plan(self, plan: WatchedPlan) -> None:
        """Show a new plan."""

    def show_edit(self, page: StyledTextPage) -> None:
        """Show the plan of the edit."""

    def show_trouble(self, connection: str, failure: StyledTextPage | None) -> None:
        """Show what is wrong with the connection, and why the last plan could not be made."""


class PlanRefreshLoop:
    """Follows an input and gives each plan of it to a screen."""

    def __init__(
        self, followed: FollowedInput, options: WatchOptions, thread: SerialBackgroundThread, screen: PlanScreen
    ) -> None:
        self._followed, self._options, self._thread, self._screen = followed, options, thread, screen
        self._changed = asyncio.Event()
        self._plan = options.first
        self._failure: StyledTextPage | None = None

    async def run(self) -> None:
        """Follow and plan until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._followed.follow(self._on_change))
            group.create_task(self._make_plans())

    def _on_change(self) -> None:
        self._changed.set()
        self._screen.show_trouble(self._followed.trouble or self._followed.unwatched, self._failure)

    async def _make_plans(self) -> None:
        if self._plan is None:
            self._changed.set()
        else:
            self._screen.show_plan(self._plan)
            await self._make_edit(await self._followed.source())
        while True:
            await self._wait_for_change_or_deadline()
            await asyncio.sleep(_DEBOUNCE)
            self._changed.clear()
            begun = monotonic()
            try:
                await self._make_one()
                self._failure = None
            except CommandFailed as fault:
                self._failure = planning_failure_page(fault)
            self._screen.show_trouble(self._followed.trouble or self._followed.unwatched, self._failure)
            await asyncio.sleep(min(max(monotonic() - begun, _LEAST_REST), _LONGEST_REST))

    async def _wait_for_change_or_deadline(self) -> None:
        seconds = _RETRY if self._failure is not None else None
        if self._failure is None and self._plan is not None and self._plan.clock_runs:
            deadline = self._plan.next_deadline
            if deadline is not None:
                seconds = max((deadline - datetime.now(UTC)).total_seconds(), 0)
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._changed.wait()

    async def _make_one(self) -> None:
        source = await self._followed.source()
        self._plan = await self._thread.run(partial(watched_plan, source, self._options.plan))
        self._screen.show_plan(self._plan)
        await self._make_edit(source)

    async def _make_edit(self, source: InputSource) -> None:
        if self._options.edits:
            self._screen.show_edit(await self._thread.run(partial(self._edit, source)))

    def _edit(self, source: InputSource) -> StyledTextPage:
        try:
            return edit_page(source, self._options.edits, self._options.plan)
        except CommandFailed as fault:
            return planning_failure_page(fault)
