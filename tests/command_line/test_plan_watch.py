"""``grove plan --watch``: files that are written again, a deadline that passes, and how it ends."""

import asyncio
import os
import re
import signal
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import pytest
import yaml

from grove_shell.actions.command_input import InputSource
from grove_shell.following.followed_files import FollowedFiles
from tests.command_line.process import ROOT
from tests.command_line.watching import watching
from tests.html.reading import run
from tests.operator.list_server import ListingServer

TEXT: Final = (ROOT / "examples/degraded.yaml").read_text(encoding="utf-8")
BREACHED: Final = "2026-11-20T06:15:00Z"
FIXED: Final = ("--now", "2026-11-20T09:00:00Z")


_SEPARATOR: Final = re.compile(r"--- \S+Z ---")
PAGE: Final = ROOT / "docs/how-to/look-at-sets-on-a-terminal.md"
_BLOCK: Final = re.compile(r"```text\n(.*?)```", re.DOTALL)


def check_documentation(text: str, *, bless: bool) -> None:
    """The documentation shows the first two plans, with another time between them; ``bless`` to write them there."""
    first, second, *_ = text.split("\n--- ")
    shown, before = f"{first}\n--- {second}", PAGE.read_text(encoding="utf-8")
    after = _BLOCK.sub(lambda _: f"```text\n{shown}```", before)
    if bless:
        PAGE.write_text(after, encoding="utf-8")
    assert bless or before == after


class TestCL098:
    """`grove plan --watch` MUST print the plan again when a file or the cluster has changed and the plan is another
    one, and when a deadline passes. What cannot be read later is reported, and followed further.
    """

    def test_a_file_that_is_written_again(self, tmp_path: Path, *, bless: bool) -> None:
        dump = tmp_path / "dump.yaml"
        dump.write_text(TEXT, encoding="utf-8")
        with watching("-f", str(dump), *FIXED, "inference/qwen") as found:
            found.until("WAIT", "now: 6 status updates\n")
            os.utime(dump)  # written, and the same
            dump.write_text(TEXT.replace("minAvailable: 2", "minAvailable: 1"), encoding="utf-8")
            found.until("WAIT", "---", "nothing to terminate in 1 PodCliqueSet")
            dump.write_text("kind: [", encoding="utf-8")
            found.until("the input cannot be read ---", "expected valid YAML")
            os.utime(dump)
            time.sleep(2)
            assert found.text.count("cannot be read") == 1
            dump.write_text(TEXT, encoding="utf-8")
            text = found.until("expected valid YAML", "---", "now: 6 status updates\n")
            check_documentation(_SEPARATOR.sub("--- 2026-11-20T09:00:07Z ---", text), bless=bless)
            assert text.count("WAIT") == 2
            assert text.count("nothing to terminate") == 1
            assert found.stop(signal.SIGINT) == 0

    def test_a_deadline_that_passes(self, tmp_path: Path) -> None:
        def write(remaining: timedelta) -> None:
            since = datetime.now(UTC).replace(microsecond=0) - timedelta(hours=4) + remaining
            dump.write_text(TEXT.replace(BREACHED, since.strftime("%Y-%m-%dT%H:%M:%SZ")), encoding="utf-8")

        dump = tmp_path / "dump.yaml"
        write(timedelta(hours=1))
        with watching("-f", str(dump), "--now", "clock", "inference/qwen", terminal=True) as found:
            found.until("WAIT", "next termination in")
            write(timedelta(seconds=12))  # only now, as a slow machine takes long to start
            text = found.until("WAIT", "---", "WAIT", "next termination in", "TERMINATE", "no termination ahead")
            counted = [part for part in text.split("\r\x1b[K") if part.startswith("next termination in ")]
            assert len(set(counted)) >= 2
            assert {part.split(": ")[1] for part in counted} == {"inference/qwen replica 0 (Ctrl-C ends)"}
            assert "replica 0 now, with 3 PodCliques, 4 pods (3 ready)" in text
            assert found.stop(signal.SIGINT) == 0

    @pytest.mark.req("CL-101")
    def test_a_cluster_whose_watches_are_forbidden(self, tmp_path: Path) -> None:
        items = list(yaml.load_all(TEXT, Loader=yaml.CSafeLoader))
        with ListingServer(items[0].get("items", items)) as server:
            words = ("--live", "--kubeconfig", str(server.kubeconfig(tmp_path)), "--now", "clock", "qwen")
            with watching(*words) as found:
                found.until("TERMINATE", "not followed by a watch, but listed every few seconds: ", "watch of pods")
                server.items = [one for one in server.items if "qwen" not in one["metadata"]["name"]]
                found.until(": nothing is planned ---", "not in the input: ")
                again, ends = len(server.asked) + 30, time.monotonic() + 60  # every kind is listed again
                while len(server.asked) < again and time.monotonic() < ends:
                    time.sleep(0.05)
                assert len(server.asked) >= again
                assert found.text.count("not in the input: ") == 1
                assert "CONNECTION LOST" not in found.text
                assert found.stop(signal.SIGTERM) == 0
            assert server.writes == []

    def test_files_in_folders(self, tmp_path: Path) -> None:
        (tmp_path / "a").mkdir()
        followed = FollowedFiles(InputSource(filenames=(str(tmp_path), str(tmp_path / "missing.yaml"))))

        async def story() -> None:
            changed = asyncio.Event()
            following = asyncio.create_task(followed.follow(changed.set))
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(changed.wait(), 0.7)
            (tmp_path / "a" / "b.yaml").write_text("x", encoding="utf-8")
            await asyncio.wait_for(changed.wait(), 5)
            changed.clear()
            (tmp_path / "a" / "b.yaml").unlink()
            await asyncio.wait_for(changed.wait(), 5)
            following.cancel()

        asyncio.run(story())


class TestCL099:
    """With `--watch` a line with the time MUST stand between two pages. On a terminal a countdown to the next
    termination runs below the last page; elsewhere nothing is printed between two plans that are the same.
    """

    @pytest.mark.parametrize(("output", "between"), [("human", "\n--- 20"), ("yaml", "---\n")])
    def test_no_terminal(self, output: str, between: str, tmp_path: Path) -> None:
        dump = tmp_path / "dump.yaml"
        dump.write_text(TEXT, encoding="utf-8")
        words = ("-f", str(dump), *FIXED, "-o", output, "inference/gemma")
        first = run("plan", *words).out
        with watching(*words) as found:
            found.until(first)
            dump.write_text(TEXT + "\n# the same\n", encoding="utf-8")
            time.sleep(3)
            assert found.text == first
            dump.write_text(TEXT.replace("name: gemma\n", "name: gemma\n    labels: {a: b}\n", 1), encoding="utf-8")
            dump.write_text(TEXT.replace("replicas: 2", "replicas: 3"), encoding="utf-8")
            text = found.until(first, between)
            assert "\r" not in text
            assert found.stop(signal.SIGTERM) == 0


class TestCL100:
    """`grove plan --watch` MUST end with 0 on SIGINT and SIGTERM, as the other commands that run until they are
    stopped. Options that set the exit code, and standard input as a file, are wrong usage with it.
    """

    @pytest.mark.parametrize("words", [("--fail-on", "terminate"), ("--max-terminated-gpus", "0"), ("-f", "-")])
    def test_wrong_usage(self, words: tuple[str, ...]) -> None:
        done = run("plan", "-f", "x.yaml", "--watch", *words)
        assert done.code == 64
        assert "--watch" in done.errors

    def test_a_first_plan_that_cannot_be_made(self) -> None:
        assert run("plan", "-f", "no-such-file.yaml", "--watch").code == 1
        assert run("plan", "-f", str(ROOT / "examples/degraded.yaml"), "--watch", "no-such-set").code == 64
