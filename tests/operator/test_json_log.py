"""Log lines that cannot be written (OP-064)."""

import json
import os
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from grove_shell.operator.json_log import OperatorJsonLog


def test_op064_a_pipe_that_is_full_for_a_moment() -> None:
    """Lines that had no place are lost, and those after them are written; as often as the pipe is read."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    with os.fdopen(writer, "w", encoding="utf-8") as out, os.fdopen(reader, "rb", buffering=0) as read:
        journal = OperatorJsonLog(out)
        for number in range(5000):
            journal.write_line("info", "round", number=number, words="x" * 200)
        while len(read.read(1 << 20)) == 1 << 16:
            pass
        journal.write_line("info", "there is space again")
        journal.write_line("info", "the last one")
        lines = read.read(1 << 20).splitlines()
    assert json.loads(lines[-1])["msg"] == "the last one"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_op064_a_disk_that_is_full() -> None:
    with suppress(OSError), Path("/dev/full").open("w", encoding="utf-8") as out:  # closing it may fail
        for size in (1, 100, 10_000, 1):
            OperatorJsonLog(out).write_line("info", "round", words="x" * size)
        reported = True
    assert reported


def test_op064_a_process_without_standard_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    OperatorJsonLog().write_line("info", "the line is not written")
