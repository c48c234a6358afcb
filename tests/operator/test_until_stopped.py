"""``run_until_stopped``: signals, the orderly end, and exceptions."""

import asyncio
import os
import signal

import pytest

from grove_shell.until_stopped import run_until_stopped


def test_op033_a_signal_ends_all_work_after_the_farewell() -> None:
    reported: list[str] = []

    async def works(name: str) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            reported.append(name)

    async def calls_for_the_end() -> None:
        os.kill(os.getpid(), signal.SIGTERM)

    async def farewell() -> None:
        reported.append("farewell")

    asyncio.run(run_until_stopped(asyncio.Event(), (works("a"), works("b"), calls_for_the_end()), farewell))
    assert reported == ["farewell", "a", "b"]


def test_op030_what_goes_wrong_ends_it_at_once_and_without_a_word() -> None:
    reported: list[str] = []

    async def fails() -> None:
        raise ValueError("wrong")

    async def farewell() -> None:
        reported.append("farewell")

    with pytest.raises(ExceptionGroup) as caught:
        asyncio.run(run_until_stopped(asyncio.Event(), (fails(),), farewell))
    assert [str(one) for one in caught.value.exceptions] == ["wrong"]
    assert reported == []
